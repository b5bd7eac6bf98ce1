//! Preferred stock that is quoted like a bond, by coupon. Most of it is perpetual.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::issuer::Issuer;
use crate::rng::Random;
use crate::row::{Column, Row, thousandths};
use crate::terms::{Coupon, maturity, terms};
use crate::{figis, identifiers};

/// Writes the preferred stock with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 14, ordinal);
    let issuer = Issuer::numbered(seed, random.rank(1 << 12));
    let year = YEARS.start() + random.below(16);
    let number = 125 * (24 + random.below(48));
    let coupon = Coupon::Fixed(number);
    let matures = random.one_in(4).then(|| maturity(year + 20 + random.below(30), &mut random));
    let terms = |coupon: &str| match matures {
        Some(day) => terms(issuer.ticker(), coupon, day),
        None => format!("{} {coupon} PERP", issuer.ticker()),
    };

    let security_type = if random.one_in(10) { "PRIVATE" } else { "PUBLIC" };
    row.begin(["Pfd", security_type, "Preferred Stock", "USD"]);
    row.set(Column::Figi, figis::PREFERREDS.issue(year, ordinal).take());
    row.set(Column::Name, issuer.borrower());
    row.set(Column::Ticker, terms(&coupon.decimal()));
    row.set(Column::Description, terms(&coupon.fraction()));
    row.set(Column::ExchCode, if random.one_in(2) { "NOT LISTED" } else { "NEW YORK" });
    row.set(Column::Coupon, thousandths(number));
    if let Some(day) = matures {
        row.set(Column::Maturity, day);
    }
    identifiers::fill(row, "US", Security::Preferred, issue);
    dump.push(row);
}
