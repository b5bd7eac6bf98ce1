//! Programmes of the money market: a row for each programme of a borrower, with the ticker of the
//! borrower's share.

use crate::dump::{Dump, Issue};
use crate::figis;
use crate::figis::YEARS;
use crate::issuer::Issuer;
use crate::rng::Random;
use crate::row::{Column, Row};

/// Security type, security type 2, currency, and the word in the description.
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
    row.begin(["M-Mkt", security_type, security_type2, currency]);
    row.set(Column::Figi, figis::MONEY.issue(year, ordinal).take());
    row.set(Column::Ticker, issuer.ticker());
    row.set(Column::Name, issuer.borrower());
    row.set(Column::Description, format_args!("{} {word}", issuer.ticker()));
    dump.push(row);
}
