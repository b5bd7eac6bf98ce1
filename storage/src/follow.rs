//! The copy of a server: an ordinary index folder. Each newly published generation is fetched into
//! it, piece by piece, or as patches of the files that the copy has. Every piece is compared with its
//! checksum when it is there, and all bytes are compared once more before the generation is published in the folder. After any failure the copy stays as
//! it is.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use figdex_index::{BuildLock, Manifest, Receiving, local_files};
use figdex_io::escaped_path;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep};

use crate::changes::{self, Lacking};
use crate::contents::Described;
use crate::error::{Error, Result};
use crate::layout::Pointer;
use crate::names::{CURRENT, GenerationName};
use crate::patches::{UsablePatch, UsablePatches};
use crate::pieces::Piece;
use crate::publish::blocking;
use crate::replicas::Notes;
use crate::state::{FollowState, Following};
use crate::store::Store;
use crate::verify;

/// The most pieces that are fetched at the same time, each of at most 16 MiB.
const FETCHED_AT_ONCE: usize = 4;

/// The number of attempts to fetch a piece. `PAUSE` is the pause after the first failure; each
/// further failure doubles it.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// The time between two log lines about the progress of fetching.
const PROGRESS: Duration = Duration::from_secs(30);

/// The number of earlier generations that stay in the copy. A server falls back to one if a file of
/// the published generation is damaged.
const KEPT: usize = 1;

/// The time that attempts for change files may take in vain before a generation is published
/// without those that are still missing, and the time until the missing ones are tried again.
const CHANGES_FAILING_MAX: Duration = Duration::from_secs(60);
const CHANGES_AGAIN: Duration = Duration::from_secs(3600);

/// The free space that the disk must keep after fetching.
const DISK_RESERVE_BYTES: u64 = 64 << 20;

/// The result of a check.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// The copy already has the published generation.
    Current,
    /// The published generation was fetched.
    Taken(Copied),
}

/// A generation that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its number in the storage.
    pub generation: u64,
    /// The number of bytes that were fetched.
    pub fetched_bytes: u64,
    /// The number of bytes that the copy already had.
    pub reused_bytes: u64,
}

/// The copy of a server. Only one program at a time may use a copy.
pub struct Replica {
    store: Store,
    lock: Arc<BuildLock>,
    /// The highest number of bytes to fetch in a second; `None` for no bound.
    rate: Option<u64>,
    /// The pointer whose generation is in the copy.
    taken: Option<Pointer>,
    /// Whether a local generation with the published manifest counts as the published one.
    is_trusted: bool,
    /// The time to try again to fetch the change files that the copy lacks; `None` if it has all.
    changes_due: Option<Instant>,
    /// The last pointer that was refused, and the reason. Only a check with `is_asked` tries it
    /// again.
    refused: Option<(Pointer, String)>,
    following: Arc<Mutex<Following>>,
    notes: Notes,
}

impl Replica {
    /// Opens the copy in a folder, which is created if needed.
    ///
    /// # Errors
    /// When another program uses the copy, or the folder cannot be used.
    pub fn open(store: Store, folder: &Path, rate: Option<u64>) -> Result<Self> {
        let lock = match BuildLock::acquire(folder) {
            Err(figdex_index::Error::Locked(_)) => {
                return Err(Error::Settings(format!(
                    "another program uses {}: each server needs its own copy",
                    escaped_path(folder)
                )));
            }
            lock => Arc::new(lock?),
        };
        let state = FollowState::Unknown("it was not looked at yet".to_owned());
        let following = Arc::new(Mutex::new(Following {
            state,
            published: None,
            behind_since: Some(Instant::now()),
            fetched_bytes: 0,
            reused_bytes: 0,
            missing_bytes: 0,
            failures: 0,
        }));
        let (taken, changes_due, refused, notes) = (None, None, None, Notes::of(folder));
        let is_trusted = true;
        Ok(Self { store, lock, rate, taken, is_trusted, changes_due, refused, following, notes })
    }

    /// Makes the next check fetch the published generation even if the copy seems to have it.
    /// Undamaged pieces are kept.
    pub fn distrust(&mut self) {
        (self.taken, self.is_trusted) = (None, false);
    }

    /// The state, which [`Replica::look`] updates.
    pub fn following(&self) -> Arc<Mutex<Following>> {
        self.following.clone()
    }

    /// If something is published, leaves a note in the storage about the served generation: when
    /// the generation has changed, and every few hours. This does not wait: the note is written in
    /// the background, and a refused note stops nothing.
    pub fn note(&mut self, served: &Manifest) {
        if self.following.lock().published.is_some() {
            self.notes.leave(&self.store, served);
        }
    }

    #[cfg(test)]
    pub(crate) fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }

    /// Checks the published generation, and fetches it if the copy does not have it. If `is_asked`,
    /// a generation that was refused before is tried again.
    ///
    /// # Errors
    /// When the check or the fetch fails, or the generation is refused. The copy is then unchanged.
    pub async fn look(&mut self, is_asked: bool) -> Result<Look> {
        let looked = self.look_once(is_asked).await;
        let mut following = self.following.lock();
        following.missing_bytes = 0;
        match &looked {
            Ok(_) => {
                following.state = FollowState::Current;
                following.behind_since = None;
            }
            Err(error) => {
                let reason = figdex_index::chain(error);
                following.state = match following.published {
                    Some(_) => FollowState::Behind(reason),
                    None => FollowState::Unknown(reason),
                };
                following.behind_since.get_or_insert_with(Instant::now);
                following.failures += 1;
            }
        }
        looked
    }

    async fn look_once(&mut self, is_asked: bool) -> Result<Look> {
        let pointer = match Pointer::read(&self.store).await {
            Ok(Some(pointer)) => pointer,
            found => {
                self.following.lock().published = None;
                return Err(found.err().unwrap_or_else(|| Error::Nothing(self.store.to_string())));
            }
        };
        {
            let mut following = self.following.lock();
            following.published = Some(pointer.generation);
            // Both change together, so no reader sees the new number with the state `Current`.
            if self.taken.as_ref() != Some(&pointer) {
                following.state = FollowState::Fetching;
                following.behind_since.get_or_insert_with(Instant::now);
            }
        }
        if self.taken.as_ref() == Some(&pointer) {
            if self.changes_due.is_some_and(|due| is_asked || due <= Instant::now()) {
                self.try_changes_again(&pointer).await;
            }
            return Ok(Look::Current);
        }
        if let Some((refused, reason)) = &self.refused
            && *refused == pointer
            && !is_asked
        {
            return Err(Error::Damaged { place: self.store.place(CURRENT), what: reason.clone() });
        }
        let taken = self.take(&pointer).await;
        match &taken {
            Ok(_) => {
                (self.taken, self.refused, self.is_trusted) = (Some(pointer), None, true);
            }
            // Trying the same pointer again would fail in the same way.
            Err(
                error @ (Error::Older { .. }
                | Error::Newer { .. }
                | Error::Index(figdex_index::Error::ForeignFormat { .. })),
            ) => {
                self.refused = Some((pointer, figdex_index::chain(error)));
            }
            Err(_) => {}
        }
        taken
    }

    /// Fetches into the copy the generation that a pointer names, unless the copy already has it.
    async fn take(&mut self, pointer: &Pointer) -> Result<Look> {
        let checksum = Some(pointer.contents_sha256);
        let described = Described::read(&self.store, pointer.name, checksum).await?;
        let folder = self.lock.index().to_owned();
        if let Ok(served) = Manifest::published(&folder)
            && self.is_trusted
        {
            if served == described.manifest {
                self.take_changes(&described).await;
                self.remove_changes(pointer, &described).await;
                return Ok(Look::Current);
            }
            if is_older(pointer, &described.manifest, &served) {
                return Err(Error::Older {
                    place: self.store.place(CURRENT),
                    found: pointer.generation,
                    served: served.generation,
                });
            }
        }
        let (lock, manifest) = (self.lock.clone(), described.manifest.clone());
        let name = pointer.name.to_string();
        let receiving = blocking(move || lock.receiving(&name, &manifest)).await?;
        let (missing, mut reused_bytes) =
            self.missing(pointer.name, &described, &receiving).await?;
        let missing_bytes: u64 = missing.iter().map(|missing| u64::from(missing.piece.bytes)).sum();
        check_room(&receiving.folder, missing_bytes)?;
        {
            let mut following = self.following.lock();
            following.reused_bytes += reused_bytes;
            following.missing_bytes = missing_bytes;
        }
        let mut fetched_bytes = self.fetch(missing).await?;
        // The other bytes of patched pieces are those of earlier files.
        reused_bytes += missing_bytes.saturating_sub(fetched_bytes);
        // Before the generation is published, so that its readers find the changes up to it.
        fetched_bytes += self.take_changes(&described).await;
        let (lock, manifest) = (self.lock.clone(), described.manifest.clone());
        blocking(move || lock.take_in(&receiving, &manifest, KEPT)).await?;
        self.remove_changes(pointer, &described).await;
        let generation = pointer.generation;
        Ok(Look::Taken(Copied { generation, fetched_bytes, reused_bytes }))
    }

    /// Fetches the change files that the copy lacks, and returns the number of bytes that were
    /// fetched. One that cannot be fetched, or is not a change file of its generation, is left out
    /// with a warning: a reader who needs it must export again.
    async fn take_changes(&mut self, described: &Described) -> u64 {
        self.changes_due = None;
        let (folder, listed) = (self.lock.index().to_owned(), changes::listed(described));
        if listed.is_empty() {
            return 0;
        }
        let lacking = spawn_blocking(move || {
            let lacking = changes::retain_lacking(&folder, listed);
            let room = check_room(&folder, lacking.iter().map(Lacking::bytes).sum());
            (lacking, room)
        });
        let (lacking, room) = lacking.await.expect("it does not panic");
        if lacking.is_empty() {
            return 0;
        }
        let (mut fetched, mut failing, mut left_out) = (0, Duration::ZERO, 0);
        if let Err(error) = room {
            left_out = lacking.len();
            tracing::warn!(reason = figdex_index::chain(&error), "no room for change files");
        } else {
            let start = Instant::now();
            let before = {
                let mut following = self.following.lock();
                following.missing_bytes += lacking.iter().map(Lacking::bytes).sum::<u64>();
                following.fetched_bytes
            };
            for file in lacking {
                if failing > CHANGES_FAILING_MAX {
                    left_out += 1;
                    continue;
                }
                let (begun, bytes) = (Instant::now(), file.bytes());
                match self.take_change_file(file).await {
                    Ok(()) => fetched += bytes,
                    Err(error) => {
                        (failing, left_out) = (failing + begun.elapsed(), left_out + 1);
                        let reason = figdex_index::chain(&error);
                        tracing::warn!(reason, "a change file was not taken");
                    }
                }
                // `fetch` keeps to the rate within a file only, and most of these files are small.
                if let Some(rate) = self.rate {
                    let all = self.following.lock().fetched_bytes - before;
                    let due = Duration::from_secs_f64(all as f64 / rate as f64);
                    sleep(due.saturating_sub(start.elapsed())).await;
                }
            }
        }
        if left_out > 0 {
            self.changes_due = Some(Instant::now() + CHANGES_AGAIN);
            tracing::warn!(
                "{left_out} change files are missing: readers who need them must export again"
            );
        }
        fetched
    }

    async fn take_change_file(&self, file: Lacking) -> Result<()> {
        let lock = self.lock.clone();
        let (path, file) = in_thread(move || Ok((file.begin(&lock)?, file))).await?;
        let place: Arc<Path> = path.as_path().into();
        let mut offset = 0;
        let missing = file.pieces.iter().map(|piece| {
            let start = offset;
            offset += u64::from(piece.bytes);
            Missing { path: place.clone(), offset: start, piece: *piece, patch: None }
        });
        let fetched = self.fetch(missing.collect()).await;
        let lock = self.lock.clone();
        in_thread(move || {
            // A file that is not taken only takes disk space.
            let taken = fetched.and_then(|_| file.complete(&lock, &path));
            taken.inspect_err(|_| _ = fs::remove_file(&path))
        })
        .await
    }

    /// Tries again to fetch the change files of the generation that was taken.
    async fn try_changes_again(&mut self, pointer: &Pointer) {
        self.changes_due = Some(Instant::now() + CHANGES_AGAIN);
        let checksum = Some(pointer.contents_sha256);
        if let Ok(described) = Described::read(&self.store, pointer.name, checksum).await {
            self.take_changes(&described).await;
        }
    }

    /// Removes the change files that the published generation does not list, and what killed
    /// programs have left. An earlier generation that was published again does not list those of
    /// the generations that were taken back. All are kept then: the way back needs them.
    async fn remove_changes(&self, pointer: &Pointer, described: &Described) {
        let is_rolled_back = pointer.rolled_back_from.is_some();
        let listed: HashSet<_> = described.changes().map(|(id, _)| id).collect();
        let lock = self.lock.clone();
        let is_kept = move |id| is_rolled_back || listed.contains(&id);
        let removed = blocking(move || lock.remove_changes(|id, _| is_kept(id))).await;
        if let Err(error) = removed {
            let reason = figdex_index::chain(&error);
            tracing::warn!(reason, "old change files were not removed");
        }
    }

    /// Copies local files with the same content into the folder of the new generation. Returns the
    /// pieces that are still missing in this folder, and the number of bytes that it has.
    async fn missing(
        &self,
        name: GenerationName,
        described: &Described,
        receiving: &Receiving,
    ) -> Result<(Vec<Missing>, u64)> {
        let folder = self.lock.index().to_owned();
        let local = blocking(move || local_files(&folder)).await?;
        let local: HashMap<_, _> =
            local.into_iter().map(|file| ((file.sha256, file.bytes), file.path)).collect();
        let patches = UsablePatches::read(&self.store, name, described, &local).await;
        let mut files = Vec::new();
        for ((entry, pieces), path) in described.files().zip(&receiving.files) {
            let known = local.get(&(entry.sha256.clone(), entry.bytes)).cloned();
            files.push((path.clone(), pieces.to_owned(), entry.bytes, known));
        }
        let found = spawn_blocking(move || {
            let (mut missing, mut there) = (Vec::new(), 0);
            for (number, (path, pieces, bytes, known)) in files.into_iter().enumerate() {
                let failed = |error: io::Error| Error::disk(&path, &error);
                if let Some(known) = known
                    && !path.exists()
                {
                    fs::copy(&known, &path).map_err(failed)?;
                }
                let file = File::options()
                    .create(true)
                    .truncate(false)
                    .read(true)
                    .write(true)
                    .open(&path)
                    .map_err(failed)?;
                if file.metadata().map_err(failed)?.len() > bytes {
                    file.set_len(bytes).map_err(failed)?;
                }
                let path: Arc<Path> = path.into();
                let mut offset = 0;
                for piece in pieces {
                    let bytes = u64::from(piece.bytes);
                    if piece.is_in(&file, offset) {
                        there += bytes;
                    } else {
                        let patch = patches.of(number, offset);
                        missing.push(Missing { path: path.clone(), offset, piece, patch });
                    }
                    offset += bytes;
                }
            }
            Ok((missing, there))
        });
        found.await.expect("it does not panic")
    }

    /// Fetches pieces, or patches that give them, and writes the pieces into their files. Returns
    /// the number of bytes that were fetched.
    async fn fetch(&self, missing: Vec<Missing>) -> Result<u64> {
        let (start, mut fetched) = (Instant::now(), 0);
        let mut said = start;
        let mut fetching = JoinSet::new();
        for piece in missing {
            if said.elapsed() > PROGRESS {
                said = Instant::now();
                let missing_bytes = self.following.lock().missing_bytes;
                tracing::info!(fetched_bytes = fetched, missing_bytes, "fetching a new generation");
            }
            while fetching.len() >= FETCHED_AT_ONCE {
                fetched += self.one_is_fetched(&mut fetching).await?;
            }
            if let Some(rate) = self.rate {
                let due = Duration::from_secs_f64(fetched as f64 / rate as f64);
                sleep(due.saturating_sub(start.elapsed())).await;
            }
            let store = self.store.clone();
            fetching.spawn(async move { piece.fetch(&store).await });
        }
        while !fetching.is_empty() {
            fetched += self.one_is_fetched(&mut fetching).await?;
        }
        Ok(fetched)
    }

    async fn one_is_fetched(&self, fetching: &mut JoinSet<Result<Fetched>>) -> Result<u64> {
        let Some(fetched) = fetching.join_next().await else { return Ok(0) };
        let Fetched { bytes, piece_bytes } = fetched.expect("it does not panic")?;
        let mut following = self.following.lock();
        following.fetched_bytes += bytes;
        following.reused_bytes += piece_bytes.saturating_sub(bytes);
        following.missing_bytes = following.missing_bytes.saturating_sub(piece_bytes);
        Ok(bytes)
    }
}

/// A piece that is missing in its file. The file is opened only when the piece has arrived: a
/// generation may have more files than a program may open.
struct Missing {
    path: Arc<Path>,
    offset: u64,
    piece: Piece,
    /// A patch that gives the piece.
    patch: Option<UsablePatch>,
}

/// A piece that was fetched, whole or as a patch.
struct Fetched {
    /// The number of bytes that were fetched.
    bytes: u64,
    /// The size of the piece.
    piece_bytes: u64,
}

impl Missing {
    /// Fetches the patch or else the piece, and writes the piece into its file.
    async fn fetch(self, store: &Store) -> Result<Fetched> {
        let Self { path, offset, piece, patch } = self;
        let patched = match patch {
            Some(patch) => patch.fetch(store, piece).await,
            None => None,
        };
        let (piece, bytes) = match patched {
            Some(patched) => patched,
            None => (whole(store, piece).await?, u64::from(piece.bytes)),
        };
        let written = spawn_blocking(move || {
            let file = File::options().write(true).open(&path);
            file.and_then(|file| file.write_all_at(&piece, offset))
                .map(|()| Fetched { bytes, piece_bytes: piece.len() as u64 })
                .map_err(|error| Error::disk(&path, &error))
        });
        written.await.expect("it does not panic")
    }
}

/// Fetches a whole piece. Retries after failures.
async fn whole(store: &Store, piece: Piece) -> Result<Bytes> {
    let mut attempt = 0;
    loop {
        match verify::read(store, piece).await {
            Err(_) if attempt + 1 < ATTEMPTS => sleep(PAUSE * 2_u32.pow(attempt)).await,
            read => return read,
        }
        attempt += 1;
    }
}

/// Whether a published generation is older than the one in the copy. Then the storage was probably
/// reset to an earlier state. A lower number does not count as older if the generation was
/// published later, or if the pointer says that the one in the copy was taken back.
fn is_older(pointer: &Pointer, found: &Manifest, served: &Manifest) -> bool {
    let published = |manifest: &Manifest| manifest.published_at.as_ref()?.parse::<Timestamp>().ok();
    pointer.generation <= served.generation
        && published(found) <= published(served)
        && pointer.rolled_back_from.is_none_or(|from| from < served.generation)
}

/// Refuses to begin if the disk has too little room.
fn check_room(folder: &Path, needed: u64) -> Result<()> {
    let found = rustix::fs::statvfs(folder).map_err(|error| Error::disk(folder, &error.into()))?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    match free >= needed.saturating_add(DISK_RESERVE_BYTES) {
        true => Ok(()),
        false => Err(Error::Full { place: escaped_path(folder).to_string(), needed, free }),
    }
}

/// Runs a call that waits for the disk.
async fn in_thread<T: Send + 'static>(
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    spawn_blocking(call).await.expect("it does not panic")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::GenerationName;

    /// A clock that is wrong, at this publisher or at an earlier one, keeps nothing that is newer away:
    /// a higher number is newer, whatever the times say.
    #[test]
    fn clocks_may_be_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let options = figdex_index::BuildOptions::default();
        let mut builder = figdex_index::Builder::create(folder.path(), options).unwrap();
        let figi = figdex_index::Figi::parse("BBG000BLNNH6").unwrap();
        builder.add(figdex_index::Instrument::new(figi)).unwrap();
        let built = builder.publish(Vec::new()).unwrap();
        let at = |generation, time: Option<&str>| {
            let published_at = time.map(str::to_owned);
            Manifest { generation, published_at, ..built.clone() }
        };
        let served = at(7, Some("2026-05-01T00:00:00.000Z"));
        let is_older = |generation, time, rolled_back_from| {
            let name = GenerationName::new(generation);
            let pointer = Pointer { rolled_back_from, ..Pointer::to(name, b"") };
            super::is_older(&pointer, &at(generation, time), &served)
        };
        let [before, after] = ["2020-01-01T00:00:00.000Z", "2040-01-01T00:00:00.000Z"];
        assert!(!is_older(8, Some(before), None));
        assert!(!is_older(8, None, None));
        assert!(is_older(6, Some(before), None));
        assert!(is_older(6, None, None));
        assert!(!is_older(6, Some(after), None), "a storage that was emptied and published to");
        assert!(!is_older(6, Some(before), Some(7)), "rolled back");
        assert!(is_older(6, Some(before), Some(6)), "rolled back before the served one came");
    }
}
