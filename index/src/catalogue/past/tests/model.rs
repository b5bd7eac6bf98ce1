//! Answers about a past by brute force: from the versions that all nights together give, FIGI by FIGI
//! and day by day, as chapter 20 of the contract says.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::covered;
use crate::catalogue::past::FORMERLY_MAX;
use crate::generation::past::VersionEnd;
use crate::generation::past::log::pair_of;
use crate::generation::past::stated::{Retired, RetiredKind, RetiredOf};
use crate::generation::past::tests::reference::{Night, Row, Seen, seen};
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::resolve::past::Basis;

/// A question about an identifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) id_type: IdType,
    pub(super) value: &'a str,
    /// Whether only rows of the exchange code `US` count.
    pub(super) is_us: bool,
    pub(super) day: Date,
}

/// A row as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Was {
    pub(super) figi: Figi,
    pub(super) basis: Basis,
    pub(super) days: (Option<Date>, Option<Date>),
    pub(super) successor: Option<Figi>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// A row, with the name of the status.
    One(&'static str, Was),
    Several(Vec<Was>),
    /// Only rows of today.
    Today,
    Nothing,
    Uncertain(BTreeSet<Figi>),
    /// Nothing is known before that day.
    OutOfCoverage(Date),
}

impl Known {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::One("resolved", was) => match was.basis {
                Basis::Observed => "resolved, observed",
                Basis::Assumed => "resolved, assumed",
                Basis::Stated => "resolved, stated",
            },
            Self::One("gone", was) => match was.basis {
                Basis::Observed => "gone, observed",
                Basis::Assumed => "gone, assumed",
                Basis::Stated => "gone, stated",
            },
            Self::One(_, was) => match was.basis {
                Basis::Observed => "historical, observed",
                Basis::Assumed => "historical, assumed",
                Basis::Stated => "historical, stated",
            },
            Self::Several(rows) if rows.iter().any(|row| row.basis == Basis::Stated) => {
                "several, one stated"
            }
            Self::Several(_) => "several",
            Self::Today => "today",
            Self::Nothing => "nothing",
            Self::Uncertain(figis) if figis.len() > 1 => "uncertain between several",
            Self::Uncertain(_) => "uncertain",
            Self::OutOfCoverage(_) => "out of coverage",
        }
    }
}

/// A past, and what is stated of it.
#[derive(Debug)]
pub(super) struct Model {
    nights: Vec<Night>,
    pub(super) figis: Vec<Figi>,
    stated: Vec<(RetiredOf, Retired)>,
    /// The versions that questions see, in the order of their days.
    versions: BTreeMap<Figi, Vec<Seen>>,
    covered: BTreeMap<String, Date>,
    /// The statements of each FIGI in the order of their days.
    of_figi: BTreeMap<Figi, Vec<Retired>>,
}

/// The side from which a day is seen that was not observed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// A row that may answer.
struct Held<'a> {
    row: Row,
    version: Option<&'a Seen>,
}

impl Model {
    pub(super) fn new(
        nights: Vec<Night>,
        figis: Vec<Figi>,
        stated: Vec<(RetiredOf, Retired)>,
    ) -> Self {
        let is_real = |it: &Seen| it.end.is_none_or(|(_, end)| end != VersionEnd::Revised);
        let versions = figis.iter().map(|figi| {
            let all = seen(&nights, *figi).into_iter().filter(is_real);
            (*figi, all.collect())
        });
        let (versions, covered) = (versions.collect(), covered(&nights));
        let of_figi = BTreeMap::new();
        let mut model = Self { nights, figis, stated, versions, covered, of_figi };
        let of_figi = model.figis.iter().map(|figi| {
            let all = model.stated.iter().filter(|one| model.is_kept(*figi, one));
            let mut all: Vec<Retired> = all.map(|one| one.1.clone()).collect();
            all.sort_by_key(|it| (it.from, it.to, it.clone()));
            all.dedup();
            (*figi, all)
        });
        model.of_figi = of_figi.collect();
        model
    }

    pub(super) fn days(&self) -> (Date, Date) {
        (self.nights[0].day, self.nights[self.nights.len() - 1].day)
    }

    /// The row of the last night.
    fn today(&self, figi: Figi) -> Option<&Row> {
        self.nights[self.nights.len() - 1].rows.get(&figi)
    }

    /// Whether a statement is about a FIGI, and counts.
    fn is_kept(&self, figi: Figi, (owner, retired): &(RetiredOf, Retired)) -> bool {
        use RetiredKind::{Conversion, Delisting, Merger};
        let is_meant = match owner {
            RetiredOf::Figi(of) => *of == figi,
            RetiredOf::Identifier(key) => {
                self.today(figi).is_some_and(|row| has_key(figi, row, key))
            }
        };
        is_meant
            && (self.today(figi).is_some()
                || !self.versions[&figi].is_empty()
                || matches!(retired.kind, Merger | Conversion | Delisting))
    }

    /// The numbers of the report: stated, contradicted, and the places of those without an
    /// instrument.
    pub(super) fn report(&self) -> (u64, u64, Vec<usize>) {
        let stated = self.of_figi.values().map(|all| all.len() as u64).sum();
        let contradicted = self.figis.iter().filter(|figi| self.is_contradicted(**figi)).count();
        let without = self
            .stated
            .iter()
            .enumerate()
            .filter(|(_, one)| !self.figis.iter().any(|figi| self.is_kept(*figi, one)));
        (stated, contradicted as u64, without.map(|(place, _)| place).collect())
    }

    fn is_contradicted(&self, figi: Figi) -> bool {
        let stated = &self.of_figi[&figi];
        self.versions[&figi].iter().any(|version| {
            let last = version.end.map_or(self.days().1, |end| end.0);
            days(version.first, last).any(|day| {
                stated.iter().any(|retired| {
                    let key = &retired.id_value;
                    let is_stated = stated.iter().any(|it| it.id_value == *key && it.holds(day));
                    match has_key(figi, &version.row, key) {
                        true => !is_stated && !is_learned_after(version, key.id_type(), day),
                        false => is_stated,
                    }
                })
            })
        })
    }

    /// Whether a row has the identifier that is asked for, and passes the filters.
    fn passes(&self, figi: Figi, row: &Row, asked: &Asked<'_>) -> bool {
        let key = asked.id_type.admit(asked.value).unwrap();
        has_key(figi, row, &key) && is_admitted(row, asked)
    }

    /// The statements about the identifier that is asked for: of the own FIGI of an instrument without
    /// rows everything.
    fn stated_of(&self, figi: Figi, asked: &Asked<'_>) -> Vec<&Retired> {
        let is_own = asked.id_type == IdType::BbGlobal && figi.to_string() == asked.value;
        let are_all = is_own && self.versions[&figi].is_empty() && self.today(figi).is_none();
        let key = asked.id_type.admit(asked.value).unwrap();
        let stated = self.of_figi[&figi].iter();
        stated.filter(|retired| are_all || retired.id_value == key).collect()
    }

    /// The row of today of a FIGI that has no past, such as an option.
    fn without_past(&self, figi: Figi) -> Option<&Row> {
        self.today(figi).filter(|_| self.versions[&figi].is_empty())
    }

    /// The last known row of a FIGI; one without values if there was never a row.
    fn last_row(&self, figi: Figi) -> Row {
        let last = self.versions[&figi].iter().map(|version| &version.row).next_back();
        last.or(self.without_past(figi)).cloned().unwrap_or_default()
    }

    fn successor(&self, figi: Figi) -> Option<Figi> {
        self.of_figi[&figi].iter().filter_map(|retired| retired.successor).next_back()
    }

    /// The row of a day, seen from one side.
    fn on(&self, figi: Figi, day: Date, side: Side) -> Option<Held<'_>> {
        let held = |version| Held { row: Seen::clone(version).row, version: Some(version) };
        if let Some(row) = self.without_past(figi) {
            return Some(Held { row: row.clone(), version: None });
        }
        let versions = &self.versions[&figi];
        if let Some(version) = versions.iter().find(|version| covers(version, day)) {
            return Some(held(version));
        }
        let before = versions.iter().rev().find(|version| version.first <= day);
        let after = versions.iter().find(|version| version.first > day);
        if let (Some(before), Some(after)) = (before, after)
            && before.end.is_some_and(|(_, end)| end == VersionEnd::Replaced)
        {
            return Some(held(if side == Side::Before { before } else { after }));
        }
        // The row was absent on the nights between.
        let is_free = |from: Date, to: Date| {
            !self.nights.iter().any(|night| from <= night.day && night.day <= to)
        };
        let next = |day: Date| Date::from_days(day.to_days() + 1).unwrap();
        match side {
            Side::Before => before.filter(|it| is_free(next(it.end.unwrap().0), day)),
            Side::After => {
                after.filter(|it| is_free(day, Date::from_days(it.first.to_days() - 1).unwrap()))
            }
        }
        .map(held)
    }

    /// The rows that had the identifier on the day, seen from one side.
    fn of_side(&self, asked: &Asked<'_>, side: Side) -> Vec<Was> {
        let day = asked.day;
        let (first, last) = self.days();
        let is_covered = first <= day && day <= last;
        let mut rows: Vec<Was> = Vec::new();
        for figi in self.figis.iter().copied() {
            let held = self.on(figi, day, side).filter(|_| is_covered);
            let observed = held.as_ref().filter(|held| self.passes(figi, &held.row, asked));
            let basis = observed.map(|held| match held.version {
                Some(version) if !is_learned_after(version, asked.id_type, day) => Basis::Observed,
                _ => Basis::Assumed,
            });
            let was_there = self.versions[&figi].iter().any(|version| covers(version, day));
            let is_certain = is_covered && was_there && basis != Some(Basis::Assumed);
            let stated = self.stated_of(figi, asked);
            let of_day = stated.iter().find(|retired| retired.holds(day));
            let successor = self.successor(figi);
            let observed = observed.zip(basis).map(|(held, basis)| {
                let days = match held.version {
                    Some(version) => (Some(version.first), version.end.map(|end| end.0)),
                    None => (Some(first), None),
                };
                Was { figi, basis, days, successor }
            });
            let row = held.map_or_else(|| self.last_row(figi), |held| held.row);
            rows.extend(match of_day {
                Some(retired) if !(is_certain && observed.is_some()) => {
                    let days = (retired.from, retired.to);
                    let was = Was { figi, basis: Basis::Stated, days, successor };
                    Some(was).filter(|_| is_admitted(&row, asked))
                }
                // The file decides on days that were not observed.
                None if !stated.is_empty() && !is_certain => None,
                _ => observed,
            });
        }
        // An assumed row counts only if no other one is known.
        match rows.iter().all(|row| row.basis == Basis::Assumed) {
            true => rows,
            false => rows.into_iter().filter(|row| row.basis != Basis::Assumed).collect(),
        }
    }

    pub(super) fn as_of(&self, asked: &Asked<'_>) -> Known {
        let day = asked.day;
        let (first, last) = self.days();
        let is_covered = first <= day && day <= last;
        let is_stated = self
            .figis
            .iter()
            .any(|figi| self.stated_of(*figi, asked).iter().any(|retired| retired.holds(day)));
        if !is_covered && !is_stated {
            return Known::OutOfCoverage(first);
        }
        let [before, after] = [Side::Before, Side::After].map(|side| self.of_side(asked, side));
        let figis = |rows: &[Was]| rows.iter().map(|row| row.figi).collect::<BTreeSet<_>>();
        if figis(&before) != figis(&after) {
            return Known::Uncertain(&figis(&before) | &figis(&after));
        }
        match &before[..] {
            [only] => Known::One("resolved", only.clone()),
            [_, ..] => Known::Several(before),
            [] => match self.known_since(asked) {
                Some(since) if day < since => Known::OutOfCoverage(since),
                _ => Known::Nothing,
            },
        }
    }

    /// The first day on which the dumps had such rows as ever had the identifier.
    fn known_since(&self, asked: &Asked<'_>) -> Option<Date> {
        let first = self.days().0;
        let of_figi = |figi: &Figi| {
            let versions = self.versions[figi].iter().map(|version| &version.row);
            let rows = versions.filter(|row| self.passes(*figi, row, asked)).map(|row| {
                let one = |name| row.get(name).and_then(|it| it.first()).map_or("", |it| it);
                let pair = pair_of(one("marketSector"), one("exchCode"));
                self.covered.get(&pair).copied().unwrap_or(first)
            });
            let option = self.without_past(*figi).filter(|row| self.passes(*figi, row, asked));
            rows.chain(option.map(|_| first)).min()
        };
        self.figis.iter().filter_map(of_figi).min()
    }

    fn is_today(&self, figi: Figi, asked: &Asked<'_>) -> bool {
        self.today(figi).is_some_and(|row| self.passes(figi, row, asked))
    }

    /// The row that had the identifier when the FIGI last had it.
    fn former(&self, figi: Figi, asked: &Asked<'_>) -> Option<Was> {
        let stated = self.stated_of(figi, asked);
        let versions = &self.versions[&figi];
        let has = |version: &Seen| self.passes(figi, &version.row, asked);
        let successor = self.successor(figi);
        let Some(place) = versions.iter().rposition(has) else {
            let last = stated.iter().max_by_key(|it| (it.to.is_none(), it.to, it.from))?;
            let days = (last.from, last.to);
            let was = Was { figi, basis: Basis::Stated, days, successor };
            return Some(was).filter(|_| is_admitted(&self.last_row(figi), asked));
        };
        // The versions without a break.
        let mut first = place;
        while first > 0 && has(&versions[first - 1]) && was_replaced(&versions[first - 1]) {
            first -= 1;
        }
        let (from, to) = (versions[first].first, versions[place].end.map(|end| end.0));
        let is_assumed = versions[first..=place]
            .iter()
            .any(|version| is_learned_after(version, asked.id_type, from));
        // A day on which the row was observed without the identifier.
        let is_without =
            |day: Date| versions.iter().any(|version| covers(version, day) && !has(version));
        let begins = stated.iter().filter(|it| it.holds(from)).filter_map(|it| it.from);
        let begin = begins.filter(|day| !days(*day, from).any(is_without)).min();
        let ends = to.into_iter().flat_map(|to| {
            let ends = stated.iter().filter(move |it| it.holds(to)).filter_map(|it| it.to);
            ends.filter(move |day| !days(to, *day).any(is_without))
        });
        let end = ends.max();
        let basis = match (begin.or(end), is_assumed) {
            (Some(_), _) => Basis::Stated,
            (None, true) => Basis::Assumed,
            (None, false) => Basis::Observed,
        };
        let days = (begin.or(Some(from)), end.or(to));
        Some(Was { figi, basis, days, successor })
    }

    pub(super) fn without_day(&self, asked: &Asked<'_>) -> Known {
        if self.figis.iter().any(|figi| self.is_today(*figi, asked)) {
            return Known::Today;
        }
        let rows = self.figis.iter().filter_map(|figi| self.former(*figi, asked));
        let rows: Vec<Was> = rows.collect();
        match &rows[..] {
            [] => Known::Nothing,
            [only] if self.today(only.figi).is_some() => Known::One("historical", only.clone()),
            [only] => Known::One("gone", only.clone()),
            _ => Known::Several(rows),
        }
    }

    pub(super) fn formerly(&self, asked: &Asked<'_>) -> Vec<Was> {
        let others = self.figis.iter().filter(|figi| !self.is_today(**figi, asked));
        let mut rows: Vec<Was> = others.filter_map(|figi| self.former(*figi, asked)).collect();
        rows.sort_by_key(|row| Reverse((row.days.1.is_none(), row.days.1)));
        rows.truncate(FORMERLY_MAX);
        rows
    }
}

fn days(first: Date, last: Date) -> impl Iterator<Item = Date> {
    (first.to_days()..=last.to_days()).filter_map(Date::from_days)
}

fn covers(version: &Seen, day: Date) -> bool {
    version.first <= day && version.end.is_none_or(|(last, _)| day <= last)
}

fn was_replaced(version: &Seen) -> bool {
    version.end.is_some_and(|(_, end)| end == VersionEnd::Replaced)
}

/// Whether the value of a version was learned after a day.
fn is_learned_after(version: &Seen, id_type: IdType, day: Date) -> bool {
    let name = name_of(id_type);
    version.learned.get(name).is_some_and(|learned| *learned > day)
}

fn name_of(id_type: IdType) -> &'static str {
    match id_type {
        IdType::Ticker => "ticker",
        IdType::CompositeBbGlobal => "compositeFIGI",
        other => other.name(),
    }
}

fn has_key(figi: Figi, row: &Row, key: &IdValue<'_>) -> bool {
    if key.id_type() == IdType::BbGlobal {
        return figi.to_string() == key.as_str();
    }
    row.get(name_of(key.id_type())).is_some_and(|values| values.contains(key.as_str()))
}

fn is_admitted(row: &Row, asked: &Asked<'_>) -> bool {
    let is = |name, value: &str| row.get(name).is_some_and(|values| values.contains(value));
    let is_unlisted = is("listed", "false") && is("marketSector", "Equity");
    !is_unlisted && (!asked.is_us || is("exchCode", "US"))
}
