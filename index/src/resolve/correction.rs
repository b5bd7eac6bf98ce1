//! Corrections of a wrong identifier, each one slip away from it, and descriptions of its fault.

use crate::instrument::check_digit;
use crate::instrument::id_type::{IdType, IdValue};

/// The valid identifiers that differ from `text` by a wrong check digit or by one swap of
/// neighbours, or the SEDOL that `text` is without its leading zero. The one with the corrected
/// check digit comes first. Empty for a type without a check digit, and for any other text that does
/// not have the length of the type.
pub(crate) fn corrections(id_type: IdType, text: &str) -> Vec<IdValue<'static>> {
    let Some((length, digit_of)) = scheme(id_type) else { return Vec::new() };
    let text = text.trim().to_uppercase();
    let admit = |text: &str| id_type.admit(text).ok().map(IdValue::into_owned);
    if let Some(padded) = padded_sedol(&text).filter(|_| id_type == IdType::Sedol) {
        return admit(&padded).into_iter().collect();
    }
    if text.len() != length || !text.is_ascii() {
        return Vec::new();
    }
    let mut corrected = Vec::new();
    corrected.extend(right_check_digit(id_type, &text).and_then(|text| admit(&text)));
    let mut swapped = text.into_bytes();
    for place in 1..length {
        if swapped[place - 1] == swapped[place] {
            continue;
        }
        swapped.swap(place - 1, place);
        // Nine swaps in ten give a wrong check digit.
        if check_digit::holds(&swapped, digit_of)
            && let Ok(text) = str::from_utf8(&swapped)
        {
            corrected.extend(admit(text));
        }
        swapped.swap(place - 1, place);
    }
    corrected
}

/// The SEDOL of six digits from which a spreadsheet took the leading zero. `None` when its check
/// digit is wrong.
pub(crate) fn padded_sedol(text: &str) -> Option<String> {
    let is_short = text.len() == 6 && text.bytes().all(|c| c.is_ascii_digit());
    let padded = is_short.then(|| format!("0{text}"))?;
    IdType::Sedol.admit(&padded).is_ok().then_some(padded)
}

/// The text with the check digit that follows from its other characters. `None` when the check
/// digit is already right, or when the length or the characters do not fit the type.
pub(crate) fn right_check_digit(id_type: IdType, text: &str) -> Option<String> {
    let mut text = text.trim().to_uppercase();
    let digit = char::from(b'0' + expected_digit(id_type, &text)?);
    (text.pop()? != digit).then(|| {
        text.push(digit);
        text
    })
}

/// The most identifiers that [`corrections`] returns: one for the check digit, and one for each
/// pair of neighbours of the longest type.
pub(crate) const CORRECTIONS_MAX: u64 = 12;

/// The fault of a text that does not have the form of its idType: a sentence without a full stop.
pub fn form_fault(id_type: IdType, text: &str) -> String {
    let name = id_type.name();
    if let Some(digit) = right_check_digit(id_type, text).and_then(|text| text.chars().last()) {
        return format!("{name}: the check digit should be {digit}");
    }
    if id_type == IdType::Sedol && padded_sedol(text.trim()).is_some() {
        return format!("{name}: its leading zero is missing");
    }
    format!("{name}: expected {}", id_type.form_in_words())
}

/// The fault of a text as [`form_fault`] says it, without the right check digit, by which a caller
/// who may not see identifiers of this type would complete one.
pub(crate) fn form_fault_without_digit(id_type: IdType, text: &str) -> String {
    let name = id_type.name();
    match right_check_digit(id_type, text) {
        Some(_) => format!("{name}: the check digit is wrong"),
        None => format!("{name}: expected {}", id_type.form_in_words()),
    }
}

/// The check digit that follows from the other characters, if the text has the right length and
/// characters for its type.
fn expected_digit(id_type: IdType, upper: &str) -> Option<u8> {
    let (length, digit_of) = scheme(id_type)?;
    let (last, body) = upper.as_bytes().split_last()?;
    let starts_well = id_type != IdType::Isin || body.iter().take(2).all(u8::is_ascii_uppercase);
    (upper.len() == length && last.is_ascii_digit() && starts_well).then(|| digit_of(body))?
}

type DigitOf = fn(&[u8]) -> Option<u8>;

/// The length of an identifier with a check digit, and the function that computes the digit.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(id_type: IdType, text: &str) -> Vec<String> {
        corrections(id_type, text).iter().map(|value| value.as_str().to_owned()).collect()
    }

    #[test]
    fn a_wrong_check_digit_and_two_swapped_characters_are_corrected() {
        assert!(of(IdType::Isin, "US4592001015").starts_with(&["US4592001014".to_owned()]));
        assert!(of(IdType::Isin, "US4592010014").contains(&"US4592001014".to_owned()));
        assert!(of(IdType::Cusip, "037833101").starts_with(&["037833100".to_owned()]));
        assert!(of(IdType::Sedol, "0236494").contains(&"0263494".to_owned()));
        assert!(of(IdType::BbGlobal, "bbg000blnnh7").starts_with(&["BBG000BLNNH6".to_owned()]));
        assert_eq!(of(IdType::Sedol, "798059"), ["0798059"]);
        assert_eq!(of(IdType::Sedol, "798058"), [""; 0]);
        assert_eq!(of(IdType::Wertpapier, "798059"), [""; 0]);
        assert_eq!(of(IdType::Ticker, "IMB"), [""; 0]);
        assert_eq!(of(IdType::Isin, "ÜS4592001015"), [""; 0]);
        assert_eq!(of(IdType::Isin, ""), [""; 0]);
    }

    #[test]
    fn faults_say_what_was_expected() {
        assert_eq!(
            form_fault(IdType::Isin, "US4592001015"),
            "ID_ISIN: the check digit should be 4"
        );
        assert_eq!(
            form_fault(IdType::Isin, "US459200101"),
            "ID_ISIN: expected two letters, nine letters or digits, and a check digit"
        );
        assert_eq!(form_fault(IdType::Sedol, "798059"), "ID_SEDOL: its leading zero is missing");
        assert_eq!(form_fault(IdType::Common, "12"), "ID_COMMON: expected nine digits");
    }

    proptest! {
        /// Each correction is valid, is another text, and is one slip away.
        #[test]
        fn corrections_are_one_slip_away(
            body in "[A-Z]{2}[A-Z0-9]{9}|[0-9A-Z]{6,8}|[0-9]{5}|BBG[0-9B-DF-H]{8}|.{0,12}", last in "[0-9]",
        ) {
            let text = format!("{body}{last}");
            for id_type in IdType::ALL {
                let corrected = of(id_type, &text);
                prop_assert!(corrected.len() as u64 <= CORRECTIONS_MAX);
                for value in corrected {
                    prop_assert!(id_type.admit(&value).is_ok());
                    if value.len() > text.len() {
                        prop_assert_eq!((id_type, value), (IdType::Sedol, format!("0{text}")));
                        continue;
                    }
                    let differ: Vec<usize> = (0..text.len())
                        .filter(|place| text.as_bytes()[*place] != value.as_bytes()[*place])
                        .collect();
                    let is_swap = differ.len() == 2 && differ[1] == differ[0] + 1;
                    prop_assert!(differ == [text.len() - 1] || is_swap, "{text} {value}");
                }
            }
        }
    }
}
