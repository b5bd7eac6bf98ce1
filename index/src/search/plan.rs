//! How a part answers a search, decided before any row is looked at: what **drives**,
//! what **verifies**, who **counts**. A plan is data: it is carried out by `matches`,
//! and told to who asks ([`Catalogue::explain`]).
//!
//! The rule is never to intersect a short list with a long one.
//! Where there are words, their posting lists drive, and each row that is left is
//! looked up in bitmaps and ordinals. Where there are none, the bitmaps of the demanded values
//! are intersected and intervals compared, a block of rows at a time; a demanded value
//! alone is counted by what its bitmap says of itself.
//!
//! [`Catalogue::explain`]: crate::Catalogue::explain

use std::fmt;

use tantivy::Term;

use super::conditions::Conditions;
use super::row_set::RowSet;
use super::whole_text;
use crate::error::Result;
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::bitmaps::Bitmap;
use crate::printable::escaped;
use crate::query::{Filters, Keywords, OneOf, Search, Word};

/// How one part answers one search.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) driver: Driver,
    /// Rows that carry the whole text as an identifier and pass the filters: they join
    /// the driver's.
    pub(crate) identified: RowSet,
    /// Those of them that carry it as a number.
    pub(crate) by_number: RowSet,
    /// Rows whose ticker or name is the whole text; they need not match.
    pub(crate) exact: RowSet,
    pub(crate) counter: Counter,
}

/// What gives the rows to look at.
#[derive(Debug)]
pub(crate) enum Driver {
    /// Posting lists of words, in one way or another; a row may come in several ways.
    Words(Vec<Way>),
    /// Bitmaps and intervals.
    Filters {
        /// The properties of which values are demanded, and how many rows have one of
        /// these, the fewest first.
        demanded: Vec<(Property, u32)>,
        /// How many rows a bitmap takes away: the unlisted equities.
        excluded: Option<u32>,
        /// All that is asked.
        filters: Box<Filters>,
    },
    /// A demanded value is none that a row has.
    Nothing,
}

/// Words that a row must all hold, and what it must be besides.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) words: Vec<Word>,
    pub(crate) verified: Filters,
    /// There are not more rows than these.
    pub(crate) rows_max: u32,
}

/// Who counts the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// What is known without looking.
    Statistics(u32),
    /// The bits of the blocks.
    Blocks,
    /// Every row is walked to.
    Walk,
}

/// Units of looking up a term in the dictionary of a part.
pub(crate) const TERM_UNITS: u64 = 40;

impl Plan {
    pub(crate) fn new(
        part: &Part,
        search: &Search,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Self> {
        match &search.keywords {
            Some(keywords) => Self::of_keywords(part, keywords, &search.filters, vocabulary, meter),
            None => {
                meter.charge(search.filters.units())?;
                Ok(Self::of_filters(part, &search.filters))
            }
        }
    }

    fn of_keywords(
        part: &Part,
        keywords: &Keywords,
        filters: &Filters,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Self> {
        let whole_text::Identified { by_number, by_symbol } =
            whole_text::identified(part, keywords, meter)?;
        let mut exact = whole_text::exact(part, keywords, vocabulary, meter)?;
        let is_plain = whole_text::is_plain(keywords.text());
        meter.charge(filters.units())?;
        let conditions = Conditions::new(part, filters);
        if is_plain && !by_symbol.is_empty() {
            whole_text::add_all(&mut exact, &by_symbol, None, meter)?;
        }
        let by_number = whole_text::rows_of(part, &by_number, Some(&conditions), meter)?;
        let mut identified = by_number.clone();
        if !by_symbol.is_empty() {
            whole_text::add_all(&mut identified, &by_symbol, Some(&conditions), meter)?;
        }
        let mut ways = Vec::new();
        let mut add = |words: &[Word], verified: Filters| {
            let mut rows_max = if words.is_empty() { 0 } else { part.rows.len() as u32 };
            for word in words {
                // One word that no row has is enough.
                if rows_max > 0 {
                    rows_max = rows_max.min(rows_with(part, word, meter)?);
                }
            }
            if rows_max > 0 {
                ways.push(Way { words: words.to_vec(), verified, rows_max });
            }
            Ok::<_, crate::error::Error>(())
        };
        let words = keywords.words();
        add(words, filters.clone())?;
        // The last of several words may be the row's exchange code instead.
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
        Ok(Self {
            driver: Driver::Words(ways),
            identified,
            by_number,
            exact,
            counter: Counter::Walk,
        })
    }

    fn of_filters(part: &Part, filters: &Filters) -> Self {
        let excluded = part.bitmaps.unlisted_equities().map(Bitmap::rows);
        let excluded = excluded.filter(|_| !filters.include_unlisted_equities);
        let mut demanded = Vec::new();
        for asked in filters.known.iter() {
            // A row has one value of a property, and so is counted once.
            match asked.values().filter_map(|known| part.bitmaps.of(known)).map(Bitmap::rows).sum()
            {
                0 => return Self::of(Driver::Nothing, Counter::Statistics(0)),
                rows => demanded.push((asked.property(), rows)),
            }
        }
        demanded.sort_by_key(|(_, rows)| *rows);
        let counter = match (&demanded[..], excluded) {
            _ if interval_names(filters).next().is_some() => Counter::Blocks,
            ([], None) => Counter::Statistics(part.rows.len() as u32),
            ([], Some(excluded)) => Counter::Statistics(part.rows.len() as u32 - excluded),
            ([(_, rows)], None) => Counter::Statistics(*rows),
            _ => Counter::Blocks,
        };
        Self::of(
            Driver::Filters { demanded, excluded, filters: Box::new(filters.clone()) },
            counter,
        )
    }

    /// The number of rows that a walk over all of them comes to, at the most; those of
    /// blocks are not walked to one by one.
    pub(crate) fn rows_max(&self) -> u64 {
        match &self.driver {
            Driver::Words(ways) => ways.iter().map(|way| u64::from(way.rows_max)).sum(),
            Driver::Filters { .. } | Driver::Nothing => 0,
        }
    }

    /// The units of walking to them all.
    pub(crate) fn walk_units(&self) -> u64 {
        match &self.driver {
            // For each row of the rarest word every other word's list is looked into, and
            // each bitmap.
            Driver::Words(ways) => ways
                .iter()
                .map(|way| {
                    let values = way.verified.known.len() as u64;
                    u64::from(way.rows_max) * (2 * way.terms() + 2 + values)
                })
                .sum(),
            Driver::Filters { .. } | Driver::Nothing => 0,
        }
    }

    fn of(driver: Driver, counter: Counter) -> Self {
        let [identified, by_number, exact] = [0; 3].map(RowSet::new);
        Self { driver, identified, by_number, exact, counter }
    }

    /// The plan as a person reads it.
    pub(crate) fn told<'a>(&'a self, vocabulary: &'a Vocabulary) -> impl fmt::Display + 'a {
        Told { plan: self, vocabulary }
    }
}

impl Way {
    /// The number of terms whose lists are read.
    pub(crate) fn terms(&self) -> u64 {
        self.words.iter().map(Word::terms).sum()
    }
}

/// How many rows hold a word, at the most: its squeezed form, or all its runs.
fn rows_with(part: &Part, word: &Word, meter: &Meter) -> Result<u32> {
    meter.charge(word.terms() * TERM_UNITS)?;
    let postings = part.segment.inverted_index(part.fields.words)?;
    let rows = |text: &str| {
        let term = Term::from_field_text(part.fields.words, text);
        postings.doc_freq(&term).map_err(tantivy::TantivyError::from)
    };
    let mut all_runs = u32::MAX;
    for run in &word.runs {
        all_runs = all_runs.min(rows(run)?);
    }
    let squeezed = if word.runs.len() < 2 { 0 } else { rows(&word.squeezed)? };
    Ok(squeezed.saturating_add(all_runs))
}

struct Told<'a> {
    plan: &'a Plan,
    vocabulary: &'a Vocabulary,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, vocabulary } = self;
        for (what, rows) in [("identifiers", &plan.identified), ("tickers and names", &plan.exact)]
        {
            if !rows.is_empty() {
                writeln!(f, "  {what}: {} rows carry the whole text", rows.len())?;
            }
        }
        match &plan.driver {
            Driver::Nothing => writeln!(f, "  nothing drives: no row has a demanded value")?,
            Driver::Words(ways) => {
                for way in ways {
                    let words: Vec<&str> = way.words.iter().map(|word| &*word.squeezed).collect();
                    let words = words.join(" + ");
                    writeln!(f, "  drives: posting lists of {words} (<= {} rows)", way.rows_max)?;
                    write!(f, "{}", told_verified(&way.verified, vocabulary))?;
                }
                if ways.is_empty() {
                    writeln!(f, "  nothing drives: no row holds the words")?;
                }
            }
            Driver::Filters { demanded, excluded, filters } => {
                write!(f, "  drives: ")?;
                for (place, (property, rows)) in demanded.iter().enumerate() {
                    let and = if place == 0 { "" } else { " + " };
                    let asked = filters.known.of(*property);
                    let asked = asked.expect("the plan is of these filters");
                    write!(f, "{and}{} ({rows} rows)", told_values(asked, vocabulary))?;
                }
                if demanded.is_empty() {
                    write!(f, "all rows")?;
                }
                if let Some(rows) = excluded {
                    write!(f, " - bitmap of unlisted equities ({rows} rows)")?;
                }
                writeln!(f)?;
                for name in interval_names(filters) {
                    writeln!(f, "  compares: ordinals of {name}")?;
                }
            }
        }
        match plan.counter {
            Counter::Statistics(rows) => writeln!(f, "  counts: statistics ({rows} rows)"),
            Counter::Blocks => writeln!(f, "  counts: bits of blocks, once for a generation"),
            Counter::Walk => writeln!(f, "  counts: a walk, once for a generation"),
        }
    }
}

/// What is verified of a row, as a person reads it.
pub(crate) fn told_verified<'a>(
    filters: &'a Filters,
    vocabulary: &'a Vocabulary,
) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        for asked in filters.known.iter() {
            writeln!(f, "    verifies: {}", told_values(asked, vocabulary))?;
        }
        for name in interval_names(filters) {
            writeln!(f, "    verifies: ordinal of {name}")?;
        }
        if !filters.include_unlisted_equities {
            writeln!(f, "    verifies: not an unlisted equity")?;
        }
        Ok(())
    })
}

/// The bitmaps of the values of which a row must have one, as a person reads them.
fn told_values(asked: OneOf<'_>, vocabulary: &Vocabulary) -> impl fmt::Display {
    let values: Vec<&str> = asked.values().map(|known| vocabulary.text(known)).collect();
    let bitmaps = if asked.is_alone() { "bitmap" } else { "bitmaps" };
    format!("{bitmaps} of {} {}", asked.property().name(), escaped(values.join(" | ")))
}

fn interval_names(filters: &Filters) -> impl Iterator<Item = &'static str> {
    let asked = [
        ("strike", filters.strike.is_some()),
        ("contractSize", filters.contract_size.is_some()),
        ("coupon", filters.coupon.is_some()),
        ("expiration", filters.expiration.is_some()),
        ("maturity", filters.maturity.is_some()),
    ];
    asked.into_iter().filter_map(|(name, is_asked)| is_asked.then_some(name))
}
