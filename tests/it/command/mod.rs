//! The program `figdex-ingest`: builds, formats of dumps, commands about an index, and the files
//! that it writes. And `figdex map`.

mod as_root;
mod build;
mod changes;
mod crash;
mod ending;
mod examples;
mod expect;
mod formats;
mod guard;
mod guard_fields;
mod history;
mod importance;
mod inputs;
mod interrupt;
mod map;
mod operate;
mod other_names;
mod outputs;
mod parquet;
mod passwords;
