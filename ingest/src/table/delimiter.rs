//! The delimiter of a text, from its first rows. A title above a table has other rows than the
//! table, and a decimal comma is not a delimiter: so the rows are cut by each delimiter, and
//! compared. The page does the same (`src/site/page/shared/table.js`), and one file of cases
//! (`tests/tables.jsonl`) holds for both.

use std::io::Cursor;

use crate::source::text::Text;

/// The delimiters, the preferred one first. A decimal comma makes the comma the last one.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The number of first rows that are cut.
const ROWS_MAX: usize = 100;

/// The first rows of a text, cut by one delimiter.
struct Trial {
    delimiter: u8,
    /// The rows that are not blank.
    filled: usize,
    /// The rows with more than one cell.
    cut: usize,
    /// The most frequent number of cells above one, the larger one among equals.
    width: usize,
    /// The rows with this number of cells.
    of_width: usize,
}

/// The delimiter of a text that begins with `head`. For a text of one column it is a delimiter that
/// the head does not have, so that every line is one cell.
pub(super) fn delimiter_of(head: &[u8]) -> u8 {
    let all = DELIMITERS.map(|delimiter| Trial::of(head, delimiter));
    let [.., comma] = &all;
    let mut most = all.iter().filter(|rows| 2 * rows.cut > rows.filled);
    if let Some(first) = most.next() {
        // A cell may contain a semicolon in most rows of a text with commas.
        let is_comma = 2 * comma.cut > comma.filled
            && comma.width > first.width
            && comma.of_width > first.of_width;
        return if is_comma { b',' } else { first.delimiter };
    }
    // Most rows are above the table or below it.
    let tables = all.iter().filter(|rows| rows.width > 2 && rows.of_width > 1).rev();
    if let Some(best) = tables.max_by_key(|rows| rows.of_width * (rows.width - 1)) {
        return best.delimiter;
    }
    // Only a spreadsheet writes tabs.
    if all[0].cut > 0 {
        return b'\t';
    }
    let absent = |delimiter: &u8| !head.contains(delimiter);
    [b',', b';', b'\t', b'|'].into_iter().find(absent).unwrap_or(b',')
}

impl Trial {
    fn of(head: &[u8], delimiter: u8) -> Self {
        let mut text = Text::new(Cursor::new(head), delimiter, true, 0);
        let mut raw = Vec::new();
        let (mut filled, mut widths) = (0, Vec::new());
        for _ in 0..ROWS_MAX {
            raw.clear();
            // A quote that the head does not close ends the sample.
            let Ok(Some(cells)) = text.read(&mut raw) else { break };
            let (bytes, _) = text.bytes(cells);
            if String::from_utf8_lossy(bytes).trim().is_empty() {
                continue;
            }
            filled += 1;
            if cells > 1 {
                widths.push(cells);
            }
        }
        let of = |width: usize| widths.iter().filter(|one| **one == width).count();
        let width = widths.iter().copied().max_by_key(|width| (of(*width), *width)).unwrap_or(0);
        Self { delimiter, filled, cut: widths.len(), width, of_width: of(width) }
    }
}
