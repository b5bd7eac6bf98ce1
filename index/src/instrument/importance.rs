//! The importance of an instrument: a number that the operator chooses, such as the market
//! capitalisation. A search puts larger importances first (contract 10.8).

use std::fmt;

/// A finite number that is not negative. Larger numbers are more important.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Importance(u64);

impl Importance {
    /// Makes an importance; `None` for a negative number, infinity and NaN.
    pub fn new(number: f64) -> Option<Self> {
        // Among numbers from 0 on, a larger number has larger bits. -0 becomes 0.
        (number.is_finite() && number >= 0.0).then(|| Self((number + 0.0).to_bits()))
    }

    /// The importance with these bits ([`Importance::to_bits`]); `None` when the bits are those of
    /// an invalid number.
    pub fn from_bits(bits: u64) -> Option<Self> {
        Self::new(f64::from_bits(bits)).filter(|importance| importance.0 == bits)
    }

    /// The bits of the number (IEEE 754, 64 bits).
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The number.
    pub fn number(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Display for Importance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_numbers_from_0_on_in_their_order() {
        let numbers = [0.0, f64::MIN_POSITIVE / 4.0, 1e-9, 0.5, 1.0, 6.0, 3.1e12, f64::MAX];
        let all = numbers.map(|number| Importance::new(number).unwrap());
        assert!(all.is_sorted_by(|a, b| a < b));
        assert_eq!(all.map(Importance::number), numbers);
        assert_eq!(all.map(|one| Importance::from_bits(one.to_bits())), all.map(Some));
        assert_eq!(Importance::new(-0.0), Importance::new(0.0));
        for wrong in [-1.0, -1e-300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(Importance::new(wrong), None);
            assert_eq!(Importance::from_bits(wrong.to_bits()), None);
        }
        assert_eq!(Importance::from_bits((-0.0_f64).to_bits()), None);
    }
}
