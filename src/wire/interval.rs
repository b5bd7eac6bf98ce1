//! Intervals of numbers and dates: arrays of two entries, checked by contract 6.11 to 6.17.

use figdex_index::{Attribute, Date, DateInterval, IntervalError, NumberInterval};

use super::Fault;
use super::json::{Raw, elements, is_null, text};

/// The place of the attribute with this name.
pub(super) fn place(attributes: &[Attribute], name: &str) -> Option<usize> {
    attributes.iter().position(|attribute| attribute.name() == name)
}

/// Reads an interval of numbers, `[number or null, number or null]`. `name` is the name of the
/// property, for error texts.
pub(super) fn numbers(name: &str, raw: Option<Raw<'_>>) -> Result<Option<NumberInterval>, Fault> {
    let Some(raw) = raw else { return Ok(None) };
    let shape = || -> Fault {
        format!("{name} must be an array of two entries, each a number or null.").into()
    };
    let entry = |raw: Raw<'_>| match is_null(raw) {
        true => Ok(None),
        // The parser of the standard library copies no digits, however many there are.
        false => {
            let number = raw.get().parse().ok().filter(|number: &f64| number.is_finite());
            number.map(Some).ok_or_else(shape)
        }
    };
    let [low, high] = entries(raw).ok_or_else(shape)?;
    NumberInterval::new(entry(low)?, entry(high)?).map(Some).map_err(|error| rule(name, error))
}

/// Reads an interval of dates, `[YYYY-MM-DD or null, YYYY-MM-DD or null]`.
pub(super) fn dates(name: &str, raw: Option<Raw<'_>>) -> Result<Option<DateInterval>, Fault> {
    let Some(raw) = raw else { return Ok(None) };
    let shape = || -> Fault {
        format!("{name} must be an array of two entries, each a date YYYY-MM-DD or null.").into()
    };
    let entry = |raw: Raw<'_>| match is_null(raw) {
        true => Ok(None),
        false => {
            let date = text(raw).and_then(|text| Date::parse(&text).ok());
            date.map(Some).ok_or_else(shape)
        }
    };
    let [first, last] = entries(raw).ok_or_else(shape)?;
    DateInterval::new(entry(first)?, entry(last)?).map(Some).map_err(|error| rule(name, error))
}

fn entries(raw: Raw<'_>) -> Option<[Raw<'_>; 2]> {
    elements(raw, 2)?.try_into().ok()
}

fn rule(name: &str, error: IntervalError) -> Fault {
    format!("{name}: {error}.").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 6.12: both ends belong to the interval, also those that no double holds exactly.
    #[test]
    fn an_interval_contains_its_ends() {
        for text in ["449.49106478873813", "21.489705265908874", "0.1", "3e67", "1e-320"] {
            let raw = format!("[{text},{text}]");
            let raw = serde_json::from_str(&raw).unwrap();
            let interval = numbers("strike", Some(raw)).unwrap().unwrap();
            let number: f64 = text.parse().unwrap();
            assert!(interval.contains(number), "{text} is {interval:?}");
        }
    }
}
