//! Writing the columns of a part. The distinct values are known only at the end, so ordinals are
//! first assigned in the order of appearance, written to a temporary file, and replaced at the end.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::{Width, paths, values};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::attribute::Attribute;
use crate::part::file_writer::{FileWriter, write_file};

/// Writes the columns of one part. Instruments are added in FIGI order.
pub(crate) struct NumbersWriter(Vec<ColumnWriter>);

struct ColumnWriter {
    part: PathBuf,
    name: &'static str,
    /// The temporary ordinal of each value, from 1 on.
    known: HashMap<u64, u32>,
    /// The temporary ordinals of the rows, as `u32`.
    ordinals: FileWriter,
    docs: usize,
}

impl NumbersWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        let columns = Attribute::compared().map(|one| ColumnWriter::create(part, one.name()));
        columns.collect::<Result<_>>().map(Self)
    }

    /// Adds the next row.
    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        self.0.iter_mut().zip(values(instrument)).try_for_each(|(column, value)| column.add(value))
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.into_iter().try_for_each(ColumnWriter::finish)
    }
}

impl ColumnWriter {
    fn create(part: &Path, name: &'static str) -> Result<Self> {
        let ordinals = FileWriter::create(unsorted(part, name))?;
        Ok(Self { part: part.to_owned(), name, known: HashMap::new(), ordinals, docs: 0 })
    }

    fn add(&mut self, value: Option<u64>) -> Result<()> {
        let next = self.known.len() as u32 + 1;
        let ordinal = value.map_or(0, |value| *self.known.entry(value).or_insert(next));
        self.docs += 1;
        self.ordinals.write(&ordinal.to_le_bytes())
    }

    fn finish(self) -> Result<()> {
        let Self { part, name, known, ordinals, docs } = self;
        ordinals.finish()?;
        let mut sorted: Vec<(u64, u32)> = known.into_iter().collect();
        sorted.sort_unstable();
        let mut renamed = vec![0_u32; sorted.len() + 1];
        for (ordinal, (_, unsorted)) in (1..).zip(&sorted) {
            renamed[*unsorted as usize] = ordinal;
        }
        let width = Width::of(sorted.len()).bytes();
        let [values_path, ordinals_path] = paths(&part, name);
        let values: Vec<u8> = sorted.iter().flat_map(|(value, _)| value.to_le_bytes()).collect();
        write_file(&values_path, &values)?;
        let unsorted = unsorted(&part, name);
        let mut read = BufReader::new(File::open(&unsorted).map_err(Error::io(&unsorted))?);
        let mut write = FileWriter::create(ordinals_path)?;
        let mut ordinal = [0; 4];
        for _ in 0..docs {
            if let Err(error) = read.read_exact(&mut ordinal) {
                return Err(Error::io(&unsorted)(error));
            }
            let ordinal = renamed[u32::from_le_bytes(ordinal) as usize];
            write.write(&ordinal.to_le_bytes()[..width])?;
        }
        write.finish()?;
        fs::remove_file(&unsorted).map_err(Error::io(&unsorted))
    }
}

fn unsorted(part: &Path, name: &str) -> PathBuf {
    part.join(format!("numbers.{name}.unsorted"))
}
