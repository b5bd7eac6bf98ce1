//! What a process uses, as `/proc` tells it: time of its threads, memory, what it read from
//! the disk. And files put out of memory, so that an opening is cold.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::fs::{Advice, fadvise};

/// The time that the calling thread was at work.
pub(crate) fn cpu_of_this_thread() -> anyhow::Result<Duration> {
    cpu_of(Path::new("/proc/thread-self/schedstat"))
}

/// The time that each thread of a process was at work, by its number.
pub(crate) struct Cpu(HashMap<String, Duration>);

impl Cpu {
    /// `process` is a number, or `self`.
    pub(crate) fn of(process: &str) -> anyhow::Result<Self> {
        let mut threads = HashMap::new();
        for entry in fs::read_dir(format!("/proc/{process}/task"))? {
            let entry = entry?;
            // A thread may end before it is looked at.
            if let Ok(time) = cpu_of(&entry.path().join("schedstat")) {
                threads.insert(entry.file_name().to_string_lossy().into_owned(), time);
            }
        }
        Ok(Self(threads))
    }

    /// What all threads worked since. That of threads that ended meanwhile is not in it.
    pub(crate) fn since(&self, before: &Self) -> Duration {
        let worked = self.0.iter().map(|(thread, time)| {
            // A thread that is new since had worked nothing.
            time.saturating_sub(before.0.get(thread).copied().unwrap_or_default())
        });
        worked.sum()
    }
}

fn cpu_of(path: &Path) -> anyhow::Result<Duration> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let nanoseconds = text.split(' ').next().and_then(|text| text.parse().ok());
    nanoseconds.map(Duration::from_nanos).context("schedstat is no number")
}

/// Ticks of `/proc` in a second, on every Linux.
const TICKS: f64 = 100.0;

/// The work of all other programs on this machine, from some moment on.
pub(crate) struct Others {
    since: Instant,
    seconds: f64,
}

impl Others {
    pub(crate) fn now() -> anyhow::Result<Self> {
        // All but idle and waiting, and what is said twice.
        let machine = ticks("/proc/stat", &[1, 2, 3, 6, 7, 8])?;
        // The program's name has no blank.
        let own = ticks("/proc/self/stat", &[13, 14])?;
        Ok(Self { since: Instant::now(), seconds: (machine - own) as f64 / TICKS })
    }

    /// How many cores they kept busy since, on average.
    pub(crate) fn cores_since(&self) -> anyhow::Result<f64> {
        Ok((Self::now()?.seconds - self.seconds).max(0.0) / self.since.elapsed().as_secs_f64())
    }
}

/// The sum of some numbers of a file's first line.
fn ticks(path: &str, places: &[usize]) -> anyhow::Result<u64> {
    let text = fs::read_to_string(path)?;
    let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    let numbers = places.iter().map(|place| words.get(*place)?.parse::<u64>().ok());
    numbers.sum::<Option<u64>>().with_context(|| format!("{path} is not as it should be"))
}

/// The memory of a process, in bytes.
pub(crate) struct Memory {
    /// Its own: heap and stacks.
    pub(crate) anonymous: u64,
    /// Of files, which other processes may use too and the system may take back.
    pub(crate) mapped: u64,
}

impl Memory {
    pub(crate) fn of(process: u32) -> anyhow::Result<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kibibytes = line.and_then(|line| line.trim_end_matches("kB").trim().parse().ok());
            kibibytes.map(|kibibytes: u64| kibibytes << 10).with_context(|| format!("no {name}"))
        };
        Ok(Self { anonymous: field("RssAnon:")?, mapped: field("RssFile:")? })
    }
}

/// What a process had the system fetch from the disk, in bytes; `None` where that is not
/// told.
pub(crate) fn bytes_from_disk(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.parse().ok()
}

/// Asks the system to forget every file of a folder. It need not: pages that some process
/// has mapped stay.
pub(crate) fn forget_files(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            forget_files(&path)?;
        } else {
            let file = File::open(&path)?;
            // What is not written yet cannot be forgotten.
            file.sync_all()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}
