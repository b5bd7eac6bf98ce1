//! Publishing: one generation after the other, never half of one, and never over what others made.

use std::path::Path;
use std::time::Duration;

use figdex_ingest::Input;
use figdex_opensearch::client::Request;
use figdex_opensearch::{ClusterPublication, Error, PublishOptions, Published, publish, rollback};
use serde_json::{Value, json};

use super::{ask, in_cluster, indexes};
use crate::support::cluster::{InCluster, OPTIONS, wait_for};
use crate::support::{build_of, figi};

/// An index with `count` instruments.
fn build(index: &Path, count: u32) {
    let rows = (0..count).map(|number| format!("{},T{number}\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    let input = Input::Memory("dump", dump.into_bytes().into());
    build_of(vec![input], index).run(&mut |_| {}).unwrap();
}

/// Publishes an index of `count` instruments.
fn published(cluster: &InCluster, count: u32, options: PublishOptions) -> Result<Published, Error> {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build(&index, count);
    wait_for(publish(cluster.client.clone(), &cluster.address.name, &index, options, |_| {}))
}

/// The generation that is served under the name.
fn current(cluster: &InCluster) -> u64 {
    wait_for(ClusterPublication::of(&cluster.client, &cluster.address.name)).unwrap().generation
}

#[test]
fn generations_follow_each_other_and_go_back() {
    let Some(cluster) = in_cluster() else { return };
    let name = &cluster.address.name;
    let keep_one = PublishOptions { keep: 1, ..OPTIONS };
    let removed: Vec<Vec<String>> = (1..=4)
        .map(|generation| {
            let published = published(&cluster, 10 * generation, keep_one).unwrap();
            assert_eq!(published.generation, u64::from(generation));
            assert_eq!(published.documents, u64::from(10 * generation));
            published.removed
        })
        .collect();
    let first = |number| format!("{name}-{number:06}");
    assert_eq!(removed, [vec![], vec![], vec![first(1)], vec![first(2)]]);
    assert_eq!(indexes(&cluster), [first(3), first(4)]);
    assert_eq!(cluster.open().manifest().instruments, 40);

    let manifest = wait_for(rollback(&cluster.client, name)).unwrap();
    assert_eq!((manifest.generation, manifest.instruments), (3, 30));
    assert_eq!(cluster.open().manifest().instruments, 30);
    let none = wait_for(rollback(&cluster.client, name)).unwrap_err();
    assert!(matches!(none, Error::NothingBefore { generation: 3, .. }), "{none}");
    // What was rolled back goes with the next publication, and its number is not used again.
    let published = published(&cluster, 50, keep_one).unwrap();
    assert_eq!((published.generation, published.removed), (5, vec![first(4)]));
    assert_eq!(indexes(&cluster), [first(3), first(5)]);
}

/// Nobody can change a published generation by mistake: the cluster refuses.
#[test]
fn a_generation_is_immutable() {
    let Some(cluster) = in_cluster() else { return };
    let Published { index, .. } = published(&cluster, 10, OPTIONS).unwrap();
    let document = json!({"fnum": 1});
    for path in [&[&*cluster.address.name, "_doc", "x"], &[&*index, "_doc", "x"]] {
        let refused = ask(&cluster, Request::put(path).json(&document)).unwrap_err();
        assert!(refused.is_kind("cluster_block_exception"), "{refused}");
    }
}

/// One of two publications at once succeeds, and the other says why it fails.
#[test]
fn two_publications_at_once() {
    let Some(cluster) = in_cluster() else { return };
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build(&index, 2_000);
    let (client, name) = (&cluster.client, &cluster.address.name);
    let one = || publish(client.clone(), name, &index, OPTIONS, |_| {});
    let both = wait_for(async { tokio::join!(one(), one()) });
    let (published, refused) = match both {
        (Ok(published), Err(refused)) | (Err(refused), Ok(published)) => (published, refused),
        (Ok(_), Ok(_)) => panic!("both succeed"),
        (Err(first), Err(second)) => panic!("both fail: {first}, {second}"),
    };
    assert_eq!((published.generation, published.documents), (1, 2_000));
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
    assert_eq!(indexes(&cluster), [published.index]);
    assert_eq!(cluster.open().manifest().instruments, 2_000);
}

/// The index that a killed program left is removed, once nobody fills it any more.
#[test]
fn leftovers_are_removed() {
    let Some(cluster) = in_cluster() else { return };
    published(&cluster, 10, OPTIONS).unwrap();
    let name = &cluster.address.name;
    let ours = format!("{name}-000001");
    let mapping = ask(&cluster, Request::get(&[&ours, "_mapping"])).unwrap();
    let leftover = format!("{name}-000002");
    let body = json!({"mappings": mapping[&ours]["mappings"]});
    ask(&cluster, Request::put(&[&leftover]).json(&body)).unwrap();
    let published = published(&cluster, 20, OPTIONS).unwrap();
    // Its number is not used again: whoever made it may only have been stopped for a while.
    assert_eq!(published.generation, 3);
    assert_eq!(cluster.open().manifest().instruments, 20);
    assert_eq!(indexes(&cluster), [format!("{name}-000003")]);
}

/// Indexes of others stay, whatever they are called.
#[test]
fn what_others_made_is_left_alone() {
    let Some(cluster) = in_cluster() else { return };
    let name = &cluster.address.name;
    let [theirs, other] = ["000001", "notes"].map(|end| format!("{name}-{end}"));
    for index in [&theirs, &other] {
        ask(&cluster, Request::put(&[index]).json(&json!({}))).unwrap();
    }
    for count in [10, 20, 30] {
        published(&cluster, count, OPTIONS).unwrap();
    }
    assert_eq!(current(&cluster), 4);
    assert_eq!(indexes(&cluster), [theirs.clone(), format!("{name}-000004"), other]);

    // An alias of an index that Figdex did not make, and of several.
    for (action, expected) in [
        (json!({"add": {"index": theirs, "alias": name}}), "it is an alias of several indexes"),
        (
            json!({"remove": {"index": format!("{name}-000004"), "alias": name}}),
            "Figdex did not make its index",
        ),
    ] {
        let actions = json!({"actions": [action]});
        ask(&cluster, Request::post(&["_aliases"]).json(&actions)).unwrap();
        let opened = figdex_opensearch::Generation::open(cluster.client.clone(), name);
        let refused = wait_for(opened).err().unwrap();
        assert!(refused.to_string().contains(expected), "{refused}");
    }
}

/// An index with the name of the address cannot become an alias.
#[test]
fn an_index_with_the_name_is_an_error() {
    let Some(cluster) = in_cluster() else { return };
    let name = &cluster.address.name;
    ask(&cluster, Request::put(&[name]).json(&json!({}))).unwrap();
    let refused = published(&cluster, 10, OPTIONS).unwrap_err();
    ask(&cluster, Request::delete(&[name])).unwrap();
    let expected = format!(
        "{name} in the cluster is not an index of this version of Figdex: it is an index, and must \
         be an alias"
    );
    assert_eq!(refused.to_string(), expected);
}

/// Publishes 2,000 instruments as the second generation, whose index is blocked when it is made. The
/// block ends a second later if it `ends`.
fn published_in_spite_of(cluster: &InCluster, block: &str, ends: bool) -> Result<Published, Error> {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build(&index, 2_000);
    let name = &*cluster.address.name;
    let target = format!("{name}-000002");
    let template = json!({
        "index_patterns": [&target],
        "template": {"settings": {block: true}},
    });
    ask(cluster, Request::put(&["_index_template", name]).json(&template)).unwrap();
    let published = wait_for(async {
        let publishing = publish(cluster.client.clone(), name, &index, OPTIONS, |_| {});
        let ending = async {
            let request = Request::put(&[&target, "_settings"]).json(&json!({block: null}));
            tokio::time::sleep(Duration::from_secs(1)).await;
            while ends && cluster.client.ask::<Value>(&request).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::join!(publishing, ending).0
    });
    ask(cluster, Request::delete(&["_index_template", name])).unwrap();
    published
}

/// A publication that the cluster refuses leaves the published one, and removes its own index.
#[test]
fn a_publication_that_fails_changes_nothing() {
    let Some(cluster) = in_cluster() else { return };
    published(&cluster, 10, OPTIONS).unwrap();
    let refused = published_in_spite_of(&cluster, "index.blocks.write", false).unwrap_err();
    assert!(refused.to_string().contains("cluster_block_exception"), "{refused}");
    assert_eq!(current(&cluster), 1);
    assert_eq!(indexes(&cluster), [format!("{}-000001", cluster.address.name)]);
}

/// A cluster whose disks are full blocks an index until there is room: the publication waits.
#[test]
fn a_publication_waits_for_room() {
    let Some(cluster) = in_cluster() else { return };
    published(&cluster, 10, OPTIONS).unwrap();
    let block = "index.blocks.read_only_allow_delete";
    // The cluster may end the block itself, as soon as it has looked at its disks.
    let published = published_in_spite_of(&cluster, block, true).unwrap();
    assert_eq!((published.generation, published.documents), (2, 2_000));
    assert_eq!(current(&cluster), 2);
}

/// An index that another program removes while it is filled is not made again by a late call.
#[test]
fn a_removed_index_is_not_made_again() {
    let Some(cluster) = in_cluster() else { return };
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build(&index, 2_000);
    let name = &*cluster.address.name;
    let target = format!("{name}-000001");
    let refused = wait_for(async {
        let publishing = publish(cluster.client.clone(), name, &index, OPTIONS, |_| {});
        let removing = async {
            let request = Request::delete(&[&target]);
            while cluster.client.ask::<Value>(&request).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::join!(publishing, removing).0.unwrap_err()
    });
    // Later than the period of the lease.
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(indexes(&cluster), [""; 0], "{refused}");
    // Neither do the calls of a publication that was stopped for a while.
    let filling = format!("{target}~filling");
    let line = json!({"create": {"_id": "x"}}).to_string() + "\n" + r#"{"fnum":1}"# + "\n";
    let bulk = Request::post(&[&filling, "_bulk"]).with("require_alias", true).lines(line);
    let answer = ask(&cluster, bulk).unwrap();
    assert_eq!(answer["items"][0]["create"]["status"], 404, "{answer}");
    let lease = Request::put(&[&filling, "_doc", "lease"]).json(&json!({"fnum": 0}));
    let refused = ask(&cluster, lease.with("require_alias", true)).unwrap_err();
    assert!(refused.is_absent(), "{refused}");
    assert_eq!(indexes(&cluster), [""; 0]);
}
