//! The days, months and years that a text names: `2030`, `dec 2025`, `12/19/25`, `2030-05-12`.

use super::pieces::Piece;
use crate::instrument::date::Date;
use crate::query::interval::DateInterval;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The years that a number of four digits may be.
const FIRST_YEAR: i16 = 1950;
const LAST_YEAR: i16 = 2149;

/// The century of a year of two digits.
const CENTURY: i16 = 2000;

/// The days that the pieces begin with, and the number of pieces that say so.
pub(super) fn days(pieces: &[Piece<'_>]) -> Option<(DateInterval, usize)> {
    let texts = || pieces.iter().map(|piece| piece.text);
    let of = |count: usize| texts().take(count).collect::<Vec<_>>();
    if let [first, second, third] = of(3)[..] {
        let day_first = || Some((day(first)?, month(second)?, year(third)?));
        let month_first = || Some((day(second)?, month(first)?, year(third)?));
        if let Some((day, month, year)) = day_first().or_else(month_first)
            && let Some(date) = Date::new(year, month, day)
        {
            return Some((one_day(date)?, 3));
        }
    }
    if let [first, second] = of(2)[..]
        && let (Some(month), Some(year)) = (month(first), year(second))
    {
        return Some((of_month(year, month)?, 2));
    }
    Some((of_word(texts().next()?)?, 1))
}

/// Whether a text is a year, which is also a number.
pub(super) fn is_year(text: &str) -> bool {
    full_year(text).is_some()
}

fn of_word(text: &str) -> Option<DateInterval> {
    if let Some(year) = full_year(text) {
        let (first, last) = (Date::new(year, 1, 1)?, Date::new(year, 12, 31)?);
        return DateInterval::new(Some(first), Some(last)).ok();
    }
    if let Ok(date) = Date::parse(text) {
        return one_day(date);
    }
    if let [first, second, third] = text.split('/').collect::<Vec<_>>()[..] {
        // The month comes first, as in the descriptions of options and bonds.
        let year = year(third)?;
        let in_order = |day_of: &str, month_of: &str| {
            Date::new(year, number(month_of, 2)?.try_into().ok()?, day(day_of)?)
        };
        return one_day(in_order(second, first).or_else(|| in_order(first, second))?);
    }
    if let [first, second, third] = text.split('.').collect::<Vec<_>>()[..] {
        let month = number(second, 2)?.try_into().ok()?;
        return one_day(Date::new(full_year(third)?, month, day(first)?)?);
    }
    if let Some((first, second)) = text.split_once(['/', '-']) {
        let of = |year_of: &str, month_of: &str| {
            Some((full_year(year_of)?, number(month_of, 2)?.try_into().ok()?))
        };
        if let Some((year, month)) = of(second, first).or_else(|| of(first, second)) {
            return of_month(year, month);
        }
    }
    // `dec25`, `dec-25`, `dec'25`, `dec2025`
    let letters = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let (name, rest) = text.split_at(letters);
    let rest = rest.strip_prefix(['-', '/', '\'', '’']).unwrap_or(rest);
    of_month(year(rest)?, month(name)?)
}

fn one_day(date: Date) -> Option<DateInterval> {
    DateInterval::new(Some(date), Some(date)).ok()
}

fn of_month(year: i16, month: u8) -> Option<DateInterval> {
    let first = Date::new(year, month, 1)?;
    let next = match month {
        12 => Date::new(year + 1, 1, 1)?,
        _ => Date::new(year, month + 1, 1)?,
    };
    DateInterval::new(Some(first), Date::from_days(next.to_days() - 1)).ok()
}

/// The number of a month, by its English name or the first letters of it.
fn month(text: &str) -> Option<u8> {
    let text = text.trim_end_matches('.').to_ascii_lowercase();
    let is_month = |name: &str| name == text || text.len() == 3 && name.starts_with(&*text);
    let place =
        MONTHS.iter().position(|name| is_month(name) || text == "sept" && *name == "september");
    place.map(|place| place as u8 + 1)
}

/// A year of four digits, or the last two digits of a year of this century.
fn year(text: &str) -> Option<i16> {
    let short = text.strip_prefix(['\'', '’']).unwrap_or(text);
    full_year(text)
        .or_else(|| (short.len() == 2).then(|| number(short, 2))?.map(|year| CENTURY + year))
}

fn full_year(text: &str) -> Option<i16> {
    let year = (text.len() == 4).then(|| number(text, 4))??;
    (FIRST_YEAR..=LAST_YEAR).contains(&year).then_some(year)
}

fn day(text: &str) -> Option<u8> {
    number(text.trim_end_matches('.'), 2)?.try_into().ok()
}

fn number(text: &str, digits_max: usize) -> Option<i16> {
    let is_number =
        (1..=digits_max).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}
