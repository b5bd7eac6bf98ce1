//! Sorted runs on disk, and their merge.
//!
//! A run is a file of rows in FIGI order. A row has three little-endian `u32`: its origin (the
//! number of the input and the line) and the length of the instrument. Then comes the encoded
//! instrument, which begins with its FIGI.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::union::Origin;
use crate::error::{Error, Result};

/// The number of bytes of a run that are read at once. It is large, because a hard disk would
/// otherwise seek between the runs for every few rows.
const BUFFER_BYTES: usize = 1 << 20;

/// The fewest and the most runs that are merged at once. Each run is an open file. By default a
/// process may have 1,024 open files, and half of these are left for other purposes. Merging at
/// least two runs makes progress.
const OPEN_RUNS: RangeInclusive<usize> = 2..=512;

/// A run on disk. Dropping it removes the file.
pub(crate) struct Run {
    path: PathBuf,
}

/// The rows of several runs, in order.
pub(super) struct RunMerge<'a> {
    readers: Vec<RunReader<'a>>,
    /// The FIGI of each run's next row, and the number of the run. The number orders equal FIGIs:
    /// rows of an earlier run come first.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    /// The run of the last returned row. Its next row must be read.
    handed_out: Option<usize>,
}

struct RunReader<'a> {
    run: &'a Run,
    file: BufReader<File>,
    origin: Origin,
    row: Vec<u8>,
}

/// Merges neighbouring runs until the remaining runs can be merged at once, with buffers of
/// `memory_bytes` in total.
pub(super) fn fewer(mut runs: Vec<Run>, scratch: &Path, memory_bytes: usize) -> Result<Vec<Run>> {
    let open = (memory_bytes / BUFFER_BYTES).clamp(*OPEN_RUNS.start(), *OPEN_RUNS.end());
    let mut round = 0;
    while runs.len() > open {
        round += 1;
        let mut longer = Vec::new();
        let mut rest = runs.into_iter().peekable();
        while rest.peek().is_some() {
            let few: Vec<Run> = rest.by_ref().take(open).collect();
            let mut run = RunWriter::create(scratch, round, longer.len())?;
            let mut rows = RunMerge::open(&few)?;
            while let Some((origin, row)) = rows.next()? {
                run.add(origin, row)?;
            }
            longer.push(run.finish()?);
        }
        runs = longer;
    }
    Ok(runs)
}

impl Run {
    /// Writes sorted rows into the folder `scratch`, as the run with that number.
    pub(super) fn write<'a>(
        scratch: &Path,
        number: usize,
        rows: impl Iterator<Item = (Origin, &'a [u8])>,
    ) -> Result<Self> {
        let mut run = RunWriter::create(scratch, 0, number)?;
        for (origin, row) in rows {
            run.add(origin, row)?;
        }
        run.finish()
    }
}

/// A run that is being written.
struct RunWriter {
    run: Run,
    file: BufWriter<File>,
}

impl RunWriter {
    fn create(scratch: &Path, round: usize, number: usize) -> Result<Self> {
        fs::create_dir_all(scratch).map_err(Error::file(&scratch.display()))?;
        let path = scratch.join(format!("run-{round}-{number:06}"));
        let file = File::create_new(&path).map_err(Error::file(&path.display()))?;
        Ok(Self { run: Run { path }, file: BufWriter::with_capacity(BUFFER_BYTES, file) })
    }

    fn add(&mut self, origin: Origin, row: &[u8]) -> Result<()> {
        let mut write = || {
            let length = u32::try_from(row.len()).map_err(io::Error::other)?;
            for number in [origin.input, origin.line, length] {
                self.file.write_all(&number.to_le_bytes())?;
            }
            self.file.write_all(row)
        };
        write().map_err(Error::file(&self.run.path.display()))
    }

    fn finish(mut self) -> Result<Run> {
        self.file.flush().map_err(Error::file(&self.run.path.display()))?;
        Ok(self.run)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            // The file is removed later, with the unfinished generation that contains its folder.
            tracing::debug!(%error, path = %self.path.display(), "a temporary file of the sorting was not removed");
        }
    }
}

impl<'a> RunMerge<'a> {
    pub(super) fn open(runs: &'a [Run]) -> Result<Self> {
        let mut merge = Self { readers: Vec::new(), heads: BinaryHeap::new(), handed_out: None };
        for (number, run) in runs.iter().enumerate() {
            let file = File::open(&run.path).map_err(Error::file(&run.path.display()))?;
            let file = BufReader::with_capacity(BUFFER_BYTES, file);
            let origin = Origin::default();
            merge.readers.push(RunReader { run, file, origin, row: Vec::new() });
            merge.advance(number)?;
        }
        Ok(merge)
    }

    /// The next row: its origin and its bytes.
    pub(super) fn next(&mut self) -> Result<Option<(Origin, &[u8])>> {
        if let Some(number) = self.handed_out.take() {
            self.advance(number)?;
        }
        let Some(Reverse((_, number))) = self.heads.pop() else { return Ok(None) };
        self.handed_out = Some(number);
        let reader = &self.readers[number];
        Ok(Some((reader.origin, &reader.row)))
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
    /// Reads the next row. Returns `false` at the end.
    fn read(&mut self) -> io::Result<bool> {
        loop {
            match self.file.fill_buf() {
                Ok([]) => return Ok(false),
                Ok(_) => break,
                // A signal interrupted the call.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let mut number = || {
            let mut bytes = [0; 4];
            self.file.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
        };
        self.origin = Origin { input: number()?, line: number()? };
        let length = number()?;
        self.row.resize(length as usize, 0);
        self.file.read_exact(&mut self.row)?;
        Ok(true)
    }
}
