//! Publishing a generation of a local index in a cluster.
//!
//! A new index is filled, closed for writing and checked. Then one request switches the alias to
//! it. If the program is killed before this request, the alias stays where it was, and the next
//! publication removes the leftovers.

mod fill;
mod lease;
mod ready;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use figdex_index::{Catalogue, Manifest};
use serde_json::{Value, json};

use self::lease::Lease;
use crate::client::{Client, Pauses, Request};
use crate::error::{Error, Result};
use crate::generation::{self, ClusterPublication};
use crate::names;
use crate::patience::Patience;
use crate::schema::{self, About, Division};
use crate::settings::settings;

/// The time without progress after which a publication is given up.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The time limit of a call that makes documents visible.
const REFRESH_TIME: Duration = Duration::from_secs(600);

/// The time limit for a change of the cluster's state.
const STATE_TIME: Duration = Duration::from_secs(60);

/// The number of documents whose bytes are compared with the sent ones.
const COMPARED: u64 = 100;

/// The options of a publication.
#[derive(Clone, Copy, Debug)]
pub struct PublishOptions {
    /// The shards of the new index.
    pub division: Division,
    /// The number of earlier generations that stay.
    pub keep: usize,
    /// The time after the switch for which the previously published generation stays.
    pub grace: Duration,
    /// The time without progress after which the publication is given up: [`PATIENCE`], or less in
    /// tests.
    pub patience: Duration,
}

/// The report of a publication.
#[derive(Clone, Debug)]
pub struct Published {
    /// The number of the generation in the cluster.
    pub generation: u64,
    /// Its index.
    pub index: String,
    /// The number of its documents.
    pub documents: u64,
    /// Whether all copies of its shards are ready.
    pub is_copied: bool,
    /// The number of documents that were sent again because the cluster had no room for them or did
    /// not answer.
    pub repeated: u64,
    /// The indexes of earlier and rolled-back generations that were removed.
    pub removed: Vec<String>,
}

/// A generation in a cluster, and its index. [`complete`] returns only complete ones.
struct Complete {
    generation: u64,
    index: String,
}

/// Publishes the published generation of a local index folder. `progress` gets the number of
/// documents that the cluster has so far.
///
/// # Errors
/// When the local index is damaged, another publication is running, or the cluster refuses a
/// request or stalls. The alias is then unchanged, unless the removal of earlier generations
/// failed.
pub async fn publish(
    client: Arc<Client>,
    name: &str,
    index: &Path,
    options: PublishOptions,
    progress: impl FnMut(u64),
) -> Result<Published> {
    let catalogue = Catalogue::open(index)?;
    let before = published(&client, name).await?;
    // Indexes of other publishers have numbers too. The numbers of leftovers are not used again: a
    // program that was only paused must not write into the index of another program.
    let last = indexes(&client, name).await?.last().map_or(0, |(last, _)| last.generation);
    remove_leftovers(&client, name).await?;
    let generation = last + 1;
    let target = names::index(name, generation);
    let about = About::of(&catalogue, generation)?;
    let documents = about.manifest.instruments;
    let patience = Arc::new(Patience::new(options.patience));
    let filling = &*names::filling(&target);
    create(&client, &target, &schema::create(&about, options.division, filling), &patience).await?;
    let filled = async {
        // Checked now, since a permission may be missing and filling takes long.
        ready::State::of(&client, &target, &patience).await?;
        let lease = Lease::take(client.clone(), filling);
        let filled = fill::fill(&client, filling, catalogue, COMPARED, &patience, progress).await?;
        close(&client, &target, lease, options.division, &patience).await?;
        let is_copied = ready::wait(&client, &target, options.division, &patience).await?;
        let samples = &filled.samples;
        patience.with(|| fill::check(&client, &target, documents, samples)).await?;
        Ok((is_copied, filled.repeated))
    };
    let (is_copied, repeated) = match filled.await {
        Ok(filled) => filled,
        Err(error) => {
            // If the removal fails too, the next publication removes the index.
            drop(remove(&client, &target).await);
            return Err(error);
        }
    };
    patience.with(|| switch(&client, name, before.as_ref(), &target)).await?;
    let removed = prune(&client, name, generation, before, options, &patience).await?;
    Ok(Published { generation, index: target, documents, is_copied, repeated, removed })
}

/// Publishes the generation before the published one again. Returns its manifest.
///
/// # Errors
/// [`Error::NothingBefore`] when there is none, and the errors of the client.
pub async fn rollback(client: &Client, name: &str) -> Result<Manifest> {
    let before = ClusterPublication::of(client, name).await?;
    let complete = complete(client, name).await?;
    let earlier = complete.into_iter().rfind(|found| found.generation < before.generation);
    let earlier = earlier.ok_or_else(|| Error::NothingBefore {
        name: name.to_owned(),
        generation: before.generation,
    })?;
    let about = generation::about(client, name, &earlier.index).await?;
    about.check().map_err(|what| Error::Foreign { name: name.to_owned(), what })?;
    switch(client, name, Some(&before), &earlier.index).await?;
    Ok(about.manifest)
}

/// The published generation, if there is one.
async fn published(client: &Client, name: &str) -> Result<Option<ClusterPublication>> {
    match ClusterPublication::of(client, name).await {
        Ok(found) => Ok(Some(found)),
        Err(Error::NothingPublished { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The indexes of this name with the numbers of their generations, ascending, and whether each is
/// closed for writing. A closed index is complete.
async fn indexes(client: &Client, name: &str) -> Result<Vec<(Complete, bool)>> {
    // Every index has an id. Without the id, the answer would lack indexes without the block.
    let wanted = "index.uuid,index.blocks.write";
    let found = match settings(client, &names::pattern(name), wanted).await {
        Err(error) if error.is_absent() => BTreeMap::new(),
        found => found?,
    };
    let mut indexes: Vec<(Complete, bool)> = found
        .into_iter()
        .filter_map(|(index, settings)| {
            let generation = names::generation(name, &index)?;
            let is_closed = settings.get("index.blocks.write").is_some_and(|it| it == "true");
            Some((Complete { generation, index }, is_closed))
        })
        .collect();
    indexes.sort_by_key(|(found, _)| found.generation);
    Ok(indexes)
}

/// The complete generations, ascending.
async fn complete(client: &Client, name: &str) -> Result<Vec<Complete>> {
    let mut complete = Vec::new();
    for (found, is_closed) in indexes(client, name).await? {
        if is_closed && is_ours(client, name, &found.index).await? {
            complete.push(found);
        }
    }
    Ok(complete)
}

/// The numbers of the complete generations of a name, ascending.
pub(crate) async fn generations(client: &Client, name: &str) -> Result<Vec<u64>> {
    let complete = complete(client, name).await?;
    Ok(complete.into_iter().map(|found| found.generation).collect())
}

/// Whether Figdex created an index. Other indexes with such a name are never touched.
async fn is_ours(client: &Client, name: &str, index: &str) -> Result<bool> {
    match generation::about(client, name, index).await {
        Ok(_) => Ok(true),
        Err(Error::Foreign { .. }) => Ok(false),
        Err(Error::Client(error)) if error.is_absent() => Ok(false),
        // The description may have the form of another version.
        Err(Error::Client(error)) if error.is_malformed() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes indexes that no program fills any more.
async fn remove_leftovers(client: &Client, name: &str) -> Result<()> {
    for (found, is_closed) in indexes(client, name).await? {
        if is_closed || !is_ours(client, name, &found.index).await? {
            continue;
        }
        if lease::is_alive(client, &found.index).await? {
            return Err(Error::Locked { index: found.index });
        }
        remove(client, &found.index).await?;
    }
    Ok(())
}

/// Makes a change that may be repeated.
async fn change(client: &Client, request: &Request<'_>, patience: &Patience) -> Result<()> {
    patience.with(|| async { Ok(client.ask::<Value>(request).await.map(drop)?) }).await
}

/// Creates an index. Waits while the disks of the cluster are full.
async fn create(client: &Client, index: &str, body: &Value, patience: &Patience) -> Result<()> {
    let request = Request::put(&[index]).json(body).within(STATE_TIME);
    let mut pauses = Pauses::new(u32::MAX);
    loop {
        match client.ask::<Value>(&request).await {
            Err(error) if error.is_kind("resource_already_exists_exception") => {
                return Err(Error::Locked { index: index.to_owned() });
            }
            // Only a refusal is tried again: after a lost answer the index may exist.
            Err(error) if error.is_of_full_disks() => {
                patience.check(|| error.to_string())?;
                pauses.wait().await;
            }
            created => return Ok(created.map(drop)?),
        }
    }
}

/// Makes the documents of an index visible, then closes it for writing and requests its copies. The
/// lease ends between the two steps, since the first takes long.
async fn close(
    client: &Client,
    index: &str,
    lease: Lease,
    division: Division,
    patience: &Patience,
) -> Result<()> {
    let refresh = Request::post(&[index, "_refresh"]).within(REFRESH_TIME);
    change(client, &refresh, patience).await?;
    lease.give_up(patience).await?;
    // This makes the removal of the lease document visible to questions too.
    change(client, &refresh, patience).await?;
    let settings = json!({"index": {
        "number_of_replicas": division.replicas,
        "blocks.write": true,
    }});
    let request = Request::put(&[index, "_settings"]).json(&settings).within(STATE_TIME);
    change(client, &request, patience).await?;
    let alias = json!({"remove": {"index": index, "alias": names::filling(index)}});
    let actions = json!({"actions": [alias]});
    let request = Request::post(&["_aliases"]).json(&actions).within(STATE_TIME);
    match change(client, &request, patience).await {
        // An earlier attempt succeeded, but its answer was lost.
        Err(Error::Client(error)) if error.is_absent() => Ok(()),
        removed => removed,
    }
}

/// Points the alias to another index in one request. The request may be repeated.
async fn switch(
    client: &Client,
    name: &str,
    before: Option<&ClusterPublication>,
    to: &str,
) -> Result<()> {
    let mut actions = vec![json!({"add": {"index": to, "alias": name}})];
    if let Some(before) = before {
        // The alias must still be there. Otherwise another program has switched it in the meantime.
        let remove = json!({"index": before.index(), "alias": name, "must_exist": true});
        actions.insert(0, json!({"remove": remove}));
    }
    let request =
        Request::post(&["_aliases"]).json(&json!({"actions": actions})).within(STATE_TIME);
    let switched = client.ask::<Value>(&request).await;
    let found = published(client, name).await?;
    match (found, switched) {
        // An earlier attempt may have switched the alias, and its answer was lost.
        (Some(found), _) if found.index() == to => Ok(()),
        (_, Err(error)) => Err(error.into()),
        (found, Ok(_)) => {
            let found =
                found.map_or_else(|| "nothing".to_owned(), |found| found.index().to_owned());
            Err(Error::Different { what: format!("the alias {name} points to {found}") })
        }
    }
}

/// Removes the rolled-back generations, and all earlier ones except the last `keep` before the
/// published one.
async fn prune(
    client: &Client,
    name: &str,
    published: u64,
    before: Option<ClusterPublication>,
    options: PublishOptions,
    patience: &Patience,
) -> Result<Vec<String>> {
    let until_now = before.map_or(published, |before| before.generation);
    let rest = patience.with(|| complete(client, name)).await?.into_iter();
    let rest: Vec<Complete> = rest.filter(|found| found.generation != published).collect();
    let (mut gone, rolled_back): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|found| found.generation <= until_now);
    gone.truncate(gone.len().saturating_sub(options.keep));
    let mut removed = Vec::new();
    for found in gone.into_iter().chain(rolled_back) {
        if found.generation == until_now {
            // Servers use it until they have seen the switch.
            tokio::time::sleep(options.grace).await;
        }
        patience.with(|| remove(client, &found.index)).await?;
        removed.push(found.index);
    }
    Ok(removed)
}

/// Removes one index.
async fn remove(client: &Client, index: &str) -> Result<()> {
    let request = Request::delete(&[index]).within(STATE_TIME);
    match client.ask::<Value>(&request).await {
        Err(error) if error.is_absent() => Ok(()),
        removed => Ok(removed.map(drop)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_of_tests::{Cluster, INDEX, wait_for};

    /// A publication may run on any thread.
    #[test]
    fn a_publication_can_be_sent() {
        fn is_send(_: &impl Send) {}
        let of = |client: Arc<Client>, options| {
            is_send(&publish(client, "name", Path::new("index"), options, |_| {}));
        };
        _ = of;
    }

    /// A cluster with full disks makes no index. It is waited for, and is not a missing right.
    #[test]
    fn full_disks_are_waited_for() {
        let cluster = Cluster::of_one_instrument();
        let blocked = json!({"error": {
            "type": "index_create_block_exception",
            "reason": "blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];",
        }});
        let created = |limit| {
            let patience = Patience::new(limit);
            wait_for(create(&cluster.client(), INDEX, &json!({}), &patience))
        };
        let (mut asked, text) = (0, blocked.to_string());
        cluster.answer_with(INDEX, move || {
            asked += 1;
            if asked < 3 { (403, text.clone()) } else { (200, "{}".to_owned()) }
        });
        created(Duration::from_secs(60)).unwrap();
        cluster.answer(INDEX, 403, blocked.to_string());
        let error = created(Duration::from_millis(300)).unwrap_err().to_string();
        for expected in ["no progress", "create-index blocked", "its disks are full"] {
            assert!(error.contains(expected), "{error}");
        }
        assert!(!error.contains("lacks a right"), "{error}");
        // A right that is missing is not waited for.
        let refused = json!({"error": {"type": "security_exception", "reason": "no permissions"}});
        cluster.answer(INDEX, 403, refused.to_string());
        let error = created(Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.contains("lacks a right"), "{error}");
    }
}
