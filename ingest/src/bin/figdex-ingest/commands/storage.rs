//! The commands for an index in object storage.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use figdex_ingest::flags::{InspectFlags, RollbackFlags, StorageFlags, VerifyFlags};
use figdex_io::{StorageAddress, escaped, grouped, terminal};
use figdex_storage::{PublishOptions, Published, StorageSettings, Store};
use serde_json::json;
use tokio::runtime::Runtime;

/// The time for which the previously published generation stays if it is not kept. In this time a
/// server copies 250 GB at 70 MB/s.
const GRACE: Duration = Duration::from_secs(3600);

/// Publishes the published generation of a folder. `keep` earlier generations are kept, and the
/// previously published one stays for `grace`.
pub(super) fn publish(
    index: &Path,
    address: &StorageAddress,
    (keep, grace): (usize, Option<Duration>),
    is_quiet: bool,
    flags: &StorageFlags,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let (runtime, store) = connected(address, flags)?;
    let mut said = Instant::now();
    let progress = |done: u64, all: u64| {
        if !is_quiet && said.elapsed() > Duration::from_secs(5) {
            said = Instant::now();
            let (done, all) = (grouped(done), grouped(all));
            terminal::note(&format_args!("{done} of {all} bytes are there\n"));
        }
    };
    let options = PublishOptions { keep, grace: grace.unwrap_or(GRACE) };
    let published = runtime
        .block_on(figdex_storage::publish(&store, index, options, progress))
        .with_context(|| format!("publishing to {address}"))?;
    if is_quiet {
        return Ok(());
    }
    let Published { generation, name, instruments, sent_bytes, patch_bytes, reused_bytes, removed } =
        published;
    let seconds = start.elapsed().as_secs_f64();
    let mut text = format!(
        "published generation {generation} as {name}: {} instruments in {seconds:.1} s\n\
         sent {} bytes, and {} of patches; {} bytes were there already\n",
        grouped(instruments),
        grouped(sent_bytes),
        grouped(patch_bytes),
        grouped(reused_bytes)
    );
    for name in removed {
        text += &format!("removed {name}\n");
    }
    let printed = terminal::print(&text).context("the report cannot be printed");
    printed.with_context(|| format!("generation {generation} is published"))
}

pub(super) fn rollback(address: &StorageAddress, flags: &RollbackFlags) -> anyhow::Result<()> {
    let (runtime, store) = connected(address, &flags.storage)?;
    let rolled_back = runtime.block_on(figdex_storage::rollback(&store));
    let (manifest, from) = rolled_back.with_context(|| format!("rolling back {address}"))?;
    Ok(terminal::print(&format_args!(
        "published generation {} again: {} instruments, built at {}\n\
         generation {from} is taken back, and stays until a publication removes it\n",
        manifest.generation,
        grouped(manifest.instruments),
        escaped(&manifest.built_at),
    ))?)
}

pub(super) fn inspect(address: &StorageAddress, flags: &InspectFlags) -> anyhow::Result<()> {
    if flags.sizes {
        bail!(
            "--sizes shows the files of a folder: name the one from which {address} was published"
        );
    }
    let (runtime, store) = connected(address, &flags.storage)?;
    let found = runtime.block_on(figdex_storage::overview(&store));
    let found = found.with_context(|| format!("looking at {address}"))?;
    let manifest = &found.manifest;
    if flags.json {
        let facts = json!({
            "address": address.to_string(),
            "generation": manifest.generation,
            "instruments": manifest.instruments,
            "built_at": manifest.built_at,
            "program": manifest.program,
            "bytes": manifest.bytes(),
            "rolled_back_from": found.rolled_back_from,
            "generations": found.generations,
            "storage_bytes": found.bytes,
            "change_files": found.changes,
            "replicas": found.replicas.noted,
            "replicas_unread": found.replicas.unread,
        });
        return Ok(terminal::print(&format_args!("{facts:#}\n"))?);
    }
    let mut text = format!(
        "{address}\ngeneration {} is published: {} instruments, {} bytes, built at {} by {}\n",
        manifest.generation,
        grouped(manifest.instruments),
        grouped(manifest.bytes()),
        escaped(&manifest.built_at),
        escaped(&manifest.program),
    );
    if let Some(from) = found.rolled_back_from {
        text += &format!("generation {from} was taken back\n");
    }
    let generations: Vec<_> = found.generations.iter().map(u64::to_string).collect();
    text += &format!(
        "generations there: {}; {} bytes together\n",
        generations.join(", "),
        grouped(found.bytes)
    );
    if found.changes > 0 {
        text += &format!("change files published with it: {}\n", grouped(found.changes as u64));
    }
    text += &found.replicas.to_string();
    Ok(terminal::print(&text)?)
}

pub(super) fn verify(address: &StorageAddress, flags: &VerifyFlags) -> anyhow::Result<()> {
    let (runtime, store) = connected(address, &flags.storage)?;
    let verified = runtime.block_on(figdex_storage::verify(&store));
    let verified = verified.with_context(|| format!("reading {address}"))?;
    Ok(terminal::print(&format_args!(
        "generation {} is intact: {} instruments; {} bytes in {} pieces were read\n",
        verified.manifest.generation,
        verified.manifest.instruments,
        verified.bytes,
        verified.pieces,
    ))?)
}

fn connected(address: &StorageAddress, flags: &StorageFlags) -> anyhow::Result<(Runtime, Store)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let settings = StorageSettings {
        endpoint: flags.storage_endpoint.clone(),
        region: flags.storage_region.clone(),
        ca_file: flags.storage_ca_file.clone(),
        keys_file: flags.storage_keys_file.clone(),
    };
    Ok((runtime, Store::open(address, &settings)?))
}
