//! A calendar day in the three ways that descriptions of instruments write it.

use figdex_index::Date;

use super::row::push_number;

/// A day that the calendar has.
#[derive(Clone, Copy)]
pub(super) struct Day {
    pub(super) year: u64,
    pub(super) month: u64,
    pub(super) day: u64,
}

impl Day {
    /// The day that many days after 1970-01-01.
    pub(super) fn from_days(days: i64) -> Self {
        let text = Date::from_days(days).expect("a generated day has four-digit years").to_string();
        let number = |digits: std::ops::Range<usize>| {
            text[digits].parse().expect("a date is digits between its dashes")
        };
        Self { year: number(0..4), month: number(5..7), day: number(8..10) }
    }

    /// `2025-01-17`
    pub(super) fn push_iso(self, text: &mut Vec<u8>) {
        push_number(text, self.year, 4);
        text.push(b'-');
        push_number(text, self.month, 2);
        text.push(b'-');
        push_number(text, self.day, 2);
    }

    /// `01/17/25`
    pub(super) fn push_american(self, text: &mut Vec<u8>) {
        push_number(text, self.month, 2);
        text.push(b'/');
        push_number(text, self.day, 2);
        text.push(b'/');
        push_number(text, self.year % 100, 2);
    }

    /// `250117`
    pub(super) fn push_compact(self, text: &mut Vec<u8>) {
        for part in [self.year % 100, self.month, self.day] {
            push_number(text, part, 2);
        }
    }

    /// The month's name in English.
    pub(super) fn month_name(self) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_in_each_way() {
        let day = Day::from_days(Date::new(2025, 1, 7).unwrap().to_days());
        let mut text = Vec::new();
        day.push_iso(&mut text);
        day.push_american(&mut text);
        day.push_compact(&mut text);
        assert_eq!(str::from_utf8(&text).unwrap(), "2025-01-0701/07/25250107");
        assert_eq!(day.month_name(), "January");
    }
}
