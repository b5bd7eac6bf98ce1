//! The symbols of options in a text of a list (contract 17.2): those of OCC and OPRA with any blanks,
//! and those that brokers make of an OCC symbol, `-AAPL251219C200` and `AAPL 12/19/2025 200.00 C`.

use crate::instrument::id_type::{OCC_ROOT_BYTES, OCC_TAIL_BYTES};

/// The bytes after the root of an OPRA symbol: a letter for month and option type, day, year and
/// strike.
const OPRA_TAIL_BYTES: usize = 13;

/// The digits of a strike in an OCC symbol: five before the point and three after it.
const WHOLE_DIGITS: usize = 5;
const DECIMALS: usize = 3;

/// An OCC symbol with its root padded to six characters. The text may contain any blanks.
pub(super) fn occ(text: &str) -> Option<String> {
    if let Some(symbol) = text.strip_prefix('-') {
        return with_short_strike(symbol);
    }
    if text.contains('/') {
        return with_slashes(text);
    }
    let (squeezed, root_bytes) = squeezed(text, OCC_TAIL_BYTES)?;
    let (root, rest) = squeezed.split_at_checked(root_bytes)?;
    (1..=OCC_ROOT_BYTES).contains(&root.len()).then(|| format!("{root:OCC_ROOT_BYTES$}{rest}"))
}

/// An OPRA symbol with one blank after its root. After the root come a letter for month and option
/// type, the day and the year with two digits each, and the strike with eight digits.
pub(super) fn opra(text: &str) -> Option<String> {
    let (squeezed, root_bytes) = squeezed(text, OPRA_TAIL_BYTES)?;
    let (root, rest) = squeezed.split_at_checked(root_bytes)?;
    let (letter, digits) = rest.split_at(1);
    let is_opra = (1..=5).contains(&root.len())
        && root.bytes().all(|c| c.is_ascii_alphabetic())
        && letter.bytes().all(|c| matches!(c.to_ascii_uppercase(), b'A'..=b'X'))
        && digits.bytes().all(|c| c.is_ascii_digit());
    is_opra.then(|| format!("{root} {rest}"))
}

/// A text without its blanks, and the bytes of it before a tail of `tail_bytes`. `None` when the text
/// is shorter than the tail.
fn squeezed(text: &str, tail_bytes: usize) -> Option<(String, usize)> {
    // Most texts are too short, and need no copy.
    text.len().checked_sub(tail_bytes)?;
    let squeezed: String = text.split_ascii_whitespace().collect();
    let root_bytes = squeezed.len().checked_sub(tail_bytes)?;
    Some((squeezed, root_bytes))
}

/// The OCC symbol of `AAPL251219C200`, in which the strike is a usual number. Without the dash before
/// it, this may be a strike in thousandths that has lost its zeros.
fn with_short_strike(symbol: &str) -> Option<String> {
    let from_strike = symbol.rfind(|c: char| c.is_ascii_alphabetic())?;
    let (front, tail) = symbol.split_at(from_strike);
    let (side, strike) = tail.split_at(1);
    let (root, day) = front.split_at_checked(front.len().checked_sub(6)?)?;
    symbol_of(root, day, side, strike)
}

/// The OCC symbol of `AAPL 12/19/2025 200.00 C`.
fn with_slashes(text: &str) -> Option<String> {
    let mut words = text.split_ascii_whitespace();
    let (root, day, strike, side) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let mut parts = day.split('/');
    let (month, of_month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let is_day = month.len() == 2 && of_month.len() == 2 && year.len() == 4;
    if words.next().is_some() || parts.next().is_some() || !is_day {
        return None;
    }
    symbol_of(root, &format!("{}{month}{of_month}", year.strip_prefix("20")?), side, strike)
}

/// An OCC symbol of its root, its day as `251219`, `C` or `P`, and its strike as a usual number.
fn symbol_of(root: &str, day: &str, side: &str, strike: &str) -> Option<String> {
    let (whole, decimals) = strike.split_once('.').unwrap_or((strike, ""));
    let is_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    let is_option = (1..=OCC_ROOT_BYTES).contains(&root.len())
        && root.bytes().all(|c| c.is_ascii_alphanumeric())
        && is_digits(day)
        && matches!(side, "C" | "P" | "c" | "p")
        && (1..=WHOLE_DIGITS).contains(&whole.len())
        && decimals.len() <= DECIMALS
        && is_digits(whole)
        && is_digits(decimals);
    is_option.then(|| format!("{root:OCC_ROOT_BYTES$}{day}{side}{whole:0>5}{decimals:0<3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 17.2.
    #[test]
    fn options_as_brokers_write_them() {
        for (text, expected) in [
            ("-AAPL251219C200", Some("AAPL  251219C00200000")),
            ("-aapl251219p7.5", Some("aapl  251219p00007500")),
            ("-BRKB260116C497.125", Some("BRKB  260116C00497125")),
            ("AAPL 12/19/2025 200.00 C", Some("AAPL  251219C00200000")),
            ("SPXW 01/16/2026 6850 P", Some("SPXW  260116P06850000")),
            ("AAPL 251219C00200000", Some("AAPL  251219C00200000")),
            ("-AAPL251219C", None),
            ("-AAPL251219X200", None),
            ("-251219C200", None),
            ("-AAPL251219C200000", None),
            ("-AAPL251219C1.2345", None),
            ("AAPL251219C200", None),
            ("AAPL 12/19/1925 200.00 C", None),
            ("AAPL 12/19/2025 200.00 Call", None),
            ("AAPL 12/19/2025 200.00 C now", None),
            ("AAPL 12/19 200 C", None),
            ("é12345C1", None),
            ("-é12345C1", None),
            ("-", None),
        ] {
            assert_eq!(occ(text).as_deref(), expected, "{text:?}");
        }
    }
}
