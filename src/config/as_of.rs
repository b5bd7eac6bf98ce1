//! The days as of which `figdex map` resolves identifiers (`--as-of`), and their format.

use std::str::FromStr;

use figdex_index::Date;
use jiff::fmt::strtime::BrokenDownTime;

/// The year of the first day that may be asked for.
const YEAR_MIN: i16 = 1900;

/// The day as of which identifiers are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The same day for all rows.
    Day(Date),
    /// The row's day in this column.
    Column(String),
}

impl FromStr for AsOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some("") => Err("@ names no column of days; write @COLUMN".to_owned()),
            Some(column) => Ok(Self::Column(column.to_owned())),
            None => iso_day(text).map(Self::Day).map_err(|reason| {
                format!(
                    "{reason}; write a day such as 2022-06-01, or @COLUMN with a column of days"
                )
            }),
        }
    }
}

/// The day that a text names as YYYY-MM-DD.
///
/// # Errors
/// The reason why it names none, as a sentence without a full stop.
pub fn iso_day(text: &str) -> Result<Date, String> {
    match Date::parse(text) {
        Ok(day) => not_too_early(day),
        Err(_) if has_zone(text) => Err(zone(text)),
        Err(_) => Err(format!("{text:?} is not a day as YYYY-MM-DD")),
    }
}

fn not_too_early(day: Date) -> Result<Date, String> {
    let first = Date::new(YEAR_MIN, 1, 1);
    let is_early = first.is_some_and(|first| day < first);
    if is_early { Err(format!("{day} is before {YEAR_MIN}-01-01")) } else { Ok(day) }
}

fn zone(text: &str) -> String {
    format!("{text:?} has a time with a zone, on which its day depends")
}

/// Whether a text has a time with a zone: it ends with `Z`, `UTC` or `GMT` after a digit, or has an
/// offset after a time.
fn has_zone(text: &str) -> bool {
    let named = ["Z", "z", "UTC", "GMT"].into_iter().filter_map(|name| text.strip_suffix(name));
    let is_named = |rest: &str| rest.trim_end().ends_with(|c: char| c.is_ascii_digit());
    let after_time = text.split_once(':').map_or("", |(_, rest)| rest);
    named.into_iter().any(is_named) || after_time.contains(['+', '-', '['])
}

/// The patterns of a format, for messages.
const PATTERNS: &str = "%Y, %m, %d, %b and %B (English names of months), %F, %H, %I, %M, %S, %f, %p \
                        and %T";

/// The format of the days in a column (`--as-of-format`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayFormat {
    text: String,
    /// Whether two numbers follow each other without a character between them. Then each must have
    /// all of its digits: `2022112` may be two days.
    is_packed: bool,
}

impl FromStr for DayFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut years, mut months, mut days) = (0, 0, 0);
        let (mut is_packed, mut was_number) = (false, false);
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let mut is_number = false;
            if c == '%' {
                let pattern = rest.next();
                is_number = !matches!(pattern, Some('b' | 'B' | 'p' | '%'));
                match pattern {
                    Some('Y') => years += 1,
                    Some('m' | 'b' | 'B') => months += 1,
                    Some('d') => days += 1,
                    Some('F') => {
                        years += 1;
                        months += 1;
                        days += 1;
                    }
                    Some('H' | 'I' | 'M' | 'S' | 'f' | 'p' | 'T' | '%') => {}
                    Some('y' | 'D' | 'C' | 'g') => {
                        return Err(
                            "a year of two digits does not say which one is meant".to_owned()
                        );
                    }
                    Some('z' | 'Z' | 'Q' | ':' | 's') => {
                        return Err("the day of a time with a zone depends on the zone".to_owned());
                    }
                    Some(other) => {
                        return Err(format!(
                            "%{other} is not a pattern; the patterns are {PATTERNS}"
                        ));
                    }
                    None => return Err("the last % begins no pattern".to_owned()),
                }
            }
            is_packed |= was_number && is_number;
            was_number = is_number;
        }
        if (years, months, days) != (1, 1, 1) {
            return Err(
                "expected a year, a month and a day, once each, such as %d.%m.%Y, %m/%d/%Y \
                        or %Y%m%d"
                    .to_owned(),
            );
        }
        Ok(Self { text: text.to_owned(), is_packed })
    }
}

impl DayFormat {
    /// The day that a text names in this format.
    ///
    /// # Errors
    /// The reason why it names none, as a sentence without a full stop.
    pub fn day(&self, text: &str) -> Result<Date, String> {
        let Self { text: format, is_packed } = self;
        let other = || match has_zone(text) {
            true => zone(text),
            false => format!("{text:?} is not a day as {format}"),
        };
        let time = BrokenDownTime::parse(format, text).map_err(|_| other())?;
        let day = time.to_date().map_err(|_| other())?;
        let has_digits =
            || time.to_string(format).is_ok_and(|full| full.eq_ignore_ascii_case(text));
        if *is_packed && !has_digits() {
            return Err(other());
        }
        let parts = (u8::try_from(day.month()), u8::try_from(day.day()));
        let (Ok(month), Ok(day_of_month)) = parts else { return Err(other()) };
        Date::new(day.year(), month, day_of_month).ok_or_else(other).and_then(not_too_early)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(format: &str, text: &str) -> Result<String, String> {
        let format: DayFormat = format.parse().unwrap();
        format.day(text).map(|day| day.to_string())
    }

    #[test]
    fn days_are_read_as_the_format_says() {
        for (format, text) in [
            ("%d.%m.%Y", "01.06.2022"),
            ("%d.%m.%Y", "1.6.2022"),
            ("%m/%d/%Y", "06/01/2022"),
            ("%m/%d/%Y %I:%M:%S %p", "6/1/2022 12:00:00 AM"),
            ("%Y%m%d", "20220601"),
            ("%d-%b-%Y", "01-Jun-2022"),
            ("%d %B %Y", "1 june 2022"),
            ("%Y-%m-%dT%H:%M:%S", "2022-06-01T23:59:59"),
            ("%F %T", "2022-06-01 23:59:59"),
        ] {
            assert_eq!(day(format, text).as_deref(), Ok("2022-06-01"), "{format} {text}");
        }
    }

    /// A text that the format does not describe is refused. Nothing is guessed.
    #[test]
    fn other_texts_are_not_days() {
        for (format, text) in [
            ("%d.%m.%Y", "06/01/2022"),
            ("%d.%m.%Y", "31.02.2022"),
            ("%d.%m.%Y", "01.06.22"),
            ("%d.%m.%Y", "01.06.2022 10:00"),
            ("%m/%d/%Y", "31/12/2022"),
            ("%Y%m%d", "2022112"),
            ("%Y%m%d", "2022061"),
            ("%Y%m%d", "2022-06-01"),
            ("%Y%m%d", "44713"),
            ("%d%m%Y", "1062022"),
            ("%d.%m.%Y", ""),
            ("%d.%m.%Y", "01.06.-2022"),
        ] {
            let reason = day(format, text).unwrap_err();
            let is_refused = reason.contains("is not a day as") || reason.contains("is before");
            assert!(is_refused, "{format} {text}: {reason}");
        }
        let zone = |format, text| day(format, text).unwrap_err().contains("with a zone");
        assert!(zone("%Y-%m-%dT%H:%M:%S", "2022-06-01T23:59:59Z"));
        assert!(zone("%Y-%m-%d %H:%M", "2022-06-01 23:59+02:00"));
        assert!(zone("%Y-%m-%d %H:%M", "2022-06-01 23:59-0500"));
        assert_eq!(day("%d.%m.%Y", "31.12.1899").unwrap_err(), "1899-12-31 is before 1900-01-01");
        assert_eq!(day("%d.%m.%Y", "01.01.1900").unwrap(), "1900-01-01");
    }

    #[test]
    fn a_format_names_one_day() {
        for (format, what) in [
            ("%d.%m", "once each"),
            ("%Y-%m-%d %d", "once each"),
            ("%F %Y", "once each"),
            ("", "once each"),
            ("%d.%m.%y", "two digits"),
            ("%D", "two digits"),
            ("%Y-%m-%dT%H:%M:%S%z", "zone"),
            ("%Y-%m-%d %Q", "zone"),
            ("%Y-%j", "%j is not a pattern"),
            ("%Y-%m-%d%", "begins no pattern"),
            ("%-d.%m.%Y", "%- is not a pattern"),
        ] {
            let error = format.parse::<DayFormat>().unwrap_err();
            assert!(error.contains(what), "{format}: {error}");
        }
    }

    #[test]
    fn a_day_is_iso_or_a_column() {
        let day = Date::parse("2022-06-01").unwrap();
        assert_eq!("2022-06-01".parse(), Ok(AsOf::Day(day)));
        assert_eq!("@TradeDate".parse(), Ok(AsOf::Column("TradeDate".to_owned())));
        for text in ["", "@", "01.06.2022", "2022-6-1", "1899-12-31", "2022-02-30"] {
            assert!(text.parse::<AsOf>().is_err(), "{text}");
        }
        assert!(iso_day("2022-06-01T00:00:00Z").unwrap_err().contains("with a zone"));
        assert!(iso_day("2022-06-01T00:00:00").unwrap_err().contains("is not a day"));
    }
}
