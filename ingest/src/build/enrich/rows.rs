//! Stores the rows of the `--enrich` inputs compactly. They stay in memory until all instruments
//! were seen, so their size is bounded.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use figdex_index::{IdType, Instrument, Property};

use super::level::{Key, Level, keys};
use crate::row::Column;

/// The most memory that the rows of all `--enrich` inputs may take.
pub(super) const ROWS_BYTES_MAX: usize = 512 << 20;

/// The end of a chain of links.
const NONE: u32 = u32::MAX;

/// All rows. `S` is the state of each row.
pub(super) struct Rows<S> {
    /// The memory that is left for more rows.
    bytes_left: usize,
    /// Values of cells and raw rows, one after the other.
    heap: Vec<u8>,
    cells: Vec<CellRef>,
    rows: Vec<RowRef<S>>,
    /// The last link for each hash of a key.
    heads: HashMap<u64, u32>,
    links: Vec<Link>,
}

struct CellRef {
    column: Column,
    value: Span,
}

/// A range of the heap or of the cells. [`ROWS_BYTES_MAX`] keeps both below 2^32.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

struct RowRef<S> {
    input: u32,
    line: u64,
    raw: Span,
    cells: Span,
    state: S,
}

/// A row that has a key with some hash. The links of one hash are a chain.
struct Link {
    row: u32,
    next: u32,
}

/// The error that there is no room for another row.
pub(super) struct Full;

impl<S: Default> Rows<S> {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_left: bytes_max,
            heap: Vec::new(),
            cells: Vec::new(),
            rows: Vec::new(),
            heads: HashMap::new(),
            links: Vec::new(),
        }
    }

    /// Adds a row: the number of its input, its line and bytes, its cells and its keys.
    ///
    /// # Errors
    /// [`Full`] when the rows would take more than the limit.
    pub(super) fn push(
        &mut self,
        input: usize,
        line: u64,
        raw: &[u8],
        cells: &[(Column, String)],
        keys: &[Key<'_>],
    ) -> Result<(), Full> {
        let values: usize = cells.iter().map(|(_, value)| value.len()).sum();
        // A hash table has at most two slots per entry.
        let links = keys.len() * (size_of::<Link>() + 2 * size_of::<(u64, u32)>());
        let refs = size_of::<RowRef<S>>() + cells.len() * size_of::<CellRef>();
        let needed = raw.len() + values + links + refs;
        self.bytes_left = self.bytes_left.checked_sub(needed).ok_or(Full)?;

        let number = self.rows.len() as u32;
        let raw = self.put(raw);
        let start = self.cells.len() as u32;
        for (column, value) in cells {
            let value = self.put(value.as_bytes());
            self.cells.push(CellRef { column: *column, value });
        }
        let cells = Span { start, end: self.cells.len() as u32 };
        self.rows.push(RowRef { input: input as u32, line, raw, cells, state: S::default() });
        for key in keys {
            let link = self.links.len() as u32;
            let next = match self.heads.entry(key.hash64()) {
                Entry::Occupied(mut head) => head.insert(link),
                Entry::Vacant(place) => {
                    place.insert(link);
                    NONE
                }
            };
            self.links.push(Link { row: number, next });
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = self.heap.len() as u32;
        self.heap.extend_from_slice(bytes);
        Span { start, end: self.heap.len() as u32 }
    }

    /// The rows that have the key, the last one first.
    fn with_key(&self, key: Key<'_>) -> impl Iterator<Item = usize> {
        let mut next = self.heads.get(&key.hash64()).copied().unwrap_or(NONE);
        let same_hash = std::iter::from_fn(move || {
            let link = self.links.get(next as usize)?;
            next = link.next;
            Some(link.row as usize)
        });
        same_hash.filter(move |&row| self.has_key(row, key))
    }

    /// Whether a row has the key. Two keys may have the same hash, so the cells are compared.
    fn has_key(&self, row: usize, key: Key<'_>) -> bool {
        let has = |column: Column, value: &str| self.cells(row).any(|cell| cell == (column, value));
        match key {
            Key::Figi(figi) => has(Column::Figi, &figi.to_string()),
            Key::Isin(isin) => has(Column::Identifier(IdType::Isin), isin),
            Key::Cusip(cusip) => has(Column::Identifier(IdType::Cusip), cusip),
            Key::ShareClass(figi) => has(Column::ShareClassFigi, &figi.to_string()),
            Key::Listing { exch_code, ticker } => {
                has(Column::Property(Property::ExchCode), exch_code) && has(Column::Ticker, ticker)
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The cells of a row. Those of one column follow one another.
    fn cells(&self, row: usize) -> impl Iterator<Item = (Column, &str)> {
        let Span { start, end } = self.rows[row].cells;
        self.cells[start as usize..end as usize].iter().map(|cell| {
            let value = str::from_utf8(self.bytes(cell.value));
            (cell.column, value.expect("the bytes were a text when they were stored"))
        })
    }

    /// The cells of a row, grouped by column.
    pub(super) fn columns(&self, row: usize) -> Vec<(Column, Vec<&str>)> {
        let mut columns: Vec<(Column, Vec<&str>)> = Vec::new();
        for (column, value) in self.cells(row) {
            match columns.last_mut() {
                Some((last, values)) if *last == column => values.push(value),
                _ => columns.push((column, vec![value])),
            }
        }
        columns
    }

    /// The rows that share a key with the instrument, each with the level of the key.
    pub(super) fn find(&self, instrument: &Instrument) -> Vec<(usize, Level)> {
        let keys = std::iter::once(Key::Figi(instrument.figi)).chain(keys(instrument));
        keys.flat_map(|key| self.with_key(key).map(move |row| (row, key.level()))).collect()
    }

    /// The number of the row's input, its line and its bytes.
    pub(super) fn origin(&self, row: usize) -> (usize, u64, &[u8]) {
        let RowRef { input, line, raw, .. } = self.rows[row];
        (input as usize, line, self.bytes(raw))
    }

    pub(super) fn state(&self, row: usize) -> &S {
        &self.rows[row].state
    }

    pub(super) fn state_mut(&mut self, row: usize) -> &mut S {
        &mut self.rows[row].state
    }

    fn bytes(&self, Span { start, end }: Span) -> &[u8] {
        &self.heap[start as usize..end as usize]
    }
}
