//! The Financial Instrument Global Identifier: checked once, then a number.

use std::fmt;
use std::str::FromStr;

use crate::check_digit;

/// The characters of a FIGI.
pub const FIGI_CHARS: usize = 12;

/// A FIGI that is one: 12 characters with the right alphabet and check digit
/// (Object Management Group, Financial Instrument Global Identifier 1.2). Prefixes
/// that look like a country's, which the standard leaves out, pass (decisions,
/// "Forms").
///
/// It is kept as its value in base 36, which is below 2^63 and ascends just as
/// the texts do: a FIGI fits a number column, and FIGI order is number order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Figi(u64);

/// Why a text is no FIGI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigiError {
    /// Not 12 characters.
    #[error("a FIGI has 12 characters")]
    Length,
    /// A place holds a character that it may not hold.
    #[error("a FIGI is two consonants, G, eight consonants or digits, and a check digit")]
    Alphabet,
    /// The check digit is another.
    #[error("the check digit is wrong")]
    CheckDigit,
}

impl Figi {
    /// The FIGI that `text` is, letter case ignored.
    pub fn parse(text: &str) -> Result<Self, FigiError> {
        let characters: [u8; FIGI_CHARS] =
            text.as_bytes().try_into().map_err(|_| FigiError::Length)?;
        let characters = characters.map(|character| character.to_ascii_uppercase());
        for (place, &character) in characters.iter().enumerate() {
            let fits = match place {
                0 | 1 => is_consonant(character),
                2 => character == b'G',
                3..=10 => is_consonant(character) || character.is_ascii_digit(),
                _ => character.is_ascii_digit(),
            };
            if !fits {
                return Err(FigiError::Alphabet);
            }
        }
        if !check_digit::holds(&characters, check_digit::double_add_double) {
            return Err(FigiError::CheckDigit);
        }
        let number = characters.iter().fold(0, |number, &character| {
            number * 36
                + u64::from((character as char).to_digit(36).expect("the alphabet was checked"))
        });
        Ok(Self(number))
    }

    /// The number whose order is the order of the texts.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// The FIGI of a number that [`Figi::to_u64`] gave; the number is not checked
    /// again, so this is for files whose checksum held.
    pub(crate) const fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// The 12 characters, ASCII.
    pub fn to_chars(self) -> [u8; FIGI_CHARS] {
        let mut characters = [0; FIGI_CHARS];
        let mut number = self.0;
        // Two at a time: half the divisions, each by a constant.
        for pair in characters.as_chunks_mut().0.iter_mut().rev() {
            *pair = PAIRS[(number % PAIRS.len() as u64) as usize];
            number /= PAIRS.len() as u64;
        }
        characters
    }
}

/// The two digits of each number below 36², base 36.
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

fn is_consonant(character: u8) -> bool {
    character.is_ascii_uppercase() && !matches!(character, b'A' | b'E' | b'I' | b'O' | b'U')
}

impl FromStr for Figi {
    type Err = FigiError;

    fn from_str(text: &str) -> Result<Self, FigiError> {
        Self::parse(text)
    }
}

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

    #[test]
    fn letter_case_is_ignored() {
        assert_eq!(Figi::parse("bbg000blnnh6"), Figi::parse("BBG000BLNNH6"));
        assert!(Figi::parse("KKG00000DV14").is_ok(), "a crypto asset's");
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
