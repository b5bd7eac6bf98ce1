//! Writes the differences between two generations of any two indexes: the columns of a change data
//! feed, and those of an export.

use std::io::Write;
use std::path::Path;

use figdex_index::{CHANGE_COLUMNS, Catalogue, Changed, CountedChanges, Error as IndexError};
use figdex_io::RowLayout;
use serde_json::Value;

use super::export::{Dump, ExportError};
use super::parquet::{self, IdentifierColumns, ParquetKind};

/// Opens the published generation of an index, or a generation by its own folder.
///
/// # Errors
/// When it cannot be opened.
pub fn open(path: &Path) -> figdex_index::Result<Catalogue> {
    match Catalogue::open(path) {
        Err(IndexError::NotAnIndex(_)) if path.join("manifest.toml").exists() => {
            Catalogue::open_unpublished(path)
        }
        opened => opened,
    }
}

/// Writes every instrument that differs, in FIGI order, as it was and as it is. Returns their
/// numbers. Both generations are read once, whatever their size, and little of them is in memory.
///
/// # Errors
/// [`ExportError`], when an index cannot be read, `out` fails, or a value does not fit the layout.
pub fn write(
    before: &Catalogue,
    after: &Catalogue,
    layout: RowLayout,
    out: &mut dyn Write,
) -> Result<CountedChanges, ExportError> {
    let kinds = [ParquetKind::Text, ParquetKind::Whole, ParquetKind::Text, ParquetKind::Flag];
    let mut columns = [("", ParquetKind::Text); CHANGE_COLUMNS.len()];
    for (column, named) in columns.iter_mut().zip(CHANGE_COLUMNS.into_iter().zip(kinds)) {
        *column = named;
    }
    let facts = parquet::facts(after.manifest(), &IdentifierColumns::all());
    let mut dump = Dump::begin(layout, &columns, facts, out)?;
    let mut counts = CountedChanges::default();
    let manifest = after.manifest();
    after.differences(before, |changed: Changed| {
        counts.add(&changed);
        let is_cosmetic = changed.is_cosmetic();
        for (kind, image) in changed.images() {
            let values: [Value; 4] = [
                kind.into(),
                manifest.generation.into(),
                manifest.available_at().into(),
                is_cosmetic.into(),
            ];
            let lead: Vec<_> = CHANGE_COLUMNS.into_iter().zip(values).collect();
            dump.add_after(&lead, image)?;
        }
        Ok::<_, ExportError>(())
    })?;
    dump.end()?;
    Ok(counts)
}
