//! `figdex-ingest rollback`: publishes the previous generation of an index again.

use anyhow::Context as _;
use figdex_index::{Manifest, escaped};
use figdex_ingest::flags::RollbackFlags;
use figdex_ingest::terminal;

pub(crate) fn run(flags: &RollbackFlags) -> anyhow::Result<()> {
    let manifest = figdex_index::rollback(&flags.index).map_err(|error| {
        let says = error.says_what_is_published();
        let error = anyhow::Error::from(error);
        if says { error } else { error.context("nothing is changed") }
    })?;
    let Manifest { generation, instruments, built_at, .. } = manifest;
    let built_at = escaped(&built_at);
    let text = format!(
        "published generation {generation} again: {instruments} instruments, built at {built_at}\n"
    );
    let printed = terminal::print(&text).context("the result cannot be printed");
    printed.with_context(|| format!("generation {generation} is published again"))
}
