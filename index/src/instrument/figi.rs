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
        Self::parse_bytes(text.as_bytes())
    }

    /// As [`Figi::parse`], for any bytes.
    pub(crate) fn parse_bytes(text: &[u8]) -> Result<Self, FigiError> {
        let characters: &[u8; FIGI_CHARS] = text.try_into().map_err(|_| FigiError::Length)?;
        // One pass over the characters, without a branch: a server parses two FIGIs for every
        // mapping job.
        let [body @ .., last] = characters;
        let (mut number, mut sum, mut fits) = (0, 0, true);
        for (place, character) in body.iter().enumerate() {
            let Character { value, sums, kinds } = CHARACTERS[usize::from(*character)];
            fits &= kinds & KINDS[place] != 0;
            number = number * 36 + u64::from(value);
            sum += u32::from(sums[place % 2]);
        }
        let Character { value: digit, kinds, .. } = CHARACTERS[usize::from(*last)];
        if !fits || kinds & DIGIT == 0 {
            return Err(FigiError::Alphabet);
        }
        if !(sum + u32::from(digit)).is_multiple_of(10) {
            return Err(FigiError::CheckDigit);
        }
        let number = number * 36 + u64::from(digit);
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
        const HALF: u64 = 36_u64.pow(FIGI_CHARS as u32 / 2);
        let mut characters = [0; FIGI_CHARS];
        // Each half fits 32 bits, whose divisions take fewer instructions, and two characters at a
        // time need half of them.
        let halves = [(self.0 / HALF) as u32, (self.0 % HALF) as u32];
        for (characters, mut number) in characters.chunks_exact_mut(FIGI_CHARS / 2).zip(halves) {
            for pair in characters.as_chunks_mut().0.iter_mut().rev() {
                *pair = PAIRS[number as usize % PAIRS.len()];
                number /= PAIRS.len() as u32;
            }
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

/// All that parsing asks of a character.
#[derive(Clone, Copy)]
struct Character {
    /// The value in base 36.
    value: u8,
    /// The decimal digits, added up, of the value and of its double.
    sums: [u8; 2],
    /// The kinds that the character is of, a bit each.
    kinds: u8,
}

const CONSONANT: u8 = 1;
const DIGIT: u8 = 2;
const LETTER_G: u8 = 4;

/// The kinds of characters that each place before the check digit may have.
const KINDS: [u8; FIGI_CHARS - 1] = {
    let mut kinds = [CONSONANT | DIGIT; FIGI_CHARS - 1];
    kinds[0] = CONSONANT;
    kinds[1] = CONSONANT;
    kinds[2] = LETTER_G;
    kinds
};

/// Each byte as a character, in any letter case. A byte that is neither a digit nor a letter is of no
/// kind.
static CHARACTERS: [Character; 256] = {
    let mut characters = [Character { value: 0, sums: [0; 2], kinds: 0 }; 256];
    let mut byte = 0;
    while byte < characters.len() {
        let upper = (byte as u8).to_ascii_uppercase();
        let (value, kinds) = match upper {
            b'0'..=b'9' => (upper - b'0', DIGIT),
            b'A' | b'E' | b'I' | b'O' | b'U' => (upper - b'A' + 10, 0),
            b'G' => (16, CONSONANT | LETTER_G),
            b'A'..=b'Z' => (upper - b'A' + 10, CONSONANT),
            _ => (0, 0),
        };
        let sums = [value / 10 + value % 10, 2 * value / 10 + 2 * value % 10];
        characters[byte] = Character { value, sums, kinds };
        byte += 1;
    }
    characters
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
