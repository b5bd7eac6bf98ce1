//! Intervals of numbers and dates. Each value of these types satisfies contract 6.11 to 6.17.

use std::hash::{Hash, Hasher};

use crate::instrument::date::Date;

/// The numbers from `low` to `high`, both included; `None` leaves that side open. At least one
/// bound is given, bounds are finite, and `low <= high` (contract 6.11 to 6.15).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberInterval {
    low: Option<f64>,
    high: Option<f64>,
}

/// The days from `first` to `last`, both included, at most one year apart (contract 6.13 to 6.17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateInterval {
    first: Date,
    last: Date,
}

/// The rule that an interval breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntervalError {
    /// Both entries are null.
    #[error("at least one entry must not be null")]
    Empty,
    /// The first entry is greater than the second.
    #[error("the first entry must not be greater than the second")]
    Inverted,
    /// The dates are more than one year apart.
    #[error("the dates must be no more than one year apart")]
    TooLong,
    /// An entry is infinite or not a number.
    #[error("an entry must be a finite number or null")]
    NotANumber,
}

/// The bounds are finite, so each is equal to itself.
impl Eq for NumberInterval {}

impl Hash for NumberInterval {
    fn hash<H: Hasher>(&self, state: &mut H) {
        [self.low, self.high].map(|bound| bound.map(f64::to_bits)).hash(state);
    }
}

impl NumberInterval {
    /// The interval `[low, high]`. A `None` stands for null: no bound on that side.
    ///
    /// # Errors
    /// When the interval breaks a rule: [`IntervalError::Empty`], [`IntervalError::Inverted`] or
    /// [`IntervalError::NotANumber`].
    pub fn new(low: Option<f64>, high: Option<f64>) -> Result<Self, IntervalError> {
        if low.into_iter().chain(high).any(|bound| !bound.is_finite()) {
            return Err(IntervalError::NotANumber);
        }
        match (low, high) {
            (None, None) => Err(IntervalError::Empty),
            (Some(low), Some(high)) if low > high => Err(IntervalError::Inverted),
            // Adding 0 turns -0 into 0. The two are equal, so they must have the same hash, and the
            // hash is made of the bits.
            _ => Ok(Self { low: low.map(|low| low + 0.0), high: high.map(|high| high + 0.0) }),
        }
    }

    /// The lower bound, if there is one.
    pub fn low(self) -> Option<f64> {
        self.low
    }

    /// The upper bound, if there is one.
    pub fn high(self) -> Option<f64> {
        self.high
    }

    /// Whether `number` is in the interval.
    pub fn contains(self, number: f64) -> bool {
        self.low.is_none_or(|low| low <= number) && self.high.is_none_or(|high| number <= high)
    }
}

impl DateInterval {
    /// The interval `[first, last]`. A `None` stands for null: the day one year from the other end
    /// (contract 6.17).
    ///
    /// # Errors
    /// When the interval breaks a rule: [`IntervalError::Empty`], [`IntervalError::Inverted`] or
    /// [`IntervalError::TooLong`].
    pub fn new(first: Option<Date>, last: Option<Date>) -> Result<Self, IntervalError> {
        let (first, last) = match (first, last) {
            (None, None) => return Err(IntervalError::Empty),
            (Some(first), None) => (first, first.year_later()),
            (None, Some(last)) => (last.year_earlier(), last),
            (Some(first), Some(last)) if first > last => return Err(IntervalError::Inverted),
            (Some(first), Some(last)) if last > first.year_later() => {
                return Err(IntervalError::TooLong);
            }
            (Some(first), Some(last)) => (first, last),
        };
        Ok(Self { first, last })
    }

    /// The first day.
    pub fn first(self) -> Date {
        self.first
    }

    /// The last day.
    pub fn last(self) -> Date {
        self.last
    }

    /// Whether `date` is in the interval.
    pub fn contains(self, date: Date) -> bool {
        (self.first..=self.last).contains(&date)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> Option<Date> {
        Some(Date::parse(text).unwrap())
    }

    /// contract 6.12, 6.14, 6.15: the rules of intervals of numbers.
    #[test]
    fn number_rules() {
        use IntervalError::*;
        assert_eq!(NumberInterval::new(None, None), Err(Empty));
        assert_eq!(NumberInterval::new(Some(2.0), Some(1.0)), Err(Inverted));
        assert_eq!(NumberInterval::new(Some(f64::NAN), None), Err(NotANumber));
        assert_eq!(NumberInterval::new(None, Some(f64::INFINITY)), Err(NotANumber));
        let point = NumberInterval::new(Some(1.0), Some(1.0)).unwrap();
        assert!(point.contains(1.0) && !point.contains(1.1));
        let above = NumberInterval::new(Some(1.0), None).unwrap();
        assert!(above.contains(1.0) && above.contains(1e300) && !above.contains(0.9));
        let below = NumberInterval::new(None, Some(1.0)).unwrap();
        assert!(below.contains(1.0) && below.contains(-1e300) && !below.contains(1.1));
    }

    /// contract 6.14 to 6.17: the rules of intervals of dates.
    #[test]
    fn date_rules() {
        use IntervalError::*;
        assert_eq!(DateInterval::new(None, None), Err(Empty));
        assert_eq!(DateInterval::new(day("2025-01-02"), day("2025-01-01")), Err(Inverted));
        assert_eq!(DateInterval::new(day("2024-01-01"), day("2025-01-02")), Err(TooLong));
        assert!(DateInterval::new(day("2024-01-01"), day("2025-01-01")).is_ok());
        assert!(DateInterval::new(day("2024-02-29"), day("2025-02-28")).is_ok());
        assert_eq!(DateInterval::new(day("2024-02-29"), day("2025-03-01")), Err(TooLong));
        assert_eq!(DateInterval::new(day("2023-02-28"), day("2024-02-29")), Err(TooLong));
        let from = DateInterval::new(day("2024-02-29"), None).unwrap();
        assert_eq!(Some(from.last()), day("2025-02-28"));
        let until = DateInterval::new(None, day("2024-02-29")).unwrap();
        assert_eq!(Some(until.first()), day("2023-02-28"));
    }

    proptest! {
        #[test]
        fn bounds_ascend(a in any::<Option<f64>>(), b in any::<Option<f64>>()) {
            if let Ok(interval) = NumberInterval::new(a, b)
                && let (Some(low), Some(high)) = (interval.low(), interval.high())
            {
                prop_assert!(low <= high);
            }
        }

        #[test]
        fn an_open_end_is_a_year_away(days in 0_i64..100_000) {
            let date = Date::from_days(days).unwrap();
            for interval in [DateInterval::new(Some(date), None), DateInterval::new(None, Some(date))] {
                let interval = interval.unwrap();
                prop_assert!(interval.contains(date));
                prop_assert!((365..=366).contains(&(interval.last().to_days() - interval.first().to_days())));
            }
        }
    }
}
