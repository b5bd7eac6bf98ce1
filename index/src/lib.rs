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

mod build;
mod catalogue;
mod error;
mod generation;
mod hex;
mod instrument;
mod mapped;
mod meter;
mod part;
mod printable;
mod query;
mod search;
mod suggest;
mod words;

pub use crate::build::{BuildOptions, Builder};
pub use crate::catalogue::Catalogue;
pub use crate::catalogue::cache::Uses;
pub use crate::catalogue::family::{Branch, FAMILY_ROWS_MAX, Family};
pub use crate::catalogue::inventory::Inventory;
pub use crate::catalogue::lookup::Located;
pub use crate::error::{Error, Result, chain};
pub use crate::generation::folder::{BuildLock, Publication, generations};
pub use crate::generation::manifest::{FileEntry, Manifest, PartEntry, Source};
pub use crate::generation::rollback;
pub use crate::hex::{hex, unhex};
pub use crate::instrument::date::{Date, DateError};
pub use crate::instrument::figi::{FIGI_CHARS, Figi, FigiError};
pub use crate::instrument::id_type::{FormError, ID_VALUE_BYTES_MAX, IdType, IdValue};
pub use crate::instrument::vocabulary::{Known, Property, Vocabulary};
pub use crate::instrument::{Change, EQUITY, Instrument};
pub use crate::meter::{INLINE_UNITS_MAX, Meter, Stop, TakesMore};
pub use crate::part::rows::{Row, Text};
pub use crate::printable::{Escaped, escaped, escaped_lines, escaped_path, is_hidden, is_plain};
pub use crate::query::interval::{DateInterval, IntervalError, NumberInterval};
pub use crate::query::{
    Filters, Keywords, KnownValues, Lookup, OneOf, Place, QUERY_BYTES_MAX, QueryTooLong, Search,
};
pub use crate::search::{Hit, Page, TooManyHits};
pub use crate::suggest::{Matched, Suggest, Suggestion};
pub use instrument::check_digit;
