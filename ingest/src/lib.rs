//! Dumps in, a published index out.
//!
//! A dump is opened and unpacked (`source`), read row by row (`row`) as its format
//! describes it (`format`, and the columns files in `formats/`), each row
//! becomes an instrument or is rejected with a reason (`normalize`), rows of one
//! FIGI become one (`merge`), other dumps fill what is blank in it (`enrich`), what
//! follows from the rest is added (`derive`), and `figdex-index` writes and publishes
//! it (`build`), if the disk has room (`space`). The report says what became of every
//! row. The other way round, `inspect` tells what is in an index, `explain` how it
//! would answer, and `export` makes a dump of it. `instruments` reads a dump and builds
//! nothing. What the command may be told is in `flags`, which files it may write in `outputs`,
//! and what people read of it goes through `terminal`.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod build;
mod error;
pub mod explain;
pub mod files;
pub mod flags;
mod format;
pub mod generate;
pub mod inspect;
mod instruments;
mod layout;
mod report;
mod row;
pub mod sample;
mod source;
pub mod terminal;

pub use crate::build::{Build, MEMORY_BYTES, MEMORY_BYTES_MIN, MaxRejects, Progress};
pub use crate::error::{Error, Result};
pub use crate::format::Format;
pub use crate::instruments::{DumpRow, Instruments};
pub use crate::layout::Layout;
pub use crate::report::conflicts::{Conflict, InputValue, Sample};
pub use crate::report::{
    Counts, EnrichCounts, EnrichReport, InputReport, Published, Report, RowPlace, Tally, grouped,
};
pub use crate::row::Column;
pub use crate::source::{Input, RECORD_BYTES_MAX};
