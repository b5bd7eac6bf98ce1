//! Settings that change while the server runs. On SIGHUP the file is read again, and resolved with
//! the unchanged flags and environment. Keys, request rates and the limits on one request change at
//! once; no request waits or fails. Other changed settings need a restart, and the log names them.
//! If any setting is invalid, the log lists all errors, and nothing changes.

use std::sync::Arc;

use figdex_ingest::flags::supported;
use tokio::signal::unix::Signal;

use crate::config::{Changes, Config, Faults, Listing, SettingFlags};
use crate::state::State;

/// Reads the settings again at each `hangup`, as long as the server runs. `in_force` lists the
/// current settings.
pub(crate) async fn follow(
    state: Arc<State>,
    flags: SettingFlags,
    mut in_force: Listing,
    mut hangup: Signal,
) {
    let flags = Arc::new(flags);
    while hangup.recv().await.is_some() {
        let flags = flags.clone();
        // The files may be on a network.
        let resolved = tokio::task::spawn_blocking(move || Config::resolve(&flags)).await;
        match resolved {
            Ok(Ok(config)) => match config.index.as_ref().map_or(Ok(()), supported) {
                Ok(()) => apply(&state, &mut in_force, config),
                Err(fault) => tracing::error!(fault, "invalid setting: nothing is changed"),
            },
            Ok(Err(Faults(faults))) => {
                for fault in faults {
                    tracing::error!(fault, "invalid setting");
                }
                tracing::error!(
                    "the changed settings are refused: the previous ones stay in force"
                );
            }
            Err(error) => tracing::error!(%error, "reading the settings again failed"),
        }
    }
}

fn apply(state: &State, in_force: &mut Listing, config: Config) {
    let Changes { applied, mut waiting } = in_force.apply(config.listing());
    // The file of symbols may have the same name and another content.
    let is_other = config.symbols.is_some_and(|symbols| !symbols.is_in_force());
    if is_other && !waiting.iter().any(|name| name == "symbols") {
        waiting.push("symbols".to_owned());
    }
    // The keys are replaced even if the keys file has the same name: its content may have changed.
    state.keys().replace(&config.keys);
    if applied.iter().any(|name| name != "keys") {
        let per_request = config.settings.per_request();
        state.set_limits(config.settings.rates, per_request);
    }
    let changed = if applied.is_empty() { "none".to_owned() } else { applied.join(", ") };
    tracing::info!(changed, "settings read again");
    if !waiting.is_empty() {
        tracing::warn!(settings = waiting.join(", "), "changed settings that need a restart");
    }
}
