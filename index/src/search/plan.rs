//! First step of a search: plans the answer of one part before any row is read. The plan says which
//! source **drives** (gives the rows to look at), what is **verified** for each row, and how rows
//! are **counted**. A plan is plain data: `matches` executes it, and [`Catalogue::explain`] prints
//! it.
//!
//! A short list is never intersected with a long one (engine 3). In a question with words, the
//! posting lists of the words drive, and each remaining row is looked up in bitmaps and ordinals.
//! In a question without words, the bitmaps of the allowed values are intersected and intervals are
//! compared, for a block of rows at a time. If a question only restricts one property and no
//! unlisted equities must be left out, it is counted without reading a row, since a bitmap knows
//! its number of rows.
//!
//! [`Catalogue::explain`]: crate::Catalogue::explain

use std::fmt;

use figdex_io::escaped;

use super::conditions::Conditions;
use super::row_set::RowSet;
use super::whole_text;
use crate::error::Result;
use crate::instrument::level::{Level, Levels};
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::bitmaps::Bitmap;
use crate::query::{Filters, Keywords, OneOf, Search, Word};

/// The plan of one part for one search.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) driver: Driver,
    /// The rows that carry the whole text as an identifier and pass the filters (contract 9.9).
    /// They match in addition to the rows of the driver.
    pub(crate) identified: RowSet,
    /// The identified rows whose identifier is a number, not a symbol.
    pub(crate) by_number: RowSet,
    pub(crate) counter: Counter,
}

/// The source of the rows to look at.
#[derive(Debug)]
pub(crate) enum Driver {
    /// Posting lists of words. A row must match at least one of the alternatives.
    Words(Vec<Alternative>),
    /// Bitmaps and intervals.
    Filters {
        /// The demands of the filters, each with the number of rows that satisfy it; the fewest
        /// rows come first.
        demanded: Vec<(Demand, u32)>,
        /// The number of rows that the bitmap of unlisted equities removes.
        excluded: Option<u32>,
        /// All filters of the question.
        filters: Box<Filters>,
    },
    /// No source: no row satisfies some demand of the filters.
    Nothing,
}

/// A demand of the filters, when the filters drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// One of the allowed values of a property.
    Value(Property),
    /// One of the allowed levels.
    Level,
}

/// Words that a row must all hold, and filters that it must also pass. A question has one
/// alternative for all of its words, and one for each exchange code that the last word may be.
#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) words: Vec<Word>,
    pub(crate) verified: Filters,
    /// An upper bound of the number of rows.
    pub(crate) rows_max: u32,
}

/// The way in which the rows are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// The number is known before any row is read.
    Statistics(u32),
    /// Rows are counted as bits, block by block.
    Blocks,
    /// Every matching row is read.
    Walk,
}

/// Units of work of looking up a term in the dictionary of a part.
pub(crate) const TERM_UNITS: u64 = 40;

impl Plan {
    pub(crate) fn new(
        part: &Part,
        search: &Search,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Self> {
        match &search.keywords {
            Some(keywords) => {
                Self::for_keywords(part, keywords, &search.filters, vocabulary, meter)
            }
            None => {
                meter.charge(search.filters.units())?;
                Ok(Self::for_filters(part, &search.filters))
            }
        }
    }

    fn for_keywords(
        part: &Part,
        keywords: &Keywords,
        filters: &Filters,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Self> {
        let whole_text::Identified { by_number, by_symbol } =
            whole_text::identified(part, keywords, meter)?;
        meter.charge(filters.units())?;
        let conditions = Conditions::new(part, filters);
        let by_number = whole_text::rows_of(part, &by_number, &conditions, meter)?;
        let mut identified = by_number.clone();
        whole_text::add_all(&mut identified, &by_symbol, &conditions, meter)?;
        let mut alternatives = Vec::new();
        let mut add = |words: &[Word], verified: Filters| {
            let mut rows_max = if words.is_empty() { 0 } else { part.rows.len() as u32 };
            for word in words {
                // If no row has one of the words, the others need not be looked up.
                if rows_max > 0 {
                    rows_max = rows_max.min(rows_with(part, word, meter)?);
                }
            }
            if rows_max > 0 {
                alternatives.push(Alternative { words: words.to_vec(), verified, rows_max });
            }
            Ok::<_, crate::error::Error>(())
        };
        let words = keywords.words();
        add(words, filters.clone())?;
        // The last of several words may be the row's exchange code instead (contract 9.10).
        if let [before @ .., last] = words
            && !before.is_empty()
        {
            meter.charge(whole_text::exch_code_units(vocabulary))?;
            for meant in last.exch_codes(vocabulary) {
                if filters.known.allows(meant) {
                    let mut verified = filters.clone();
                    verified.known.require(meant);
                    add(before, verified)?;
                }
            }
        }
        let driver = Driver::Words(alternatives);
        Ok(Self { driver, identified, by_number, counter: Counter::Walk })
    }

    fn for_filters(part: &Part, filters: &Filters) -> Self {
        let excluded = part.bitmaps.unlisted_equities().map(Bitmap::rows);
        let excluded = excluded.filter(|_| !filters.include_unlisted_equities);
        let mut demanded = Vec::new();
        for one_of in filters.known.iter() {
            // A row has at most one value of a property, so no row is counted twice.
            let bitmaps = one_of.values().filter_map(|known| part.bitmaps.of(known));
            demanded.push((Demand::Value(one_of.property()), bitmaps.map(Bitmap::rows).sum()));
        }
        if !filters.levels.is_empty() {
            let bitmaps = filters.levels.iter().filter_map(|level| part.bitmaps.of_level(level));
            demanded.push((Demand::Level, bitmaps.map(Bitmap::rows).sum()));
        }
        demanded.sort_by_key(|(_, rows)| *rows);
        if let Some((_, 0)) = demanded.first() {
            return Self::without_words(Driver::Nothing, Counter::Statistics(0));
        }
        let counter = match (&demanded[..], excluded) {
            _ if filters.has_intervals() => Counter::Blocks,
            ([], None) => Counter::Statistics(part.rows.len() as u32),
            ([], Some(excluded)) => Counter::Statistics(part.rows.len() as u32 - excluded),
            ([(_, rows)], None) => Counter::Statistics(*rows),
            _ => Counter::Blocks,
        };
        Self::without_words(
            Driver::Filters { demanded, excluded, filters: Box::new(filters.clone()) },
            counter,
        )
    }

    /// An upper bound of the number of rows that posting lists lead to. It is 0 when filters drive,
    /// since they do not lead to single rows.
    pub(crate) fn rows_max(&self) -> u64 {
        match &self.driver {
            Driver::Words(alternatives) => {
                alternatives.iter().map(|alternative| u64::from(alternative.rows_max)).sum()
            }
            Driver::Filters { .. } | Driver::Nothing => 0,
        }
    }

    /// The units of work of visiting all rows that posting lists lead to.
    pub(crate) fn walk_units(&self) -> u64 {
        match &self.driver {
            // Each row of the rarest word is looked up in the lists of all other words and in each
            // bitmap.
            Driver::Words(alternatives) => alternatives
                .iter()
                .map(|alternative| {
                    let verified = &alternative.verified;
                    let values = (verified.known.len() + verified.levels.iter().count()) as u64;
                    u64::from(alternative.rows_max) * (2 * alternative.terms() + 2 + values)
                })
                .sum(),
            Driver::Filters { .. } | Driver::Nothing => 0,
        }
    }

    fn without_words(driver: Driver, counter: Counter) -> Self {
        Self { driver, identified: RowSet::new(0), by_number: RowSet::new(0), counter }
    }

    /// The plan as text for people. `exact` is the number of rows that [`exact`] finds.
    ///
    /// [`exact`]: super::prepared::exact
    pub(crate) fn display<'a>(
        &'a self,
        exact: usize,
        vocabulary: &'a Vocabulary,
    ) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            let whole = [("an identifier", self.identified.len()), ("ticker or name", exact)];
            for (kind, rows) in whole.into_iter().filter(|(_, rows)| *rows > 0) {
                writeln!(f, "  {rows} rows have the whole text as {kind}")?;
            }
            write!(f, "{}", self.driver.display(vocabulary))?;
            match self.counter {
                Counter::Statistics(rows) => writeln!(f, "  knows the total: {rows}"),
                Counter::Blocks => writeln!(f, "  counts bits, once for a generation"),
                Counter::Walk => writeln!(f, "  counts row by row, once for a generation"),
            }
        })
    }
}

impl Driver {
    fn display<'a>(&'a self, vocabulary: &'a Vocabulary) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| match self {
            Self::Nothing => writeln!(f, "  reads nothing: no row has a value that is asked for"),
            Self::Words(alternatives) => {
                for Alternative { words, verified, rows_max } in alternatives {
                    let words: Vec<&str> = words.iter().map(|word| &*word.squeezed).collect();
                    let words = words.join(" + ");
                    writeln!(f, "  reads the rows with the words {words}: at most {rows_max}")?;
                    write!(f, "{}", display_verified(verified, vocabulary))?;
                }
                if alternatives.is_empty() {
                    writeln!(f, "  reads nothing: no row has the words")?;
                }
                Ok(())
            }
            Self::Filters { demanded, excluded, filters } => {
                for (place, (demand, rows)) in demanded.iter().enumerate() {
                    let begin = if place == 0 { "reads the rows with" } else { "and with" };
                    let what = match demand {
                        Demand::Level => display_levels(filters.levels),
                        Demand::Value(property) => {
                            let one_of = filters.known.of(*property);
                            let one_of = one_of.expect("the plan is made of these filters");
                            display_values(one_of, vocabulary)
                        }
                    };
                    writeln!(f, "  {begin} {what}: {rows}")?;
                }
                if demanded.is_empty() {
                    writeln!(f, "  reads all rows")?;
                }
                if let Some(rows) = excluded {
                    writeln!(f, "  without the unlisted equities: {rows}")?;
                }
                for name in filters.intervals() {
                    writeln!(f, "  keeps those within the interval of {name}")?;
                }
                Ok(())
            }
        })
    }
}

impl Alternative {
    /// The number of terms whose posting lists are read.
    pub(crate) fn terms(&self) -> u64 {
        self.words.iter().map(Word::terms).sum()
    }
}

/// An upper bound of the number of rows that hold a word: its squeezed form, or all its runs.
fn rows_with(part: &Part, word: &Word, meter: &Meter) -> Result<u32> {
    meter.charge(word.terms() * TERM_UNITS)?;
    let rows = |text: &str| -> Result<u32> {
        let info = part.words.terms().get(text).map_err(tantivy::TantivyError::from)?;
        Ok(info.map_or(0, |info| info.doc_freq))
    };
    let mut all_runs = u32::MAX;
    for run in &word.runs {
        all_runs = all_runs.min(rows(run)?);
    }
    let squeezed = if word.runs.len() < 2 { 0 } else { rows(&word.squeezed)? };
    Ok(squeezed.saturating_add(all_runs))
}

/// The filters that are verified for a row, as text for people.
pub(crate) fn display_verified<'a>(
    filters: &'a Filters,
    vocabulary: &'a Vocabulary,
) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        for one_of in filters.known.iter() {
            writeln!(f, "    keeps those with {}", display_values(one_of, vocabulary))?;
        }
        if !filters.levels.is_empty() {
            writeln!(f, "    keeps those with {}", display_levels(filters.levels))?;
        }
        for name in filters.intervals() {
            writeln!(f, "    keeps those within the interval of {name}")?;
        }
        if !filters.include_unlisted_equities {
            writeln!(f, "    keeps those that are not unlisted equities")?;
        }
        Ok(())
    })
}

/// The allowed values, as text for people.
fn display_values(one_of: OneOf<'_>, vocabulary: &Vocabulary) -> String {
    let values: Vec<&str> = one_of.values().map(|known| vocabulary.text(known)).collect();
    format!("{} {}", one_of.property().name(), escaped(values.join(" | ")))
}

/// The allowed levels, as text for people.
fn display_levels(levels: Levels) -> String {
    format!("level {}", levels.iter().map(Level::name).collect::<Vec<_>>().join(" | "))
}
