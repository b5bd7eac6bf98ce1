//! The Parquet file of a new generation. Another crate knows the format and writes the file; this
//! one gives it the instruments as a reader sees them, and lists the file in the manifest.

use std::error::Error as StdError;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::catalogue::Catalogue;
use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::generation::folder::sync;
use crate::generation::manifest::{Manifest, ParquetEntry};
use crate::generation::names::{PARQUET, PARQUET_FILE};
use crate::instrument::id_type::IdType;

/// The reason why a file was not written.
type WriteFault = Box<dyn StdError + Send + Sync>;

/// Writes the file of the instruments of a catalogue to a path where nothing is yet.
type Write = Arc<dyn Fn(&Catalogue, &Path) -> std::result::Result<(), WriteFault> + Send + Sync>;

/// The writer of the Parquet file of a generation.
#[derive(Clone)]
pub struct ParquetWriter {
    identifiers: Vec<IdType>,
    write: Write,
}

impl ParquetWriter {
    /// A writer. `identifiers` are the idTypes of which the file gets columns.
    pub fn new(
        identifiers: Vec<IdType>,
        write: impl Fn(&Catalogue, &Path) -> std::result::Result<(), WriteFault> + Send + Sync + 'static,
    ) -> Self {
        Self { identifiers, write: Arc::new(write) }
    }

    /// Writes the file of a generation whose parts are complete. Returns its entry.
    pub(super) fn write_for(self, path: &Path, manifest: &Manifest) -> Result<ParquetEntry> {
        let folder = path.join(PARQUET);
        fs::create_dir(&folder).map_err(Error::io(&folder))?;
        let file = folder.join(PARQUET_FILE);
        let catalogue = Catalogue::of(Generation::of(path, manifest.clone())?);
        (self.write)(&catalogue, &file)
            .map_err(|source| Error::Parquet { path: file.clone(), source })?;
        sync(&file)?;
        sync(&folder)?;
        ParquetEntry::of(path, &self.identifiers)
    }
}

impl fmt::Debug for ParquetWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetWriter")
            .field("identifiers", &self.identifiers)
            .finish_non_exhaustive()
    }
}
