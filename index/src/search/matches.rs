//! The rows of one part that answer a search, in DocId order: a plan carried out.

use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, Scorer, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use super::conditions::Conditions;
use super::plan::{Counter, Driver, Plan, TERM_UNITS, Way};
use super::row_set::Cursor;
use super::selection::Selection;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::query::Word;

/// The DocIds of the rows that match, ascending, each once; they end early when the meter
/// refuses a charge.
pub(crate) struct Matches<'a> {
    source: Source<'a>,
    counter: Counter,
    /// Rows that carry the whole text as an identifier.
    identified: Cursor<'a>,
    meter: &'a Meter,
}

/// What the driver gives, with all that was left to verify.
enum Source<'a> {
    Words(Vec<Walk<'a>>),
    Selection(Box<Selection<'a>>),
}

/// The rows of one way.
struct Walk<'a> {
    scorer: Box<dyn Scorer>,
    verified: Conditions<'a>,
    meter: &'a Meter,
    /// Units of walking to a row and looking it up.
    row_units: u64,
    /// The current row; [`TERMINATED`] when none is left, or the meter refused a charge.
    doc: u32,
}

impl<'a> Matches<'a> {
    /// Carries the plan out.
    pub(crate) fn new(part: &'a Part, plan: &'a Plan, meter: &'a Meter) -> Result<Self> {
        let source = match &plan.driver {
            Driver::Nothing => Source::Words(Vec::new()),
            Driver::Words(ways) => {
                meter.require(plan.walk_units())?;
                let walks = ways.iter().map(|way| Walk::new(part, way, meter));
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

    /// Leaves out the rows before `doc`. Only before the first row was taken.
    pub(crate) fn seek(&mut self, doc: u32) {
        match &mut self.source {
            Source::Words(walks) => walks.iter_mut().for_each(|walk| walk.seek(doc)),
            Source::Selection(selection) => selection.seek(doc),
        }
        self.identified.seek(doc);
    }

    /// How many rows there are. Only before the first row was taken.
    pub(crate) fn count_all(&mut self) -> u64 {
        match (self.counter, &mut self.source) {
            (Counter::Statistics(rows), _) => u64::from(rows),
            (Counter::Blocks, Source::Selection(selection)) => selection.count_left(),
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
    fn new(part: &'a Part, way: &Way, meter: &'a Meter) -> Result<Self> {
        meter.charge(way.terms() * TERM_UNITS + way.verified.units())?;
        let words = way.words.iter().map(|word| one_word(part, word));
        let query = joined(Occur::Must, words.collect());
        let weight = query.weight(EnableScoring::disabled_from_schema(part.segment.schema()))?;
        let scorer = weight.scorer(&part.segment, 1.0)?;
        let verified = Conditions::new(part, &way.verified);
        let row_units = way.terms() + verified.row_units();
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

    /// Goes on to the first row that passes, from the current one on.
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

/// The rows that hold a word: its squeezed form, or all its runs.
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

/// Clauses joined by one kind of occurrence; a single one stands for itself, and
/// none finds nothing.
fn joined(occur: Occur, mut clauses: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match clauses.len() {
        1 => clauses.remove(0),
        _ => {
            Box::new(BooleanQuery::new(clauses.into_iter().map(|clause| (occur, clause)).collect()))
        }
    }
}
