//! What a debt pays and when, in the ways that tickers and descriptions write it.

use super::day::Day;
use super::rng::Random;
use super::row::{push_number, push_thousandths};

/// What a debt pays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coupon {
    /// Per cent a year, in thousandths; 0 for one without coupons.
    Fixed(u64),
    Floating,
}

impl Coupon {
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(100) {
            0..8 => Self::Floating,
            8..12 => Self::Fixed(0),
            12..70 => Self::Fixed(125 * (1 + random.below(72))),
            _ => Self::Fixed(50 * (1 + random.below(180))),
        }
    }

    /// `7.625`, or `F`
    pub(super) fn push_decimal(self, text: &mut Vec<u8>) {
        match self {
            Self::Fixed(thousandths) => push_thousandths(text, thousandths),
            Self::Floating => text.push(b'F'),
        }
    }

    /// `7 5/8`, or `Float`; a coupon that is no whole number of eighths stays a
    /// decimal.
    pub(super) fn push_fraction(self, text: &mut Vec<u8>) {
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

/// A day on which debts of that year may be due.
pub(super) fn maturity(year: u64, random: &mut Random) -> Day {
    let days = [1, 1, 15, 15, 15, 20, 25, 28];
    Day { year, month: 1 + random.below(12), day: random.pick(&days) }
}

/// `IBM 7 5/8 10/15/18`; the coupon is what `push_coupon` writes.
pub(super) fn push_terms(
    text: &mut Vec<u8>,
    ticker: &[u8],
    maturity: Day,
    push_coupon: impl FnOnce(&mut Vec<u8>),
) {
    text.extend_from_slice(ticker);
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
