//! The rows of one part that answer a search, in DocId order.
//!
//! One plan serves every search. Something selective **drives**: the posting lists
//! of the key words, or else the rarest of the demanded values, or else all rows.
//! The columns **verify** what the driver did not settle (engine, decision 3). Rows
//! that the whole text identifies are few and join from the identifier directory.

use tantivy::query::{AllQuery, BooleanQuery, EnableScoring, Occur, Query, Scorer, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, TERMINATED, Term};

use crate::error::Result;
use crate::part::Part;
use crate::query::{Filters, Keywords, Search, Word};
use crate::typed;
use crate::vocabulary::{Known, Vocabulary};

/// The DocIds of the rows that match, ascending, each once.
pub(crate) struct Matches<'a> {
    part: &'a Part,
    driver: Box<dyn Scorer>,
    /// What is left to verify of the driver's rows.
    filters: Filters,
    /// Rows that carry the whole text as an identifier and pass the filters,
    /// ascending, and how many of them were handed out.
    identified: Vec<u32>,
    identified_done: usize,
    /// Rows whose ticker is the whole text, ascending; they need not match.
    tickers: Vec<u32>,
}

/// How a row came to match; the earlier, the more surely it is what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// The whole text is one of its identifiers.
    Identifier,
    /// The whole text is its ticker.
    Ticker,
    /// It holds the words, or there are none.
    Words,
}

impl<'a> Matches<'a> {
    pub(crate) fn new(part: &'a Part, search: &Search, vocabulary: &Vocabulary) -> Result<Self> {
        let mut filters = search.filters.clone();
        let (mut identified, mut tickers) = (Vec::new(), Vec::new());
        let driver = match &search.keywords {
            Some(keywords) => {
                identified = typed::identified(part, keywords);
                identified.retain(|&doc| part.columns.pass(&filters, doc));
                tickers = typed::tickers(part, keywords, vocabulary);
                all_words(part, keywords, vocabulary)
            }
            None => match rarest(part, &filters, vocabulary)? {
                Some(known) => {
                    filters.known.release(known.property());
                    one_term(value_term(part, known, vocabulary))
                }
                None => Box::new(AllQuery),
            },
        };
        let weight = driver.weight(EnableScoring::disabled_from_schema(part.segment.schema()))?;
        let driver = weight.scorer(&part.segment, 1.0)?;
        Ok(Self { part, driver, filters, identified, identified_done: 0, tickers })
    }

    /// Leaves out the rows before `doc`.
    pub(crate) fn seek(&mut self, doc: u32) {
        if self.driver.doc() < doc {
            self.driver.seek(doc);
        }
        self.identified_done = self.identified.partition_point(|&identified| identified < doc);
    }

    /// How many rows are left.
    pub(crate) fn count(mut self) -> u64 {
        if self.identified.is_empty() && self.part.columns.pass_all(&self.filters) {
            return u64::from(self.driver.count_including_deleted());
        }
        self.by_ref().map(|_| 1).sum()
    }

    /// How a row that was handed out came to match.
    pub(crate) fn tier(&self, doc: u32) -> Tier {
        if self.identified.binary_search(&doc).is_ok() {
            Tier::Identifier
        } else if self.tickers.binary_search(&doc).is_ok() {
            Tier::Ticker
        } else {
            Tier::Words
        }
    }
}

impl Iterator for Matches<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut driven = self.driver.doc();
        while driven != TERMINATED && !self.part.columns.pass(&self.filters, driven) {
            driven = self.driver.advance();
        }
        if let Some(&identified) = self.identified.get(self.identified_done)
            && identified <= driven
        {
            self.identified_done += 1;
            if identified == driven {
                self.driver.advance();
            }
            return Some(identified);
        }
        if driven == TERMINATED {
            return None;
        }
        self.driver.advance();
        Some(driven)
    }
}

/// The rows that hold every word, where the last of several words may be the
/// row's exchange code instead (decisions, "A query").
fn all_words(part: &Part, keywords: &Keywords, vocabulary: &Vocabulary) -> Box<dyn Query> {
    let words = keywords.words();
    let mut clauses: Vec<_> = words.iter().map(|word| one_word(part, word)).collect();
    if let [_, .., last] = words {
        let meant = last.exch_codes(vocabulary);
        let meant = meant.map(|known| one_term(value_term(part, known, vocabulary)));
        let held = clauses.pop();
        clauses.push(joined(Occur::Should, held.into_iter().chain(meant).collect()));
    }
    joined(Occur::Must, clauses)
}

/// The rows that hold a word: its squeezed form, or all its runs.
fn one_word(part: &Part, word: &Word) -> Box<dyn Query> {
    let term = |text: &str| one_term(word_term(part.fields.words, text));
    let runs = joined(Occur::Must, word.runs.iter().map(|run| term(run)).collect());
    if word.runs.len() < 2 {
        return runs;
    }
    joined(Occur::Should, vec![term(&word.squeezed), runs])
}

/// Of the demanded values the one that the fewest rows have.
fn rarest(part: &Part, filters: &Filters, vocabulary: &Vocabulary) -> Result<Option<Known>> {
    let mut rarest = None;
    for known in filters.known.iter() {
        let term = value_term(part, known, vocabulary);
        let postings = part.segment.inverted_index(term.field())?;
        let count = postings.doc_freq(&term).map_err(tantivy::TantivyError::from)?;
        if rarest.is_none_or(|(least, _)| count < least) {
            rarest = Some((count, known));
        }
    }
    Ok(rarest.map(|(_, known)| known))
}

fn value_term(part: &Part, known: Known, vocabulary: &Vocabulary) -> Term {
    let field = part.fields.properties[known.property() as usize];
    Term::from_field_text(field, vocabulary.text(known))
}

fn word_term(field: Field, text: &str) -> Term {
    Term::from_field_text(field, text)
}

fn one_term(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
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
