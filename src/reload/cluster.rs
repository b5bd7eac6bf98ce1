//! Following the alias of an index in a cluster. A newly published generation is opened while the
//! old one serves, and then replaces it.

use std::sync::Arc;
use std::time::Duration;

use figdex_index::chain;
use figdex_opensearch::client::Client;
use figdex_opensearch::{ClusterPublication, Error, Generation};
use tokio::signal::unix::Signal;

use crate::engine::Engine;
use crate::state::State;

/// The time between two probes of the served generation.
const PROBE_PERIOD: Duration = Duration::from_secs(1);

/// Probes the served generation as long as the server runs. The server is ready while every shard
/// answers (contract 16.8). Each change is logged once.
pub(crate) async fn probe(state: Arc<State>) {
    let mut answered = true;
    loop {
        if let Engine::OpenSearch(generation) = state.engine() {
            match generation.probe().await {
                Ok(()) if answered => {}
                Ok(()) => tracing::info!("the cluster answers for the whole index again"),
                Err(error) if answered => {
                    let reason = chain(&error);
                    tracing::error!(
                        reason,
                        "the cluster does not answer for the whole index: the server is not ready"
                    );
                }
                Err(_) => {}
            }
            answered = generation.answers();
        }
        tokio::time::sleep(PROBE_PERIOD).await;
    }
}

/// Checks the alias once each reload period and at each `hangup`, as long as the server runs.
pub(crate) async fn follow(
    state: Arc<State>,
    client: Arc<Client>,
    name: String,
    mut hangup: Signal,
) {
    let mut refused: Option<String> = None;
    loop {
        let period = state.settings().reload_period;
        let is_asked = tokio::select! {
            () = tokio::time::sleep(period) => false,
            Some(()) = hangup.recv() => true,
        };
        match look(&state, &client, &name).await {
            Ok(()) if refused.take().is_none() => {}
            Ok(()) => tracing::info!("the published generation can be looked at again"),
            Err(error) => {
                let reason = chain(&error);
                // Each reason is logged once, and again when an operator sends SIGHUP.
                if is_asked || refused.as_ref() != Some(&reason) {
                    state.metrics().reloads_refused.inc();
                    tracing::error!(
                        reason,
                        "the published generation cannot be looked at; the old one stays in service"
                    );
                }
                refused = Some(reason);
            }
        }
        state.metrics().publication_refused.set(i64::from(refused.is_some()));
    }
}

/// Opens the published generation and serves it, unless it is already served.
async fn look(state: &State, client: &Arc<Client>, name: &str) -> Result<(), Error> {
    let found = ClusterPublication::of(client, name).await?;
    let is_served = match state.engine() {
        Engine::OpenSearch(served) => *served.publication() == found,
        Engine::Local(_) => false,
    };
    if is_served {
        return Ok(());
    }
    let opened = open(client.clone(), name).await?;
    let (generation, instruments) = (opened.manifest().generation, opened.manifest().instruments);
    state.publish(opened);
    state.metrics().reloads_taken_up.inc();
    tracing::info!(generation, instruments, "loaded a new generation");
    Ok(())
}

/// Opens the published generation. It can be served before all of its shards answer. Until then
/// questions are refused, and the server is not ready.
pub(crate) async fn open(client: Arc<Client>, name: &str) -> Result<Generation, Error> {
    let opened = Generation::open(client, name).await?;
    drop(opened.probe().await);
    Ok(opened)
}
