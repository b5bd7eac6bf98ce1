//! Estimates whether the disk has room for an index, before hours are spent on a build. If the disk
//! fills up anyway, the build fails and publishes nothing.

use std::fs;
use std::path::Path;

use figdex_index::Manifest;
use figdex_io::Output;

use super::MaxRejects;
use super::written::WRITTEN_PER_BYTE_MAX;
use crate::error::{Error, Result};
use crate::source::Input;

/// Approximate size of a dump divided by the size of its compressed file.
const UNPACKED: u64 = 5;

/// Approximate size of a dump divided by the size of its index.
const INDEXED: u64 = 2;

/// If a build reads at least this many times the bytes of the last build, its index is not
/// estimated in proportion to the last index. An index of a few rows consists mostly of data that
/// every index has.
const GROWTH_MAX: u64 = 16;

/// The space for the index and temporary files of a build, as a multiple of the index (numerator,
/// denominator). The identifiers of a part are written once before they are sorted. This doubles an
/// index of one part.
const WORKING_ROOM: (u64, u64) = (2, 1);

/// Checks that the disk of the index folder has room for three things: an index of these inputs,
/// the rows that are sorted on the disk if they exceed `sorting_bytes` of memory, and the rejects
/// file. The folder must exist.
///
/// # Errors
/// [`Error::Space`] when the room is too small, and [`Error::File`] when it cannot be determined.
pub(crate) fn check(
    index: &Path,
    inputs: &[Input],
    sorting_bytes: usize,
    rejects: &Output,
    max_rejects: MaxRejects,
) -> Result<()> {
    // An index of another format, or a broken one, is ignored.
    let previous = Manifest::published(index).ok().map(|manifest| {
        let read = manifest.sources.iter().map(|source| source.bytes).sum();
        Previous { read_bytes: read, index_bytes: manifest.bytes() }
    });
    let inputs: Vec<_> = inputs.iter().map(|input| (input.bytes(), input.is_packed())).collect();
    // The rejects file of the last build stays until the new one is complete.
    let rejects_before = fs::metadata(rejects.name()).map_or(0, |file| file.len());
    let needed_bytes = estimate(previous, &inputs, sorting_bytes as u64)
        .saturating_add(estimate_rejects(&inputs, rejects_before, max_rejects));
    let free =
        rustix::fs::statvfs(index).map_err(|error| Error::file(&index.display())(error.into()))?;
    let free_bytes = free.f_bavail.saturating_mul(free.f_frsize);
    if free_bytes < needed_bytes {
        return Err(Error::Space { index: index.to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}

/// The size of the last build's dumps and index.
#[derive(Clone, Copy)]
struct Previous {
    read_bytes: u64,
    index_bytes: u64,
}

/// The bytes that a build needs on the disk: for the index and, if the rows are sorted on the disk,
/// for all rows. The index is estimated in proportion to the last build. If there is none, the
/// usual ratio counts. If this build is much larger ([`GROWTH_MAX`]), the last index or the usual
/// ratio counts, whichever is larger. If the size of an input is unknown, the size of the last
/// index counts. Each of `inputs` is the size of an input, if known, and whether it is compressed.
fn estimate(previous: Option<Previous>, inputs: &[(Option<u64>, bool)], sorting_bytes: u64) -> u64 {
    let known: Option<u64> = inputs.iter().map(|(bytes, _)| *bytes).sum();
    let unpacked = unpacked(inputs);
    let usual = unpacked / INDEXED;
    let index_bytes = match (previous, known) {
        (Some(Previous { read_bytes, index_bytes }), Some(bytes)) if read_bytes > 0 => {
            let scaled = u128::from(index_bytes) * u128::from(bytes) / u128::from(read_bytes);
            match bytes / read_bytes < GROWTH_MAX {
                true => u64::try_from(scaled).unwrap_or(u64::MAX),
                false => index_bytes.max(usual),
            }
        }
        (Some(previous), _) => previous.index_bytes,
        (None, _) => usual,
    };
    let sorted = if unpacked > sorting_bytes { unpacked } else { 0 };
    (index_bytes / WORKING_ROOM.1 * WORKING_ROOM.0).saturating_add(sorted)
}

/// The estimated bytes of the rejects file: the percentage of the rows that may be rejected, or the
/// size of the last rejects file if that is larger. The estimate is at most the size at which a
/// build ends because it writes too much.
fn estimate_rejects(
    inputs: &[(Option<u64>, bool)],
    bytes_before: u64,
    max_rejects: MaxRejects,
) -> u64 {
    let percent = match max_rejects {
        MaxRejects::Percent(percent) => percent,
        MaxRejects::Rows(_) => 0.0,
    };
    let known: u64 = inputs.iter().filter_map(|(bytes, _)| *bytes).sum();
    let allowed = (unpacked(inputs) as f64 * percent / 100.0) as u64;
    allowed.max(bytes_before).min(known.saturating_mul(WRITTEN_PER_BYTE_MAX))
}

/// The unpacked size of the inputs with a known size.
fn unpacked(inputs: &[(Option<u64>, bool)]) -> u64 {
    let sizes = inputs
        .iter()
        .filter_map(|&(bytes, is_packed)| Some(bytes? * if is_packed { UNPACKED } else { 1 }));
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_last_build_or_the_usual_ratio() {
        let last = Some(Previous { read_bytes: 1_000, index_bytes: 3_000 });
        for (previous, inputs, bytes) in [
            (last, &[(Some(2_000), true)][..], 12_000),
            (last, &[(None, false), (Some(7), false)], 6_000),
            (Some(Previous { read_bytes: 0, index_bytes: 3 }), &[(Some(9), false)], 6),
            // After a trial with one row, a large dump is not estimated by that row.
            (
                Some(Previous { read_bytes: 100, index_bytes: 600 }),
                &[(Some(15_000), false)],
                15_000,
            ),
            (None, &[(Some(300), true), (Some(1_500), false)], 3_000),
            (None, &[(Some(30_000), false)], 60_000),
            (None, &[(None, false)], 0),
        ] {
            assert_eq!(estimate(previous, inputs, 20_000), bytes);
        }
    }

    /// The rejects file has room for the rows that may be rejected, or for as much as the last one
    /// has, up to its bound.
    #[test]
    fn the_rejects_file_is_counted() {
        let inputs = [(Some(1_000), false), (Some(200), true), (None, false)];
        for (before, allowed, bytes) in [
            (0, MaxRejects::Percent(5.0), 100),
            (0, MaxRejects::Percent(100.0), 2_000),
            (700, MaxRejects::Percent(5.0), 700),
            (700, MaxRejects::NONE, 700),
            (1_000_000, MaxRejects::NONE, 1_200 * WRITTEN_PER_BYTE_MAX),
        ] {
            assert_eq!(estimate_rejects(&inputs, before, allowed), bytes);
        }
    }
}
