//! The steps that convert a value of the dump for its column. The order is always the same: blank
//! words, `until`, `replace`, `upper`, `values`, then `date` or `number`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::civil;

/// The steps for one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transform {
    /// Words that mean "unknown", in addition to those of the whole dump.
    pub(crate) blank: Vec<String>,
    /// The separator; only the text before its last occurrence is kept.
    pub(crate) until: Option<String>,
    /// Texts and their replacements.
    pub(crate) replace: Vec<(String, String)>,
    /// Whether to convert to upper case.
    pub(crate) upper: bool,
    /// The words of the dump and the canonical values.
    pub(crate) values: BTreeMap<String, String>,
    /// The value for words that are not in `values`; `None` leaves them unchanged.
    pub(crate) otherwise: Option<String>,
    /// Forms of dates, in the notation of `strftime`. The first that fits is used.
    pub(crate) date: Vec<String>,
    /// Forms of numbers. The first that fits is used.
    pub(crate) number: Vec<NumberForm>,
    /// Separates several values in one cell.
    pub(crate) separator: Option<String>,
}

impl Transform {
    /// Whether there are no steps, as for most columns.
    pub(crate) fn is_none(&self) -> bool {
        self.blank.is_empty()
            && self.until.is_none()
            && self.replace.is_empty()
            && !self.upper
            && self.values.is_empty()
            && self.otherwise.is_none()
            && self.date.is_empty()
            && self.number.is_empty()
    }

    /// The converted value; an empty one means "unknown".
    ///
    /// # Errors
    /// The reason why the value cannot be converted.
    pub(crate) fn apply<'a>(&'a self, value: &'a str) -> Result<Cow<'a, str>, &'static str> {
        if self.blank.iter().any(|word| word == value) {
            return Ok(Cow::Borrowed(""));
        }
        let mut value = Cow::Borrowed(value);
        if let Some(mark) = &self.until
            && let Some(end) = value.rfind(mark.as_str())
        {
            value = Cow::Owned(value[..end].to_owned());
        }
        for (old, new) in &self.replace {
            if value.contains(old.as_str()) {
                value = Cow::Owned(value.replace(old.as_str(), new));
            }
        }
        if self.upper && value.chars().any(char::is_lowercase) {
            value = Cow::Owned(value.to_uppercase());
        }
        if let Some(ours) = self.values.get(&*value).or(self.otherwise.as_ref()) {
            value = Cow::Borrowed(ours);
        }
        if value.is_empty() {
            return Ok(value);
        }
        if !self.date.is_empty() {
            let date = self.date.iter().find_map(|form| date(form, &value));
            return date.map(Cow::Owned).ok_or("not a date of the described form");
        }
        if !self.number.is_empty() {
            let number = self.number.iter().find_map(|form| form.plain(&value));
            return number.map(Cow::Owned).ok_or("not a number of the described form");
        }
        Ok(value)
    }
}

fn date(form: &str, text: &str) -> Option<String> {
    civil::Date::strptime(form, text).ok().map(|date| date.to_string())
}

/// Whether a form is usable for parsing dates: a date written in this form must be read back
/// unchanged.
pub(crate) fn is_date_form(form: &str) -> bool {
    let day = civil::date(2031, 12, 28);
    let Ok(moment) = day.to_zoned(jiff::tz::TimeZone::UTC) else { return false };
    let written = jiff::fmt::strtime::format(form, &moment);
    written.is_ok_and(|text| civil::Date::strptime(form, text).ok() == Some(day))
}

/// A form of numbers, named by an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberForm {
    /// A decimal number, with a character between groups of digits, if any, and one before the
    /// decimals.
    Decimal { group: Option<char>, point: char },
    /// A whole number, a fraction, or both.
    Fraction,
}

impl NumberForm {
    /// The examples that name the forms in a columns file.
    pub(crate) const EXAMPLES: [(&str, Self); 6] = [
        ("1,234.5", Self::Decimal { group: Some(','), point: '.' }),
        ("1.234,5", Self::Decimal { group: Some('.'), point: ',' }),
        ("1 234,5", Self::Decimal { group: Some(' '), point: ',' }),
        ("1'234.5", Self::Decimal { group: Some('\''), point: '.' }),
        ("1234,5", Self::Decimal { group: None, point: ',' }),
        ("7 5/8", Self::Fraction),
    ];

    pub(crate) fn of_example(example: &str) -> Option<Self> {
        let found = Self::EXAMPLES.into_iter().find(|(text, _)| *text == example);
        found.map(|(_, form)| form)
    }

    /// The number in the notation of `f64`; `None` if the text does not have this form.
    fn plain(self, text: &str) -> Option<String> {
        match self {
            Self::Decimal { group, point } => decimal(text, group, point),
            Self::Fraction => fraction(text),
        }
    }
}

fn decimal(text: &str, group: Option<char>, point: char) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, decimals) = digits.split_once(point).unwrap_or((digits, "0"));
    let is_group = |c: char| match group {
        // A blank between groups may also be a no-break space or a thin space.
        Some(' ') => matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}'),
        Some(group) => c == group,
        None => false,
    };
    let groups: Vec<&str> = whole.split(is_group).collect();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let grouped = groups.len() == 1
        || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    (grouped && groups.iter().all(|group| is_digits(group)) && is_digits(decimals))
        .then(|| format!("{sign}{}.{decimals}", groups.concat()))
}

fn fraction(text: &str) -> Option<String> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let value = match text.split_once('/') {
        None => number(text)?,
        Some((before, divisor)) => {
            let (whole, dividend) = before.rsplit_once(' ').unwrap_or(("0", before));
            let divisor = number(divisor).filter(|&divisor| divisor > 0.0)?;
            number(whole.trim())? + number(dividend)? / divisor
        }
    };
    Some((sign * value).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_each_form() {
        for (example, text, plain) in [
            ("1,234.5", "12,345,678.90", Some("12345678.90")),
            ("1,234.5", "1234.5", Some("1234.5")),
            ("1,234.5", "1,23.5", None),
            ("1.234,5", "-1.234.567,25", Some("-1234567.25")),
            ("1.234,5", "1.5", None),
            ("1 234,5", "1\u{a0}234,5", Some("1234.5")),
            ("1'234.5", "1'234", Some("1234.0")),
            ("1234,5", "7,625", Some("7.625")),
            ("1234,5", "x", None),
            ("7 5/8", "7 5/8", Some("7.625")),
            ("7 5/8", "-5/8", Some("-0.625")),
            ("7 5/8", "7.625", Some("7.625")),
            ("7 5/8", "7 5/0", None),
        ] {
            let form = NumberForm::of_example(example).unwrap();
            assert_eq!(form.plain(text).as_deref(), plain, "{example} {text}");
        }
    }

    #[test]
    fn steps_are_applied_in_order() {
        let transform = Transform {
            blank: vec!["NONE".into()],
            until: Some(".".into()),
            replace: vec![("-".into(), "/".into())],
            upper: true,
            ..Transform::default()
        };
        for (value, expected) in [("NONE", ""), ("brk-b.us", "BRK/B"), ("A", "A")] {
            assert_eq!(transform.apply(value).unwrap(), expected);
        }
        let words = Transform {
            values: [("CS".into(), "Common Stock".into())].into(),
            otherwise: Some(String::new()),
            ..Transform::default()
        };
        assert_eq!(words.apply("CS").unwrap(), "Common Stock");
        assert_eq!(words.apply("XX").unwrap(), "");
    }

    #[test]
    fn dates_are_read_in_the_given_forms() {
        let transform = Transform {
            date: vec!["%d.%m.%Y".into(), "%Y-%m-%dT%H:%M:%SZ".into()],
            ..Transform::default()
        };
        assert_eq!(transform.apply("28.02.2026").unwrap(), "2026-02-28");
        assert_eq!(transform.apply("2023-05-25T00:00:00Z").unwrap(), "2023-05-25");
        assert!(transform.apply("30.02.2026").is_err());
        for form in ["%d.%m.%Y", "%Y%m%d", "%m/%d/%y", "%d-%b-%Y", "%Y-%m-%dT%H:%M:%S%.fZ"] {
            assert!(is_date_form(form), "{form}");
        }
        for form in ["", "YYYY-MM-DD", "%H:%M", "%Q", "%Y-%m"] {
            assert!(!is_date_form(form), "{form}");
        }
    }
}
