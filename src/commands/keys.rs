//! `figdex keys`: API keys are added, listed and revoked.

use std::path::PathBuf;

use anyhow::Context as _;
use figdex_index::escaped;
use figdex_ingest::files::Files;
use figdex_ingest::terminal;

use crate::auth::file;
use crate::config::{KeysCommand, KeysFlags};

/// Runs one of them. Results go to standard output, where scripts read them.
pub(super) fn run(command: &KeysCommand) -> anyhow::Result<()> {
    match command {
        KeysCommand::Add { name, place } => {
            let key = file::add(&changeable(place)?, name)?;
            let name = escaped(name);
            let text = format!("the key of {name}, which is shown only now: {key}\n");
            terminal::print(&text).with_context(|| {
                format!(
                    "the key of {name} is added and cannot be shown: revoke it, and add another"
                )
            })
        }
        KeysCommand::List { place } => {
            let keys = file::list(&place.resolve()?)?.into_iter();
            let rows = keys.map(|key| [key.created.to_string(), key.name]);
            Ok(terminal::print_rows(rows)?)
        }
        KeysCommand::Revoke { name, place } => {
            file::revoke(&changeable(place)?, name)?;
            let text = format!("the key of {} is revoked", escaped(name));
            terminal::print(&format_args!("revoked the key of {}\n", escaped(name))).context(text)
        }
    }
}

/// The keys file, which a change replaces: neither it nor the files beside it are the file
/// of settings, or lie in an index.
fn changeable(place: &KeysFlags) -> anyhow::Result<PathBuf> {
    let keys = place.resolve()?;
    let mut files = Files::default();
    if let Some(config) = &place.config {
        files.read("--config", config);
    }
    for path in file::written(&keys)? {
        files.output("--keys", &path)?;
    }
    Ok(keys)
}
