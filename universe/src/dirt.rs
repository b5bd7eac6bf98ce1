//! The defects of real dumps, on request (`--dirt`). They test that a build survives and reports
//! them.
//!
//! Each defect occurs in real dumps: a missing name, a repeated FIGI, trailing blanks, the ISIN
//! of another security (such as that of the depositary receipt on the row of the share), text
//! that was decoded twice, wrong check digits, and placeholders that look like FIGIs. Whether a
//! row has a defect depends only on the seed, the percentage and the number of the row.

use std::str::FromStr;

use super::rng::Random;
use super::row::{Column, Row};

/// The proportion of rows that have a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirt {
    /// Number of such rows in a million.
    per_million: u64,
}

impl Dirt {
    /// No row has a defect.
    pub const NONE: Self = Self { per_million: 0 };

    const MILLION: u64 = 1_000_000;
}

impl FromStr for Dirt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
        match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
            // One percent of a million is ten thousand.
            Some(percent) => Ok(Self { per_million: (percent * 10_000.0).round() as u64 }),
            None => Err(format!("invalid percentage {text:?}: expected 0% to 100%, such as 1%")),
        }
    }
}

/// The defects, each with its number of rows per hundred rows with a defect.
const DEFECTS: [(Defect, u64); 9] = [
    (Defect::NoName, 45),
    (Defect::FigiTwice, 15),
    (Defect::OtherValues, 10),
    (Defect::TrailingBlanks, 10),
    (Defect::Mojibake, 6),
    (Defect::IsinOfAnother, 5),
    (Defect::IsinCheckDigit, 4),
    (Defect::FigiCheckDigit, 3),
    (Defect::Placeholder, 2),
];

#[derive(Clone, Copy)]
enum Defect {
    NoName,
    /// The row is repeated.
    FigiTwice,
    /// The row is repeated with other values.
    OtherValues,
    TrailingBlanks,
    Mojibake,
    IsinOfAnother,
    IsinCheckDigit,
    FigiCheckDigit,
    Placeholder,
}

/// Gives rows their defects.
pub(crate) struct Defects {
    seed: u64,
    dirt: Dirt,
    /// The ISIN of an earlier row of another security.
    isin: String,
    rows: [Row; 2],
}

impl Defects {
    pub(crate) const fn new(seed: u64, dirt: Dirt) -> Self {
        Self { seed, dirt, isin: String::new(), rows: [Row::new(), Row::new()] }
    }

    /// The rows to write instead of the row with that number; `None` if it has no defect.
    pub(crate) fn apply(&mut self, number: u64, row: &Row) -> Option<&[Row]> {
        if self.dirt == Dirt::NONE {
            return None;
        }
        let mut random = Random::of(self.seed, 15, number);
        if random.below(Dirt::MILLION) >= self.dirt.per_million {
            if number.is_multiple_of(64) && !row.get(Column::Isin).is_empty() {
                self.isin.clear();
                self.isin.push_str(row.get(Column::Isin));
            }
            return None;
        }
        self.rows[0].clone_from(row);
        let [first, second] = &mut self.rows;
        match random.pick_weighted(&DEFECTS, |(_, weight)| *weight).0 {
            Defect::NoName => first.set(Column::Name, ""),
            Defect::FigiTwice => {
                second.clone_from(row);
                return Some(&self.rows);
            }
            Defect::OtherValues => {
                second.clone_from(row);
                append(second, Column::Name, " (OLD)");
                second.set(Column::Currency, "EUR");
                return Some(&self.rows);
            }
            Defect::TrailingBlanks => {
                for column in [Column::Ticker, Column::Name, Column::Isin] {
                    if !first.get(column).is_empty() {
                        append(first, column, "   ");
                    }
                }
            }
            Defect::Mojibake => mojibake(first),
            Defect::IsinOfAnother => first.set(Column::Isin, &self.isin),
            Defect::IsinCheckDigit => other_check_digit(first, Column::Isin),
            Defect::FigiCheckDigit => other_check_digit(first, Column::Figi),
            Defect::Placeholder => {
                let prefix = random.pick(&["TCS", "FUT"]);
                first.set(Column::Figi, format_args!("{prefix}{}", &row.get(Column::Figi)[3..]));
            }
        }
        Some(&self.rows[..1])
    }
}

fn append(row: &mut Row, column: Column, suffix: &str) {
    let value = row.get(column).to_owned() + suffix;
    row.set(column, value);
}

/// Replaces the name by its UTF-8 bytes read as Latin-1. A name in ASCII first gets an accent, if
/// it has an `A`.
fn mojibake(row: &mut Row) {
    let name = row.get(Column::Name);
    let name = if name.is_ascii() { name.replacen('A', "Á", 1) } else { name.to_owned() };
    // Where Windows-1252 has printable characters, Latin-1 has control characters. These often
    // end up as question marks.
    let character = |byte| if (0x80..0xA0).contains(&byte) { '?' } else { char::from(byte) };
    row.set(Column::Name, name.bytes().map(character).collect::<String>());
}

fn other_check_digit(row: &mut Row, column: Column) {
    let mut value = row.get(column).to_owned();
    if let Some(digit) = value.pop().and_then(|digit| digit.to_digit(10)) {
        value += &((digit + 1) % 10).to_string();
    }
    row.set(column, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirt_is_a_percentage() {
        assert_eq!("1%".parse(), Ok(Dirt { per_million: 10_000 }));
        assert_eq!("0.05%".parse(), Ok(Dirt { per_million: 500 }));
        assert_eq!("0%".parse(), Ok(Dirt::NONE));
        for wrong in ["1", "-1%", "101%", "%", "much"] {
            assert!(wrong.parse::<Dirt>().is_err(), "{wrong}");
        }
        assert_eq!(DEFECTS.iter().map(|(_, weight)| weight).sum::<u64>(), 100);
    }

    #[test]
    fn mojibake_is_utf_8_read_as_latin_1() {
        let mut row = Row::new();
        row.set(Column::Name, "CRÉDIT");
        mojibake(&mut row);
        assert_eq!(row.get(Column::Name), "CRÃ?DIT");
    }
}
