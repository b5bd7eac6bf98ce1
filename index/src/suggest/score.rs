//! The points of the rows that a text may mean, and the choice of a row for each security.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::reading::{self, Fit, Matched, QueryWord, RowReading, cost};
use super::spelled::Spelled;
use crate::instrument::kind::Kind;
use crate::part::ranks::rank::Rank;
use crate::part::rows::Row;
use crate::query::Keywords;
use crate::words::names::common_name;
use crate::words::squeeze;

/// The points that a row gains when the whole text is one of its identifying numbers, such as an
/// ISIN. `WHOLE` is for a text that is the ticker, the name or a symbol of the row.
const NUMBER: i32 = 5_000;
const WHOLE: i32 = 100;

/// The points that a row gains when the text is its ticker with an exchange or a market sector, or
/// its ticker in another spelling.
const SPELLED: i32 = 190;

/// In an index with importances, the points that a row without an importance loses. A row with an
/// importance loses these points in proportion to the number of larger importances. In such an
/// index, the cost of the other signals is divided by `IMPORTANCE_SHARE`.
const IMPORTANCE: i32 = 400;
const IMPORTANCE_SHARE: i32 = 2;

/// The way in which the whole text finds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    /// The text is an identifying number of the row.
    Number,
    /// The text is the ticker, the name or a symbol of the row.
    Whole,
    /// The text is the ticker of the row with an addition, or in another spelling.
    Spelled,
}

/// The tickers and the names that the whole text may be.
pub(crate) struct WholeText {
    /// The squeezed tickers.
    tickers: Vec<String>,
    /// The common names.
    names: Vec<String>,
}

impl WholeText {
    pub(crate) fn new(keywords: &Keywords, spelled: &[Spelled]) -> Self {
        let before = keywords.before_last().map(|(before, _)| before);
        let texts = || [Some(keywords.text()), before].into_iter().flatten();
        let spelled = spelled.iter().map(|spelled| &*spelled.ticker);
        Self {
            tickers: texts().chain(spelled).map(squeeze).collect(),
            names: texts().map(common_name).collect(),
        }
    }

    /// The points of a row that the whole text finds. `words` are the typed words.
    pub(crate) fn fit(&self, reading: &RowReading, words: &[QueryWord], found_as: As) -> Fit {
        let is_ticker = self.tickers.iter().any(|text| reading.has_ticker(text));
        let is_name = self.names.iter().any(|said| reading.has_name(said));
        let mut fit = reading.fit(words).unwrap_or_default();
        fit.matched.ticker |= is_ticker;
        fit.matched.name |= is_name;
        fit.matched.identifier |= found_as == As::Number || !is_ticker && !is_name;
        fit.matched.description = false;
        fit.points = fit.points.max(reading::WHOLE_MIN);
        fit.and(match found_as {
            As::Number => NUMBER,
            As::Whole => WHOLE,
            As::Spelled => SPELLED,
        })
    }
}

/// One row of each security, the likeliest first, and at most `limit`. `importances` is the number
/// of different importances. Rows with equal points are sorted by importance, the largest first,
/// and then by their identities `R`.
pub(crate) fn best<'a, R: Copy + Ord>(
    fits: impl Iterator<Item = (R, Rank, Fit)>,
    keywords: &Keywords,
    importances: usize,
    limit: usize,
    row: impl Fn(R) -> Row<'a>,
) -> Vec<(R, Matched)> {
    let said: Vec<_> = match keywords.words() {
        words @ [_, _, ..] => {
            words.iter().filter_map(|word| Kind::named_by(&word.squeezed)).collect()
        }
        _ => Vec::new(),
    };
    let scored = fits.map(|(name, rank, fit)| {
        let of_kind = if said.contains(&rank.kind()) { 0 } else { cost(rank.kind()) };
        let points = fit.points - of_kind - cost_of(rank, importances);
        ((-points, Reverse(rank.ordinal()), name), fit.matched)
    });
    let mut all: Vec<_> = scored.collect();
    all.sort_unstable_by_key(|(order, _)| *order);
    let mut seen = BTreeSet::new();
    let mut best = Vec::new();
    for ((.., name), matched) in all {
        if best.len() == limit {
            break;
        }
        if seen.insert(row(name).security()) {
            best.push((name, matched));
        }
    }
    best
}

/// The points that a row loses by its rank, in a catalogue with `importances` different
/// importances.
fn cost_of(rank: Rank, importances: usize) -> i32 {
    if importances == 0 {
        return rank.cost();
    }
    let larger = importances - usize::from(rank.ordinal()).min(importances);
    IMPORTANCE * larger as i32 / importances as i32 + rank.cost() / IMPORTANCE_SHARE
}
