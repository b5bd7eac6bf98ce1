//! The identifiers that are one slip away from a wrong one, and what is wrong with it.

use crate::instrument::check_digit;
use crate::instrument::id_type::{IdType, IdValue};

/// The identifiers that are one wrong check digit or one transposition of neighbours away from
/// `text`, each of valid form; the corrected check digit first. There are none for a type without a
/// check digit.
pub(crate) fn corrections(id_type: IdType, text: &str) -> Vec<IdValue<'static>> {
    let text = text.trim().to_uppercase();
    if scheme(id_type).is_none() || !text.is_ascii() {
        return Vec::new();
    }
    let admit = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok()?;
        id_type.admit(&text).ok().map(IdValue::into_owned)
    };
    let mut corrected = Vec::new();
    corrected.extend(right_check_digit(id_type, &text).and_then(|text| admit(text.into_bytes())));
    for place in 1..text.len() {
        let mut bytes = text.clone().into_bytes();
        if bytes[place - 1] != bytes[place] {
            bytes.swap(place - 1, place);
            corrected.extend(admit(bytes));
        }
    }
    corrected
}

/// The text with the check digit that its other characters ask for; `None` when it has that one, or
/// is not of the length and the characters of its type.
pub(crate) fn right_check_digit(id_type: IdType, text: &str) -> Option<String> {
    let mut text = text.trim().to_uppercase();
    let digit = char::from(b'0' + expected_digit(id_type, &text)?);
    (text.pop()? != digit).then(|| {
        text.push(digit);
        text
    })
}

/// The most identifiers that [`corrections`] returns: one check digit, and each pair of neighbours
/// of the longest type.
pub(crate) const CORRECTIONS_MAX: u64 = 12;

/// What is wrong with a text that is not of the form of its idType, as a sentence without a full
/// stop.
pub fn form_fault(id_type: IdType, text: &str) -> String {
    let name = id_type.name();
    if let Some(digit) = right_check_digit(id_type, text).and_then(|text| text.chars().last()) {
        return format!("{name}: the check digit should be {digit}");
    }
    format!("{name}: expected {}", id_type.form_in_words())
}

/// The check digit that the other characters ask for, when the text has the right length and
/// characters for its type.
fn expected_digit(id_type: IdType, upper: &str) -> Option<u8> {
    let (length, digit_of) = scheme(id_type)?;
    let (last, body) = upper.as_bytes().split_last()?;
    let starts_well = id_type != IdType::Isin || body.iter().take(2).all(u8::is_ascii_uppercase);
    (upper.len() == length && last.is_ascii_digit() && starts_well).then(|| digit_of(body))?
}

type DigitOf = fn(&[u8]) -> Option<u8>;

/// The length of an identifier with a check digit, and how the digit is computed.
fn scheme(id_type: IdType) -> Option<(usize, DigitOf)> {
    match id_type {
        IdType::Isin => Some((12, check_digit::isin)),
        IdType::Cusip | IdType::Cins => Some((9, check_digit::double_add_double)),
        IdType::Sedol => Some((7, check_digit::sedol)),
        IdType::BbGlobal | IdType::CompositeBbGlobal | IdType::ShareClassBbGlobal => {
            Some((12, check_digit::double_add_double))
        }
        _ => None,
    }
}
