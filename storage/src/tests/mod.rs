//! Publishing and following over a storage in memory that can be made to fail.

mod changes;
mod parquet;
mod past;
mod patches;
mod replicas;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use figdex_index::{
    BuildOptions, Builder, Catalogue, Figi, Instrument, Manifest, RowSource as _, changes_kept,
};
use figdex_io::Address;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::layout::Pointer;
use crate::names::{GenerationName, Kind};
use crate::store::{Answer, Body, Listed, Objects};
use crate::{Error, FollowState, Look, PublishOptions, Replica, Store, publish, rollback, verify};

/// The fault of a storage with an object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Reading or writing it fails.
    Fails,
    /// Half of it is read, as if that were all.
    Truncates,
    /// A bit of it is wrong when it is read.
    Flips,
    /// It is missing when it is read.
    Hides,
}

/// A storage in memory. Writes beyond a number fail, as for a publisher that is killed.
struct Faulty {
    /// By its name, the bytes of each object, and the second of its last change.
    objects: Mutex<BTreeMap<String, (Bytes, i64)>>,
    /// By a part of the name.
    faults: Mutex<HashMap<String, Fault>>,
    /// The seconds by which an object is older than it is, by a part of the name.
    ages: Mutex<HashMap<String, u64>>,
    writes_left: AtomicU64,
    writes: AtomicU64,
    reads: AtomicU64,
}

impl Faulty {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            objects: Mutex::default(),
            faults: Mutex::default(),
            ages: Mutex::default(),
            writes_left: AtomicU64::new(u64::MAX),
            writes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        })
    }

    fn store(self: &Arc<Self>) -> Store {
        let Ok(Address::Storage(address)) = "s3://test/a/b".parse() else { panic!() };
        Store::over(self.clone(), &address)
    }

    fn set(&self, name: &str, fault: Fault) {
        self.faults.lock().insert(name.to_owned(), fault);
    }

    fn heal(&self) {
        self.faults.lock().clear();
        self.writes_left.store(u64::MAX, Ordering::Relaxed);
    }

    fn fault(&self, key: &str) -> Option<Fault> {
        let faults = self.faults.lock();
        faults.iter().find(|(name, _)| key.contains(&**name)).map(|(_, fault)| *fault)
    }

    /// The names of all objects.
    fn names(&self) -> Vec<String> {
        self.objects.lock().keys().cloned().collect()
    }

    fn object(&self, key: &str) -> Bytes {
        self.objects.lock()[key].0.clone()
    }

    fn leave(&self, key: &str, body: impl Into<Bytes>) {
        let object = (body.into(), Timestamp::now().as_second());
        self.objects.lock().insert(key.to_owned(), object);
    }

    fn got(&self, key: &str) -> Answer<Option<Bytes>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let fault = self.fault(key);
        let found = self.objects.lock().get(key).map(|(bytes, _)| bytes.clone());
        match (fault, found) {
            (Some(Fault::Fails), _) => failed(),
            (Some(Fault::Hides), _) | (_, None) => Ok(None),
            (Some(Fault::Truncates), Some(bytes)) => Ok(Some(bytes.slice(..bytes.len() / 2))),
            (Some(Fault::Flips), Some(bytes)) => {
                let mut bytes = bytes.to_vec();
                bytes[0] ^= 1;
                Ok(Some(bytes.into()))
            }
            (None, Some(bytes)) => Ok(Some(bytes)),
        }
    }

    fn written(&self, key: &str, body: Bytes) -> Answer<()> {
        let left = self.writes_left.load(Ordering::Relaxed);
        if left == 0 || self.fault(key) == Some(Fault::Fails) {
            return failed();
        }
        self.writes_left.store(left.saturating_sub(u64::from(left != u64::MAX)), Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.leave(key, body);
        Ok(())
    }

    fn listed(&self) -> Vec<Answer<Listed>> {
        let ages = self.ages.lock();
        let objects = self.objects.lock();
        let listed = objects.iter().map(|(key, (bytes, changed))| {
            let age = ages.iter().find(|(name, _)| key.contains(&**name));
            let changed = changed - age.map_or(0, |(_, seconds)| *seconds as i64);
            Ok(Listed { key: key.clone(), bytes: bytes.len() as u64, changed })
        });
        listed.collect()
    }
}

fn failed<T>() -> Answer<T> {
    Err("the network is away".to_owned())
}

impl Objects for Faulty {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Answer<Option<(u64, Body)>>> {
        let pieces = |bytes: Bytes| (bytes.len() as u64, stream::iter([Ok(bytes)]).boxed());
        Box::pin(async move { Ok(self.got(key)?.map(pieces)) })
    }

    fn put<'a>(&'a self, key: &'a str, body: Bytes) -> BoxFuture<'a, Answer<()>> {
        Box::pin(async move { self.written(key, body) })
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Answer<()>> {
        self.objects.lock().remove(key);
        Box::pin(ready(Ok(())))
    }

    fn list(&self) -> BoxStream<'_, Answer<Listed>> {
        stream::iter(self.listed()).boxed()
    }
}

const OPTIONS: PublishOptions = PublishOptions { keep: 1, grace: Duration::ZERO };

/// Builds a generation with one instrument of that name, and returns its manifest.
fn built(folder: &Path, name: &str) -> Manifest {
    let mut builder = Builder::create(folder, BuildOptions::default()).unwrap();
    let figi = Figi::parse("BBG000BLNNH6").unwrap();
    builder.add(Instrument { name: Some(name.into()), ..Instrument::new(figi) }).unwrap();
    builder.publish(Vec::new()).unwrap()
}

/// The name of the instrument that a copy has, and the number of its generation.
fn served(copy: &Path) -> Option<(String, u64)> {
    let catalogue = Catalogue::open(copy).ok()?;
    let hit = catalogue.find(Figi::parse("BBG000BLNNH6").unwrap()).unwrap();
    let name = catalogue.row(hit).name().unwrap().to_string();
    Some((name, catalogue.manifest().generation))
}

async fn published(storage: &Arc<Faulty>, index: &Path) -> crate::Result<crate::Published> {
    publish(&storage.store(), index, OPTIONS, |_, _| {}).await
}

fn at(name: &str, generation: u64) -> Option<(String, u64)> {
    Some((name.to_owned(), generation))
}

/// A generation that is published is taken, once; the next one too; going back goes back; and old
/// ones are removed, but nothing that Figdex has not named.
#[tokio::test(start_paused = true)]
async fn what_is_published_is_taken() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    assert!(matches!(replica.look(false).await, Err(Error::Nothing(_))));
    storage.leave("generation-000001/notes.txt", "mine");
    built(index.path(), "ONE");
    let first = published(&storage, index.path()).await.unwrap();
    assert_eq!(first.generation, 1);
    // Two of its small files have the same bytes.
    assert!(first.sent_bytes > 50 * first.reused_bytes, "{first:?}");
    assert!(matches!(replica.look(false).await.unwrap(), Look::Taken(_)));
    assert_eq!(served(copy.path()), at("ONE", 1));
    assert_eq!(replica.look(false).await.unwrap(), Look::Current);
    assert_eq!(replica.following().lock().state, FollowState::Current);

    // The same again sends nothing but its contents, and nothing is fetched.
    let again = published(&storage, index.path()).await.unwrap();
    assert_eq!((again.generation, again.sent_bytes), (2, 0));
    assert_eq!(again.reused_bytes, first.sent_bytes + first.reused_bytes);
    let Look::Taken(taken) = replica.look(false).await.unwrap() else { panic!("it is current") };
    assert_eq!(taken.fetched_bytes, 0);
    assert_eq!(served(copy.path()), at("ONE", 2));

    built(index.path(), "THREE");
    let third = published(&storage, index.path()).await.unwrap();
    assert_eq!(third.generation, 3);
    replica.look(false).await.unwrap();
    assert_eq!(served(copy.path()), at("THREE", 3));
    // Generation 1 has gone; its pieces are those of 2, which is kept.
    assert_eq!(third.removed, [first.name]);
    verify(&storage.store()).await.unwrap();

    let (manifest, from) = rollback(&storage.store()).await.unwrap();
    assert_eq!((manifest.generation, from), (2, 3));
    let Look::Taken(back) = replica.look(false).await.unwrap() else { panic!("it is current") };
    assert_eq!((back.generation, back.fetched_bytes), (2, 0));
    assert_eq!(served(copy.path()), at("ONE", 2));
    // A program that starts again finds its copy current.
    drop(replica);
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    assert_eq!(replica.look(false).await.unwrap(), Look::Current);

    // The one that was taken back is not an earlier one to keep.
    built(index.path(), "FOUR");
    let fourth = published(&storage, index.path()).await.unwrap();
    assert_eq!((fourth.generation, fourth.removed), (4, vec![third.name]));
    replica.look(false).await.unwrap();
    assert_eq!(served(copy.path()), at("FOUR", 4));
    assert!(storage.names().contains(&"generation-000001/notes.txt".to_owned()));
    assert!(!storage.names().contains(&"LEASE".to_owned()));
}

/// A fault of any object leaves the copy as it was, and the next look takes the repaired one.
#[tokio::test(start_paused = true)]
async fn nothing_unverified_is_served() {
    let index = tempfile::tempdir().unwrap();
    let storage = Faulty::new();
    built(index.path(), "ONE");
    published(&storage, index.path()).await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    built(index.path(), "TWO");
    let second = published(&storage, index.path()).await.unwrap();
    let mut objects = storage.names();
    let is_of_second = |name: &String| name.starts_with(&second.name) || name == "CURRENT";
    objects.retain(is_of_second);
    assert!(objects.len() > 5, "{objects:?}");
    let mut tried = 0;
    for object in &objects {
        for fault in [Fault::Fails, Fault::Truncates, Fault::Flips, Fault::Hides] {
            // Otherwise pieces that an earlier look has fetched would not be read.
            let received = copy.path().join(format!("receiving-{}", second.name));
            fs::remove_dir_all(received).ok();
            storage.set(object, fault);
            let error = replica.look(false).await.expect_err(&format!("{fault:?} {object}"));
            let reason = error.to_string();
            assert!(reason.contains("s3://test/a/b"), "{reason}");
            assert_eq!(served(copy.path()), at("ONE", 1), "{fault:?} {object}");
            assert_ne!(replica.following().lock().state, FollowState::Current);
            assert!(replica.following().lock().behind_since.is_some());
            storage.heal();
            tried += 1;
        }
    }
    assert_eq!(replica.following().lock().failures, tried);
    replica.look(false).await.unwrap();
    assert_eq!(served(copy.path()), at("TWO", 2));
}

/// A publisher that is killed after any of its writes, also of a change file, has published nothing,
/// and the next one sends only what is missing.
#[tokio::test(start_paused = true)]
async fn a_killed_publisher_publishes_nothing() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    let first = published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    let id = self::changes::changed(index.path(), "TWO");
    let before = storage.writes.load(Ordering::Relaxed);
    let mut writes = 1;
    let done = loop {
        storage.writes_left.store(writes, Ordering::Relaxed);
        let done = published(&storage, index.path()).await;
        storage.heal();
        if let Ok(done) = done {
            break done;
        }
        assert_eq!(replica.look(false).await.unwrap(), Look::Current, "{writes}");
        assert_eq!(served(copy.path()), at("ONE", 1));
        writes += 1;
        assert!(writes < 1_000);
    };
    assert!(done.sent_bytes < first.sent_bytes, "what was there is used: {done:?}");
    assert!(done.reused_bytes > 0 && storage.writes.load(Ordering::Relaxed) > before);
    replica.look(false).await.unwrap();
    assert_eq!(served(copy.path()).unwrap().0, "TWO");
    assert_eq!(changes_kept(copy.path()).unwrap(), [id]);
    verify(&storage.store()).await.unwrap();
    // Leftovers of the killed ones that the generation does not need have gone.
    let contents = storage.names();
    let complete = contents.iter().filter(|name| matches!(Kind::of(name), Some(Kind::Contents(_))));
    assert_eq!(complete.count(), 2);
}

/// A storage that is put back to an earlier state is refused, until something newer is published
/// there.
#[tokio::test(start_paused = true)]
async fn an_earlier_state_is_refused() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    published(&storage, index.path()).await.unwrap();
    let early = storage.object("CURRENT");
    built(index.path(), "TWO");
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    storage.leave("CURRENT", early);
    for is_asked in [false, true, false] {
        let error = replica.look(is_asked).await.unwrap_err().to_string();
        assert!(error.contains("earlier state"), "{error}");
        assert_eq!(served(copy.path()), at("TWO", 2));
    }
    // A new storage, where numbers begin again.
    let emptied = Faulty::new();
    drop(replica);
    let mut replica = Replica::open(emptied.store(), copy.path(), None).unwrap();
    assert!(matches!(replica.look(false).await, Err(Error::Nothing(_))));
    assert_eq!(served(copy.path()), at("TWO", 2));
    built(index.path(), "THREE");
    assert_eq!(published(&emptied, index.path()).await.unwrap().generation, 1);
    replica.look(false).await.unwrap();
    assert_eq!(served(copy.path()), at("THREE", 1));
}

/// One of two publishers at once publishes, and the other says why it does not.
#[tokio::test(start_paused = true)]
async fn two_publishers() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    built(one.path(), "ONE");
    built(two.path(), "TWO");
    let storage = Faulty::new();
    // Both find no lease.
    storage.set("LEASE", Fault::Hides);
    let healed = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        storage.heal();
    };
    let (first, second, ()) =
        tokio::join!(published(&storage, one.path()), published(&storage, two.path()), healed);
    assert_eq!([&first, &second].into_iter().filter(|done| done.is_ok()).count(), 1);
    let error = first.err().or(second.err()).unwrap().to_string();
    assert!(error.contains("another publisher"), "{error}");
    // A lease that nobody renews is taken over, also when nobody can read it.
    for text in ["{\"publisher\":\"x\",\"who\":\"process 1 on y\",\"beat\":7}", "nonsense", ""] {
        storage.leave("LEASE", text);
        published(&storage, one.path()).await.unwrap();
    }
    // One that is renewed is respected.
    let lease = crate::lease::Lease::take(&storage.store()).await.unwrap();
    let error = published(&storage, one.path()).await.unwrap_err().to_string();
    assert!(error.contains("another publisher is at work there: process "), "{error}");
    // A publisher that is taken over notices it.
    storage.leave("LEASE", "{}");
    assert!(matches!(lease.check_there().await, Err(Error::LeaseLost)));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(matches!(lease.check(), Err(Error::LeaseLost)));
}

/// A generation that a later version published is refused, and the copy goes on.
#[tokio::test(start_paused = true)]
async fn a_later_layout_is_refused() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    storage.leave("CURRENT", "{\"layout\":2,\"new\":true}");
    let error = replica.look(false).await.unwrap_err().to_string();
    assert!(error.contains("upgrade this program first"), "{error}");
    assert_eq!(served(copy.path()), at("ONE", 1));

    // Another format of the index.
    let name = GenerationName::new(2);
    let first = storage.names().into_iter().find(|name| name.ends_with("contents.json"));
    let contents = String::from_utf8(storage.object(&first.unwrap()).to_vec()).unwrap();
    let format = contents.find("format = ").unwrap() + "format = ".len();
    let later = format!("{}9{}", &contents[..format], &contents[format..]);
    let own: String = contents[format..].chars().take_while(char::is_ascii_digit).collect();
    let expected = format!("index format 9{own}; this version reads formats 9 and {own}:");
    let pointer = Pointer::to(name, later.as_bytes()).text();
    storage.leave(&format!("{name}/contents.json"), later);
    storage.leave("CURRENT", pointer);
    for is_asked in [false, false, true] {
        let error = replica.look(is_asked).await.unwrap_err().to_string();
        assert!(error.contains(&expected), "{error}");
        assert_eq!(served(copy.path()), at("ONE", 1));
    }
}

/// Two programs do not share a copy.
#[test]
fn a_copy_has_one_program() {
    let copy = tempfile::tempdir().unwrap();
    let _first = Replica::open(Faulty::new().store(), copy.path(), None).unwrap();
    let error = Replica::open(Faulty::new().store(), copy.path(), None).err().unwrap().to_string();
    assert!(error.contains("its own copy"), "{error}");
}

/// Body that were fetched before a program ended are not fetched again.
#[tokio::test(start_paused = true)]
async fn fetching_goes_on() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    let first = published(&storage, index.path()).await.unwrap();
    let pieces: Vec<_> = storage.names();
    let last = pieces.iter().rfind(|name| Kind::piece(name).is_some()).unwrap();
    storage.set(last, Fault::Fails);
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap_err();
    drop(replica);
    storage.heal();
    let folder = copy.path().join(format!("receiving-{}", first.name));
    assert!(folder.is_dir());
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    let Look::Taken(taken) = replica.look(false).await.unwrap() else { panic!("it is current") };
    assert!(taken.fetched_bytes < first.sent_bytes && taken.reused_bytes > 0, "{taken:?}");
    assert_eq!(served(copy.path()), at("ONE", 1));
    assert!(!folder.exists());
    assert!(fs::read_dir(copy.path()).unwrap().count() <= 5);
}
