//! The past of a generation: published, followed, damaged, hostile.

use figdex_index::{BuildLock, Date, PastOptions, Receiving};

use super::changes::changed;
use super::*;
use crate::contents::{Contents, Described};
use crate::names::{Checksum, PieceName};
use crate::pieces::Piece;

const FILES: [&str; 3] = ["past/before.log", "past/lookup.keys", "past/versions.log"];

/// Builds a generation that keeps the past, of a day of January.
fn built_with_past(folder: &Path, name: &str, day: u32) -> Manifest {
    let date = Date::parse(&format!("2026-01-{day:02}")).unwrap();
    let options = BuildOptions { date, ..BuildOptions::default() };
    let mut builder = Builder::create(folder, options).unwrap();
    builder.keep_past(PastOptions {
        mend_days: 7,
        has_derivatives: false,
        from: None,
        stated: Vec::new(),
    });
    let figi = Figi::parse("BBG000BLNNH6").unwrap();
    builder.add(Instrument { name: Some(name.into()), ..Instrument::new(figi) }).unwrap();
    builder.publish(Vec::new()).unwrap()
}

/// The contents that the pointer names.
async fn current(storage: &Arc<Faulty>) -> (GenerationName, Described) {
    let pointer = Pointer::read(&storage.store()).await.unwrap().unwrap();
    let described = Described::read(&storage.store(), pointer.name, None).await.unwrap();
    (pointer.name, described)
}

fn past_of(folder: &Path) -> Vec<Vec<u8>> {
    // The copy numbers its folders itself.
    let generation = fs::read_to_string(folder.join("CURRENT")).unwrap();
    let generation = folder.join(generation.lines().next().unwrap());
    FILES.map(|file| fs::read(generation.join(file)).unwrap()).into()
}

/// The files of the past are published and followed with those of the parts, byte for byte. Only
/// contents with a past have layout 3, with or without change files.
#[tokio::test(start_paused = true)]
async fn the_past_is_followed() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    for (day, name) in [(1, "ONE"), (2, "TWO"), (3, "THREE")] {
        let manifest = built_with_past(index.path(), name, day);
        assert_eq!(manifest.past.as_ref().unwrap().versions, u64::from(day) - 1);
        published(&storage, index.path()).await.unwrap();
        let (generation, described) = current(&storage).await;
        assert!(storage.object(&generation.contents()).starts_with(b"{\"layout\":3"));
        assert_eq!(described.files().count(), described.manifest.files().count());
        assert!(matches!(replica.look(false).await.unwrap(), Look::Taken(_)));
        assert_eq!(served(copy.path()), at(name, u64::from(day)));
        assert_eq!(past_of(copy.path()), past_of(index.path()));
        assert_eq!(Manifest::published(copy.path()).unwrap().past, manifest.past);
        Catalogue::open_checked(copy.path()).unwrap().verify().unwrap();
        verify(&storage.store()).await.unwrap();
    }
    rollback(&storage.store()).await.unwrap();
    replica.look(false).await.unwrap();
    let past = Manifest::published(copy.path()).unwrap().past.unwrap();
    assert_eq!((past.until.to_string(), past.versions), ("2026-01-02".to_owned(), 1));

    // With a file of changes.
    let before = Manifest::published(index.path()).unwrap().id;
    let id = built_with_past(index.path(), "FOUR", 4).id;
    let lock = BuildLock::acquire(index.path()).unwrap();
    let writer = figdex_index::ChangeWriter::create(lock.new_changes().unwrap()).unwrap();
    writer.finish(before, id).unwrap();
    lock.keep_changes(id).unwrap();
    drop(lock);
    published(&storage, index.path()).await.unwrap();
    let (generation, described) = current(&storage).await;
    assert!(storage.object(&generation.contents()).starts_with(b"{\"layout\":3"));
    assert_eq!(described.changes().len(), 1);
    replica.look(false).await.unwrap();
    assert_eq!(changes_kept(copy.path()).unwrap(), [id]);
    assert_eq!(past_of(copy.path()), past_of(index.path()));

    // Without a past the contents are as they always were.
    changed(index.path(), "FIVE");
    published(&storage, index.path()).await.unwrap();
    let (generation, _) = current(&storage).await;
    assert!(storage.object(&generation.contents()).starts_with(b"{\"layout\":2"));
    replica.look(false).await.unwrap();
    assert_eq!(Manifest::published(copy.path()).unwrap().past, None);
}

/// A damaged or missing file of the past keeps the copy as it is, until the file is whole again.
#[tokio::test(start_paused = true)]
async fn a_damaged_past_is_not_taken() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built_with_past(index.path(), "ONE", 1);
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    let mut day = 1;
    for place in 0..FILES.len() {
        for fault in [Fault::Fails, Fault::Truncates, Fault::Flips, Fault::Hides] {
            day += 1;
            let name = format!("NAME {day}");
            built_with_past(index.path(), &name, day);
            published(&storage, index.path()).await.unwrap();
            let (_, described) = current(&storage).await;
            let parts = described.files().count() - FILES.len();
            let (_, pieces) = described.files().nth(parts + place).unwrap();
            let object = pieces[0].name.to_string();
            storage.set(&object, fault);
            if object.starts_with(&current(&storage).await.0.to_string()) {
                replica.look(false).await.unwrap_err();
                assert_ne!(served(copy.path()), at(&name, u64::from(day)), "{place} {fault:?}");
                verify(&storage.store()).await.unwrap_err();
            }
            storage.heal();
            replica.look(false).await.unwrap();
            assert_eq!(served(copy.path()), at(&name, u64::from(day)));
            assert_eq!(past_of(copy.path()), past_of(index.path()));
        }
    }
    // In the folder of the publisher.
    let generation = index.path().join(format!("generation-{day:06}"));
    for file in FILES {
        let path = generation.join(file);
        let right = fs::read(&path).unwrap();
        let flipped: Vec<u8> = right.iter().map(|byte| byte ^ 1).collect();
        for wrong in [&flipped[..], &right[1..]] {
            fs::write(&path, wrong).unwrap();
            assert!(published(&storage, index.path()).await.is_err(), "{file}");
            assert!(Catalogue::open(index.path()).is_err(), "{file}");
        }
        fs::remove_file(&path).unwrap();
        assert!(published(&storage, index.path()).await.is_err(), "{file}");
        fs::write(&path, right).unwrap();
    }
    published(&storage, index.path()).await.unwrap();
}

/// A folder that is received is published only with the right files of the past.
#[test]
fn a_received_past_is_compared() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    built_with_past(index.path(), "ONE", 1);
    let (manifest, files) = figdex_index::files(index.path()).unwrap();
    let lock = BuildLock::acquire(copy.path()).unwrap();
    let received = lock.receiving("x", &manifest).unwrap();
    let copied = |received: &Receiving| {
        for file in &files {
            fs::copy(&file.path, received.folder.join(&file.name)).unwrap();
        }
    };
    for file in FILES {
        copied(&received);
        let path = received.folder.join(file);
        let right = fs::read(&path).unwrap();
        fs::write(&path, &right[1..]).unwrap();
        assert!(lock.take_in(&received, &manifest, 1).is_err(), "{file}");
        fs::remove_file(&path).unwrap();
        assert!(lock.take_in(&received, &manifest, 1).is_err(), "{file}");
    }
    copied(&received);
    assert_eq!(lock.take_in(&received, &manifest, 1).unwrap(), 1);
    assert_eq!(*Catalogue::open(copy.path()).unwrap().manifest(), manifest);
}

/// Contents with a past are refused unless they have exactly the files of the manifest.
#[test]
fn hostile_lists_of_the_past_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = built_with_past(folder.path(), "ONE", 1);
    let name = PieceName { generation: GenerationName::new(7), sha256: Checksum::of(b"x") };
    let files = manifest.files().map(|(file, entry)| {
        let piece = Piece { name, bytes: entry.bytes as u32 };
        (file, if entry.bytes == 0 { Vec::new() } else { vec![piece] })
    });
    let files: Vec<_> = files.collect();
    let text = Contents { manifest: &manifest, files: &files, changes: &[] }.text().unwrap();
    let right = String::from_utf8(text).unwrap();
    let described = |text: &str| Described::of(text, "s3://test/contents.json");
    assert_eq!(described(&right).unwrap().files().count(), files.len());
    let changed = |from: &str, to: &str| {
        assert!(right.contains(from), "{from}");
        right.replacen(from, to, 1)
    };
    let added = |file: &str| changed("\"files\":{", &format!("\"files\":{{\"{file}\":[],"));
    // Another name for a file of the past, and another size.
    let versions = right.rfind("\"past/versions.log\"").unwrap();
    let without = format!("{}}}}}", &right[..versions - 1]);
    let at = versions + right[versions..].find("\"bytes\":").unwrap() + "\"bytes\":".len();
    let sized = format!("{}9{}", &right[..at], &right[at..]);
    let no_past = files.iter().find(|(name, _)| name.starts_with("past/")).unwrap();
    let first = right.find(&format!("\"{}\"", no_past.0)).unwrap();
    let none = format!("{}}}}}", &right[..first - 1]);
    for (text, expected) in [
        (changed("\"layout\":3", "\"layout\":1"), "such files have layout 3"),
        (changed("\"layout\":3", "\"layout\":2"), "such files have layout 3"),
        (changed("\"layout\":3", "\"layout\":5"), "upgrade this program first"),
        (none.clone(), "such files have layout 1"),
        (none.replacen("\"layout\":3", "\"layout\":1", 1), "does not have past/before.log"),
        (without, "does not have past/versions.log"),
        (sized, "in the manifest"),
        (added("past/a.b"), "it has past/a.b in place of past/before.log"),
        (added("past/z.z"), "it has past/z.z, which the manifest does not have"),
        (added("past/versions.log"), "past/versions.log has 0 bytes"),
        (added("part-001/x.y"), "it has part-001/x.y in place of past/before.log"),
        (added("past/segment/x.y"), "it has past/segment/x.y"),
        (added("past/../x.y"), "is not the name of a"),
        (changed("past/before.log", "past/after.log"), "in place of past/before.log"),
    ] {
        let error = described(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(error.len() < 700 && !error.contains('\n'), "{expected}: {error}");
    }
}
