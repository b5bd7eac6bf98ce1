//! The contract (`docs/contract.md`), chapter by chapter. The comment of a test begins with the
//! clauses that it holds.

mod about;
mod changes;
mod cors;
mod deviations;
mod encoding;
mod errors;
mod examples;
mod facets;
mod find;
mod health;
mod history;
mod identifiers;
mod instruments;
mod keys;
mod licences;
mod limits;
mod mapping;
#[cfg(feature = "mcp")]
mod mcp;
mod metrics;
mod names;
mod order;
mod page;
mod paging;
mod parquet;
mod properties;
mod requests;
mod resolve;
mod rows;
mod schema;
mod search;
mod several;
mod socket;
mod suggest;
mod values;
mod which_one;
