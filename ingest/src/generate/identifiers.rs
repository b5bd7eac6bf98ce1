//! National and international security numbers, with right check digits, each
//! given once.
//!
//! A number of the issue is scrambled by a bijection and spelled in the alphabet
//! of the scheme, so two issues never share a CUSIP, and with it never an ISIN.
//! CUSIP and SEDOL stand inside the ISINs of their countries, as they do in life.

use figdex_index::check_digit;

use super::rng::scramble;
use super::row::{Column, Row, push_number};

/// Letters and digits as registrars use them: I and O are left out, being too
/// like 1 and 0.
const ALPHANUMERIC: &[u8; 34] = b"0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// The alphabet of SEDOL: no vowels.
const CONSONANTS: &[u8; 31] = b"0123456789BCDFGHJKLMNPQRSTVWXYZ";

/// Numbers of securities are below 2^29: nine decimal digits hold them.
const NUMBER_BITS: u32 = 29;

/// The six characters of a CUSIP that name the issuer: three digits, three others.
const CUSIP_ISSUERS: u64 = 1000 * 34 * 34 * 34;

/// What is numbered: each kind by itself, from 0, below [`SECURITIES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Security {
    Share(u64),
    Bond(u64),
    Fund(u64),
    Warrant(u64),
    Muni(u64),
    Mortgage(u64),
    Govt(u64),
    Preferred(u64),
}

/// The most securities of a kind.
pub(super) const SECURITIES_MAX: u64 = 1 << (NUMBER_BITS - 3);

impl Security {
    /// The kinds take turns, so that all numbers are different.
    fn number(self, seed: u64) -> u64 {
        let (turn, ordinal) = match self {
            Self::Share(ordinal) => (0, ordinal),
            Self::Bond(ordinal) => (1, ordinal),
            Self::Fund(ordinal) => (2, ordinal),
            Self::Warrant(ordinal) => (3, ordinal),
            Self::Muni(ordinal) => (4, ordinal),
            Self::Mortgage(ordinal) => (5, ordinal),
            Self::Govt(ordinal) => (6, ordinal),
            Self::Preferred(ordinal) => (7, ordinal),
        };
        debug_assert!(ordinal < SECURITIES_MAX);
        scramble(ordinal * 8 + turn, NUMBER_BITS, seed)
    }

    /// Shares and debt look different in a CUSIP.
    const fn is_debt(self) -> bool {
        matches!(self, Self::Bond(_) | Self::Muni(_) | Self::Mortgage(_) | Self::Govt(_))
    }
}

/// Fills the ISIN under the prefix `country` (ISO 3166, or XS for the
/// international depositories), and the national number that is part of it.
pub(super) fn fill(row: &mut Row, country: &str, security: Security, seed: u64) {
    let number = security.number(seed);
    let mut isin = Vec::with_capacity(12);
    isin.extend_from_slice(country.as_bytes());
    match country {
        "US" | "CA" => {
            let cusip = cusip(number, security.is_debt());
            row.set(Column::Cusip, &cusip);
            isin.extend_from_slice(&cusip);
        }
        // Companies of the Cayman Islands carry a CUSIP International number.
        "KY" => {
            let mut cins = *b"G00000000";
            spell(number, &CAYMAN, &mut cins[1..8]);
            cins[8] = check(&cins[..8], check_digit::double_add_double);
            row.set(Column::Cusip, &cins);
            row.set(Column::Cins, &cins);
            isin.extend_from_slice(&cins);
        }
        "GB" => {
            let sedol = sedol(number);
            row.set(Column::Sedol, &sedol);
            isin.extend_from_slice(b"00");
            isin.extend_from_slice(&sedol);
        }
        "DE" => {
            let mut wkn = [0; 6];
            spell(number, &[ALPHANUMERIC; 6], &mut wkn);
            row.set(Column::Wertpapier, &wkn);
            isin.extend_from_slice(b"000");
            isin.extend_from_slice(&wkn);
        }
        "IT" => {
            row.fill(Column::Italy, |text| push_number(text, number % 1_000_000, 6));
            push_number(&mut isin, number, 9);
        }
        "XS" => {
            row.fill(Column::Common, |text| push_number(text, number, 9));
            push_number(&mut isin, number, 9);
        }
        _ => push_number(&mut isin, number, 9),
    }
    let digit = check(&isin, check_digit::isin);
    isin.push(digit);
    row.set(Column::Isin, &isin);
}

/// The SEDOL of a share that has one beside the number of its own country.
pub(super) fn fill_sedol(row: &mut Row, security: Security, seed: u64) {
    row.set(Column::Sedol, &sedol(security.number(seed)));
}

/// A CUSIP: the issuer, then `10`, `11` … for shares or two letters for debt.
fn cusip(number: u64, is_debt: bool) -> [u8; 9] {
    let mut cusip = [b'0'; 9];
    spell(number % CUSIP_ISSUERS, &CUSIP_ISSUER, &mut cusip[..6]);
    let issue = number / CUSIP_ISSUERS;
    if is_debt {
        cusip[6] = b'A';
        cusip[7] = ALPHANUMERIC[(10 + issue) as usize];
    } else {
        cusip[6] = b'1' + (issue / 10) as u8;
        cusip[7] = b'0' + (issue % 10) as u8;
    }
    cusip[8] = check(&cusip[..8], check_digit::double_add_double);
    cusip
}

/// Zeros to digits, then letters, as newer SEDOLs have them.
fn sedol(number: u64) -> [u8; 7] {
    let mut sedol = [b'0'; 7];
    spell(number, &[CONSONANTS; 6], &mut sedol[..6]);
    sedol[6] = check(&sedol[..6], check_digit::sedol);
    sedol
}

const DIGITS: &[u8] = b"0123456789";
const CUSIP_ISSUER: [&[u8]; 6] = [DIGITS, DIGITS, DIGITS, ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC];
const CAYMAN: [&[u8]; 7] =
    [DIGITS, DIGITS, DIGITS, ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC];

/// Writes `number` in a positional system with an alphabet for each place.
fn spell<A: AsRef<[u8]>>(number: u64, alphabets: &[A], places: &mut [u8]) {
    let mut rest = number;
    for (place, alphabet) in places.iter_mut().zip(alphabets).rev() {
        let alphabet = alphabet.as_ref();
        *place = alphabet[(rest % alphabet.len() as u64) as usize];
        rest /= alphabet.len() as u64;
    }
    debug_assert_eq!(rest, 0, "the places hold every number");
}

/// The check digit as a character; the alphabets above leave none without.
fn check(body: &[u8], scheme: fn(&[u8]) -> Option<u8>) -> u8 {
    b'0' + scheme(body).expect("generated characters are of the alphabet")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use figdex_index::IdType;

    use super::*;

    #[test]
    fn identifiers_are_admitted_and_unique() {
        let mut row = Row::new();
        let mut seen = HashSet::new();
        for country in ["US", "CA", "KY", "GB", "DE", "IT", "XS", "JP"] {
            for ordinal in (0..500).chain(SECURITIES_MAX - 500..SECURITIES_MAX) {
                for security in
                    [Security::Share(ordinal), Security::Bond(ordinal), Security::Muni(ordinal)]
                {
                    row.clear();
                    fill(&mut row, country, security, 3);
                    for (column, id_type) in [
                        (Column::Isin, IdType::Isin),
                        (Column::Cusip, IdType::Cusip),
                        (Column::Cins, IdType::Cins),
                        (Column::Sedol, IdType::Sedol),
                        (Column::Wertpapier, IdType::Wertpapier),
                        (Column::Common, IdType::Common),
                        (Column::Italy, IdType::Italy),
                    ] {
                        let value = str::from_utf8(row.get(column)).unwrap();
                        assert!(
                            value.is_empty() || id_type.admit(value).is_ok(),
                            "{id_type:?} {value}"
                        );
                    }
                    assert!(seen.insert(row.get(Column::Isin).to_vec()), "{country} {ordinal}");
                }
            }
        }
    }
}
