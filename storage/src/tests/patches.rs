//! Patches: a night that changes little is little to fetch, and no fault of a patch, of the list of
//! patches or of the earlier files keeps a generation away.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use figdex_index::{BuildOptions, Builder, Catalogue, Figi, Instrument, Manifest, check_digit};

use super::{Fault, Faulty, published};
use crate::names::Kind;
use crate::{Look, Published, Replica};

/// So many that large files have several kinds of content.
const INSTRUMENTS: u64 = 3_000;

/// A text that no compression makes short.
fn text(number: u64) -> String {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:016X}{:016X}", mixed, mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9))
}

/// Builds a generation of instruments with random names. That of every `changed`th differs from
/// night to night.
fn night(folder: &Path, night: u64, changed: u64) -> Manifest {
    let mut builder = Builder::create(folder, BuildOptions::default()).unwrap();
    for number in 0..INSTRUMENTS {
        let name = match number % changed {
            0 => text(number + night * INSTRUMENTS),
            _ => text(number),
        };
        let body = format!("BBG{number:08}");
        let digit = check_digit::double_add_double(body.as_bytes()).unwrap();
        let figi = Figi::parse(&format!("{body}{digit}")).unwrap();
        builder.add(Instrument { name: Some(name), ..Instrument::new(figi) }).unwrap();
    }
    builder.publish(Vec::new()).unwrap()
}

/// A storage with two nights, of which the copy has the first.
struct Nights {
    storage: Arc<Faulty>,
    index: tempfile::TempDir,
    copy: tempfile::TempDir,
    second: Published,
}

impl Nights {
    async fn new() -> (Self, Replica) {
        let (index, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let storage = Faulty::new();
        night(index.path(), 0, 1_000);
        assert_eq!(published(&storage, index.path()).await.unwrap().patch_bytes, 0);
        let mut replica = Replica::open(storage.store(), copy.path(), None).unwrap();
        replica.look(false).await.unwrap();
        night(index.path(), 1, 1_000);
        let second = published(&storage, index.path()).await.unwrap();
        (Self { storage, index, copy, second }, replica)
    }

    /// The names of the list of patches, and of the patches.
    fn patches(&self) -> (String, Vec<String>) {
        let names = self.storage.names();
        let is_list = |name: &&String| matches!(Kind::of(name), Some(Kind::Patches(_)));
        let list = names.iter().find(is_list).unwrap().clone();
        let text = String::from_utf8(self.storage.object(&list).to_vec()).unwrap();
        let is_patch = |name: &String| {
            let own = name.strip_prefix(&format!("{}/", self.second.name));
            let digits = own.map(|digits| format!("{{\"piece\":0,\"sha256\":\"{digits}\""));
            digits.is_some_and(|digits| text.contains(&digits))
        };
        let patches: Vec<_> = names.iter().filter(|name| is_patch(name)).cloned().collect();
        assert!(!patches.is_empty(), "{text}");
        (list, patches)
    }

    /// Checks that the copy has all rows of the second night.
    fn check(&self) {
        let catalogue = Catalogue::open(self.copy.path()).unwrap();
        assert_eq!(catalogue.manifest().generation, 2);
        let expected = figdex_index::files(self.index.path()).unwrap().1;
        let found = figdex_index::files(self.copy.path()).unwrap().1;
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(fs::read(&expected.path).unwrap(), fs::read(&found.path).unwrap());
        }
    }
}

/// A night that changes one name in a thousand is a few per cent of its bytes to fetch, and the copy
/// has the same bytes as the publisher.
#[tokio::test(start_paused = true)]
async fn a_night_is_fetched_as_patches() {
    let (nights, mut replica) = Nights::new().await;
    let Look::Taken(taken) = replica.look(false).await.unwrap() else { panic!("it is current") };
    nights.check();
    let all = taken.fetched_bytes + taken.reused_bytes;
    assert_eq!(all, nights.second.sent_bytes + nights.second.reused_bytes);
    assert!(taken.fetched_bytes * 6 < nights.second.sent_bytes, "{taken:?} {:?}", nights.second);
    let following = replica.following();
    assert_eq!(following.lock().missing_bytes, 0);
}

/// With a fault of a patch or of the list, pieces are fetched whole, and the generation is
/// taken.
#[tokio::test(start_paused = true)]
async fn a_fault_of_a_patch_keeps_nothing_away() {
    let (nights, replica) = Nights::new().await;
    drop(replica);
    let (list, patches) = nights.patches();
    let first = tempfile::tempdir().unwrap();
    copied(nights.copy.path(), first.path());
    for object in patches.iter().take(2).chain([&list]) {
        for fault in [Fault::Fails, Fault::Truncates, Fault::Flips, Fault::Hides] {
            fs::remove_dir_all(nights.copy.path()).unwrap();
            copied(first.path(), nights.copy.path());
            nights.storage.set(object, fault);
            let mut replica =
                Replica::open(nights.storage.store(), nights.copy.path(), None).unwrap();
            let looked = replica.look(false).await;
            assert!(matches!(looked, Ok(Look::Taken(_))), "{fault:?} {object} {looked:?}");
            nights.check();
            nights.storage.heal();
        }
    }
}

/// Patches of another file, as a hostile storage may offer them, and earlier files that have decayed:
/// pieces are fetched whole.
#[tokio::test(start_paused = true)]
async fn patches_that_give_other_bytes() {
    let (nights, replica) = Nights::new().await;
    drop(replica);
    // The copy has other bytes than its manifest says, of the same size.
    for file in figdex_index::files(nights.copy.path()).unwrap().1 {
        let mut bytes = fs::read(&file.path).unwrap();
        bytes.iter_mut().step_by(7).for_each(|byte| *byte ^= 0x55);
        fs::write(&file.path, bytes).unwrap();
    }
    let mut replica = Replica::open(nights.storage.store(), nights.copy.path(), None).unwrap();
    let Look::Taken(taken) = replica.look(false).await.unwrap() else { panic!("it is current") };
    nights.check();
    let all = nights.second.sent_bytes + nights.second.reused_bytes;
    assert_eq!((taken.fetched_bytes, taken.reused_bytes), (all, 0));
}

/// Invalid lists of patches, and those that are too deep or have too long texts, are refused
/// without a panic.
#[test]
fn hostile_lists_of_patches() {
    let sha = "ab".repeat(32);
    let patch = format!("{{\"piece\":0,\"sha256\":\"{sha}\",\"bytes\":7}}");
    let file = format!("{{\"sha256\":\"{sha}\",\"bytes\":9,\"patches\":[{patch}]}}");
    let right = format!("{{\"layout\":1,\"files\":{{\"part-000/rows.texts\":{file}}}}}");
    assert_eq!(crate::documents::patches(right.as_bytes()).unwrap(), (1, 1));
    let changed = |from: &str, to: &str| {
        assert!(right.contains(from), "{from}");
        right.replacen(from, to, 1)
    };
    for (text, expected) in [
        (String::new(), "does not begin with"),
        (changed("\"layout\":1", "\"layout\":2"), "upgrade this program first"),
        (changed("\"piece\":0", "\"piece\":-1"), "invalid value"),
        (changed("\"piece\":0", "\"piece\":4294967296"), "invalid value"),
        (changed(&sha, "x"), "not a checksum"),
        (changed("\"bytes\":7", "\"bytes\":7,\"novel\":1"), "unknown field"),
        (changed("rows.texts", &"x".repeat(9_000_000)), "a text of more than 256 bytes"),
        (changed(&patch, &"[".repeat(100_000)), "deeper than 5 levels"),
        (right[..right.len() - 1].to_owned(), "EOF"),
        (format!("{right}{right}"), "trailing"),
    ] {
        let error = crate::documents::patches(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.len() < 500, "{error}");
    }
}

/// Copies a folder with all that is in it.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to),
            false => _ = fs::copy(entry.path(), to).unwrap(),
        }
    }
}
