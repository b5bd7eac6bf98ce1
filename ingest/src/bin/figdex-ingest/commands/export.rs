//! `figdex-ingest export`: writes an index back as a canonical dump.

use std::path::Path;

use anyhow::{Context as _, bail};
use figdex_index::{Catalogue, Manifest, Vocabulary, is_index};
use figdex_ingest::flags::ExportFlags;
use figdex_ingest::inspect::export::{self, ExportError};
use figdex_io::{Address, Files, escaped_path};

use super::cluster::Opened;
use super::out;

pub(crate) fn run(flags: &ExportFlags) -> anyhow::Result<()> {
    if let Address::Storage(address) = &flags.index {
        bail!(
            "{address} has files that are read only on a disk: export the folder from which it was \
             published, or the --cache of a server"
        );
    }
    if let Some(path) = &flags.history {
        return history(&flags.index, path);
    }
    let mut files = Files::new(is_index);
    if let Address::Folder(index) = &flags.index {
        files.index(index)?;
    }
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    out::check(flags.format, out.as_ref())?;
    let token = flags.token.as_ref().map(|path| files.output("--token", path)).transpose()?;
    let lists = flags.values.as_ref().map(|folder| export::value_lists(folder, &mut files));
    let lists = lists.transpose()?;
    let write_values = |vocabulary: &Vocabulary| match (&lists, &flags.values) {
        (Some(lists), Some(folder)) => {
            export::write_values(vocabulary, folder, lists).context("writing")
        }
        _ => Ok(()),
    };
    let write_token = |manifest: &Manifest| match &token {
        Some(file) => {
            file.write(format!("{}\n", manifest.id).as_bytes()).context("writing --token")
        }
        None => Ok(()),
    };
    match &flags.index {
        Address::Folder(index) => {
            let catalogue = Catalogue::open(index)?;
            write_values(catalogue.vocabulary())?;
            out::write(out.as_ref(), |out| {
                export::write(&catalogue, flags.format, out).map_err(plain)
            })?;
            write_token(catalogue.manifest())
        }
        Address::Cluster(address) => {
            let opened = Opened::of(address, &flags.cluster)?;
            write_values(opened.generation.vocabulary())?;
            out::write(out.as_ref(), |out| {
                let written = export::write_of_cluster(&opened.generation, flags.format, out);
                opened.wait_for(written).map_err(plain)
            })?;
            write_token(opened.generation.manifest())
        }
        Address::Storage(_) => unreachable!("refused above"),
    }
}

/// Writes the past of an index to a file.
fn history(index: &Address, path: &Path) -> anyhow::Result<()> {
    let Address::Folder(index) = index else {
        bail!("an index in a cluster keeps no past: export that of the folder where it is built");
    };
    let mut files = Files::new(is_index);
    files.index(index)?;
    let output = files.output("--history", path)?;
    let catalogue = Catalogue::open(index)?;
    let written = || {
        let file = output.create()?;
        let Some(new) = file.temporary() else {
            bail!("it is a stream, and a past is written only to a file");
        };
        catalogue.export_past(new)?;
        Ok(file.keep()?)
    };
    written().with_context(|| format!("writing {}", escaped_path(path)))
}

/// The error, or the I/O error inside, whose kind shows a closed pipe.
pub(super) fn plain(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Write(error) => error.into(),
        error => error.into(),
    }
}
