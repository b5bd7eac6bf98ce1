//! No object storage: the program was built without the feature `object-storage`.

use std::sync::Arc;

use anyhow::bail;
use figdex_index::Catalogue;
use figdex_io::StorageAddress;
use tokio::signal::unix::Signal;

use crate::config::Config;
use crate::engine::copy::WatchedCopy;
use crate::state::State;

/// The copy of an index in object storage, of which there is none in this program.
pub(crate) enum Replica {}

impl Replica {
    pub(crate) fn standings(&self) -> WatchedCopy {
        match *self {}
    }

    pub(crate) fn opened(&mut self) -> Option<Catalogue> {
        match *self {}
    }

    pub(crate) async fn fetched(&mut self) -> Catalogue {
        match *self {}
    }
}

pub(crate) fn open(address: &StorageAddress, _config: &Config) -> anyhow::Result<Replica> {
    bail!(
        "{address}: this program was built without object storage; build it with the cargo feature \
         object-storage"
    )
}

pub(crate) async fn follow(_state: Arc<State>, replica: Replica, _hangup: Signal) {
    match replica {}
}
