//! Taking up what is published while the server runs: the new generation is opened
//! beside the old one, checked, and put in its place; no request waits or fails.
//!
//! A request asks the state once for its catalogue and keeps it, so that requests in
//! flight end with the generation that they began with. Opening reads every file, to
//! check it, and so it warms the generation too. Whatever is
//! wrong with a new one, the old one serves on.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use figdex_index::{Catalogue, Publication, chain};
use tokio::signal::unix::Signal;

use crate::state::State;

/// Looks at the index folder now and then, and whenever `hangup` says so, for as long
/// as the server runs.
pub async fn follow(state: Arc<State>, index: PathBuf, mut hangup: Signal) {
    let mut follower = Follower { state, index, refused: None };
    loop {
        let period = follower.state.settings().reload_period;
        let is_asked = tokio::select! {
            () = tokio::time::sleep(period) => false,
            Some(()) = hangup.recv() => true,
        };
        // Opening takes as long as reading all files, and a folder may lie on a network.
        let looked = tokio::task::spawn_blocking(move || {
            follower.look(is_asked);
            follower
        });
        // It does not panic, so it was cancelled: the runtime is ending.
        let Ok(same) = looked.await else { return };
        follower = same;
        let is_refused = i64::from(follower.refused.is_some());
        follower.state.metrics().publication_refused.set(is_refused);
    }
}

struct Follower {
    state: Arc<State>,
    index: PathBuf,
    /// What was found and not taken up, so that it is told, and read, once.
    refused: Option<Refused>,
}

/// A publication that is broken, or the reason why there is none.
#[derive(PartialEq, Eq)]
enum Refused {
    Publication(Publication),
    Pointer(String),
}

impl Follower {
    /// Takes up what is published, if it is another generation than is served. One
    /// that was refused is tried again only when somebody asks.
    fn look(&mut self, is_asked: bool) {
        let found = match Publication::of(&self.index) {
            Ok(found) => found,
            Err(error) => {
                let refused = Some(Refused::Pointer(error.to_string()));
                if is_asked || self.refused != refused {
                    let reason = chain(&error);
                    self.state.metrics().reloads_refused.inc();
                    tracing::error!(
                        reason,
                        "no published generation is found; the old one serves on"
                    );
                }
                self.refused = refused;
                return;
            }
        };
        if found == *self.state.catalogue().publication() {
            self.refused = None;
            if is_asked {
                tracing::info!(generation = found.generation, "the published generation is served");
            }
            return;
        }
        let refused = Some(Refused::Publication(found));
        if self.refused == refused && !is_asked {
            return;
        }
        let start = Instant::now();
        // A panic over broken files must not end the looking.
        let opened = catch_unwind(|| Catalogue::open(&self.index));
        let reason = match opened {
            Ok(Ok(catalogue)) => {
                let generation = catalogue.manifest().generation;
                let instruments = catalogue.manifest().instruments;
                self.state.publish(catalogue);
                self.state.metrics().reloads_taken_up.inc();
                self.refused = None;
                let elapsed_ms = start.elapsed().as_millis() as u64;
                tracing::info!(generation, instruments, elapsed_ms, "took up a new generation");
                return;
            }
            Ok(Err(_)) if self.has_moved_on(&refused) => return,
            Ok(Err(error)) => chain(&error),
            Err(_) => "opening it made the server panic".to_owned(),
        };
        self.state.metrics().reloads_refused.inc();
        tracing::error!(
            reason,
            "the new generation is refused; the old one serves on (after a repair: SIGHUP)"
        );
        self.refused = refused;
    }

    /// Whether something else was published meanwhile, and took away what was being
    /// opened: that is nobody's fault, and the next look finds it.
    fn has_moved_on(&self, from: &Option<Refused>) -> bool {
        Publication::of(&self.index).is_ok_and(|found| Some(Refused::Publication(found)) != *from)
    }
}
