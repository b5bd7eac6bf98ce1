//! `figdex-ingest verify`: checks the files of an index and their agreement. For an index in a
//! cluster, it checks that all instruments can be read; in object storage, it checks every piece of
//! the files.

use anyhow::Context as _;
use figdex_index::{Catalogue, Instrument};
use figdex_ingest::flags::VerifyFlags;
use figdex_io::{Address, terminal};

use super::cluster::Opened;
use super::storage;

pub(crate) fn run(flags: &VerifyFlags) -> anyhow::Result<()> {
    let (manifest, size) = match &flags.index {
        Address::Folder(index) => {
            let catalogue = Catalogue::open_checked(index)?;
            catalogue.verify()?;
            let manifest = catalogue.manifest().clone();
            let size = format!(", {} bytes", manifest.bytes());
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
