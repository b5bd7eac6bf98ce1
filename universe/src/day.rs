//! A calendar day, in the notations that descriptions of instruments use.

use std::fmt;

use figdex_index::Date;

/// A valid calendar day.
#[derive(Clone, Copy)]
pub(crate) struct Day {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
}

impl Day {
    /// The day `days` after 1970-01-01.
    pub(crate) fn from_days(days: i64) -> Self {
        let text = Date::from_days(days).expect("a generated day has four-digit years").to_string();
        let number = |digits: std::ops::Range<usize>| {
            text[digits].parse().expect("a date is digits between its dashes")
        };
        Self { year: number(0..4), month: number(5..7), day: number(8..10) }
    }

    /// `01/17/25`
    pub(crate) fn american(self) -> String {
        format!("{:02}/{:02}/{:02}", self.month, self.day, self.year % 100)
    }

    /// `250117`
    pub(crate) fn compact(self) -> String {
        format!("{:02}{:02}{:02}", self.year % 100, self.month, self.day)
    }

    /// The English name of the month.
    pub(crate) fn month_name(self) -> &'static str {
        const NAMES: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        NAMES[(self.month - 1) as usize]
    }
}

/// `2025-01-17`
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_in_each_notation() {
        let day = Day::from_days(Date::new(2025, 1, 7).unwrap().to_days());
        assert_eq!(day.to_string(), "2025-01-07");
        assert_eq!([day.american(), day.compact()], ["01/07/25", "250107"]);
        assert_eq!(day.month_name(), "January");
    }
}
