//! The day as of which a list or one of its jobs is asked (contract 20.5). A day is never guessed:
//! other forms of dates, and times, are refused.

use figdex_index::Date;

use crate::wire::Fault;
use crate::wire::json::{Raw, text};

const AS_OF: &str = "asOf must be a day from 1900-01-01 on, such as 2022-06-01.";

/// The first year of a day.
const YEAR_MIN: &str = "1900";

/// Parses a day.
pub(super) fn day(text: &str) -> Result<Date, Fault> {
    let day = Date::parse(text).ok().filter(|_| text >= YEAR_MIN);
    day.ok_or_else(|| AS_OF.into())
}

/// Parses the value of a member.
pub(super) fn of_member(raw: Raw<'_>) -> Result<Date, Fault> {
    text(raw).ok_or_else(|| AS_OF.into()).and_then(|text| day(&text))
}
