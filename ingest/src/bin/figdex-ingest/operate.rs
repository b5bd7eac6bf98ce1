//! The command `explain`.

use std::fs;
use std::io;

use anyhow::Context as _;
use figdex_index::{Catalogue, escaped_path};
use figdex_ingest::flags::ExplainFlags;
use figdex_ingest::{explain, terminal};

pub(crate) fn explain(flags: &ExplainFlags) -> anyhow::Result<()> {
    let question = match flags.question.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(&flags.question),
    };
    let question = question.with_context(|| escaped_path(&flags.question).to_string())?;
    let catalogue = Catalogue::open(&flags.index)?;
    let told = explain::explain(&catalogue, &question)?;
    Ok(terminal::print(&told)?)
}
