//! A patch: the bytes of a piece, compressed with a reference to an earlier version of its file. A
//! night changes few values of a large file, so a patch has a hundredth of the bytes of the piece.
//!
//! A piece is divided into blocks. Each block is a frame of zstd (RFC 8878) whose prefix is the part
//! of the earlier file around the same place, scaled by the sizes of both files: rows that came or
//! went move all later ones. Before each frame stands its size as a little-endian `u32`.
//!
//! A patch may be wrong or hostile. So the caller compares the result with the checksum of the
//! piece; this module bounds the memory (a prefix, a block, and the piece itself).

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;

use zstd::stream::raw::{CParameter, DParameter};
use zstd::stream::{read, write};

/// The bytes of a block.
const BLOCK_BYTES: u64 = 4 << 20;

/// The bytes of the earlier file before and after the place of a block that its frame refers to.
const MARGIN_BYTES: u64 = 2 << 20;

/// The logarithm of the window of a frame: a prefix and a block fit into 16 MiB.
const WINDOW_LOG: u32 = 24;

/// The level of zstd, and the logarithm of the entries of its tables. The tables of the level itself
/// forget most of a prefix of 8 MiB.
const LEVEL: i32 = 3;
const TABLE_LOG: u32 = 22;

/// The earlier version of a file.
#[derive(Debug)]
pub(crate) struct Earlier<'a> {
    /// The file.
    pub(crate) file: &'a File,
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// The size of the new version.
    pub(crate) new_bytes: u64,
}

impl Earlier<'_> {
    /// The bytes around the place of a block that begins at `offset` in the new version.
    fn around(&self, offset: u64) -> io::Result<Vec<u8>> {
        let same = u128::from(offset) * u128::from(self.bytes) / u128::from(self.new_bytes.max(1));
        let start = u64::try_from(same).unwrap_or(u64::MAX).saturating_sub(MARGIN_BYTES);
        let start = start.min(self.bytes);
        let length = (BLOCK_BYTES + 2 * MARGIN_BYTES).min(self.bytes - start);
        let mut around = vec![0; length as usize];
        self.file.read_exact_at(&mut around, start)?;
        Ok(around)
    }
}

/// The patch for a piece that begins at `offset` in the new version of a file.
///
/// # Errors
/// When the earlier file cannot be read, and the errors of zstd.
pub(crate) fn made(piece: &[u8], offset: u64, earlier: &Earlier<'_>) -> io::Result<Vec<u8>> {
    let mut patch = Vec::new();
    for (block, at) in piece.chunks(BLOCK_BYTES as usize).zip(offsets(offset)) {
        let prefix = earlier.around(at)?;
        let mut frame = write::Encoder::with_ref_prefix(Vec::new(), LEVEL, &prefix)?;
        frame.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        frame.set_parameter(CParameter::HashLog(TABLE_LOG))?;
        frame.set_parameter(CParameter::ChainLog(TABLE_LOG))?;
        // The checksum of the piece is compared anyway.
        frame.set_parameter(CParameter::ChecksumFlag(false))?;
        frame.set_pledged_src_size(Some(block.len() as u64))?;
        frame.write_all(block)?;
        let frame = frame.finish()?;
        let bytes = u32::try_from(frame.len()).map_err(io::Error::other)?;
        patch.extend_from_slice(&bytes.to_le_bytes());
        patch.extend_from_slice(&frame);
    }
    Ok(patch)
}

/// The piece of `bytes` bytes at `offset` in the new version of a file, as a patch says.
///
/// # Errors
/// When the patch is not one of such a piece, or the earlier file cannot be read.
pub(crate) fn applied(
    patch: &[u8],
    bytes: u32,
    offset: u64,
    earlier: &Earlier<'_>,
) -> io::Result<Vec<u8>> {
    let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let (mut piece, mut rest) = (Vec::with_capacity(bytes as usize), patch);
    for at in offsets(offset) {
        let left = u64::from(bytes) - piece.len() as u64;
        if left == 0 {
            break;
        }
        let (size, after) = rest.split_first_chunk().ok_or_else(|| wrong("it ends early"))?;
        let size = u32::from_le_bytes(*size) as usize;
        let (frame, after) =
            after.split_at_checked(size).ok_or_else(|| wrong("a frame is cut off"))?;
        rest = after;
        let (prefix, block) = (earlier.around(at)?, left.min(BLOCK_BYTES));
        let mut frame = read::Decoder::with_ref_prefix(frame, &prefix)?.single_frame();
        frame.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
        let before = piece.len();
        // One more byte than a block has shows a frame that is too long.
        frame.take(block + 1).read_to_end(&mut piece)?;
        if (piece.len() - before) as u64 != block {
            return Err(wrong("a frame has another size than its block"));
        }
    }
    match rest.is_empty() {
        true => Ok(piece),
        false => Err(wrong("it has more bytes than its frames")),
    }
}

/// The places of the blocks of a piece that begins at `offset`.
fn offsets(offset: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |block| offset.saturating_add(block * BLOCK_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these bytes.
    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    /// Bytes that no compression makes smaller: rows of 16 bytes, from a counter.
    fn rows(count: u64) -> Vec<u8> {
        let row = |number: u64| {
            let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            [mixed ^ (mixed >> 29), mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9)]
        };
        (0..count).flat_map(row).flat_map(u64::to_le_bytes).collect()
    }

    /// Piece after piece, as a publisher divides a file.
    fn patches(new: &[u8], piece_bytes: usize, earlier: &Earlier<'_>) -> usize {
        let mut all = 0;
        for (number, piece) in new.chunks(piece_bytes).enumerate() {
            let offset = (number * piece_bytes) as u64;
            let patch = made(piece, offset, earlier).unwrap();
            all += patch.len();
            let found = applied(&patch, piece.len() as u32, offset, earlier).unwrap();
            assert_eq!(found, piece, "{offset}");
        }
        all
    }

    /// Values that changed, rows that came and rows that went: the piece comes back, and the patch is
    /// small.
    #[test]
    fn a_piece_comes_back_from_its_patch() {
        let old = rows(700_000);
        let earlier = file(&old);
        let mut changed = old.clone();
        changed.iter_mut().step_by(16_000).for_each(|byte| *byte ^= 1);
        let removed: Vec<u8> = old
            .chunks(16)
            .enumerate()
            .filter(|(n, _)| n % 1000 != 7)
            .flat_map(|(_, row)| row)
            .copied()
            .collect();
        let mut inserted = rows(90);
        inserted.extend_from_slice(&old);
        for (what, new, most) in [
            ("changed", changed, 60),
            ("removed", removed, 30),
            ("inserted", inserted, 60),
            ("the same", old.clone(), 400),
        ] {
            let new_bytes = new.len() as u64;
            let earlier = Earlier { file: &earlier, bytes: old.len() as u64, new_bytes };
            let bytes = patches(&new, 10 << 20, &earlier);
            assert!(bytes < new.len() / most, "{what}: {bytes} of {}", new.len());
        }
    }

    /// An empty earlier file, and one that is shorter than the margin, are enough.
    #[test]
    fn small_earlier_files() {
        let new = rows(10_000);
        for bytes in [0, 1, 16, 1000] {
            let earlier = file(&new[..bytes]);
            let bytes = bytes as u64;
            let earlier = Earlier { file: &earlier, bytes, new_bytes: new.len() as u64 };
            patches(&new, 1 << 20, &earlier);
        }
    }

    /// A wrong patch is refused or gives other bytes of the same size, and never
    /// more.
    #[test]
    fn wrong_patches() {
        let old = rows(2_000);
        let mut new = old.clone();
        new[5_000] ^= 1;
        let file = file(&old);
        let bytes = old.len() as u64;
        let earlier = Earlier { file: &file, bytes, new_bytes: bytes };
        let patch = made(&new, 0, &earlier).unwrap();
        let apply = |patch: &[u8], bytes| applied(patch, bytes, 0, &earlier);
        assert_eq!(apply(&patch, bytes as u32).unwrap(), new);
        for length in 0..patch.len() {
            apply(&patch[..length], bytes as u32).unwrap_err();
        }
        apply(&[&patch[..], b"x"].concat(), bytes as u32).unwrap_err();
        for other in [bytes as u32 - 1, bytes as u32 + 1, 0] {
            apply(&patch, other).unwrap_err();
        }
        for place in 0..patch.len() {
            for bit in 0..8 {
                let mut wrong = patch.clone();
                wrong[place] ^= 1 << bit;
                if let Ok(found) = apply(&wrong, bytes as u32) {
                    assert_eq!(found.len() as u64, bytes);
                }
            }
        }
        // A frame that says that it is a gigabyte.
        let bomb = zstd::stream::encode_all(io::repeat(0).take(1 << 26), 3).unwrap();
        let mut wrong = (bomb.len() as u32).to_le_bytes().to_vec();
        wrong.extend_from_slice(&bomb);
        apply(&wrong, bytes as u32).unwrap_err();
    }
}
