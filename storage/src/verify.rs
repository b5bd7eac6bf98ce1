//! Describing a storage, and checking that it is undamaged.

use figdex_index::Manifest;

use crate::contents::Described;
use crate::error::{Error, Result};
use crate::layout::{PIECE_BYTES, Pointer};
use crate::names::{Checksum, Kind};
use crate::pieces::Piece;
use crate::replicas::Replicas;
use crate::store::Store;

/// The published generation and the others.
#[derive(Debug)]
pub struct Overview {
    /// The manifest of the published generation.
    pub manifest: Manifest,
    /// The highest number of a generation that was taken back, if there is one.
    pub rolled_back_from: Option<u64>,
    /// The number of change files that were published with it.
    pub changes: usize,
    /// The numbers of all complete generations, ascending.
    pub generations: Vec<u64>,
    /// The bytes of the contents and the pieces of all generations.
    pub bytes: u64,
    /// The servers that follow the storage, from their notes.
    pub replicas: Replicas,
}

/// Reads the documents of a storage.
///
/// # Errors
/// [`Error::Nothing`] when nothing is published, and errors of reading.
pub async fn overview(store: &Store) -> Result<Overview> {
    let (pointer, described) = published(store).await?;
    let changes = described.changes().len();
    let manifest = described.manifest;
    let mut generations = Vec::new();
    let mut bytes = 0;
    let there = store.list().await?;
    for object in &there {
        let kind = Kind::of(&object.key);
        bytes += if kind.is_some() { object.bytes } else { 0 };
        if let Some(Kind::Contents(name)) = kind {
            generations.push(name.number);
        }
    }
    generations.sort_unstable();
    let rolled_back_from = pointer.rolled_back_from;
    let replicas = Replicas::read(store, &there, &manifest).await;
    Ok(Overview { manifest, rolled_back_from, changes, generations, bytes, replicas })
}

/// The result of [`verify`].
#[derive(Debug)]
pub struct Verified {
    /// The manifest of the published generation.
    pub manifest: Manifest,
    /// The number of pieces that were read.
    pub pieces: usize,
    /// The number of their bytes.
    pub bytes: u64,
}

/// Reads every piece of the published generation, also those of its change files, and compares it
/// with its checksum.
///
/// # Errors
/// [`Error::Damaged`] for the first piece that differs, and the errors of [`overview`].
pub async fn verify(store: &Store) -> Result<Verified> {
    let (_, described) = published(store).await?;
    let mut bytes = 0;
    for piece in described.pieces() {
        read(store, *piece).await?;
        bytes += u64::from(piece.bytes);
    }
    let pieces = described.pieces().len();
    Ok(Verified { manifest: described.manifest, pieces, bytes })
}

/// The advice for a damaged piece. A publisher would use the damaged piece again, because of its
/// name.
const REPAIR: &str = "(if it stays so: remove this object, then publish again)";

/// Reads a piece, and checks its size and its checksum.
pub(crate) async fn read(store: &Store, piece: Piece) -> Result<bytes::Bytes> {
    let key = piece.name.to_string();
    let damaged = |what: &str| Error::Damaged { place: store.place(&key), what: what.to_owned() };
    let found = store.read(&key, PIECE_BYTES).await?;
    let found = found.ok_or_else(|| damaged("it is missing"))?;
    if found.len() as u64 != u64::from(piece.bytes) {
        let what = format!("it has {} bytes instead of {}", found.len(), piece.bytes);
        return Err(damaged(&format!("{what} {REPAIR}")));
    }
    let digest = tokio::task::spawn_blocking(move || (Checksum::of(&found), found));
    let (digest, found) = digest.await.expect("it does not panic");
    match digest == piece.name.sha256 {
        true => Ok(found),
        false => Err(damaged(&format!("its bytes differ from its checksum {REPAIR}"))),
    }
}

/// The pointer and the published generation.
async fn published(store: &Store) -> Result<(Pointer, Described)> {
    let pointer = Pointer::read(store).await?;
    let pointer = pointer.ok_or_else(|| Error::Nothing(store.to_string()))?;
    let described = Described::read(store, pointer.name, Some(pointer.contents_sha256)).await?;
    Ok((pointer, described))
}
