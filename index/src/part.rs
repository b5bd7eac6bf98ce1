//! A part of a generation: a FIGI range as one tantivy segment with its companion
//! files, all in the same order: DocId order is FIGI order.

use std::fs;
use std::path::Path;

use tantivy::index::{IndexSettings, IndexSortByField, Order};
use tantivy::indexer::NoMergePolicy;
use tantivy::store::Compressor;
use tantivy::{Index, IndexWriter, SegmentReader, TantivyDocument};

use crate::alias::{ALIASES, Aliases, AliasesWriter};
use crate::columns::Columns;
use crate::document::document;
use crate::error::{Error, Result};
use crate::figi::Figi;
use crate::folder::sync;
use crate::identifiers::{Identifiers, IdentifiersWriter, KeyKind};
use crate::instrument::Instrument;
use crate::manifest::{FileEntry, PartEntry};
use crate::rank::RANK_END;
use crate::rows::{Rows, RowsWriter};
use crate::schema::{self, Fields};
use crate::tokenizer::{WORDS, WordTokenizer};
use crate::typed;
use crate::vocabulary::Vocabulary;

/// The segment's folder in a part's.
const SEGMENT: &str = "segment";

/// A part of a published generation, open for reading.
pub(crate) struct Part {
    pub(crate) rows: Rows,
    pub(crate) identifiers: Identifiers,
    pub(crate) columns: Columns,
    pub(crate) aliases: Aliases,
    pub(crate) segment: SegmentReader,
    pub(crate) fields: Fields,
}

impl Part {
    /// Opens a part; the caller has checked the files against the manifest.
    pub(crate) fn open(
        path: &Path,
        entry: &PartEntry,
        hash_seed: u64,
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        // The segment is opened by itself: an `IndexReader` would want to write a
        // lock file, and a published generation may lie on a read-only disk.
        let index = Index::open_in_dir(path.join(SEGMENT))?;
        let segments = index.searchable_segments()?;
        let [segment] = segments.as_slice() else {
            return Err(Error::damaged(path, format!("it has {} segments", segments.len())));
        };
        let segment = SegmentReader::open(segment)?;
        let (schema, fields) = schema::schema();
        if *segment.schema() != schema {
            return Err(Error::damaged(path, "the segment has another schema"));
        }
        let rows = Rows::open(path)?;
        if rows.len() != segment.max_doc() as usize || rows.len() != entry.instruments as usize {
            return Err(Error::damaged(path, "rows, segment and manifest count differently"));
        }
        Ok(Self {
            columns: Columns::open(&segment, vocabulary, path)?,
            identifiers: Identifiers::open(path, hash_seed)?,
            aliases: Aliases::open(path)?,
            rows,
            segment,
            fields,
        })
    }

    /// Checks that rows, segment and identifiers tell of the same instruments.
    pub(crate) fn verify(&self, path: &Path) -> Result<()> {
        if let Some(figi) = self.rows.first_out_of_order() {
            return Err(Error::damaged(path, format!("{figi} is out of order")));
        }
        let count = self.rows.len() as u32;
        for doc in 0..count {
            if self.columns.figi(doc) != Some(self.rows.figi(doc)) {
                let what = format!("the segment has another instrument at DocId {doc}");
                return Err(Error::damaged(path, what));
            }
            if self.columns.rank(doc).is_none_or(|rank| rank >= RANK_END) {
                return Err(Error::damaged(path, format!("DocId {doc} has no rank")));
            }
        }
        self.identifiers.verify(path, count)
    }
}

/// A part that is being built.
pub(crate) struct PartWriter {
    fields: Fields,
    segment: IndexWriter<TantivyDocument>,
    rows: RowsWriter,
    aliases: AliasesWriter,
    identifiers: IdentifiersWriter,
    count: u32,
    first: Option<Figi>,
    last: Option<Figi>,
}

impl PartWriter {
    /// A writer into the new folder `path`, with so many threads for the segment
    /// and so many bytes of memory for them all.
    pub(crate) fn create(
        path: &Path,
        hash_seed: u64,
        threads: usize,
        memory_bytes: usize,
    ) -> Result<Self> {
        let segment_path = path.join(SEGMENT);
        fs::create_dir_all(&segment_path).map_err(Error::io(&segment_path))?;
        let (schema, fields) = schema::schema();
        let settings = IndexSettings {
            sort_by_field: Some(IndexSortByField { field: schema::FIGI.into(), order: Order::Asc }),
            docstore_compression: Compressor::None,
            ..IndexSettings::default()
        };
        let index =
            Index::builder().schema(schema).settings(settings).create_in_dir(&segment_path)?;
        index.tokenizers().register(WORDS, WordTokenizer::default());
        let segment = index.writer_with_num_threads(threads, memory_bytes)?;
        segment.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self {
            fields,
            segment,
            rows: RowsWriter::create(path)?,
            aliases: AliasesWriter::create(path)?,
            identifiers: IdentifiersWriter::new(hash_seed),
            count: 0,
            first: None,
            last: None,
        })
    }

    /// How many instruments were added.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Adds the next instrument in FIGI order.
    pub(crate) fn add(&mut self, instrument: &Instrument, path: &Path) -> Result<()> {
        let doc = self.count;
        for (id_type, id_value) in instrument.keys() {
            self.identifiers.add(KeyKind::Id(id_type), id_value.as_str(), doc)?;
        }
        for (kind, text) in typed::keys(instrument) {
            self.identifiers.add(kind, &text, doc)?;
        }
        self.rows.add(instrument, path)?;
        self.aliases.add(doc, &instrument.alias, path)?;
        if let Err(error) = self.segment.add_document(document(&self.fields, instrument)) {
            // All that it tells is that one of its threads has ended; who waits for the
            // threads hears why, a full disk for example.
            return Err(self.segment.commit().err().unwrap_or(error).into());
        }
        self.count += 1;
        self.first = self.first.or(Some(instrument.figi));
        self.last = Some(instrument.figi);
        Ok(())
    }

    /// Writes all that is left, makes the segments one, and describes the files.
    pub(crate) fn finish(mut self, path: &Path, folder: String) -> Result<PartEntry> {
        self.segment.commit()?;
        let segments = self.segment.index().searchable_segment_ids()?;
        if segments.len() > 1 {
            self.segment.merge(&segments).wait()?;
            self.segment.garbage_collect_files().wait()?;
        }
        self.segment.wait_merging_threads()?;
        self.rows.finish(path)?;
        self.aliases.finish(path)?;
        self.identifiers.finish(path)?;
        let text =
            |figi: Option<Figi>| figi.expect("a part is begun by its first instrument").to_string();
        Ok(PartEntry {
            folder,
            instruments: self.count,
            first_figi: text(self.first),
            last_figi: text(self.last),
            files: describe(path)?,
        })
    }
}

/// The entry of every file below a part's folder, by name; each is synced.
fn describe(part: &Path) -> Result<Vec<FileEntry>> {
    // tantivy makes some files for their owner's eyes alone, but the server may run as
    // another user than the builder: all are as readable as those that we make.
    let ours = part.join(ALIASES);
    let permissions = fs::metadata(&ours).map_err(Error::io(&ours))?.permissions();
    let mut files = Vec::new();
    for (folder, prefix) in
        [(part.join(SEGMENT), format!("{SEGMENT}/")), (part.into(), String::new())]
    {
        for entry in fs::read_dir(&folder).map_err(Error::io(&folder))? {
            let entry = entry.map_err(Error::io(&folder))?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                continue;
            }
            if name.ends_with(".lock") {
                // The writer's own, of no use to a reader.
                fs::remove_file(&path).map_err(Error::io(&path))?;
                continue;
            }
            fs::set_permissions(&path, permissions.clone()).map_err(Error::io(&path))?;
            sync(&path)?;
            files.push(FileEntry::of(part, format!("{prefix}{name}"))?);
        }
        sync(&folder)?;
    }
    files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}
