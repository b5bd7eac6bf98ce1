//! The faults of a text that looks like an identifier: a wrong check digit, or a number that a
//! spreadsheet rounded.

use std::borrow::Cow;

use crate::instrument::check_digit;
use crate::instrument::id_type::IdType;

/// A fault in a text that looks like an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The last character of an identifier of this type should be this digit.
    CheckDigit(IdType, u8),
    /// A number that was too long for a spreadsheet and was shortened, such as `3.78E+08`.
    Rounded,
}

/// Whether a text begins like the FIGIs in use.
pub(super) fn is_like_figi(text: &str) -> bool {
    text.get(..3).is_some_and(|prefix| {
        prefix.eq_ignore_ascii_case("BBG") || prefix.eq_ignore_ascii_case("KKG")
    })
}

pub(super) fn wrong_of_twelve(text: &str) -> Option<Finding> {
    let text = upper(text);
    let (body, last) = split_last(&text)?;
    let starts_with_country = body[..2].iter().all(u8::is_ascii_uppercase);
    if !starts_with_country || !last.is_ascii_digit() {
        return None;
    }
    let (id_type, digit) = match is_like_figi(&text) {
        true => (IdType::BbGlobal, check_digit::double_add_double(body)),
        false => (IdType::Isin, check_digit::isin(body)),
    };
    digit.map(|digit| Finding::CheckDigit(id_type, digit))
}

/// The fault of a text of nine characters. Ordinary words are not taken for a CUSIP with a wrong
/// digit: a CUSIP has several digits.
pub(super) fn wrong_of_nine(text: &str) -> Option<Finding> {
    let text = upper(text);
    let (body, last) = split_last(&text)?;
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let digit = check_digit::double_add_double(body)?;
    (digits >= 4 && last.is_ascii_digit()).then_some(Finding::CheckDigit(IdType::Cusip, digit))
}

/// The fault of a text of seven characters. A SEDOL in use begins with a digit or B.
pub(super) fn wrong_of_seven(text: &str) -> Option<Finding> {
    let text = upper(text);
    let (body, last) = split_last(&text)?;
    let digit = check_digit::sedol(body)?;
    let is_sedol = (body[0].is_ascii_digit() || body[0] == b'B')
        && body.iter().any(u8::is_ascii_digit)
        && last.is_ascii_digit();
    is_sedol.then_some(Finding::CheckDigit(IdType::Sedol, digit))
}

/// [`Finding::Rounded`] for a number that a spreadsheet rounded.
pub(super) fn rounded(text: &str) -> Option<Finding> {
    let (number, exponent) = text.split_once(['E', 'e'])?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let number = match number.split_once(['.', ',']) {
        Some((whole, fraction)) => whole.len() == 1 && digits(whole) && digits(fraction),
        None => number.len() == 1 && digits(number),
    };
    (number && exponent.strip_prefix('+').is_some_and(digits)).then_some(Finding::Rounded)
}

fn upper(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|c| c.is_ascii_lowercase()) {
        true => Cow::Owned(text.to_ascii_uppercase()),
        false => Cow::Borrowed(text),
    }
}

fn split_last(text: &str) -> Option<(&[u8], u8)> {
    text.as_bytes().split_last().map(|(last, body)| (body, *last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::vocabulary::Vocabulary;
    use crate::resolve::recognise::recognise;

    #[test]
    fn a_fault_is_found() {
        let vocabulary = Vocabulary::new([]);
        let finding = |text| recognise(text, &vocabulary).unwrap().finding;
        for (text, expected) in [
            ("US4592001015", Some(Finding::CheckDigit(IdType::Isin, 4))),
            ("BBG000BLNNH7", Some(Finding::CheckDigit(IdType::BbGlobal, 6))),
            ("037833101", Some(Finding::CheckDigit(IdType::Cusip, 0))),
            ("0263495", Some(Finding::CheckDigit(IdType::Sedol, 4))),
            ("3.78E+08", Some(Finding::Rounded)),
            ("3,78331E+8", Some(Finding::Rounded)),
            ("US4592001014", None),
            ("INSURANCE", None),
            ("DOLLARS", None),
            ("1E", None),
        ] {
            assert_eq!(finding(text), expected, "{text}");
        }
    }
}
