//! Tests of the library from outside: instruments are indexed and published, and the answer to
//! every question is compared with that of a plain scan of the instruments.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalogue;
mod damage;
mod documents;
mod export;
mod importance;
mod search;
mod support;
mod work;
