//! The notes of servers: written, refused, of strangers, old.

use super::*;
use crate::names::ReplicaName;
use crate::{Said, overview, replicas};

const DAY: u64 = 24 * 3600;

impl Faulty {
    /// The note of a server of that host about that generation.
    fn noted(&self, host: &str, served: &Manifest) -> String {
        let key = ReplicaName::new(host, [0x01, 0x23, 0xab, 0xcd]).note();
        let published_at = served.published_at.as_ref().unwrap();
        let text = format!(
            "{{\"layout\":1,\"generation\":{},\"published_at\":\"{published_at}\",\
             \"since\":\"2026-05-01T03:10:59.5Z\",\"version\":\"0.1.0\"}}",
            served.generation
        );
        self.leave(&key, text);
        key
    }

    /// The lines of `inspect` about the servers.
    async fn shown(self: &Arc<Self>) -> String {
        overview(&self.store()).await.unwrap().replicas.to_string()
    }
}

/// The names of the notes.
fn notes(storage: &Faulty) -> Vec<String> {
    let mut names = storage.names();
    names.retain(|name| name.starts_with("replicas/"));
    names
}

/// A server that serves a generation says so, again when it serves another one and after some hours,
/// and not at each look. It keeps its name, and another one at the same machine has its own.
#[tokio::test(start_paused = true)]
async fn a_server_leaves_a_note() {
    let (index, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    let copy = copies.path().join("one");
    let mut replica = Replica::open(storage.store(), &copy, None).unwrap();
    replica.look(false).await.unwrap_err();
    let built = built(index.path(), "ONE");
    replica.note(&built);
    replica.notes().written().await;
    assert_eq!(notes(&storage), [""; 0], "none where nothing is published");
    published(&storage, index.path()).await.unwrap();
    assert_eq!(storage.shown().await, "no server has left a note here\n");
    replica.look(false).await.unwrap();
    let mut served = Manifest::published(&copy).unwrap();
    replica.note(&served);
    replica.notes().written().await;
    let mine = notes(&storage);
    assert_eq!(mine.len(), 1, "{mine:?}");
    let found = overview(&storage.store()).await.unwrap().replicas;
    let Said::Serves { generation, generations_behind, since, version } = &found.noted[0].said
    else {
        panic!("{found:?}")
    };
    assert_eq!((*generation, *generations_behind), (1, Some(0)), "{found:?}");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let (since, writes) = (since.clone(), storage.writes.load(Ordering::Relaxed));
    for (hours, more) in [(0, 0), (2, 0), (2, 1), (1, 1), (3, 2)] {
        tokio::time::advance(Duration::from_secs(hours * 3600)).await;
        replica.note(&served);
        replica.notes().written().await;
        assert_eq!(storage.writes.load(Ordering::Relaxed), writes + more, "after {hours} h more");
    }
    served.generation = 2;
    replica.note(&served);
    replica.notes().written().await;
    assert_eq!(storage.writes.load(Ordering::Relaxed), writes + 3);
    let found = overview(&storage.store()).await.unwrap().replicas;
    assert!(
        matches!(&found.noted[0].said, Said::Serves { generation: 2, generations_behind: None, since: now, .. } if *now >= since),
        "{found:?}"
    );
    drop(replica);
    let second = copies.path().join("two");
    for (folder, count) in [(&copy, 1), (&second, 2)] {
        let mut replica = Replica::open(storage.store(), folder, None).unwrap();
        replica.look(false).await.unwrap();
        replica.note(&served);
        replica.notes().written().await;
        assert_eq!(notes(&storage).len(), count);
    }
}

/// A note that is refused stops nothing, and is tried again after some hours.
#[tokio::test(start_paused = true)]
async fn a_refused_note_stops_nothing() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    published(&storage, index.path()).await.unwrap();
    storage.set("replicas/", Fault::Fails);
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    let served = Manifest::published(copy.path()).unwrap();
    for _ in 0..2 {
        replica.note(&served);
        replica.notes().written().await;
        assert_eq!(replica.look(false).await.unwrap(), Look::Current);
        assert_eq!(replica.following().lock().failures, 0);
    }
    assert_eq!(notes(&storage), [""; 0]);
    storage.heal();
    tokio::time::advance(Duration::from_secs(4 * 3600)).await;
    replica.note(&served);
    replica.notes().written().await;
    assert_eq!(notes(&storage).len(), 1);
}

/// `inspect` names the servers that are behind, those that serve something else, and those that were
/// not seen for days. A publication removes what is older than a month, and nothing else there.
#[tokio::test(start_paused = true)]
async fn servers_are_listed() {
    let index = tempfile::tempdir().unwrap();
    let storage = Faulty::new();
    let mut there = Vec::new();
    for name in ["ONE", "TWO", "THREE"] {
        built(index.path(), name);
        published(&storage, index.path()).await.unwrap();
        there.push(overview(&storage.store()).await.unwrap().manifest);
    }
    let later = Manifest { generation: 4, ..there[2].clone() };
    let elsewhere = Manifest { generation: 3, ..there[0].clone() };
    for (host, served) in
        [("a", &there[2]), ("b", &there[1]), ("c", &there[0]), ("d", &later), ("e", &elsewhere)]
    {
        storage.noted(host, served);
    }
    let gone = storage.noted("figdex-0", &there[0]);
    storage.ages.lock().insert(gone.clone(), 3 * DAY);
    let shown = storage.shown().await;
    let expected = "\
server             generation  since (UTC)       version
a-0123abcd                  3  2026-05-01 03:10  0.1.0
b-0123abcd                  2  2026-05-01 03:10  0.1.0
  1 generation behind
c-0123abcd                  1  2026-05-01 03:10  0.1.0
  2 generations behind
d-0123abcd                  4  2026-05-01 03:10  0.1.0
  not the published generation
e-0123abcd                  3  2026-05-01 03:10  0.1.0
  not the published generation
figdex-0-0123abcd           1  2026-05-01 03:10  0.1.0
  2 generations behind
  not seen since ";
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
    storage.leave("replicas/notes.txt", "mine");
    for (days, is_there) in [(29, true), (31, false)] {
        storage.ages.lock().insert("replicas/".to_owned(), days * DAY);
        storage.ages.lock().remove(&gone);
        published(&storage, index.path()).await.unwrap();
        let expected = if is_there { 7 } else { 1 };
        assert_eq!(notes(&storage).len(), expected, "{days}");
    }
    assert_eq!(notes(&storage), ["replicas/notes.txt"]);
}

/// A note of a stranger is one bounded line of `inspect`, whatever it holds, and hides no other.
#[tokio::test(start_paused = true)]
async fn notes_of_strangers() {
    let index = tempfile::tempdir().unwrap();
    let storage = Faulty::new();
    built(index.path(), "ONE");
    published(&storage, index.path()).await.unwrap();
    let manifest = overview(&storage.store()).await.unwrap().manifest;
    let key = storage.noted("a", &manifest);
    let right = String::from_utf8(storage.object(&key).to_vec()).unwrap();
    for (text, expected) in [
        (right.replace("\"layout\":1", "\"layout\":2,\"new\":{}"), "layout 2 of the storage"),
        (right.replace("\"version\"", "\"new\":1,\"version\""), "unknown field `new`"),
        (right.replace("0.1.0", &"0".repeat(41)), "at most 40 plain characters"),
        (right.replace("0.1.0", "0.1\\u001b[2J"), "at most 40 plain characters"),
        (right.replace("0.1.0", "\u{202e}"), "at most 40 plain characters"),
        (right.replace("0.1.0", &"0".repeat(1 << 20)), "at most 1024 are expected"),
        (right.replace("2026-05-01", "2026-55-01"), "it is not a time"),
        (right.replace("\"generation\":1", "\"generation\":-1"), "it is not a note"),
        (right.replace("\"generation\"", "\"\\u001b\u{202e}\""), "it is not a note"),
        (right[..right.len() - 1].to_owned(), "it is not a note"),
        (String::new(), "it is not a document of an index"),
        ("[".repeat(1000), "it is not a document of an index"),
    ] {
        storage.leave(&key, text.clone());
        let shown = storage.shown().await;
        assert!(shown.contains("a-0123abcd  unknown\n") && shown.contains(expected), "{shown:?}");
        assert!(shown.len() < 500 && shown.lines().count() == 3, "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
    storage.set(&key, Fault::Fails);
    assert!(storage.shown().await.contains("the network is away"));
    storage.heal();
    storage.leave(&key, right.replace("\"generation\":1", "\"generation\":18446744073709551615"));
    assert!(storage.shown().await.contains("not the published generation"));
    for number in 0..250 {
        storage.noted(&format!("x{number}"), &manifest);
    }
    storage.ages.lock().insert(key, DAY);
    let reads = storage.reads.load(Ordering::Relaxed);
    let shown = storage.shown().await;
    assert!(shown.ends_with("notes that were not read: 51 (the newest 200 are)\n"), "{shown}");
    assert!(!shown.contains("\na-") && shown.lines().count() == 202, "{shown}");
    assert_eq!(storage.reads.load(Ordering::Relaxed) - reads, 202, "and two for the index");
    // A publication removes so many that a later one goes on.
    let store = storage.store();
    let there = store.list().await.unwrap();
    let now = there.iter().map(|object| object.changed).max().unwrap() + 31 * DAY as i64;
    assert_eq!(replicas::old_notes(&there, now).len(), 251);
    let many: Vec<_> = (0..1500)
        .map(|number| crate::store::Listed {
            key: ReplicaName::new(&format!("x{number}"), [0; 4]).note(),
            bytes: 1,
            changed: number,
        })
        .collect();
    let old = replicas::old_notes(&many, now);
    assert_eq!((old.len(), old[0]), (1000, &*many[0].key));
}
