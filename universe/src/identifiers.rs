//! National and international security numbers, unique and with valid check digits.
//!
//! A bijection scrambles the number of an issue, and the result is written in the alphabet of the
//! scheme. So two issues never share a CUSIP, and therefore never an ISIN. As in real data, CUSIP
//! and SEDOL are part of the ISINs of their countries.

use figdex_index::check_digit;

use super::dump::Issue;
use super::rng::scramble;
use super::row::{Column, Row};

/// Letters and digits without I and O, which registrars avoid because they look like 1 and 0.
const ALPHANUMERIC: &[u8; 34] = b"0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// The alphabet of SEDOL: no vowels.
const CONSONANTS: &[u8; 31] = b"0123456789BCDFGHJKLMNPQRSTVWXYZ";

/// Numbers of securities are below 2^29, so that they fit into nine decimal digits.
const NUMBER_BITS: u32 = 29;

/// Number of issuers that a CUSIP can name: its first six characters are three digits and three
/// letters or digits.
const CUSIP_ISSUERS: u64 = 1000 * 34 * 34 * 34;

/// The kinds of securities that have such numbers. The securities of each kind are counted
/// separately, from 0 to [`SECURITIES_MAX`] - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Security {
    Share = 0,
    Bond = 1,
    Fund = 2,
    Warrant = 3,
    Muni = 4,
    Mortgage = 5,
    Govt = 6,
    Preferred = 7,
}

/// The most securities of a kind.
pub(crate) const SECURITIES_MAX: u64 = 1 << (NUMBER_BITS - 3);

impl Security {
    /// The number of the security. No other security of any kind has the same number.
    fn number(self, issue: &Issue) -> u64 {
        debug_assert!(issue.ordinal < SECURITIES_MAX);
        scramble(issue.ordinal * 8 + self as u64, NUMBER_BITS, issue.seed)
    }

    /// Whether the security is debt. The CUSIP of debt has letters.
    const fn is_debt(self) -> bool {
        matches!(self, Self::Bond | Self::Muni | Self::Mortgage | Self::Govt)
    }
}

/// Fills the ISIN under the prefix `country` (ISO 3166, or XS for the international depositories).
/// For some countries, also fills the national number that is part of the ISIN.
pub(crate) fn fill(row: &mut Row, country: &str, security: Security, issue: &Issue) {
    let number = security.number(issue);
    let national = match country {
        "US" | "CA" => {
            let cusip = cusip(number, security.is_debt());
            row.set(Column::Cusip, &cusip);
            cusip
        }
        // Companies of the Cayman Islands carry a CUSIP International number.
        "KY" => {
            let body = format!("G{}", spell(number, &CAYMAN));
            let cins = checked(body, check_digit::double_add_double);
            row.set(Column::Cusip, &cins);
            row.set(Column::Cins, &cins);
            cins
        }
        "GB" => {
            let sedol = sedol(number);
            row.set(Column::Sedol, &sedol);
            format!("00{sedol}")
        }
        "DE" => {
            let wkn = spell(number, &[ALPHANUMERIC; 6]);
            row.set(Column::Wertpapier, &wkn);
            format!("000{wkn}")
        }
        _ => format!("{number:09}"),
    };
    match country {
        "IT" => row.set(Column::Italy, format_args!("{:06}", number % 1_000_000)),
        "XS" => row.set(Column::Common, &national),
        _ => {}
    }
    row.set(Column::Isin, checked(format!("{country}{national}"), check_digit::isin));
}

/// Fills the SEDOL of a share that has one in addition to the number of its country.
pub(crate) fn fill_sedol(row: &mut Row, security: Security, issue: &Issue) {
    row.set(Column::Sedol, sedol(security.number(issue)));
}

/// The CUSIP: the issuer, then `10`, `11`, … for shares or two letters for debt.
fn cusip(number: u64, is_debt: bool) -> String {
    let issuer = spell(number % CUSIP_ISSUERS, &CUSIP_ISSUER);
    let issue = 10 + number / CUSIP_ISSUERS;
    let body = match is_debt {
        true => format!("{issuer}A{}", char::from(ALPHANUMERIC[issue as usize])),
        false => format!("{issuer}{issue}"),
    };
    checked(body, check_digit::double_add_double)
}

/// The SEDOL: six characters, without vowels, and a check digit.
fn sedol(number: u64) -> String {
    checked(spell(number, &[CONSONANTS; 6]), check_digit::sedol)
}

const DIGITS: &[u8] = b"0123456789";
const CUSIP_ISSUER: [&[u8]; 6] = [DIGITS, DIGITS, DIGITS, ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC];
const CAYMAN: [&[u8]; 7] =
    [DIGITS, DIGITS, DIGITS, ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC];

/// The number in a positional system with a separate alphabet for each place.
fn spell<A: AsRef<[u8]>>(number: u64, alphabets: &[A]) -> String {
    let mut rest = number;
    let mut places = vec![' '; alphabets.len()];
    for (place, alphabet) in places.iter_mut().zip(alphabets).rev() {
        let alphabet = alphabet.as_ref();
        *place = char::from(alphabet[(rest % alphabet.len() as u64) as usize]);
        rest /= alphabet.len() as u64;
    }
    debug_assert_eq!(rest, 0, "the places hold every number");
    places.into_iter().collect()
}

/// The body followed by its check digit. The alphabets above always have one.
fn checked(body: String, scheme: fn(&[u8]) -> Option<u8>) -> String {
    let digit = scheme(body.as_bytes()).expect("generated characters are in the alphabet");
    format!("{body}{digit}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use figdex_index::IdType;

    use super::*;
    use crate::Mix;

    #[test]
    fn identifiers_are_admitted_and_unique() {
        let mut row = Row::new();
        let mut seen = HashSet::new();
        for country in ["US", "CA", "KY", "GB", "DE", "IT", "XS", "JP"] {
            for ordinal in (0..500).chain(SECURITIES_MAX - 500..SECURITIES_MAX) {
                let issue = Issue { seed: 3, mix: Mix::Firm, ordinal };
                for security in [Security::Share, Security::Bond, Security::Muni] {
                    row.clear();
                    fill(&mut row, country, security, &issue);
                    for (column, id_type) in [
                        (Column::Isin, IdType::Isin),
                        (Column::Cusip, IdType::Cusip),
                        (Column::Cins, IdType::Cins),
                        (Column::Sedol, IdType::Sedol),
                        (Column::Wertpapier, IdType::Wertpapier),
                        (Column::Common, IdType::Common),
                        (Column::Italy, IdType::Italy),
                    ] {
                        let value = row.get(column);
                        assert!(
                            value.is_empty() || id_type.admit(value).is_ok(),
                            "{id_type:?} {value}"
                        );
                    }
                    assert!(seen.insert(row.get(Column::Isin).to_owned()), "{country} {ordinal}");
                }
            }
        }
    }
}
