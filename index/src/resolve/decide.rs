//! What became of an identifier, given the rows that its readings found.

use std::collections::BTreeSet;

use super::policy::{Candidate, Policy};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;

/// The way in which one row was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The identifier has no other row.
    Only,
    /// The step of this number left no other.
    Step(usize),
}

/// What the rows of an identifier decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision<C> {
    /// One row is meant. `id_type` names the reading that found it.
    Resolved { id_type: IdType, by: By, row: C },
    /// Several rows may be meant. `matches` counts them; `rows` holds the first in the order of a
    /// search. There are several `id_types` when readings disagree on the security.
    Ambiguous { id_types: Vec<IdType>, matches: usize, rows: Vec<C> },
    /// No reading found a row.
    NotFound,
}

/// Decides by the rows of the readings, the surest reading first. Of an ambiguous identifier at
/// most `rows_max` rows are kept.
///
/// When two readings find different securities, no step can choose between them: a step says which
/// listing is wanted, not what a text means.
pub(crate) fn decide<C: Candidate>(
    mut found: Vec<(IdType, Vec<C>)>,
    policy: &Policy,
    rows_max: usize,
) -> Decision<C> {
    found.retain(|(_, rows)| !rows.is_empty());
    // A FIGI names a row; only when there is no such row, a composite; then a share class.
    let mut has_figi = false;
    found.retain(|(id_type, _)| !is_figi(*id_type) || !std::mem::replace(&mut has_figi, true));
    if found.is_empty() {
        return Decision::NotFound;
    }
    if found.len() > 1 {
        let mut securities = found.iter().map(|(_, rows)| securities(rows));
        let first = securities.next();
        if !securities.all(|others| Some(others) == first) {
            return disagreeing(found, policy, rows_max);
        }
    }
    let id_type = found[0].0;
    let mut rows: Vec<C> = found.into_iter().flat_map(|(_, rows)| rows).collect();
    sort_once(&mut rows);
    if let [row] = rows[..] {
        return Decision::Resolved { id_type, by: By::Only, row };
    }
    match policy.narrow(&mut rows) {
        Some(step) => Decision::Resolved { id_type, by: By::Step(step), row: rows[0] },
        None => {
            let matches = rows.len();
            rows.truncate(rows_max);
            Decision::Ambiguous { id_types: vec![id_type], matches, rows }
        }
    }
}

/// The candidates of readings that find different securities: those of each in turn, so that all
/// readings are named.
fn disagreeing<C: Candidate>(
    found: Vec<(IdType, Vec<C>)>,
    policy: &Policy,
    rows_max: usize,
) -> Decision<C> {
    let mut id_types: Vec<IdType> = Vec::new();
    let mut of_each = Vec::new();
    for (id_type, mut rows) in found {
        if !id_types.contains(&id_type) {
            id_types.push(id_type);
        }
        policy.narrow(&mut rows);
        sort_once(&mut rows);
        of_each.push(rows);
    }
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for place in 0..of_each.iter().map(Vec::len).max().unwrap_or(0) {
        let next = of_each.iter().filter_map(|rows| rows.get(place).copied());
        rows.extend(next.filter(|row| seen.insert(row.place().1)));
    }
    let matches = rows.len();
    rows.truncate(rows_max);
    Decision::Ambiguous { id_types, matches, rows }
}

fn is_figi(id_type: IdType) -> bool {
    use IdType::{BbGlobal, CompositeBbGlobal, ShareClassBbGlobal};
    matches!(id_type, BbGlobal | CompositeBbGlobal | ShareClassBbGlobal)
}

fn securities<C: Candidate>(rows: &[C]) -> BTreeSet<Figi> {
    rows.iter().map(|row| row.security()).collect()
}

/// Sorts as a search does, and keeps each row once.
fn sort_once<C: Candidate>(rows: &mut Vec<C>) {
    rows.sort_by_cached_key(|row| row.place());
    rows.dedup_by_key(|row| row.place().1);
}
