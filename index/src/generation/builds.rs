//! The last builds of an index folder, in its file `builds.jsonl`, a line each: how each ended,
//! when, and how much it differed from the generation before. A server shows the last build in its
//! metrics, and a build compares its differences with those of earlier builds.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::access::Access;
use crate::error::{Error, Result};

/// The name of the file in the folder of an index.
const BUILDS: &str = "builds.jsonl";

/// The name of the file until it is complete and renamed.
const BUILDS_NEW: &str = "builds.jsonl.new";

/// The most builds that the file keeps.
const BUILDS_MAX: usize = 32;

/// The most characters of a failure reason that the file keeps.
const REASON_CHARS_MAX: usize = 1_000;

/// The most bytes that are read of the file: [`BUILDS_MAX`] lines, each with the longest reason,
/// escaped, and half a kilobyte for the rest.
const BYTES_MAX: u64 = (BUILDS_MAX * (REASON_CHARS_MAX * 12 + 512)) as u64;

/// The result of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildResult {
    /// The build has not ended; or it was killed, and no build has begun since.
    #[default]
    Running,
    /// The build published a generation.
    Published,
    /// The build could read its dumps and refused them, for example because of too many rejected
    /// rows or because of a guard.
    Refused,
    /// The build failed for another reason.
    Failed,
}

impl BuildResult {
    /// Every result.
    pub const ALL: [Self; 4] = [Self::Running, Self::Published, Self::Refused, Self::Failed];

    /// The name in reports and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Published => "published",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// A build of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// The time when it began, RFC 3339, UTC.
    pub started_at: String,
    /// The time when it ended, in the same form; `None` while it runs, and if it was killed.
    pub ended_at: Option<String>,
    /// Its result.
    pub result: BuildResult,
    /// The reason why it published nothing.
    pub reason: Option<String>,
    /// The generation that it published.
    pub generation: Option<u64>,
    /// The differences from the generation that was published before, if they were counted.
    pub differences: Option<Differences>,
}

/// The differences that a build found between the published generation and the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differences {
    /// The instruments of the published generation.
    pub instruments: u64,
    /// The instruments that only the published generation has, without the expired ones.
    pub removed: u64,
    /// The instruments that only the published generation has, and that had expired.
    pub expired: u64,
    /// The instruments that differ between the two.
    pub changed: u64,
}

impl BuildRecord {
    /// The last builds of an index folder, in the order in which they ended. Empty when no build
    /// has left a record there.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] when the file is too large or a line is not a record.
    pub fn all(index: &Path) -> Result<Vec<Self>> {
        let path = index.join(BUILDS);
        let file = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            // Opening a pipe would wait for ever.
            Ok(found) if !found.is_file() => {
                return Err(Error::damaged(&path, "it is not a file".to_owned()));
            }
            _ => File::open(&path).map_err(Error::io(&path))?,
        };
        let mut text = Vec::new();
        file.take(BYTES_MAX + 1).read_to_end(&mut text).map_err(Error::io(&path))?;
        if text.len() as u64 > BYTES_MAX {
            return Err(Error::damaged(&path, format!("it has more than {BYTES_MAX} bytes")));
        }
        let text = str::from_utf8(&text)
            .map_err(|error| Error::damaged(&path, format!("it is not UTF-8: {error}")))?;
        let records = text.lines().map(serde_json::from_str);
        let records = records.collect::<Result<Vec<Self>, _>>();
        records.map_err(|error| Error::damaged(&path, error.to_string()))
    }

    /// Records that this build of an index begins. Earlier builds without an end were killed: the
    /// caller holds the lock of the index.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn begin(&self, index: &Path) -> Result<()> {
        change(index, |records| {
            for killed in records.iter_mut().filter(|one| one.result == BuildResult::Running) {
                killed.result = BuildResult::Failed;
                killed.reason = Some("it was killed, or the machine stopped".to_owned());
            }
            records.push(self.clone());
        })
    }

    /// Records that this build has ended, even if its beginning was not recorded.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn end(&self, index: &Path) -> Result<()> {
        let mut ended = self.clone();
        ended.reason = ended.reason.map(|reason| reason.chars().take(REASON_CHARS_MAX).collect());
        change(index, |records| {
            records.retain(|one| one.started_at != ended.started_at);
            records.push(ended);
        })
    }
}

/// Changes the records of an index folder.
fn change(index: &Path, change: impl FnOnce(&mut Vec<BuildRecord>)) -> Result<()> {
    let (path, new) = (index.join(BUILDS), index.join(BUILDS_NEW));
    let file = begin(&new).map_err(Error::io(&new))?;
    let mut records = match BuildRecord::all(index) {
        Ok(records) => records,
        Err(error @ Error::Damaged { .. }) => {
            tracing::warn!("the records of earlier builds begin again: {error}");
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    change(&mut records);
    records.drain(..records.len().saturating_sub(BUILDS_MAX));
    let lines = records.iter().map(|record| {
        serde_json::to_string(record).expect("its fields are texts and numbers") + "\n"
    });
    let write = || {
        Access::of(index)?.give(&file)?;
        file.set_len(0)?;
        (&file).write_all(lines.collect::<String>().as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)
    };
    write().map_err(Error::io(&new)).inspect_err(|_| {
        // An incomplete file is useless.
        let _ = fs::remove_file(&new);
    })
}

/// Opens the new file and locks it, since a build that fails before it has the lock of the index
/// leaves a record too. Where the file system has no locks, nothing is locked.
fn begin(new: &Path) -> io::Result<File> {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(new)?;
        let _ = file.lock();
        // Another build may have renamed the file while this one waited for it.
        match fs::metadata(new) {
            Ok(found) if found.ino() == file.metadata()?.ino() => return Ok(file),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(started_at: &str, result: BuildResult) -> BuildRecord {
        BuildRecord { started_at: started_at.to_owned(), result, ..BuildRecord::default() }
    }

    fn results(index: &Path) -> Vec<(String, BuildResult)> {
        let records = BuildRecord::all(index).unwrap();
        records.into_iter().map(|one| (one.started_at, one.result)).collect()
    }

    /// A build that began is replaced by its end; one that was killed has failed when the next one
    /// begins; one that fails while another runs hides neither that nor its end.
    #[test]
    fn each_build_has_one_record() {
        use BuildResult::*;
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        assert_eq!(BuildRecord::all(index).unwrap(), []);
        record("1", Running).begin(index).unwrap();
        assert_eq!(results(index), [("1".into(), Running)]);
        record("2", Running).begin(index).unwrap();
        record("3", Failed).end(index).unwrap();
        record("2", Published).end(index).unwrap();
        let expected = [("1", Failed), ("3", Failed), ("2", Published)];
        assert_eq!(results(index), expected.map(|(at, result)| (at.to_owned(), result)));
        assert!(BuildRecord::all(index).unwrap()[0].reason.as_ref().unwrap().contains("killed"));
        let names: Vec<_> =
            fs::read_dir(index).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(names, [BUILDS]);
    }

    /// Builds that end at the same time lose no record.
    #[test]
    fn builds_may_end_together() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        std::thread::scope(|scope| {
            for number in 0..BUILDS_MAX {
                let ended = record(&number.to_string(), BuildResult::Failed);
                scope.spawn(move || ended.end(index).unwrap());
            }
        });
        assert_eq!(BuildRecord::all(index).unwrap().len(), BUILDS_MAX);
    }

    /// The file has a bound, and what it holds at most can be read again.
    #[test]
    fn the_file_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        for number in 0..BUILDS_MAX + 5 {
            let reason = Some("\u{1}".repeat(2 * REASON_CHARS_MAX));
            let number = format!("{number}");
            BuildRecord { reason, ..record(&number, BuildResult::Failed) }.end(index).unwrap();
        }
        let records = BuildRecord::all(index).unwrap();
        assert_eq!((records.len(), &*records[0].started_at), (BUILDS_MAX, "5"));
        assert!(fs::metadata(index.join(BUILDS)).unwrap().len() <= BYTES_MAX);
    }

    /// A damaged file is an error for readers, and the next build begins another one.
    #[test]
    fn a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        let long = " ".repeat(BYTES_MAX as usize + 1);
        for text in [b"{".as_slice(), b"[]\n", b"\xFF\xFE\n", long.as_bytes()] {
            fs::write(index.join(BUILDS), text).unwrap();
            assert!(matches!(BuildRecord::all(index), Err(Error::Damaged { .. })));
            record("1", BuildResult::Published).end(index).unwrap();
            assert_eq!(results(index), [("1".into(), BuildResult::Published)]);
        }
    }
}
