//! Preferred stock that is quoted like a bond: by coupon, most of it for ever.

use super::figis::{self, YEARS};
use super::identifiers::{self, Security};
use super::issuer::Issuer;
use super::rng::Random;
use super::row::{Column, Row, push_thousandths};
use super::terms::{Coupon, maturity, push_terms};
use super::{Dump, Issue};

/// Writes the preferred stock with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 14, ordinal);
    let issuer = Issuer::numbered(seed, random.rank(1 << 12));
    let year = YEARS.start() + random.below(16);
    let thousandths = 125 * (24 + random.below(48));
    let coupon = Coupon::Fixed(thousandths);
    let matures = random.one_in(4).then(|| maturity(year + 20 + random.below(30), &mut random));
    let push = |text: &mut Vec<u8>, push_coupon: &dyn Fn(&mut Vec<u8>)| match matures {
        Some(day) => push_terms(text, issuer.ticker(), day, push_coupon),
        None => {
            text.extend_from_slice(issuer.ticker());
            text.push(b' ');
            push_coupon(text);
            text.extend_from_slice(b" PERP");
        }
    };

    row.clear();
    row.set(Column::Figi, &figis::PREFERREDS.issue(year, ordinal).take());
    row.fill(Column::Name, |text| issuer.push_borrower(text));
    row.fill(Column::Ticker, |text| push(text, &|text| coupon.push_decimal(text)));
    row.fill(Column::Description, |text| push(text, &|text| coupon.push_fraction(text)));
    row.set(Column::MarketSector, b"Pfd");
    row.set(Column::SecurityType, if random.one_in(10) { b"PRIVATE" } else { b"PUBLIC" });
    row.set(Column::SecurityType2, b"Preferred Stock");
    row.set(Column::Currency, b"USD");
    row.set(Column::ExchCode, if random.one_in(2) { b"NOT LISTED" } else { b"NEW YORK" });
    row.fill(Column::Coupon, |text| push_thousandths(text, thousandths));
    if let Some(day) = matures {
        row.fill(Column::Maturity, |text| day.push_iso(text));
    }
    identifiers::fill(row, "US", Security::Preferred(ordinal), seed);
    dump.push(row);
}
