//! The stamp of a generation: the files as they were when their bytes were compared with the
//! manifest. As long as the files are unchanged, opening need not read their bytes again (engine
//! 10).
//!
//! ```text
//! INDEX/generation-000007.verified      the stamp of generation-000007
//! INDEX/generation-000007.verified.new  a stamp that is being made
//! ```
//! A stamp names the manifest by its checksum, and each file with its device, inode, size and
//! change time. The change time is set by the system, at every change of content, size, mode,
//! modification time or number of links, and no program can set it to a time of its choice. So a
//! file that was changed or copied differs from its stamp, and the generation is read in full.
//! Bytes that decay on the disk leave the stamp valid: only reading finds them (`verify`).
//!
//! A stamp is never parsed. It holds if it equals, byte for byte, the stamp that would be made of
//! the files now; anything else is the same as no stamp. A stamp that cannot be written, as in a
//! folder that belongs to another user, is not an error: the next opening reads the bytes again. A
//! build always tries to write one, and warns when it cannot.

use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use figdex_io::escaped_path;

use super::access::Access;
use super::folder::{NEW, remove_if_there, stamp_of};
use super::manifest::{Checksummed, FileEntry, Manifest};
use super::names::PARQUET;
use super::past::PAST;
use crate::error::Result;

/// The first line of a stamp. Another version of the form needs another number.
const HEADING: &str = "figdex-verified 1";

/// The longest wait for the clock of the file system to tick. Local disks take 1 to 10 ms, FAT and
/// some network disks 1 to 2 seconds.
const TICK_MAX: Duration = Duration::from_secs(3);

/// The pause between two looks at the clock of the file system.
const TICK_PAUSE: Duration = Duration::from_millis(1);

/// The change time of a file, in seconds and nanoseconds.
type Time = (i64, i64);

/// Whether a generation has a stamp that holds: its files are those whose bytes were compared with
/// the manifest.
pub(super) fn holds(generation: &Path, manifest: &Checksummed) -> bool {
    Files::of(generation, manifest).is_ok_and(|files| files.have_stamp(&stamp_of(generation)))
}

/// Reads all bytes of a generation, compares them with the manifest, and tries to stamp the
/// generation. Returns the reason if it could not be stamped.
///
/// # Errors
/// When a file cannot be read or differs from the manifest. Then the stamp is removed, so that the
/// next opening finds the fault too; if it cannot be removed, a warning says so.
pub(super) fn check(generation: &Path, manifest: &Checksummed) -> Result<io::Result<()>> {
    let path = stamp_of(generation);
    let begun = New::begin(&path, generation, manifest);
    if let Err(fault) = compare(generation, manifest) {
        if let Err(error) = remove_if_there(&path)
            && holds(generation, manifest)
        {
            tracing::warn!(
                "its stamp cannot be removed, so that opening the index will not notice the \
                 damage: {}: {error}",
                escaped_path(&path)
            );
        }
        return Err(fault);
    }
    let stamped = begun.and_then(|new| new.finish(&path, generation, manifest));
    match &stamped {
        Ok(()) => tracing::debug!(path = %path.display(), "stamped"),
        Err(error) => tracing::debug!(path = %path.display(), %error, "not stamped"),
    }
    Ok(stamped)
}

fn compare(generation: &Path, manifest: &Checksummed) -> Result<()> {
    files(generation, manifest).try_for_each(|(folder, file)| file.verify(&folder))
}

/// All files, each with its folder: that of its part, of the past, or of the Parquet file.
fn files<'a>(
    generation: &Path,
    manifest: &'a Checksummed,
) -> impl Iterator<Item = (PathBuf, &'a FileEntry)> {
    let Manifest { parts, past, parquet, .. } = &manifest.manifest;
    let of_parts =
        parts.iter().flat_map(|part| part.files.iter().map(|file| (part.path(generation), file)));
    let past = past.iter().flat_map(|past| &past.files);
    let past = past.map(|file| (generation.join(PAST), file));
    let parquet = parquet.iter().map(|parquet| (generation.join(PARQUET), parquet.file()));
    of_parts.chain(past).chain(parquet)
}

/// The files of a generation as the file system describes them.
struct Files {
    /// The stamp that describes these files.
    stamp: String,
    /// The device of all files; `None` when they are on several.
    device: Option<u64>,
    /// The latest change of a file.
    changed: Time,
}

impl Files {
    /// # Errors
    /// When a file is missing, or is not a regular file of the size in the manifest.
    fn of(generation: &Path, manifest: &Checksummed) -> io::Result<Self> {
        let mut stamp = format!("{HEADING}\n{} manifest\n", manifest.sha256);
        let (mut device, mut changed) = (None, Time::default());
        for (number, (folder, file)) in files(generation, manifest).enumerate() {
            let metadata = fs::metadata(file.path(&folder).map_err(io::Error::other)?)?;
            if !metadata.is_file() || metadata.size() != file.bytes {
                return Err(io::Error::other("a file differs from the manifest"));
            }
            let (seconds, nanoseconds) = change_time(&metadata);
            // The line omits the folder of the part: the manifest, whose checksum is above, has the
            // files in this order.
            let line = writeln!(
                stamp,
                "{} {} {} {seconds}.{nanoseconds:09} {}",
                metadata.dev(),
                metadata.ino(),
                metadata.size(),
                file.name,
            );
            line.map_err(io::Error::other)?;
            let is_same = number == 0 || device == Some(metadata.dev());
            device = is_same.then(|| metadata.dev());
            changed = changed.max((seconds, nanoseconds));
        }
        Ok(Self { stamp, device, changed })
    }

    /// Whether all files changed at an earlier tick of the clock than `time`.
    fn are_older_than(&self, time: Time) -> bool {
        self.changed < time
    }

    fn have_stamp(&self, path: &Path) -> bool {
        // Only a regular file of the right size is opened: opening a pipe would wait.
        let is_alike =
            |metadata: Metadata| metadata.is_file() && metadata.size() == self.stamp.len() as u64;
        fs::symlink_metadata(path).is_ok_and(is_alike)
            && fs::read(path).is_ok_and(|stamp| stamp == self.stamp.as_bytes())
    }
}

/// A stamp that is being made. Dropping it removes its temporary file.
struct New {
    path: PathBuf,
    file: File,
    before: Files,
}

impl New {
    /// Creates the temporary file, and notes the files as they are before their bytes are read.
    ///
    /// The files must have changed at an earlier tick of the file system's clock than the temporary
    /// file was created. Otherwise a change within the same tick, after the bytes were read, would
    /// keep the noted change time and be missed. So this waits for the clock to tick, for at most
    /// [`TICK_MAX`].
    ///
    /// Several programs may stamp the same generation and overwrite each other's temporary file.
    /// This is harmless: each line describes a file whose bytes one of the programs has read.
    fn begin(stamp: &Path, generation: &Path, manifest: &Checksummed) -> io::Result<Self> {
        let before = Files::of(generation, manifest)?;
        let mut path = stamp.as_os_str().to_owned();
        path.push(NEW);
        let path = PathBuf::from(path);
        // A killed program may have left this file.
        remove_if_there(&path)?;
        let file = File::options().write(true).create_new(true).open(&path)?;
        let new = Self { path, file, before };
        // The server must be able to read the file, even if another user makes it.
        if let Some(index) = generation.parent() {
            Access::of(index)?.give(&new.file)?;
        }
        let created = new.file.metadata()?;
        if new.before.device != Some(created.dev()) {
            return Err(io::Error::other("it is on another device than its index"));
        }
        new.wait_for_a_tick(change_time(&created))?;
        Ok(new)
    }

    /// Waits until the clock of the file system shows a later time than the last change of the
    /// files. `now` is the current time of that clock.
    fn wait_for_a_tick(&self, mut now: Time) -> io::Result<()> {
        let start = Instant::now();
        while !self.before.are_older_than(now) {
            let is_ahead = self.before.changed.0 - now.0 > TICK_MAX.as_secs() as i64;
            if is_ahead || start.elapsed() > TICK_MAX {
                return Err(io::Error::other(
                    "the clock of its disk shows an earlier time than the last change of its files",
                ));
            }
            thread::sleep(TICK_PAUSE);
            // The change time becomes that of the clock, whatever the new modification time is.
            self.file.set_modified(SystemTime::UNIX_EPOCH)?;
            now = change_time(&self.file.metadata()?);
        }
        Ok(())
    }

    /// Puts the stamp in place, if no file changed since it was begun.
    fn finish(mut self, stamp: &Path, generation: &Path, manifest: &Checksummed) -> io::Result<()> {
        let after = Files::of(generation, manifest)?;
        if after.stamp != self.before.stamp {
            return Err(io::Error::other("a file changed while it was read"));
        }
        // The existing stamp may belong to another user and be readable by the server, unlike this
        // one.
        if after.have_stamp(stamp) {
            return Ok(());
        }
        self.file.write_all(after.stamp.as_bytes())?;
        fs::rename(&self.path, stamp)
    }
}

impl Drop for New {
    fn drop(&mut self) {
        // The file is gone if the stamp was put in place. If it cannot be removed, the next build
        // removes it.
        let _ = remove_if_there(&self.path);
    }
}

fn change_time(metadata: &Metadata) -> Time {
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::FileTimes;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::super::manifest::{FORMAT, Manifest, PartEntry};
    use super::super::names::PartFolder;
    use super::*;
    use crate::generation::id::GenerationId;
    use crate::instrument::date::Date;
    use crate::{BuildOptions, Builder, Figi, Instrument};

    const NAMES: [&str; 3] = ["a.x", "b.x", "segment/c.x"];

    /// A folder with a generation of three small files.
    struct Index(tempfile::TempDir);

    impl Index {
        fn new() -> Self {
            let index = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(index.generation().join("part-000/segment")).unwrap();
            for name in NAMES {
                fs::write(index.file(name), name.repeat(100)).unwrap();
            }
            let part = index.generation().join("part-000");
            let files = NAMES
                .map(|name| FileEntry::of(&part, name.to_owned().try_into().unwrap()).unwrap());
            let manifest = Manifest {
                format: FORMAT,
                library: String::new(),
                program: String::new(),
                generation: 1,
                id: GenerationId::random(),
                parent: None,
                date: Date::today(),
                built_at: String::new(),
                published_at: None,
                instruments: 0,
                importance_bits: None,
                hash_seed: String::new(),
                sources: Vec::new(),
                values: BTreeMap::new(),
                exchanges: BTreeMap::new(),
                countries: BTreeMap::new(),
                filled: BTreeMap::new(),
                past: None,
                parquet: None,
                parts: vec![PartEntry {
                    folder: PartFolder::of(0),
                    instruments: 0,
                    first_figi: String::new(),
                    last_figi: String::new(),
                    files: files.into(),
                }],
            };
            manifest.write(&index.generation()).unwrap();
            index
        }

        fn stamped() -> Self {
            let index = Self::new();
            index.stamp();
            index
        }

        /// Stamps the generation, however young its files are.
        fn stamp(&self) {
            self.check().unwrap();
            assert!(self.holds());
        }

        fn holds(&self) -> bool {
            holds(&self.generation(), &Manifest::read(&self.generation()).unwrap())
        }

        fn check(&self) -> Result<()> {
            let stamped = check(&self.generation(), &Manifest::read(&self.generation()).unwrap());
            stamped.map(drop)
        }

        fn generation(&self) -> PathBuf {
            self.0.path().join("generation-000001")
        }

        fn file(&self, name: &str) -> PathBuf {
            self.generation().join("part-000").join(name)
        }

        fn stamp_path(&self) -> PathBuf {
            self.0.path().join("generation-000001.verified")
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.0.path()).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort_unstable();
            names
        }
    }

    /// Everything that a program may do to a file makes the stamp invalid, also when size and
    /// modification time are as before; and nothing but the stamp is left behind.
    #[test]
    fn a_stamp_holds_until_a_file_is_touched() {
        let index = Index::stamped();
        assert_eq!(index.names(), ["generation-000001", "generation-000001.verified"]);
        let path = index.file("b.x");
        let same = fs::read(&path).unwrap();
        let flipped: Vec<u8> = same.iter().map(|byte| byte ^ 1).collect();
        let link = index.0.path().join("link");
        let touches: &[(&str, &dyn Fn())] = &[
            ("other bytes", &|| fs::write(&path, &flipped).unwrap()),
            ("the same bytes", &|| fs::write(&path, &same).unwrap()),
            ("other bytes and the old modification time", &|| {
                let before = fs::metadata(&path).unwrap().modified().unwrap();
                fs::write(&path, &flipped).unwrap();
                let file = File::options().write(true).open(&path).unwrap();
                file.set_times(FileTimes::new().set_modified(before)).unwrap();
                assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
            }),
            ("another modification time", &|| {
                let file = File::options().write(true).open(&path).unwrap();
                file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
            }),
            ("another mode", &|| {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            }),
            ("a hard link", &|| fs::hard_link(&path, &link).unwrap()),
            ("a copy in its place", &|| {
                fs::copy(&path, &link).unwrap();
                fs::rename(&link, &path).unwrap();
            }),
            ("a byte less", &|| fs::write(&path, &same[1..]).unwrap()),
            ("a folder in its place", &|| {
                fs::remove_file(&path).unwrap();
                fs::create_dir(&path).unwrap();
            }),
            ("nothing in its place", &|| fs::remove_dir(&path).unwrap()),
        ];
        for (what, touch) in touches {
            touch();
            assert!(!index.holds(), "{what}");
            if !path.is_dir() {
                fs::write(&path, &same).unwrap();
                index.stamp();
            }
        }
    }

    /// The folder of a generation that is published gets another name.
    #[test]
    fn a_stamp_holds_when_the_folder_is_renamed() {
        let index = Index::stamped();
        let unfinished = index.0.path().join("generation-000001.new");
        fs::rename(index.generation(), &unfinished).unwrap();
        assert!(holds(&unfinished, &Manifest::read(&unfinished).unwrap()));
        fs::rename(&unfinished, index.generation()).unwrap();
        assert!(index.holds());
    }

    /// A folder that was copied, with the times of its files and with its stamp, is read again.
    #[test]
    fn a_stamp_does_not_hold_for_a_copy() {
        let index = Index::stamped();
        let copy = Index(tempfile::tempdir().unwrap());
        let mut command = Command::new("cp");
        let from = [index.generation(), index.stamp_path()];
        let copied = command.arg("--archive").args(from).arg(copy.0.path()).status().unwrap();
        assert!(copied.success());
        assert_eq!(copy.names(), index.names());
        assert!(!copy.holds());
        copy.stamp();
        assert!(copy.holds() && index.holds());
    }

    /// Another manifest, even of the same files, needs another stamp.
    #[test]
    fn a_stamp_is_bound_to_its_manifest() {
        let index = Index::stamped();
        let mut manifest = Manifest::read(&index.generation()).unwrap().manifest;
        manifest.program = "another".to_owned();
        manifest.write(&index.generation()).unwrap();
        assert!(!index.holds());
    }

    /// Every change of a stamp, and everything else in its place, is as if there were none.
    #[test]
    fn only_the_stamp_itself_holds() {
        let index = Index::stamped();
        let path = index.stamp_path();
        let good = fs::read(&path).unwrap();
        for place in 0..good.len() {
            let mut changed = good.clone();
            changed[place] ^= 1;
            fs::write(&path, changed).unwrap();
            assert!(!index.holds(), "byte {place}");
        }
        let more = [&good[..], b"\n"].concat();
        for other in [&good[..good.len() - 1], &more, b"", &[0xff; 1 << 20]] {
            fs::write(&path, other).unwrap();
            assert!(!index.holds());
        }
        fs::remove_file(&path).unwrap();
        assert!(!index.holds());
        // A pipe would keep the program waiting, a link may lead anywhere.
        let pipe = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(pipe.success());
        assert!(!index.holds());
        fs::remove_file(&path).unwrap();
        let elsewhere = index.0.path().join("elsewhere");
        fs::write(&elsewhere, &good).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(!index.holds());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(!index.holds());
        // A stamp that cannot be put in place is not an error.
        index.check().unwrap();
        assert_eq!(index.names(), ["elsewhere", "generation-000001", "generation-000001.verified"]);
        fs::remove_dir(&path).unwrap();
        index.stamp();
        assert_eq!(fs::read(&path).unwrap(), good);
    }

    /// A check that finds damage removes the stamp, so that opening does not rely on it, although
    /// the file system does not show the change.
    #[test]
    fn damage_takes_the_stamp_away() {
        let index = Index::stamped();
        // The stamp is made to hold over a damaged file, as if its bytes had decayed on the disk.
        fs::write(index.file("a.x"), "A.x".repeat(100)).unwrap();
        let manifest = Manifest::read(&index.generation()).unwrap();
        let decayed = Files::of(&index.generation(), &manifest).unwrap();
        fs::write(index.stamp_path(), decayed.stamp).unwrap();
        assert!(index.holds());
        assert!(index.check().is_err());
        assert!(!index.holds());
        assert_eq!(index.names(), ["generation-000001"]);
    }

    /// A file whose last change was at the same tick of the clock as the beginning of a stamp is too
    /// young: its next change may be at that tick too.
    #[test]
    fn files_are_older_than_their_stamp() {
        let index = Index::new();
        let manifest = Manifest::read(&index.generation()).unwrap();
        let files = Files::of(&index.generation(), &manifest).unwrap();
        let newest = NAMES.map(|name| change_time(&fs::metadata(index.file(name)).unwrap()));
        let (seconds, nanoseconds) = newest.into_iter().max().unwrap();
        assert!(!files.are_older_than((seconds, nanoseconds)));
        assert!(!files.are_older_than((seconds - 1, nanoseconds + 1)));
        assert!(files.are_older_than((seconds, nanoseconds + 1)));
        assert!(files.are_older_than((seconds + 1, 0)));
    }

    /// A file that a killed program has left does not keep others from stamping.
    #[test]
    fn an_abandoned_stamp_is_replaced() {
        let index = Index::new();
        fs::write(index.0.path().join("generation-000001.verified.new"), "half").unwrap();
        index.stamp();
        assert_eq!(index.names(), ["generation-000001", "generation-000001.verified"]);
    }

    /// A file that is changed right after its bytes were read is found, although the clock of the
    /// file system may not have ticked in between.
    #[test]
    fn a_change_within_a_tick_of_the_clock_is_found() {
        let index = Index::stamped();
        for _ in 0..100 {
            fs::write(index.file("a.x"), "a.x".repeat(100)).unwrap();
            index.stamp();
            fs::write(index.file("a.x"), "A.x".repeat(100)).unwrap();
            assert!(!index.holds());
        }
    }

    /// Every build of a small index has a stamp, although its last file and the stamp are written
    /// within one tick of the clock.
    #[test]
    fn every_build_is_stamped() {
        let index = tempfile::tempdir().unwrap();
        for number in 1..=20 {
            let mut builder = Builder::create(index.path(), BuildOptions::default()).unwrap();
            for figi in ["BBG000BLNNH6", "BBG000BLNNV0", "BBG000BLNQ16"] {
                builder.add(Instrument::new(Figi::parse(figi).unwrap())).unwrap();
            }
            builder.publish(Vec::new()).unwrap();
            let generation = index.path().join(format!("generation-{number:06}"));
            assert!(holds(&generation, &Manifest::read(&generation).unwrap()), "build {number}");
        }
    }

    /// A disk whose clock is behind the change times of the files, as after a clock was set back,
    /// is not waited for: no stamp is made, and the generation is read at each opening.
    #[test]
    fn a_clock_that_was_set_back_makes_no_stamp() {
        let index = Index::new();
        let manifest = Manifest::read(&index.generation()).unwrap();
        let mut new = New::begin(&index.stamp_path(), &index.generation(), &manifest).unwrap();
        let (seconds, nanoseconds) = change_time(&new.file.metadata().unwrap());
        new.before.changed = (seconds + 10_000_000_000, nanoseconds);
        assert!(new.wait_for_a_tick((seconds, nanoseconds)).is_err());
        new.before.changed = (seconds, nanoseconds);
        new.wait_for_a_tick((seconds, nanoseconds)).unwrap();
        assert!(new.before.are_older_than(change_time(&new.file.metadata().unwrap())));
    }

    /// A change between the first look at the files and the last is found.
    #[test]
    fn a_change_while_the_bytes_are_read_is_found() {
        let index = Index::stamped();
        let manifest = Manifest::read(&index.generation()).unwrap();
        fs::remove_file(index.stamp_path()).unwrap();
        let begun = New::begin(&index.stamp_path(), &index.generation(), &manifest).unwrap();
        fs::write(index.file("a.x"), "A.x".repeat(100)).unwrap();
        assert!(begun.finish(&index.stamp_path(), &index.generation(), &manifest).is_err());
        assert_eq!(index.names(), ["generation-000001"]);
    }
}
