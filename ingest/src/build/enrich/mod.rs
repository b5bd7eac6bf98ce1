//! Dumps that add to instruments instead of making any (`--enrich FILE`).
//!
//! A row finds instruments by what they are known by (`level.rs`) and fills what
//! is blank in them. It never overrides: where it says otherwise than a dump of
//! instruments, that is a conflict, counted, and the dump stands. Two passes over
//! the merged instruments are needed, since whether a row identifies one security
//! is known only when all have been seen: [`Enrichment::observe`] each, then
//! [`Enrichment::settle`], then [`Enrichment::apply`] to each, in the same order.
//! In between the rows wait in memory, packed (`rows.rs`).
//!
//! A row is **ambiguous** when its keys identify rows of several securities, or
//! when another row says otherwise of the same security: nothing tells which is
//! right, so neither joins. How the instruments were merged, and where they are
//! kept between the passes, is not known here.

mod level;
mod rows;

use std::collections::BTreeMap;

use figdex_index::{Figi, IdType, Instrument};

use self::level::{Key, Level, gives, keys, security};
use self::rows::{Full, ROWS_BYTES_MAX, Rows};
use super::rejects::Rejects;
use crate::error::{Error, Result};
use crate::report::conflicts::Conflicts;
use crate::report::{EnrichReport, Tally};
use crate::row::cells::cells;
use crate::row::normalize::{Dropped, describe, set_cell};
use crate::row::reject::Reject;
use crate::row::{Cell, CellKind, Column, Row};

/// An instrument needs a FIGI, also while it is only what a row says of others;
/// this one is never looked at.
const PLACEHOLDER: &str = "FDG000000009";

/// The rows to enrich with, and what is known of each so far.
pub(crate) struct Enrichment {
    /// The account of each input, in the order given.
    inputs: Vec<EnrichReport>,
    rows: Rows<State>,
    filled: BTreeMap<Column, u64>,
    placeholder: Figi,
}

#[derive(Default)]
struct State {
    /// What its ISINs and CUSIPs identify.
    issue: Match,
    /// What its FIGI, or its exchange code and ticker, identify.
    listing: Match,
    outcome: Outcome,
}

/// What keys of a row identify.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Match {
    #[default]
    None,
    /// Rows of one security; the first of them.
    One { security: Figi, figi: Figi },
    /// Rows of several securities; two of them.
    Several([Figi; 2]),
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    /// No instrument has its keys; so it is until one is observed.
    #[default]
    Unmatched,
    Enriches,
    /// Two of the securities.
    SeveralSecurities([Figi; 2]),
    /// A column in which another row says otherwise.
    Contradicted(Column),
}

impl Outcome {
    /// Why the row joined nothing: in general, and with what is particular to it.
    fn reason(self) -> Option<(&'static str, String)> {
        let (reason, particular) = match self {
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
        Some((reason, format!("{reason}{particular}")))
    }
}

impl Match {
    fn add(&mut self, instrument: &Instrument) {
        let found = security(instrument);
        *self = match *self {
            Self::None => Self::One { security: found, figi: instrument.figi },
            Self::One { security, .. } if security != found => Self::Several([security, found]),
            before => before,
        };
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

    /// Begins an input; the rows that follow are its rows.
    pub(crate) fn begin(&mut self, name: String) {
        self.inputs.push(EnrichReport { name, ..EnrichReport::default() });
    }

    /// The account of the input that was begun last.
    ///
    /// # Panics
    /// Before the first [`Enrichment::begin`].
    pub(crate) fn account(&mut self) -> &mut EnrichReport {
        self.inputs.last_mut().expect("an input was begun")
    }

    /// The account of each input, in the order given.
    pub(crate) fn accounts(&self) -> &[EnrichReport] {
        &self.inputs
    }

    /// Takes in a row. It is kept, or the reason is told why it is none; cells
    /// that were not taken are added to `dropped`.
    ///
    /// # Errors
    /// When the rows are more than memory is set aside for.
    pub(crate) fn add(
        &mut self,
        row: &Row,
        dropped: &mut Vec<Dropped>,
    ) -> Result<Result<(), Reject>> {
        const GLOBAL: Column = Column::Identifier(IdType::BbGlobal);
        let named = row.cells().find(|cell| matches!(cell.column, Column::Figi | GLOBAL));
        let figi = named.and_then(|cell| match Figi::parse(cell.value) {
            Ok(figi) => Some(figi),
            Err(_) => {
                dropped.push(Dropped { column: cell.column, reason: "not a FIGI" });
                None
            }
        });
        let said = describe(figi.unwrap_or(self.placeholder), row, dropped);
        let keys: Vec<Key<'_>> = figi.map(Key::Figi).into_iter().chain(keys(&said)).collect();
        if keys.is_empty() {
            return Ok(Err(Reject::NoKey));
        }
        let figi = figi.map(|figi| (Column::Figi, figi.to_string()));
        let cells: Vec<_> = figi.into_iter().chain(cells(&said)).collect();
        let input = self.inputs.len() - 1;
        match self.rows.push(input, row.line, &row.raw, &cells, &keys) {
            Ok(()) => Ok(Ok(())),
            Err(Full) => {
                let what = format!(
                    "the rows to enrich with take more than {} MiB, which is the most; give \
                     fewer of them, or fewer columns",
                    ROWS_BYTES_MAX >> 20
                );
                Err(Error::input(&self.account().name, Some(row.line), what))
            }
        }
    }

    /// Whether there is nothing to enrich with, and the passes can be spared.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// First pass: notes which rows this instrument is identified by.
    pub(crate) fn observe(&mut self, instrument: &Instrument) {
        for (row, level) in self.rows.find(instrument) {
            let state = self.rows.state_mut(row);
            match level {
                Level::Issue => state.issue.add(instrument),
                Level::Listing => state.listing.add(instrument),
            }
        }
    }

    /// Between the passes: decides what becomes of each row.
    pub(crate) fn settle(&mut self) {
        let mut securities = Vec::new();
        let mut listings = Vec::new();
        for row in 0..self.rows.len() {
            let State { issue, listing, outcome } = self.rows.state_mut(row);
            *outcome = match (*issue, *listing) {
                (Match::None, Match::None) => Outcome::Unmatched,
                (Match::Several(some), _) | (_, Match::Several(some)) => {
                    Outcome::SeveralSecurities(some)
                }
                (Match::One { security: a, .. }, Match::One { security: b, .. }) if a != b => {
                    Outcome::SeveralSecurities([a, b])
                }
                (Match::One { security, .. }, _) | (_, Match::One { security, .. }) => {
                    securities.push((security, row));
                    if let Match::One { figi, .. } = *listing {
                        listings.push((figi, row));
                    }
                    Outcome::Enriches
                }
            };
        }
        let of_issue = |column| gives(Level::Issue, column);
        let contradicted = [
            self.contradicted(securities, of_issue),
            self.contradicted(listings, |c| !of_issue(c)),
        ];
        for (row, column) in contradicted.into_iter().flatten() {
            self.rows.state_mut(row).outcome = Outcome::Contradicted(column);
        }
        for row in 0..self.rows.len() {
            let (input, ..) = self.rows.origin(row);
            let counts = &mut self.inputs[input].counts;
            match self.rows.state(row).outcome {
                Outcome::Unmatched => counts.unmatched += 1,
                Outcome::Enriches => counts.enriched += 1,
                Outcome::SeveralSecurities(_) | Outcome::Contradicted(_) => counts.ambiguous += 1,
            }
        }
    }

    /// Of rows that are of the same, those that give one of `columns` different
    /// values, and the column.
    fn contradicted(
        &self,
        mut rows: Vec<(Figi, usize)>,
        columns: impl Fn(Column) -> bool,
    ) -> Vec<(usize, Column)> {
        rows.sort_unstable();
        let mut found = Vec::new();
        for same in rows.chunk_by(|(a, _), (b, _)| a == b).filter(|same| same.len() > 1) {
            let mut said: BTreeMap<Column, Vec<(Vec<&str>, usize)>> = BTreeMap::new();
            for &(_, row) in same {
                for (column, values) in self.rows.columns(row) {
                    if columns(column) {
                        said.entry(column).or_default().push((values, row));
                    }
                }
            }
            for (column, said) in said {
                if said.iter().any(|(values, _)| *values != said[0].0) {
                    found.extend(said.iter().map(|&(_, row)| (row, column)));
                }
            }
        }
        found
    }

    /// Second pass: fills what is blank in the instrument and what a row gives.
    pub(crate) fn apply(&mut self, instrument: &mut Instrument, conflicts: &mut Conflicts) {
        if self.is_empty() {
            return;
        }
        let mut found = self.rows.find(instrument);
        if found.is_empty() {
            return;
        }
        // A row that is found in both ways is found as a listing.
        found.sort_unstable();
        let mut own = cells(instrument);
        for (place, &(row, level)) in found.iter().enumerate() {
            let again = found.get(place + 1).is_some_and(|&(next, _)| next == row);
            if again || self.rows.state(row).outcome != Outcome::Enriches {
                continue;
            }
            for (column, values) in self.rows.columns(row) {
                if column == Column::Figi || !gives(level, column) {
                    continue;
                }
                let mine = || own.iter().filter(|(other, _)| *other == column);
                if mine().next().is_none() {
                    for value in &values {
                        let cell = Cell { column, value, kind: CellKind::Text };
                        set_cell(instrument, &cell).expect("the cell was taken before");
                        own.push((column, (*value).to_owned()));
                    }
                    *self.filled.entry(column).or_default() += 1;
                } else if values.iter().any(|value| mine().all(|(_, own)| own != value)) {
                    let stands: Vec<&str> = mine().map(|(_, own)| own.as_str()).collect();
                    let (input, ..) = self.rows.origin(row);
                    let name = Some(self.inputs[input].name.as_str());
                    let lost = values.join(";");
                    conflicts.add(
                        column,
                        instrument.figi,
                        (&stands.join(";"), None),
                        (&lost, name),
                    );
                }
            }
        }
    }

    /// Tells of the rows that joined nothing, and keeps them.
    pub(crate) fn keep_not_joined(
        &self,
        rejects: &mut Rejects,
        tallies: &mut BTreeMap<&'static str, Tally>,
    ) -> Result<()> {
        for row in 0..self.rows.len() {
            if let Some((reason, whole)) = self.rows.state(row).outcome.reason() {
                let (input, line, raw) = self.rows.origin(row);
                let name = &self.inputs[input].name;
                rejects.keep_raw(name, line, raw, None, &whole)?;
                tallies.entry(reason).or_default().add(name, line);
            }
        }
        Ok(())
    }

    /// The account of each input, and how many fields of each column were filled.
    pub(crate) fn finish(self) -> (Vec<EnrichReport>, BTreeMap<Column, u64>) {
        (self.inputs, self.filled)
    }
}

#[cfg(test)]
mod tests;
