//! Guesses at what a person means who is still typing (contract 16.1).

use figdex_index::{Begun, Catalogue, Fetched, Meter, Suggest, Suggestion};

use super::answer::{Ask, Cluster, unanswered, unreadable};
use crate::callers::error::ApiError;

/// A question for suggestions.
pub(crate) struct Suggestions {
    pub(crate) suggest: Suggest,
    /// The most suggestions.
    pub(crate) limit: usize,
    /// The work that was done at once, with which the turn goes on.
    begun: Begun,
}

impl Suggestions {
    pub(crate) fn new(suggest: Suggest, limit: usize) -> Self {
        Self { suggest, limit, begun: Begun::default() }
    }
}

impl Ask for Suggestions {
    type Answer = Vec<Suggestion>;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> Result<Option<Self::Answer>, ApiError> {
        let Self { suggest, limit, begun } = self;
        let found = index.suggest(suggest, *limit, begun, meter);
        found.map_err(unreadable("a suggestion failed"))
    }

    async fn there(
        &mut self,
        Cluster { index, id, .. }: Cluster<'_>,
    ) -> Result<(Fetched, Self::Answer), ApiError> {
        index.suggest(&self.suggest, self.limit, id).await.map_err(unanswered)
    }
}
