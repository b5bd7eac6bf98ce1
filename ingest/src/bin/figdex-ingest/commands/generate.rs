//! `figdex-ingest generate`: writes a synthetic dump.

use figdex_index::is_index;
use figdex_ingest::flags::GenerateFlags;
use figdex_io::Files;
use figdex_universe::Universe;

use super::out;

pub(crate) fn run(flags: &GenerateFlags) -> anyhow::Result<()> {
    let GenerateFlags { count, seed, mix, dirt, .. } = *flags;
    let universe = Universe { count, seed, mix, dirt };
    let mut files = Files::new(is_index);
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    out::write(out.as_ref(), |mut out| universe.write(flags.format, &mut out))
}
