//! Dumps that add fields to instruments but no instruments (`--enrich FILE`).
//!
//! A row is matched to instruments by its keys (`level.rs`) and fills their blank fields. It never
//! overwrites a value: a different value is counted as a conflict, and the instrument keeps its
//! own. Only after all instruments were seen is it known whether a row identifies a single
//! security. So there are two passes over the merged instruments: [`Enrichment::observe`] each,
//! then [`Enrichment::settle`], then [`Enrichment::apply`] to each. Meanwhile the rows are kept in
//! memory (`rows.rs`). The used rows of one key do not contradict each other. So only the first row
//! with a value in each column, and the row with the largest importance, are applied.
//!
//! A row is **ambiguous** when its keys identify several securities, or when another row gives a
//! different value for the same security. There is no way to decide which is right, so such rows
//! are not used. Only **importances** may differ, since each listing of a security has its own
//! turnover. A listing gets the importance of the row that names it, else the largest of its
//! security.

pub(super) mod level;
mod rows;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use figdex_index::{Attribute, Figi, Importance, Instrument};

use self::level::{Key, Level, gives, keys, security};
use self::rows::{Full, ROWS_BYTES_MAX, Rows};
use super::rejects::{Entry, Rejects};
use super::written::Written;
use crate::error::{Error, Result};
use crate::report::conflicts::Conflicts;
use crate::report::{EnrichReport, Tally};
use crate::row::cells::cells;
use crate::row::normalize::{Dropped, describe, figi_of, set_cell};
use crate::row::reject::Reject;
use crate::row::{Cell, CellKind, Column, Row};

/// The FIGI of the temporary instrument for a row without a FIGI. It is not used as a key.
pub(super) const PLACEHOLDER: &str = "FDG000000009";

const IMPORTANCE: Column = Column::Attribute(Attribute::Importance);

/// The rows of the `--enrich` inputs, and the state of each.
pub(crate) struct Enrichment {
    /// The report of each input, in the order given.
    inputs: Vec<EnrichReport>,
    rows: Rows<State, Match>,
    filled: BTreeMap<Column, u64>,
    placeholder: Figi,
}

#[derive(Default)]
struct State {
    /// Whether the row matches by more than its share class.
    is_precise: bool,
    outcome: MatchOutcome,
}

/// The instruments that one or more keys identify.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Match {
    #[default]
    None,
    /// Instruments of one security. `figi` is the smallest of their FIGIs.
    One { security: Figi, figi: Figi },
    /// Instruments of several securities, and two of these securities.
    Several([Figi; 2]),
}

/// The outcome of matching a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MatchOutcome {
    /// No instrument has any of the row's keys.
    #[default]
    Unmatched,
    Enriches,
    /// The row's keys identify several securities; two of them.
    SeveralSecurities([Figi; 2]),
    /// Another row has a different value in that column for the same security or listing.
    Contradicted(Column),
}

impl MatchOutcome {
    /// The reason why the row was not used: in general, as the report counts it, and with the
    /// details of this row. `None` if it was used.
    fn reason(self) -> Option<(&'static str, String)> {
        let (reason, details) = match self {
            Self::Enriches => return None,
            Self::Unmatched => ("unmatched: no instrument has its identifiers", String::new()),
            Self::SeveralSecurities([a, b]) => (
                "ambiguous: its identifiers are those of several securities",
                format!(": {a}, {b}"),
            ),
            Self::Contradicted(column) => (
                "ambiguous: another row says otherwise of the same security",
                format!(": {}", column.name()),
            ),
        };
        Some((reason, format!("{reason}{details}")))
    }
}

impl Match {
    fn of(instrument: &Instrument) -> Self {
        Self::One { security: security(instrument), figi: instrument.figi }
    }

    /// The union of both matches.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, found) | (found, Self::None) => found,
            (Self::Several(some), _) | (_, Self::Several(some)) => Self::Several(some),
            (Self::One { security: a, figi: first }, Self::One { security: b, figi: second }) => {
                match a == b {
                    true => Self::One { security: a, figi: first.min(second) },
                    false if first < second => Self::Several([a, b]),
                    false => Self::Several([b, a]),
                }
            }
        }
    }
}

impl Enrichment {
    pub(crate) fn new() -> Self {
        Self::bounded(ROWS_BYTES_MAX)
    }

    fn bounded(bytes_max: usize) -> Self {
        Self {
            inputs: Vec::new(),
            rows: Rows::new(bytes_max),
            filled: BTreeMap::new(),
            placeholder: Figi::parse(PLACEHOLDER).expect("the constant is of the form"),
        }
    }

    /// Begins an input. The following rows belong to it.
    pub(crate) fn begin(&mut self, name: String) {
        self.inputs.push(EnrichReport { name, ..EnrichReport::default() });
    }

    /// The report of the current input.
    ///
    /// # Panics
    /// Before the first [`Enrichment::begin`].
    pub(crate) fn report(&mut self) -> &mut EnrichReport {
        self.inputs.last_mut().expect("an input was begun")
    }

    /// The report of each input, in the order given.
    pub(crate) fn reports(&self) -> &[EnrichReport] {
        &self.inputs
    }

    /// Adds a row, or returns the reason why it is rejected. Adds invalid cells to `dropped`.
    ///
    /// # Errors
    /// [`Error::Input`] when the rows take more than [`ROWS_BYTES_MAX`].
    pub(crate) fn add(
        &mut self,
        row: &Row,
        dropped: &mut Vec<Dropped>,
    ) -> Result<Result<(), Reject>> {
        let figi = figi_of(row, dropped);
        let fields = describe(figi.unwrap_or(self.placeholder), row, dropped);
        let keys: Vec<Key<'_>> = figi.map(Key::Figi).into_iter().chain(keys(&fields)).collect();
        if keys.is_empty() {
            return Ok(Err(Reject::NoKey));
        }
        let figi = figi.map(|figi| (Column::Figi, figi.to_string()));
        let cells: Vec<_> = figi.into_iter().chain(cells(&fields)).collect();
        let input = self.inputs.len() - 1;
        // If the row has dropped cells, its bytes go into the rejects file with these.
        let raw = if dropped.is_empty() { &row.raw[..] } else { b"" };
        match self.rows.push(input, row.line, raw, &cells, &keys) {
            Ok(()) => Ok(Ok(())),
            Err(Full) => {
                let what = format!(
                    "the rows of the --enrich dumps take more than {} MiB, which is the limit: \
                     give fewer rows or fewer columns",
                    ROWS_BYTES_MAX >> 20
                );
                Err(Error::input(&self.report().name, Some(row.line), what))
            }
        }
    }

    /// Whether there are no rows. Then no passes are needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// First pass: records the instrument for each of its keys that any row has.
    pub(crate) fn observe(&mut self, instrument: &Instrument) {
        for key in self.rows.find(instrument) {
            let found = self.rows.key_mut(key);
            *found = found.and(Match::of(instrument));
        }
    }

    /// Between the passes: determines the outcome of each row.
    pub(crate) fn settle(&mut self) {
        let mut securities = Vec::new();
        let mut listings = Vec::new();
        let mut share_classes = Vec::new();
        for row in 0..self.rows.len() {
            let of_level = |level| {
                let keys = self.rows.keys_of(row).iter();
                let keys = keys.filter(|&&key| self.rows.level(key) == level);
                keys.fold(Match::None, |found, &key| found.and(*self.rows.key(key)))
            };
            let [security, issue, listing] =
                [Level::Security, Level::Issue, Level::Listing].map(of_level);
            let is_precise = (issue, listing) != (Match::None, Match::None);
            let outcome = match (issue, listing) {
                (Match::None, Match::None) => match security {
                    Match::One { security, .. } => {
                        share_classes.push((security, row));
                        MatchOutcome::Enriches
                    }
                    _ => MatchOutcome::Unmatched,
                },
                (Match::Several(some), _) | (_, Match::Several(some)) => {
                    MatchOutcome::SeveralSecurities(some)
                }
                (Match::One { security: a, .. }, Match::One { security: b, .. }) if a != b => {
                    MatchOutcome::SeveralSecurities([a, b])
                }
                (Match::One { security, .. }, _) | (_, Match::One { security, .. }) => {
                    securities.push((security, row));
                    if let Match::One { figi, .. } = listing {
                        listings.push((figi, row));
                    }
                    MatchOutcome::Enriches
                }
            };
            *self.rows.state_mut(row) = State { is_precise, outcome };
        }
        let compared = |level| move |c| c != IMPORTANCE && gives(level, c);
        let contradicted = [
            self.contradicted(share_classes, compared(Level::Security)),
            self.contradicted(securities, compared(Level::Issue)),
            self.contradicted(listings, |c| !gives(Level::Issue, c)),
        ];
        for (row, column) in contradicted.into_iter().flatten() {
            self.rows.state_mut(row).outcome = MatchOutcome::Contradicted(column);
        }
        for row in 0..self.rows.len() {
            let (input, ..) = self.rows.origin(row);
            let counts = &mut self.inputs[input].counts;
            match self.rows.state(row).outcome {
                MatchOutcome::Unmatched => counts.unmatched += 1,
                MatchOutcome::Enriches => counts.enriched += 1,
                MatchOutcome::SeveralSecurities(_) | MatchOutcome::Contradicted(_) => {
                    counts.ambiguous += 1;
                }
            }
        }
        self.choose_givers();
    }

    /// Chooses the rows that are applied to the instruments of each key: for each column the first
    /// row with a value, and the row with the largest importance.
    fn choose_givers(&mut self) {
        let used = |&row: &usize| self.rows.state(row).outcome == MatchOutcome::Enriches;
        let pairs = (0..self.rows.len())
            .filter(used)
            .flat_map(|row| self.rows.keys_of(row).iter().map(move |&key| (key, row as u32)));
        let mut pairs: Vec<(u32, u32)> = pairs.collect();
        pairs.sort_unstable();
        for same in pairs.chunk_by(|(a, _), (b, _)| a == b) {
            let key = same[0].0;
            let level = self.rows.level(key);
            let mut given = BTreeSet::new();
            let mut givers = Vec::new();
            for &(_, row) in same {
                let columns = self.rows.columns(row as usize).into_iter().map(|(column, _)| column);
                let new = columns.filter(|&column| self.fills(row as usize, level, column));
                if new.filter(|&column| given.insert(column)).count() > 0 {
                    givers.push(row);
                }
            }
            let rows: Vec<_> = same.iter().map(|&(_, row)| (row as usize, level)).collect();
            givers.extend(self.most_important(&rows).map(|row| row as u32));
            givers.sort_unstable();
            givers.dedup();
            self.rows.set_givers(key, &givers);
        }
    }

    /// Whether a row that matches an instrument at this level fills a column. Importances are left
    /// out: they are chosen among all rows of an instrument.
    fn fills(&self, row: usize, level: Level, column: Column) -> bool {
        // If a row also matches otherwise, it gives the other listings of its share class only its
        // importance.
        let is_only_important = level == Level::Security && self.rows.state(row).is_precise;
        !matches!(column, Column::Figi | IMPORTANCE) && !is_only_important && gives(level, column)
    }

    /// The rows that contradict another row, each with the column of the difference. `rows` have
    /// the FIGI of their security or listing. Only rows with the same FIGI are compared, and only
    /// in `columns`.
    fn contradicted(
        &self,
        mut rows: Vec<(Figi, usize)>,
        columns: impl Fn(Column) -> bool,
    ) -> Vec<(usize, Column)> {
        rows.sort_unstable();
        let mut found = Vec::new();
        for same in rows.chunk_by(|(a, _), (b, _)| a == b).filter(|same| same.len() > 1) {
            let mut given: BTreeMap<Column, Vec<(Vec<&str>, usize)>> = BTreeMap::new();
            for &(_, row) in same {
                for (column, values) in self.rows.columns(row) {
                    if columns(column) {
                        given.entry(column).or_default().push((values, row));
                    }
                }
            }
            for (column, given) in given {
                if given.iter().any(|(values, _)| *values != given[0].0) {
                    found.extend(given.iter().map(|&(_, row)| (row, column)));
                }
            }
        }
        found
    }

    /// Second pass: fills the blank fields of the instrument from its rows, and adds conflicts.
    /// Returns the size of the filled values.
    pub(crate) fn apply(
        &mut self,
        instrument: &mut Instrument,
        conflicts: &mut Conflicts,
    ) -> usize {
        let mut filled_bytes = 0;
        let keys = self.rows.find(instrument).into_iter();
        let mut found: Vec<(usize, Level)> = keys
            .flat_map(|key| {
                let level = self.rows.level(key);
                self.rows.givers(key).iter().map(move |&row| (row as usize, level))
            })
            .collect();
        if found.is_empty() {
            return filled_bytes;
        }
        // A row that matches both as an issue and as a listing counts as a listing.
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup_by_key(|(row, _)| *row);
        found.reverse();
        let most_important = self.most_important(&found);
        let mut own = cells(instrument);
        for &(row, level) in &found {
            for (column, values) in self.rows.columns(row) {
                let is_given = match column {
                    IMPORTANCE => most_important == Some(row),
                    column => self.fills(row, level, column),
                };
                if !is_given {
                    continue;
                }
                let existing = || own.iter().filter(|(other, _)| *other == column);
                if existing().next().is_none() {
                    for value in &values {
                        let cell = Cell { column, value, kind: CellKind::Text };
                        set_cell(instrument, &cell)
                            .expect("the cell was valid when the row was added");
                        own.push((column, (*value).to_owned()));
                        filled_bytes += value.len();
                    }
                    *self.filled.entry(column).or_default() += 1;
                } else if values.iter().any(|value| existing().all(|(_, own)| own != value)) {
                    let kept: Vec<&str> = existing().map(|(_, own)| own.as_str()).collect();
                    let (input, line, _) = self.rows.origin(row);
                    let place = Some((self.inputs[input].name.as_str(), Some(line)));
                    let lost = values.join(";");
                    conflicts.add(column, instrument.figi, (&kept.join(";"), None), (&lost, place));
                }
            }
        }
        filled_bytes
    }

    /// The row that gives an instrument its importance, among those that match it. A row that names
    /// the listing comes first, then the row with the largest importance.
    fn most_important(&self, found: &[(usize, Level)]) -> Option<usize> {
        let of_row = |row| {
            let mut columns = self.rows.columns(row).into_iter();
            let (_, values) = columns.find(|(column, _)| *column == IMPORTANCE)?;
            values.first()?.parse().ok().and_then(Importance::new)
        };
        let given = found.iter().filter_map(|&(row, level)| {
            Some((level == Level::Listing, of_row(row)?, Reverse(row)))
        });
        given.max().map(|(.., Reverse(row))| row)
    }

    /// Writes each unused row to the rejects file, and counts it by its reason.
    pub(crate) fn keep_not_joined(
        &self,
        rejects: &mut Rejects,
        written: &mut Written,
        tallies: &mut BTreeMap<&'static str, Tally>,
    ) -> Result<()> {
        for row in 0..self.rows.len() {
            if let Some((reason, whole)) = self.rows.state(row).outcome.reason() {
                let (input, line, raw) = self.rows.origin(row);
                let name = &self.inputs[input].name;
                let entry = Entry { input: name, line, column: None, reason: &whole, raw };
                rejects.keep(&entry, written)?;
                tallies.entry(reason).or_default().add(name, line);
            }
        }
        Ok(())
    }

    /// The report of each input, and the number of fields that were filled, by column.
    pub(crate) fn finish(self) -> (Vec<EnrichReport>, BTreeMap<Column, u64>) {
        (self.inputs, self.filled)
    }
}

#[cfg(test)]
mod tests;
