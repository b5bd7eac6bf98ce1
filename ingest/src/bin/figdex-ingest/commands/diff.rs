//! `figdex-ingest diff`: writes what differs between two indexes.

use figdex_index::{CountedChanges, is_index};
use figdex_ingest::flags::DiffFlags;
use figdex_ingest::inspect::diff;
use figdex_io::{Files, grouped, terminal};

use super::out;

pub(crate) fn run(flags: &DiffFlags) -> anyhow::Result<()> {
    let mut files = Files::new(is_index);
    for index in [&flags.old, &flags.new] {
        files.index(index)?;
    }
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    out::check(flags.format, out.as_ref())?;
    let (old, new) = (diff::open(&flags.old)?, diff::open(&flags.new)?);
    let mut counts = CountedChanges::default();
    out::write(out.as_ref(), |out| {
        let written = diff::write(&old, &new, flags.format, out);
        written.map(|all| counts = all).map_err(super::export::plain)
    })?;
    let CountedChanges { inserted, updated, deleted, cosmetic } = counts;
    let [inserted, updated, deleted, cosmetic] =
        [inserted, updated, deleted, cosmetic].map(grouped);
    terminal::note(&format_args!(
        "{inserted} new, {deleted} gone, {updated} different ({cosmetic} of them only in importance \
         or writing)"
    ));
    Ok(())
}
