//! `figdex-ingest inspect`: prints what an index contains, as text or as JSON.

use figdex_ingest::flags::InspectFlags;
use figdex_ingest::inspect::Inspection;
use figdex_ingest::terminal;

pub(crate) fn run(flags: &InspectFlags) -> anyhow::Result<()> {
    let inspection = Inspection::of(&flags.index)?;
    match flags.json {
        // Escaping hidden characters in strings of JSON leaves it the same JSON.
        true => terminal::print(&(serde_json::to_string_pretty(&inspection)? + "\n"))?,
        false => terminal::print(&inspection)?,
    }
    Ok(())
}
