//! The notes of servers in the storage. They show which servers follow it and which generation each
//! serves. A note decides nothing: a server that may not write one serves as well, and notes of
//! strangers are only shown.

use std::cmp::Reverse;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use figdex_index::{Manifest, chain};
use figdex_io::{escaped, escaped_path, hex, is_plain, unhex};
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::layout::{LAYOUT, check_layout, damaged};
use crate::names::ReplicaName;
use crate::store::{Listed, Store};

/// The time between two notes about the same generation.
const PERIOD: Duration = Duration::from_secs(3 * 3600);

/// If the last note of a server is older than this, the server may no longer exist.
const STALE_SECONDS: i64 = 2 * 24 * 3600;

/// The age at which a publication removes a note.
const OLD_SECONDS: i64 = 30 * 24 * 3600;

/// The most notes that a publication removes.
const REMOVED_MAX: usize = 1_000;

/// The most notes that are read. The newest are read first.
const READ_MAX: usize = 200;

/// The most notes that are read at the same time.
const READ_AT_ONCE: usize = 8;

/// The most bytes of a note.
const NOTE_BYTES_MAX: u64 = 1 << 10;

/// The most characters of the version in a note.
const VERSION_CHARS_MAX: usize = 40;

/// The file in the folder of a copy that holds the random digits of its server's name.
const DIGITS: &str = "REPLICA";

/// The content of a note.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The number of the layout.
    layout: u32,
    /// The number of the generation that is served.
    generation: u64,
    /// The time when the generation was published. Its number alone does not identify it: in an
    /// emptied storage, numbers begin again.
    published_at: Option<Time>,
    /// The time when this run of the server began to serve it.
    since: Time,
    /// The version of the server.
    version: String,
}

/// A time in the form of the documents (RFC 3339).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Time(Timestamp);

impl TryFrom<String> for Time {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "it is not a time, such as 2026-05-01T03:10:00Z")
    }
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.0.to_string()
    }
}

impl Note {
    fn parse(text: &[u8], place: impl Fn() -> String) -> Result<Self> {
        check_layout(text, &place)?;
        let note: Self =
            serde_json::from_slice(text).map_err(|error| damaged(&place, "a note", &error))?;
        if note.version.len() > VERSION_CHARS_MAX || !is_plain(note.version.as_bytes()) {
            let what = format!("its version is not at most {VERSION_CHARS_MAX} plain characters");
            return Err(Error::Damaged { place: place(), what });
        }
        Ok(note)
    }
}

/// The time at which a generation was published.
fn published_at(manifest: &Manifest) -> Option<Time> {
    manifest.published_at.clone()?.try_into().ok()
}

/// The notes of a server.
pub(crate) struct Notes {
    name: ReplicaName,
    /// The generation of the last note, its publication time, and the time since which it is
    /// served.
    served: Option<(u64, Option<Time>, Timestamp)>,
    begun: Option<Instant>,
    writing: Option<JoinHandle<()>>,
    was_refused: Arc<AtomicBool>,
}

impl Notes {
    /// The notes of the server whose copy is in a folder.
    pub(crate) fn of(folder: &Path) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let name = ReplicaName::new(&host, digits(folder));
        let (served, begun, writing, was_refused) = (None, None, None, Arc::default());
        Self { name, served, begun, writing, was_refused }
    }

    /// Starts to write a note about the served generation, unless the last note says the same and
    /// is recent, or is still being written.
    pub(crate) fn leave(&mut self, store: &Store, served: &Manifest) {
        let (generation, published_at) = (served.generation, published_at(served));
        let known =
            self.served.filter(|(number, at, _)| (*number, *at) == (generation, published_at));
        let is_young = self.begun.is_some_and(|begun| begun.elapsed() < PERIOD);
        let is_busy = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if is_busy || known.is_some() && is_young {
            return;
        }
        let since = known.map_or_else(this_second, |(_, _, since)| since);
        self.served = Some((generation, published_at, since));
        self.begun = Some(Instant::now());
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let note = Note { layout: LAYOUT, generation, published_at, since: Time(since), version };
        let text = serde_json::to_vec_pretty(&note).expect("its fields are texts and numbers");
        let (store, key, was_refused) = (store.clone(), self.name.note(), self.was_refused.clone());
        self.writing = Some(tokio::spawn(async move {
            let written = store.write(&key, text.into()).await;
            let is_refused = written.is_err();
            match (written, was_refused.swap(is_refused, Ordering::Relaxed)) {
                (Err(error), false) => tracing::warn!(
                    reason = chain(&error),
                    "inspect will not list this server: its note is refused, which needs the right \
                     to write below replicas/; it serves and follows all the same"
                ),
                (Ok(()), true) => tracing::info!("inspect lists this server: its note is written"),
                _ => {}
            }
        }));
    }

    /// Waits for the note that is being written.
    #[cfg(test)]
    pub(crate) async fn written(&mut self) {
        if let Some(writing) = self.writing.take() {
            writing.await.unwrap();
        }
    }
}

fn this_second() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// The random digits in the folder of a copy. They are written there if there are none. If that
/// fails, they are only for this run.
fn digits(folder: &Path) -> [u8; 4] {
    let path = folder.join(DIGITS);
    let kept = fs::read_to_string(&path).ok();
    kept.and_then(|text| unhex(text.trim_end())).unwrap_or_else(|| {
        let mut random = [0; 4];
        getrandom::fill(&mut random).expect("the system has random numbers");
        if let Err(error) = fs::write(&path, hex(&random) + "\n") {
            let path = escaped_path(&path);
            tracing::warn!("{path}: {error}: this server has another name after its next start");
        }
        random
    })
}

/// The notes that a publication removes, the oldest first. `now` is by the clock of the storage.
pub(crate) fn old_notes(there: &[Listed], now: i64) -> Vec<&str> {
    let mut old = notes(there);
    old.retain(|(_, object)| now.saturating_sub(object.changed) > OLD_SECONDS);
    old.sort_unstable_by_key(|(_, object)| object.changed);
    old.into_iter().take(REMOVED_MAX).map(|(_, object)| &*object.key).collect()
}

fn notes(there: &[Listed]) -> Vec<(ReplicaName, &Listed)> {
    let notes =
        there.iter().filter_map(|object| Some((ReplicaName::of_note(&object.key)?, object)));
    notes.collect()
}

/// The servers that follow a storage, from their notes.
#[derive(Debug)]
pub struct Replicas {
    /// The servers with the newest notes, in the order of their names.
    pub noted: Vec<Noted>,
    /// The number of other servers, whose notes were not read.
    pub unread: usize,
}

/// A server, from its note.
#[derive(Debug, Serialize)]
pub struct Noted {
    /// The name of the server: its machine, and the digits in its copy.
    pub name: String,
    /// The time of the note, by the clock of the storage.
    pub seen_at: String,
    /// Whether the note is so old that the server may no longer exist.
    pub is_stale: bool,
    /// The content of the note.
    #[serde(flatten)]
    pub said: Said,
}

/// The content of a note.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Said {
    /// The generation that the server serves.
    Serves {
        /// Its number.
        generation: u64,
        /// The number of generations from the served one to the published one; `None` when the
        /// published one does not come after it, as after a rollback.
        generations_behind: Option<u64>,
        /// The time since which this run of the server has served it.
        since: String,
        /// The version of the server.
        version: String,
    },
    /// The note cannot be read, such as one of a later version.
    Unreadable {
        /// The reason.
        fault: String,
    },
}

impl Replicas {
    /// Reads the notes among the listed objects of a storage. `published` is its published
    /// generation.
    pub(crate) async fn read(store: &Store, there: &[Listed], published: &Manifest) -> Self {
        // A list does not give the storage's current time. It is not before the latest change in
        // the list.
        let newest = there.iter().map(|object| object.changed).max().unwrap_or(i64::MIN);
        let now = newest.max(Timestamp::now().as_second());
        let mut notes = notes(there);
        notes.sort_unstable_by_key(|(_, object)| Reverse(object.changed));
        let unread = notes.len().saturating_sub(READ_MAX);
        notes.truncate(READ_MAX);
        let reading = notes.into_iter().map(async |(name, object)| {
            let key = &object.key;
            let said = match store.read(key, NOTE_BYTES_MAX).await {
                Ok(Some(text)) => Note::parse(&text, || store.place(key)),
                // The note was removed just now.
                Ok(None) => return None,
                Err(error) => Err(error),
            };
            Some(Noted {
                name: name.to_string(),
                seen_at: Timestamp::from_second(object.changed).unwrap_or_default().to_string(),
                is_stale: now.saturating_sub(object.changed) > STALE_SECONDS,
                said: said.map_or_else(
                    |error| Said::Unreadable { fault: escaped(chain(&error)).to_string() },
                    |note| Said::of(note, published),
                ),
            })
        });
        let read = stream::iter(reading).buffered(READ_AT_ONCE);
        let mut noted: Vec<_> = read.filter_map(async |noted| noted).collect().await;
        noted.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Self { noted, unread }
    }
}

impl Said {
    fn of(note: Note, published: &Manifest) -> Self {
        let Note { generation, since, version, .. } = note;
        let is_published = note.published_at == published_at(published);
        let generations_behind = published.generation.checked_sub(generation);
        let generations_behind = generations_behind.filter(|behind| *behind > 0 || is_published);
        Self::Serves { generation, generations_behind, since: since.into(), version }
    }
}

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.noted.is_empty() {
            return writeln!(f, "no server has left a note here");
        }
        let width =
            self.noted.iter().map(|noted| noted.name.len()).fold("server".len(), usize::max);
        writeln!(f, "{:width$}  generation  since (UTC)       version", "server")?;
        for Noted { name, seen_at, is_stale, said } in &self.noted {
            let mut remarks = Vec::new();
            match said {
                Said::Serves { generation, generations_behind, since, version } => {
                    let since = minute(since);
                    writeln!(f, "{name:width$}  {generation:10}  {since}  {version}")?;
                    match generations_behind {
                        Some(0) => {}
                        Some(1) => remarks.push("1 generation behind".to_owned()),
                        Some(behind) => remarks.push(format!("{behind} generations behind")),
                        None => remarks.push("not the published generation".to_owned()),
                    }
                }
                Said::Unreadable { fault } => {
                    writeln!(f, "{name:width$}  unknown")?;
                    remarks.push(fault.clone());
                }
            }
            if *is_stale {
                remarks.push(format!("not seen since {}", minute(seen_at)));
            }
            for remark in remarks {
                writeln!(f, "  {remark}")?;
            }
        }
        match self.unread {
            0 => Ok(()),
            unread => writeln!(f, "notes that were not read: {unread} (the newest {READ_MAX} are)"),
        }
    }
}

/// A time of [`Timestamp`], to the minute.
fn minute(time: &str) -> String {
    let time: Timestamp = time.parse().unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M").to_string()
}
