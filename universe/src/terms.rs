//! The coupon and maturity of a debt, in the notations of tickers and descriptions.

use super::day::Day;
use super::rng::Random;
use super::row::thousandths;

/// The coupon of a debt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coupon {
    /// Thousandths of a percent per year; 0 for a debt without coupons.
    Fixed(u64),
    Floating,
}

impl Coupon {
    pub(crate) fn draw(random: &mut Random) -> Self {
        match random.below(100) {
            0..8 => Self::Floating,
            8..12 => Self::Fixed(0),
            12..70 => Self::Fixed(125 * (1 + random.below(72))),
            _ => Self::Fixed(50 * (1 + random.below(180))),
        }
    }

    /// `7.625`, or `F`
    pub(crate) fn decimal(self) -> String {
        match self {
            Self::Fixed(number) => thousandths(number),
            Self::Floating => "F".to_owned(),
        }
    }

    /// `7 5/8`, or `Float`. A coupon that is not a multiple of an eighth is written as a decimal.
    pub(crate) fn fraction(self) -> String {
        const EIGHTHS: [&str; 8] = ["", "1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8"];
        match self {
            Self::Floating => "Float".to_owned(),
            Self::Fixed(number) if number % 125 == 0 && number % 1000 > 0 => {
                let eighths = EIGHTHS[(number % 1000 / 125) as usize];
                match number / 1000 {
                    0 => eighths.to_owned(),
                    whole => format!("{whole} {eighths}"),
                }
            }
            Self::Fixed(number) => thousandths(number),
        }
    }
}

/// Draws a day of that year on which a debt is due.
pub(crate) fn maturity(year: u64, random: &mut Random) -> Day {
    let days = [1, 1, 15, 15, 15, 20, 25, 28];
    Day { year, month: 1 + random.below(12), day: random.pick(&days) }
}

/// `IBM 7 5/8 10/15/18`
pub(crate) fn terms(ticker: &str, coupon: &str, maturity: Day) -> String {
    format!("{ticker} {coupon} {}", maturity.american())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coupons_are_written_in_both_notations() {
        for (coupon, decimal, fraction) in [
            (Coupon::Fixed(7_625), "7.625", "7 5/8"),
            (Coupon::Fixed(6_220), "6.22", "6.22"),
            (Coupon::Fixed(7_000), "7", "7"),
            (Coupon::Fixed(500), "0.5", "1/2"),
            (Coupon::Fixed(0), "0", "0"),
            (Coupon::Floating, "F", "Float"),
        ] {
            assert_eq!([coupon.decimal(), coupon.fraction()], [decimal, fraction]);
        }
    }
}
