//! The resources of a process, from `/proc`: processor time of its threads, memory, bytes read from
//! the disk. Also drops files from memory, for a cold start.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::fs::{Advice, fadvise};

/// The processor time of each thread of a process, by the thread's number.
pub(crate) struct Cpu(HashMap<String, Duration>);

impl Cpu {
    /// The current times. `process` is a number, or `self`.
    pub(crate) fn of(process: &str) -> anyhow::Result<Self> {
        let mut threads = HashMap::new();
        for entry in fs::read_dir(format!("/proc/{process}/task"))? {
            let entry = entry?;
            // A thread may end before its file is read.
            if let Ok(time) = cpu_of(&entry.path().join("schedstat")) {
                threads.insert(entry.file_name().to_string_lossy().into_owned(), time);
            }
        }
        Ok(Self(threads))
    }

    /// The processor time of all threads since `before`, without threads that have ended.
    pub(crate) fn since(&self, before: &Self) -> Duration {
        let worked = self.0.iter().map(|(thread, time)| {
            // A thread that started after `before` counts from 0.
            time.saturating_sub(before.0.get(thread).copied().unwrap_or_default())
        });
        worked.sum()
    }
}

fn cpu_of(path: &Path) -> anyhow::Result<Duration> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let nanoseconds = text.split(' ').next().and_then(|text| text.parse().ok());
    nanoseconds.map(Duration::from_nanos).context("schedstat does not begin with a number")
}

/// The number of clock ticks a second in `/proc`, which is the same on every Linux.
const TICKS: f64 = 100.0;

/// The processor time of all other programs on this machine at some moment.
pub(crate) struct Others {
    since: Instant,
    seconds: f64,
}

impl Others {
    pub(crate) fn now() -> anyhow::Result<Self> {
        // Idle and waiting time are left out, and so is guest time, which other fields include.
        let machine = ticks("/proc/stat", &[1, 2, 3, 6, 7, 8])?;
        // This program's name has no blank.
        let own = ticks("/proc/self/stat", &[13, 14])?;
        Ok(Self { since: Instant::now(), seconds: (machine - own) as f64 / TICKS })
    }

    /// The mean number of cores that other programs have kept busy since this moment.
    pub(crate) fn cores_since(&self) -> anyhow::Result<f64> {
        Ok((Self::now()?.seconds - self.seconds).max(0.0) / self.since.elapsed().as_secs_f64())
    }
}

/// The sum of the words of a file's first line at these places.
fn ticks(path: &str, places: &[usize]) -> anyhow::Result<u64> {
    let text = fs::read_to_string(path)?;
    let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    let numbers = places.iter().map(|place| words.get(*place)?.parse::<u64>().ok());
    numbers.sum::<Option<u64>>().with_context(|| format!("{path} does not have the expected form"))
}

/// The memory of a process, in bytes.
pub(crate) struct Memory {
    /// Heap and stacks.
    pub(crate) anonymous: u64,
    /// Mapped files, which other processes may share and the system may reclaim.
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

/// The bytes that a process has read from the disk; `None` where the system does not report it.
pub(crate) fn bytes_from_disk(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.parse().ok()
}

/// Asks the system to drop every file of a folder from memory. Pages that a process has mapped
/// stay.
pub(crate) fn drop_from_memory(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            drop_from_memory(&path)?;
        } else {
            let file = File::open(&path)?;
            // Pages that are not written yet cannot be dropped.
            file.sync_all()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}
