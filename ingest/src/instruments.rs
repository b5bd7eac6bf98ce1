//! Reads the instruments of one dump without building an index. Rows are read as in a build, before
//! it merges rows of one FIGI.

use figdex_index::Instrument;

use crate::error::Result;
use crate::format::Format;
use crate::row::Row;
use crate::row::normalize::{Dropped, normalize};
use crate::row::reject::Reject;
use crate::source::next::Next;
use crate::source::{DumpReader, Input};

/// An iterator over the rows of a dump.
///
/// ```
/// use figdex_ingest::{DumpRow, Input, Instruments};
///
/// # fn main() -> figdex_ingest::Result<()> {
/// let dump = b"figi,ticker\nBBG000BLNNH6,IBM\nBBG000BLNNH5,IBN\n";
/// let rows = Instruments::open(&Input::Memory("dump", dump[..].into()), None)?;
/// let [ibm, invalid] = &rows.collect::<figdex_ingest::Result<Vec<_>>>()?[..] else {
///     panic!("two rows");
/// };
/// assert!(matches!(ibm, DumpRow::Instrument(ibm) if ibm.ticker.as_deref() == Some("IBM")));
/// assert_eq!(*invalid, DumpRow::Rejected("wrong figi: the check digit is wrong".to_owned()));
/// # Ok(())
/// # }
/// ```
pub struct Instruments {
    source: DumpReader,
    row: Row,
    dropped: Vec<Dropped>,
    is_over: bool,
}

/// A row of a dump.
#[derive(Clone, Debug, PartialEq)]
pub enum DumpRow {
    /// An instrument, without invalid cells.
    Instrument(Box<Instrument>),
    /// A rejected row, and the reason.
    Rejected(String),
    /// A row that the format leaves out.
    Skipped,
}

impl Instruments {
    /// Opens a dump. With `None` its format is recognised.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) when it cannot be read, its format is not
    /// recognised, or it has no column for the FIGI.
    pub fn open(input: &Input, format: Option<&Format>) -> Result<Self> {
        let source = DumpReader::open(input, format)?;
        Ok(Self { source, row: Row::default(), dropped: Vec::new(), is_over: false })
    }

    fn read(&mut self) -> Result<Option<DumpRow>> {
        let instrument = match self.source.next(&mut self.row)? {
            Next::Row => normalize(&self.row, &mut self.dropped).map(Box::new),
            Next::Rejected(reason) => Err(reason),
            Next::Skipped => return Ok(Some(DumpRow::Skipped)),
            Next::End => return Ok(None),
        };
        self.dropped.clear();
        let rejected = |reason: Reject| DumpRow::Rejected(reason.to_string());
        Ok(Some(instrument.map_or_else(rejected, DumpRow::Instrument)))
    }
}

impl Iterator for Instruments {
    type Item = Result<DumpRow>;

    /// The next row. An error is the last item, since later rows cannot be found.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let row = self.read().transpose();
        self.is_over = !matches!(row, Some(Ok(_)));
        row
    }
}
