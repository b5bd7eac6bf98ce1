//! The file with the operator's table of symbols, in place of the one that is part of the program
//! (contract 21.15).

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use figdex_index::{SYMBOL_TABLE_BYTES_MAX, SymbolTable, SymbolsInUse};
use figdex_io::escaped_path;

/// A file with a table of symbols, which was read.
#[derive(Clone, Debug)]
pub struct SymbolsFile {
    /// The file.
    pub path: PathBuf,
    table: SymbolTable,
}

impl SymbolsFile {
    /// Reads the table in a file.
    ///
    /// # Errors
    /// When the file cannot be read, and all faults of the table.
    pub fn open(path: &Path) -> Result<Self, String> {
        let shown = escaped_path(path);
        let text = read(path).map_err(|error| {
            format!("{shown} cannot be read ({error}): name a file with a table of symbols")
        })?;
        let table = SymbolTable::parse(&text).map_err(|faults| format!("{shown}: {faults}"))?;
        Ok(Self { path: path.to_owned(), table })
    }

    /// Makes the table that of this process. Nothing may have asked for a vendor before.
    ///
    /// # Errors
    /// When the process already uses a table.
    pub fn put_in_force(&self) -> Result<(), SymbolsInUse> {
        self.table.clone().put_in_force()
    }

    /// Whether this process uses an equal table.
    pub(crate) fn is_in_force(&self) -> bool {
        self.table == *SymbolTable::in_force()
    }
}

/// The bytes of a file, as far as they show that it is too large.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe would be waited for, also by a server that reads its settings again.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = Vec::new();
    File::open(path)?.take(SYMBOL_TABLE_BYTES_MAX as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}
