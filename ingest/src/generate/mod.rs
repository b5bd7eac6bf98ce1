//! A synthetic universe of any size, written as a canonical dump.
//!
//! Real dumps are licensed, and none is at hand where a build is tested or timed.
//! This one has the shape of a real one as a firm holds it: shares with their
//! composites and venues, option chains of seventeen rows a contract, bonds; the
//! skew of listings, the frequencies of words, identifiers whose check digits
//! hold. No value is that of an issued instrument (see `figis.rs`).
//!
//! It promises the same bytes for the same seed, on every machine and in every
//! release; a smaller dump is the beginning of a larger one, with the same mix of
//! kinds; and memory that does not grow with the dump. For that, every *issue*
//! (a share class, a stretch of an option chain, a bond) is made from the seed
//! and its ordinal alone, and issues of all kinds take turns.
//!
//! Each kind has a file, which makes the rows of one issue. Compressing, naming
//! files and reading dumps are left to others.

mod bond;
mod day;
mod equity;
mod figis;
mod identifiers;
mod issuer;
mod markets;
mod names;
mod option;
mod rng;
mod row;

use std::io::{self, Write};

use row::Row;

/// The layouts of a canonical dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header, then a line for each instrument (RFC 4180).
    Csv,
    /// A JSON object for each instrument, on a line of its own.
    JsonLines,
}

/// Which universe, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Universe {
    /// How many instruments to write.
    pub count: u64,
    /// Another seed gives other companies, identifiers and terms. FIGIs of two
    /// seeds may be the same: they are not meant for one index.
    pub seed: u64,
}

/// One turn of the kinds: a stretch of four option contracts (68 rows), eleven
/// share classes (some 25 rows) and ten bonds. That is the mix of a firm's own
/// securities, two rows in three being options.
const EQUITIES_PER_TURN: u64 = 11;
const BONDS_PER_TURN: u64 = 10;

/// How many turns there can be before a kind runs out of FIGIs: two and a half
/// thousand million rows.
const TURNS_MAX: u64 = figis::EQUITIES.issues_max / EQUITIES_PER_TURN;

const _: () = assert!(
    TURNS_MAX <= figis::OPTIONS.issues_max
        && TURNS_MAX * BONDS_PER_TURN <= figis::BONDS.issues_max
        && TURNS_MAX * EQUITIES_PER_TURN / equity::LARGE_EVERY <= figis::LARGE_EQUITIES.issues_max
);

/// How much is gathered before it is handed on, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes exactly `universe.count` instruments.
///
/// # Errors
/// Those of `out`; and [`io::ErrorKind::InvalidInput`] when the count is beyond
/// the FIGIs that the universe has room for, some 2.5 thousand million.
pub fn write(universe: &Universe, format: Format, out: &mut impl Write) -> io::Result<()> {
    let mut dump = Dump { format, remaining: universe.count, text: Vec::new() };
    if format == Format::Csv {
        row::write_csv_header(&mut dump.text);
    }
    let mut row = Row::new();
    for turn in 0..TURNS_MAX {
        if dump.remaining == 0 {
            break;
        }
        option::write(universe.seed, turn, &mut row, &mut dump);
        for place in 0..EQUITIES_PER_TURN {
            equity::write(universe.seed, turn * EQUITIES_PER_TURN + place, &mut row, &mut dump);
            if place < BONDS_PER_TURN {
                bond::write(universe.seed, turn * BONDS_PER_TURN + place, &mut row, &mut dump);
            }
        }
        if dump.text.len() >= BUFFER_BYTES {
            out.write_all(&dump.text)?;
            dump.text.clear();
        }
    }
    out.write_all(&dump.text)?;
    out.flush()?;
    if dump.remaining > 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "more instruments than FIGIs"));
    }
    Ok(())
}

/// Where the kinds put their rows.
struct Dump {
    format: Format,
    /// Rows still wanted: what an issue has beyond them is dropped.
    remaining: u64,
    text: Vec<u8>,
}

impl Dump {
    fn push(&mut self, row: &Row) {
        if self.remaining == 0 {
            return;
        }
        self.remaining -= 1;
        match self.format {
            Format::Csv => row.write_csv(&mut self.text),
            Format::JsonLines => row.write_json(&mut self.text),
        }
    }
}

#[cfg(test)]
mod tests;
