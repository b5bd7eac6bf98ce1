//! Resolves the identifiers of a list: makes the lookups that `resolve/` asks for, and lets
//! `resolve/` decide.

use std::borrow::Borrow;

use super::Catalogue;
use crate::error::Result;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Known;
use crate::meter::{Meter, TakesMore};
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::query::Lookup;
use crate::resolve::name_like::{LOOKUP_UNITS, NamedElsewhere};
use crate::resolve::policy::{Candidate, Policy};
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, ResolveBounds};
use crate::resolve::resolver::{Readings, Resolver};
use crate::search::Hit;
use crate::suggest::Begun;
use crate::suggest::candidates::{NAME_CANDIDATES_MAX, candidates_of};

/// A found row, which answers the questions of the policy.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) part: &'a Part,
    pub(super) hit: Hit,
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

    fn is_home(self) -> bool {
        self.part.ranks.standing(self.hit.doc).is_home
    }

    fn exch_code(self) -> Option<String> {
        self.part.rows.get(self.hit.doc).exch_code().map(|code| code.to_string())
    }

    fn figis(self) -> [Option<Figi>; 3] {
        self.part.rows.get(self.hit.doc).figis()
    }

    fn name(self) -> Option<String> {
        self.part.rows.get(self.hit.doc).name().map(|name| name.to_string())
    }

    fn place(self) -> (u64, Figi) {
        (self.part.ranks.rank(self.hit.doc).sort_key(0), self.part.rows.figi(self.hit.doc))
    }
}

/// The number of identifiers that are looked up together with their corrections: enough that their
/// memory reads overlap (engine 4), and few enough that a long list holds few lookups at a time.
/// One identifier may have up to twelve readings, and each reading up to twelve corrections.
pub(super) const QUESTIONS_AT_ONCE: usize = 256;

/// The units of work of comparing the security of a row.
const NAMED_ROW_UNITS: u64 = 20;

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

    /// Adds candidates to the results of names that were not resolved, up to
    /// [`NAME_CANDIDATES_MAX`] each (contract 17.15). Returns `None` when that takes more work than
    /// the meter allows. `resolutions` are the results of `questions`.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn add_candidates<'q>(
        &self,
        questions: &[impl Borrow<Question<'q>>],
        resolutions: &mut [Resolution],
        meter: &Meter,
    ) -> Result<Option<()>> {
        for (question, resolution) in questions.iter().zip(resolutions) {
            let Some(name) = candidates_of(question.borrow(), resolution) else { continue };
            let mut begun = Begun::default();
            let suggested = self.suggest(&name, NAME_CANDIDATES_MAX, &mut begun, meter)?;
            let Some(suggested) = suggested else { return Ok(None) };
            resolution.candidates = suggested.iter().map(|suggestion| suggestion.hit).collect();
        }
        Ok(Some(()))
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
        let elsewhere: Result<Vec<bool>, TakesMore> =
            corrections.names().map(|name| self.is_named_elsewhere(name, meter)).collect();
        corrections.take_names(elsewhere?);
        Ok(corrections.finish())
    }

    /// Whether a row of another security has this name.
    fn is_named_elsewhere(&self, name: &NamedElsewhere, meter: &Meter) -> Result<bool, TakesMore> {
        for part in &self.generation.parts {
            meter.charge(LOOKUP_UNITS)?;
            let docs = part.identifiers.find(KeyKind::Name, &name.name);
            let mut rows = meter.each(docs, NAMED_ROW_UNITS).map(|doc| part.rows.get(doc));
            let is_other = rows.any(|row| name.is_other(row.figis()));
            if is_other {
                return Ok(true);
            }
        }
        meter.check()?;
        Ok(false)
    }

    pub(super) fn found(&self, hits: &[Hit]) -> Vec<Found<'_>> {
        let parts = &self.generation.parts;
        hits.iter().map(|hit| Found { part: &parts[hit.part as usize], hit: *hit }).collect()
    }
}
