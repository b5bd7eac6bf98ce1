//! Reading: a question goes in, hits come out, and a hit becomes a row.

pub(crate) mod cache;
pub(crate) mod family;
pub(crate) mod inventory;
pub(crate) mod lookup;
mod verify;

use std::path::Path;
use std::slice;

use self::cache::{Cache, Uses};
use self::lookup::Located;
use crate::error::Result;
use crate::generation::Generation;
use crate::generation::folder::Publication;
use crate::generation::manifest::Manifest;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::Vocabulary;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::rows::Row;
use crate::query::{Filters, Lookup, Place, Search};
use crate::search::best::best;
use crate::search::matches::Matches;
use crate::search::plan::Plan;
use crate::search::{Hit, Page, plan, unless_more};
use crate::suggest::{Suggest, Suggestion, suggest};

/// One generation of an index, ready to answer. Answers of one catalogue agree
/// with each other; after a rebuild another one is opened beside it.
pub struct Catalogue {
    pub(crate) generation: Generation,
    publication: Publication,
    totals: Cache<Search>,
    suggested: Cache<(Suggest, usize)>,
}

/// Bytes of a text whose suggestions are kept. Longer texts are seldom typed twice.
const CACHED_TEXT_BYTES_MAX: usize = 32;

/// Units of turning to another part.
const PART_UNITS: u64 = 10;

impl Catalogue {
    /// Opens what is published in an index folder, and checks every file. That reads
    /// each of them through, so that the first questions find them in memory.
    ///
    /// # Errors
    /// When nothing is published there, or anything of it is not what it must be.
    pub fn open(index: &Path) -> Result<Self> {
        let publication = Publication::of(index)?;
        let generation = Generation::open(&publication.path(index))?;
        let (totals, suggested) = Default::default();
        Ok(Self { generation, publication, totals, suggested })
    }

    /// What it was opened from: another one in its folder means that a new generation
    /// was published since.
    pub fn publication(&self) -> &Publication {
        &self.publication
    }

    /// The values that the enum-like properties may have.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.generation.vocabulary
    }

    /// How often a count was remembered.
    pub fn totals_uses(&self) -> Uses {
        self.totals.uses()
    }

    /// How often suggestions were remembered.
    pub fn suggest_uses(&self) -> Uses {
        self.suggested.uses()
    }

    /// What the generation says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.generation.manifest
    }

    /// Touches what reading the rows of these hits will look at, so that the memory is
    /// asked for many of them at a time. Worth it for several; it
    /// changes no answer.
    pub fn read_ahead(&self, hits: &[Hit]) {
        for (number, part) in (0..).zip(&self.generation.parts) {
            let own = hits.iter().filter(|hit| hit.part == number);
            part.rows.read_ahead(own.map(|hit| hit.doc));
        }
    }

    /// The next rows that answer a search after `after`, in FIGI order; `None` when that
    /// takes more than the meter allows.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn filter(
        &self,
        search: &Search,
        after: Option<Figi>,
        hits_max: usize,
        meter: &Meter,
    ) -> Result<Option<Page<Figi>>> {
        unless_more(self.filter_within(search, after, hits_max, meter))
    }

    fn filter_within(
        &self,
        search: &Search,
        after: Option<Figi>,
        hits_max: usize,
        meter: &Meter,
    ) -> Result<Page<Figi>> {
        let mut hits = Vec::with_capacity(hits_max);
        for (number, part) in (0..).zip(&self.generation.parts) {
            meter.charge(PART_UNITS)?;
            let first = after.map_or(0, |after| part.rows.first_after(after));
            if first == part.rows.len() as u32 {
                continue;
            }
            let plan = self.plan(part, search, meter)?;
            let mut matches = Matches::new(part, &plan, meter)?;
            matches.seek(first);
            for doc in matches {
                if hits.len() == hits_max {
                    let next = hits.last().map(|last| self.figi(*last));
                    return Ok(Page { hits, next });
                }
                hits.push(Hit { part: number, doc });
            }
            meter.check()?;
        }
        Ok(Page { hits, next: None })
    }

    /// How many rows answer a search; `None` when counting takes more than the meter
    /// allows. What was counted once is remembered.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn count(&self, search: &Search, meter: &Meter) -> Result<Option<u64>> {
        self.totals.answer(search.without_words(), || self.count_uncached(search, meter))
    }

    /// The same, whether or not it was counted before: for measurements.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn count_uncached(&self, search: &Search, meter: &Meter) -> Result<Option<u64>> {
        unless_more(self.count_within(search, meter))
    }

    fn count_within(&self, search: &Search, meter: &Meter) -> Result<u64> {
        let mut total = 0;
        for part in &self.generation.parts {
            let plan = self.plan(part, search, meter)?;
            total += Matches::new(part, &plan, meter)?.count_all();
            meter.check()?;
        }
        Ok(total)
    }

    /// The next rows that answer a search after `after`, those first that a person would
    /// want first; `None` when that takes more than the meter allows.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn search(
        &self,
        search: &Search,
        after: Option<Place>,
        hits_max: usize,
        meter: &Meter,
    ) -> Result<Option<Page<Place>>> {
        unless_more(self.search_within(search, after, hits_max, meter))
    }

    fn search_within(
        &self,
        search: &Search,
        after: Option<Place>,
        hits_max: usize,
        meter: &Meter,
    ) -> Result<Page<Place>> {
        // One more than asked for tells whether more follow.
        let mut found = Vec::with_capacity(hits_max + 1);
        for (number, part) in (0..).zip(&self.generation.parts) {
            meter.charge(PART_UNITS)?;
            let plan = self.plan(part, search, meter)?;
            let rows = best(part, &plan, search, after, hits_max + 1, meter)?;
            found.extend(
                rows.into_iter().map(|(sort_key, doc)| (sort_key, Hit { part: number, doc })),
            );
        }
        // Each part's are in order already; of equal standing the earlier FIGI is first.
        found.sort_unstable();
        let more = found.len() > hits_max;
        found.truncate(hits_max);
        let last = found.last().filter(|_| more);
        let next = last.map(|&(sort_key, hit)| Place { sort_key, figi: self.figi(hit) });
        Ok(Page { hits: found.into_iter().map(|(_, hit)| hit).collect(), next })
    }

    /// The securities that a text may mean, one row each, the likeliest first; `None` when
    /// that takes more than the meter allows. Suggestions are kept in a cache.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn suggest(
        &self,
        asked: &Suggest,
        limit: usize,
        meter: &Meter,
    ) -> Result<Option<Vec<Suggestion>>> {
        if asked.keywords.text().len() > CACHED_TEXT_BYTES_MAX {
            return self.suggest_uncached(asked, limit, meter);
        }
        self.suggested
            .answer((asked.without_words(), limit), || self.suggest_uncached(asked, limit, meter))
    }

    /// As [`Catalogue::suggest`], without the cache: for measurements.
    ///
    /// # Errors
    /// As [`Catalogue::suggest`].
    pub fn suggest_uncached(
        &self,
        asked: &Suggest,
        limit: usize,
        meter: &Meter,
    ) -> Result<Option<Vec<Suggestion>>> {
        unless_more(suggest(&self.generation.parts, self.vocabulary(), asked, limit, meter))
    }

    /// How each part answers a search, for people.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn explain(&self, search: &Search) -> Result<String> {
        let mut told = String::new();
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let plan = self.plan(part, search, &Meter::unlimited())?;
            told += &format!(
                "{}: {} rows\n{}",
                entry.folder,
                part.rows.len(),
                plan.told(self.vocabulary())
            );
        }
        Ok(told)
    }

    /// How each part answers a mapping job, for people.
    pub fn explain_lookup(&self, lookup: &Lookup<'_>) -> String {
        let mut told = String::new();
        let meter = Meter::unlimited();
        let located = self.locate(slice::from_ref(lookup), &meter);
        let counts: Vec<usize> = located.iter().flat_map(Located::counts).collect();
        for (rows, (part, entry)) in
            counts.into_iter().zip(self.generation.parts.iter().zip(&self.manifest().parts))
        {
            let driver = match lookup.id_value.id_type() {
                IdType::BbGlobal => "order of FIGIs",
                _ => "identifier directory",
            };
            told += &format!("{}: {} rows\n", entry.folder, part.rows.len());
            told += &format!("  drives: {driver} ({rows} rows)\n");
            let filters = lookup.filters().cloned().unwrap_or_else(Filters::default);
            told += &plan::told_verified(&filters, self.vocabulary()).to_string();
        }
        told
    }

    fn plan(&self, part: &Part, search: &Search, meter: &Meter) -> Result<Plan> {
        Plan::new(part, search, self.vocabulary(), meter)
    }

    /// The FIGI of a hit.
    ///
    /// # Panics
    /// When the hit is of another catalogue.
    pub fn figi(&self, hit: Hit) -> Figi {
        hit.row(&self.generation.parts).figi()
    }

    /// The row of a hit.
    ///
    /// # Panics
    /// When the hit is of another catalogue.
    pub fn row(&self, hit: Hit) -> Row<'_> {
        hit.row(&self.generation.parts)
    }
}
