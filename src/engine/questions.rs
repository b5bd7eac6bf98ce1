//! The questions that a request asks as a whole, each with the way to ask either engine.

use std::sync::Arc;

use figdex_index::{
    Begun, Catalogue, Coverage, Date, FacetQuestion, Facets, Family, Fetched, Figi, Hit,
    Instrument, Meter, Page, Place, Search, Suggest, Suggestion, Versions,
};

use super::answer::{Ask, Cluster, FoundHere, FoundThere};
use super::find::{TextReading, narrowed};
use crate::callers::limits::PAGE_ROWS_MAX;

/// A page of the rows that a search or a filter finds (contract 8, 10).
pub(crate) struct PageQuestion {
    pub(crate) search: Search,
    /// Whether the rows come in FIGI order, and are counted; else in the order of a search.
    pub(crate) is_filter: bool,
    /// The place after which the page begins.
    pub(crate) after: Option<Place>,
}

impl Ask for PageQuestion {
    /// The page, and the number of all rows if they are counted.
    type Answer = (Page<Place>, Option<u64>);

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Self::Answer> {
        let Self { search, is_filter, after } = self;
        if !*is_filter {
            let page = index.search(search, *after, PAGE_ROWS_MAX, meter)?;
            return Ok(page.map(|page| (page, None)));
        }
        let Some(total) = index.count(search, meter)? else { return Ok(None) };
        let after = after.map(|place| place.figi);
        let page = index.filter(search, after, PAGE_ROWS_MAX, meter)?;
        Ok(page.map(|page| counted(page, total)))
    }

    async fn there(&mut self, cluster: Cluster<'_>) -> FoundThere<Self::Answer> {
        let (Self { search, is_filter, after }, Cluster { index, id, .. }) = (self, cluster);
        if !*is_filter {
            let (rows, page) = index.search(search, *after, PAGE_ROWS_MAX, id).await?;
            return Ok((rows, (page, None)));
        }
        let after = after.map(|place| place.figi);
        let (rows, page, total) = index.filter(search, after, PAGE_ROWS_MAX, id).await?;
        Ok((rows, counted(page, total)))
    }
}

fn counted(Page { hits, next }: Page<Figi>, total: u64) -> (Page<Place>, Option<u64>) {
    (Page { hits, next: next.map(Place::of_figi) }, Some(total))
}

/// Counts the matching rows by their values (contract 16.11).
impl Ask for FacetQuestion {
    type Answer = Arc<Facets>;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Arc<Facets>> {
        Ok(index.facets(self, meter)?)
    }

    async fn there(&mut self, Cluster { index, id, .. }: Cluster<'_>) -> FoundThere<Arc<Facets>> {
        Ok((Fetched::default(), Arc::new(index.facets(self, id).await?)))
    }
}

/// Guesses the securities that an unfinished text means (contract 16.1).
pub(crate) struct Suggestions {
    pub(crate) suggest: Suggest,
    /// The most suggestions.
    pub(crate) limit: usize,
    /// The reading of the text, as soon as it is known.
    read: Option<TextReading>,
    /// The work that was done at once. If it did not finish, the turn continues it.
    begun: Begun,
}

impl Suggestions {
    pub(crate) fn new(suggest: Suggest, limit: usize) -> Self {
        Self { suggest, limit, read: None, begun: Begun::default() }
    }
}

impl Ask for Suggestions {
    type Answer = (TextReading, Vec<Suggestion>);

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Self::Answer> {
        if self.read.is_none() {
            self.read = index.read_typed(&self.suggest, meter)?;
        }
        let Some(read) = &self.read else { return Ok(None) };
        let narrowed = read.is_some().then(|| narrowed(&self.suggest, read));
        let asked = narrowed.as_ref().unwrap_or(&self.suggest);
        let found = index.suggest(asked, self.limit, &mut self.begun, meter)?;
        Ok(found.map(|found| (read.clone(), found)))
    }

    async fn there(&mut self, Cluster { index, id, .. }: Cluster<'_>) -> FoundThere<Self::Answer> {
        let read = index.read_typed(&self.suggest, id).await?;
        let asked = narrowed(&self.suggest, &read);
        let (rows, found) = index.suggest(&asked, self.limit, id).await?;
        Ok((rows, (read, found)))
    }
}

/// The instrument with a FIGI, or the rows whose share class or composite has it (contract 16.5).
pub(crate) struct OneInstrument(pub(crate) Figi);

impl Ask for OneInstrument {
    /// The family, and the row and instrument whose own FIGI was asked for. Row and instrument are
    /// `None` when the FIGI is only the share class or composite of rows. The whole is `None` when
    /// no row has the FIGI in any of these ways.
    type Answer = Option<(Option<(Hit, Instrument)>, Family)>;

    fn here(&mut self, index: &Catalogue, _: &Meter) -> FoundHere<Self::Answer> {
        Ok(Some(match index.find(self.0) {
            Some(hit) => Some((Some((hit, index.instrument(hit)?)), index.family(hit))),
            None => index.find_kin(self.0).map(|kin| (None, index.family(kin))),
        }))
    }

    async fn there(&mut self, Cluster { index, id, .. }: Cluster<'_>) -> FoundThere<Self::Answer> {
        if let Some(stored) = index.find(self.0, id).await? {
            let (rows, hit, family) = index.family(stored, id).await?;
            let instrument = rows.stored(hit).instrument();
            return Ok((rows, Some((Some((hit, instrument)), family))));
        }
        let Some(kin) = index.find_kin(self.0, id).await? else { return Ok(Default::default()) };
        let (rows, _, family) = index.family(kin, id).await?;
        Ok((rows, Some((None, family))))
    }
}

/// The versions of the instrument with a FIGI (contract 20.12).
pub(crate) struct OneHistory(pub(crate) Figi);

/// The past of one instrument.
pub(crate) enum PastOfOne {
    /// The index keeps no past; one in a cluster never does.
    NoPast,
    /// The past does not know the FIGI.
    Unknown,
    /// The versions, the days that the past covers, and the first day of such rows.
    Known { versions: Box<Versions>, coverage: Coverage, covered_since: Date },
}

impl Ask for OneHistory {
    type Answer = PastOfOne;

    fn here(&mut self, index: &Catalogue, _: &Meter) -> FoundHere<PastOfOne> {
        let Some(coverage) = index.coverage() else { return Ok(Some(PastOfOne::NoPast)) };
        let Some(versions) = index.versions(self.0)? else { return Ok(Some(PastOfOne::Unknown)) };
        let open = versions.open.as_ref().map(|open| &open.image);
        let last = open.or(versions.closed.last().map(|version| &version.image));
        let covered_since = last.and_then(|image| index.covered_since(image));
        let covered_since = covered_since.unwrap_or(coverage.since);
        let versions = Box::new(versions);
        Ok(Some(PastOfOne::Known { versions, coverage, covered_since }))
    }

    async fn there(&mut self, _: Cluster<'_>) -> FoundThere<PastOfOne> {
        Ok((Fetched::default(), PastOfOne::NoPast))
    }
}

/// An instrument that most people know (contract 16.14).
pub(crate) struct Example;

impl Ask for Example {
    type Answer = Option<Instrument>;

    fn here(&mut self, index: &Catalogue, _: &Meter) -> FoundHere<Option<Instrument>> {
        Ok(Some(index.example().map(|hit| index.instrument(hit)).transpose()?))
    }

    async fn there(
        &mut self,
        Cluster { index, id, .. }: Cluster<'_>,
    ) -> FoundThere<Option<Instrument>> {
        let example = index.example(id).await?;
        Ok((Fetched::default(), example.map(|stored| stored.instrument())))
    }
}
