//! An index in a cluster: publishing, serving, the commands, and an encrypted way to it. The tests of
//! the contract (`api`) ask the same cluster; nodes that fail are tested by `tests/tools/cluster`.

mod commands;
mod publishing;
mod serving;
mod suggesting;
mod tls;

use crate::support::cluster::{InCluster, wait_for};
use figdex_opensearch::client::{CallError, Request};
use serde_json::Value;

/// An index of the cluster; `None`, and a line that says so, without one.
fn in_cluster() -> Option<InCluster> {
    let cluster = InCluster::new();
    if cluster.is_none() {
        eprintln!("skipped: FIGDEX_OPENSEARCH names no cluster (see tests/tools/cluster)");
    }
    cluster
}

/// Makes a call to the cluster.
fn ask(cluster: &InCluster, request: Request<'_>) -> Result<Value, CallError> {
    wait_for(cluster.client.ask(&request))
}

/// The names of the indexes that begin like those of a test, in their order.
fn indexes(cluster: &InCluster) -> Vec<String> {
    let pattern = format!("{}-*", cluster.address.name);
    let found = ask(cluster, Request::get(&[&pattern, "_settings", "index.uuid"])).unwrap();
    let mut names: Vec<String> = found.as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}
