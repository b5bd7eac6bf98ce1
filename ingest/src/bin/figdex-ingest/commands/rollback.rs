//! `figdex-ingest rollback`: publishes the previous generation of an index again.

use anyhow::Context as _;
use figdex_index::{Manifest, Publication, escaped, escaped_path};
use figdex_ingest::flags::RollbackFlags;
use figdex_ingest::terminal;

pub(crate) fn run(flags: &RollbackFlags) -> anyhow::Result<()> {
    let before = Publication::of(&flags.index).map(|found| found.generation).ok();
    let manifest = figdex_index::rollback(&flags.index).map_err(|error| {
        let says = error.says_what_is_published();
        let error = anyhow::Error::from(error);
        if says { error } else { error.context("nothing is changed") }
    })?;
    let Manifest { generation, instruments, built_at, .. } = manifest;
    let built_at = escaped(&built_at);
    let mut text = format!(
        "published generation {generation} again: {instruments} instruments, built at {built_at}\n"
    );
    if let Some(taken_back) = before.filter(|number| *number > generation) {
        text += &format!(
            "generation {taken_back} is taken back, and stays until the next build removes it.\n\
             To go forward to it again before that, in the folder of the index:\n  \
             cd '{}'\n  \
             echo generation-{taken_back:06} > CURRENT.next && mv CURRENT.next CURRENT\n",
            escaped_path(&flags.index)
        );
    }
    let printed = terminal::print(&text).context("the result cannot be printed");
    printed.with_context(|| format!("generation {generation} is published again"))
}
