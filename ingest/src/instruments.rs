//! The instruments of one dump, without an index: what a build takes each row for, before
//! it merges those of one FIGI.

use figdex_index::Instrument;

use crate::error::Result;
use crate::format::Format;
use crate::row::Row;
use crate::row::normalize::{Dropped, normalize};
use crate::source::next::Next;
use crate::source::{DumpReader, Input};

/// The rows of a dump, each as what it is taken for.
///
/// ```
/// use figdex_ingest::{Input, Instruments, DumpRow};
///
/// # fn main() -> crate::Result<()> {
/// let dump = b"figi,ticker\nBBG000BLNNH6,IBM\nBBG000BLNNH5,IBN\n";
/// let rows = Instruments::open(&Input::Memory("dump", dump[..].into()), None)?;
/// let [ibm, other] = &rows.collect::<crate::Result<Vec<_>>>()?[..] else {
///     panic!("two rows");
/// };
/// assert!(matches!(ibm, DumpRow::Instrument(ibm) if ibm.ticker.as_deref() == Some("IBM")));
/// assert_eq!(*other, DumpRow::Rejected("wrong figi: the check digit is wrong".to_owned()));
/// # Ok(())
/// # }
/// ```
pub struct Instruments {
    source: DumpReader,
    row: Row,
    dropped: Vec<Dropped>,
    is_over: bool,
}

/// What a row of a dump is taken for.
#[derive(Clone, Debug, PartialEq)]
pub enum DumpRow {
    /// An instrument, without the cells that are not what their column asks for.
    Instrument(Box<Instrument>),
    /// No instrument, and why.
    Rejected(String),
    /// A row that a rule of its format leaves out.
    Skipped,
}

impl Instruments {
    /// Opens a dump, and reads it as `format` or, without one, as what it is recognised as.
    ///
    /// # Errors
    /// When it cannot be read, is of no known format, or has no column for the FIGI.
    pub fn open(input: &Input, format: Option<&Format>) -> Result<Self> {
        let source = DumpReader::open(input, format)?;
        Ok(Self { source, row: Row::default(), dropped: Vec::new(), is_over: false })
    }

    fn take(&mut self) -> Result<Option<DumpRow>> {
        let taken = match self.source.next(&mut self.row)? {
            Next::Row => normalize(&self.row, &mut self.dropped).map(Box::new),
            Next::Rejected(reason) => Err(reason),
            Next::Skipped => return Ok(Some(DumpRow::Skipped)),
            Next::End => return Ok(None),
        };
        self.dropped.clear();
        let rejected = |reason: crate::row::reject::Reject| DumpRow::Rejected(reason.to_string());
        Ok(Some(taken.map_or_else(rejected, DumpRow::Instrument)))
    }
}

impl Iterator for Instruments {
    type Item = Result<DumpRow>;

    /// An error is the last item: the rows after it cannot be told apart.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let taken = self.take().transpose();
        self.is_over = !matches!(taken, Some(Ok(_)));
        taken
    }
}
