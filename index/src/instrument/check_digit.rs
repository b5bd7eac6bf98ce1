//! Check digits of identifiers.
//!
//! Each function takes the characters before the check digit, in upper case, and returns the
//! digit as a number from 0 to 9, or `None` when a character is outside the alphabet of the
//! scheme.

/// "Modulus 10 double add double", used by CUSIP and CINS (ANSI X9.6) and by
/// FIGI (Object Management Group, FIGI 1.2, clause on the check digit): every
/// second value is doubled, and the decimal digits of all values are added.
///
/// Letters count 10–35; `*`, `@` and `#` (CUSIP only) count 36, 37 and 38.
pub fn double_add_double(body: &[u8]) -> Option<u8> {
    let mut sum = 0;
    for (place, &character) in body.iter().enumerate() {
        let value = match character {
            b'*' => 36,
            b'@' => 37,
            b'#' => 38,
            _ => alphanumeric(character)?,
        };
        let value = if place % 2 == 1 { value * 2 } else { value };
        sum += value / 10 + value % 10;
    }
    Some(to_ten(sum))
}

/// The Luhn digit over letters written as two decimal digits, used by ISIN
/// (ISO 6166, annex on the check digit).
pub fn isin(body: &[u8]) -> Option<u8> {
    let mut sum = 0;
    let mut double = true;
    for &character in body.iter().rev() {
        let value = alphanumeric(character)?;
        let mut add = |digit: u32| {
            // A doubled digit counts as the sum of its two decimal digits.
            sum += if double { digit * 2 - if digit > 4 { 9 } else { 0 } } else { digit };
            double = !double;
        };
        add(value % 10);
        if value > 9 {
            add(value / 10);
        }
    }
    Some(to_ten(sum))
}

/// The weighted digit of SEDOL (London Stock Exchange, SEDOL Masterfile):
/// weights 1, 3, 1, 7, 3, 9. Vowels are not in its alphabet.
pub fn sedol(body: &[u8]) -> Option<u8> {
    const WEIGHTS: [u32; 6] = [1, 3, 1, 7, 3, 9];
    let mut sum = 0;
    for (&character, weight) in body.iter().zip(WEIGHTS) {
        if matches!(character, b'A' | b'E' | b'I' | b'O' | b'U') {
            return None;
        }
        sum += alphanumeric(character)? * weight;
    }
    Some(to_ten(sum))
}

/// Whether the last of `characters` is the digit that `scheme` computes from the others.
pub(crate) fn holds(characters: &[u8], scheme: fn(&[u8]) -> Option<u8>) -> bool {
    match characters.split_last() {
        Some((last, body)) => scheme(body).is_some_and(|digit| digit + b'0' == *last),
        None => false,
    }
}

/// The value of a digit or an upper-case letter.
fn alphanumeric(character: u8) -> Option<u32> {
    match character {
        b'0'..=b'9' => Some(u32::from(character - b'0')),
        b'A'..=b'Z' => Some(u32::from(character - b'A') + 10),
        _ => None,
    }
}

fn to_ten(sum: u32) -> u8 {
    ((10 - sum % 10) % 10) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_identifiers_hold() {
        assert!(holds(b"BBG000BLNNH6", double_add_double), "IBM, FIGI");
        assert!(holds(b"459200101", double_add_double), "IBM, CUSIP");
        assert!(holds(b"G0177J108", double_add_double), "Allergan, CINS");
        assert!(holds(b"US4592001014", isin), "IBM, ISIN");
        assert!(holds(b"JP3633400001", isin), "Toyota, ISIN");
        assert!(holds(b"GB0002634946", isin), "BAE Systems, ISIN");
        assert!(holds(b"0263494", sedol), "BAE Systems, SEDOL");
        assert!(holds(b"B0YBKJ7", sedol), "Vodafone, SEDOL");
    }

    #[test]
    fn every_other_digit_fails() {
        for (characters, scheme) in [
            (*b"BBG000BLNNH6", double_add_double as fn(&[u8]) -> Option<u8>),
            (*b"US4592001014", isin),
        ] {
            for digit in b'0'..=b'9' {
                let mut other = characters;
                other[11] = digit;
                assert_eq!(holds(&other, scheme), digit == characters[11]);
            }
        }
    }

    #[test]
    fn a_character_outside_the_alphabet_has_no_digit() {
        assert_eq!(double_add_double(b"4592 010"), None);
        assert_eq!(double_add_double(b"bbg000blnnh"), None);
        assert_eq!(isin(b"US45920010*"), None);
        assert_eq!(sedol(b"A26349"), None, "a vowel");
    }
}
