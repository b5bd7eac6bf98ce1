//! The rows of one part that answer a search, in DocId order: a plan carried out.

use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, Scorer, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use crate::conditions::Conditions;
use crate::error::Result;
use crate::part::Part;
use crate::plan::{Counter, Driver, Plan, Way};
use crate::query::Word;
use crate::selection::Selection;

/// The DocIds of the rows that match, ascending, each once.
pub(crate) struct Matches<'a> {
    source: Source<'a>,
    counter: Counter,
    /// Rows that carry the whole text as an identifier, ascending, and how many of
    /// them were handed out.
    identified: Vec<u32>,
    identified_done: usize,
}

/// What the driver gives, with all that was left to verify.
enum Source<'a> {
    Words(Vec<Walk<'a>>),
    Selection(Selection<'a>),
}

/// The rows of one way.
struct Walk<'a> {
    scorer: Box<dyn Scorer>,
    verified: Conditions<'a>,
}

impl<'a> Matches<'a> {
    /// Carries the plan out, and looks into so many blocks of rows at the most.
    pub(crate) fn new(part: &'a Part, plan: Plan, blocks_max: u32) -> Result<Self> {
        let Plan { driver, identified, counter, .. } = plan;
        let source = match driver {
            Driver::Nothing => Source::Words(Vec::new()),
            Driver::Words(ways) => {
                let walks = ways.into_iter().map(|way| Walk::new(part, way));
                Source::Words(walks.collect::<Result<_>>()?)
            }
            Driver::Filters { filters, .. } => {
                let conditions = Conditions::new(part, &filters);
                Source::Selection(Selection::new(part.rows.len() as u32, conditions, blocks_max))
            }
        };
        Ok(Self { source, counter, identified, identified_done: 0 })
    }

    /// Leaves out the rows before `doc`. Only before the first row was taken.
    pub(crate) fn seek(&mut self, doc: u32) {
        match &mut self.source {
            Source::Words(walks) => walks.iter_mut().for_each(|walk| walk.seek(doc)),
            Source::Selection(selection) => selection.seek(doc),
        }
        self.identified_done = self.identified.partition_point(|&identified| identified < doc);
    }

    /// How many rows there are. Only before the first row was taken.
    pub(crate) fn count_all(&mut self) -> u64 {
        match (self.counter, &mut self.source) {
            (Counter::Statistics(rows), _) => u64::from(rows),
            (Counter::Blocks, Source::Selection(selection)) => selection.count_left(),
            _ => self.by_ref().map(|_| 1).sum(),
        }
    }

    /// Whether a row is among them. Only for one after the other, ascending, and before
    /// the first was taken.
    pub(crate) fn hold(&mut self, doc: u32) -> bool {
        self.seek(doc);
        let is_identified = self.identified.get(self.identified_done) == Some(&doc);
        let walks = match &self.source {
            Source::Words(walks) => &walks[..],
            Source::Selection(_) => &[],
        };
        is_identified || walks.iter().any(|walk| walk.scorer.doc() == doc)
    }

    /// How many more blocks may be looked into; `None` when it ended for want of them,
    /// and rows may be missing.
    pub(crate) fn blocks_left(&self) -> Option<u32> {
        match &self.source {
            Source::Words(_) => Some(u32::MAX),
            Source::Selection(selection) => selection.blocks_left(),
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
        let identified = self.identified.get(self.identified_done).copied();
        let docs = walks.iter().map(|walk| walk.scorer.doc());
        let doc = docs.chain(identified).min().filter(|doc| *doc != TERMINATED)?;
        for walk in walks {
            if walk.scorer.doc() == doc {
                walk.advance();
            }
        }
        self.identified_done += usize::from(identified == Some(doc));
        Some(doc)
    }
}

impl<'a> Walk<'a> {
    fn new(part: &'a Part, way: Way) -> Result<Self> {
        let words = way.words.iter().map(|word| one_word(part, word));
        let query = joined(Occur::Must, words.collect());
        let weight = query.weight(EnableScoring::disabled_from_schema(part.segment.schema()))?;
        let scorer = weight.scorer(&part.segment, 1.0)?;
        let mut walk = Self { scorer, verified: Conditions::new(part, &way.verified) };
        walk.verify();
        Ok(walk)
    }

    fn seek(&mut self, doc: u32) {
        if self.scorer.doc() < doc {
            self.scorer.seek(doc);
            self.verify();
        }
    }

    fn advance(&mut self) {
        self.scorer.advance();
        self.verify();
    }

    /// Goes on to the first row that passes, from the one at hand on.
    fn verify(&mut self) {
        let mut doc = self.scorer.doc();
        while doc != TERMINATED && !self.verified.pass(doc) {
            doc = self.scorer.advance();
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
