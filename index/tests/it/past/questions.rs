//! The meaning of an identifier on a day, by brute force, against the answers of an index.

use std::collections::BTreeSet;

use figdex_index::{
    Catalogue, Coverage, Date, Figi, IdType, Meter, Policy, Question, Resolution, ResolveBounds,
    Status, VersionEnd, Visible,
};

use super::reference::{Night, Row, Seen, is_derivative, seen};

pub(super) const BOUNDS: ResolveBounds = ResolveBounds {
    identifier_rows_max: 1_000,
    rows_max: 10_000,
    candidates_max: 100,
    corrected: Visible::ALL,
};

/// The meaning of an identifier.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    OutOfCoverage,
    Nothing,
    One(Figi),
    Several(BTreeSet<Figi>),
    /// One of these, or perhaps none.
    Uncertain(BTreeSet<Figi>),
}

/// The side from which a day without an observation is seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Compares the answers about a value with those by brute force, for each day from before the first
/// night until after the last one.
pub(super) fn check(
    catalogue: &Catalogue,
    nights: &[Night],
    figis: &[Figi],
    (column, value): (&'static str, &str),
    context: &str,
) {
    let id_type =
        if column == "ticker" { IdType::Ticker } else { IdType::from_name(column).unwrap() };
    let [first, last] = [&nights[0], &nights[nights.len() - 1]].map(|night| night.day.to_days());
    let policy = Policy::default();
    for day in first - 2..=last + 2 {
        let day = Date::from_days(day).unwrap();
        let question = Question::given(id_type, value, None);
        let meter = Meter::unlimited();
        let found = catalogue.resolve_as_of(&[(question, day)], &policy, BOUNDS, &meter);
        let found = of_resolution(&found.unwrap()[0]);
        let expected = meant(nights, figis, (column, value), day);
        assert_eq!(found, expected, "{context}: {column} {value} on {day}");
    }
}

fn of_resolution(resolution: &Resolution) -> Meant {
    let figis = || resolution.past.iter().map(|row| row.figi).collect::<BTreeSet<_>>();
    match &resolution.status {
        Status::Resolved(_) => Meant::One(resolution.past[0].figi),
        Status::Ambiguous(_) => Meant::Several(figis()),
        Status::Unknown => Meant::Nothing,
        Status::Uncertain => Meant::Uncertain(figis()),
        Status::OutOfCoverage(Coverage { .. }) => Meant::OutOfCoverage,
        other => panic!("{other:?}"),
    }
}

fn meant(nights: &[Night], figis: &[Figi], key: (&'static str, &str), day: Date) -> Meant {
    let (first, last) = (nights[0].day, &nights[nights.len() - 1]);
    if day < first || day > last.day {
        return Meant::OutOfCoverage;
    }
    let carries = |row: &Row| row.get(key.0).is_some_and(|values| values.contains(key.1));
    let passes = |row: &Row| {
        let is = |name, value: &str| row.get(name).is_some_and(|values| values.contains(value));
        carries(row) && !(is("listed", "false") && is("marketSector", "Equity"))
    };
    let of_side = |side: Side| -> BTreeSet<Figi> {
        // Each FIGI that had the value, and whether that is only assumed.
        let has = |figi: &Figi| {
            let versions = seen(nights, *figi);
            if versions.is_empty() {
                // An option without a past is as it is today.
                let row = last.rows.get(figi).filter(|row| is_derivative(row));
                return row.filter(|row| passes(row)).map(|_| (*figi, true));
            }
            let version = on(nights, &versions, day, side)?;
            let is_assumed = version.learned.get(key.0).is_some_and(|learned| *learned > day);
            passes(&version.row).then_some((*figi, is_assumed))
        };
        let all: Vec<(Figi, bool)> = figis.iter().filter_map(has).collect();
        let are_assumed = all.iter().all(|(_, is_assumed)| *is_assumed);
        let counted = all.into_iter().filter(|(_, is_assumed)| are_assumed || !is_assumed);
        counted.map(|(figi, _)| figi).collect()
    };
    let (before, after) = (of_side(Side::Before), of_side(Side::After));
    if before != after {
        return Meant::Uncertain(before.union(&after).copied().collect());
    }
    let mut all = before.iter();
    match (all.next(), all.next()) {
        (Some(only), None) => Meant::One(*only),
        (Some(_), Some(_)) => Meant::Several(before),
        (None, _) => {
            // Rows of the same market sector and exchange code were not observed before that day.
            let since = figis.iter().flat_map(|figi| {
                let versions = seen(nights, *figi);
                let versions: Vec<Seen> =
                    versions.into_iter().filter(|it| is_real(it) && passes(&it.row)).collect();
                versions.into_iter().map(|version| covered_since(nights, figis, &version))
            });
            match since.min() {
                Some(since) if day < since => Meant::OutOfCoverage,
                _ => Meant::Nothing,
            }
        }
    }
}

fn is_real(version: &Seen) -> bool {
    version.end.is_none_or(|(_, end)| end != VersionEnd::Revised)
}

fn covered_since(nights: &[Night], _figis: &[Figi], version: &Seen) -> Date {
    let one = |name| match version.row.get(name) {
        Some(values) => values.iter().next().cloned().unwrap_or_default(),
        None => String::new(),
    };
    let pair = format!("{}\t{}", one("marketSector"), one("exchCode"));
    super::covered(nights).get(&pair).copied().unwrap_or(nights[0].day)
}

/// The version of a FIGI on a day, seen from one side.
fn on<'a>(nights: &[Night], versions: &'a [Seen], day: Date, side: Side) -> Option<&'a Seen> {
    let real: Vec<&Seen> = versions.iter().filter(|version| is_real(version)).collect();
    let covers =
        |version: &&&Seen| version.first <= day && version.end.is_none_or(|(last, _)| day <= last);
    if let Some(version) = real.iter().find(covers) {
        return Some(version);
    }
    let before = real.iter().rev().find(|version| version.first <= day);
    let after = real.iter().find(|version| version.first > day);
    if let (Some(before), Some(after)) = (before, after)
        && before.end.is_some_and(|(_, end)| end == VersionEnd::Replaced)
    {
        return Some(if side == Side::Before { before } else { after });
    }
    // It was absent on the nights between. A day without a night next to it is open on that side.
    let is_free = |from: Date, to: Date| {
        !nights.iter().any(|night| from < night.day && night.day <= to && night.day != from)
    };
    match side {
        Side::Before => before
            .copied()
            .filter(|version| version.end.is_some_and(|(last, _)| is_free(last, day))),
        Side::After => after.copied().filter(|version| {
            !nights.iter().any(|night| day <= night.day && night.day < version.first)
        }),
    }
}
