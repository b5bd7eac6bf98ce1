//! `figdex-ingest verify`: checks the files of an index and their agreement. For an index in a
//! cluster, it checks that all instruments can be read; in object storage, it checks every piece of
//! the files.

use std::path::Path;

use anyhow::{Context as _, bail};
use figdex_index::{Catalogue, ChangeFile, Error, Instrument, change_file, changes_kept};
use figdex_ingest::flags::VerifyFlags;
use figdex_io::{Address, escaped_path, terminal};

use super::cluster::Opened;
use super::storage;

pub(crate) fn run(flags: &VerifyFlags) -> anyhow::Result<()> {
    let (manifest, size) = match &flags.index {
        Address::Folder(index) => {
            let catalogue = Catalogue::open_checked(index)?;
            catalogue.verify()?;
            let manifest = catalogue.manifest().clone();
            let size = format!(", {} bytes", manifest.bytes());
            verify_changes(index)?;
            (manifest, size)
        }
        Address::Cluster(address) => {
            let opened = Opened::of(address, &flags.cluster)?;
            let each = |_: &Instrument| Ok::<_, figdex_opensearch::Error>(());
            let read = opened.wait_for(opened.generation.instruments(each));
            read.with_context(|| format!("reading {address}"))?;
            (opened.generation.manifest().clone(), " were read".to_owned())
        }
        Address::Storage(address) => return storage::verify(address, flags),
    };
    Ok(terminal::print(&format_args!(
        "generation {} is intact: {} instruments{size}\n",
        manifest.generation, manifest.instruments
    ))?)
}

/// Reads every change file of an index folder. Files of another format are passed over: they were
/// kept by an earlier version, and nobody reads them any more.
fn verify_changes(index: &Path) -> anyhow::Result<()> {
    for id in changes_kept(index)? {
        let path = change_file(index, id);
        match ChangeFile::open(&path) {
            Ok(file) if file.summary().id != id => {
                bail!("{} is of another generation: remove it", escaped_path(&path))
            }
            Ok(file) => file
                .for_each(|_| Ok::<_, Error>(()))
                .context("remove this file: its readers export again")?,
            Err(Error::ForeignFormat { .. }) => {}
            Err(error) => {
                return Err(error).context("remove this file: its readers export again");
            }
        }
    }
    Ok(())
}
