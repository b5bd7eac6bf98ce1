//! Tests of the library from outside: instruments are indexed and published, and the answer to
//! every question is compared with that of a plain scan of the instruments.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod best_listing;
mod catalogue;
mod changes;
mod damage;
mod documents;
mod export;
mod importance;
mod likeliest;
mod past;
mod search;
mod support;
mod work;
