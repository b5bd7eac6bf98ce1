//! Writing one part: the segment, and its companions in groups, each group on a separate thread.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::index::{IndexSettings, IndexSortByField, Order};
use tantivy::indexer::{NoMergePolicy, UserOperation};
use tantivy::store::Compressor;
use tantivy::{Index, IndexWriter, TantivyDocument};

use crate::build::BuildOptions;
use crate::build::worker::Worker;
use crate::error::{Error, Result};
use crate::generation::folder::sync;
use crate::generation::manifest::{FileEntry, PartEntry};
use crate::generation::names::{FileName, PartFolder};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::markets::Countries;
use crate::part::bitmaps::BitmapsWriter;
use crate::part::extras::ExtrasWriter;
use crate::part::identifiers::keys;
use crate::part::identifiers::lengths::Lengths;
use crate::part::identifiers::{IdentifiersWriter, KeyKind};
use crate::part::numbers::NumbersWriter;
use crate::part::other_names::OtherNamesWriter;
use crate::part::ranks::{FactsWriter, Securities};
use crate::part::rows::RowsWriter;
use crate::part::segment::document::document;
use crate::part::segment::schema::Fields;
use crate::part::segment::tokenizer::{WORDS, WordTokenizer};
use crate::part::segment::{SEGMENT, open_segment, schema};
use crate::part::{beginnings, ranks};

/// The writer of a part. Each group of companions has a thread and gets every instrument.
pub(crate) struct PartWriter {
    path: PathBuf,
    fields: Fields,
    segment: IndexWriter<TantivyDocument>,
    rows: Worker<RowsWriter>,
    identifiers: Worker<(IdentifiersWriter, Lengths, u32)>,
    extras: Worker<(ExtrasWriter, OtherNamesWriter)>,
    filters: Worker<(BitmapsWriter, NumbersWriter, FactsWriter)>,
    unsent: Vec<Instrument>,
    count: u32,
    first: Option<Figi>,
    last: Option<Figi>,
}

/// The number of instruments that are sent to the threads together.
const SEND_INSTRUMENTS: usize = 512;

impl PartWriter {
    /// Creates the folder `path` and the files of a part in it.
    ///
    /// # Errors
    /// When a file cannot be created, or tantivy refuses the options.
    pub(crate) fn create(path: &Path, options: &BuildOptions) -> Result<Self> {
        let segment_path = path.join(SEGMENT);
        fs::create_dir_all(&segment_path).map_err(Error::io(&segment_path))?;
        let (schema, fields) = schema::schema();
        let settings = IndexSettings {
            sort_by_field: Some(IndexSortByField { field: schema::FIGI.into(), order: Order::Asc }),
            // Documents are empty. The store keeps only the offset of each; LZ4 would save a fifth
            // of that at most.
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        let builder = Index::builder().schema(schema).settings(settings);
        let index = builder.create_in_dir(&segment_path).map_err(Error::segment(&segment_path))?;
        index.tokenizers().register(WORDS, WordTokenizer::default());
        let segment = index
            .writer_with_num_threads(options.threads, options.segment_memory_bytes)
            .map_err(Error::segment(&segment_path))?;
        segment.set_merge_policy(Box::new(NoMergePolicy));
        let rows = Worker::start(RowsWriter::create(path)?, RowsWriter::add);
        let identifiers = (IdentifiersWriter::new(path, options.hash_seed), Lengths::default(), 0);
        let identifiers = Worker::start(identifiers, |(identifiers, lengths, doc), instrument| {
            for id_value in instrument.keys() {
                let kind = KeyKind::Id(id_value.id_type());
                lengths.add(kind, id_value.as_str());
                identifiers.add(kind, id_value.as_str(), *doc)?;
            }
            for (kind, text) in keys::keys(instrument) {
                lengths.add(kind, &text);
                identifiers.add(kind, &text, *doc)?;
            }
            *doc += 1;
            Ok(())
        });
        let part = path.to_owned();
        let extras = (ExtrasWriter::create(path)?, OtherNamesWriter::default());
        let extras = Worker::start(extras, move |(extras, names), instrument| {
            names.add(instrument)?;
            extras.add(instrument, &part)
        });
        let filters = (
            BitmapsWriter::create(path)?,
            NumbersWriter::create(path)?,
            FactsWriter::create(path)?,
        );
        let filters = Worker::start(filters, |(bitmaps, numbers, facts), instrument| {
            bitmaps.add(instrument)?;
            numbers.add(instrument)?;
            facts.add(instrument)
        });
        Ok(Self {
            path: path.to_owned(),
            fields,
            segment,
            rows,
            identifiers,
            extras,
            filters,
            unsent: Vec::with_capacity(SEND_INSTRUMENTS),
            count: 0,
            first: None,
            last: None,
        })
    }

    /// The number of instruments that were added.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Adds the next instrument in FIGI order. Returns `false` when the thread of a companion has
    /// failed: then [`PartWriter::finish`] returns the error of that thread.
    ///
    /// # Errors
    /// When a thread of the segment has failed.
    pub(crate) fn add(&mut self, instrument: Instrument) -> Result<bool> {
        self.count += 1;
        self.first = self.first.or(Some(instrument.figi));
        self.last = Some(instrument.figi);
        self.unsent.push(instrument);
        if self.unsent.len() == SEND_INSTRUMENTS { self.send() } else { Ok(true) }
    }

    /// Writes the rest of the part, and merges its segments into one. Ranks, beginnings and the
    /// list of files follow when all parts are written: see [`complete`].
    ///
    /// # Errors
    /// The error of a thread that has failed, or of finishing a file of the part.
    pub(crate) fn finish(mut self, folder: PartFolder) -> Result<PartEntry> {
        self.send()?;
        let Self { path, mut segment, rows, identifiers, extras, filters, .. } = self;
        // The companions finish while the segment is being written.
        let companions = {
            let path = path.clone();
            std::thread::spawn(move || {
                rows.finish()?.finish(&path)?;
                let (extras, names) = extras.finish()?;
                extras.finish(&path)?;
                names.finish(&path)?;
                let (bitmaps, numbers, facts) = filters.finish()?;
                bitmaps.finish()?;
                numbers.finish()?;
                facts.finish()?;
                let (identifiers, lengths, _) = identifiers.finish()?;
                lengths.write(&path)?;
                identifiers.finish()
            })
        };
        let finish_segment = || {
            segment.commit()?;
            let segments = segment.index().searchable_segment_ids()?;
            if segments.len() > 1 {
                segment.merge(&segments).wait()?;
                segment.garbage_collect_files().wait()?;
            }
            segment.wait_merging_threads()
        };
        let finished = finish_segment().map_err(Error::segment(&path.join(SEGMENT)));
        // Joined even after an error, so that no thread writes into a folder that is removed.
        match companions.join() {
            Ok(written) => written?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        finished?;
        let text =
            |figi: Option<Figi>| figi.expect("a part is begun by its first instrument").to_string();
        Ok(PartEntry {
            folder,
            instruments: self.count,
            first_figi: text(self.first),
            last_figi: text(self.last),
            files: Vec::new(),
        })
    }

    fn send(&mut self) -> Result<bool> {
        let next = Vec::with_capacity(SEND_INSTRUMENTS);
        let instruments = std::mem::replace(&mut self.unsent, next);
        let documents = instruments.iter().map(|instrument| document(&self.fields, instrument));
        if let Err(error) = self.segment.run(documents.map(UserOperation::Add)) {
            // This error only says that a thread has ended. `commit` waits for the threads and
            // returns the real error, such as a full disk.
            let error = self.segment.commit().err().unwrap_or(error);
            return Err(Error::segment(&self.path.join(SEGMENT))(error));
        }
        let instruments = Arc::new(instruments);
        Ok(self.rows.send(instruments.clone())
            & self.identifiers.send(instruments.clone())
            & self.filters.send(instruments.clone())
            & self.extras.send(instruments))
    }
}

/// Ranks the rows of all parts, writes the beginnings, and fills in the files of each entry. If
/// there are too many different importances, they are shortened: then this returns the number of
/// significant bits that each keeps.
pub(crate) fn complete(
    generation: &Path,
    parts: &mut [PartEntry],
    countries: Countries,
) -> Result<Option<u32>> {
    let paths: Vec<PathBuf> = parts.iter().map(|part| part.path(generation)).collect();
    let securities = Securities::of_parts(countries, &paths)?;
    for (path, entry) in paths.iter().zip(parts) {
        let (segment, fields) = open_segment(path)?;
        ranks::write(path, &securities, &segment, fields.words)?;
        beginnings::write(path)?;
        entry.files = describe(path)?;
    }
    Ok(securities.importance_bits())
}

/// The entry of every file in a part's folder, sorted by name. Syncs each file. Removes tantivy's
/// lock files, which get no entry.
pub(super) fn describe(part: &Path) -> Result<Vec<FileEntry>> {
    // tantivy makes some files readable by their owner only, but the server may run as a different
    // user than the builder. So all get the permissions of our own files.
    let ours = part.join(crate::part::rows::FIGIS);
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
                // Lock files of tantivy's writer, which readers do not need.
                fs::remove_file(&path).map_err(Error::io(&path))?;
                continue;
            }
            fs::set_permissions(&path, permissions.clone()).map_err(Error::io(&path))?;
            sync(&path)?;
            let name = FileName::try_from(format!("{prefix}{name}"));
            files.push(FileEntry::of(part, name.map_err(|what| Error::damaged(&path, what))?)?);
        }
        sync(&folder)?;
    }
    files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}
