//! The engine that answers: an index on this machine, or one in a cluster; and the facts about it.

use std::sync::Arc;

use figdex_index::{Catalogue, Manifest, Uses, Vocabulary};
use figdex_opensearch::Generation;
use figdex_opensearch::client::Client;

/// One generation of an index, in either place. A request gets it once and keeps it, so that its
/// whole answer is from one generation.
#[derive(Clone)]
pub enum Engine {
    /// An index on this machine.
    Local(Arc<Catalogue>),
    /// An index in an OpenSearch cluster.
    OpenSearch(Arc<Generation>),
}

impl Engine {
    /// The index on this machine; `None` when it is in a cluster.
    pub fn local(&self) -> Option<&Arc<Catalogue>> {
        match self {
            Self::Local(catalogue) => Some(catalogue),
            Self::OpenSearch(_) => None,
        }
    }

    /// Whether the engine can answer now. A cluster can if all shards of the index answered the
    /// last probe.
    pub fn answers(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::OpenSearch(generation) => generation.answers(),
        }
    }

    /// The manifest of the generation.
    pub fn manifest(&self) -> &Manifest {
        match self {
            Self::Local(catalogue) => catalogue.manifest(),
            Self::OpenSearch(generation) => generation.manifest(),
        }
    }

    /// The values that the enum-like properties may have.
    pub fn vocabulary(&self) -> &Vocabulary {
        match self {
            Self::Local(catalogue) => catalogue.vocabulary(),
            Self::OpenSearch(generation) => generation.vocabulary(),
        }
    }

    /// The uses of each cache of answers; `None` for an index in a cluster.
    pub(crate) fn caches(&self) -> Option<[(&'static str, Uses); 3]> {
        let index = self.local()?;
        Some([
            ("totals", index.totals_uses()),
            ("suggestions", index.suggest_uses()),
            ("facets", index.facets_uses()),
        ])
    }

    /// The client of the cluster, for its counts; `None` when there is no cluster.
    pub(crate) fn client(&self) -> Option<&Client> {
        match self {
            Self::Local(_) => None,
            Self::OpenSearch(generation) => Some(generation.client()),
        }
    }
}

impl From<Catalogue> for Engine {
    fn from(catalogue: Catalogue) -> Self {
        Self::Local(Arc::new(catalogue))
    }
}

impl From<Generation> for Engine {
    fn from(generation: Generation) -> Self {
        Self::OpenSearch(Arc::new(generation))
    }
}
