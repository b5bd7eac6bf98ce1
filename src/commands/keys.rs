//! `figdex keys`: adds, lists and revokes API keys.

use std::path::PathBuf;

use anyhow::Context as _;
use figdex_index::is_index;
use figdex_io::{Files, escaped, terminal};

use crate::callers::auth::file;
use crate::config::{KeysCommand, KeysFlags};

/// Runs a command. Results go to standard output, where scripts read them, and a warning about the
/// file to standard error.
pub(super) fn run(command: &KeysCommand) -> anyhow::Result<()> {
    let (KeysCommand::Add { place, .. }
    | KeysCommand::List { place }
    | KeysCommand::Revoke { place, .. }) = command;
    if let Some(warning) = place.resolve().ok().and_then(|keys| file::shared(&keys)) {
        terminal::note(&format_args!("warning: {warning}"));
    }
    match command {
        KeysCommand::Add { name, is_internal, place } => {
            let add = if *is_internal { file::add_internal } else { file::add };
            let key = add(&changeable(place)?, name)?;
            let name = escaped(name);
            let text = format!("the key of {name}, which is shown only once: {key}\n");
            terminal::print(&text).with_context(|| {
                format!(
                    "the key of {name} was added but cannot be shown; revoke it and add another"
                )
            })
        }
        KeysCommand::List { place } => {
            let keys = file::list(&place.resolve()?)?;
            let has_internal = keys.iter().any(|key| key.is_internal);
            let keys = keys.into_iter();
            if !has_internal {
                let rows = keys.map(|key| [key.created.to_string(), key.name]);
                return Ok(terminal::print_rows(rows)?);
            }
            let rows = keys.map(|key| {
                let class = if key.is_internal { "internal" } else { "" };
                [key.created.to_string(), key.name, class.to_owned()]
            });
            Ok(terminal::print_rows(rows)?)
        }
        KeysCommand::Revoke { name, place } => {
            file::revoke(&changeable(place)?, name)?;
            let text = format!("the key of {} was revoked", escaped(name));
            terminal::print(&format_args!("revoked the key of {}\n", escaped(name))).context(text)
        }
    }
}

/// The keys file, for a command that replaces it. Neither the file nor the files that a change
/// writes next to it may be the file of settings or lie in an index.
fn changeable(place: &KeysFlags) -> anyhow::Result<PathBuf> {
    let keys = place.resolve()?;
    let mut files = Files::new(is_index);
    if let Some(config) = &place.0.config {
        files.read("--config", config);
    }
    // Each of them is compared with the settings and not with the others: a change by another
    // process may rename the temporary file to the keys file between two looks.
    for path in file::written(&keys)? {
        files.clone().output("--keys", &path)?;
    }
    Ok(keys)
}
