//! Dumps in, a published index out.
//!
//! A dump is opened and unpacked (`source`), read row by row (`row`) as its format
//! describes it (`format`, and the columns files in `formats/`), each row
//! becomes an instrument or is rejected with a reason (`normalize`), rows of one
//! FIGI become one (`merge`), what follows from the rest is added (`derive`), and
//! `figdex-index` writes and publishes it (`build`). The report says what became
//! of every row.

mod build;
mod derive;
mod error;
mod exchanges;
mod format;
pub mod generate;
mod merge;
mod normalize;
mod rejects;
mod report;
mod row;
pub mod sample;
mod source;
mod values;

pub use build::{Build, MEMORY_BYTES, MEMORY_BYTES_MIN, MaxRejects, Progress};
pub use error::{Error, Result};
pub use format::Format;
pub use report::{Counts, InputReport, Published, Report, Tally};
pub use row::Column;
pub use source::{Input, RECORD_BYTES_MAX};
