//! Resolves the identifiers of a list: makes the lookups that `resolve/` asks for, and lets
//! `resolve/` decide.

use std::borrow::Borrow;

use super::Catalogue;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Known;
use crate::meter::{Meter, TakesMore};
use crate::part::Part;
use crate::query::Lookup;
use crate::resolve::policy::{Candidate, Policy};
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, ResolveBounds};
use crate::resolve::resolver::{Readings, Resolver};
use crate::search::Hit;

/// A found row, which answers the questions of the policy.
#[derive(Clone, Copy)]
struct Found<'a> {
    part: &'a Part,
    hit: Hit,
}

impl Candidate for Found<'_> {
    fn hit(self) -> Hit {
        self.hit
    }

    fn is_composite(self) -> bool {
        let row = self.part.rows.get(self.hit.doc);
        row.composite_figi() == Some(row.figi())
    }

    fn has(self, known: Known) -> bool {
        self.part.bitmaps.of(known).is_some_and(|rows| rows.contains(self.hit.doc))
    }

    fn security(self) -> Figi {
        self.part.rows.get(self.hit.doc).security()
    }

    fn place(self) -> (u64, Figi) {
        (self.part.ranks.rank(self.hit.doc).sort_key(0), self.part.rows.figi(self.hit.doc))
    }
}

/// The number of identifiers that are looked up together with their corrections: enough that their
/// memory reads overlap (engine 4), and few enough that a long list holds few lookups at a time.
/// One identifier may have up to twelve readings, and each reading up to twelve corrections.
const QUESTIONS_AT_ONCE: usize = 256;

impl Catalogue {
    /// Resolves identifiers, in their order.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows.
    pub fn resolve<'q>(
        &self,
        questions: &[impl Borrow<Question<'q>>],
        policy: &Policy,
        bounds: ResolveBounds,
        meter: &Meter,
    ) -> Result<Vec<Resolution>, TakesMore> {
        let mut resolver = Resolver::new(policy, bounds);
        let mut resolutions = Vec::with_capacity(questions.len());
        for some in questions.chunks(QUESTIONS_AT_ONCE) {
            let some = some.iter().map(Borrow::borrow);
            resolutions.append(&mut self.resolve_some(some, &mut resolver, meter)?);
        }
        Ok(resolutions)
    }

    /// Resolves one batch of the identifiers.
    fn resolve_some<'a, 'q: 'a>(
        &self,
        questions: impl Iterator<Item = &'a Question<'q>> + Clone,
        resolver: &mut Resolver<'a, 'q>,
        meter: &Meter,
    ) -> Result<Vec<Resolution>, TakesMore> {
        let lookups: Vec<Lookup<'_>> =
            questions.clone().flat_map(|question| question.lookups.iter().cloned()).collect();
        let mut located = self.locate(&lookups, meter)?;
        let (mut place, mut hits) = (0, Vec::new());
        for question in questions {
            let mut readings = Readings::of(question);
            for lookup in &question.lookups {
                hits.clear();
                let found = located.find(place, resolver.rows_max(), &mut hits)?;
                resolver.add(&mut readings, lookup, found.map(|()| self.found(&hits)));
                place += 1;
            }
            resolver.decide(question, readings, meter)?;
        }
        let (lookups, mut corrections) = resolver.corrections(meter)?;
        let mut located = self.locate(&lookups, meter)?;
        for (place, lookup) in lookups.iter().enumerate() {
            // Whether there is any row is all that counts, so a maximum of 0 rows is enough.
            if corrections.wants(place) && located.find(place, 0, &mut hits)?.is_err() {
                corrections.add(place, lookup);
            }
        }
        Ok(corrections.finish())
    }

    fn found(&self, hits: &[Hit]) -> Vec<Found<'_>> {
        let parts = &self.generation.parts;
        hits.iter().map(|hit| Found { part: &parts[hit.part as usize], hit: *hit }).collect()
    }
}
