//! Earlier generations in the storage: listing them, returning to one, and removing those that
//! nobody reads any more. Only objects with names that Figdex forms are removed.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use crate::contents::Described;
use crate::error::{Error, Result};
use crate::layout::Pointer;
use crate::lease::Lease;
use crate::names::{CURRENT, GenerationName, Kind, PieceName};
use crate::replicas;
use crate::store::{Listed, Store};

/// The options for earlier generations at a publication.
#[derive(Clone, Copy, Debug)]
pub struct PublishOptions {
    /// The number of generations before the published one that stay.
    pub keep: usize,
    /// The time for which each other generation stays after the next one was published: servers may
    /// still be copying it.
    pub grace: Duration,
}

/// Removes generations that are no longer kept, and leftovers of killed publishers. `before` is the
/// number that was published until now; later numbers were rolled back. Returns the names of the
/// removed complete generations.
pub(crate) async fn prune(
    store: &Store,
    lease: &Lease,
    before: u64,
    options: PublishOptions,
) -> Result<Vec<String>> {
    let there = store.list().await?;
    let Some(pointer) = Pointer::read(store).await? else { return Ok(Vec::new()) };
    // All ages are measured by the clock of the storage.
    let Some(now) = there.iter().find(|object| object.key == CURRENT).map(|found| found.changed)
    else {
        return Ok(Vec::new());
    };
    let grace = i64::try_from(options.grace.as_secs()).unwrap_or(i64::MAX);
    let complete = complete(&there);
    let mut kept = HashSet::from([pointer.name]);
    let earlier = complete.keys().filter(|name| name.number <= before);
    kept.extend(earlier.rev().take(options.keep));
    // A generation was published until the contents of the next one came.
    for name in complete.keys() {
        let next = complete.iter().find(|(later, _)| later.number > name.number);
        let replaced = next.map_or(now, |(_, changed)| *changed);
        if now.saturating_sub(replaced) < grace {
            kept.insert(*name);
        }
    }
    let mut needed: HashSet<PieceName> = HashSet::new();
    for name in &kept {
        let described = Described::read(store, *name, None).await?;
        needed.extend(described.pieces().iter().map(|piece| piece.name));
    }
    let mut removed = Vec::new();
    // The contents are removed first: pieces without contents are not a generation.
    let mut gone: Vec<&Listed> = Vec::new();
    for object in &there {
        let is_young = now.saturating_sub(object.changed) < grace;
        match Kind::of(&object.key) {
            Some(Kind::Contents(name)) if !kept.contains(&name) => {
                removed.push(name.to_string());
                gone.insert(0, object);
            }
            Some(Kind::Piece(piece)) if !kept.contains(&piece.generation) => {
                // Without contents, the publication was cut off. It may be attempted again.
                let is_leftover = !complete.contains_key(&piece.generation);
                let stays = needed.contains(&piece) || is_leftover && is_young;
                if !stays {
                    gone.push(object);
                }
            }
            Some(Kind::Patches(name))
                if !kept.contains(&name) && (complete.contains_key(&name) || !is_young) =>
            {
                gone.push(object);
            }
            _ => {}
        }
    }
    for object in gone {
        lease.check()?;
        store.remove(&object.key).await?;
    }
    for key in replicas::old_notes(&there, now) {
        lease.check()?;
        if let Err(error) = store.remove(key).await {
            // The next publication tries again.
            let reason = figdex_index::chain(&error);
            tracing::warn!(reason, "an old note of a server was not removed");
            break;
        }
    }
    Ok(removed)
}

/// The complete generations, ordered by number, and the time of the contents of each.
fn complete(there: &[Listed]) -> BTreeMap<GenerationName, i64> {
    let found = there.iter().filter_map(|object| match Kind::of(&object.key)? {
        Kind::Contents(name) => Some((name, object.changed)),
        Kind::Piece(_) | Kind::Patches(_) => None,
    });
    found.collect()
}

/// Publishes the generation before the published one again. Returns its manifest, and the number of
/// the generation that it replaces.
///
/// # Errors
/// [`Error::NothingBefore`] when there is none, and the errors of [`crate::publish()`].
pub async fn rollback(store: &Store) -> Result<(figdex_index::Manifest, u64)> {
    if Pointer::read(store).await?.is_none() {
        return Err(Error::Nothing(store.to_string()));
    }
    let lease = Lease::take(store).await?;
    let done = rolled_back(store, &lease).await;
    lease.release().await;
    done
}

async fn rolled_back(store: &Store, lease: &Lease) -> Result<(figdex_index::Manifest, u64)> {
    let Some(pointer) = Pointer::read(store).await? else {
        return Err(Error::Nothing(store.to_string()));
    };
    let complete = complete(&store.list().await?);
    let before = complete.into_keys().rfind(|name| name.number < pointer.generation);
    let Some(name) = before else {
        let generation = pointer.generation;
        return Err(Error::NothingBefore { place: store.to_string(), generation });
    };
    let (described, contents_sha256) = Described::read_with_checksum(store, name).await?;
    let back = Pointer {
        generation: name.number,
        name,
        contents_sha256,
        rolled_back_from: Some(pointer.generation.max(pointer.rolled_back_from.unwrap_or(0))),
        ..pointer.clone()
    };
    lease.point(&back).await?;
    Ok((described.manifest, pointer.generation))
}
