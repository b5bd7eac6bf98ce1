//! The reading side of an index: a [`Catalogue`] holds one generation and answers all questions
//! about it. It joins the answers of the parts, and keeps some of them in caches.

pub(crate) mod cache;
mod crosswalk;
mod diff;
pub(crate) mod facets;
pub(crate) mod family;
pub(crate) mod inventory;
pub(crate) mod lookup;
pub(crate) mod past;

pub(crate) mod reading;
pub(crate) mod resolve;
mod verify;

use std::borrow::Cow;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use self::cache::{Cache, Uses};
use self::facets::FacetQuestion;
use self::lookup::Located;
use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::generation::folder::{Publication, generations};
use crate::generation::manifest::Manifest;
use crate::generation::parquet::ParquetFile;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::rows::Row;
use crate::query::{Filters, Lookup, Place, Search};
use crate::search::best::{SortedRow, best};
use crate::search::best_listing::best_listing;
use crate::search::matches::Matches;
use crate::search::named::named;
use crate::search::plan::Plan;
use crate::search::prepared::{Prepared, exact};
use crate::search::{Hit, Page, RowSource, plan, unless_more};
use crate::suggest::{Begun, Suggest, Suggestion, listings, suggest};

/// One generation of an index, open for questions. It never changes: after a build, another
/// catalogue is opened for the new generation.
pub struct Catalogue {
    pub(crate) generation: Generation,
    publication: Publication,
    totals: Cache<Search>,
    suggested: Cache<(Suggest, usize)>,
    read: Cache<Suggest>,
    facets: Cache<FacetQuestion>,
}

/// The longest text, in bytes, whose suggestions are cached. Longer texts are seldom typed twice.
const CACHED_TEXT_BYTES_MAX: usize = 32;

/// The units of work of switching to another part.
const PART_UNITS: u64 = 10;

impl Catalogue {
    /// Opens the generation that is published in an index folder. Compares its bytes with their
    /// checksums, unless a stamp on this machine shows that they were compared and no file has
    /// changed since (engine 10).
    ///
    /// # Errors
    /// When nothing is published there, or when a file is damaged or of another format.
    pub fn open(index: &Path) -> Result<Self> {
        Self::open_by(index, Generation::open)
    }

    /// Opens a finished generation by its folder before it is published, so that it can be queried
    /// before others see it.
    ///
    /// # Errors
    /// As [`Catalogue::open`].
    pub fn open_unpublished(folder: &Path) -> Result<Self> {
        Ok(Self::of(Generation::open(folder)?))
    }

    /// The catalogue of a generation that is not published.
    pub(crate) fn of(generation: Generation) -> Self {
        let publication = Publication::unpublished(generation.manifest.generation);
        let (totals, suggested, read, facets) = Default::default();
        Self { generation, publication, totals, suggested, read, facets }
    }

    /// As [`Catalogue::open`], but always reads every byte, to find bytes that have decayed on the
    /// disk.
    ///
    /// # Errors
    /// As [`Catalogue::open`].
    pub fn open_checked(index: &Path) -> Result<Self> {
        Self::open_by(index, Generation::open_checked)
    }

    fn open_by(index: &Path, open: impl FnOnce(&Path) -> Result<Generation>) -> Result<Self> {
        let publication = Publication::of(index)?;
        let generation = open(&publication.path(index))?;
        let (totals, suggested, read, facets) = Default::default();
        Ok(Self { generation, publication, totals, suggested, read, facets })
    }

    /// Reads all files, so that questions find them in memory (engine 10). No answer changes.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn warm(&self) -> Result<()> {
        self.generation.read()
    }

    /// Reads all files from the disk and compares them with their checksums, to find bytes that
    /// have decayed since the catalogue was opened. After each piece, `goes_on` gets the number of
    /// bytes of the piece; it may wait, and ends the check by returning `false`. Returns whether
    /// all files were read.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] for the first file that differs, and [`crate::Error::Io`] when a
    /// file cannot be read.
    pub fn recheck(&self, goes_on: impl FnMut(usize) -> bool) -> Result<bool> {
        self.generation.recheck(goes_on)
    }

    /// Opens the last generation before this one that is still in the index folder, and reads all
    /// of its bytes. A server falls back to it when a file of this generation is damaged.
    ///
    /// # Errors
    /// [`crate::Error::NothingBefore`] when there is none, and the errors of
    /// [`Catalogue::open_checked`].
    pub fn open_before(&self, index: &Path) -> Result<Self> {
        let Publication { generation, .. } = self.publication;
        let before = generations(index)?.into_iter().rfind(|number| *number < generation);
        let Some(before) = before else {
            return Err(Error::NothingBefore { index: index.to_owned(), generation });
        };
        let publication = self.publication.with(before);
        let generation = Generation::open_checked(&publication.path(index))?;
        let (totals, suggested, read, facets) = Default::default();
        Ok(Self { generation, publication, totals, suggested, read, facets })
    }

    /// The Parquet file of all instruments, if the build wrote one.
    pub fn parquet(&self) -> Option<&Arc<ParquetFile>> {
        self.generation.parquet.as_ref()
    }

    /// The Parquet file of the generation with that number: of this one, or of another one that is
    /// still in the index folder. `None` when there is no such file.
    ///
    /// # Errors
    /// When the folder cannot be read, or the file differs in size from its manifest.
    pub fn parquet_of(&self, generation: u64) -> Result<Option<Arc<ParquetFile>>> {
        if generation == self.manifest().generation {
            return Ok(self.parquet().cloned());
        }
        let Some(index) = self.generation.path.parent() else { return Ok(None) };
        Ok(ParquetFile::of_number(index, generation)?.map(Arc::new))
    }

    /// The publication that the catalogue was opened from. If the index folder has another one, a
    /// generation was published since then, or this catalogue was opened by
    /// [`Catalogue::open_before`].
    pub fn publication(&self) -> &Publication {
        &self.publication
    }

    /// The values that the enum-like properties may have.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.generation.vocabulary
    }

    /// Hits and misses of the cache of counts.
    pub fn totals_uses(&self) -> Uses {
        self.totals.uses()
    }

    /// Hits and misses of the cache of suggestions.
    pub fn suggest_uses(&self) -> Uses {
        self.suggested.uses()
    }

    /// Hits and misses of the cache of facets.
    pub fn facets_uses(&self) -> Uses {
        self.facets.uses()
    }

    /// The manifest of the generation.
    pub fn manifest(&self) -> &Manifest {
        &self.generation.manifest
    }

    /// The first `hits_max` rows after `after` that match a search, in FIGI order (contract 10.1);
    /// `None` when that takes more work than the meter allows.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
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

    /// The number of rows that match a search; `None` when counting takes more work than the meter
    /// allows. Counts are cached (engine 2).
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn count(&self, search: &Search, meter: &Meter) -> Result<Option<u64>> {
        self.totals.answer(search.without_words(), || self.count_uncached(search, meter))
    }

    /// As [`Catalogue::count`], without the cache: for measurements.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
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

    /// The first `hits_max` rows after `after` that match a search, in the order of contract 10.2:
    /// the rows that people most likely want come first. `None` when that takes more work than the
    /// meter allows.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
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
        let keywords = search.keywords.as_ref();
        let prepared = self.generation.parts.iter().map(|part| {
            meter.charge(PART_UNITS)?;
            let plan = self.plan(part, search, meter)?;
            Prepared::new(part, plan, keywords, self.vocabulary(), meter)
        });
        let mut prepared = prepared.collect::<Result<Vec<_>>>()?;
        let named = named(&mut prepared, search, meter)?;
        // One row more than asked for shows whether another page follows.
        let mut found = Vec::with_capacity(hits_max + 1);
        for (number, prepared) in (0..).zip(prepared) {
            let named = named.filter(|hit| hit.part == number).map(|hit| hit.doc);
            let rows = best(prepared, named, keywords, after, hits_max + 1, meter)?;
            let hit = |SortedRow { sort_key, doc }| (sort_key, Hit { part: number, doc });
            found.extend(rows.into_iter().map(hit));
        }
        // The rows of each part are sorted already. Rows of equal sort key are in FIGI order.
        found.sort_unstable();
        let more = found.len() > hits_max;
        found.truncate(hits_max);
        let last = found.last().filter(|_| more);
        let next = last.map(|&(sort_key, hit)| {
            let ranks = &self.generation.parts[hit.part as usize].ranks;
            ranks.place(sort_key, self.figi(hit))
        });
        Ok(Page { hits: found.into_iter().map(|(_, hit)| hit).collect(), next })
    }

    /// The securities that a text may mean, one row each, the likeliest first (contract 16.1);
    /// `None` when that takes more work than the meter allows. Then `begun` keeps the finished
    /// work: call this method of the same catalogue again, with the same question and `begun`, to
    /// continue. The suggestions for a short text are cached.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn suggest(
        &self,
        question: &Suggest,
        limit: usize,
        begun: &mut Begun,
        meter: &Meter,
    ) -> Result<Option<Vec<Suggestion>>> {
        if question.keywords.text().len() > CACHED_TEXT_BYTES_MAX {
            return self.suggest_uncached(question, limit, begun, meter);
        }
        self.suggested.answer((question.without_words(), limit), || {
            self.suggest_uncached(question, limit, begun, meter)
        })
    }

    /// As [`Catalogue::suggest`], without the cache: for measurements.
    ///
    /// # Errors
    /// As [`Catalogue::suggest`].
    pub fn suggest_uncached(
        &self,
        question: &Suggest,
        limit: usize,
        begun: &mut Begun,
        meter: &Meter,
    ) -> Result<Option<Vec<Suggestion>>> {
        let parts = &self.generation.parts;
        unless_more(suggest(parts, self.vocabulary(), question, limit, begun, meter))
    }

    /// The number of rows of the security of a row.
    pub fn listings(&self, hit: Hit) -> usize {
        let row = self.row(hit);
        listings(&self.generation.parts, row.share_class_figi(), row.composite_figi())
    }

    /// The best listing of the security of a row, if it passes the filters; else the row itself
    /// (contract 16.15).
    ///
    /// # Errors
    /// [`Error::TakesMore`] when that takes more work than the meter allows.
    ///
    /// # Panics
    /// When another catalogue returned the hit.
    pub fn best_listing(&self, hit: Hit, filters: &Filters, meter: &Meter) -> Result<Hit> {
        best_listing(&self.generation.parts, hit, filters, meter)
    }

    /// The plan of each part for a search, as text for people.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn explain(&self, search: &Search) -> Result<String> {
        let mut text = String::new();
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let meter = Meter::unlimited();
            let plan = self.plan(part, search, &meter)?;
            let exact = match &search.keywords {
                Some(keywords) => exact(part, &plan, keywords, self.vocabulary(), &meter)?.len(),
                None => 0,
            };
            let rows = part.rows.len();
            let plan = plan.display(exact, self.vocabulary());
            text += &format!("{}: {rows} rows\n{plan}", entry.folder);
        }
        Ok(text)
    }

    /// Explains to people how each part answers a mapping job.
    pub fn explain_lookup(&self, lookup: &Lookup<'_>) -> String {
        let mut text = String::new();
        let meter = Meter::unlimited();
        let located = self.locate(slice::from_ref(lookup), &meter);
        let counts: Vec<usize> = located.iter().flat_map(Located::counts).collect();
        for (rows, (part, entry)) in
            counts.into_iter().zip(self.generation.parts.iter().zip(&self.manifest().parts))
        {
            let looked_up = match lookup.id_value.id_type() {
                IdType::BbGlobal => "FIGI",
                _ => "identifier",
            };
            text += &format!("{}: {} rows\n", entry.folder, part.rows.len());
            text += &format!("  finds the rows with the {looked_up}: {rows}\n");
            let filters = lookup.filters().cloned().unwrap_or_else(Filters::default);
            text += &plan::display_verified(&filters, self.vocabulary()).to_string();
        }
        text
    }

    fn plan(&self, part: &Part, search: &Search, meter: &Meter) -> Result<Plan> {
        Plan::new(part, search, self.vocabulary(), meter)
    }
}

impl RowSource for Catalogue {
    fn row(&self, hit: Hit) -> Row<'_> {
        hit.row(&self.generation.parts)
    }

    fn mic_code(&self, hit: Hit) -> Option<Cow<'_, str>> {
        let ordinal = self.part(hit).mic_codes.as_ref()?.value(hit.doc)?;
        Some(Cow::Borrowed(self.vocabulary().value(Property::MicCode, ordinal)))
    }

    fn is_best_listing(&self, hit: Hit) -> bool {
        self.part(hit).ranks.standing(hit.doc).is_best
    }

    /// Touches the memory that the rows are read from, so that the processor loads it for many rows
    /// at once. For a single row this saves nothing.
    fn read_ahead(&self, hits: &[Hit]) {
        for (number, part) in (0..).zip(&self.generation.parts) {
            let own = hits.iter().filter(|hit| hit.part == number);
            part.rows.read_ahead(own.map(|hit| hit.doc));
        }
    }
}
