//! Generations in the storage beyond the published one: which there are, going back to one, and
//! removing those that nobody reads any more. Only objects whose names Figdex forms are removed.

use std::collections::{BTreeMap, HashSet};

use crate::error::{Error, Result};
use crate::layout::{CURRENT, Contents, Kind, Pointer, kind_of, number_of};
use crate::lease::Lease;
use crate::publish::{PublishOptions, point};
use crate::store::{Listed, Store};

/// Removes generations that are no longer kept, and what killed publishers have left. `before` is the
/// number that was published until now; later ones were rolled back. Returns the names of those that
/// were complete.
pub(crate) async fn prune(
    store: &Store,
    lease: &Lease,
    before: u64,
    options: PublishOptions,
) -> Result<Vec<String>> {
    let there = store.list().await?;
    let Some(pointer) = Pointer::read(store).await? else { return Ok(Vec::new()) };
    // All ages are by the clock of the storage.
    let Some(now) = there.iter().find(|object| object.key == CURRENT).map(|found| found.changed)
    else {
        return Ok(Vec::new());
    };
    let grace = i64::try_from(options.grace.as_secs()).unwrap_or(i64::MAX);
    let complete = complete(&there);
    let mut kept: HashSet<&str> = HashSet::from([&*pointer.name]);
    let earlier = complete.iter().filter(|(key, _)| key.0 <= before);
    kept.extend(earlier.rev().take(options.keep).map(|((_, name), _)| &**name));
    // Those that were published until a moment ago: until the contents of the next one came.
    for (number, name) in complete.keys() {
        let next = complete.iter().find(|((later, _), _)| later > number);
        let replaced = next.map_or(now, |(_, changed)| *changed);
        if now.saturating_sub(replaced) < grace {
            kept.insert(name);
        }
    }
    let mut needed = HashSet::new();
    for name in &kept {
        needed.extend(Contents::read(store, name, None).await?.keys());
    }
    let mut removed = Vec::new();
    // The contents go first: without them it is not a generation.
    let mut gone: Vec<&Listed> = Vec::new();
    for object in &there {
        let is_young = now.saturating_sub(object.changed) < grace;
        match kind_of(&object.key) {
            Some(Kind::Contents(name)) if !kept.contains(name) => {
                removed.push(name.to_owned());
                gone.insert(0, object);
            }
            Some(Kind::Piece(name, _)) if !kept.contains(name) => {
                // Of a publication that was cut off, which is perhaps attempted again.
                let is_leftover = !complete.keys().any(|(_, complete)| complete == name);
                let stays = needed.contains(&object.key) || is_leftover && is_young;
                if !stays {
                    gone.push(object);
                }
            }
            _ => {}
        }
    }
    for object in gone {
        lease.check()?;
        store.remove(&object.key).await?;
    }
    Ok(removed)
}

/// The complete generations: number and name of each, and the time of its contents.
fn complete(there: &[Listed]) -> BTreeMap<(u64, String), i64> {
    let found = there.iter().filter_map(|object| match kind_of(&object.key)? {
        Kind::Contents(name) => Some(((number_of(name)?, name.to_owned()), object.changed)),
        Kind::Piece(..) => None,
    });
    found.collect()
}

/// Publishes the generation before the published one again. Returns its number, and the number of
/// the one that it replaces.
///
/// # Errors
/// [`Error::NothingBefore`] when there is none, and as [`crate::publish()`].
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
    let before = complete.into_keys().rfind(|(number, _)| *number < pointer.generation);
    let Some((generation, name)) = before else {
        let generation = pointer.generation;
        return Err(Error::NothingBefore { place: store.to_string(), generation });
    };
    let (described, contents_sha256) = Contents::read_with_checksum(store, &name).await?;
    let back = Pointer {
        generation,
        name,
        contents_sha256,
        rolled_back_from: Some(pointer.generation.max(pointer.rolled_back_from.unwrap_or(0))),
        ..pointer.clone()
    };
    point(store, lease, &back).await?;
    Ok((described.manifest, pointer.generation))
}
