//! `figdex-ingest verify`: checks the files of an index, and that they agree.

use figdex_index::Catalogue;
use figdex_ingest::flags::VerifyFlags;
use figdex_ingest::terminal;

pub(crate) fn run(flags: &VerifyFlags) -> anyhow::Result<()> {
    let catalogue = Catalogue::open_checked(&flags.index)?;
    catalogue.verify()?;
    let manifest = catalogue.manifest();
    Ok(terminal::print(&format_args!(
        "generation {} is intact: {} instruments, {} bytes\n",
        manifest.generation,
        manifest.instruments,
        manifest.bytes()
    ))?)
}
