//! The writer of Parquet files in a program that was built without them. It cannot be made.

use std::convert::Infallible;
use std::io::{self, Write};

use super::{ParquetCell, ParquetColumn, ParquetOptions};
use crate::source::NO_PARQUET;

/// The rows of a Parquet file, which this program cannot write.
#[derive(Debug)]
pub struct AbsentRows(Infallible);

impl AbsentRows {
    /// Refuses to begin a file.
    ///
    /// # Errors
    /// Always, with the advice how to build a program that writes such files.
    pub fn begin(_columns: Vec<ParquetColumn>, _options: ParquetOptions) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, NO_PARQUET))
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn add<'a>(
        &mut self,
        _cells: impl IntoIterator<Item = ParquetCell<'a>>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        match self.0 {}
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn end(self, _out: &mut dyn Write) -> io::Result<()> {
        match self.0 {}
    }
}
