//! The index: the type of an instrument, the questions about it, and the engine that answers
//! them. It knows neither HTTP nor the formats of dumps.
//!
//! A dump of instruments becomes a **generation**, an immutable folder of **parts**. A part is
//! a range of FIGIs: a tantivy segment, which holds the words, and seven **companions** in our
//! own formats. A document's DocId is its place in its part, and DocId order is FIGI order in
//! all of them (engine 1).
//!
//! | companion | gives | used for |
//! |---|---|---|
//! | `part/rows` | the result fields of a DocId; the DocId of a FIGI | every answer |
//! | `part/identifiers` | the DocIds of an idType and idValue | mapping, searches for a number |
//! | `part/bitmaps` | the DocIds that have a value of a property | filters, totals |
//! | `part/numbers` | the number or day of a DocId | intervals |
//! | `part/ranks` | the DocIds in the order of a search | searches |
//! | `part/beginnings` | the best rows of each short beginning | suggestions |
//! | `part/extras` | identifiers, aliases and dates as they were given | export, one instrument, lists with identifiers |
//!
//! The segment also has a fast field for every property, number and day. Filters do not read them;
//! `verify` compares the companions with them.
//!
//! A [`Builder`] writes a generation and publishes it by one rename; a [`Catalogue`] opens it
//! and answers. Questions are types ([`Lookup`], [`Search`], [`Filters`]) that cannot be
//! invalid: texts become [`IdValue`], [`Known`], [`NumberInterval`], [`DateInterval`] or an
//! error.
//!
//! # Folders
//!
//! Each folder imports only folders below it:
//!
//! ```text
//! document/     instruments as documents of another engine, and questions about these
//! catalogue/    one open generation: every question goes through it
//! suggest/      guesses what a person means who is still typing
//! reading/      the words of a typed question, and what narrows it; looks nothing up
//! resolve/      from a text of a list to the one row that is meant; looks nothing up
//! search/       carries out a search or a filter over one part
//! build/        instruments in, a published generation out
//! generation/   files on disk: the index folder, the manifest, the parts
//! part/         one range of FIGIs: the segment and its companions
//! query/        the types of the questions
//! instrument/   the type of an instrument and of its fields
//! words/        cutting texts into folded words
//!
//! lib → document → catalogue → {suggest → reading → resolve → search, generation} → part → query → instrument → words
//! lib → build → generation → part
//! ```
//!
//! `error`, `mapped` and `meter` serve all of them.
//!
//! ```
//! use figdex_index::{
//!     BuildOptions, Builder, Catalogue, Figi, Filters, IdType, Instrument, Lookup, RowSource as _,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let index = folder.path();
//! let isin = IdType::Isin.admit("US4592001014")?;
//! let mut builder = Builder::create(index, BuildOptions::default())?;
//! builder.add(Instrument {
//!     ticker: Some("IBM".into()),
//!     identifiers: vec![isin.clone()],
//!     ..Instrument::new(Figi::parse("BBG000BLNNH6")?)
//! })?;
//! builder.publish(Vec::new())?;
//!
//! let catalogue = Catalogue::open(index)?;
//! let question = Lookup::new(isin, Filters::default());
//! let hits = catalogue.lookup(&question, 15_000)?;
//! assert_eq!(catalogue.row(hits[0]).ticker().unwrap().to_string(), "IBM");
//! # Ok(())
//! # }
//! ```

mod build;
mod catalogue;
mod document;
mod error;
mod generation;
mod instrument;
mod mapped;
mod meter;
mod part;
mod query;
mod reading;
mod resolve;
mod search;
mod suggest;
mod words;

pub use crate::build::filled::Filled;
pub use crate::build::parquet::ParquetWriter;
pub use crate::build::past::{PastOptions, PastReport, exported_past};
pub use crate::build::published_past::PublishedPast;
pub use crate::build::{BuildOptions, Builder, Built};
pub use crate::catalogue::Catalogue;
pub use crate::catalogue::cache::Uses;
pub use crate::catalogue::facets::{FacetCounts, FacetQuestion, Facets};
pub use crate::catalogue::family::{Branch, FAMILY_ROWS_MAX, Family};
pub use crate::catalogue::inventory::Inventory;
pub use crate::catalogue::lookup::Located;
pub use crate::catalogue::past::{FORMERLY_MAX, PAST_CANDIDATES_MAX, PAST_ROWS_MAX};
pub use crate::catalogue::reading::ReadingsTried;
pub use crate::document::clauses::{Clauses, ExactRanks, WordTerms};
pub use crate::document::places::{After, Places};
pub use crate::document::resolve::{CorrectionLookups, ReadingLookups};
pub use crate::document::stored::{Fetched, Stored};
pub use crate::document::suggest::{Candidates, FoundBy, Guesses, Suggested, TypedWord};
pub use crate::document::{Document, TERM_BYTES_MAX, bounded_term, id_key};
pub use crate::error::{Error, Result, chain};
pub use crate::generation::builds::{BuildRecord, BuildResult, Differences};
pub use crate::generation::changes::{
    CHANGE_COLUMNS, ChangeFile, ChangeSummary, ChangeWriter, Changed, CountedChanges, FILES_MAX,
    Net, NetError, Walked, change_file, changes_kept,
};
pub use crate::generation::folder::{BuildLock, Publication, generations, is_index};
pub use crate::generation::id::{GenerationId, GenerationIdError};
pub use crate::generation::manifest::{
    FileEntry, MANIFEST_BYTES_MAX, Manifest, ParquetEntry, PartEntry, PastEntry, SourceEntry,
};
pub use crate::generation::names::{FileName, PARQUET, PARQUET_FILE, PartFolder};
pub use crate::generation::parquet::ParquetFile;
pub use crate::generation::past::column::PastColumn;
pub use crate::generation::past::log::{LogSummary, ObservedDays, PastLog};
pub use crate::generation::past::stated::{Retired, RetiredKind, RetiredOf};
pub use crate::generation::past::{OpenVersion, PAST, Version, VersionEnd, Versions};
pub use crate::generation::receive::{LocalFile, Receiving, files, local_files};
pub use crate::generation::rollback;
pub use crate::instrument::attribute::Attribute;
pub use crate::instrument::date::{Date, DateError};
pub use crate::instrument::exported::{
    ExportedObject, HasSeparator, LIST_SEPARATOR, csv_text, export_columns, identifier_columns,
};
pub use crate::instrument::figi::{FIGI_CHARS, Figi, FigiError};
pub use crate::instrument::id_type::{FormError, ID_VALUE_BYTES_MAX, IdType, IdValue};
pub use crate::instrument::importance::Importance;
pub use crate::instrument::level::{Level, Levels};
pub use crate::instrument::markets::{country_of_exchange, is_platform};
pub use crate::instrument::names::{
    NameKind, OTHER_NAME_BYTES_MAX, OTHER_NAMES_MAX, OtherName, unite,
};
pub use crate::instrument::value::{ColumnValue, IdentifierSet, Slot, Sort};
pub use crate::instrument::visible::Visible;
pub use crate::instrument::vocabulary::{Known, Property, Vocabularies, Vocabulary};
pub use crate::instrument::{Change, EQUITY, Instrument};
pub use crate::meter::{INLINE_UNITS_MAX, Meter, SLICE_UNITS, TakesMore, Turn};
pub use crate::part::other_names::KnownAs;
pub use crate::part::ranks::BestBy;
pub use crate::part::rows::{Field, FieldValue, Row, Text};
pub use crate::query::interval::{DateInterval, IntervalError, NumberInterval};
pub use crate::query::{
    Filters, Keywords, KnownValues, Lookup, OneOf, Place, QUERY_BYTES_MAX, QueryTooLong, Search,
    check_required,
};
pub use crate::reading::{
    Asked, Chip, Narrowing, QuestionReading, ReadingDecision, decide, readings,
};
pub use crate::resolve::column::{
    COLUMN_VALUE_UNITS, COLUMN_VALUES_MAX, Column, Recognised, type_of_heading,
};
pub use crate::resolve::correction::form_fault;
pub use crate::resolve::crosswalk::symbols::Vendor;
pub use crate::resolve::crosswalk::table::{
    SYMBOL_TABLE_BYTES_MAX, SymbolTable, SymbolTableFaults, SymbolsInUse,
};
pub use crate::resolve::crosswalk::{
    Crosswalk, CrosswalkRow, LIST_FIELDS_MAX, ListColumns, ListField, Spelling,
};
pub use crate::resolve::decide::By;
pub use crate::resolve::finding::Finding;
pub use crate::resolve::footer::{has_footer_word, is_footer_word};
pub use crate::resolve::past::{Basis, Coverage, PastRow, WasRow};
pub use crate::resolve::policy::{
    Policy, PolicyError, STEP_VALUES_MAX, STEPS_BYTES_MAX, STEPS_MAX,
};
pub use crate::resolve::question::{QUESTION_UNITS, Question};
pub use crate::resolve::recognise::{NoIdentifier, Reading, Recognition, recognise};
pub use crate::resolve::resolution::{NAME_LIKE, Resolution, ResolveBounds, Status};
pub use crate::resolve::spaced::joined;
pub use crate::resolve::trimmed::trimmed;
pub use crate::search::best::Tier;
pub use crate::search::facets::Facet;
pub use crate::search::named::NAMES_MAX;
pub use crate::search::{Hit, Page, RowSource, TooManyHits};
pub use crate::suggest::candidates::{NAME_CANDIDATES_MAX, candidates_of};
pub use crate::suggest::{
    Begun, FoundSecurity, Interpretation, LISTINGS_UNITS, MATCHED_UNITS, Matched, Misspelling,
    Suggest, Suggestion, matched, misspelling, other_securities, securities,
};
pub use instrument::check_digit;
