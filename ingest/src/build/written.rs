//! The limit on the output of a build, as a multiple of the size of its inputs. A row of a few
//! bytes can expand to far more: a compressed row by its repetitions, an `--enrich` row by the
//! instruments that it fills, and a row from a file with a long name by that name in each line of
//! the rejects file.

use std::fmt;

use figdex_io::Size;

use crate::error::Error;

/// The most bytes that a build writes for each byte of its inputs on the disk. Samples of real
/// dumps take up to 10. A compressed JSON dump with a dropped cell in every row takes 30.
pub(crate) const WRITTEN_PER_BYTE_MAX: u64 = 32;

/// The number of bytes that any build may write, however small its inputs are.
const WRITTEN_FREE_BYTES: u64 = 8 << 20;

/// The bytes that a row takes besides its values, during sorting and in an index. Each value, which
/// may be an identifier, takes `VALUE_BYTES` besides its text.
const ROW_BYTES: u64 = 64;
const VALUE_BYTES: u64 = 6;

/// The bytes that a build has written and read so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    read: u64,
    rows: u64,
    rejects: u64,
    filled: u64,
}

/// The error of a build that would write more than the limit. It displays the numbers and the
/// advice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgrown(Written);

impl Written {
    /// Sets the number of bytes of the inputs that were read so far, before unpacking.
    pub(crate) fn set_read(&mut self, bytes: u64) {
        self.read = bytes;
    }

    /// Counts an accepted row with that many values, which have `bytes` together.
    ///
    /// # Errors
    /// [`Outgrown`] when the build would write more than the limit. The same applies to the two
    /// methods below.
    pub(crate) fn row(&mut self, values: usize, bytes: usize) -> Result<(), Outgrown> {
        self.rows += ROW_BYTES + VALUE_BYTES * values as u64 + bytes as u64;
        self.check()
    }

    /// Counts a line of the rejects file.
    pub(crate) fn reject(&mut self, bytes: usize) -> Result<(), Outgrown> {
        self.rejects += bytes as u64;
        self.check()
    }

    /// Counts values that `--enrich` or `--exchanges` gives an instrument.
    pub(crate) fn fill(&mut self, bytes: usize) -> Result<(), Outgrown> {
        self.filled += bytes as u64;
        self.check()
    }

    fn check(&self) -> Result<(), Outgrown> {
        let most = self.read.saturating_mul(WRITTEN_PER_BYTE_MAX) + WRITTEN_FREE_BYTES;
        if self.rows + self.rejects + self.filled > most { Err(Outgrown(*self)) } else { Ok(()) }
    }
}

impl From<Outgrown> for Error {
    fn from(outgrown: Outgrown) -> Self {
        Self::Outgrown { refusal: outgrown.to_string() }
    }
}

impl fmt::Display for Outgrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Written { read, rows, rejects, filled } = self.0;
        write!(
            f,
            "the build would write more than {WRITTEN_PER_BYTE_MAX} times the {} of dumps that it \
             read: nothing is published\n  {} for rows, {} for the rejects file, {} for fields \
             filled by --enrich and --exchanges\n",
            Size(read),
            Size(rows),
            Size(rejects),
            Size(filled)
        )?;
        let advice = match rows.max(rejects).max(filled) {
            most if most == rejects => {
                "see with `figdex-ingest inspect` why rows are rejected and cells dropped, and \
                 correct the dumps or describe them with --columns"
            }
            most if most == filled => {
                "look at the dumps of --enrich and the table of --exchanges: long values match \
                 many instruments"
            }
            _ => "is a packed dump what it should be? if it is right, unpack it first",
        };
        f.write_str(advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of bytes counts towards one bound, which grows with what is read.
    #[test]
    fn the_bound_is_a_multiple_of_what_is_read() {
        let mut written = Written::default();
        written.set_read(1_000);
        let most = 1_000 * WRITTEN_PER_BYTE_MAX + WRITTEN_FREE_BYTES;
        written.reject(most as usize / 2).unwrap();
        written.fill(most as usize / 4).unwrap();
        let outgrown = written.row(0, most as usize / 4).unwrap_err();
        let text = outgrown.to_string();
        assert!(
            text.contains("32 times the 1.0 kB") && text.contains("rows are rejected"),
            "{text}"
        );
        written.set_read(1_004);
        written.row(0, 0).unwrap();
    }
}
