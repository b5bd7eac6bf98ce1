//! Builds an index from dumps and publishes it; the library of `figdex-ingest`.
//!
//! `source` opens and unpacks a dump and reads its records. `format` describes which values of a
//! record feed which columns (the columns files are in `formats/`), and turns each record into a
//! row. `row` turns each row into an instrument, or rejects it with a reason. `build` merges the
//! instruments of one FIGI (`build/merge`), fills blank fields from other dumps (`build/enrich`),
//! derives identifiers (`build/derive.rs`), and has `figdex-index` write and publish the index.
//! `report` accounts for every row.
//!
//! `inspect` shows what an index contains and exports it as a dump. `instruments` reads a dump
//! without building an index. `preview` is the dry run of a build over a dump, and `reference`
//! lists the formats and the columns. `sample` builds the bundled sample.
//! `flags` is the command line, and `waiting` reads files that may make a command wait.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod build;
mod error;
pub mod flags;
mod format;
pub mod inspect;
mod instruments;
pub mod preview;
pub mod reference;
mod report;
mod row;
pub mod sample;
mod source;
pub mod table;
mod waiting;

pub use crate::build::{
    Build, History, MEMORY_BYTES, MEMORY_BYTES_MIN, MEND_DAYS, MaxRejects, Progress,
};
pub use crate::error::{Error, Result};
pub use crate::format::Format;
pub use crate::instruments::{DumpRow, Instruments};
pub use crate::report::comparison::{ChangedColumn, Comparison, GuardLimits, LostColumn, Share};
pub use crate::report::conflicts::{Conflict, InputValue, Sample};
pub use crate::report::less_filled::LessFilled;
pub use crate::report::past::KeptPast;
pub use crate::report::wrong_answers::WrongAnswers;
pub use crate::report::{
    ChangesReport, Counts, EnrichCounts, EnrichReport, InputReport, Outcome, Published, Report,
    RowPlace, Tally,
};
pub use crate::row::Column;
pub use crate::source::{Input, RECORD_BYTES_MAX};
