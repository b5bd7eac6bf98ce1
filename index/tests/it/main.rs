//! The library from outside: instruments go in, a generation is published, and
//! every question is answered as a plain scan of the instruments would.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalogue;
mod damage;
mod export;
mod search;
mod support;
mod work;
