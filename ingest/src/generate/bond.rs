//! Corporate bonds: one row each, named by coupon and maturity.
//!
//! Borrowers are the large issuers, a few of them with thousands of bonds. The
//! ticker writes the coupon as a decimal, the description in eighths; listing is
//! a word where it is known, and in half the rows it is not.

use super::Dump;
use super::day::Day;
use super::figis::{self, YEARS};
use super::identifiers::{self, Security};
use super::issuer::Issuer;
use super::rng::Random;
use super::row::{Column, Row, push_number, push_thousandths};

/// How many of the large issuers borrow.
const BORROWERS: u64 = 1 << 12;

/// A market of debt and its habits.
#[derive(Clone, Copy)]
struct DebtMarket {
    security_type: &'static str,
    /// The prefix of the ISIN.
    country: &'static str,
    currency: &'static str,
    exch_codes: &'static [&'static str],
    /// What may stand after the maturity in a ticker.
    suffix: &'static str,
}

/// The markets of debt, frequent ones first.
const MARKETS: [DebtMarket; 12] = [
    market("US DOMESTIC", "US", "USD", &["TRACE", "TRACE", "NEW YORK"], ""),
    market("GLOBAL", "US", "USD", &["TRACE", "NEW YORK", "FRANKFURT"], ""),
    market("EURO MTN", "XS", "EUR", &["LUXEMBOURG", "LONDON", "FRANKFURT"], "EMTN"),
    market("PRIV PLACEMENT", "US", "USD", &["TRACE", "NOT LISTED"], "144A"),
    market("EURO-ZONE", "DE", "EUR", &["FRANKFURT", "STUTTGART", "ALL GERMAN SE"], ""),
    market("EURO-DOLLAR", "XS", "USD", &["SGX-ST", "LUXEMBOURG"], "REGS"),
    market("EURO NON-DOLLAR", "XS", "GBP", &["LONDON", "NOT LISTED"], ""),
    market("DOMESTIC", "CH", "CHF", &["SIX"], ""),
    market("DOMESTIC", "CA", "CAD", &["NOT LISTED"], ""),
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

/// What a bond pays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coupon {
    /// Per cent a year, in thousandths; 0 for a bond without coupons.
    Fixed(u64),
    Floating,
}

impl Coupon {
    fn draw(random: &mut Random) -> Self {
        match random.below(100) {
            0..8 => Self::Floating,
            8..12 => Self::Fixed(0),
            12..70 => Self::Fixed(125 * (1 + random.below(72))),
            _ => Self::Fixed(50 * (1 + random.below(180))),
        }
    }

    /// `7.625`, or `F`
    fn push_decimal(self, text: &mut Vec<u8>) {
        match self {
            Self::Fixed(thousandths) => push_thousandths(text, thousandths),
            Self::Floating => text.push(b'F'),
        }
    }

    /// `7 5/8`, or `Float`; a coupon that is no whole number of eighths stays a
    /// decimal.
    fn push_fraction(self, text: &mut Vec<u8>) {
        const EIGHTHS: [&str; 8] = ["", "1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8"];
        match self {
            Self::Floating => text.extend_from_slice(b"Float"),
            Self::Fixed(thousandths) if thousandths % 125 == 0 && thousandths % 1000 > 0 => {
                if thousandths > 1000 {
                    push_number(text, thousandths / 1000, 1);
                    text.push(b' ');
                }
                let eighths = thousandths % 1000 / 125;
                text.extend_from_slice(EIGHTHS[eighths as usize].as_bytes());
            }
            Self::Fixed(thousandths) => push_thousandths(text, thousandths),
        }
    }
}

/// Writes the bond with that ordinal.
pub(super) fn write(seed: u64, ordinal: u64, row: &mut Row, dump: &mut Dump) {
    let mut random = Random::of(seed, 3, ordinal);
    let issuer = Issuer::numbered(seed, random.rank(BORROWERS));
    let market = random.pick_by_rank(&MARKETS);
    let coupon = Coupon::draw(&mut random);
    let year = YEARS.start() + random.below(YEARS.end() - YEARS.start() + 1);
    let maturity = Day {
        year: year + 2 + random.rank(30),
        month: 1 + random.below(12),
        day: random.pick(&[1, 1, 15, 15, 15, 20, 25, 28]),
    };

    row.clear();
    row.set(Column::Figi, &figis::BONDS.issue(year, ordinal).take());
    row.fill(Column::Name, |text| issuer.push_borrower(text));
    row.set(Column::Currency, market.currency.as_bytes());
    row.set(Column::MarketSector, b"Corp");
    row.set(Column::SecurityType, market.security_type.as_bytes());
    row.set(Column::SecurityType2, b"Corp");
    row.fill(Column::Maturity, |text| maturity.push_iso(text));
    if let Coupon::Fixed(thousandths) = coupon {
        row.fill(Column::Coupon, |text| push_thousandths(text, thousandths));
    }
    if random.one_in(2) {
        row.set(Column::ExchCode, random.pick(market.exch_codes).as_bytes());
    }
    row.fill(Column::SecNumDes, |text| {
        push_terms(text, &issuer, maturity, |text| coupon.push_decimal(text));
    });
    row.copy(Column::SecNumDes, Column::Ticker);
    if !market.suffix.is_empty() && !random.one_in(4) {
        row.fill(Column::Ticker, |text| {
            push_terms(text, &issuer, maturity, |text| coupon.push_decimal(text));
            text.push(b' ');
            text.extend_from_slice(market.suffix.as_bytes());
        });
    }
    row.fill(Column::Description, |text| {
        push_terms(text, &issuer, maturity, |text| coupon.push_fraction(text));
    });
    identifiers::fill(row, market.country, Security::Bond(ordinal), seed);
    // Two letters and seven digits, as the legacy identifiers of bonds are.
    row.fill(Column::Bb, |text| {
        let series = ordinal / 10_000_000;
        text.extend_from_slice(&[b'E' + (series / 20) as u8, b'A' + (series % 20) as u8]);
        push_number(text, ordinal % 10_000_000, 7);
    });
    if market.country == "US" {
        row.fill(Column::Trace, |text| {
            text.extend_from_slice(issuer.ticker());
            push_number(text, 3_000_000 + ordinal, 7);
        });
    }
    dump.push(row);
}

/// `IBM 7 5/8 10/15/18`
fn push_terms(
    text: &mut Vec<u8>,
    issuer: &Issuer,
    maturity: Day,
    push_coupon: impl FnOnce(&mut Vec<u8>),
) {
    text.extend_from_slice(issuer.ticker());
    text.push(b' ');
    push_coupon(text);
    text.push(b' ');
    maturity.push_american(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coupons_are_written_as_descriptions_have_them() {
        for (coupon, decimal, fraction) in [
            (Coupon::Fixed(7_625), "7.625", "7 5/8"),
            (Coupon::Fixed(6_220), "6.22", "6.22"),
            (Coupon::Fixed(7_000), "7", "7"),
            (Coupon::Fixed(500), "0.5", "1/2"),
            (Coupon::Fixed(0), "0", "0"),
            (Coupon::Floating, "F", "Float"),
        ] {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            coupon.push_decimal(&mut a);
            coupon.push_fraction(&mut b);
            assert_eq!((str::from_utf8(&a), str::from_utf8(&b)), (Ok(decimal), Ok(fraction)));
        }
    }
}
