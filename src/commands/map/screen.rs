//! A table on a terminal, at the terminal's width: the columns of identifiers and the added ones.

use std::io;

use figdex_index::FIGI_CHARS;
use figdex_io::terminal;
use rustix::termios::tcgetwinsize;

use super::rows::SCREEN_CELL_END;

/// The width if the terminal does not report its own.
const WIDTH: usize = 80;

/// The maximum width of a column, in characters.
const COLUMN_WIDTH_MAX: usize = 32;

/// The width to which columns of long texts are cut before any other column is cut.
const TEXT_WIDTH_MIN: usize = 6;

/// The width to which other columns are cut before those of FIGIs and ISINs are cut.
const WIDTH_MIN: usize = 4;

/// The characters between two columns.
const GAP: usize = 2;

/// A table that is printed while its rows come.
#[derive(Default)]
pub(super) struct Screen {
    /// The width of each column, from the heading and the first rows.
    widths: Vec<usize>,
    /// The heading, until the first rows come.
    heading: String,
}

impl Screen {
    /// A table with this heading. `heading` holds its cells as `RowWriter` writes them.
    pub(super) fn new(heading: &[u8]) -> Self {
        let heading = String::from_utf8_lossy(heading).trim_end_matches('\n').to_owned() + "\n";
        Self { widths: Vec::new(), heading }
    }

    /// Prints rows. `rows` holds their cells as `RowWriter` writes them.
    pub(super) fn print(&mut self, rows: &[u8]) -> io::Result<()> {
        let rows = std::mem::take(&mut self.heading) + &String::from_utf8_lossy(rows);
        if self.widths.is_empty() {
            self.widths = widths(&rows, width());
        }
        let lines = rows.lines().map(|row| self.line(row) + "\n");
        terminal::print(&lines.collect::<String>())
    }

    fn line(&self, row: &str) -> String {
        let mut line = String::new();
        for (cell, width) in cells(row).zip(&self.widths) {
            let length = cell.chars().count();
            if length > *width {
                line.extend(cell.chars().take(width.saturating_sub(1)));
                line.push('…');
            } else {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width - length));
            }
            line.extend([' '; GAP]);
        }
        line.trim_end().to_owned()
    }
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.split_terminator(SCREEN_CELL_END)
}

fn width() -> usize {
    let size = tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0).unwrap_or(WIDTH)
}

/// Whether a column of this natural width is cut.
type Cut = fn(usize) -> bool;

/// The width of each column. Columns are cut until they fit into `width`, the widest ones first.
fn widths(rows: &str, width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows.lines() {
        for (place, cell) in cells(row).enumerate() {
            if place == widths.len() {
                widths.push(1);
            }
            widths[place] = widths[place].max(cell.chars().count().min(COLUMN_WIDTH_MAX));
        }
    }
    let room = width.saturating_sub(GAP * widths.len().saturating_sub(1)).max(widths.len());
    let natural = widths.clone();
    // Long texts are cut first, then all others except FIGIs and ISINs, then these.
    let long = |width| width > FIGI_CHARS;
    let other = |width| width != FIGI_CHARS;
    let cuts: [(Cut, usize); 4] =
        [(long, FIGI_CHARS), (long, TEXT_WIDTH_MIN), (other, WIDTH_MIN), (|_| true, 1)];
    for (is_cut, least) in cuts {
        while widths.iter().sum::<usize>() > room {
            let cut = (0..widths.len()).filter(|place| is_cut(natural[*place]));
            match cut.max_by_key(|place| widths[*place]) {
                Some(widest) if widths[widest] > least => widths[widest] -= 1,
                _ => break,
            }
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_its_terminal() {
        let rows = format!("a{0}bb{0}\n{1}{0}x{0}\n", SCREEN_CELL_END, "y".repeat(100));
        assert_eq!(widths(&rows, 80), [32, 2]);
        assert_eq!(widths(&rows, 20), [16, 2]);
        assert_eq!(widths(&rows, 1), [1, 1]);
        let screen = Screen { widths: vec![4, 2], heading: String::new() };
        assert_eq!(screen.line(&format!("abcde{SCREEN_CELL_END}x{SCREEN_CELL_END}")), "abc…  x");
    }
}
