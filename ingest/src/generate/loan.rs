//! Loans: of the large issuers, known by borrower, maturity and tranche.

use super::figis::{self, YEARS};
use super::issuer::Issuer;
use super::rng::Random;
use super::row::{Column, Row, push_number};
use super::terms::{maturity, push_terms};
use super::{Dump, Issue};

/// Types, and how a description writes them; frequent ones first.
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
    let tranche = match security_type {
        "REV" | "LOC" => 0,
        _ => random.below(4),
    };

    row.clear();
    row.set(Column::Figi, &figis::LOANS.issue(year, ordinal).take());
    row.set(Column::MarketSector, b"Corp");
    row.set(Column::SecurityType, security_type.as_bytes());
    row.set(Column::SecurityType2, b"Corp");
    row.set(Column::Currency, currency.as_bytes());
    row.fill(Column::Name, |text| issuer.push_borrower(text));
    row.fill(Column::Ticker, |text| {
        push_terms(text, issuer.ticker(), matures, |text| text.push(b'L'));
        if tranche > 0 {
            text.extend_from_slice(b" T");
            push_number(text, tranche, 1);
        }
    });
    row.fill(Column::Description, |text| {
        text.extend_from_slice(issuer.ticker());
        text.push(b' ');
        text.extend_from_slice(word.as_bytes());
        if tranche > 0 {
            text.extend_from_slice(b" T");
            push_number(text, tranche, 1);
            text.extend_from_slice(b" 1L");
        }
        text.push(b' ');
        text.extend_from_slice(currency.as_bytes());
    });
    row.fill(Column::Maturity, |text| matures.push_iso(text));
    dump.push(row);
}
