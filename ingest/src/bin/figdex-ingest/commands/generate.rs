//! `figdex-ingest generate`: writes a synthetic dump.

use figdex_ingest::files::Files;
use figdex_ingest::flags::GenerateFlags;
use figdex_ingest::generate::{self, Universe};

use super::out;

pub(crate) fn run(flags: &GenerateFlags) -> anyhow::Result<()> {
    let GenerateFlags { count, seed, mix, dirt, .. } = *flags;
    let universe = Universe { count, seed, mix, dirt };
    let mut files = Files::default();
    let out = flags.out.as_ref().map(|path| files.output("--out", path)).transpose()?;
    out::write(out.as_ref(), |mut out| generate::write(&universe, flags.format, &mut out))
}
