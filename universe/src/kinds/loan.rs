//! Loans of the large issuers, named by borrower, maturity and tranche.

use crate::dump::{Dump, Issue};
use crate::figis;
use crate::figis::YEARS;
use crate::issuer::Issuer;
use crate::rng::Random;
use crate::row::{Column, Row};
use crate::terms::{maturity, terms};

/// The types and their words in a description, the most frequent first.
const TYPES: [(&str, &str); 6] = [
    ("REV", "REV"),
    ("TERM", "TL"),
    ("DELAY-DRAW TERM", "DDTL"),
    ("BRIDGE TERM", "BRDG"),
    ("LOC", "LOC"),
    ("STANDBY TERM", "STBY"),
];

/// Writes the loan with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 9, ordinal);
    let issuer = Issuer::numbered(seed, random.rank(1 << 12));
    let (security_type, word) = random.pick_by_rank(&TYPES);
    let year = YEARS.start() + random.below(16);
    let matures = maturity(year + 3 + random.below(5), &mut random);
    let currency = random.pick(&["USD", "USD", "USD", "EUR", "GBP"]);
    let (tranche, lien) = match security_type {
        "REV" | "LOC" => (String::new(), ""),
        _ => match random.below(4) {
            0 => (String::new(), ""),
            number => (format!(" T{number}"), " 1L"),
        },
    };

    row.begin(["Corp", security_type, "Corp", currency]);
    row.set(Column::Figi, figis::LOANS.issue(year, ordinal).take());
    row.set(Column::Name, issuer.borrower());
    let ticker = issuer.ticker();
    row.set(Column::Ticker, terms(ticker, "L", matures) + &tranche);
    row.set(Column::Description, format_args!("{ticker} {word}{tranche}{lien} {currency}"));
    row.set(Column::Maturity, matures);
    dump.push(row);
}
