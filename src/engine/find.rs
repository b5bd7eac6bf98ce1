//! The question of `GET /find`: what a person means by a text, and the rows that a search for it
//! finds (contract 16.18 to 16.21).

use std::sync::Arc;

use figdex_index::{
    Begun, Catalogue, Error, Fetched, FoundSecurity, Hit, LISTINGS_UNITS, MATCHED_UNITS, Meter,
    Page, Place, QuestionReading, RowSource, Suggest, Suggestion, matched, other_securities,
    securities,
};

use super::answer::{Ask, Cluster, FoundHere, FoundThere};
use crate::callers::limits::PAGE_ROWS_MAX;

/// The suggestions on a first page. It is the number that `/suggest` gives without `limit`, because
/// the guesses depend on the number that is wanted: so both begin with the same security.
const SUGGESTIONS: usize = 10;

/// The reading of a text. `None` inside: the text is only searched for.
pub(crate) type TextReading = Option<Arc<QuestionReading>>;

/// A page of an answer of `/find`.
pub(crate) struct Find {
    /// The text and the filters of the caller.
    typed: Suggest,
    /// The place after which the page begins.
    after: Option<Place>,
    /// The reading of the text, as soon as it is known.
    read: Option<TextReading>,
    /// The suggestions, as soon as they are known; none on a later page.
    suggested: Option<Vec<Suggestion>>,
    begun: Begun,
}

/// The answer: a page of rows, and the securities.
pub(crate) struct FoundPage {
    pub(crate) read: TextReading,
    pub(crate) securities: Vec<FoundSecurity>,
    pub(crate) page: Page<Place>,
}

impl Find {
    /// The first page.
    pub(crate) fn first(typed: Suggest) -> Self {
        Self { typed, after: None, read: None, suggested: None, begun: Begun::default() }
    }

    /// A later page, by the reading of the pages before it.
    pub(crate) fn later(typed: Suggest, read: TextReading, after: Place) -> Self {
        let (read, suggested) = (Some(read), Some(Vec::new()));
        Self { typed, after: Some(after), read, suggested, begun: Begun::default() }
    }

    /// The text and the filters of the caller.
    pub(crate) fn typed(&self) -> &Suggest {
        &self.typed
    }
}

/// The question that a text asks by its reading.
pub(super) fn narrowed(typed: &Suggest, read: &TextReading) -> Suggest {
    match read {
        Some(reading) => {
            let QuestionReading { keywords, filters, .. } = &**reading;
            Suggest { keywords: keywords.clone(), filters: filters.clone() }
        }
        None => typed.clone(),
    }
}

impl Ask for Find {
    type Answer = FoundPage;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<FoundPage> {
        if self.read.is_none() {
            self.read = index.read_typed(&self.typed, meter)?;
        }
        let Some(read) = &self.read else { return Ok(None) };
        let asked = narrowed(&self.typed, read);
        if self.suggested.is_none() {
            self.suggested = index.suggest(&asked, SUGGESTIONS, &mut self.begun, meter)?;
        }
        let Some(suggested) = &self.suggested else { return Ok(None) };
        let page = index.search(&asked.search(), self.after, PAGE_ROWS_MAX, meter)?;
        let Some(page) = page else { return Ok(None) };
        let others = other_securities(index, suggested, &page.hits);
        let mut found = Vec::with_capacity(others.len());
        for hit in others {
            if meter.charge(LISTINGS_UNITS + MATCHED_UNITS).is_err() {
                return Ok(None);
            }
            let matched = matched(index.row(hit), &asked.keywords);
            let listings = index.listings(hit);
            match index.best_listing(hit, &asked.filters, meter) {
                Ok(hit) => found.push(Suggestion { hit, listings, matched, matched_name: None }),
                Err(Error::TakesMore(_)) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        let securities = securities(index, suggested, &found, &page.hits);
        Ok(Some(FoundPage { read: read.clone(), securities, page }))
    }

    async fn there(&mut self, cluster: Cluster<'_>) -> FoundThere<FoundPage> {
        let Cluster { index, id, .. } = cluster;
        let read = match self.read.take() {
            Some(read) => read,
            None => index.read_typed(&self.typed, id).await?,
        };
        let asked = narrowed(&self.typed, &read);
        let (mut rows, suggested) = match self.suggested.take() {
            Some(suggested) => (Fetched::default(), suggested),
            None => index.suggest(&asked, SUGGESTIONS, id).await?,
        };
        let (fetched, page) = index.search(&asked.search(), self.after, PAGE_ROWS_MAX, id).await?;
        let hits = page.hits.iter().map(|hit| rows.add(fetched.stored(*hit).clone()));
        let page = Page { hits: hits.collect(), next: page.next };
        let others = other_securities(&rows, &suggested, &page.hits);
        let documents: Vec<(Hit, bool)> = others.iter().map(|hit| (*hit, false)).collect();
        let shown = index.shown(&asked.filters, &documents, &mut rows, id).await?;
        let found = others.into_iter().zip(shown).map(|(found, (hit, listings))| {
            let matched = matched(rows.row(found), &asked.keywords);
            Suggestion { hit, listings, matched, matched_name: None }
        });
        let found: Vec<Suggestion> = found.collect();
        let securities = securities(&rows, &suggested, &found, &page.hits);
        Ok((rows, FoundPage { read, securities, page }))
    }
}
