//! The contract, chapter by chapter; each test names the clause it holds.

mod configuration;
mod cors;
mod encoding;
mod errors;
mod health;
mod instruments;
mod keys;
mod limits;
mod log;
mod mapping;
mod metrics;
mod openapi;
mod page;
mod paging;
mod schema;
mod search;
mod several;
mod socket;
mod suggest;
mod values;

use figdex_index::check_digit;

/// A FIGI with a right check digit.
pub(crate) fn figi(number: u32) -> String {
    let body = format!("BBG{number:08}");
    format!("{body}{}", check_digit::double_add_double(body.as_bytes()).unwrap())
}
