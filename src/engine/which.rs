//! The engine that answers: an index on this machine, or one in a cluster; and the facts about it.

use std::sync::Arc;

use figdex_index::{Catalogue, Manifest, Uses, Vocabulary};
use figdex_opensearch::Generation;
use figdex_opensearch::client::HostState;

/// One generation of an index, wherever it is. A request asks for it once and keeps it, so that its
/// answer is from one generation.
#[derive(Clone)]
pub enum Engine {
    /// An index on this machine.
    Local(Arc<Catalogue>),
    /// An index in an OpenSearch cluster.
    OpenSearch(Arc<Generation>),
}

/// The calls to a cluster since the server started.
pub(crate) struct ClusterCalls {
    pub(crate) hosts: Vec<HostState>,
    /// The number of calls that were made again with another host.
    pub(crate) repeated: u64,
}

impl Engine {
    /// The index on this machine; `None` when it is in a cluster.
    pub fn local(&self) -> Option<&Arc<Catalogue>> {
        match self {
            Self::Local(catalogue) => Some(catalogue),
            Self::OpenSearch(_) => None,
        }
    }

    /// Whether it can answer now: of a cluster, whether all shards of the index answered when they
    /// were last asked.
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

    /// The uses of each cache of answers; `None` when this server keeps none.
    pub(crate) fn caches(&self) -> Option<[(&'static str, Uses); 3]> {
        self.local().map(|catalogue| {
            [
                ("totals", catalogue.totals_uses()),
                ("suggestions", catalogue.suggest_uses()),
                ("facets", catalogue.facets_uses()),
            ]
        })
    }

    /// The calls to the cluster; `None` when there is none.
    pub(crate) fn calls(&self) -> Option<ClusterCalls> {
        match self {
            Self::Local(_) => None,
            Self::OpenSearch(generation) => {
                let client = generation.client();
                Some(ClusterCalls { hosts: client.hosts(), repeated: client.repeated() })
            }
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
