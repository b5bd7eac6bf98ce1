//! `figdex-ingest inspect`: prints what an index contains, or how a build would read a dump, as
//! text or as JSON.

use std::path::Path;

use figdex_ingest::flags::InspectFlags;
use figdex_ingest::inspect::Inspection;
use figdex_ingest::preview::Previews;
use figdex_ingest::{Format, Input};
use figdex_io::{Address, escaped_path, terminal};

use super::cluster::Opened;
use super::storage;

/// The advice for an argument that is neither an index nor a dump.
const EXPECTED: &str = "expected the folder of an index (it has a file CURRENT), or a dump: a file, \
                        a folder of files, or - for standard input";

pub(crate) fn run(flags: &InspectFlags) -> anyhow::Result<()> {
    match &flags.what {
        Address::Folder(index) if is_index(index) => show(&Inspection::of(index)?, flags),
        Address::Folder(dumps) => preview(dumps, flags),
        Address::Cluster(address) => {
            if flags.sizes {
                anyhow::bail!("--sizes shows the files of a folder, and {address} has none");
            }
            let opened = Opened::of(address, &flags.cluster)?;
            let asked = Inspection::of_cluster(address, &opened.generation);
            show(&opened.wait_for(asked)?, flags)
        }
        Address::Storage(address) => storage::inspect(address, flags),
    }
}

/// Prints what an index contains.
fn show(inspection: &Inspection, flags: &InspectFlags) -> anyhow::Result<()> {
    // JSON stays the same JSON when hidden characters in its strings are escaped.
    match flags.json {
        true => terminal::print(&(serde_json::to_string_pretty(inspection)? + "\n"))?,
        false if flags.sizes => {
            terminal::print(&format_args!("{inspection}{}", inspection.sizes()))?;
        }
        false => terminal::print(inspection)?,
    }
    Ok(())
}

/// Prints how a build would read dumps.
fn preview(path: &Path, flags: &InspectFlags) -> anyhow::Result<()> {
    if flags.sizes {
        anyhow::bail!("--sizes shows those of an index, and {} is none", escaped_path(path));
    }
    let format = match &flags.columns[..] {
        [] => flags.format.clone(),
        files => Some(Format::read_all(files)?),
    };
    let inputs = Input::resolve(path).map_err(|error| anyhow::anyhow!("{error}; {EXPECTED}"))?;
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
fn is_index(path: &Path) -> bool {
    path.join("CURRENT").exists()
        || figdex_index::generations(path).is_ok_and(|found| !found.is_empty())
}
