//! The table of vendors' symbols, read from a text: `symbols.txt`, which is part of the program, or a
//! file of the operator in its place (contract 21.15 to 21.17).
//!
//! A text is read as a whole or not at all. No line is skipped: one that is not understood, or that
//! would change nothing, is a fault that says what was found, what was expected and what to do.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use self::reader::TableReader;
use crate::instrument::markets::whole_market;

/// The most bytes of a table.
pub const SYMBOL_TABLE_BYTES_MAX: usize = 1 << 20;

/// The number of faults after which reading ends.
const FAULTS_MAX: usize = 20;

/// The spellings of all vendors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTable(pub(super) Vec<VendorTable>);

/// The spelling of one vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VendorTable {
    /// The name of its column: `symbol:yahoo`.
    pub(super) name: String,
    /// Whether the mark of the exchange comes first.
    pub(super) is_prefix: bool,
    /// The sign before a class letter.
    pub(super) class_mark: char,
    /// The exchanges. Those of one country are in the order of the table of exchanges.
    pub(super) marks: Vec<Mark>,
    /// The place of the mark with each text.
    by_text: HashMap<String, usize>,
    /// The places of the marks of each market, in their order.
    by_market: HashMap<&'static str, Vec<usize>>,
}

/// The mark of one exchange, or none for the home market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) text: String,
    /// The exchange codes of the rows that a symbol with the mark means.
    pub(super) codes: Vec<&'static str>,
    /// The digits that a number has at least.
    pub(super) digits: usize,
    /// Whether tickers of the index end with the class letter itself.
    pub(super) is_fused: bool,
}

/// The table that this process uses.
static IN_FORCE: OnceLock<SymbolTable> = OnceLock::new();

/// The fault of a table that comes too late, because the process already uses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "symbols are already read and written by another table: give the file before anything uses it"
)]
pub struct SymbolsInUse;

impl SymbolTable {
    /// The table of this process: the one that [`Self::put_in_force`] was given, else that of the
    /// program.
    pub fn in_force() -> &'static Self {
        IN_FORCE.get_or_init(Self::of_program)
    }

    /// Makes this the table of the process, for as long as it runs.
    ///
    /// # Errors
    /// [`SymbolsInUse`] when the process has a table: one that was put in force before, or that of
    /// the program, once it was used.
    pub fn put_in_force(self) -> Result<(), SymbolsInUse> {
        IN_FORCE.set(self).map_err(|_| SymbolsInUse)
    }

    /// The table that is part of the program.
    fn of_program() -> Self {
        Self::parse(include_bytes!("symbols.txt")).expect("a test reads the table of the program")
    }

    /// Reads a table.
    ///
    /// # Errors
    /// All faults of the text, or the first 20 of them.
    pub fn parse(text: &[u8]) -> Result<Self, SymbolTableFaults> {
        if text.len() > SYMBOL_TABLE_BYTES_MAX {
            let what = format!(
                "it has more than {SYMBOL_TABLE_BYTES_MAX} bytes: expected a table of symbols, \
                 which is smaller"
            );
            return Err(SymbolTableFaults(vec![LineFault { line: None, what }]));
        }
        let mut reader = TableReader::default();
        // An editor may have put a byte order mark first.
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        // A line end is one of Unix or of Windows.
        for line in text.split(|byte| *byte == b'\n') {
            if !reader.read(line.strip_suffix(b"\r").unwrap_or(line)) {
                break;
            }
        }
        reader.end()
    }
}

impl VendorTable {
    /// The mark with this text.
    pub(super) fn mark(&self, text: &str) -> Option<&Mark> {
        self.by_text.get(text).map(|place| &self.marks[*place])
    }

    /// The marks of the market of an exchange code, in their order.
    pub(super) fn of_market(&self, exch_code: &str) -> impl Iterator<Item = &Mark> {
        let places = whole_market(exch_code).and_then(|market| self.by_market.get(market));
        places.into_iter().flatten().map(|place| &self.marks[*place])
    }
}

/// The faults of a table, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTableFaults(Vec<LineFault>);

/// A fault of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineFault {
    /// The number of the line, from 1. None for a fault of the whole text.
    line: Option<usize>,
    what: String,
}

impl std::error::Error for SymbolTableFaults {}

impl fmt::Display for SymbolTableFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [fault] = &*self.0 {
            return fault.fmt(f);
        }
        let more = if self.0.len() < FAULTS_MAX { "" } else { " or more" };
        write!(f, "{}{more} errors", self.0.len())?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}
