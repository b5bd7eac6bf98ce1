//! Change files: published, followed, taken back, hostile.

use std::path::PathBuf;

use figdex_index::{BuildLock, ChangeWriter, GenerationId, Net, change_file};

use super::*;
use crate::contents::{CHANGE_FILES_MAX, Contents, Described};
use crate::names::{Checksum, PieceName};
use crate::pieces::{PIECES_MAX, Piece};
use crate::{changes, overview};

/// Builds a generation after another one, and leaves its change file. Returns its id.
pub(super) fn changed(folder: &Path, name: &str) -> GenerationId {
    let before = Catalogue::open(folder).unwrap();
    let id = built(folder, name).id;
    let lock = BuildLock::acquire(folder).unwrap();
    let mut writer = ChangeWriter::create(lock.new_changes().unwrap()).unwrap();
    let after = Catalogue::open(folder).unwrap();
    after.differences(&before, |changed| writer.add(&changed)).unwrap();
    writer.finish(before.manifest().id, id).unwrap();
    lock.keep_changes(id).unwrap();
    id
}

/// The names of the changed instrument at both ends of the way between two generations; `None`
/// when there is no way.
fn way(folder: &Path, from: GenerationId, to: GenerationId) -> Option<(String, String)> {
    let mut all = Vec::new();
    let add = |changed| {
        all.push(changed);
        Ok::<_, figdex_index::Error>(())
    };
    Net::between(folder, from, to).ok()?.for_each(add).unwrap();
    let [changed] = &all[..] else { panic!("{all:?}") };
    let name = |image: &Option<Instrument>| image.as_ref()?.name.as_ref().map(ToString::to_string);
    Some((name(&changed.before)?, name(&changed.after)?))
}

fn ways(one: &str, other: &str) -> Option<(String, String)> {
    Some((one.to_owned(), other.to_owned()))
}

/// The names of the files in the folder of the change files.
fn left(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("changes")) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// The contents that the pointer names.
async fn current(storage: &Arc<Faulty>) -> (GenerationName, Described) {
    let pointer = Pointer::read(&storage.store()).await.unwrap().unwrap();
    let described = Described::read(&storage.store(), pointer.name, None).await.unwrap();
    (pointer.name, described)
}

/// The objects of the change file of a generation.
async fn objects_of(storage: &Arc<Faulty>, id: GenerationId) -> Vec<String> {
    let (_, described) = current(storage).await;
    let found = described.changes().find(|(listed, _)| *listed == id).unwrap();
    found.1.iter().map(|piece| piece.name.to_string()).collect()
}

impl Faulty {
    /// Publishes the current generation under another name, with these change files instead, as
    /// a stranger might who can write there.
    async fn forge(self: &Arc<Self>, changes: &[(GenerationId, Vec<Piece>)]) {
        let (name, described) = current(self).await;
        let files = described.files().map(|(_, pieces)| pieces.to_owned());
        let names = described.manifest.files().map(|(name, _)| name);
        let files: Vec<_> = names.zip(files).collect();
        let generation = name.number + 1;
        let manifest = Manifest { generation, ..described.manifest.clone() };
        let text = Contents { manifest: &manifest, files: &files, changes }.text().unwrap();
        let name = GenerationName::new(generation);
        let pointer = Pointer::to(name, &text).text();
        self.leave(&name.contents(), text);
        self.leave("CURRENT", pointer);
    }

    /// Leaves a piece, and returns it.
    fn piece(&self, bytes: &[u8]) -> Piece {
        let name = PieceName { generation: GenerationName::new(1), sha256: Checksum::of(bytes) };
        self.leave(&name.to_string(), bytes.to_vec());
        Piece { name, bytes: bytes.len() as u32 }
    }
}

/// All change files of a folder are published and followed, each once. A copy that was away for
/// some generations gets those between as well. A file that the folder no longer keeps goes from
/// the copy, and from the storage with the last generation that lists it.
#[tokio::test(start_paused = true)]
async fn change_files_are_followed() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    let first = built(index.path(), "ONE").id;
    published(&storage, index.path()).await.unwrap();
    // An earlier version of Figdex reads contents without change files.
    let (name, _) = current(&storage).await;
    let head = |name: GenerationName| storage.object(&name.contents()).slice(..11);
    assert_eq!(head(name), "{\"layout\":1".as_bytes());
    assert!(!storage.object(&name.contents()).ends_with(b"changes\":{}}"));
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    assert_eq!(left(copy.path()), [""; 0]);

    let second = changed(index.path(), "TWO");
    published(&storage, index.path()).await.unwrap();
    let (name, _) = current(&storage).await;
    assert_eq!(head(name), "{\"layout\":2".as_bytes());
    let third = changed(index.path(), "THREE");
    published(&storage, index.path()).await.unwrap();
    assert_eq!(overview(&storage.store()).await.unwrap().changes, 2);
    let Look::Taken(taken) = replica.look(false).await.unwrap() else { panic!("it is current") };
    assert_eq!(served(copy.path()), at("THREE", 3));
    assert_eq!(way(copy.path(), first, third), ways("ONE", "THREE"));
    assert_eq!(way(copy.path(), third, second), ways("THREE", "TWO"));
    let mut bytes = 0;
    for id in [second, third] {
        let [own, copied] = [index.path(), copy.path()].map(|at| fs::read(change_file(at, id)));
        let own = own.unwrap();
        assert_eq!(own, copied.unwrap());
        bytes += own.len() as u64;
    }
    assert!(taken.fetched_bytes > bytes);
    assert_eq!(replica.following().lock().missing_bytes, 0);

    // The same again: nothing is sent, and nothing is fetched.
    let again = published(&storage, index.path()).await.unwrap();
    assert_eq!(again.sent_bytes, 0);
    let Look::Taken(taken) = replica.look(false).await.unwrap() else { panic!("it is current") };
    assert_eq!(taken.fetched_bytes, 0);
    assert_eq!(left(copy.path()), left(index.path()));

    // The file of the second one is old. What a killed program has left goes too.
    let objects = objects_of(&storage, second).await;
    BuildLock::acquire(index.path()).unwrap().remove_changes(|id, _| id != second).unwrap();
    fs::write(copy.path().join("changes/next.new"), "x").unwrap();
    let is_there = || objects.iter().any(|name| storage.names().contains(name));
    let fifth = changed(index.path(), "FIVE");
    published(&storage, index.path()).await.unwrap();
    replica.look(false).await.unwrap();
    assert_eq!(left(copy.path()), left(index.path()));
    assert_eq!(left(copy.path()).len(), 2);
    assert_eq!(way(copy.path(), second, fifth), ways("TWO", "FIVE"));
    assert_eq!(way(copy.path(), first, fifth), None);
    assert!(is_there(), "the generation before lists it");
    published(&storage, index.path()).await.unwrap();
    assert!(!is_there());

    // `verify` reads them.
    verify(&storage.store()).await.unwrap();
    let object = objects_of(&storage, fifth).await.remove(0);
    storage.set(&object, Fault::Flips);
    let error = verify(&storage.store()).await.unwrap_err().to_string();
    assert!(error.contains(&object), "{error}");
    storage.heal();

    // A folder without change files.
    fs::remove_dir_all(index.path().join("changes")).unwrap();
    published(&storage, index.path()).await.unwrap();
    replica.look(false).await.unwrap();
    assert_eq!(left(copy.path()), [""; 0]);
    assert!(head(current(&storage).await.0).ends_with(b"1"));
}

/// After a rollback a copy still has the way there and back, and after the next generation too.
#[tokio::test(start_paused = true)]
async fn a_rollback_keeps_the_way_back() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    built(index.path(), "ONE");
    published(&storage, index.path()).await.unwrap();
    let second = changed(index.path(), "TWO");
    published(&storage, index.path()).await.unwrap();
    let third = changed(index.path(), "THREE");
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    rollback(&storage.store()).await.unwrap();
    replica.look(false).await.unwrap();
    for _ in 0..2 {
        assert_eq!(served(copy.path()), at("TWO", 2));
        assert_eq!(Manifest::published(copy.path()).unwrap().id, second);
        assert_eq!(way(copy.path(), third, second), ways("THREE", "TWO"));
        assert_eq!(way(copy.path(), second, third), ways("TWO", "THREE"));
        // Also when the program starts again.
        drop(replica);
        replica = Replica::open(storage.store(), copy.path(), None).unwrap();
        assert_eq!(replica.look(false).await.unwrap(), Look::Current);
    }
    let fourth = changed(index.path(), "FOUR");
    published(&storage, index.path()).await.unwrap();
    replica.look(false).await.unwrap();
    assert_eq!(way(copy.path(), second, fourth), ways("TWO", "FOUR"));
    assert_eq!(way(copy.path(), third, fourth), ways("THREE", "FOUR"));
}

/// A change file that is damaged or missing keeps nobody from the new generation. It is fetched when
/// the server is asked to, after an hour, and at the next start.
#[tokio::test(start_paused = true)]
async fn a_damaged_change_file_is_left_out() {
    let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Faulty::new();
    let mut before = built(index.path(), "ONE").id;
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
    replica.look(false).await.unwrap();
    let mut number = 1;
    for fault in [Fault::Fails, Fault::Truncates, Fault::Flips, Fault::Hides] {
        for again in ["asked", "later", "start"] {
            number += 1;
            let name = format!("NAME {number}");
            let id = changed(index.path(), &name);
            published(&storage, index.path()).await.unwrap();
            storage.set(&objects_of(&storage, id).await[0], fault);
            assert!(matches!(replica.look(false).await.unwrap(), Look::Taken(_)), "{fault:?}");
            assert_eq!(served(copy.path()), at(&name, number), "{fault:?}");
            assert_eq!(replica.following().lock().state, FollowState::Current);
            assert_eq!(way(copy.path(), before, id), None);
            assert_eq!(left(copy.path()).len(), left(index.path()).len() - 1);
            // It is not tried at every look.
            let reads = storage.reads.load(Ordering::Relaxed);
            assert_eq!(replica.look(false).await.unwrap(), Look::Current);
            assert_eq!(storage.reads.load(Ordering::Relaxed), reads + 1, "only the pointer");
            storage.heal();
            let is_asked = again == "asked";
            match again {
                "later" => tokio::time::sleep(Duration::from_secs(3601)).await,
                "start" => {
                    drop(replica);
                    replica = Replica::open(storage.store(), copy.path(), None).unwrap();
                }
                _ => {}
            }
            assert_eq!(replica.look(is_asked).await.unwrap(), Look::Current);
            assert!(way(copy.path(), before, id).is_some(), "{fault:?} {again}");
            assert_eq!(left(copy.path()), left(index.path()));
            before = id;
        }
    }
    // A file that has decayed in the copy is fetched again with the next generation.
    let decayed = change_file(copy.path(), before);
    let right = fs::read(&decayed).unwrap();
    for wrong in [&right[..right.len() - 1], &[&right[..], b"x"].concat(), b""] {
        fs::write(&decayed, wrong).unwrap();
        published(&storage, index.path()).await.unwrap();
        replica.look(false).await.unwrap();
        assert_eq!(fs::read(&decayed).unwrap(), right);
    }
    // If it cannot be fetched, readers find no file rather than a damaged one.
    fs::write(&decayed, &right[1..]).unwrap();
    storage.set(&objects_of(&storage, before).await[0], Fault::Hides);
    published(&storage, index.path()).await.unwrap();
    replica.look(false).await.unwrap();
    assert!(!decayed.exists());
}

/// Bytes that are not a change file, the file of another generation, more bytes than the disk: the new
/// generation is served without them.
#[tokio::test(start_paused = true)]
async fn impossible_change_files_are_left_out() {
    let (index, above) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let copy = above.path().join("copy");
    let storage = Faulty::new();
    let first = built(index.path(), "ONE").id;
    let second = changed(index.path(), "TWO");
    published(&storage, index.path()).await.unwrap();
    let mut replica = Replica::open(storage.store(), &copy, None).unwrap();
    replica.look(false).await.unwrap();
    let right = fs::read(change_file(&copy, second)).unwrap();
    let other = GenerationId::random();
    let [whole, cut] = [&right[..], &right[..right.len() - 1]].map(|at| storage.piece(at));
    let [garbage, empty] = [&b"FGDXCHG\x01nonsense"[..], &[0; 40]].map(|at| storage.piece(at));
    let mut generation = 1;
    for wrong in [vec![whole], vec![cut], vec![garbage], vec![empty], vec![whole, whole]] {
        storage.forge(&[(second, vec![whole]), (other, wrong)]).await;
        generation += 1;
        replica.look(false).await.unwrap();
        assert_eq!(served(&copy), at("TWO", generation));
        assert_eq!(changes_kept(&copy).unwrap(), [second]);
        assert_eq!(left(&copy).len(), 1);
        assert_eq!(way(&copy, first, second), ways("ONE", "TWO"));
    }
    // More bytes than any disk has.
    let large = Piece { bytes: 16 << 20, ..garbage };
    storage.forge(&[(second, vec![whole]), (other, vec![large; 70_000])]).await;
    let reads = storage.reads.load(Ordering::Relaxed);
    replica.look(false).await.unwrap();
    assert_eq!(served(&copy), at("TWO", generation + 1));
    assert!(storage.reads.load(Ordering::Relaxed) < reads + 10);
    assert_eq!(left(&copy).len(), 1);
    // Very many of them.
    let many = (0..CHANGE_FILES_MAX).map(|_| (GenerationId::random(), vec![garbage]));
    let many: Vec<_> = many.collect();
    let start = tokio::time::Instant::now();
    storage.set(&garbage.name.to_string(), Fault::Hides);
    storage.forge(&many).await;
    replica.look(false).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(90), "{:?}", start.elapsed());
    assert_eq!(served(&copy), at("TWO", generation + 2));
    assert_eq!(left(&copy), [""; 0]);
    assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1, "only the copy");
}

/// A publisher leaves out what no reader could use, and the oldest of too many. The rest is
/// published.
#[tokio::test(start_paused = true)]
async fn only_usable_change_files_are_published() {
    let index = tempfile::tempdir().unwrap();
    let storage = Faulty::new();
    built(index.path(), "ONE");
    let second = changed(index.path(), "TWO");
    let right = fs::read(change_file(index.path(), second)).unwrap();
    let leave = |bytes: &[u8]| {
        let path: PathBuf = change_file(index.path(), GenerationId::random());
        fs::write(path, bytes).unwrap();
    };
    leave(&right);
    leave(&right[1..]);
    leave(b"");
    fs::write(index.path().join("changes/notes.txt"), "mine").unwrap();
    let third = changed(index.path(), "THREE");
    published(&storage, index.path()).await.unwrap();
    let (_, described) = current(&storage).await;
    let listed: Vec<_> = described.changes().map(|(id, _)| id).collect();
    let mut expected = [second, third];
    expected.sort_unstable();
    assert_eq!(listed, expected);

    // Not enough room in the contents for both.
    for id in expected {
        let file = fs::File::options().append(true).open(change_file(index.path(), id)).unwrap();
        let seconds = if id == second { 10_000 } else { 0 };
        let now = std::time::SystemTime::now();
        file.set_modified(now - Duration::from_secs(seconds)).unwrap();
    }
    let found = |pieces: usize, text_bytes: usize| {
        let found = changes::of_folder(index.path(), pieces, text_bytes).unwrap();
        found.into_iter().map(|file| file.id).collect::<Vec<_>>()
    };
    assert_eq!(found(100, 100), expected);
    assert_eq!(found(PIECES_MAX - 2, 100), expected);
    assert_eq!(found(PIECES_MAX - 1, 100), [third]);
    assert_eq!(found(PIECES_MAX, 100), []);
    assert_eq!(found(100, (10 << 20) - 300), [third]);
    assert_eq!(found(100, 10 << 20), []);
}

/// Contents with change files are refused unless they are as a publisher writes them.
#[test]
fn hostile_lists_of_change_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = built(folder.path(), "ONE");
    let name = PieceName { generation: GenerationName::new(7), sha256: Checksum::of(b"x") };
    let files = manifest.files().map(|(file, entry)| {
        let piece = Piece { name, bytes: entry.bytes as u32 };
        (file, if entry.bytes == 0 { Vec::new() } else { vec![piece] })
    });
    let files: Vec<_> = files.collect();
    let text = |changes: &[(GenerationId, Vec<Piece>)]| {
        let text = Contents { manifest: &manifest, files: &files, changes }.text().unwrap();
        String::from_utf8(text).unwrap()
    };
    let id = GenerationId::random();
    let right = text(&[(id, vec![Piece { name, bytes: 7 }; 2])]);
    let described = |text: &str| Described::of(text, "s3://test/contents.json");
    let first = described(&right).unwrap();
    let found: Vec<_> = first.changes().map(|(id, pieces)| (id, pieces.len())).collect();
    assert_eq!(found, [(id, 2)]);
    assert_eq!(
        first.pieces().len(),
        files.iter().map(|(_, pieces)| pieces.len()).sum::<usize>() + 2
    );
    let without = text(&[]);
    assert_eq!(described(&without).unwrap().changes().len(), 0);

    let id = id.to_string();
    let piece = format!("{{\"key\":\"{name}\",\"bytes\":7}}");
    let with = |members: &str| {
        let at = right.find("\"changes\":{").unwrap() + "\"changes\":{".len();
        format!("{}{members}}}}}", &right[..at])
    };
    let changed = |from: &str, to: &str| {
        assert!(right.contains(from), "{from}");
        right.replacen(from, to, 1)
    };
    let listed = |ids: &[&str]| {
        let members: Vec<_> = ids.iter().map(|id| format!("\"{id}\":[{piece}]")).collect();
        with(&members.join(","))
    };
    let many: Vec<_> = (0..=CHANGE_FILES_MAX).map(|number| format!("{number:032x}")).collect();
    let many: Vec<_> = many.iter().map(|id| &**id).collect();
    described(&listed(&many[1..])).unwrap();
    let pieces = |count: usize| vec![&*piece; count].join(",");
    let long = "x".repeat(1 << 19);
    let mut cases = vec![
        (listed(&many), "more than 4096 change files"),
        (listed(&[&id, &id]), "twice"),
        (listed(&[many[0], &id, many[1], &id]), "twice"),
        (with(&format!("\"{id}\":[]")), "has no pieces"),
        (with(&format!("\"{id}\":null")), "a list of pieces"),
        (with(&format!("\"{id}\":[[[")), "deeper than 4 levels"),
        (with(&format!("\"{id}\":[{}]", pieces(PIECES_MAX))), "more than 80000 pieces"),
        (with(&format!("\"{id}\":[{}]", pieces(PIECES_MAX + 1))), "more than 80000 pieces"),
        (with(&format!("\"{id}\":[{}]", piece.replace(":7", ":16777217"))), "no valid size"),
        (with(&format!("\"{id}\":[{}]", piece.replace(":7", ":0"))), "no valid size"),
        (with(&format!("\"{id}\":[{}]", piece.replace("generation", "x"))), "no valid name"),
        (changed("\"layout\":2", "\"layout\":1"), "such files have layout 2"),
        (changed("\"layout\":2", "\"layout\":3"), "such files have layout 2"),
        (changed("\"layout\":2", "\"layout\":5"), "upgrade this program first"),
        (changed("\"layout\":2", "\"layout\":0"), "has layout 0"),
        (without.replacen("\"layout\":1", "\"layout\":2", 1), "such files have layout 1"),
        (with(""), "its list of change files is empty"),
        (with("").replacen("\"layout\":2", "\"layout\":1", 1), "its list of change files is empty"),
        (changed("\"changes\":", "\"changes\":null,\"x\":"), "invalid type: null"),
        (changed("\"changes\":", "\"changes\":{},\"changes\":"), "duplicate field"),
        (changed("\"changes\":", "\"changes\":[],\"changes\":"), "invalid type"),
        (listed(&[&long]), "a token"),
        (listed(&[&format!("{long}{long}x")]), "a text of more than 1048576 bytes"),
    ];
    let upper = id.to_uppercase() + "A";
    for name in [
        "",
        "x",
        "..",
        "../../../../../../../../../../x",
        "/tmp/x",
        "part-000/rows.texts",
        "CURRENT",
        &upper[1..],
        &id[1..],
        &format!("{id}0"),
        &format!("{id}.changes"),
        &format!("../{}", &id[3..]),
        &format!("{}\\u0000", &id[1..]),
        &format!("{}\\n", &id[1..]),
    ] {
        cases.push((listed(&[name]), "a token"));
    }
    for (text, expected) in cases {
        let error = described(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(error.len() < 700 && !error.contains('\n'), "{expected}: {error}");
    }
}
