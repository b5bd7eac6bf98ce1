//! JSON helpers for all shapes. They read texts, numbers and arrays from raw values, and write
//! texts, arrays and objects. Values stay raw until they are checked, so that the error of a field
//! is about that field, not about the syntax.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::http::pieces::Pieces;

/// The raw JSON of a member's value.
pub(crate) type Raw<'a> = &'a RawValue;

/// Reads the members of an object in order and passes each to `each`, with its name decoded. A
/// repeated name is passed each time, and the last value counts (contract 2.8).
pub(crate) fn read_members<'de, A: MapAccess<'de>>(
    mut map: A,
    mut each: impl FnMut(Cow<'de, str>, Raw<'de>),
) -> Result<(), A::Error> {
    while let Some((key, value)) = map.next_entry::<Raw<'de>, Raw<'de>>()? {
        each(text(key).unwrap_or(Cow::Borrowed(key.get())), value);
    }
    Ok(())
}

/// The longest JSON string with escapes that is decoded whole, in bytes. It has more characters
/// than any valid value, so the beginning of a longer string shows the same fault.
const DECODED_BYTES_MAX: usize = 64 << 10;

/// The text of a JSON string; `None` for any other value, and for a string with a lone surrogate,
/// which is not valid Unicode. If a string has escapes and more than [`DECODED_BYTES_MAX`] bytes,
/// only its beginning is decoded: no value may be that long, and decoding would copy it.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    // Nearly all texts have no escape.
    if let Some(inside) = raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'))
        // Texts are short: a simple loop ends before a vectorised search has started.
        && inside.bytes().all(|byte| byte != b'\\')
    {
        return Some(Cow::Borrowed(inside));
    }
    // The first byte excludes any other value. A parser's error would cost more than a text.
    raw.get().starts_with('"').then_some(())?;
    if raw.get().len() > DECODED_BYTES_MAX {
        let begin = format!("{}\"", &raw.get()[..end_of_character(raw.get(), DECODED_BYTES_MAX)]);
        return serde_json::from_str(&begin).ok().map(Cow::Owned);
    }
    serde_json::Deserializer::from_str(raw.get()).deserialize_str(Decoded).ok()
}

/// The first place at or after `least` where no character of a JSON string is split: neither its
/// bytes, nor an escape, nor a pair of surrogates.
fn end_of_character(json: &str, least: usize) -> usize {
    let bytes = json.as_bytes();
    let mut place = 0;
    while place < least {
        let is_high_surrogate = |place| {
            let digits = json.get(place + 2..place + 4).unwrap_or_default();
            bytes[place..].starts_with(b"\\u") && ("d8".."dc").contains(&&*digits.to_lowercase())
        };
        place += match bytes[place] {
            b'\\' if is_high_surrogate(place) => 12,
            b'\\' if bytes[place + 1] == b'u' => 6,
            b'\\' => 2,
            _ => 1,
        };
    }
    // The last byte is the quotation mark at the end.
    let place = place.min(bytes.len() - 1);
    json.ceil_char_boundary(place)
}

/// Decodes a text, or borrows it if it has no escape.
struct Decoded;

impl<'de> Visitor<'de> for Decoded {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// The decimal digits of a JSON number that is an integer, in any notation (contract 5.3):
/// `459200101` and `459200101.0` are equal. `None` for any other value, and for a number that has
/// an exponent and exceeds 2^53.
pub(super) fn integer(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    integer_of(raw.get())
}

/// As [`integer`], for the text of any JSON value.
pub(crate) fn integer_of(number: &str) -> Option<Cow<'_, str>> {
    if !number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return None;
    }
    let whole = match number.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|byte| byte == b'0') => whole,
        _ => number,
    };
    if whole.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
        return Some(Cow::Borrowed(if whole == "-0" { "0" } else { whole }));
    }
    // An integer with an exponent is accepted up to 2^53: a double holds it exactly.
    let value: f64 = number.parse().ok()?;
    let exact = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
    exact.then(|| Cow::Owned(format!("{value:.0}")))
}

/// The elements of a JSON array; `None` for any other value, and for an array of more than
/// `count_max` elements. At most that many are stored.
pub(crate) fn elements(raw: Raw<'_>, count_max: usize) -> Option<Vec<Raw<'_>>> {
    struct Elements(usize);

    impl<'de> Visitor<'de> for Elements {
        type Value = Vec<Raw<'de>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an array of at most {} elements", self.0)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = array.next_element()? {
                if elements.len() == self.0 {
                    return Err(A::Error::invalid_length(elements.len() + 1, &self));
                }
                elements.push(element);
            }
            Ok(elements)
        }
    }

    serde_json::Deserializer::from_str(raw.get()).deserialize_seq(Elements(count_max)).ok()
}

/// Whether the value is null. An optional property that is null counts as not given (contract 2.9).
pub(super) fn is_null(raw: Raw<'_>) -> bool {
    raw.get() == "null"
}

/// Writes a JSON string.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing a text into memory does not fail");
}

/// Writes an object with one member, whose value is a text.
pub(super) fn message(out: &mut Vec<u8>, key: &str, text: &str) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    string(out, text);
    out.push(b'}');
}

/// An object with an `error`, for routes outside of the contract.
pub(crate) fn error(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, "error", text);
    out
}

/// Removes the end of the object that was just written, so that more members can follow.
pub(super) fn reopen(out: &mut Vec<u8>) {
    let end = out.pop();
    debug_assert_eq!(end, Some(b'}'));
}

/// Writes an array. `each` writes the element for one item.
pub(super) fn array<T>(out: &mut Vec<u8>, items: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        each(out, item);
    }
    out.push(b']');
}

/// Writes an array that may be long. `each` writes the element for one item.
pub(crate) fn array_in_pieces<T>(
    out: &mut Pieces,
    items: &[T],
    mut each: impl FnMut(&mut Pieces, &T),
) {
    out.last().push(b'[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.last().push(b',');
        }
        each(out, item);
        out.begin_if_full();
    }
    out.last().push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Raw<'_> {
        serde_json::from_str(json).unwrap()
    }

    /// A long text is cut between two characters, wherever the limit falls.
    #[test]
    fn the_beginning_of_a_long_text_is_decoded() {
        for piece in ["\\n", "\\u00e9", "\\ud83d\\ude00", "\\uD83D\\uDE00", "\u{1f600}\\t", "\\\\"]
        {
            let decoded: String = serde_json::from_str(&format!("\"{piece}\"")).unwrap();
            for shift in 0..13 {
                let json = format!("\"{}{}\"", "a".repeat(shift), piece.repeat(40_000));
                let whole = "a".repeat(shift) + &decoded.repeat(40_000);
                let text = text(raw(&json)).unwrap();
                assert!(whole.starts_with(&*text), "{piece} {shift}");
                assert!((10_000..DECODED_BYTES_MAX).contains(&text.len()), "{}", text.len());
            }
        }
        let lone = format!("\"\\ud83d{}\"", "a".repeat(DECODED_BYTES_MAX));
        assert_eq!(text(raw(&lone)), None);
    }

    #[test]
    fn integers_however_they_are_written() {
        for (json, decimal) in [
            ("459200101", Some("459200101")),
            ("459200101.0", Some("459200101")),
            ("459200101.00", Some("459200101")),
            ("4592e5", Some("459200000")),
            ("-7", Some("-7")),
            ("-0", Some("0")),
            ("-0.0", Some("0")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            ("1.5", None),
            ("1e300", None),
            ("\"1\"", None),
            ("true", None),
            ("null", None),
        ] {
            assert_eq!(integer(raw(json)).as_deref(), decimal, "{json}");
        }
    }

    #[test]
    fn arrays_are_short() {
        for (json, count) in [
            ("[]", Some(0)),
            ("[1]", Some(1)),
            (r#"[[1,2,3,4],"]"]"#, Some(2)),
            ("[1,2,3]", None),
            ("{}", None),
            ("1", None),
            ("null", None),
        ] {
            let elements = elements(raw(json), 2);
            assert_eq!(elements.map(|elements| elements.len()), count, "{json}");
        }
    }

    #[test]
    fn texts_are_decoded() {
        for (json, expected) in [
            (r#""plain""#, Some("plain")),
            (r#""""#, Some("")),
            (r#""a\"b\u00e9\\""#, Some("a\"bé\\")),
            (r#""\ud800""#, None),
            ("1", None),
            (r#"["x"]"#, None),
        ] {
            assert_eq!(text(raw(json)).as_deref(), expected, "{json}");
        }
    }
}
