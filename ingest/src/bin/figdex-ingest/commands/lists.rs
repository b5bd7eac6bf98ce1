//! `figdex-ingest formats` and `figdex-ingest columns`: list the formats and columns of dumps.

use std::fmt::Display;

use figdex_ingest::flags::ListFlags;
use figdex_ingest::reference;
use figdex_io::terminal;
use serde::Serialize;

pub(crate) fn formats(flags: &ListFlags) -> anyhow::Result<()> {
    print(flags, &reference::formats())
}

pub(crate) fn columns(flags: &ListFlags) -> anyhow::Result<()> {
    print(flags, &reference::columns())
}

fn print(flags: &ListFlags, list: &(impl Display + Serialize)) -> anyhow::Result<()> {
    match flags.json {
        true => terminal::print(&(serde_json::to_string_pretty(list)? + "\n"))?,
        false => terminal::print(list)?,
    }
    Ok(())
}
