//! Opening an index with the programs: files whose bytes were checked on this machine are not read
//! again, and whatever happens to a file afterwards is found (engine 10).

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use figdex_index::Manifest;
use figdex_io::Layout;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::support::process::{Process, figdex, run};
use crate::support::{generated, ingest};

const STAMP: &str = "generation-000001.verified";

/// A folder with an index of generated instruments.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("dump.csv"), generated(3_000, Layout::Csv)).unwrap();
    let (code, _, error) = ingest(desk.path(), &["build", "dump.csv", "--index", "index"]);
    assert_eq!(code, 0, "{error}");
    assert!(desk.path().join("index").join(STAMP).exists());
    desk
}

fn served(index: &Path) -> Process {
    Process::start(figdex().args(["--listen", "127.0.0.1:0", "--index"]).arg(index))
}

/// The bytes that `figdex explain` reads by calls, which those of mapped files are not; `None` where
/// the system does not count them.
fn read_to_explain(index: &Path) -> Option<u64> {
    let query = index.with_extension("json");
    fs::write(&query, r#"{"query":"bank"}"#).unwrap();
    let mut explain = figdex();
    explain.arg("explain").arg(query).arg("--index").arg(index);
    let mut child = explain.stdout(Stdio::null()).spawn().unwrap();
    let id = child.id();
    // Its figures are there until its parent has taken notice of its end.
    let pid = WaitId::Pid(Pid::from_child(&child));
    waitid(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let counts = fs::read_to_string(format!("/proc/{id}/io")).ok();
    assert!(child.wait().unwrap().success());
    counts?.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

/// A first start, without an index: the sample is built, and served at a name. The log has no line of
/// a library that all is well.
#[test]
fn a_first_start_at_a_name() {
    let desk = tempfile::tempdir().unwrap();
    let process =
        Process::start(figdex().current_dir(desk.path()).args(["--listen", "localhost:0"]));
    process.assert_serves();
    let log = process.stop();
    assert!(log.contains("building one from the bundled sample"), "{log}");
    for line in log.lines().filter(|line| line.contains(" INFO ")) {
        assert!(line.contains(" INFO figdex"), "{line}");
    }
}

/// A stamped index is opened without its bytes, one without a stamp by all of them, once; and so is
/// a copy, even of the stamp.
#[test]
fn the_bytes_of_an_index_are_read_once() {
    let desk = desk();
    let index = desk.path().join("index");
    let bytes = Manifest::published(&index).unwrap().bytes();
    let Some(stamped) = read_to_explain(&index) else {
        eprintln!("skipped: the system does not count the bytes that a process reads");
        return;
    };
    let is_read_in_full = |index: &Path| {
        let read = read_to_explain(index).unwrap();
        let (least, most) = (stamped + bytes * 9 / 10, stamped + bytes * 11 / 10);
        assert!(read < stamped + bytes / 10 || (least..most).contains(&read), "{read} {stamped}");
        read >= least
    };
    assert!(!is_read_in_full(&index));
    fs::remove_file(index.join(STAMP)).unwrap();
    assert!(is_read_in_full(&index));
    assert!(!is_read_in_full(&index));

    let copy = desk.path().join("copy");
    let copied = Command::new("cp").arg("--archive").args([&index, &copy]).status().unwrap();
    assert!(copied.success() && copy.join(STAMP).exists());
    assert!(is_read_in_full(&copy));
    assert!(!is_read_in_full(&copy));
    // It may come after the copy in a backup, and be cut there.
    fs::write(copy.join(STAMP), &fs::read(copy.join(STAMP)).unwrap()[1..]).unwrap();
    assert!(is_read_in_full(&copy));
    assert!(!is_read_in_full(&index));

    // A rollback stamps what it publishes, and a build too, unless its files are too young.
    let build = || {
        let (code, _, error) = ingest(desk.path(), &["build", "dump.csv", "--index", "index"]);
        assert_eq!(code, 0, "{error}");
        let generation = Manifest::published(&index).unwrap().generation;
        index.join(format!("generation-{generation:06}.verified")).exists()
    };
    assert!((0..20).any(|_| build()));
    assert!(!is_read_in_full(&index));
    let stamps = || {
        let names = fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|ending| ending == "verified"))
    };
    stamps().for_each(|stamp| fs::remove_file(stamp).unwrap());
    assert_eq!(ingest(desk.path(), &["rollback", "index"]).0, 0);
    assert_eq!(stamps().count(), 1);
    assert!(!is_read_in_full(&index));
}

/// A byte that is changed in a stamped index, with size and modification time as before, is found
/// by whatever opens it next: the server, and each command.
#[test]
fn a_changed_byte_is_found_at_opening() {
    let desk = desk();
    let index = desk.path().join("index");
    fs::write(desk.path().join("query.json"), r#"{"query":"bank"}"#).unwrap();
    let path = part(&index, "rows.texts");
    for command in ["serve", "explain", "inspect", "export", "verify"] {
        let modified = flip(&path);
        let (code, error) = match command {
            "serve" => {
                let (code, _, error) = run(figdex().arg("--index").arg(&index));
                (code, error)
            }
            "explain" => {
                let query = desk.path().join("query.json");
                let explain = &mut figdex();
                let (code, _, error) =
                    run(explain.arg("explain").arg(query).arg("--index").arg(&index));
                (code, error)
            }
            command => {
                let (code, _, error) = ingest(desk.path(), &[command, "index"]);
                (Some(code), error)
            }
        };
        assert_eq!(code, Some(1), "{command}: {error}");
        assert!(error.contains("rows.texts is damaged"), "{command}: {error}");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
        flip(&path);
        assert_eq!(ingest(desk.path(), &["inspect", "index"]).0, 0);
        assert!(index.join(STAMP).exists(), "{command}");
    }
}

/// Bytes that decay on the disk, which the file system does not show, are found by `verify` and
/// `rollback`, and from then on by every opening.
#[test]
fn decayed_bytes_are_found_by_verify_and_rollback() {
    let desk = desk();
    let index = desk.path().join("index");
    decay(&index);
    served(&index).stop();
    assert_eq!(ingest(desk.path(), &["inspect", "index"]).0, 0);
    let is_found = |command: &str| {
        let (code, _, error) = ingest(desk.path(), &[command, "index"]);
        assert_eq!(code, 1);
        assert!(error.contains("rows.texts is damaged"), "{command}: {error}");
    };
    is_found("verify");
    let (code, _, error) = run(figdex().arg("--index").arg(&index));
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("rows.texts is damaged"), "{error}");

    flip(&part(&index, "rows.texts"));
    assert_eq!(ingest(desk.path(), &["inspect", "index"]).0, 0);
    decay(&index);
    assert_eq!(ingest(desk.path(), &["build", "dump.csv", "--index", "index"]).0, 0);
    is_found("rollback");
    assert!(!index.join(STAMP).exists());
    assert_eq!(Manifest::published(&index).unwrap().generation, 2);
}

/// Changes a file of the first generation, and its stamp as if nothing had changed.
fn decay(index: &Path) {
    let path = part(index, "rows.texts");
    let time = || {
        let metadata = fs::metadata(&path).unwrap();
        format!("{}.{:09}", metadata.ctime(), metadata.ctime_nsec())
    };
    let before = time();
    flip(&path);
    let stamp = fs::read_to_string(index.join(STAMP)).unwrap();
    let line = stamp.lines().find(|line| line.ends_with(" rows.texts")).unwrap();
    let edited = stamp.replace(line, &line.replace(&before, &time()));
    assert_ne!(edited, stamp);
    fs::write(index.join(STAMP), edited).unwrap();
}

fn part(index: &Path, name: &str) -> PathBuf {
    index.join("generation-000001/part-000").join(name)
}

/// Flips a bit in the middle of a file, and sets its modification time back, which it returns.
fn flip(path: &Path) -> SystemTime {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let metadata = file.metadata().unwrap();
    let (place, modified) = (metadata.len() / 2, metadata.modified().unwrap());
    let mut byte = [0];
    file.read_exact_at(&mut byte, place).unwrap();
    file.write_all_at(&[byte[0] ^ 1], place).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
    modified
}
