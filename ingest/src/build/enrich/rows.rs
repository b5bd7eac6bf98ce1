//! Stores the rows of the `--enrich` inputs compactly, with the keys that match them to
//! instruments. The rows stay in memory until the end of the second pass, so their size is bounded.
//!
//! Many rows and many instruments may have the same key. So facts from instruments are kept once
//! for each key, not for each of its rows. The work is then a sum over rows and instruments, never
//! their product.

use std::collections::HashMap;

use figdex_index::Instrument;

use super::level::{Key, Level, keys};
use crate::row::Column;

/// The most memory that the rows of all `--enrich` inputs may take.
pub(super) const ROWS_BYTES_MAX: usize = 512 << 20;

/// All rows and keys. `S` is the state of each row, `K` that of each key.
pub(super) struct Rows<S, K> {
    /// The memory that is left for more rows.
    bytes_left: usize,
    /// Values of cells and raw rows, one after the other.
    heap: Vec<u8>,
    cells: Vec<CellRef>,
    rows: Vec<RowRef<S>>,
    /// The number of each key, by its bytes.
    numbers: HashMap<Box<[u8]>, u32>,
    keys: Vec<KeyRef<K>>,
    /// The numbers of the keys of each row, one row after the other.
    row_keys: Vec<u32>,
    /// The rows that are applied to the instruments of each key, one key after the other.
    givers: Vec<u32>,
}

struct CellRef {
    column: Column,
    value: Span,
}

/// A range of one of the lists of [`Rows`]. [`ROWS_BYTES_MAX`] keeps all of them below 2^32.
#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of<T>(self, all: &[T]) -> &[T] {
        &all[self.start as usize..self.end as usize]
    }
}

struct RowRef<S> {
    input: u32,
    line: u64,
    raw: Span,
    cells: Span,
    keys: Span,
    state: S,
}

struct KeyRef<K> {
    level: Level,
    givers: Span,
    state: K,
}

/// The error for a row that does not fit any more.
pub(super) struct Full;

impl<S: Default, K: Default> Rows<S, K> {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_left: bytes_max,
            heap: Vec::new(),
            cells: Vec::new(),
            rows: Vec::new(),
            numbers: HashMap::new(),
            keys: Vec::new(),
            row_keys: Vec::new(),
            givers: Vec::new(),
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
        let texts: Vec<_> = keys.iter().map(|key| key.bytes()).collect();
        let values: usize = cells.iter().map(|(_, value)| value.len()).sum();
        // A hash table has at most two slots per entry. Each key of a row takes a number in
        // `row_keys`, a number in `givers`, and a pair of numbers while `givers` is determined.
        let of_key =
            size_of::<KeyRef<K>>() + 2 * size_of::<(Box<[u8]>, u32)>() + 4 * size_of::<u32>();
        let links: usize = texts.iter().map(|text| text.len() + of_key).sum();
        let refs = size_of::<RowRef<S>>() + cells.len() * size_of::<CellRef>();
        let needed = raw.len() + values + links + refs;
        self.bytes_left = self.bytes_left.checked_sub(needed).ok_or(Full)?;

        let raw = self.put(raw);
        let start = self.cells.len() as u32;
        for (column, value) in cells {
            let value = self.put(value.as_bytes());
            self.cells.push(CellRef { column: *column, value });
        }
        let cells = Span { start, end: self.cells.len() as u32 };
        let start = self.row_keys.len() as u32;
        for (key, text) in keys.iter().zip(texts) {
            let number = *self.numbers.entry(text.into()).or_insert_with(|| {
                let (level, givers, state) = (key.level(), Span::default(), K::default());
                self.keys.push(KeyRef { level, givers, state });
                self.keys.len() as u32 - 1
            });
            self.row_keys.push(number);
        }
        let keys = Span { start, end: self.row_keys.len() as u32 };
        let (input, state) = (input as u32, S::default());
        self.rows.push(RowRef { input, line, raw, cells, keys, state });
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = self.heap.len() as u32;
        self.heap.extend_from_slice(bytes);
        Span { start, end: self.heap.len() as u32 }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The cells of a row. Those of one column follow one another.
    fn cells(&self, row: usize) -> impl Iterator<Item = (Column, &str)> {
        self.rows[row].cells.of(&self.cells).iter().map(|cell| {
            let value = str::from_utf8(cell.value.of(&self.heap));
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

    /// The numbers of the instrument's keys that any row has.
    pub(super) fn find(&self, instrument: &Instrument) -> Vec<u32> {
        let keys = std::iter::once(Key::Figi(instrument.figi)).chain(keys(instrument));
        keys.filter_map(|key| self.numbers.get(&key.bytes()[..]).copied()).collect()
    }

    /// The numbers of the keys of a row.
    pub(super) fn keys_of(&self, row: usize) -> &[u32] {
        self.rows[row].keys.of(&self.row_keys)
    }

    pub(super) fn level(&self, key: u32) -> Level {
        self.keys[key as usize].level
    }

    pub(super) fn key(&self, key: u32) -> &K {
        &self.keys[key as usize].state
    }

    pub(super) fn key_mut(&mut self, key: u32) -> &mut K {
        &mut self.keys[key as usize].state
    }

    /// Sets the rows that are applied to the instruments of a key.
    pub(super) fn set_givers(&mut self, key: u32, rows: &[u32]) {
        let start = self.givers.len() as u32;
        self.givers.extend_from_slice(rows);
        self.keys[key as usize].givers = Span { start, end: self.givers.len() as u32 };
    }

    /// The rows that are applied to the instruments of a key.
    pub(super) fn givers(&self, key: u32) -> &[u32] {
        self.keys[key as usize].givers.of(&self.givers)
    }

    /// The number of the row's input, its line and its bytes.
    pub(super) fn origin(&self, row: usize) -> (usize, u64, &[u8]) {
        let RowRef { input, line, raw, .. } = self.rows[row];
        (input as usize, line, raw.of(&self.heap))
    }

    pub(super) fn state(&self, row: usize) -> &S {
        &self.rows[row].state
    }

    pub(super) fn state_mut(&mut self, row: usize) -> &mut S {
        &mut self.rows[row].state
    }
}
