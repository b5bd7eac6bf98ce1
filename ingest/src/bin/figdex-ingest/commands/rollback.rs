//! `figdex-ingest rollback`: publishes the previous generation of an index again.

use std::path::Path;

use anyhow::Context as _;
use figdex_index::{Manifest, Publication};
use figdex_ingest::flags::RollbackFlags;
use figdex_io::{Address, escaped, escaped_path, terminal};

use super::{cluster, storage};
use crate::as_owner;

pub(crate) fn run(flags: &RollbackFlags) -> anyhow::Result<()> {
    as_owner::of_index(&flags.index)?;
    match &flags.index {
        Address::Folder(index) => in_folder(index),
        Address::Cluster(address) => {
            let manifest = cluster::rollback(address, &flags.cluster)?;
            Ok(terminal::print(&published_again(&manifest))?)
        }
        Address::Storage(address) => storage::rollback(address, flags),
    }
}

fn in_folder(index: &Path) -> anyhow::Result<()> {
    let before = Publication::of(index).map(|found| found.generation).ok();
    let manifest = figdex_index::rollback(index).map_err(|error| {
        let says = error.says_what_is_published();
        let error = anyhow::Error::from(error);
        if says { error } else { error.context("nothing is changed") }
    })?;
    let generation = manifest.generation;
    let mut text = published_again(&manifest);
    if let Some(taken_back) = before.filter(|number| *number > generation) {
        text += &format!(
            "generation {taken_back} is taken back, and stays until the next build removes it.\n\
             To go forward to it again before that, in the folder of the index:\n  \
             cd '{}' && cp -p CURRENT CURRENT.next\n  \
             echo generation-{taken_back:06} > CURRENT.next && mv CURRENT.next CURRENT\n",
            escaped_path(index)
        );
    }
    let printed = terminal::print(&text).context("the result cannot be printed");
    printed.with_context(|| format!("generation {generation} is published again"))
}

fn published_again(Manifest { generation, instruments, built_at, .. }: &Manifest) -> String {
    let built_at = escaped(built_at);
    format!(
        "published generation {generation} again: {instruments} instruments, built at {built_at}\n"
    )
}
