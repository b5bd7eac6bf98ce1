//! The tantivy segment of a part: schema, documents, tokenizer and fast fields. Only this
//! folder names tantivy's fields.

pub(crate) mod columns;
pub(crate) mod dictionary;
pub(crate) mod document;
pub(crate) mod postings;
pub(crate) mod schema;
pub(crate) mod tokenizer;

use std::path::Path;

use tantivy::directory::{Advice, MmapDirectory};
use tantivy::{Index, SegmentReader};

use crate::error::{Error, Result};
use crate::part::segment::schema::Fields;

/// The name of the segment's folder inside that of the part.
pub(crate) const SEGMENT: &str = "segment";

/// Opens the only segment of the part in the folder `path`, without an `IndexReader`: an
/// `IndexReader` writes a lock file, and a generation may be on a read-only disk.
///
/// # Errors
/// [`Error::Segment`] from tantivy, and [`Error::Damaged`] when there is not exactly one
/// segment or its schema is not ours.
pub(crate) fn open_segment(path: &Path) -> Result<(SegmentReader, Fields)> {
    let folder = path.join(SEGMENT);
    // Opening touches a few places of each file, and reads jump around: without this advice the
    // system fetches up to 8 MB around each place.
    let files = MmapDirectory::open_with_madvice(&folder, Advice::Random)
        .map_err(|error| Error::segment(&folder)(error.into()))?;
    let index = Index::open(files).map_err(Error::segment(&folder))?;
    let segments = index.searchable_segments().map_err(Error::segment(&folder))?;
    let [segment] = segments.as_slice() else {
        return Err(Error::damaged(
            path,
            format!("it has {} segments instead of 1", segments.len()),
        ));
    };
    let segment = SegmentReader::open(segment).map_err(Error::segment(&folder))?;
    let (schema, fields) = schema::schema();
    if *segment.schema() != schema {
        return Err(Error::damaged(path, "the segment does not have the schema of this version"));
    }
    Ok((segment, fields))
}
