//! The securities of an answer of `GET /find` (contract 16.19): the suggestions for its text, and
//! those of the rows that the search finds.

use std::collections::HashSet;

use super::reading::{Matched, QueryWord, RowReading};
use super::{Suggestion, interpretations};
use crate::part::rows::Row;
use crate::query::Keywords;
use crate::search::{Hit, RowSource};

/// The units of work of comparing a row with the words of a question.
pub const MATCHED_UNITS: u64 = 150;

/// A security of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecurity {
    /// The row that represents it, its listings and the reasons for it.
    pub suggestion: Suggestion,
    /// Whether no row of it is known to hold what was typed: it was found by beginnings, joined
    /// words or typos.
    pub is_guess: bool,
}

/// The first row of each security among the rows of a page, except the securities that were
/// suggested.
pub fn other_securities(rows: &impl RowSource, suggested: &[Suggestion], page: &[Hit]) -> Vec<Hit> {
    let suggested = suggested.iter().map(|one| rows.row(one.hit).security());
    let mut seen: HashSet<_> = suggested.collect();
    page.iter().copied().filter(|hit| seen.insert(rows.row(*hit).security())).collect()
}

/// The securities in the order of the answer: the first suggestion, then those that hold what was
/// typed, then guesses. `others` are the securities of [`other_securities`].
pub fn securities(
    rows: &impl RowSource,
    suggested: &[Suggestion],
    others: &[Suggestion],
    page: &[Hit],
) -> Vec<FoundSecurity> {
    let on_page: HashSet<_> = page.iter().map(|hit| rows.row(*hit).security()).collect();
    let suggested = suggested.iter().map(|suggestion| FoundSecurity {
        is_guess: !suggestion.matched.exact
            && !on_page.contains(&rows.row(suggestion.hit).security()),
        suggestion: suggestion.clone(),
    });
    let others = others.iter().cloned();
    let others = others.map(|suggestion| FoundSecurity { suggestion, is_guess: false });
    // The best listing of a row without a share class may be of a security that is there already.
    let mut seen = HashSet::new();
    let is_new =
        |security: &FoundSecurity| seen.insert(rows.row(security.suggestion.hit).security());
    let mut all: Vec<_> = suggested.chain(others).filter(is_new).collect();
    if let [_, after_first @ ..] = &mut all[..] {
        // The sort is stable.
        after_first.sort_by_key(|security| security.is_guess);
    }
    all
}

/// The reasons for a row that a search of these words finds.
pub fn matched(row: Row<'_>, keywords: &Keywords) -> Matched {
    let mut words: Vec<QueryWord> = interpretations::as_typed(keywords);
    for word in &mut words {
        word.is_unfinished = false;
        word.is_held = true;
    }
    let fit = RowReading::of(row, Vec::new()).fit(&words);
    Matched { exact: true, ..fit.unwrap_or_default().matched }
}
