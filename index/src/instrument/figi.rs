//! The Financial Instrument Global Identifier (FIGI): checked once, then held as a number.

use std::fmt;

/// The number of characters of a FIGI.
pub const FIGI_CHARS: usize = 12;

/// A valid FIGI: 12 characters with the right alphabet and check digit (Object Management
/// Group, Financial Instrument Global Identifier 1.2). Prefixes that look like a country code,
/// which the standard reserves, are accepted (contract 5.9).
///
/// It is held as its value in base 36, which is below 2^63. The numbers have the order of the
/// texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Figi(u64);

/// The reason why a text is not a FIGI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigiError {
    /// Not 12 characters.
    #[error("a FIGI has 12 characters")]
    Length,
    /// A character is not allowed at its place.
    #[error("a FIGI is two consonants, G, eight consonants or digits, and a check digit")]
    Alphabet,
    /// The check digit does not fit the other characters.
    #[error("the check digit is wrong")]
    CheckDigit,
}

impl Figi {
    /// Parses a FIGI, in any letter case.
    ///
    /// # Errors
    /// The first rule of a FIGI that the text breaks.
    pub fn parse(text: &str) -> Result<Self, FigiError> {
        let characters: &[u8; FIGI_CHARS] =
            text.as_bytes().try_into().map_err(|_| FigiError::Length)?;
        // One pass over the characters: a server parses one or two FIGIs for every mapping job.
        let (mut number, mut sum) = (0, 0);
        for (place, &character) in characters.iter().enumerate() {
            let value = VALUES[usize::from(character)];
            let is_consonant = CONSONANTS >> value.min(63) & 1 == 1;
            let fits = match place {
                0 | 1 => is_consonant,
                2 => value == 16,
                3..=10 => is_consonant || value < 10,
                _ => value < 10,
            };
            if !fits {
                return Err(FigiError::Alphabet);
            }
            number = number * 36 + u64::from(value);
            if place < FIGI_CHARS - 1 {
                let value = u32::from(value) << (place % 2);
                sum += value / 10 + value % 10;
            }
        }
        let digit = VALUES[usize::from(characters[FIGI_CHARS - 1])];
        if u32::from(digit) != (10 - sum % 10) % 10 {
            return Err(FigiError::CheckDigit);
        }
        Ok(Self(number))
    }

    /// The value in base 36. The numbers have the order of the texts.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// The FIGI of a number from [`Figi::to_u64`]. The number is not checked: it comes from bytes
    /// that Figdex wrote, such as a file whose checksum was verified.
    pub(crate) const fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// The 12 ASCII characters.
    pub fn to_chars(self) -> [u8; FIGI_CHARS] {
        let mut characters = [0; FIGI_CHARS];
        let mut number = self.0;
        // Two characters at a time need half the divisions, each by a constant.
        for pair in characters.as_chunks_mut().0.iter_mut().rev() {
            *pair = PAIRS[(number % PAIRS.len() as u64) as usize];
            number /= PAIRS.len() as u64;
        }
        characters
    }
}

/// The two base 36 digits of each number below 36².
static PAIRS: [[u8; 2]; 36 * 36] = {
    const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut pairs = [[0; 2]; 36 * 36];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [DIGITS[number / 36], DIGITS[number % 36]];
        number += 1;
    }
    pairs
};

/// The value in base 36 of each digit and letter, in any letter case; 255 for other bytes.
static VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut byte = 0;
    while byte < values.len() {
        values[byte] = match byte as u8 {
            digit @ b'0'..=b'9' => digit - b'0',
            letter @ b'A'..=b'Z' => letter - b'A' + 10,
            letter @ b'a'..=b'z' => letter - b'a' + 10,
            _ => u8::MAX,
        };
        byte += 1;
    }
    values
};

/// A bit for each value in base 36: set for consonants.
const CONSONANTS: u64 = {
    let mut bits = ((1_u64 << 36) - 1) & !((1 << 10) - 1);
    let mut vowels: &[u8] = b"AEIOU";
    while let [vowel, rest @ ..] = vowels {
        bits &= !(1 << (*vowel - b'A' + 10));
        vowels = rest;
    }
    bits
};

impl fmt::Display for Figi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.to_chars() {
            fmt::Write::write_char(f, character as char)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Figi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::check_digit;

    #[test]
    fn each_rule_has_its_error() {
        for (text, error) in [
            ("", FigiError::Length),
            ("BBG000BLNNH", FigiError::Length),
            ("BBG000BLNNH66", FigiError::Length),
            ("ABG000BLNNH6", FigiError::Alphabet),
            ("BBX000BLNNH6", FigiError::Alphabet),
            ("BBG00OBLNNH6", FigiError::Alphabet),
            ("BBG000BLNNHX", FigiError::Alphabet),
            ("BBG000BLNNH5", FigiError::CheckDigit),
            ("TCS00A103X66", FigiError::Alphabet),
        ] {
            assert_eq!(Figi::parse(text), Err(error), "{text}");
        }
    }

    /// `Figi::parse` computes the same check digit as `check_digit::double_add_double`.
    #[test]
    fn the_scheme_is_double_add_double() {
        for text in ["BBG000BLNNH", "KKG00000DV1", "ZZGZZZZZZZZ", "BCG0B1C2D3F"] {
            let digit = check_digit::double_add_double(text.as_bytes()).unwrap();
            for other in 0..10 {
                let figi = Figi::parse(&format!("{text}{other}"));
                assert_eq!(figi.is_ok(), other == digit, "{text}{other}");
            }
        }
    }

    #[test]
    fn letter_case_is_ignored() {
        assert_eq!(Figi::parse("bbg000blnnh6"), Figi::parse("BBG000BLNNH6"));
        assert!(Figi::parse("KKG00000DV14").is_ok(), "FIGI of a crypto asset");
    }

    fn figi() -> impl Strategy<Value = String> {
        "BBG[0-9BCDFGHJKLMNPQRSTVWXYZ]{8}".prop_map(|body| {
            let digit = check_digit::double_add_double(body.as_bytes()).unwrap();
            format!("{body}{digit}")
        })
    }

    proptest! {
        #[test]
        fn text_and_number_round_trip(text in figi()) {
            let figi = Figi::parse(&text).unwrap();
            prop_assert_eq!(figi.to_string(), text);
            prop_assert_eq!(Figi::from_u64(figi.to_u64()), figi);
            prop_assert!(figi.to_u64() < 1 << 63);
        }

        #[test]
        fn number_order_is_text_order(a in figi(), b in figi()) {
            prop_assert_eq!(
                Figi::parse(&a).unwrap().cmp(&Figi::parse(&b).unwrap()),
                a.cmp(&b)
            );
        }

        #[test]
        fn any_text_is_answered(text in any::<String>()) {
            let _ = Figi::parse(&text);
        }
    }
}
