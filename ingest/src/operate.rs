//! The commands about an index that is there: `rollback`, `inspect`, `verify`,
//! `explain` and `export`.

use std::fs;
use std::io;

use anyhow::Context as _;
use figdex_index::Catalogue;
use figdex_ingest::explain;
use figdex_ingest::export::{self, ExportError};
use figdex_ingest::flags::{
    ExplainFlags, ExportFlags, InspectFlags, Layout, RollbackFlags, VerifyFlags,
};
use figdex_ingest::inspect::Inspection;

use crate::output;

pub(crate) fn rollback(flags: &RollbackFlags) -> anyhow::Result<()> {
    let manifest = figdex_index::rollback(&flags.index)?;
    println!(
        "published generation {} again: {} instruments, built at {}",
        manifest.generation, manifest.instruments, manifest.built_at
    );
    Ok(())
}

pub(crate) fn inspect(flags: &InspectFlags) -> anyhow::Result<()> {
    let inspection = Inspection::of(&flags.index)?;
    output::write(None, |out| {
        if flags.json {
            serde_json::to_writer_pretty(&mut *out, &inspection)?;
            writeln!(out)
        } else {
            write!(out, "{inspection}")
        }
    })
}

pub(crate) fn verify(flags: &VerifyFlags) -> anyhow::Result<()> {
    let catalogue = Catalogue::open(&flags.index)?;
    catalogue.verify()?;
    let manifest = catalogue.manifest();
    println!(
        "generation {} is whole: {} instruments, {} bytes",
        manifest.generation,
        manifest.instruments,
        manifest.bytes()
    );
    Ok(())
}

pub(crate) fn explain(flags: &ExplainFlags) -> anyhow::Result<()> {
    let question = match flags.question.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(&flags.question),
    };
    let question = question.with_context(|| flags.question.display().to_string())?;
    let catalogue = Catalogue::open(&flags.index)?;
    let told = explain::explain(&catalogue, &question)?;
    output::write(None, |out| write!(out, "{told}"))
}

pub(crate) fn export(flags: &ExportFlags) -> anyhow::Result<()> {
    let catalogue = Catalogue::open(&flags.index)?;
    if let Some(folder) = &flags.values {
        export::write_values(catalogue.vocabulary(), folder)
            .with_context(|| format!("writing {}", folder.display()))?;
    }
    let format = match flags.format {
        Layout::Csv => export::Format::Csv,
        Layout::Jsonl => export::Format::JsonLines,
    };
    output::write(flags.out.as_deref(), |out| {
        export::write(&catalogue, format, out).map_err(|error| match error {
            ExportError::Write(error) => error.into(),
            error => anyhow::Error::from(error),
        })
    })
}
