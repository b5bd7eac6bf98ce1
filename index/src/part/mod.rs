//! A part of a generation: one range of FIGIs, as a tantivy segment and its companions.
//!
//! The segment and the companions are in FIGI order, so a DocId is the place of an instrument in
//! all of them (engine 1). Each companion has a writer for the build and a reader. Most have a
//! `verify` for faults that a checksum does not show.
//!
//! Imports: `mod → beginnings → {extras, other_names, ranks} → {rows, identifiers, bitmaps, numbers,
//! segment}`, and `file_writer` serves all.

pub(crate) mod beginnings;
pub(crate) mod bitmaps;
pub(crate) mod extras;
pub(crate) mod file_writer;
pub(crate) mod hashed;
pub(crate) mod identifiers;
pub(crate) mod numbers;
pub(crate) mod other_names;
pub(crate) mod ranks;
pub(crate) mod rows;
pub(crate) mod segment;

use std::path::Path;
use std::sync::Arc;

use tantivy::{InvertedIndexReader, SegmentReader};

use self::beginnings::Beginnings;
use self::bitmaps::Bitmaps;
use self::extras::Extras;
use self::identifiers::Identifiers;
use self::identifiers::lengths::Lengths;
use self::numbers::Numbers;
use self::other_names::OtherNames;
use self::ranks::Ranks;
use self::rows::{Row, Rows};
use self::segment::columns::{Columns, CountedColumns, ValueColumn};
use self::segment::dictionary::Dictionary;
use self::segment::open_segment;
use self::segment::postings::RarePostings;
use self::segment::schema::Fields;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::{Property, Vocabulary};

/// A part of a generation, open for reading.
pub(crate) struct Part {
    pub(crate) rows: Rows,
    pub(crate) identifiers: Identifiers,
    pub(crate) lengths: Lengths,
    pub(crate) bitmaps: Bitmaps,
    pub(crate) numbers: Numbers,
    pub(crate) ranks: Ranks,
    pub(crate) beginnings: Beginnings,
    /// The column of market segments, for answers about one instrument; `None` when no row has one.
    pub(crate) mic_codes: Option<ValueColumn>,
    pub(crate) counted: CountedColumns,
    pub(crate) segment: SegmentReader,
    /// The words of the segment, with their rows.
    pub(crate) words: Arc<InvertedIndexReader>,
    /// The words of the segment as a tree of letters.
    pub(crate) dictionary: Dictionary,
    /// The rows of the segment's rare words.
    pub(crate) rare_postings: RarePostings,
    /// The words that only suggestions read, those of other names.
    pub(crate) name_words: NameWords,
    pub(crate) names: OtherNames,
    pub(crate) fields: Fields,
    pub(crate) extras: Extras,
}

/// The words of other names, with their rows.
pub(crate) struct NameWords {
    pub(crate) words: Arc<InvertedIndexReader>,
    pub(crate) dictionary: Dictionary,
    pub(crate) rare_postings: RarePostings,
}

impl NameWords {
    fn open(segment: &SegmentReader, fields: &Fields, path: &Path) -> Result<Self> {
        Ok(Self {
            words: segment.inverted_index(fields.names)?,
            dictionary: Dictionary::open(segment, fields.names, path)?,
            rare_postings: RarePostings::open(segment, fields.names, path)?,
        })
    }

    /// Whether no row has other names.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.terms().num_terms() == 0
    }
}

impl Part {
    /// Opens the part in the folder `path`. The caller has compared its files with the manifest.
    /// `instruments` is the number in the manifest, and `has_sets` whether the identifiers have
    /// separate files (`extras`).
    ///
    /// # Errors
    /// When a file cannot be opened, or opening it shows that it is damaged.
    pub(crate) fn open(
        path: &Path,
        (instruments, has_sets): (u32, bool),
        hash_seed: u64,
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        let (segment, fields) = open_segment(path)?;
        let rows = Rows::open(path)?;
        if rows.len() != segment.max_doc() as usize || rows.len() != instruments as usize {
            return Err(Error::damaged(
                path,
                "rows, segment and manifest have different numbers of instruments",
            ));
        }
        let extras = Extras::open(path, rows.len(), has_sets)?;
        Ok(Self {
            bitmaps: Bitmaps::open(path, vocabulary)?,
            numbers: Numbers::open(path, rows.len())?,
            ranks: Ranks::open(path, rows.len())?,
            beginnings: Beginnings::open(path)?,
            mic_codes: ValueColumn::open(&segment, Property::MicCode, vocabulary, path)?,
            counted: CountedColumns::default(),
            identifiers: Identifiers::open(path, hash_seed)?,
            lengths: Lengths::open(path)?,
            words: segment.inverted_index(fields.words)?,
            dictionary: Dictionary::open(&segment, fields.words, path)?,
            rare_postings: RarePostings::open(&segment, fields.words, path)?,
            name_words: NameWords::open(&segment, &fields, path)?,
            names: OtherNames::open(path)?,
            rows,
            segment,
            fields,
            extras,
        })
    }

    /// Checks that rows and segment have the same FIGIs, and checks each companion by itself,
    /// except the extras and the lengths of keys.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub(crate) fn verify(&self, path: &Path, vocabulary: &Vocabulary) -> Result<()> {
        self.rows.verify(path)?;
        let columns = Columns::open(&self.segment, vocabulary, path)?;
        let count = self.rows.len() as u32;
        for doc in 0..count {
            if columns.figi(doc) != Some(self.rows.figi(doc)) {
                let what = format!("the segment has another instrument at DocId {doc}");
                return Err(Error::damaged(path, what));
            }
        }
        self.bitmaps.verify(path, count)?;
        self.numbers.verify(path)?;
        self.dictionary.verify(&self.words, path)?;
        self.name_words.dictionary.verify(&self.name_words.words, path)?;
        self.names.verify(path, count)?;
        self.ranks.verify(path, &self.words, &self.rare_postings)?;
        self.beginnings.verify(path, &self.ranks)?;
        self.identifiers.verify(path, count)
    }

    /// The instrument of a DocId, as it was added to the index. Only its importance may be shortened.
    ///
    /// # Errors
    /// [`Error::Damaged`] when its extras cannot be decoded, or are those of another instrument.
    pub(crate) fn instrument(&self, path: &Path, doc: u32) -> Result<Instrument> {
        let row = self.rows.get(doc);
        let mut instrument = self.extras.get(path, doc, row)?;
        instrument.complete(&row);
        instrument.importance = self.ranks.importance(doc);
        Ok(instrument)
    }

    /// Calls `each` with the DocId and all fields of every instrument, in FIGI order.
    ///
    /// # Errors
    /// The first error of `each`, and [`Error::Damaged`] when extras and rows disagree.
    pub(crate) fn for_each<E: From<Error>>(
        &self,
        path: &Path,
        mut each: impl FnMut(u32, Instrument) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_apart(
            path,
            |_| true,
            |doc, row, mut instrument| {
                instrument.complete(&row);
                each(doc, instrument)
            },
        )
    }

    /// As [`Self::for_each`], but passes the row and an instrument that holds only the extras, the
    /// importance and the identifiers of the wanted idTypes. So no text of the row is copied.
    pub(crate) fn for_each_apart<E: From<Error>>(
        &self,
        path: &Path,
        wants: impl Fn(IdType) -> bool,
        mut each: impl FnMut(u32, Row<'_>, Instrument) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut doc = 0;
        self.rows.read_in_order();
        self.extras.for_each(path, |mut instrument| {
            if doc as usize >= self.rows.len() || self.rows.figi(doc) != instrument.figi {
                let what = format!("extras: {} is not the FIGI of its row", instrument.figi);
                return Err(Error::damaged(path, what).into());
            }
            let row = self.rows.get(doc);
            self.extras.add_identifiers(path, doc, row, &wants, &mut instrument)?;
            instrument.importance = self.ranks.importance(doc);
            doc += 1;
            each(doc - 1, row, instrument)
        })?;
        if doc as usize != self.rows.len() {
            return Err(Error::damaged(path, "extras: fewer instruments than rows").into());
        }
        Ok(())
    }
}
