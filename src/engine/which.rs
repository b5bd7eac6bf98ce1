//! The engine that answers: an index on this machine, or one in a cluster. Both take the same
//! questions, and answer with rows that are written by the same code.

use std::sync::Arc;

use figdex_index::{Catalogue, Manifest, Vocabulary};
use figdex_opensearch::Generation;

/// One generation of an index, wherever it is. A request asks for it once and keeps it, so that its
/// answer is from one generation.
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
