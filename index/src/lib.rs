//! What an instrument is, what may be asked, and how it is found.
//!
//! The idea in ten lines. A dump of instruments becomes a **generation**: an
//! immutable folder of **parts**, each a FIGI range. A part is a tantivy segment
//! with a fast field for every filterable property, and beside it two companions
//! in the same order: the **rows**, which turn a hit into the fields of a result,
//! and the **identifier directory**, which turns (idType, idValue) into hits.
//! DocId order is FIGI order everywhere. A [`Builder`] writes a generation and
//! publishes it by one rename; a [`Catalogue`] opens it and answers questions.
//! Questions are types ([`Lookup`], [`Search`], [`Filters`]) that cannot be wrong: texts
//! become [`IdValue`], [`Known`], [`NumberInterval`], [`DateInterval`] or an error.
//! This library has never heard of HTTP or of dumps.
//!
//! ```
//! use figdex_index::{BuildOptions, Builder, Catalogue, Figi, Filters, IdType, Instrument, Lookup};
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

mod batch;
mod best;
mod bitmaps;
mod builder;
mod catalogue;
pub mod check_digit;
mod columns;
mod conditions;
mod date;
mod document;
mod error;
mod export;
mod extras;
mod family;
mod figi;
mod file_writer;
mod folder;
mod generation;
mod hex;
mod id_type;
mod identifiers;
mod instrument;
mod interval;
mod inventory;
mod json_text;
mod lengths;
mod manifest;
mod mapped;
mod markets;
mod matches;
mod meter;
mod names;
mod numbers;
mod part;
mod plan;
mod printable;
mod query;
mod rank;
mod ranked;
mod ranks;
mod record;
mod remembered;
mod row_set;
mod rows;
mod schema;
mod selection;
mod suggest;
mod template;
mod texts;
mod tokenizer;
mod totals;
mod typed;
mod uses;
mod vocabulary;
mod words;
mod worker;

pub use batch::Batch;
pub use builder::{BuildOptions, Builder};
pub use catalogue::{Catalogue, Hit, Page, TooManyHits};
pub use date::{Date, DateError};
pub use error::{Error, Result, chain};
pub use family::{Branch, FAMILY_ROWS_MAX, Family};
pub use figi::{FIGI_CHARS, Figi, FigiError};
pub use folder::{BuildLock, Publication, generations, rollback};
pub use hex::{hex, unhex};
pub use id_type::{FormError, ID_VALUE_BYTES_MAX, IdType, IdValue};
pub use instrument::{Change, EQUITY, Instrument};
pub use interval::{DateInterval, IntervalError, NumberInterval};
pub use inventory::Inventory;
pub use manifest::{FileEntry, Manifest, PartEntry, Source};
pub use meter::{INLINE_UNITS_MAX, Meter, Stop, TakesMore};
pub use printable::{Escaped, escaped, escaped_lines, escaped_path, is_hidden, is_plain};
pub use query::{
    Filters, Keywords, KnownValues, Lookup, OneOf, Place, QUERY_BYTES_MAX, QueryTooLong, Search,
};
pub use rows::{Row, Text};
pub use suggest::{Matched, Suggest, Suggestion};
pub use uses::Uses;
pub use vocabulary::{Known, Property, Vocabulary};
