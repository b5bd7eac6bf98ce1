//! The command that runs once an index is published (`--after-publish`).

use std::process::Command;

use anyhow::{Context as _, ensure};
use figdex_ingest::Published;
use figdex_io::Address;

/// Runs a command in a shell. Its variables say what was published.
///
/// # Errors
/// When the command cannot be started, or does not succeed.
pub(super) fn run(command: &str, index: &Address, published: &Published) -> anyhow::Result<()> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    let Published { generation, instruments, token, date, changes, .. } = published;
    shell
        .env("FIGDEX_PUBLISHED_INDEX", index.to_string())
        .env("FIGDEX_PUBLISHED_GENERATION", generation.to_string())
        .env("FIGDEX_PUBLISHED_TOKEN", token.to_string())
        .env("FIGDEX_PUBLISHED_DATE", date.to_string())
        .env("FIGDEX_PUBLISHED_INSTRUMENTS", instruments.to_string());
    // There are no numbers where there were too many changes to keep.
    if let Some(changes) = changes.as_ref().filter(|changes| !changes.is_marker) {
        shell
            .env("FIGDEX_PUBLISHED_INSERTED", changes.counts.inserted.to_string())
            .env("FIGDEX_PUBLISHED_UPDATED", changes.counts.updated.to_string())
            .env("FIGDEX_PUBLISHED_DELETED", changes.counts.deleted.to_string())
            .env("FIGDEX_PUBLISHED_CHANGES", &changes.file);
    }
    let status = shell
        .status()
        .context("the new index is published, but --after-publish cannot be started")?;
    ensure!(
        status.success(),
        "the new index is published, but the command of --after-publish failed ({status})"
    );
    Ok(())
}
