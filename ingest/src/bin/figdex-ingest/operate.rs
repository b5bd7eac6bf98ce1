//! The commands about an index that is there: `rollback`, `inspect`, `verify`
//! and `export`.

use anyhow::Context as _;
use figdex_index::{Catalogue, Manifest, escaped};
use figdex_ingest::flags::{ExportFlags, InspectFlags, Layout, RollbackFlags, VerifyFlags};
use figdex_ingest::inspect::export::ExportError;
use figdex_ingest::inspect::{Inspection, export};
use figdex_ingest::outputs::Files;
use figdex_ingest::terminal;

use crate::output;

pub(crate) fn rollback(flags: &RollbackFlags) -> anyhow::Result<()> {
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
    let printed = terminal::print(&text).context("this cannot be printed");
    printed.with_context(|| format!("generation {generation} is published again"))
}

pub(crate) fn inspect(flags: &InspectFlags) -> anyhow::Result<()> {
    let inspection = Inspection::of(&flags.index)?;
    match flags.json {
        // Its strings may be escaped as anything else: they stay the same JSON.
        true => terminal::print(&(serde_json::to_string_pretty(&inspection)? + "\n"))?,
        false => terminal::print(&inspection)?,
    }
    Ok(())
}

pub(crate) fn verify(flags: &VerifyFlags) -> anyhow::Result<()> {
    let catalogue = Catalogue::open(&flags.index)?;
    catalogue.verify()?;
    let manifest = catalogue.manifest();
    Ok(terminal::print(&format_args!(
        "generation {} is whole: {} instruments, {} bytes\n",
        manifest.generation,
        manifest.instruments,
        manifest.bytes()
    ))?)
}

pub(crate) fn export(flags: &ExportFlags) -> anyhow::Result<()> {
    let mut files = Files::default();
    files.index(&flags.index)?;
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    let lists = flags.values.as_ref().map(|folder| export::value_lists(folder, &mut files));
    let lists = lists.transpose()?;
    let catalogue = Catalogue::open(&flags.index)?;
    if let (Some(lists), Some(folder)) = (lists, &flags.values) {
        export::write_values(catalogue.vocabulary(), folder, &lists).context("writing")?;
    }
    let format = match flags.format {
        Layout::Csv => export::Format::Csv,
        Layout::Jsonl => export::Format::JsonLines,
    };
    output::write(out.as_ref(), |out| {
        export::write(&catalogue, format, out).map_err(|error| match error {
            ExportError::Write(error) => error.into(),
            error => anyhow::Error::from(error),
        })
    })
}
