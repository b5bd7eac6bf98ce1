//! The tantivy segment of a part: its schema, its documents and its fast fields. The only
//! folder that spells a field name.

pub(crate) mod columns;
pub(crate) mod document;
pub(crate) mod schema;
pub(crate) mod tokenizer;

use std::path::Path;

use tantivy::{Index, SegmentReader};

use crate::error::{Error, Result};
use crate::part::segment::schema::Fields;

/// The segment's folder in a part's.
pub(crate) const SEGMENT: &str = "segment";

/// Opens the segment by itself: an `IndexReader` would want to write a lock file, and a
/// published generation may lie on a read-only disk.
pub(crate) fn open_segment(path: &Path) -> Result<(SegmentReader, Fields)> {
    let folder = path.join(SEGMENT);
    let index = Index::open_in_dir(&folder).map_err(Error::segment(&folder))?;
    let segments = index.searchable_segments().map_err(Error::segment(&folder))?;
    let [segment] = segments.as_slice() else {
        return Err(Error::damaged(path, format!("it has {} segments", segments.len())));
    };
    let segment = SegmentReader::open(segment).map_err(Error::segment(&folder))?;
    let (schema, fields) = schema::schema();
    if *segment.schema() != schema {
        return Err(Error::damaged(path, "the segment has another schema"));
    }
    Ok((segment, fields))
}
