//! Lookups, many at a time. A lookup mostly waits for memory: the radix table, an entry, a list of
//! rows. So each of these steps is taken for all lookups before the next step, and the reads of
//! different lookups overlap (engine 4). A single lookup takes the same path.

use std::{ptr, slice};

use super::Catalogue;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::meter::{Meter, TakesMore};
use crate::part::Part;
use crate::part::identifiers::{KeyKind, Postings};
use crate::query::{Filters, Lookup};
use crate::search::conditions::Conditions;
use crate::search::{Hit, TooManyHits};

/// The rows that carry the identifiers of some lookups. [`Located::find`] applies the filters of
/// each lookup to its rows.
pub struct Located<'a> {
    lookups: &'a [Lookup<'a>],
    /// The rows that carry each identifier: for each part in turn, in the order of the lookups.
    postings: Vec<Postings<'a>>,
    meter: &'a Meter,
    /// For each part, the conditions of the last lookup.
    conditions: Vec<LastConditions<'a>>,
}

/// The filters of the last lookup in a part, and the conditions that were made from them. The next
/// lookup usually has the same filters, and reuses the conditions.
pub(crate) struct LastConditions<'a> {
    part: &'a Part,
    of: Option<&'a Filters>,
    /// `None` until a lookup with these filters finds rows in the part.
    conditions: Option<Conditions<'a>>,
}

impl<'a> LastConditions<'a> {
    /// Before the first lookup.
    fn new(part: &'a Part) -> Self {
        Self { part, of: None, conditions: None }
    }

    /// The conditions of filters.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows.
    pub(crate) fn of(
        &mut self,
        filters: Option<&'a Filters>,
        meter: &Meter,
    ) -> Result<&Conditions<'a>, TakesMore> {
        // The lookups of a list share their filters.
        let is_shared = self.of.zip(filters).is_some_and(|(last, next)| ptr::eq(last, next));
        if !is_shared && self.of != filters {
            meter.charge(filters.map_or(1, Filters::units))?;
            self.of = filters;
            self.conditions = None;
        }
        Ok(self.conditions.get_or_insert_with(|| match filters {
            Some(filters) => Conditions::new(self.part, filters),
            None => Conditions::new(self.part, &Filters::default()),
        }))
    }
}

impl Catalogue {
    /// Finds the rows that carry the identifiers of these lookups, before filters.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows.
    pub fn locate<'a>(
        &'a self,
        lookups: &'a [Lookup<'a>],
        meter: &'a Meter,
    ) -> Result<Located<'a>, TakesMore> {
        let parts = &self.generation.parts;
        let part_units = LOCATE_UNITS * lookups.len() as u64;
        meter.require(part_units * parts.len() as u64)?;
        let mut postings = Vec::with_capacity(parts.len() * lookups.len());
        for (part, own) in parts.iter().zip(own_figis(lookups, parts)) {
            meter.charge(part_units)?;
            locate(part, lookups, &own, &mut postings);
        }
        let conditions = self.last_conditions();
        Ok(Located { lookups, postings, meter, conditions })
    }

    /// The last conditions of each part, before any lookup.
    pub(crate) fn last_conditions(&self) -> Vec<LastConditions<'_>> {
        self.generation.parts.iter().map(LastConditions::new).collect()
    }

    /// The rows that carry an identifier and pass the filters, in FIGI order.
    ///
    /// # Errors
    /// [`TooManyHits`] when there are more than `hits_max`.
    pub fn lookup(&self, lookup: &Lookup<'_>, hits_max: usize) -> Result<Vec<Hit>, TooManyHits> {
        let mut hits = Vec::new();
        let meter = Meter::unlimited();
        let located = self.locate(slice::from_ref(lookup), &meter);
        let found = located.and_then(|mut located| located.find(0, hits_max, &mut hits));
        found.expect("the meter allows any work")?;
        Ok(hits)
    }
}

impl<'a> Located<'a> {
    /// The number of rows of each part that carry the identifier of the first lookup.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        self.postings.iter().step_by(self.lookups.len()).map(ExactSizeIterator::len)
    }

    /// The rows that carry the identifier of the lookup at `place`, whatever its filters, in FIGI
    /// order.
    pub(crate) fn unfiltered(&self, place: usize) -> impl Iterator<Item = Hit> {
        let postings = self.postings.iter().skip(place).step_by(self.lookups.len());
        (0..).zip(postings).flat_map(|(part, docs)| docs.clone().map(move |doc| Hit { part, doc }))
    }

    /// Appends the rows that match the lookup at `place`, in FIGI order.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows: some rows may have been
    /// appended then. [`TooManyHits`] when more than `hits_max` rows match: then none is appended.
    ///
    /// # Panics
    /// When there is no lookup at `place`.
    pub fn find(
        &mut self,
        place: usize,
        hits_max: usize,
        hits: &mut Vec<Hit>,
    ) -> Result<Result<(), TooManyHits>, TakesMore> {
        let start = hits.len();
        let postings = self.postings.iter().skip(place).step_by(self.lookups.len());
        let filters = self.lookups[place].filters();
        for (number, (last, docs)) in (0..).zip(self.conditions.iter_mut().zip(postings)) {
            if docs.len() == 0 {
                continue;
            }
            let conditions = last.of(filters, self.meter)?;
            let row_units = conditions.row_units();
            self.meter.require(row_units * docs.len() as u64)?;
            for doc in self.meter.each(docs.clone(), row_units) {
                if !conditions.pass(doc) {
                    continue;
                }
                if hits.len() - start == hits_max {
                    hits.truncate(start);
                    return Ok(Err(TooManyHits { hits_max }));
                }
                hits.push(Hit { part: number, doc });
            }
        }
        if let Err(more) = self.meter.check() {
            hits.truncate(start);
            return Err(more);
        }
        Ok(Ok(()))
    }
}

/// The units of work of finding the list of an identifier in a part.
const LOCATE_UNITS: u64 = 12;

/// The FIGIs that the rows of each part may have, each with the place of its lookup. They are found
/// without the directory, since the rows are in FIGI order, and not sought in other parts: each search
/// would wait for memory.
fn own_figis(lookups: &[Lookup<'_>], parts: &[Part]) -> Vec<Vec<(usize, Figi)>> {
    let mut own = vec![Vec::new(); parts.len()];
    for (place, lookup) in lookups.iter().enumerate() {
        if lookup.id_value.id_type() != IdType::BbGlobal {
            continue;
        }
        let Ok(figi) = Figi::parse(lookup.id_value.as_str()) else { continue };
        let part = parts.partition_point(|part| part.rows.last_figi() < Some(figi));
        // A FIGI after the last row of all parts is in none.
        if let Some(own) = own.get_mut(part) {
            own.push((place, figi));
        }
    }
    own
}

/// Appends, for each lookup, the rows of one part that carry its identifier. `own` are the FIGIs that
/// the rows of the part may have.
fn locate<'a>(
    part: &'a Part,
    lookups: &[Lookup<'_>],
    own: &[(usize, Figi)],
    located: &mut Vec<Postings<'a>>,
) {
    let first = located.len();
    let in_directory = lookups.iter().map(|lookup| {
        let value = Some(&lookup.id_value).filter(|value| value.id_type() != IdType::BbGlobal);
        value.map(|value| (KeyKind::Id(value.id_type()), value.as_str()))
    });
    part.identifiers.find_all(in_directory, located);
    for ((place, _), doc) in own.iter().zip(part.rows.find_all(own)) {
        located[first + place] = doc.map_or(Postings::NONE, Postings::one);
    }
}
