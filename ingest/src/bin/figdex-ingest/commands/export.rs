//! `figdex-ingest export`: writes an index back as a canonical dump.

use anyhow::Context as _;
use figdex_index::Catalogue;
use figdex_ingest::files::Files;
use figdex_ingest::flags::ExportFlags;
use figdex_ingest::inspect::export::{self, ExportError};

use super::out;

pub(crate) fn run(flags: &ExportFlags) -> anyhow::Result<()> {
    let mut files = Files::default();
    files.index(&flags.index)?;
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    let lists = flags.values.as_ref().map(|folder| export::value_lists(folder, &mut files));
    let lists = lists.transpose()?;
    let catalogue = Catalogue::open(&flags.index)?;
    if let (Some(lists), Some(folder)) = (lists, &flags.values) {
        export::write_values(catalogue.vocabulary(), folder, &lists).context("writing")?;
    }
    out::write(out.as_ref(), |out| {
        export::write(&catalogue, flags.format, out).map_err(|error| match error {
            // The system's own error, by which a closed pipe is recognised.
            ExportError::Write(error) => error.into(),
            error => anyhow::Error::from(error),
        })
    })
}
