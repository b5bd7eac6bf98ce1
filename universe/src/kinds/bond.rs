//! Corporate bonds: one row each, named by coupon and maturity.
//!
//! Borrowers are the large issuers, a few of which have thousands of bonds. The ticker has the
//! coupon as a decimal, the description in eighths if it is a multiple of an eighth. About half of
//! the rows have an exchange, which is a word instead of a code.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::issuer::Issuer;
use crate::rng::Random;
use crate::row::{Column, Row, thousandths};
use crate::terms::{Coupon, maturity, terms};
use crate::{figis, identifiers};

/// Number of large issuers that borrow.
const BORROWERS: u64 = 1 << 12;

/// A market of debt and its conventions.
#[derive(Clone, Copy)]
struct DebtMarket {
    security_type: &'static str,
    /// The prefix of the ISIN.
    country: &'static str,
    currency: &'static str,
    exch_codes: &'static [&'static str],
    /// The text that may follow the maturity in a ticker.
    suffix: &'static str,
}

/// The markets of debt, the most frequent first.
const MARKETS: [DebtMarket; 13] = [
    market("US DOMESTIC", "US", "USD", &["TRACE", "TRACE", "NEW YORK"], ""),
    market("GLOBAL", "US", "USD", &["TRACE", "NEW YORK", "FRANKFURT"], ""),
    market("EURO MTN", "XS", "EUR", &["LUXEMBOURG", "LONDON", "FRANKFURT"], "EMTN"),
    market("PRIV PLACEMENT", "US", "USD", &["TRACE", "NOT LISTED"], "144A"),
    market("EURO-ZONE", "DE", "EUR", &["FRANKFURT", "STUTTGART", "ALL GERMAN SE"], ""),
    market("EURO-DOLLAR", "XS", "USD", &["SGX-ST", "LUXEMBOURG"], "REGS"),
    market("EURO NON-DOLLAR", "XS", "GBP", &["LONDON", "NOT LISTED"], ""),
    market("DOMESTIC", "CH", "CHF", &["SIX"], ""),
    market("DOMESTIC", "CA", "CAD", &["NOT LISTED"], ""),
    market("DOMESTIC", "IT", "EUR", &["EURONEXT-MILAN", "EUROTLX"], ""),
    market("DOMESTIC MTN", "FR", "EUR", &["EURONEXT-PARIS"], "MTN"),
    market("SAMURAI", "JP", "JPY", &["TOKYO", "NOT LISTED"], ""),
    market("YANKEE", "US", "USD", &["NEW YORK", "TRACE"], ""),
];

const fn market(
    security_type: &'static str,
    country: &'static str,
    currency: &'static str,
    exch_codes: &'static [&'static str],
    suffix: &'static str,
) -> DebtMarket {
    DebtMarket { security_type, country, currency, exch_codes, suffix }
}

/// Writes the bond with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 3, ordinal);
    let issuer = Issuer::numbered(seed, random.rank(BORROWERS));
    let market = random.pick_by_rank(&MARKETS);
    let coupon = Coupon::draw(&mut random);
    let year = YEARS.start() + random.below(YEARS.end() - YEARS.start() + 1);
    let matures = year + 2 + random.rank(30);
    let maturity = maturity(matures, &mut random);

    row.begin(["Corp", market.security_type, "Corp", market.currency]);
    row.set(Column::Figi, figis::BONDS.issue(year, ordinal).take());
    row.set(Column::Name, issuer.borrower());
    row.set(Column::Maturity, maturity);
    if let Coupon::Fixed(number) = coupon {
        row.set(Column::Coupon, thousandths(number));
    }
    if random.one_in(2) {
        row.set(Column::ExchCode, random.pick(market.exch_codes));
    }
    let description = terms(issuer.ticker(), &coupon.decimal(), maturity);
    row.set(Column::SecNumDes, &description);
    row.set(Column::Ticker, &description);
    if !market.suffix.is_empty() && !random.one_in(4) {
        row.set(Column::Ticker, format_args!("{description} {}", market.suffix));
    }
    row.set(Column::Description, terms(issuer.ticker(), &coupon.fraction(), maturity));
    identifiers::fill(row, market.country, Security::Bond, issue);
    // Legacy identifiers of bonds have two letters and seven digits.
    let (series, number) = (ordinal / 10_000_000, ordinal % 10_000_000);
    let letters = [b'E' + (series / 20) as u8, b'A' + (series % 20) as u8].map(char::from);
    row.set(Column::Bb, format_args!("{}{}{number:07}", letters[0], letters[1]));
    if market.country == "JP" {
        row.set(Column::ShortCode, format_args!("{number:07}"));
    }
    if market.country == "US" {
        row.set(Column::Trace, format_args!("{}{}", issuer.ticker(), 3_000_000 + ordinal));
    }
    dump.push(row);
}
