//! A page of the rows that a search or a filter finds (contract 8, 10).

use figdex_index::{Catalogue, Fetched, Figi, Meter, Page, Place, Search};

use super::answer::{Ask, Cluster, unanswered, unreadable};
use crate::callers::error::ApiError;
use crate::callers::limits::PAGE_ROWS_MAX;

/// The order of the rows that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrder {
    /// Those first that a person would want first.
    BestFirst,
    /// By FIGI, and counted.
    ByFigi,
}

/// A question for the rows that match.
pub(crate) struct PageQuestion {
    pub(crate) search: Search,
    pub(crate) order: RowOrder,
    /// The place after which the page begins.
    pub(crate) after: Option<Place>,
}

impl Ask for PageQuestion {
    /// The page, and the number of all rows if they are counted.
    type Answer = (Page<Place>, Option<u64>);

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> Result<Option<Self::Answer>, ApiError> {
        self.find(index, meter).map_err(unreadable("a search failed"))
    }

    async fn there(
        &mut self,
        Cluster { index, id, .. }: Cluster<'_>,
    ) -> Result<(Fetched, Self::Answer), ApiError> {
        let Self { search, order, after } = self;
        Ok(match order {
            RowOrder::BestFirst => {
                let found = index.search(search, *after, PAGE_ROWS_MAX, id).await;
                let (rows, page) = found.map_err(unanswered)?;
                (rows, (page, None))
            }
            RowOrder::ByFigi => {
                let after = after.map(|place| place.figi);
                let found = index.filter(search, after, PAGE_ROWS_MAX, id).await;
                let (rows, page, total) = found.map_err(unanswered)?;
                (rows, (in_figi_order(page), Some(total)))
            }
        })
    }
}

impl PageQuestion {
    fn find(
        &self,
        index: &Catalogue,
        meter: &Meter,
    ) -> figdex_index::Result<Option<<Self as Ask>::Answer>> {
        let Self { search, order, after } = self;
        match order {
            RowOrder::BestFirst => {
                let page = index.search(search, *after, PAGE_ROWS_MAX, meter)?;
                Ok(page.map(|page| (page, None)))
            }
            RowOrder::ByFigi => {
                let Some(total) = index.count(search, meter)? else { return Ok(None) };
                let after = after.map(|place| place.figi);
                let page = index.filter(search, after, PAGE_ROWS_MAX, meter)?;
                Ok(page.map(|page| (in_figi_order(page), Some(total))))
            }
        }
    }
}

fn in_figi_order(Page { hits, next }: Page<Figi>) -> Page<Place> {
    Page { hits, next: next.map(Place::of_figi) }
}
