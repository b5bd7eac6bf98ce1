//! Sorted runs on disk, and their merge.
//!
//! A run is a file of rows in FIGI order: input and length as little-endian `u32`,
//! then the bytes of the instrument, which begin with its FIGI.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Bytes that are read of a run at a time: large, because a disk's head would
/// otherwise move between the runs for every few rows.
const BUFFER_BYTES: usize = 1 << 20;

/// A run on disk. The file goes when the run does.
pub(crate) struct Run {
    path: PathBuf,
}

/// The rows of several runs, in order.
pub(super) struct RunMerge<'a> {
    readers: Vec<RunReader<'a>>,
    /// The FIGI of each run's next row; of equal ones the earlier run comes first.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    /// The run whose row was handed out last, and which must move on.
    handed_out: Option<usize>,
}

struct RunReader<'a> {
    run: &'a Run,
    file: BufReader<File>,
    input: u32,
    row: Vec<u8>,
}

impl Run {
    /// Writes rows, which come in order, as the `number`-th run of a folder.
    pub(super) fn write<'a>(
        scratch: &Path,
        number: usize,
        rows: impl Iterator<Item = (u32, &'a [u8])>,
    ) -> Result<Self> {
        fs::create_dir_all(scratch).map_err(Error::file(&scratch.display()))?;
        let run = Self { path: scratch.join(format!("run-{number:06}")) };
        let write = || {
            let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create_new(&run.path)?);
            for (input, row) in rows {
                let length = u32::try_from(row.len()).map_err(io::Error::other)?;
                file.write_all(&input.to_le_bytes())?;
                file.write_all(&length.to_le_bytes())?;
                file.write_all(row)?;
            }
            file.flush()
        };
        write().map_err(Error::file(&run.path.display()))?;
        Ok(run)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            // The whole folder goes with the unfinished generation that it is in.
            tracing::debug!(%error, path = %self.path.display(), "a run was left behind");
        }
    }
}

impl<'a> RunMerge<'a> {
    pub(super) fn open(runs: &'a [Run]) -> Result<Self> {
        let mut merge = Self { readers: Vec::new(), heads: BinaryHeap::new(), handed_out: None };
        for (number, run) in runs.iter().enumerate() {
            let file = File::open(&run.path).map_err(Error::file(&run.path.display()))?;
            let file = BufReader::with_capacity(BUFFER_BYTES, file);
            merge.readers.push(RunReader { run, file, input: 0, row: Vec::new() });
            merge.advance(number)?;
        }
        Ok(merge)
    }

    /// The next row: its input and its bytes.
    pub(super) fn next(&mut self) -> Result<Option<(u32, &[u8])>> {
        if let Some(number) = self.handed_out.take() {
            self.advance(number)?;
        }
        let Some(Reverse((_, number))) = self.heads.pop() else { return Ok(None) };
        self.handed_out = Some(number);
        let reader = &self.readers[number];
        Ok(Some((reader.input, &reader.row)))
    }

    fn advance(&mut self, number: usize) -> Result<()> {
        let reader = &mut self.readers[number];
        if reader.read().map_err(Error::file(&reader.run.path.display()))? {
            let figi = reader.row.first_chunk().expect("a row begins with its FIGI");
            self.heads.push(Reverse((u64::from_le_bytes(*figi), number)));
        }
        Ok(())
    }
}

impl RunReader<'_> {
    /// Reads the next row; `false` at the end.
    fn read(&mut self) -> io::Result<bool> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut number = || {
            let mut bytes = [0; 4];
            self.file.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
        };
        let (input, length) = (number()?, number()?);
        self.input = input;
        self.row.resize(length as usize, 0);
        self.file.read_exact(&mut self.row)?;
        Ok(true)
    }
}
