//! Filters as parameters of a URL, for `GET /suggest` and `GET /facets` (contract 16.2, 16.12).

use std::str::FromStr;

use figdex_index::{
    Attribute, Date, DateInterval, Filters, IntervalError, Keywords, Level, NumberInterval,
    Property, Vocabulary,
};

use super::Fault;
use super::interval::place;
use crate::callers::limits::ENUM_VALUES_MAX;
use crate::config::UnknownEnum;

/// The filters that were read so far.
pub(super) struct UrlFilters<'a> {
    vocabulary: &'a Vocabulary,
    unknown_enum: UnknownEnum,
    filters: Filters,
    values_given: [usize; Property::COUNT],
}

impl<'a> UrlFilters<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary, unknown_enum: UnknownEnum) -> Self {
        let values_given = [0; Property::COUNT];
        Self { vocabulary, unknown_enum, filters: Filters::default(), values_given }
    }

    /// Reads a parameter that is an enum-like property or `includeUnlistedEquities`. Each further
    /// value of a property is another parameter. Returns `false` for any other name.
    ///
    /// # Errors
    /// The text for the answer's `error`.
    pub(super) fn take_property(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        if name == "includeUnlistedEquities" {
            self.filters.include_unlisted_equities =
                value.parse().map_err(|_| "includeUnlistedEquities must be true or false.")?;
            return Ok(true);
        }
        let Some(property) = Property::from_name(name) else { return Ok(false) };
        let given = &mut self.values_given[property as usize];
        *given += 1;
        if *given > ENUM_VALUES_MAX {
            return Err(format!("{name} must have at most {ENUM_VALUES_MAX} values.").into());
        }
        match self.vocabulary.admit(property, value) {
            Some(known) => self.filters.known.allow(known),
            // The other values match theirs (contract 8.16).
            None if self.unknown_enum == UnknownEnum::NoMatch => {}
            None => return Err(format!("Invalid value for {name}.").into()),
        }
        Ok(true)
    }

    /// Reads a parameter that is a level, or an interval such as `strike=100..200` or
    /// `expiration=2026-01-01..`. Returns `false` for any other name.
    ///
    /// # Errors
    /// The text for the answer's `error`.
    pub(super) fn take_other(&mut self, name: &str, value: &str) -> Result<bool, Fault> {
        let filters = &mut self.filters;
        if name == "level" {
            filters.levels.insert(Level::from_name(value).ok_or("Invalid value for level.")?);
        } else if let Some(place) = place(&Attribute::NUMBERS, name) {
            once(name, &mut filters.numbers[place], numbers(name, value)?)?;
        } else if let Some(place) = place(&Attribute::DATES, name) {
            once(name, &mut filters.dates[place], days(name, value)?)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The filters, and whether no row can pass: all values of some property are outside its set.
    pub(super) fn finish(self) -> (Filters, bool) {
        let is_given = |property: &Property| self.values_given[*property as usize] > 0;
        let mut given = Property::ALL.into_iter().filter(is_given);
        let is_impossible = given.any(|property| self.filters.known.of(property).is_none());
        (self.filters, is_impossible)
    }
}

/// The key words of the parameter `query`, which must not be blank.
///
/// # Errors
/// The text for the answer's `error`.
pub(super) fn keywords(query: Option<&str>) -> Result<Keywords, Fault> {
    let query = query.filter(|query| !query.trim().is_empty());
    let query = query.ok_or("query must be a non-empty string.")?;
    Keywords::parse(query).map_err(|error| format!("{error}.").into())
}

/// The parameter `limit`, if it is given.
///
/// # Errors
/// The text for the answer's `error` unless it is a number from 1 to `max`.
pub(super) fn number_to(max: usize, limit: Option<&str>) -> Result<Option<usize>, Fault> {
    let number = |limit: &str| limit.parse().ok().filter(|limit| (1..=max).contains(limit));
    let fault = || format!("limit must be a number from 1 to {max}.").into();
    limit.map(|limit| number(limit).ok_or_else(fault)).transpose()
}

/// Sets a parameter that may be given only once.
///
/// # Errors
/// The text for the answer's `error` when it was given before.
pub(super) fn once<T>(name: &str, slot: &mut Option<T>, value: T) -> Result<(), Fault> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{name} must not be repeated.").into()),
    }
}

fn numbers(name: &str, text: &str) -> Result<NumberInterval, Fault> {
    let what = "two numbers joined by .., of which one may be left out";
    interval(name, text, what, f64::from_str, NumberInterval::new)
}

fn days(name: &str, text: &str) -> Result<DateInterval, Fault> {
    let what = "two dates YYYY-MM-DD joined by .., of which one may be left out";
    interval(name, text, what, Date::parse, DateInterval::new)
}

fn interval<E, T, I>(
    name: &str,
    text: &str,
    what: &str,
    entry: impl Fn(&str) -> Result<E, T>,
    interval: impl Fn(Option<E>, Option<E>) -> Result<I, IntervalError>,
) -> Result<I, Fault> {
    let shape = || -> Fault { format!("{name} must be {what}.").into() };
    let entry = |text: &str| match text.is_empty() {
        true => Ok(None),
        false => entry(text).map(Some).map_err(|_| shape()),
    };
    let (low, high) = text.split_once("..").ok_or_else(shape)?;
    interval(entry(low)?, entry(high)?).map_err(|error| format!("{name}: {error}.").into())
}
