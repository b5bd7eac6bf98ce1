//! Reading the settings again while the server runs, on SIGHUP: the file, and with it
//! the flags and the environment, which are as they were, are resolved anew. Keys, the
//! request rates and the limits of one request take effect at once, and no request waits
//! or fails; other settings that changed are named in the log, for they need a restart.
//! If anything is wrong, all of it is told, and nothing changes.

use std::sync::Arc;

use tokio::signal::unix::Signal;

use crate::config::{Changes, Config, Faults, Listing, ServeFlags};
use crate::state::State;

/// Reads the settings again whenever `hangup` says so, for as long as the server runs.
/// `in_force` are those that it runs with.
pub(crate) async fn follow(
    state: Arc<State>,
    flags: ServeFlags,
    mut in_force: Listing,
    mut hangup: Signal,
) {
    let flags = Arc::new(flags);
    while hangup.recv().await.is_some() {
        let flags = flags.clone();
        // Files may lie on a network.
        let resolved = tokio::task::spawn_blocking(move || Config::resolve(&flags)).await;
        match resolved {
            Ok(Ok(config)) => take_up(&state, &mut in_force, config),
            Ok(Err(Faults(faults))) => {
                for fault in faults {
                    tracing::error!(fault, "wrong in the settings");
                }
                tracing::error!("the settings are not taken up: those before stay in force");
            }
            Err(error) => tracing::error!(%error, "reading the settings again failed"),
        }
    }
}

fn take_up(state: &State, in_force: &mut Listing, config: Config) {
    let Changes { taken_up, waiting } = in_force.take_up(config.listing());
    // Also when their file is the same: what it holds may not be.
    state.keys().replace(&config.keys);
    if taken_up.iter().any(|name| name != "keys") {
        let per_request = config.settings.per_request();
        state.set_limits(config.settings.rates, per_request);
    }
    tracing::info!(changed = taken_up.join(", "), "settings read again");
    if !waiting.is_empty() {
        tracing::warn!(settings = waiting.join(", "), "changed settings that need a restart");
    }
}
