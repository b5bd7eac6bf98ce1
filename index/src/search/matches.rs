//! Fourth step of a search: executes a plan. It yields the matching rows of one part in DocId
//! order, which is FIGI order.

use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, Scorer, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use super::conditions::Conditions;
use super::plan::{Alternative, Counter, Driver, Plan, TERM_UNITS};
use super::row_set::Cursor;
use super::selection::Selection;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::query::Word;

/// An iterator over the DocIds of the matching rows, ascending, each once. It ends early when the
/// meter refuses a charge.
pub(crate) struct Matches<'a> {
    source: Source<'a>,
    counter: Counter,
    /// The matching rows that carry the whole text as an identifier.
    identified: Cursor<'a>,
    meter: &'a Meter,
}

/// The rows of the driver that pass the plan's verification.
enum Source<'a> {
    Words(Vec<Walk<'a>>),
    Selection(Box<Selection<'a>>),
}

/// The rows that match one alternative.
struct Walk<'a> {
    scorer: Box<dyn Scorer>,
    verified: Conditions<'a>,
    meter: &'a Meter,
    /// The units of work of going to a row and verifying it.
    row_units: u64,
    /// The current row; [`TERMINATED`] when none is left, or when the meter refused a charge.
    doc: u32,
}

impl<'a> Matches<'a> {
    /// Opens the sources that the plan names.
    pub(crate) fn new(part: &'a Part, plan: &'a Plan, meter: &'a Meter) -> Result<Self> {
        let source = match &plan.driver {
            Driver::Nothing => Source::Words(Vec::new()),
            Driver::Words(alternatives) => {
                meter.require(plan.walk_units())?;
                let walks =
                    alternatives.iter().map(|alternative| Walk::new(part, alternative, meter));
                Source::Words(walks.collect::<Result<_>>()?)
            }
            Driver::Filters { filters, .. } => {
                meter.charge(filters.units())?;
                let conditions = Conditions::new(part, filters);
                let rows = part.rows.len() as u32;
                Source::Selection(Box::new(Selection::new(rows, conditions, meter)))
            }
        };
        Ok(Self { source, counter: plan.counter, identified: plan.identified.cursor(), meter })
    }

    /// Skips the rows that match only because the whole text is one of their identifiers.
    pub(crate) fn of_words(mut self) -> Self {
        self.identified.seek(TERMINATED);
        self
    }

    /// Skips the rows before `doc`. Must be called before the first row is taken.
    pub(crate) fn seek(&mut self, doc: u32) {
        match &mut self.source {
            Source::Words(walks) => walks.iter_mut().for_each(|walk| walk.seek(doc)),
            Source::Selection(selection) => selection.seek(doc),
        }
        self.identified.seek(doc);
    }

    /// Counts the rows. Must be called before the first row is taken.
    pub(crate) fn count_all(&mut self) -> u64 {
        match (self.counter, &mut self.source) {
            (Counter::Statistics(rows), _) => u64::from(rows),
            (Counter::Blocks, Source::Selection(selection)) => selection.count_all(),
            _ => self.by_ref().map(|_| 1).sum(),
        }
    }
}

impl Iterator for Matches<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let walks = match &mut self.source {
            Source::Selection(selection) => return selection.next(),
            Source::Words(walks) => walks,
        };
        let docs = walks.iter().map(|walk| walk.doc);
        let doc = docs.fold(self.identified.row(), u32::min);
        if doc == TERMINATED {
            return None;
        }
        if self.identified.row() == doc {
            self.meter.charge(1).ok()?;
            self.identified.advance();
        }
        for walk in walks {
            if walk.doc == doc {
                walk.advance();
            }
        }
        Some(doc)
    }
}

impl<'a> Walk<'a> {
    fn new(part: &'a Part, alternative: &Alternative, meter: &'a Meter) -> Result<Self> {
        let scorer = with_words(part, alternative, meter)?;
        meter.charge(alternative.verified.units())?;
        let verified = Conditions::new(part, &alternative.verified);
        let row_units = alternative.terms() + verified.row_units();
        let mut walk = Self { doc: scorer.doc(), scorer, verified, meter, row_units };
        walk.verify();
        Ok(walk)
    }

    fn seek(&mut self, doc: u32) {
        if self.doc < doc {
            self.doc = self.scorer.seek(doc);
            self.verify();
        }
    }

    fn advance(&mut self) {
        self.doc = self.scorer.advance();
        self.verify();
    }

    /// Moves to the first row that passes, which may be the current one.
    fn verify(&mut self) {
        while self.doc != TERMINATED {
            if self.meter.charge(self.row_units).is_err() {
                self.doc = TERMINATED;
                return;
            }
            if self.verified.pass(self.doc) {
                return;
            }
            self.doc = self.scorer.advance();
        }
    }
}

/// The rows that hold all words of an alternative, before any verification.
pub(crate) fn with_words(
    part: &Part,
    alternative: &Alternative,
    meter: &Meter,
) -> Result<Box<dyn Scorer>> {
    meter.charge(alternative.terms() * TERM_UNITS)?;
    let words = alternative.words.iter().map(|word| one_word(part, word));
    let query = joined(Occur::Must, words.collect());
    let weight = query.weight(EnableScoring::disabled_from_schema(part.segment.schema()))?;
    Ok(weight.scorer(&part.segment, 1.0)?)
}

/// A query for the rows that hold a word: its squeezed form, or all its runs.
fn one_word(part: &Part, word: &Word) -> Box<dyn Query> {
    let term = |text: &str| -> Box<dyn Query> {
        let term = Term::from_field_text(part.fields.words, text);
        Box::new(TermQuery::new(term, IndexRecordOption::Basic))
    };
    let runs = joined(Occur::Must, word.runs.iter().map(|run| term(run)).collect());
    if word.runs.len() < 2 {
        return runs;
    }
    joined(Occur::Should, vec![term(&word.squeezed), runs])
}

/// Joins clauses by one kind of occurrence. A single clause is returned unchanged. Without clauses,
/// the query finds nothing.
fn joined(occur: Occur, mut clauses: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match clauses.len() {
        1 => clauses.remove(0),
        _ => {
            Box::new(BooleanQuery::new(clauses.into_iter().map(|clause| (occur, clause)).collect()))
        }
    }
}
