//! The patches of a generation, `patches.json` next to its contents: for the files that differ from
//! those of the generation before, a patch for each piece whose patch is smaller. A server that has
//! the earlier file fetches the patch in place of the piece. Patches decide nothing: the result is
//! compared with the checksum of the piece, and whatever goes wrong, the piece is fetched whole.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use figdex_index::LocalFile;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::contents::{CONTENTS_BYTES_MAX, Described, check_shape};
use crate::error::{Error, Result};
use crate::layout::{LAYOUT, PIECE_BYTES, check_layout, damaged};
use crate::lease::Lease;
use crate::names::{Checksum, GenerationName, PieceName};
use crate::patch::{self, Earlier};
use crate::pieces::Piece;
use crate::store::Store;
use crate::verify;

/// The smallest piece that gets a patch: for less, a patch does not pay for its request.
const PATCHED_BYTES_MIN: u64 = 16 << 10;

/// The depth of the document: a patch in the list of a file, among the files.
const DEPTH_MAX: usize = 5;

/// The most bytes of a text in the document, including its escapes. The longest is the name of a
/// file.
const TEXT_BYTES_MAX: usize = 256;

/// The patches of a generation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patches {
    /// The number of the layout.
    layout: u32,
    /// The patches of each file, by its name in the manifest.
    files: BTreeMap<String, FilePatches>,
}

/// The patches of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePatches {
    /// The SHA-256 of the earlier file.
    sha256: Checksum,
    /// The size of the earlier file in bytes.
    bytes: u64,
    /// The patches of its pieces. A piece without one is fetched whole.
    patches: Vec<ListedPatch>,
}

/// A patch in the list of a file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedPatch {
    /// The number of the piece in its file, from 0.
    piece: u32,
    /// The SHA-256 of the patch, which is its name below the generation.
    sha256: Checksum,
    /// The size of the patch in bytes.
    bytes: u32,
}

impl Patches {
    /// Reads the patches of a generation; `None` when it has none.
    async fn read(store: &Store, name: GenerationName) -> Result<Option<Self>> {
        let key = name.patches();
        let Some(text) = store.read(&key, CONTENTS_BYTES_MAX).await? else { return Ok(None) };
        let place = store.place(&key);
        let parsed = spawn_blocking(move || Self::of(&text, &place));
        parsed.await.expect("it does not panic").map(Some)
    }

    fn of(text: &[u8], place: &str) -> Result<Self> {
        let place = || place.to_owned();
        check_layout(text, place)?;
        check_shape(text, DEPTH_MAX, TEXT_BYTES_MAX)
            .map_err(|what| Error::Damaged { place: place(), what })?;
        serde_json::from_slice(text).map_err(|error| damaged(place, "a list of patches", &error))
    }
}

/// The number of files and patches of a list of patches, for fuzzing.
///
/// # Errors
/// When the list is refused.
pub(crate) fn counts(text: &[u8], place: &str) -> Result<(usize, usize)> {
    let files = Patches::of(text, place)?.files;
    Ok((files.len(), files.values().map(|file| file.patches.len()).sum()))
}

/// The name of a file for comparing two generations. Tantivy names the files of a segment at random,
/// and a part has one segment: only the ending counts.
fn comparable(name: &str) -> String {
    match name.split_once("/segment/") {
        Some((part, file)) => format!("{part}/segment/{}", file.rsplit('.').next().unwrap_or(file)),
        None => name.to_owned(),
    }
}

/// The files of the generation that servers have until now, as this machine has them, by their
/// [`comparable`] names.
pub(crate) struct EarlierFiles(HashMap<String, (Checksum, u64, PathBuf)>);

impl EarlierFiles {
    /// The files of a published generation in an index folder. Those that the folder no longer has
    /// are left out.
    pub(crate) fn of(described: &Described, index: &Path) -> figdex_index::Result<Self> {
        let local = figdex_index::local_files(index)?.into_iter();
        let local: HashMap<_, _> =
            local.map(|file| ((file.sha256, file.bytes), file.path)).collect();
        let files = described.manifest.files().filter_map(|(name, file)| {
            let path = local.get(&(file.sha256.clone(), file.bytes))?;
            Some((
                comparable(&name),
                (Checksum::try_from(file.sha256.clone()).ok()?, file.bytes, path.clone()),
            ))
        });
        Ok(Self(files.collect()))
    }
}

/// Sends the patches of a generation, and the list of them. Returns the number of bytes that were
/// sent. `files` are its files on this machine, and `sent` the pieces of each.
pub(crate) async fn send(
    (store, lease): (&Store, &Lease),
    name: GenerationName,
    files: &[LocalFile],
    sent: &[(String, Vec<Piece>)],
    earlier: &EarlierFiles,
) -> Result<u64> {
    let (mut listed, mut bytes) = (BTreeMap::new(), 0);
    for (file, (_, pieces)) in files.iter().zip(sent) {
        let Some((sha256, earlier_bytes, path)) = earlier.0.get(&comparable(&file.name)) else {
            continue;
        };
        if sha256.to_string() == file.sha256 || file.bytes < PATCHED_BYTES_MIN {
            continue;
        }
        let mut patches = Vec::new();
        let mut offset = 0;
        for (number, piece) in (0..).zip(pieces) {
            lease.check()?;
            let made = {
                let (new, old, piece, start) = (file.path.clone(), path.clone(), *piece, offset);
                let sizes = (*earlier_bytes, file.bytes);
                spawn_blocking(move || made(&new, &old, sizes, piece, start))
            };
            let made = made.await.expect("it does not panic");
            let patch = made.map_err(|error| Error::disk(&file.path, &error))?;
            offset += u64::from(piece.bytes);
            // A patch that saves little costs the server two requests where one is enough.
            if patch.len() as u64 * 2 > u64::from(piece.bytes) {
                continue;
            }
            let sha256 = Checksum::of(&patch);
            patches.push(ListedPatch { piece: number, sha256, bytes: patch.len() as u32 });
            bytes += patch.len() as u64;
            let key = PieceName { generation: name, sha256 }.to_string();
            store.write(&key, patch.into()).await?;
        }
        let (sha256, bytes) = (*sha256, *earlier_bytes);
        listed.insert(file.name.clone(), FilePatches { sha256, bytes, patches });
    }
    if listed.is_empty() {
        return Ok(0);
    }
    let text = serde_json::to_vec(&Patches { layout: LAYOUT, files: listed });
    let text = text.expect("its fields are texts and numbers");
    bytes += text.len() as u64;
    store.write(&name.patches(), text.into()).await?;
    Ok(bytes)
}

/// The patch for a piece of a file, from the earlier version of the file.
fn made(
    new: &Path,
    old: &Path,
    (bytes, new_bytes): (u64, u64),
    piece: Piece,
    offset: u64,
) -> io::Result<Vec<u8>> {
    let mut content = vec![0; piece.bytes as usize];
    File::open(new)?.read_exact_at(&mut content, offset)?;
    let file = File::open(old)?;
    patch::made(&content, offset, &Earlier { file: &file, bytes, new_bytes })
}

/// The patches that a server can use, by the number of the file in the manifest.
#[derive(Default)]
pub(crate) struct UsablePatches(HashMap<usize, UsableFile>);

/// The usable patches of a file, by the number of the piece in it.
struct UsableFile {
    earlier: Arc<EarlierFile>,
    patches: HashMap<u32, Piece>,
}

/// An earlier version of a file on this machine.
pub(crate) struct EarlierFile {
    path: PathBuf,
    bytes: u64,
    new_bytes: u64,
    /// A patch of the file was of no use: then its other patches are not fetched.
    is_useless: AtomicBool,
}

impl UsablePatches {
    /// Reads the patches of a generation, of those files whose earlier version is among `local`. If
    /// they cannot be read, there are none.
    pub(crate) async fn read(
        store: &Store,
        name: GenerationName,
        described: &Described,
        local: &HashMap<(String, u64), PathBuf>,
    ) -> Self {
        let mut listed = match Patches::read(store, name).await {
            Ok(Some(Patches { files, .. })) => files,
            Ok(None) => return Self::default(),
            Err(error) => {
                let reason = figdex_index::chain(&error);
                tracing::warn!(reason, "the patches cannot be read: pieces are fetched whole");
                return Self::default();
            }
        };
        let files = described.manifest.files().enumerate().filter_map(|(number, (file, entry))| {
            let FilePatches { sha256, bytes, patches } = listed.remove(&file)?;
            let path = local.get(&(sha256.to_string(), bytes))?.clone();
            let (new_bytes, is_useless) = (entry.bytes, AtomicBool::new(false));
            let earlier = Arc::new(EarlierFile { path, bytes, new_bytes, is_useless });
            let patches = patches.into_iter().map(|ListedPatch { piece, sha256, bytes }| {
                (piece, Piece { name: PieceName { generation: name, sha256 }, bytes })
            });
            Some((number, UsableFile { earlier, patches: patches.collect() }))
        });
        Self(files.collect())
    }

    /// The patch for the piece at `offset` of the file with that number in the manifest.
    pub(crate) fn of(&self, file: usize, offset: u64) -> Option<UsablePatch> {
        let UsableFile { earlier, patches } = self.0.get(&file)?;
        let patch = *patches.get(&u32::try_from(offset / PIECE_BYTES).ok()?)?;
        Some(UsablePatch { earlier: earlier.clone(), patch, offset })
    }
}

/// A patch for a piece that begins at `offset` in its file.
pub(crate) struct UsablePatch {
    earlier: Arc<EarlierFile>,
    patch: Piece,
    offset: u64,
}

impl UsablePatch {
    /// Fetches the patch, and returns the piece that it gives and the number of bytes that were
    /// fetched. `None` if that is not `piece`, for whatever reason: then it is fetched whole.
    pub(crate) async fn fetch(self, store: &Store, piece: Piece) -> Option<(Bytes, u64)> {
        let Self { earlier, patch, offset } = self;
        if earlier.is_useless.load(Ordering::Relaxed) {
            return None;
        }
        let fetched = match verify::read(store, patch).await {
            Ok(fetched) => {
                let earlier = earlier.clone();
                let applied = spawn_blocking(move || {
                    let EarlierFile { path, bytes, new_bytes, .. } = &*earlier;
                    let file = File::open(path)?;
                    let (bytes, new_bytes) = (*bytes, *new_bytes);
                    let earlier = Earlier { file: &file, bytes, new_bytes };
                    let found = patch::applied(&fetched, piece.bytes, offset, &earlier)?;
                    match Checksum::of(&found) == piece.name.sha256 {
                        true => Ok(found),
                        false => Err(io::Error::other("its bytes differ from the checksum")),
                    }
                });
                applied.await.expect("it does not panic").map_err(|error| error.to_string())
            }
            Err(error) => Err(figdex_index::chain(&error)),
        };
        match fetched {
            Ok(found) => Some((found.into(), u64::from(patch.bytes))),
            Err(reason) => {
                if !earlier.is_useless.swap(true, Ordering::Relaxed) {
                    let key = patch.name.to_string();
                    let place = store.place(&key);
                    tracing::warn!(reason, place, "a patch is of no use: pieces are fetched whole");
                }
                None
            }
        }
    }
}
