//! Builds that are killed, that fill the disk, or that run at the same time: they always leave an
//! index that can be served, and no unfinished files for long.

use std::ffi::CString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use figdex_index::Catalogue;
use figdex_io::Layout;
use rustix::mount::{MountFlags, mount_remount};
use rustix::process::Signal;

use crate::support::process::{Process, REQUEST, figdex, run};
use crate::support::{generated, ingest, program};

const OLD: &str = "figi,ticker\nBBG000BPH459,OLD\n";
const NEW_COUNT: u64 = 1_000;

/// A folder with two dumps, and an index of the old one.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("old.csv"), OLD).unwrap();
    fs::write(desk.path().join("new.csv"), generated(NEW_COUNT, Layout::Csv)).unwrap();
    desk
}

fn build(folder: &Path, dump: &str, index: &str) -> (i32, String) {
    let (code, _, error) = ingest(folder, &["build", dump, "--index", index]);
    (code, error)
}

fn instruments(index: &Path) -> u64 {
    Catalogue::open(index).unwrap().manifest().instruments
}

/// The entries of an index folder that are neither pointer, lock, records of builds, generation nor
/// its stamp.
fn half_made(index: &Path) -> Vec<String> {
    let names = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let is_whole = |name: &str| {
        let name = name.strip_suffix(".verified").unwrap_or(name);
        let number = name.strip_prefix("generation-");
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        matches!(name, "CURRENT" | "LOCK" | "builds.jsonl")
            || number.is_some() && index.join(name).join("manifest.toml.sha256").exists()
    };
    names.filter(|name| !is_whole(name)).collect()
}

/// Fifty kills at moments spread over the time of a build.
#[test]
fn a_kill_at_any_moment_leaves_an_index_that_serves() {
    let desk = desk();
    let index = desk.path().join("index");
    let start = Instant::now();
    assert_eq!(build(desk.path(), "new.csv", "index").0, 0);
    let whole = start.elapsed();
    assert_eq!(build(desk.path(), "old.csv", "index").0, 0);
    let (mut finished, mut left) = (0, 0);
    // An odd seed gives numbers that look random, and the same ones every time.
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for kill in 0..50 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let jitter = (random >> 40) as f64 / (1 << 24) as f64;
        let moment = whole.mul_f64((f64::from(kill) + jitter) / 50.0 * 1.1);
        let mut child = Command::new(program())
            .current_dir(desk.path())
            .args(["build", "new.csv", "--index", "index"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(moment);
        let ended = child.try_wait().unwrap().is_some();
        // SIGKILL, which a process cannot catch.
        child.kill().unwrap();
        child.wait().unwrap();
        let found = instruments(&index);
        assert!(found == NEW_COUNT || found == 1 && !ended, "{found} instruments at {moment:?}");
        left += u32::from(!half_made(&index).is_empty());
        finished += u32::from(ended);
        if found == NEW_COUNT {
            assert_eq!(build(desk.path(), "old.csv", "index").0, 0);
            assert_eq!(half_made(&index), [""; 0], "after the kill at {moment:?}");
        }
    }
    assert!(left > 5, "of 50 kills only {left} came while a generation was being built");
    eprintln!("50 kills over {whole:?}: {left} left something unfinished, {finished} came late");

    // A build that fails tidies up as well as one that publishes.
    fs::create_dir(index.join("generation-009999.new")).unwrap();
    fs::write(index.join("CURRENT.new"), "gen").unwrap();
    fs::write(desk.path().join("bad.csv"), "figi\nBBG000BLNNH5\n").unwrap();
    assert_eq!(build(desk.path(), "bad.csv", "index").0, 1);
    assert_eq!(half_made(&index), [""; 0]);
    assert_eq!(instruments(&index), 1);
}

/// When builds start together, those that find the lock taken say so at once, and the index that
/// the others publish is whole.
#[test]
fn two_builders_never_meet() {
    let desk = desk();
    let children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(program())
                .current_dir(desk.path())
                .args(["build", "new.csv", "--index", "index"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut published = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => published += 1,
            code => {
                assert_eq!(code, Some(1), "{error}");
                assert_eq!(
                    error, "figdex-ingest: index is locked: another build is running\n",
                    "it ends before it reads anything"
                );
            }
        }
    }
    let catalogue = Catalogue::open(&desk.path().join("index")).unwrap();
    assert!(published >= 1);
    assert_eq!(catalogue.manifest().generation, published);

    // A lock that another program holds is respected too.
    let lock = figdex_index::BuildLock::acquire(&desk.path().join("index")).unwrap();
    for arguments in [&["build", "old.csv", "--index", "index"][..], &["rollback", "index"]] {
        let (code, _, error) = ingest(desk.path(), arguments);
        assert_eq!((code, error.contains("locked")), (1, true), "{error}");
    }
    drop(lock);
    assert_eq!(build(desk.path(), "old.csv", "index").0, 0);
}

/// A file system of limited size; it is unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where the test may not mount one.
    fn mount(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&path).output();
        if mount.is_ok_and(|mount| mount.status.success()) {
            return Some(Self(path));
        }
        let is_required = std::env::var_os("FIGDEX_REQUIRE_SMALL_DISK").is_some();
        assert!(!is_required, "FIGDEX_REQUIRE_SMALL_DISK is set, and no tmpfs can be mounted");
        eprintln!("skipped: a small disk can be mounted by root alone");
        None
    }

    fn resize(&self, kilobytes: u64) {
        self.remount(MountFlags::empty(), &format!("size={kilobytes}k"));
    }

    /// Calls the kernel itself: `mount` would look its options up in a table that other tests change
    /// at the same time. A size is refused until the kernel has counted what was just deleted.
    fn remount(&self, flags: MountFlags, data: &str) {
        let data = CString::new(data).unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        while let Err(error) = mount_remount(&self.0, flags, &*data) {
            let used = disk_usage(&self.0);
            assert!(Instant::now() < end, "{data:?} is refused, with {used} KB in use: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        assert!(unmounted.unwrap().success() || std::thread::panicking());
    }
}

/// A disk that fills up at any point of a build leaves only the old index, which can be served; and
/// the build warns beforehand.
#[test]
fn a_full_disk_ends_a_build_cleanly() {
    let desk = desk();
    let Some(disk) = SmallDisk::mount(desk.path().join("small")) else { return };
    let index = desk.path().join("small/index");
    let try_build: &[&str] = &["build", "new.csv", "--index", "small/index", "--skip-space-check"];
    assert_eq!(build(desk.path(), "old.csv", "small/index").0, 0);
    let old_kilobytes = disk_usage(&index);
    assert_eq!(ingest(desk.path(), try_build).0, 0);
    let whole_kilobytes = disk_usage(&index) - old_kilobytes;
    assert_eq!(ingest(desk.path(), &["rollback", "small/index"]).0, 0);
    // The next build removes the generations that a rollback took back, before it begins or when it
    // ends.
    assert_eq!(build(desk.path(), "old.csv", "small/index").0, 0);
    // Opening stamps it, if the build did not.
    assert_eq!(instruments(&index), 1);
    let old_kilobytes = disk_usage(&index);

    let mut failed = 0;
    for step in 0..10 {
        disk.resize(old_kilobytes + whole_kilobytes * step / 9);
        let (code, _, error) = ingest(desk.path(), try_build);
        if code == 0 {
            assert!(step > 5, "it cannot have fitted");
            assert_eq!(instruments(&index), NEW_COUNT);
            break;
        }
        failed += 1;
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("No space left on device"), "{error}");
        assert_eq!(half_made(&index), [""; 0]);
        assert_eq!((instruments(&index), disk_usage(&index)), (1, old_kilobytes), "step {step}");
    }
    assert!(failed > 5, "{failed}");

    disk.resize(old_kilobytes + whole_kilobytes / 4);
    let (code, error) = build(desk.path(), "new.csv", "small/index");
    assert_eq!(code, 1);
    assert!(error.contains(" free, and the build needs about "), "{error}");
}

/// Where nothing can be written, an index without a stamp is read in full each time, without a word;
/// a stamp that was made before counts.
#[test]
fn an_index_on_a_read_only_disk_is_opened_and_not_stamped() {
    let desk = desk();
    let Some(disk) = SmallDisk::mount(desk.path().join("small")) else { return };
    let index = desk.path().join("small/index");
    assert_eq!(build(desk.path(), "old.csv", "small/index").0, 0);
    assert_eq!(instruments(&index), 1);
    let stamp = index.join("generation-000001.verified");
    for is_stamped in [true, false] {
        if !is_stamped {
            fs::remove_file(&stamp).unwrap();
        }
        disk.remount(MountFlags::RDONLY, "");
        for _ in 0..2 {
            assert_eq!(instruments(&index), 1);
            for command in ["inspect", "verify", "export"] {
                let (code, _, error) = ingest(desk.path(), &[command, "small/index"]);
                assert_eq!((code, &*error), (0, ""), "{command}");
            }
            assert_eq!(stamp.exists(), is_stamped);
            assert_eq!(half_made(&index), [""; 0]);
        }
        disk.remount(MountFlags::empty(), "");
    }
}

/// The disk space of a folder, as the disk counts it.
fn disk_usage(folder: &Path) -> u64 {
    let output = Command::new("df").args(["-k", "--output=used"]).arg(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().last().unwrap().trim().parse().unwrap()
}

/// A published file that is cut to nothing under a running server is like a disk that cannot read
/// it: a request that needs a missing page ends the process by SIGBUS, no wrong row is answered, and
/// the next start names the file.
#[test]
fn a_page_that_cannot_be_read_ends_the_server() {
    let (mut ended, mut answered) = (0, 0);
    let names = ["rows.figis", "rows.records", "rows.lines", "rows.texts", "ranks.order"];
    for name in names.into_iter().chain(["identifiers.entries", "identifiers.radix"]) {
        let mut server = Process::of_one(&[]);
        server.assert_serves();
        let index = server.index();
        let path = index.join("generation-000001/part-000").join(name);
        fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        let answer = server.exchange(REQUEST);
        if answer.is_empty() {
            let status = server.child.wait().unwrap();
            assert_eq!(status.signal(), Some(Signal::BUS.as_raw()), "{name}: {status}");
            ended += 1;
        } else {
            assert!(answer.starts_with("HTTP/1.1 200 "), "{name}: {answer}");
            assert!(answer.contains("BBG000BLNNH6"), "{name}: {answer}");
            answered += 1;
        }
        let (code, _, error) = run(figdex().arg("--index").arg(&index));
        assert_eq!(code, Some(1), "{name}: {error}");
        assert!(error.contains(name) && error.contains("is damaged"), "{name}: {error}");
    }
    assert!(ended >= 4 && answered >= 1, "{ended} ended, {answered} answered");
}

/// A published file that was cut or changed is noticed when the generation is opened, and `verify`
/// names the file.
#[test]
fn verify_names_the_broken_file() {
    let desk = desk();
    assert_eq!(build(desk.path(), "old.csv", "index").0, 0);
    let (code, printed, _) = ingest(desk.path(), &["verify", "index"]);
    assert_eq!(code, 0);
    assert!(printed.starts_with("generation 1 is intact: 1 instruments"), "{printed}");
    let start = Instant::now();
    for name in ["manifest.toml", "part-000/rows.figis", "part-000/segment/meta.json"] {
        let path = desk.path().join("index/generation-000001").join(name);
        let good = fs::read(&path).unwrap();
        let mut flipped = good.clone();
        flipped[good.len() / 2] ^= 0x10;
        for bad in [&flipped[..], &good[..good.len() / 2]] {
            fs::write(&path, bad).unwrap();
            let (code, printed, error) = ingest(desk.path(), &["verify", "index"]);
            assert_eq!((code, &*printed), (1, ""), "{name}");
            assert!(error.contains(name) && error.contains("damaged"), "{name}: {error}");
        }
        fs::write(&path, good).unwrap();
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}
