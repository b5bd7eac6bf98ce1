//! The matching rows by their values (contract 16.11).

use std::sync::Arc;

use figdex_index::{Catalogue, FacetQuestion, Facets, Fetched, Meter};

use super::answer::{Ask, Cluster, unanswered, unreadable};
use crate::callers::error::ApiError;

impl Ask for FacetQuestion {
    type Answer = Arc<Facets>;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> Result<Option<Arc<Facets>>, ApiError> {
        index.facets(self, meter).map_err(unreadable("counting facets failed"))
    }

    async fn there(
        &mut self,
        Cluster { index, id, .. }: Cluster<'_>,
    ) -> Result<(Fetched, Arc<Facets>), ApiError> {
        let found = index.facets(self, id).await.map_err(unanswered)?;
        Ok((Fetched::default(), Arc::new(found)))
    }
}
