//! What a handler may see.

use std::sync::Arc;

use figdex_index::Catalogue;
use parking_lot::RwLock;

/// Shared by all requests.
pub struct State {
    catalogue: RwLock<Arc<Catalogue>>,
}

impl State {
    /// A state that answers from that catalogue.
    pub fn new(catalogue: Catalogue) -> Self {
        Self { catalogue: RwLock::new(Arc::new(catalogue)) }
    }

    /// The catalogue that is published now. A request asks once and keeps it, so
    /// that its answer is of one generation.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.read().clone()
    }
}
