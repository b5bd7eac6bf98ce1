//! Reloading the index while the server runs. A newly published generation is opened and checked
//! while the old one serves, and then takes its place; no request waits or fails.
//!
//! A request gets its catalogue from the state once and keeps it, so requests in flight end with
//! the generation that they began with. The new generation is opened, and read so that it is in
//! memory (engine 10). If this fails, the old generation stays.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use figdex_index::{BuildRecord, Catalogue, Publication, chain};
use tokio::signal::unix::Signal;

use crate::state::State;

/// Checks the index folder once each reload period and at each `hangup`, as long as the server
/// runs.
pub async fn follow(state: Arc<State>, index: PathBuf, mut hangup: Signal) {
    let mut follower = Follower { state, index, refused: None, unreadable: None };
    loop {
        let period = follower.state.settings().reload_period;
        let is_asked = tokio::select! {
            () = tokio::time::sleep(period) => false,
            Some(()) = hangup.recv() => true,
        };
        // A new generation is read, and the folder may be on a network.
        let looked = tokio::task::spawn_blocking(move || {
            follower.look(is_asked);
            follower.look_at_builds();
            follower
        });
        // The task does not panic, so it was cancelled: the runtime is ending.
        let Ok(same) = looked.await else { return };
        follower = same;
    }
}

struct Follower {
    state: Arc<State>,
    index: PathBuf,
    /// The last refused publication, so that it is read and logged only once.
    refused: Option<Refused>,
    /// The reason why the records of the builds cannot be read, so that it is logged only once.
    unreadable: Option<String>,
}

/// A broken publication, or the reason why none can be found.
#[derive(PartialEq, Eq)]
enum Refused {
    Publication(Publication),
    Pointer(String),
}

impl Follower {
    /// Loads the published generation unless it is already served. A refused generation is tried
    /// again only on SIGHUP (`is_asked`).
    fn look(&mut self, is_asked: bool) {
        let found = match Publication::of(&self.index) {
            Ok(found) => found,
            Err(error) => {
                let refused = Some(Refused::Pointer(error.to_string()));
                let is_new = self.refused != refused;
                self.refuse(refused);
                if is_asked || is_new {
                    let reason = chain(&error);
                    self.state.metrics().reloads_refused.inc();
                    tracing::error!(
                        reason,
                        "no published generation is found; the old one stays in service"
                    );
                }
                return;
            }
        };
        let is_damaged = self.state.is_damaged(&found);
        if is_damaged && !is_asked {
            self.refuse(Some(Refused::Publication(found)));
            return;
        }
        let engine = self.state.engine();
        if engine.local().is_some_and(|served| *served.publication() == found) {
            let generation = found.generation;
            let was_refused = self.refused.is_some();
            self.refuse(None);
            if was_refused {
                tracing::info!(
                    generation,
                    "the published generation is found again, and already served"
                );
            } else if is_asked {
                tracing::info!(generation, "the published generation is already served");
            }
            return;
        }
        let refused = Some(Refused::Publication(found));
        if self.refused == refused && !is_asked {
            return;
        }
        let start = Instant::now();
        // A panic because of broken files must not end the loop.
        let opened = catch_unwind(|| open(&self.index, is_damaged));
        let reason = match opened {
            Ok(Ok(catalogue)) => {
                let generation = catalogue.manifest().generation;
                let instruments = catalogue.manifest().instruments;
                self.state.publish(catalogue);
                self.state.metrics().reloads_taken_up.inc();
                self.refuse(None);
                let elapsed_ms = start.elapsed().as_millis() as u64;
                tracing::info!(generation, instruments, elapsed_ms, "loaded a new generation");
                return;
            }
            Ok(Err(_)) if self.has_moved_on(&refused) => return,
            Ok(Err(error)) => chain(&error),
            Err(_) => "opening it caused a panic".to_owned(),
        };
        self.state.metrics().reloads_refused.inc();
        self.refuse(refused);
        tracing::error!(
            reason,
            "the new generation is refused; the old one stays in service (send SIGHUP after a repair)"
        );
    }

    /// Records the refused publication, here and in the metrics. This comes before the log line, so
    /// that the metrics never contradict a line.
    fn refuse(&mut self, refused: Option<Refused>) {
        self.state.metrics().publication_refused.set(i64::from(refused.is_some()));
        self.refused = refused;
    }

    /// Records the last build of the index, which may have published nothing.
    fn look_at_builds(&mut self) {
        let (last, unreadable) = match BuildRecord::all(&self.index) {
            Ok(records) => (records.into_iter().next_back(), None),
            Err(error) => (None, Some(chain(&error))),
        };
        if let Some(reason) = unreadable.as_ref().filter(|_| self.unreadable != unreadable) {
            tracing::warn!(reason, "the records of the last builds cannot be read");
        }
        self.unreadable = unreadable;
        self.state.note_last_build(last);
    }

    /// Whether another generation was published in the meantime. The build of that generation may
    /// have removed the one that was being opened. That is not an error: the next check finds the
    /// new one.
    fn has_moved_on(&self, from: &Option<Refused>) -> bool {
        Publication::of(&self.index).is_ok_and(|found| Some(Refused::Publication(found)) != *from)
    }
}

/// Opens the published generation, and reads it: the first questions after the swap must not wait
/// for the disk.
fn open(index: &Path, is_damaged: bool) -> figdex_index::Result<Catalogue> {
    let catalogue = match is_damaged {
        // The stamp may be valid although bytes have decayed.
        true => Catalogue::open_checked(index)?,
        false => Catalogue::open(index)?,
    };
    catalogue.warm()?;
    Ok(catalogue)
}
