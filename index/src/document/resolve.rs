//! Resolves the identifiers of a list with documents. It works as `Catalogue::resolve`, but the
//! caller fetches the rows that the lookups find.

use std::borrow::Borrow;
use std::cell::OnceCell;

use super::key;
use super::stored::{Fetched, Stored};
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::meter::{Meter, TakesMore};
use crate::part::identifiers::KeyKind;
use crate::query::Lookup;
use crate::resolve::policy::{Candidate, Policy};
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, ResolveBounds};
use crate::resolve::resolver::{Corrections, Readings, Resolver};
use crate::search::{Hit, TooManyHits};

/// The identifiers of a list, before their lookups are carried out.
pub struct ReadingLookups<'a, 'q> {
    questions: Vec<&'a Question<'q>>,
    policy: &'a Policy,
    bounds: ResolveBounds,
}

/// The identifiers of a list after they were decided. For those that were not found, the
/// corrections must still be looked up.
pub struct CorrectionLookups {
    lookups: Vec<Lookup<'static>>,
    corrections: Corrections,
}

/// Units of work: for each identifier, in addition to its decision, and for each row that it found.
/// A row is decoded when a step asks for its values.
const DECIDE_UNITS: u64 = 20;
const DECODE_UNITS: u64 = 100;

impl<'a, 'q> ReadingLookups<'a, 'q> {
    /// The lookups for these questions.
    pub fn new(
        questions: &'a [impl Borrow<Question<'q>>],
        policy: &'a Policy,
        bounds: ResolveBounds,
    ) -> Self {
        Self { questions: questions.iter().map(Borrow::borrow).collect(), policy, bounds }
    }

    /// The lookups, in their order.
    pub fn lookups(&self) -> impl Iterator<Item = &'a Lookup<'q>> {
        self.questions.iter().flat_map(|question| &question.lookups)
    }

    /// The most rows that must be fetched for a lookup. If a lookup finds more rows than this, none
    /// of them is needed.
    pub fn fetched_max(&self) -> usize {
        self.bounds.identifier_rows_max.min(self.bounds.rows_max)
    }

    /// The most rows that must be fetched for all lookups together.
    pub fn fetched_max_in_all(&self) -> usize {
        self.bounds.rows_max
    }

    /// Decides the questions. `found` has the rows that each lookup found, in any order, and their
    /// number; rows beyond [`ReadingLookups::fetched_max`] are only counted. A lookup for which
    /// `found` has no item found none.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows.
    ///
    /// # Panics
    /// When `rows` has no row of a hit.
    pub fn decide(
        self,
        found: impl IntoIterator<Item = (Vec<Hit>, usize)>,
        rows: &Fetched,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<CorrectionLookups, TakesMore> {
        let mut resolver = Resolver::new(self.policy, self.bounds);
        let mut found = found.into_iter();
        let row_units = if self.policy.is_empty() { 0 } else { DECODE_UNITS };
        for question in self.questions {
            let row_of = |hit| FetchedRow::of(rows, hit, vocabulary);
            let of_lookups: Vec<(Vec<FetchedRow<'_>>, usize)> = question
                .lookups
                .iter()
                .map(|_| found.next().unwrap_or_default())
                .map(|(hits, count)| (hits.into_iter().map(row_of).collect(), count))
                .collect();
            let fetched: usize = of_lookups.iter().map(|(rows, _)| rows.len()).sum();
            meter.charge(DECIDE_UNITS + row_units * fetched as u64)?;
            let mut readings = Readings::of(question);
            for (lookup, (rows, count)) in question.lookups.iter().zip(&of_lookups) {
                let hits_max = resolver.rows_max();
                let rows = match rows.len().max(*count) > hits_max {
                    true => Err(TooManyHits { hits_max }),
                    false => Ok(rows.iter().collect()),
                };
                resolver.add(&mut readings, lookup, rows);
            }
            resolver.decide(question, readings, meter)?;
        }
        let (lookups, corrections) = resolver.corrections(meter)?;
        Ok(CorrectionLookups { lookups, corrections })
    }
}

impl CorrectionLookups {
    /// The lookups, in their order.
    pub fn lookups(&self) -> &[Lookup<'static>] {
        &self.lookups
    }

    /// The names that may be those of other securities too. Each is given with the key of the
    /// documents that have it, and the security whose documents do not count: those whose own FIGI,
    /// composite FIGI or share class FIGI it is.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (String, Figi)> {
        self.corrections.names().map(|name| (key(KeyKind::Name, &name.name), name.security))
    }

    /// The results, in the order of the questions. `found` says for each lookup whether any row has
    /// its identifier and passes its filters. A lookup for which `found` has no item found none.
    /// `elsewhere` says for each of the [`names`](Self::names) whether another security has it.
    pub fn finish(
        mut self,
        found: impl IntoIterator<Item = bool>,
        elsewhere: impl IntoIterator<Item = bool>,
    ) -> Vec<Resolution> {
        for ((place, lookup), is_found) in self.lookups.iter().enumerate().zip(found) {
            if is_found && self.corrections.wants(place) {
                self.corrections.add(place, lookup);
            }
        }
        self.corrections.take_names(elsewhere);
        self.corrections.finish()
    }
}

/// A fetched row, which answers the questions of the policy.
struct FetchedRow<'a> {
    hit: Hit,
    stored: &'a Stored,
    vocabulary: &'a Vocabulary,
    /// The row's values that the vocabulary knows. They are decoded at the policy's first question.
    known: OnceCell<[Option<Known>; Property::COUNT]>,
}

impl<'a> FetchedRow<'a> {
    fn of(rows: &'a Fetched, hit: Hit, vocabulary: &'a Vocabulary) -> Self {
        Self { hit, stored: rows.stored(hit), vocabulary, known: OnceCell::new() }
    }

    fn decode(&self) -> [Option<Known>; Property::COUNT] {
        let instrument = self.stored.instrument();
        Property::ALL.map(|property| {
            let text = instrument.property(property)?;
            self.vocabulary.admit(property, text)
        })
    }
}

impl Candidate for &FetchedRow<'_> {
    fn hit(self) -> Hit {
        self.hit
    }

    fn is_composite(self) -> bool {
        let row = self.stored.row();
        row.composite_figi() == Some(row.figi())
    }

    fn has(self, known: Known) -> bool {
        self.known.get_or_init(|| self.decode())[known.property() as usize] == Some(known)
    }

    fn is_home(self) -> bool {
        self.stored.standing().is_home
    }

    fn exch_code(self) -> Option<String> {
        self.stored.row().exch_code().map(|code| code.to_string())
    }

    fn figis(self) -> [Option<Figi>; 3] {
        self.stored.row().figis()
    }

    fn name(self) -> Option<String> {
        self.stored.row().name().map(|name| name.to_string())
    }

    fn place(self) -> (u64, Figi) {
        (self.stored.rank().sort_key(0), self.stored.row().figi())
    }
}
