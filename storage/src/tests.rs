//! Publishing and following over a storage in memory that can be made to fail.

mod replicas;

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use figdex_index::{BuildOptions, Builder, Catalogue, Figi, Instrument, Manifest, RowSource as _};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload,
    PutResult,
};
use parking_lot::Mutex;

use crate::layout::Pointer;
use crate::names::{GenerationName, Kind};
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
#[derive(Debug)]
struct Faulty {
    objects: InMemory,
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
            objects: InMemory::new(),
            faults: Mutex::default(),
            ages: Mutex::default(),
            writes_left: AtomicU64::new(u64::MAX),
            writes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        })
    }

    fn store(self: &Arc<Self>) -> Store {
        Store::of(self.clone())
    }

    fn set(&self, name: &str, fault: Fault) {
        self.faults.lock().insert(name.to_owned(), fault);
    }

    fn heal(&self) {
        self.faults.lock().clear();
        self.writes_left.store(u64::MAX, Ordering::Relaxed);
    }

    fn fault(&self, path: &Path) -> Option<Fault> {
        let faults = self.faults.lock();
        faults.iter().find(|(name, _)| path.as_ref().contains(&**name)).map(|(_, fault)| *fault)
    }

    /// The names of all objects below the address.
    async fn names(&self) -> Vec<String> {
        let listed: Vec<_> = self.objects.list(None).collect().await;
        let names = listed
            .into_iter()
            .map(|object| object.unwrap().location.as_ref().trim_start_matches("a/b/").to_owned());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    }
}

fn failed() -> StoreError {
    StoreError::Generic { store: "test", source: "the network is away".into() }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

type Answer<T> = object_store::Result<T>;

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        path: &Path,
        body: PutPayload,
        options: PutOptions,
    ) -> Answer<PutResult> {
        assert_eq!(options.mode, object_store::PutMode::Overwrite, "no conditional request");
        let left = self.writes_left.load(Ordering::Relaxed);
        if left == 0 || self.fault(path) == Some(Fault::Fails) {
            return Err(failed());
        }
        self.writes_left.store(left.saturating_sub(u64::from(left != u64::MAX)), Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.objects.put_opts(path, body, options).await
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Answer<Box<dyn MultipartUpload>> {
        unreachable!("objects are written whole")
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Answer<GetResult> {
        assert!(options.if_match.is_none() && options.if_none_match.is_none());
        self.reads.fetch_add(1, Ordering::Relaxed);
        let fault = self.fault(path);
        match fault {
            Some(Fault::Fails) => return Err(failed()),
            Some(Fault::Hides) => {
                let source = "hidden".into();
                return Err(StoreError::NotFound { path: path.to_string(), source });
            }
            _ => {}
        }
        let found = self.objects.get_opts(path, options.clone()).await?;
        let Some(fault) = fault else { return Ok(found) };
        let mut bytes = found.bytes().await?.to_vec();
        match fault {
            Fault::Truncates => bytes.truncate(bytes.len() / 2),
            _ => bytes[0] ^= 1,
        }
        // Served by another storage, so that the length fits the bytes.
        let other = InMemory::new();
        other.put(path, bytes.into()).await?;
        other.get_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Answer<Path>>,
    ) -> BoxStream<'static, Answer<Path>> {
        self.objects.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Answer<ObjectMeta>> {
        let ages = self.ages.lock().clone();
        let aged = move |mut object: ObjectMeta| {
            let age = ages.iter().find(|(name, _)| object.location.as_ref().contains(&**name));
            let seconds = age.map_or(0, |(_, seconds)| *seconds);
            object.last_modified -= Duration::from_secs(seconds);
            object
        };
        self.objects.list(prefix).map(move |object| object.map(&aged)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Answer<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Answer<()> {
        unreachable!("nothing is copied there")
    }
}

const OPTIONS: PublishOptions = PublishOptions { keep: 1, grace: Duration::ZERO };

/// Builds a generation with one instrument of that name, and returns its manifest.
fn built(folder: &FilePath, name: &str) -> Manifest {
    let mut builder = Builder::create(folder, BuildOptions::default()).unwrap();
    let figi = Figi::parse("BBG000BLNNH6").unwrap();
    builder.add(Instrument { name: Some(name.into()), ..Instrument::new(figi) }).unwrap();
    builder.publish(Vec::new()).unwrap()
}

/// The name of the instrument that a copy has, and the number of its generation.
fn served(copy: &FilePath) -> Option<(String, u64)> {
    let catalogue = Catalogue::open(copy).ok()?;
    let hit = catalogue.find(Figi::parse("BBG000BLNNH6").unwrap()).unwrap();
    let name = catalogue.row(hit).name().unwrap().to_string();
    Some((name, catalogue.manifest().generation))
}

async fn published(storage: &Arc<Faulty>, index: &FilePath) -> crate::Result<crate::Published> {
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
    let foreign = Path::from("a/b/generation-000001/notes.txt");
    storage.objects.put(&foreign, "mine".into()).await.unwrap();
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
    assert!(storage.names().await.contains(&"generation-000001/notes.txt".to_owned()));
    assert!(!storage.names().await.contains(&"LEASE".to_owned()));
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
    let mut objects = storage.names().await;
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

/// A publisher that is killed after any of its writes has published nothing, and the next one sends
/// only what is missing.
#[tokio::test(start_paused = true)]
async fn a_killed_publisher_publishes_nothing() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    let first = published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    built(index.path(), "TWO");
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
    verify(&storage.store()).await.unwrap();
    // Leftovers of the killed ones that the generation does not need have gone.
    let contents = storage.names().await;
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
    let current = Path::from("a/b/CURRENT");
    let early = storage.objects.get(&current).await.unwrap().bytes().await.unwrap();
    built(index.path(), "TWO");
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    storage.objects.put(&current, early.into()).await.unwrap();
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
        let lease = Path::from("a/b/LEASE");
        storage.objects.put(&lease, text.into()).await.unwrap();
        published(&storage, one.path()).await.unwrap();
    }
    // One that is renewed is respected.
    let lease = crate::lease::Lease::take(&storage.store()).await.unwrap();
    let error = published(&storage, one.path()).await.unwrap_err().to_string();
    assert!(error.contains("another publisher is at work there: process "), "{error}");
    // A publisher that is taken over notices it.
    storage.objects.put(&Path::from("a/b/LEASE"), "{}".into()).await.unwrap();
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
    let current = Path::from("a/b/CURRENT");
    storage.objects.put(&current, "{\"layout\":2,\"new\":true}".into()).await.unwrap();
    let error = replica.look(false).await.unwrap_err().to_string();
    assert!(error.contains("upgrade this program first"), "{error}");
    assert_eq!(served(copy.path()), at("ONE", 1));

    // Another format of the index.
    let name = GenerationName::new(2);
    let first = storage.names().await.into_iter().find(|name| name.ends_with("contents.json"));
    let contents = Path::from(format!("a/b/{}", first.unwrap()));
    let contents = storage.objects.get(&contents).await.unwrap().bytes().await.unwrap();
    let contents = String::from_utf8(contents.to_vec()).unwrap();
    let format = contents.find("format = ").unwrap() + "format = ".len();
    let later = format!("{}9{}", &contents[..format], &contents[format..]);
    let pointer = Pointer::to(name, later.as_bytes()).text();
    storage
        .objects
        .put(&Path::from(format!("a/b/{name}/contents.json")), later.into())
        .await
        .unwrap();
    storage.objects.put(&current, pointer.into()).await.unwrap();
    for is_asked in [false, false, true] {
        let error = replica.look(is_asked).await.unwrap_err().to_string();
        assert!(error.contains("index format 98; this version reads format 8"), "{error}");
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

/// Pieces that were fetched before a program ended are not fetched again.
#[tokio::test(start_paused = true)]
async fn fetching_goes_on() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    let first = published(&storage, index.path()).await.unwrap();
    let pieces: Vec<_> = storage.names().await;
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
