//! `figdex-ingest inspect`: prints what an index contains, or how a build would read a dump, as
//! text or as JSON.

use figdex_index::escaped_path;
use figdex_ingest::flags::InspectFlags;
use figdex_ingest::inspect::Inspection;
use figdex_ingest::preview::Previews;
use figdex_ingest::{Format, Input, terminal};

/// The two kinds of arguments, for one that is neither.
const EXPECTED: &str = "expected the folder of an index (it has a file CURRENT), or a dump: a file, \
                        a folder of files, or - for standard input";

pub(crate) fn run(flags: &InspectFlags) -> anyhow::Result<()> {
    if is_index(flags) {
        let inspection = Inspection::of(&flags.path)?;
        // Escaping hidden characters in strings of JSON leaves it the same JSON.
        match flags.json {
            true => terminal::print(&(serde_json::to_string_pretty(&inspection)? + "\n"))?,
            false if flags.sizes => {
                terminal::print(&format_args!("{inspection}{}", inspection.sizes()))?;
            }
            false => terminal::print(&inspection)?,
        }
        return Ok(());
    }
    if flags.sizes {
        anyhow::bail!("--sizes shows those of an index, and {} is none", escaped_path(&flags.path));
    }
    let format = match &flags.columns[..] {
        [] => flags.format.clone(),
        files => Some(Format::read_all(files)?),
    };
    let inputs =
        Input::resolve(&flags.path).map_err(|error| anyhow::anyhow!("{error}; {EXPECTED}"))?;
    let previews = Previews::of(&inputs, format.as_ref(), flags.rows)?;
    match flags.json {
        true => terminal::print(&(serde_json::to_string_pretty(&previews)? + "\n"))?,
        false => terminal::print(&previews)?,
    }
    match previews.unreadable() {
        0 => Ok(()),
        number => anyhow::bail!("a build cannot read {number} of {} files", previews.0.len()),
    }
}

/// Whether the path is the folder of an index. Any other folder holds dumps.
fn is_index(flags: &InspectFlags) -> bool {
    flags.path.join("CURRENT").exists()
        || figdex_index::generations(&flags.path).is_ok_and(|found| !found.is_empty())
}
