//! A calendar date in the form of the contract, YYYY-MM-DD.

use std::fmt;

use jiff::civil;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

/// A day of the proleptic Gregorian calendar in the years 0 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date(civil::Date);

/// The text is not a date of the form YYYY-MM-DD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date of the form YYYY-MM-DD")]
pub struct DateError;

impl Date {
    /// The last day.
    pub(crate) const MAX: Self = Self(civil::date(9999, 12, 31));

    /// The date with this year, month and day; `None` when the calendar does not have it.
    pub fn new(year: i16, month: u8, day: u8) -> Option<Self> {
        let date = civil::Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
        (0..=9999).contains(&year).then_some(Self(date))
    }

    /// Parses a date of the form YYYY-MM-DD (contract 6.13).
    ///
    /// # Errors
    /// [`DateError`] for any other text, and for a day that the calendar does not have.
    pub fn parse(text: &str) -> Result<Self, DateError> {
        let bytes: &[u8; 10] = text.as_bytes().try_into().map_err(|_| DateError)?;
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0_i16, |number, digit| match digit {
                b'0'..=b'9' => Some(number * 10 + i16::from(digit - b'0')),
                _ => None,
            })
        };
        let parts = || {
            let year = number(&bytes[..4])?;
            let month = u8::try_from(number(&bytes[5..7])?).ok()?;
            let day = u8::try_from(number(&bytes[8..])?).ok()?;
            (bytes[4] == b'-' && bytes[7] == b'-').then_some(())?;
            Self::new(year, month, day)
        };
        parts().ok_or(DateError)
    }

    /// The day that it is now, in UTC.
    pub fn today() -> Self {
        Self(Timestamp::now().to_zoned(TimeZone::UTC).date())
    }

    /// The days since 1970-01-01, negative before it.
    pub fn to_days(self) -> i64 {
        (self.0 - EPOCH).get_days().into()
    }

    /// The date that is `days` days after 1970-01-01; `None` outside the years 0 to 9999.
    pub fn from_days(days: i64) -> Option<Self> {
        let date = EPOCH.checked_add(Span::new().try_days(days).ok()?).ok()?;
        (0..=9999).contains(&date.year()).then_some(Self(date))
    }

    /// The same day of the next year: 28 February for 29 February (contract 6.17), and
    /// 9999-12-31 for a day of the year 9999.
    #[must_use]
    pub fn year_later(self) -> Self {
        Self(self.0.saturating_add(1.year()))
    }

    /// The same day of the previous year: 28 February for 29 February, and 0000-01-01 for a
    /// day of the year 0.
    #[must_use]
    pub fn year_earlier(self) -> Self {
        let earlier = self.0.saturating_sub(1.year());
        Self(earlier.max(civil::date(0, 1, 1)))
    }
}

const EPOCH: civil::Date = civil::date(1970, 1, 1);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for Date {
    type Error = DateError;

    fn try_from(text: String) -> Result<Self, DateError> {
        Self::parse(&text)
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// contract 6.13: a date of the calendar as YYYY-MM-DD.
    #[test]
    fn only_the_one_form_is_a_date() {
        assert_eq!(Date::parse("2024-02-29").unwrap().to_string(), "2024-02-29");
        for text in [
            "",
            "2023-02-29",
            "2024-13-01",
            "2024-2-29",
            "20240229",
            "2024-02-29T00:00",
            "2024/02/29",
            "+024-02-29",
            "-001-02-28",
            "２０２４-1",
        ] {
            assert_eq!(Date::parse(text), Err(DateError), "{text}");
        }
    }

    /// contract 6.17: a year from 29 February is 28 February.
    #[test]
    fn a_year_from_the_leap_day_is_the_28th() {
        let leap = Date::parse("2024-02-29").unwrap();
        assert_eq!(leap.year_later().to_string(), "2025-02-28");
        assert_eq!(leap.year_earlier().to_string(), "2023-02-28");
        assert_eq!(Date::parse("9999-06-01").unwrap().year_later().to_string(), "9999-12-31");
        assert_eq!(Date::parse("0000-06-01").unwrap().year_earlier().to_string(), "0000-01-01");
    }

    proptest! {
        #[test]
        fn days_and_text_round_trip(days in -719_528_i64..2_932_897) {
            let date = Date::from_days(days).unwrap();
            prop_assert_eq!(date.to_days(), days);
            prop_assert_eq!(Date::parse(&date.to_string()), Ok(date));
        }

        #[test]
        fn any_text_is_answered(text in any::<String>()) {
            let _ = Date::parse(&text);
        }
    }
}
