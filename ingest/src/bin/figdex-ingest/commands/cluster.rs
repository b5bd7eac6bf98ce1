//! The commands for an index in a cluster.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use figdex_index::Manifest;
use figdex_ingest::flags::ClusterFlags;
use figdex_io::{ClusterAddress, grouped, terminal};
use figdex_opensearch::client::Client;
use figdex_opensearch::{Generation, PublishOptions, Published};
use tokio::runtime::Runtime;

/// The most calls at the same time.
const CALLS_MAX: usize = 16;

/// Publishes the published generation of a folder.
pub(super) fn publish(
    index: &Path,
    address: &ClusterAddress,
    options: PublishOptions,
    is_quiet: bool,
    flags: &ClusterFlags,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let (runtime, client) = connected(address, flags)?;
    let mut said = Instant::now();
    let progress = |documents: u64| {
        if !is_quiet && said.elapsed() > Duration::from_secs(5) {
            said = Instant::now();
            terminal::note(&format_args!("{} documents are there\n", grouped(documents)));
        }
    };
    let published = runtime
        .block_on(figdex_opensearch::publish(client, &address.name, index, options, progress))
        .with_context(|| format!("publishing to {address}"))?;
    if is_quiet {
        return Ok(());
    }
    let Published { generation, index, documents, is_copied, repeated, removed } = published;
    let seconds = start.elapsed().as_secs_f64();
    let mut text = format!(
        "published generation {generation} as {index}: {} documents in {seconds:.1} s\n",
        grouped(documents)
    );
    if repeated > 0 {
        text += &format!("sent again, since the cluster had no room: {}\n", grouped(repeated));
    }
    if !is_copied {
        text += "the cluster has too few nodes for all copies of the shards\n";
    }
    for index in removed {
        text += &format!("removed {index}\n");
    }
    let printed = terminal::print(&text).context("the report cannot be printed");
    printed.with_context(|| format!("generation {generation} is published"))
}

pub(super) fn rollback(address: &ClusterAddress, flags: &ClusterFlags) -> anyhow::Result<Manifest> {
    let (runtime, client) = connected(address, flags)?;
    let manifest = runtime.block_on(figdex_opensearch::rollback(&client, &address.name));
    manifest.with_context(|| format!("rolling back {address}"))
}

/// An opened generation in a cluster, and the runtime for its calls.
pub(super) struct Opened {
    runtime: Runtime,
    pub(super) generation: Generation,
}

impl Opened {
    pub(super) fn of(address: &ClusterAddress, flags: &ClusterFlags) -> anyhow::Result<Self> {
        let (runtime, client) = connected(address, flags)?;
        let opened = runtime.block_on(Generation::open(client, &address.name));
        let generation = opened.with_context(|| format!("opening {address}"))?;
        Ok(Self { runtime, generation })
    }

    /// Runs calls to the cluster until they end, and returns their result.
    pub(super) fn wait_for<T>(&self, calls: impl Future<Output = T>) -> T {
        self.runtime.block_on(calls)
    }
}

fn connected(
    address: &ClusterAddress,
    flags: &ClusterFlags,
) -> anyhow::Result<(Runtime, Arc<Client>)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok((runtime, Arc::new(Client::new(address, &flags.client(CALLS_MAX))?)))
}
