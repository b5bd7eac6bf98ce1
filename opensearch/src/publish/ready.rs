//! Waiting until a filled index is ready: every shard, and its copies. Copying large shards takes
//! hours, so the total time has no limit, but the time without progress has one.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::client::{Client, Request};
use crate::error::Result;
use crate::patience::Patience;
use crate::schema::Division;

/// The time between two checks of an index.
const PERIOD: Duration = Duration::from_millis(500);

/// The most bytes of the answer about copies in progress. There may be 10,000 copies.
const RECOVERY_BYTES_MAX: usize = 4 << 20;

/// The state of the shards of an index.
pub(super) struct State {
    is_green: bool,
    is_yellow: bool,
    data_nodes: u32,
    progress: Progress,
}

/// The progress of the shards. A larger value is more progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Progress {
    /// The number of shards that can answer.
    active: u32,
    /// The number of bytes that were copied for the other shards.
    bytes: u64,
}

/// Waits until every shard of an index can answer, and until its copies are made, unless the
/// cluster has too few nodes for them. Returns whether the copies are made.
pub(super) async fn wait(
    client: &Client,
    index: &str,
    division: Division,
    patience: &Patience,
) -> Result<bool> {
    let mut best = Progress::default();
    patience.progress();
    loop {
        let state = State::of(client, index, patience).await?;
        if state.is_green {
            return Ok(true);
        }
        if state.is_yellow && state.data_nodes <= division.replicas {
            return Ok(false);
        }
        if state.progress > best {
            best = state.progress;
            patience.progress();
        }
        if patience.check(String::new).is_err() {
            let reason = reason(client, index).await;
            patience.check(|| reason)?;
        }
        tokio::time::sleep(PERIOD).await;
    }
}

impl State {
    /// The state of an index. An answer of the cluster does not count as progress by itself.
    pub(super) async fn of(client: &Client, index: &str, patience: &Patience) -> Result<Self> {
        #[derive(Deserialize)]
        struct ClusterHealth {
            status: String,
            number_of_data_nodes: u32,
            active_shards: u32,
        }
        // For a removed index, the cluster waits for its health and then gives no answer in time.
        // So each attempt first asks for the copies, which a removed index does not have.
        let request = Request::get(&["_cluster", "health", index]).with("timeout", "1s");
        let ask = || async {
            let bytes = copied_bytes(client, index).await?;
            Ok((bytes, client.ask::<ClusterHealth>(&request).await?))
        };
        let (bytes, health) = patience.unless_over(ask).await?;
        Ok(Self {
            is_green: health.status == "green",
            is_yellow: health.status == "yellow",
            data_nodes: health.number_of_data_nodes,
            progress: Progress { active: health.active_shards, bytes },
        })
    }
}

/// The number of bytes copied so far for the shards that are being copied.
async fn copied_bytes(client: &Client, index: &str) -> Result<u64> {
    #[derive(Deserialize)]
    struct Recoveries {
        #[serde(default)]
        shards: Vec<Recovery>,
    }
    #[derive(Deserialize)]
    struct Recovery {
        index: Files,
    }
    #[derive(Deserialize)]
    struct Files {
        size: Size,
    }
    #[derive(Deserialize)]
    struct Size {
        recovered_in_bytes: u64,
    }
    let request = Request::get(&[index, "_recovery"])
        .with("active_only", true)
        .with("filter_path", "*.shards.index.size.recovered_in_bytes")
        .up_to(RECOVERY_BYTES_MAX);
    let found: HashMap<String, Recoveries> = client.ask(&request).await?;
    let shards = found.into_values().flat_map(|recoveries| recoveries.shards);
    Ok(shards.fold(0, |bytes, shard| bytes.saturating_add(shard.index.size.recovered_in_bytes)))
}

/// The reason why a shard of an index, or a copy of a shard, is on no node, with the explanation of
/// the cluster. If all are on nodes, the reason is that copies are still being made.
async fn reason(client: &Client, index: &str) -> String {
    #[derive(Deserialize)]
    struct Explained {
        #[serde(default)]
        allocate_explanation: String,
        #[serde(default)]
        node_allocation_decisions: Vec<Decision>,
    }
    #[derive(Deserialize)]
    struct Decision {
        #[serde(default)]
        deciders: Vec<Decider>,
    }
    #[derive(Deserialize)]
    struct Decider {
        #[serde(default)]
        explanation: String,
    }
    let unplaced = match unplaced(client, index).await {
        Ok(Some(unplaced)) => unplaced,
        Ok(None) => return "copies of its shards are still made".to_owned(),
        Err(error) => return error.to_string(),
    };
    let (shard, is_primary) = unplaced;
    let what =
        format!("shard {shard} of {index}{}", if is_primary { "" } else { " has a copy that" });
    let body = json!({"index": index, "shard": shard, "primary": is_primary});
    let request = Request::search(&["_cluster", "allocation", "explain"]).json(&body);
    match client.ask::<Explained>(&request).await {
        Err(error) => format!("{what} is on no node ({error})"),
        Ok(explained) => {
            let deciders = explained.node_allocation_decisions.iter().flat_map(|it| &it.deciders);
            let mut reasons = vec![&*explained.allocate_explanation];
            reasons.extend(deciders.map(|decider| &*decider.explanation).take(1));
            format!("{what} is on no node: {}", client.quoted(&reasons.join("; ")))
        }
    }
}

/// The first shard that is on no node or has a copy on no node, and whether the shard itself is on
/// no node.
async fn unplaced(client: &Client, index: &str) -> Result<Option<(u32, bool)>> {
    #[derive(Deserialize)]
    struct ShardsHealth {
        #[serde(default)]
        indices: HashMap<String, ShardsByNumber>,
    }
    #[derive(Deserialize)]
    struct ShardsByNumber {
        #[serde(default)]
        shards: BTreeMap<u32, Shard>,
    }
    #[derive(Deserialize)]
    struct Shard {
        primary_active: bool,
        unassigned_shards: u32,
    }
    let request = Request::get(&["_cluster", "health", index]).with("level", "shards");
    let mut health: ShardsHealth = client.ask(&request).await?;
    let shards = health.indices.remove(index).map_or_else(BTreeMap::new, |found| found.shards);
    let unplaced = shards.into_iter().find(|(_, shard)| shard.unassigned_shards > 0);
    Ok(unplaced.map(|(number, shard)| (number, !shard.primary_active)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_of_tests::{Cluster, INDEX, wait_for};

    const DIVISION: Division = Division { shards: 2, replicas: 1 };

    fn health(status: &str) -> String {
        let shard = json!({"primary_active": true, "unassigned_shards": 1});
        json!({
            "status": status,
            "number_of_data_nodes": 3,
            "active_shards": 2,
            "indices": {INDEX: {"shards": {"0": shard}}},
        })
        .to_string()
    }

    fn copied(bytes: u64) -> String {
        let shard = json!({"index": {"size": {"recovered_in_bytes": bytes}}});
        json!({INDEX: {"shards": [shard]}}).to_string()
    }

    fn waited(cluster: &Cluster) -> Result<bool> {
        let patience = Patience::new(2 * PERIOD);
        wait_for(wait(&cluster.client(), INDEX, DIVISION, &patience))
    }

    /// Copies that are made slowly are waited for, longer than the patience.
    #[test]
    fn progress_has_no_bound_in_time() {
        let cluster = Cluster::of_one_instrument();
        let mut looks = 0;
        cluster.answer_with(INDEX, move || {
            looks += 1;
            (200, health(if looks <= 8 { "yellow" } else { "green" }))
        });
        let mut bytes = 0;
        cluster.answer_with("_recovery", move || {
            bytes += 1;
            (200, copied(bytes))
        });
        assert!(waited(&cluster).unwrap());
    }

    /// A copy that no node takes is not waited for, and the cluster says why.
    #[test]
    fn a_standstill_is_explained() {
        let cluster = Cluster::of_one_instrument();
        cluster.answer(INDEX, 200, health("yellow"));
        cluster.answer("_recovery", 200, copied(7));
        let decider = json!({"explanation": "the node is above the low watermark"});
        let explained = json!({
            "allocate_explanation": "cannot allocate",
            "node_allocation_decisions": [{"deciders": [decider]}],
        });
        for (status, answer, expected) in [
            (200, explained, "cannot allocate; the node is above the low watermark"),
            (403, json!({"error": {"type": "security_exception"}}), "lacks a right"),
        ] {
            cluster.answer("explain", status, answer.to_string());
            let error = waited(&cluster).unwrap_err().to_string();
            let copy = format!("shard 0 of {INDEX} has a copy that is on no node");
            assert!(error.contains(&copy) && error.contains(expected), "{error}");
        }
    }
}
