//! Random nights: rows that come, go, change, return and lose columns, with second builds of a day,
//! gaps and rollbacks. The same seed gives the same nights.

use std::collections::{BTreeMap, BTreeSet};

use super::reference::{Night, Row};
use super::{Date, Figi, check_digit};

/// The FIGI with that number. FIGIs ascend with their numbers.
pub(crate) fn figi(number: u32) -> Figi {
    let body = format!("BBG{number:08}");
    let digit = check_digit::double_add_double(body.as_bytes()).expect("an unfinished FIGI");
    Figi::parse(&format!("{body}{digit}")).expect("a FIGI")
}

/// The day with that number.
pub(crate) fn day(number: i64) -> Date {
    Date::from_days(19_700 + number).expect("a day of this century")
}

/// The columns with their values. A FIGI is a number.
pub(crate) const COLUMNS: [(&str, &[&str]); 12] = [
    ("ticker", &["A", "B", "C"]),
    ("name", &["ACME CORP", "Acme Corp.", "OTHER CO", "Other, Co"]),
    ("ID_ISIN", &["US0378331005", "US4592001014", "US5949181045"]),
    ("ID_CUSIP", &["037833100", "459200101"]),
    ("exchCode", &["US", "GR"]),
    ("micCode", &["XNYS"]),
    ("marketSector", &["Equity"]),
    ("securityType2", &["Common Stock", "Common Stock", "Common Stock", "Option", "Warrant"]),
    ("expiration", &["2023-12-12", "2023-12-20", "2024-06-01"]),
    ("maturity", &["2023-12-15"]),
    ("listed", &["true", "false"]),
    ("compositeFIGI", &["BBG000BLNNH6", "BBG000B9XRY4"]),
];

/// The next event.
#[derive(Debug)]
pub(crate) enum Step {
    /// A build of a night, which replaces the last night if both are of the same day.
    Build(Night),
    Rollback,
}

pub(crate) struct Sequence {
    state: u64,
    figis: u32,
    mend_days: u32,
    /// The columns that change in this sequence: few, so that rows meet again.
    columns: Vec<usize>,
}

impl Sequence {
    pub(crate) fn new(seed: u64) -> Self {
        let mut sequence = Self { state: seed, figis: 0, mend_days: 0, columns: Vec::new() };
        let is_large = sequence.chance(30);
        sequence.figis =
            if is_large { 12 + sequence.below(4) } else { 2 + sequence.below(5) } as u32;
        sequence.mend_days = [1, 3, 4, 7][sequence.below(4)];
        let columns = 1 + sequence.below(COLUMNS.len());
        sequence.columns = (0..columns).map(|_| sequence.below(COLUMNS.len())).collect();
        sequence
    }

    /// The FIGIs that may occur.
    pub(crate) fn figis(&self) -> impl Iterator<Item = Figi> + use<> {
        (0..self.figis).map(figi)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % count as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// The event after these nights.
    pub(crate) fn step(&mut self, nights: &[Night]) -> Step {
        let Some(last) = nights.last() else { return Step::Build(self.first()) };
        if self.chance(8) {
            return Step::Rollback;
        }
        let gap = match self.below(100) {
            0..18 => 0,
            18..80 => 1,
            80..92 => 2 + self.below(3),
            _ => 5 + self.below(5),
        };
        let day = Date::from_days(last.day.to_days() + gap as i64).expect("a day of this century");
        let mut rows = match self.below(10) {
            // A night of all rows as they were before.
            0 => nights[self.below(nights.len())].rows.clone(),
            1 if nights.len() > 1 => nights[nights.len() - 2].rows.clone(),
            _ => last.rows.clone(),
        };
        let percent = [5, 20, 60][self.below(3)];
        for number in 0..self.figis {
            if self.chance(percent) {
                self.change(figi(number), &mut rows, nights);
            }
        }
        if self.figis >= 12 && self.chance(35) {
            let place = self.column();
            let kept = self.below(3);
            for (at, row) in rows.values_mut().enumerate() {
                if at >= kept {
                    row.remove(COLUMNS[place].0);
                } else if self.chance(50) {
                    self.fill(place, row);
                }
            }
        }
        if rows.is_empty() {
            rows.insert(figi(0), self.random());
        }
        if self.chance(5) {
            self.mend_days = [1, 3, 4, 7][self.below(4)];
        }
        Step::Build(Night { day, rows, mend_days: self.mend_days, has_derivatives: self.chance(4) })
    }

    /// The place of a column that changes.
    fn column(&mut self) -> usize {
        let place = self.below(self.columns.len());
        self.columns[place]
    }

    fn first(&mut self) -> Night {
        let present = if self.chance(50) { 100 } else { 60 };
        let mut rows = BTreeMap::new();
        for number in 0..self.figis {
            if rows.is_empty() || self.chance(present) {
                let row = self.random();
                rows.insert(figi(number), row);
            }
        }
        let has_derivatives = self.chance(20);
        Night { day: day(0), rows, mend_days: self.mend_days, has_derivatives }
    }

    pub(crate) fn random(&mut self) -> Row {
        let mut row = Row::new();
        for place in 0..COLUMNS.len() {
            if self.chance(92) {
                self.fill(place, &mut row);
            }
        }
        row
    }

    fn fill(&mut self, place: usize, row: &mut Row) {
        let (name, values) = COLUMNS[place];
        let value = values[self.below(values.len())].to_owned();
        match row.get_mut(name) {
            // An identifier joins a set, or leaves it.
            Some(known) if name.starts_with("ID_") && self.chance(60) => {
                if !known.insert(value.clone()) && known.len() > 1 {
                    known.remove(&value);
                }
            }
            _ => _ = row.insert(name, BTreeSet::from([value])),
        }
    }

    fn change(&mut self, figi: Figi, rows: &mut BTreeMap<Figi, Row>, nights: &[Night]) {
        match self.below(10) {
            0 | 1 => _ = rows.remove(&figi),
            // As on an earlier day.
            2 | 3 => match nights[self.below(nights.len())].rows.get(&figi) {
                Some(row) => _ = rows.insert(figi, row.clone()),
                None => _ = rows.remove(&figi),
            },
            kind => {
                let place = self.column();
                let mut row = match rows.remove(&figi) {
                    Some(row) => row,
                    None => self.random(),
                };
                match kind {
                    4 | 5 => _ = row.remove(COLUMNS[place].0),
                    _ => self.fill(place, &mut row),
                }
                rows.insert(figi, row);
            }
        }
    }
}
