//! The fast fields of a part. Filters do not read them: `bitmaps` and `numbers` hold the same
//! values in a faster form (engine 12). `verify` compares both forms, to find errors of our own
//! formats. Opening a part opens only one column (`Part::mic_codes`), so that not all columns are
//! fetched from the disk (engine 10). [`CountedColumns`] opens the column of a property when the
//! values of a few rows are counted.

use std::path::Path;
use std::sync::OnceLock;

use tantivy::SegmentReader;
use tantivy::columnar::{Column, StrColumn};

use super::schema;
use crate::error::{Error, Result};
use crate::instrument::attribute::Attribute;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::{Known, Property, Vocabulary};

/// The fast fields of one part. `None` for a field that no document has.
pub(crate) struct Columns {
    figi: Option<Column<u64>>,
    properties: [Option<ValueColumn>; Property::COUNT],
    numbers: [Option<Column<f64>>; Attribute::NUMBERS.len()],
    dates: [Option<Column<i64>>; Attribute::DATES.len()],
    unlisted_equity: Option<Column<bool>>,
}

/// The column of an enum-like property: a term ordinal for each document.
pub(crate) struct ValueColumn {
    column: Column<u64>,
    /// For each value of the vocabulary its term ordinal, if a document has the value.
    ordinals: Vec<Option<u64>>,
    /// For each term its place in the vocabulary.
    values: Vec<usize>,
}

/// The columns of enum-like properties, for counting values. Each is opened at its first use.
#[derive(Default)]
pub(crate) struct CountedColumns([OnceLock<Option<ValueColumn>>; Property::COUNT]);

/// The reusable memory of [`ValueColumn::count`]: the documents with a value, the places of their
/// values in the column, and the terms of these values.
#[derive(Default)]
pub(crate) struct Buffers {
    having: Vec<u32>,
    entries: Vec<u32>,
    terms: Vec<u64>,
}

impl CountedColumns {
    /// The column of a property; `None` when no document has a value.
    ///
    /// # Errors
    /// When a file is damaged.
    pub(crate) fn of(
        &self,
        segment: &SegmentReader,
        property: Property,
        vocabulary: &Vocabulary,
        part: &Path,
    ) -> Result<Option<&ValueColumn>> {
        let opened = &self.0[property as usize];
        if opened.get().is_none() {
            let column = ValueColumn::open(segment, property, vocabulary, part)?;
            // If another thread has opened the column in the meantime, that one stays.
            _ = opened.set(column);
        }
        Ok(opened.get().and_then(Option::as_ref))
    }
}

impl Columns {
    pub(crate) fn open(
        segment: &SegmentReader,
        vocabulary: &Vocabulary,
        part: &Path,
    ) -> Result<Self> {
        let fast = segment.fast_fields();
        let mut properties = [const { None }; Property::COUNT];
        for property in Property::ALL {
            properties[property as usize] = ValueColumn::open(segment, property, vocabulary, part)?;
        }
        let mut numbers = [const { None }; Attribute::NUMBERS.len()];
        for (column, number) in numbers.iter_mut().zip(Attribute::NUMBERS) {
            *column = fast.column_opt(number.name())?;
        }
        let mut dates = [const { None }; Attribute::DATES.len()];
        for (column, date) in dates.iter_mut().zip(Attribute::DATES) {
            *column = fast.column_opt(date.name())?;
        }
        Ok(Self {
            figi: fast.column_opt(schema::FIGI)?,
            properties,
            numbers,
            dates,
            unlisted_equity: fast.column_opt(schema::UNLISTED_EQUITY)?,
        })
    }

    /// The FIGI of a document.
    pub(crate) fn figi(&self, doc: u32) -> Option<Figi> {
        self.figi.as_ref()?.first(doc).map(Figi::from_u64)
    }

    /// The numbers that filters compare.
    pub(crate) fn numbers(&self, doc: u32) -> [Option<f64>; Attribute::NUMBERS.len()] {
        self.numbers.each_ref().map(|column| column.as_ref()?.first(doc))
    }

    /// The days that filters compare.
    pub(crate) fn dates(&self, doc: u32) -> [Option<Date>; Attribute::DATES.len()] {
        self.dates.each_ref().map(|column| Date::from_days(column.as_ref()?.first(doc)?))
    }

    /// Whether the document is an unlisted equity.
    pub(crate) fn is_unlisted_equity(&self, doc: u32) -> bool {
        self.unlisted_equity.as_ref().and_then(|column| column.first(doc)) == Some(true)
    }

    /// Whether the document's value of a property is `known`; with `None`, whether it has none.
    pub(crate) fn has(&self, property: Property, known: Option<Known>, doc: u32) -> bool {
        let Some(terms) = &self.properties[property as usize] else { return known.is_none() };
        let ordinal = known.map(|known| terms.ordinals[known.ordinal()]);
        terms.column.first(doc) == ordinal.flatten() && ordinal != Some(None)
    }
}

impl ValueColumn {
    /// The column of a property; `None` when no document has a value.
    pub(crate) fn open(
        segment: &SegmentReader,
        property: Property,
        vocabulary: &Vocabulary,
        part: &Path,
    ) -> Result<Option<Self>> {
        let column = segment.fast_fields().str(property.name())?;
        column.map(|column| Self::new(column, property, vocabulary, part)).transpose()
    }

    /// The place in the vocabulary of a document's value.
    pub(crate) fn value(&self, doc: u32) -> Option<usize> {
        self.values.get(self.column.first(doc)? as usize).copied()
    }

    /// Adds the values of documents to `counts`, which has a place for each value of the
    /// vocabulary.
    pub(crate) fn count(&self, docs: &[u32], counts: &mut [u64], buffers: &mut Buffers) {
        let Buffers { having, entries, terms } = buffers;
        having.clear();
        entries.clear();
        self.column.row_ids_for_docs(docs, having, entries);
        // Values left by the last call are overwritten.
        terms.resize(entries.len().max(terms.len()), 0);
        let terms = &mut terms[..entries.len()];
        self.column.values.get_vals(entries, terms);
        for term in terms {
            if let Some(value) = self.values.get(*term as usize) {
                counts[*value] += 1;
            }
        }
    }

    fn new(
        column: StrColumn,
        property: Property,
        vocabulary: &Vocabulary,
        part: &Path,
    ) -> Result<Self> {
        let (dictionary, column) = column.into_parts();
        let ordinal = |value: &str| dictionary.term_ord(value).map_err(Error::io(part));
        let ordinals = vocabulary.values(property).map(ordinal).collect::<Result<Vec<_>>>()?;
        let mut values = vec![usize::MAX; dictionary.num_terms()];
        let mut found = 0;
        for (value, ordinal) in ordinals.iter().enumerate() {
            if let Some(slot) = ordinal.and_then(|ordinal| values.get_mut(ordinal as usize)) {
                *slot = value;
                found += 1;
            }
        }
        if found != values.len() {
            let what = format!("the vocabulary lacks values of {}", property.name());
            return Err(Error::damaged(part, what));
        }
        Ok(Self { column, ordinals, values })
    }
}
