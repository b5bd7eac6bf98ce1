//! Programmes of the money market: a row for each programme of a borrower, under
//! the ticker that its share has too.

use super::figis::{self, YEARS};
use super::issuer::Issuer;
use super::rng::Random;
use super::row::{Column, Row};
use super::{Dump, Issue};

/// Type, type 2, currency, and the word in the description.
const PROGRAMMES: [(&str, &str, &str, &str); 6] = [
    ("U.S. CP", "CP", "USD", "CP"),
    ("U.S. INT BEAR CP", "CP", "USD", "CPIB"),
    ("EURO CP", "CP", "EUR", "ECP"),
    ("MED TERM NOTE", "MTN", "USD", "MTN"),
    ("EURO MTN", "MTN", "EUR", "EMTN"),
    ("EURO CD", "CD", "EUR", "ECD"),
];

/// Writes the programme with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 13, ordinal);
    let programmes = PROGRAMMES.len() as u64;
    let issuer = Issuer::numbered(seed, ordinal / programmes);
    let (security_type, security_type2, currency, word) =
        PROGRAMMES[(ordinal % programmes) as usize];
    let year = YEARS.start() + random.below(16);
    row.clear();
    row.set(Column::Figi, &figis::MONEY.issue(year, ordinal).take());
    row.set(Column::Ticker, issuer.ticker());
    row.fill(Column::Name, |text| issuer.push_borrower(text));
    row.fill(Column::Description, |text| {
        text.extend_from_slice(issuer.ticker());
        text.push(b' ');
        text.extend_from_slice(word.as_bytes());
    });
    row.set(Column::MarketSector, b"M-Mkt");
    row.set(Column::SecurityType, security_type.as_bytes());
    row.set(Column::SecurityType2, security_type2.as_bytes());
    row.set(Column::Currency, currency.as_bytes());
    dump.push(row);
}
