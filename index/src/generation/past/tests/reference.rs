//! The past of a few rows by brute force: the versions of a FIGI from all days on which the rows
//! were observed, computed again for each question. It looks ahead from a version to the rows that
//! end it, where a build carries the state of the last day on.
//!
//! The tests of the library from outside share this file, so it takes its types from its parent.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ColumnValue, Date, Figi, IdType, Instrument, OpenVersion, PastColumn, Property, Version,
    VersionEnd, Versions,
};

/// The known values of a row by the names of their columns. Only identifiers have several.
pub(crate) type Row = BTreeMap<&'static str, BTreeSet<String>>;

/// The rows of a day.
#[derive(Clone, Debug)]
pub(crate) struct Night {
    pub(crate) day: Date,
    pub(crate) rows: BTreeMap<Figi, Row>,
    /// The options of the build.
    pub(crate) mend_days: u32,
    pub(crate) has_derivatives: bool,
}

/// A version by brute force; `end` is its last day and its end, if it is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) first: Date,
    pub(crate) end: Option<(Date, VersionEnd)>,
    pub(crate) learned: BTreeMap<&'static str, Date>,
    pub(crate) row: Row,
}

/// The versions of a FIGI in the order of their first days; none when it was never observed.
pub(crate) fn seen(nights: &[Night], figi: Figi) -> Vec<Seen> {
    let mut days = Vec::new();
    for (place, (night, row)) in nights.iter().zip(rows_of(nights, figi)).enumerate() {
        let lost = place.checked_sub(1).map(|before| lost(&nights[before], night));
        let lost = lost.unwrap_or_default();
        days.push(Day { day: night.day, mend_days: night.mend_days.into(), row, lost });
    }
    let history = History { days };
    let mut all = Vec::new();
    if let Some(first) = history.next_row(0) {
        history.follow(Draft { held: Row::new(), days: vec![first] }, None, &mut all);
    }
    all.sort_by_key(|version| version.first);
    all
}

/// The rows of a FIGI that count: options, warrants and futures may be left out.
pub(crate) fn rows_of(nights: &[Night], figi: Figi) -> Vec<Option<&Row>> {
    let mut has_derivatives = false;
    // A row that has a past keeps it, also when it becomes an option.
    let mut goes_on = false;
    let mut rows = Vec::new();
    for night in nights {
        has_derivatives |= night.has_derivatives;
        let row = night.rows.get(&figi);
        let kept = row.filter(|row| has_derivatives || goes_on || !is_derivative(row));
        goes_on = kept.is_some();
        rows.push(kept);
    }
    rows
}

/// The columns that are less filled by more than a tenth, and by at least 10 rows, than they would
/// be if the rows were filled as the day before.
pub(crate) fn lost(before: &Night, now: &Night) -> BTreeSet<&'static str> {
    let filled = |night: &Night, name: &str| {
        night.rows.values().filter(|row| row.contains_key(name)).count()
    };
    let names: BTreeSet<_> = before.rows.values().flat_map(BTreeMap::keys).copied().collect();
    let (rows_before, rows) = (before.rows.len(), now.rows.len());
    let is_lost = |name: &&'static str| {
        // Both numbers of rows are multiplied by the number of rows the day before.
        let expected = filled(before, name) * rows;
        let found = filled(now, name) * rows_before;
        found + 10 * rows_before <= expected && 10 * found < 9 * expected
    };
    names.into_iter().filter(is_lost).collect()
}

pub(crate) fn is_derivative(row: &Row) -> bool {
    let kind = row.get("securityType2").and_then(|kind| kind.first());
    kind.is_some_and(|kind| ["Option", "Warrant", "Future"].contains(&kind.as_str()))
}

/// A day as one FIGI sees it.
struct Day<'a> {
    day: Date,
    mend_days: i64,
    row: Option<&'a Row>,
    /// The columns that may not close a version on this day.
    lost: BTreeSet<&'static str>,
}

struct History<'a> {
    days: Vec<Day<'a>>,
}

/// A version whose end is not known yet.
struct Draft {
    /// Values that it took over from the previous version, because their columns were lost.
    held: Row,
    /// The places of the days on which it was observed.
    days: Vec<usize>,
}

impl History<'_> {
    fn next_row(&self, from: usize) -> Option<usize> {
        (from..self.days.len()).find(|place| self.days[*place].row.is_some())
    }

    /// Whether a day comes fewer days after another than a gap may have.
    fn is_soon(&self, place: usize, after: Date) -> bool {
        let day = &self.days[place];
        day.day.to_days() - after.to_days() < day.mend_days
    }

    /// Whether the row of a day replaces none of the known values.
    fn agrees(&self, known: &Row, place: usize) -> bool {
        let Day { row, lost, .. } = &self.days[place];
        let mut values = row.iter().copied().flatten();
        values.all(|(name, value)| lost.contains(name) || !replaces(name, known.get(name), value))
    }

    /// A version as it is known after its first `count` days.
    fn known(&self, draft: &Draft, count: usize) -> Row {
        let mut known = draft.held.clone();
        for place in &draft.days[..count] {
            let Day { row, lost, .. } = &self.days[*place];
            for (name, value) in row.iter().copied().flatten() {
                if !(lost.contains(name) && replaces(name, known.get(name), value)) {
                    known.insert(name, value.clone());
                }
            }
        }
        known
    }

    /// Follows a version, and all that come after it, to the last day. When the row is again as in
    /// the version before, which `parent` knows, the version was a mistake: returns the place of
    /// that day.
    fn follow(&self, mut draft: Draft, parent: Option<&Row>, all: &mut Vec<Seen>) -> Option<usize> {
        let first = self.days[draft.days[0]].day;
        let mut place = draft.days[0] + 1;
        while place < self.days.len() {
            let last = self.days[draft.days[draft.days.len() - 1]].day;
            let known = self.known(&draft, draft.days.len());
            if self.days[place].row.is_none() {
                let next = self.next_row(place);
                match next.filter(|next| self.is_soon(*next, last)) {
                    Some(next) => place = next,
                    None => {
                        let dates = ["expiration", "maturity"].into_iter();
                        let dates = dates.filter_map(|name| known.get(name)?.first());
                        let is_over =
                            dates.min().is_some_and(|end| *end <= self.days[place].day.to_string());
                        let end = if is_over { VersionEnd::Expired } else { VersionEnd::Gone };
                        all.push(self.version(&draft, Some(end)));
                        if let Some(next) = next {
                            self.follow(Draft { held: Row::new(), days: vec![next] }, None, all);
                        }
                        return None;
                    }
                }
            }
            if self.agrees(&known, place) {
                draft.days.push(place);
                place += 1;
                continue;
            }
            let is_back = |parent: &&Row| self.agrees(parent, place) && self.is_soon(place, first);
            if parent.as_ref().is_some_and(is_back) {
                all.push(self.version(&draft, Some(VersionEnd::Revised)));
                return Some(place);
            }
            let Day { row, lost, .. } = &self.days[place];
            let mut held = known.clone();
            held.retain(|name, old| {
                let new = row.and_then(|row| row.get(name));
                lost.contains(name) && new.is_none_or(|new| replaces(name, Some(old), new))
            });
            match self.follow(Draft { held, days: vec![place] }, Some(&known), all) {
                Some(back) => {
                    draft.days.push(back);
                    place = back + 1;
                }
                None => {
                    all.push(self.version(&draft, Some(VersionEnd::Replaced)));
                    return None;
                }
            }
        }
        all.push(self.version(&draft, None));
        None
    }

    fn version(&self, draft: &Draft, end: Option<VersionEnd>) -> Seen {
        let row = self.known(draft, draft.days.len());
        let day = |place: usize| self.days[draft.days[place]].day;
        let mut learned = BTreeMap::new();
        for (name, value) in &row {
            let is_full = |known: &Row| match is_identifiers(name) {
                true => known.get(name) == Some(value),
                false => known.contains_key(name),
            };
            let full = (0..draft.days.len()).find(|at| is_full(&self.known(draft, at + 1)));
            match full {
                Some(0) | None => {}
                Some(at) => _ = learned.insert(*name, day(at)),
            }
        }
        let end = end.map(|end| (day(draft.days.len() - 1), end));
        Seen { first: day(0), end, learned, row }
    }
}

/// Whether a known value was replaced by another.
fn replaces(name: &str, old: Option<&BTreeSet<String>>, new: &BTreeSet<String>) -> bool {
    let Some(old) = old else { return false };
    let folded = |values: &BTreeSet<String>| -> String {
        let text = values.iter().map(|text| text.to_lowercase()).collect::<String>();
        text.chars().filter(|one| one.is_alphanumeric()).collect()
    };
    match name {
        "expiration" | "maturity" => false,
        "name" | "securityDescription" => folded(old) != folded(new),
        name if is_identifiers(name) => !old.is_subset(new),
        _ => old != new,
    }
}

fn is_identifiers(name: &str) -> bool {
    name.starts_with("ID_")
}

/// The versions of a log, in the same form.
pub(crate) fn written(versions: &Versions) -> Vec<Seen> {
    let learned = |learned: &[(PastColumn, Date)]| -> BTreeMap<_, _> {
        learned.iter().map(|(column, day)| (column.name(), *day)).collect()
    };
    let closed = versions.closed.iter().map(|version| {
        let Version { first, last, end, .. } = *version;
        let (learned, row) = (learned(&version.learned), row_of(&version.image));
        Seen { first, end: Some((last, end)), learned, row }
    });
    let open = versions.open.iter().map(|open: &OpenVersion| {
        let (learned, row) = (learned(&open.learned), row_of(&open.image));
        Seen { first: open.first, end: None, learned, row }
    });
    let mut all: Vec<_> = closed.collect();
    assert!(all.is_sorted_by(|one, next| one.first < next.first), "not in order: {all:?}");
    // The open version may be older than versions that were mistakes.
    all.extend(open);
    all.sort_by_key(|version| version.first);
    all
}

fn row_of(image: &Instrument) -> Row {
    let known = PastColumn::all().filter_map(|column| Some((column.name(), column.value(image)?)));
    known
        .map(|(name, value): (_, ColumnValue<'_>)| match value.list() {
            Some(list) => (name, list.into_iter().map(str::to_owned).collect()),
            None => (name, BTreeSet::from([value.to_string()])),
        })
        .collect()
}

/// The instrument of a row.
pub(crate) fn instrument(figi: Figi, row: &Row) -> Instrument {
    let mut instrument = Instrument::new(figi);
    for (name, values) in row {
        let text = values.first().expect("a known value");
        let date = || Some(Date::parse(text).expect("a date"));
        match *name {
            "ticker" => instrument.ticker = Some(text.clone()),
            "name" => instrument.name = Some(text.clone()),
            "expiration" => instrument.expiration = date(),
            "maturity" => instrument.maturity = date(),
            "listed" => instrument.listed = Some(text == "true"),
            "compositeFIGI" => {
                instrument.composite_figi = Some(Figi::parse(text).expect("a FIGI"));
            }
            name => match IdType::from_name(name) {
                Some(id_type) => {
                    let admitted = values.iter().map(|value| id_type.admit(value));
                    let admitted = admitted.map(|value| value.expect("an identifier").into_owned());
                    instrument.identifiers.extend(admitted);
                }
                None => {
                    let mut properties = Property::ALL.into_iter();
                    let property = properties.find(|property| property.field_name() == name);
                    let property = property.expect("a column of the tests");
                    instrument.properties[property as usize] = Some(text.clone());
                }
            },
        }
    }
    instrument
}
