//! Publishing to object storage: first the missing pieces, then the contents, then the pointer. If
//! a publication ends before it writes the pointer, nothing changes for servers that follow the
//! storage. The change files that the folder keeps are sent with the generation, so a server that
//! has the generation has the changes up to it. Patches for servers that have the generation before
//! are sent too, but no publication fails for them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use figdex_index::{GenerationId, LocalFile, Manifest, files};
use figdex_io::{escaped_path, hex};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tokio::task::{JoinSet, spawn_blocking};

use crate::changes::{self, LocalChanges};
use crate::contents::{Contents, Described};
use crate::error::{Error, Result};
use crate::layout::{PIECE_BYTES, Pointer};
use crate::lease::Lease;
use crate::names::{Checksum, GenerationName, Kind, NUMBER_MAX, PieceName};
use crate::patches::{self, EarlierFiles};
use crate::pieces::Piece;
use crate::prune::{PublishOptions, prune};
use crate::store::{Listed, Store};

/// The most pieces that are sent at the same time, each of at most 16 MiB.
const SENT_AT_ONCE: usize = 4;

/// The number of attempts to send a piece. `PAUSE` is the pause after the first failure; each
/// further failure doubles it.
const ATTEMPTS: u32 = 6;
const PAUSE: Duration = Duration::from_secs(1);

/// The result of a publication.
#[derive(Debug)]
pub struct Published {
    /// The number of the generation.
    pub generation: u64,
    /// The name of the generation below the address.
    pub name: String,
    /// The number of its instruments.
    pub instruments: u64,
    /// The number of bytes of its files and its change files that were sent.
    pub sent_bytes: u64,
    /// The number of bytes of patches that were sent besides.
    pub patch_bytes: u64,
    /// The number of bytes of its files and its change files that were already there.
    pub reused_bytes: u64,
    /// The names of the generations that were removed.
    pub removed: Vec<String>,
}

/// Publishes the published generation of the folder `index`. `progress` gets the number of finished
/// bytes, and of all bytes.
///
/// # Errors
/// [`Error::Busy`] when another publisher is active. After any error the pointer is unchanged,
/// unless the message says otherwise. The next attempt uses the pieces that were sent.
pub async fn publish(
    store: &Store,
    index: &Path,
    options: PublishOptions,
    mut progress: impl FnMut(u64, u64),
) -> Result<Published> {
    let (manifest, files) = {
        let index = index.to_owned();
        blocking(move || files(&index)).await?
    };
    let lease = Lease::take(store).await?;
    let published = send(store, &lease, index, (manifest, files), &mut progress).await;
    let published = match published {
        Ok((published, before)) => {
            let removed = prune(store, &lease, before, options).await;
            // The next publication tries again.
            let removed = removed.inspect_err(|error| {
                tracing::warn!("an old generation was not removed: {}", figdex_index::chain(error));
            });
            Ok(Published { removed: removed.unwrap_or_default(), ..published })
        }
        Err(error) => Err(error),
    };
    lease.release().await;
    published
}

/// Sends a generation and publishes it. Also returns the number of the previously published
/// generation.
async fn send(
    store: &Store,
    lease: &Lease,
    index: &Path,
    (manifest, files): (Manifest, Vec<LocalFile>),
    progress: &mut impl FnMut(u64, u64),
) -> Result<(Published, u64)> {
    let there = store.list().await?;
    let served = Pointer::read(store).await?;
    let before = served.as_ref().map_or(0, |pointer| pointer.generation);
    let names = there.iter().filter_map(|object| object.key.split('/').next()?.parse().ok());
    let generation = names.fold(before, |last, name: GenerationName| last.max(name.number)) + 1;
    if generation > NUMBER_MAX {
        let what = format!("a generation has the number {NUMBER_MAX}, the last one: remove it");
        return Err(Error::Damaged { place: store.to_string(), what });
    }
    let name = GenerationName::new(generation);
    let published_at = Some(Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
    let manifest = Manifest { generation, published_at, ..manifest };
    // Checked before hours of sending.
    let planned = planned(name, &files);
    let text = Contents { manifest: &manifest, files: &planned, changes: &[] }.text()?;
    let pieces = planned.iter().map(|(_, pieces)| pieces.len()).sum();
    let folder = index.to_owned();
    let changes = blocking(move || changes::of_folder(&folder, pieces, text.len())).await?;
    let mut sending = Sending {
        store,
        name,
        pieces: known_pieces(there),
        sent: JoinSet::new(),
        sent_bytes: 0,
        reused_bytes: 0,
    };
    let of_files: u64 = files.iter().map(|file| file.bytes).sum();
    let of_changes: u64 = changes.iter().map(|file| file.bytes).sum();
    let mut progress = |done| progress(done, of_files + of_changes);
    let mut sent = Vec::new();
    for file in &files {
        sent.push((file.name.clone(), sending.file(lease, file, &mut progress).await?));
    }
    let changes = sending.changes(lease, changes, &mut progress).await?;
    while !sending.sent.is_empty() {
        sending.one_is_sent().await?;
    }
    let Sending { sent_bytes, reused_bytes, .. } = sending;
    let patch_bytes = match &served {
        Some(served) => {
            let patched = patch((store, lease), name, served, index, (&files, &sent)).await;
            patched.or_else(|error| match error {
                Error::LeaseLost => Err(error),
                error => {
                    let reason = figdex_index::chain(&error);
                    tracing::warn!(reason, "no patches are published: servers fetch whole pieces");
                    Ok(0)
                }
            })?
        }
        None => 0,
    };
    let instruments = manifest.instruments;
    let contents = Contents { manifest: &manifest, files: &sent, changes: &changes }.text()?;
    let pointer = Pointer::to(name, &contents);
    store.write(&name.contents(), contents.into()).await?;
    // Read in the same way as by the servers.
    Described::read(store, name, Some(pointer.contents_sha256)).await?;
    lease.point(&pointer).await?;
    let name = name.to_string();
    let removed = Vec::new();
    let published =
        Published { generation, name, instruments, sent_bytes, patch_bytes, reused_bytes, removed };
    Ok((published, before))
}

/// Sends the patches from the generation that servers have until now, if the folder still has it.
async fn patch(
    to: (&Store, &Lease),
    name: GenerationName,
    served: &Pointer,
    index: &Path,
    (files, sent): (&[LocalFile], &[(String, Vec<Piece>)]),
) -> Result<u64> {
    let served = Described::read(to.0, served.name, Some(served.contents_sha256)).await?;
    let index = index.to_owned();
    let earlier = blocking(move || EarlierFiles::of(&served, &index)).await?;
    patches::send(to, name, files, sent, &earlier).await
}

/// The description of the pieces of files, before the files are read.
fn planned(generation: GenerationName, files: &[LocalFile]) -> Vec<(String, Vec<Piece>)> {
    let name = PieceName { generation, sha256: Checksum::of(b"") };
    let pieces = |file: &LocalFile| {
        let count = file.bytes.div_ceil(PIECE_BYTES) as usize;
        vec![Piece { name, bytes: PIECE_BYTES as u32 }; count]
    };
    files.iter().map(|file| (file.name.clone(), pieces(file))).collect()
}

/// The pieces in the storage, by checksum and size.
fn known_pieces(there: Vec<Listed>) -> HashMap<(Checksum, u64), GenerationName> {
    let pieces = there.into_iter().filter_map(|object| {
        let PieceName { generation, sha256 } = Kind::piece(&object.key)?;
        Some(((sha256, object.bytes), generation))
    });
    pieces.collect()
}

/// A generation that is being sent.
struct Sending<'a> {
    store: &'a Store,
    name: GenerationName,
    /// The pieces that are there or being sent, each with the generation that it was sent for.
    pieces: HashMap<(Checksum, u64), GenerationName>,
    sent: JoinSet<Result<u64>>,
    sent_bytes: u64,
    reused_bytes: u64,
}

impl Sending<'_> {
    /// Sends the missing pieces of a file.
    async fn file(
        &mut self,
        lease: &Lease,
        file: &LocalFile,
        progress: &mut impl FnMut(u64),
    ) -> Result<Vec<Piece>> {
        let opened = File::open(&file.path).map_err(|error| unreadable(&file.path, &error))?;
        let (sha256, pieces) = self.opened(lease, opened, &file.path, progress).await?;
        match sha256 == file.sha256 {
            true => Ok(pieces),
            false => {
                let what =
                    "its checksum differs from the manifest (verify the index, and build it again)";
                Err(Error::Damaged { place: place(&file.path), what: what.to_owned() })
            }
        }
    }

    /// Sends the missing pieces of change files. A build may remove old change files meanwhile:
    /// those are left out.
    async fn changes(
        &mut self,
        lease: &Lease,
        changes: Vec<LocalChanges>,
        progress: &mut impl FnMut(u64),
    ) -> Result<Vec<(GenerationId, Vec<Piece>)>> {
        let mut sent = Vec::new();
        for LocalChanges { id, path, .. } in changes {
            let Ok(opened) = File::open(&path) else { continue };
            match self.opened(lease, opened, &path, progress).await {
                // A complete change file never changes, so its bytes are those that were checked.
                Ok((_, pieces)) => sent.push((id, pieces)),
                Err(error @ Error::Damaged { .. }) => {
                    let reason = figdex_index::chain(&error);
                    tracing::warn!(reason, "a change file is damaged, and is not published");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    /// Sends the missing pieces of an open file. Returns the checksum of the file, and all its
    /// pieces.
    async fn opened(
        &mut self,
        lease: &Lease,
        mut opened: File,
        path: &Path,
        progress: &mut impl FnMut(u64),
    ) -> Result<(String, Vec<Piece>)> {
        let (mut whole, mut pieces) = (Sha256::new(), Vec::new());
        loop {
            lease.check()?;
            while self.sent.len() >= SENT_AT_ONCE {
                self.one_is_sent().await?;
            }
            let (source, digest, read) = spawn_blocking(move || {
                let mut piece = Vec::new();
                let read = (&mut opened).take(PIECE_BYTES).read_to_end(&mut piece);
                whole.update(&piece);
                (opened, whole, read.map(|_| (Checksum::of(&piece), piece)))
            })
            .await
            .expect("it does not panic");
            (opened, whole) = (source, digest);
            let (sha256, piece) = read.map_err(|error| unreadable(path, &error))?;
            if piece.is_empty() {
                break;
            }
            let bytes = piece.len() as u64;
            let known = self.pieces.get(&(sha256, bytes)).copied();
            let name = PieceName { generation: known.unwrap_or(self.name), sha256 };
            if known.is_some() {
                self.reused_bytes += bytes;
            } else {
                self.pieces.insert((sha256, bytes), self.name);
                let store = self.store.clone();
                self.sent.spawn(async move { write(&store, name, piece.into()).await });
            }
            pieces.push(Piece { name, bytes: bytes as u32 });
            progress(self.sent_bytes + self.reused_bytes);
        }
        Ok((hex(&whole.finalize()), pieces))
    }

    async fn one_is_sent(&mut self) -> Result<()> {
        if let Some(sent) = self.sent.join_next().await {
            self.sent_bytes += sent.expect("it does not panic")?;
        }
        Ok(())
    }
}

/// Writes a piece. Retries after failures.
async fn write(store: &Store, name: PieceName, piece: Bytes) -> Result<u64> {
    let mut attempt = 0;
    loop {
        match store.write(&name.to_string(), piece.clone()).await {
            Ok(()) => return Ok(piece.len() as u64),
            Err(error) if attempt + 1 == ATTEMPTS => return Err(error),
            Err(_) => tokio::time::sleep(PAUSE * 2_u32.pow(attempt)).await,
        }
        attempt += 1;
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let what = format!("{error} (if a build has replaced the index meanwhile, publish again)");
    Error::Damaged { place: place(path), what }
}

fn place(path: &Path) -> String {
    escaped_path(path).to_string()
}

/// Runs a call that waits for the disk.
pub(crate) async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> figdex_index::Result<T> + Send + 'static,
) -> Result<T> {
    spawn_blocking(call).await.expect("it does not panic").map_err(Error::Index)
}
