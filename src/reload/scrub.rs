//! Reading the served files again, slowly, while they are served. This finds bytes that have
//! decayed on the disk before a question needs them. The server then falls back to the previous
//! generation, if that is sound, and a copy of an index in object storage is fetched again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use figdex_index::{Catalogue, Error, Publication, chain};

use crate::state::State;

/// The least time from the beginning of a complete pass over all files to the next pass.
const PERIOD: Duration = Duration::from_secs(24 * 3600);

/// The pause before the next pass when a generation was removed while it was read.
const PAUSE: Duration = Duration::from_secs(1);

/// Reads the files of the served generation again and again, as long as the server runs. Without a
/// `scrub_rate`, reads nothing.
pub(crate) async fn follow(state: Arc<State>, index: PathBuf) {
    let Some(rate) = state.settings().scrub_rate else { return };
    loop {
        let begun = tokio::time::Instant::now();
        let (shared, folder) = (state.clone(), index.clone());
        let pass = tokio::task::spawn_blocking(move || pass(&shared, &folder, rate));
        // The task does not panic, so it was cancelled: the runtime is ending.
        let Ok(is_over) = pass.await else { return };
        if is_over {
            tokio::time::sleep_until(begun + PERIOD).await;
        }
    }
}

/// Reads all files once. Returns whether the pass was completed; if not, another generation is
/// served now.
fn pass(state: &State, index: &Path, rate: usize) -> bool {
    let engine = state.engine();
    let Some(catalogue) = engine.local() else { return true };
    let is_served = || {
        let engine = state.engine();
        engine.local().is_some_and(|served| served.publication() == catalogue.publication())
    };
    let (start, mut bytes) = (Instant::now(), 0);
    let read = catalogue.recheck(|read| {
        bytes += read;
        state.metrics().scrubbed_bytes.inc_by(read as u64);
        let due = Duration::from_secs_f64(bytes as f64 / rate as f64);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
        is_served()
    });
    match read {
        Ok(is_over) => {
            state.metrics().scrub_passes.inc_by(u64::from(is_over));
            is_over
        }
        // The build that published another generation may have removed this one. The other one is
        // served, and read, soon.
        Err(Error::Io { ref source, .. })
            if source.kind() == io::ErrorKind::NotFound && !is_published(index, catalogue) =>
        {
            std::thread::sleep(PAUSE);
            false
        }
        Err(error) => {
            fall_back(state, index, catalogue, &error);
            true
        }
    }
}

fn is_published(index: &Path, catalogue: &Catalogue) -> bool {
    Publication::of(index).is_ok_and(|found| found == *catalogue.publication())
}

/// Serves the previous generation in place of a damaged one, if there is one with correct bytes.
fn fall_back(state: &State, index: &Path, damaged: &Catalogue, fault: &Error) {
    let reason = chain(fault);
    state.metrics().scrub_damaged.inc();
    state.distrust(damaged.publication().clone());
    match damaged.open_before(index) {
        Ok(before) => {
            let generation = before.manifest().generation;
            state.publish(before);
            tracing::error!(
                reason,
                generation,
                "a file of the served generation is damaged: the one before it is served (check the \
                 disk, then build again, and send SIGHUP)"
            );
        }
        Err(error) => {
            let before = chain(&error);
            tracing::error!(
                reason,
                before,
                "a file of the served generation is damaged, and there is none before it that could \
                 be served (check the disk, then build again)"
            );
        }
    }
}
