//! An index in object storage: the copy on this machine, which is served, and the updates of that
//! copy.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use figdex_index::{Catalogue, Error as IndexError, chain};
use figdex_io::{StorageAddress, escaped_path};
use figdex_storage::{Copied, Error, Following, Look, Replica as Copy, StorageSettings, Store};
use parking_lot::Mutex;
use tokio::signal::unix::Signal;

use crate::config::Config;
use crate::state::State;

/// The time between two checks of the storage.
const PERIOD: Duration = Duration::from_secs(5);

/// The longest time between two checks. Each failure doubles the time.
const PERIOD_MAX: Duration = Duration::from_secs(60);

/// The copy of an index in object storage.
pub(crate) struct Replica {
    copy: Copy,
    folder: PathBuf,
}

impl Replica {
    /// The relation of the copy to the storage. Each check of the storage updates it.
    pub(crate) fn following(&self) -> Arc<Mutex<Following>> {
        self.copy.following()
    }

    /// The generation in the copy, even if the storage does not answer; `None` if the copy has
    /// none. Also `None` for one that cannot be opened, which is then fetched again.
    pub(crate) fn opened(&mut self) -> Option<Catalogue> {
        match Catalogue::open(&self.folder) {
            Ok(catalogue) => Some(catalogue),
            Err(IndexError::NotAnIndex(_)) => None,
            Err(error) => {
                let reason = chain(&error);
                tracing::error!(reason, "the copy cannot be opened: it is fetched again");
                self.copy.distrust();
                None
            }
        }
    }

    /// Fetches the published generation, however long that takes, and opens it.
    pub(crate) async fn fetched(&mut self) -> Catalogue {
        loop {
            fetch_first(&mut self.copy, &self.folder).await;
            if let Some(catalogue) = self.opened() {
                return catalogue;
            }
        }
    }
}

/// Opens the copy of an index. No other server may use the same copy.
pub(crate) fn open(address: &StorageAddress, config: &Config) -> anyhow::Result<Replica> {
    let folder = config.cache.clone().expect("the settings were checked");
    let settings = StorageSettings {
        endpoint: config.storage_endpoint.clone(),
        region: config.storage_region.clone(),
        ca_file: config.storage_ca_file.clone(),
        keys_file: config.storage_keys_file.clone(),
    };
    let store = Store::open(address, &settings)?;
    let copy = Copy::open(store, &folder, config.cache_rate.map(|rate| rate as u64))
        .with_context(|| format!("opening the copy of {address}"))?;
    Ok(Replica { copy, folder })
}

/// Fetches the published generation, however long that takes.
async fn fetch_first(copy: &mut Copy, folder: &Path) {
    tracing::info!("fetching the published generation into {}", escaped_path(folder));
    let mut said = None;
    loop {
        match copy.look(false).await {
            Ok(look) => return log(&look),
            Err(error) => {
                let reason = chain(&error);
                if said.as_ref() != Some(&reason) {
                    tracing::error!(reason, "nothing can be served yet: waiting for the storage");
                }
                said = Some(reason);
            }
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// Checks the storage as long as the server runs: every few seconds (less often after failures), at
/// each `hangup`, and when a file of the copy is found damaged. The damaged file is then fetched
/// again. A fetched generation is opened like any new generation in a folder.
pub(crate) async fn follow(state: Arc<State>, replica: Replica, mut hangup: Signal) {
    let Replica { mut copy, .. } = replica;
    let (mut said, mut period, mut is_asked) = (None, PERIOD, false);
    loop {
        match copy.look(is_asked).await {
            Ok(look) => {
                if said.is_some() {
                    tracing::info!("the storage is followed again");
                }
                log(&look);
                (said, period) = (None, PERIOD);
            }
            Err(error) => {
                let reason = chain(&error);
                // Each reason is logged once, and again when an operator sends SIGHUP.
                if is_asked || said.as_ref() != Some(&reason) {
                    let advice = advice(&error);
                    tracing::error!(
                        reason,
                        "the published generation is not taken; the old one stays in service{advice}"
                    );
                }
                (said, period) = (Some(reason), (2 * period).min(PERIOD_MAX));
            }
        }
        copy.note(state.engine().manifest());
        is_asked = tokio::select! {
            () = tokio::time::sleep(period) => false,
            Some(()) = hangup.recv() => true,
            () = state.damage() => {
                copy.distrust();
                true
            }
        };
    }
}

/// The advice to an operator about an error that does not pass by itself.
fn advice(error: &Error) -> &'static str {
    match error {
        Error::Older { .. } | Error::Newer { .. } | Error::Index(_) => {
            " (send SIGHUP to try it again)"
        }
        _ => "",
    }
}

fn log(look: &Look) {
    if let Look::Taken(Copied { generation, fetched_bytes, reused_bytes }) = look {
        tracing::info!(generation, fetched_bytes, reused_bytes, "fetched a new generation");
    }
}
