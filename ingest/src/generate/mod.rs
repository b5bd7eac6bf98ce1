//! A synthetic universe of any size, written as a canonical dump.
//!
//! Real dumps are licensed, and none is at hand where a build is tested or timed.
//! This one has the shape of a real one: every kind of instrument in the share
//! that it has ([`Mix`]), shares with their composites and venues, option chains
//! with a row for each venue, debt, futures, indices; the skew of listings, the
//! frequencies of words, identifiers whose check digits hold; and, on request,
//! the faults that real dumps have ([`Dirt`]). No value is that of an issued
//! instrument (see `figis.rs`).
//!
//! It promises the same bytes for the same seed, on every machine and in every
//! release; a smaller dump is the beginning of a larger one, with the same mix of
//! kinds; and memory that does not grow with the dump. For that, every *issue*
//! (a share class, a stretch of an option chain, a bond) is made from the seed
//! and its ordinal alone, and the kind that lags behind its share is next.
//!
//! Each kind has a file, which makes the rows of one issue; `kinds.rs` is the
//! table of them. Compressing, naming files and reading dumps are left to others.

mod day;
mod dirt;
mod dump;
mod figis;
mod identifiers;
mod issuer;
mod kinds;
mod markets;
mod names;
mod rng;
mod row;
mod terms;

use std::io::{self, Write};

use clap::ValueEnum;

use self::dirt::Defects;
pub use self::dirt::Dirt;
use self::dump::{Buffer, Dump, Issue};
use self::kinds::{KINDS, Quota};
use self::row::Row;
use crate::layout::Layout;

/// Which universe, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Universe {
    /// How many rows to write; without dirt each is an instrument.
    pub count: u64,
    /// Another seed gives other companies, identifiers and terms. FIGIs of two
    /// seeds may be the same: they are not meant for one index.
    pub seed: u64,
    /// The shares of the kinds.
    pub mix: Mix,
    /// How many rows have a fault.
    pub dirt: Dirt,
}

impl Universe {
    /// A clean universe as a firm holds it.
    pub const fn new(count: u64, seed: u64) -> Self {
        Self { count, seed, mix: Mix::Firm, dirt: Dirt::NONE }
    }
}

/// How much is gathered before it is handed on, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes exactly `universe.count` rows.
///
/// # Errors
/// Those of `out`; and [`io::ErrorKind::InvalidInput`] when the count is beyond
/// the FIGIs that the universe has room for, more than a thousand million.
pub fn write(universe: &Universe, format: Layout, out: &mut impl Write) -> io::Result<()> {
    let buffer = Buffer { format, remaining: universe.count, text: Vec::new() };
    let defects = Defects::new(universe.seed, universe.dirt);
    let mut dump = Dump { made: 0, defects, buffer };
    if format == Layout::Csv {
        row::write_csv_header(&mut dump.buffer.text);
    }
    let mut row = Row::new();
    let mut shares = KINDS.each_ref().map(|kind| Quota::new(kind, universe.mix));
    while dump.buffer.remaining > 0 {
        let (kind, share) = KINDS
            .iter()
            .zip(&mut shares)
            .max_by_key(|(_, share)| share.lag(dump.made))
            .expect("there are kinds");
        if share.issues == kind.region.issues_max {
            let what = format!("there are no more FIGIs for {}", kind.name);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let made = dump.made;
        let issue = Issue { seed: universe.seed, mix: universe.mix, ordinal: share.issues };
        (kind.write)(&issue, &mut row, &mut dump);
        share.issues += 1;
        share.rows += dump.made - made;
        if dump.buffer.text.len() >= BUFFER_BYTES {
            out.write_all(&dump.buffer.text)?;
            dump.buffer.text.clear();
        }
    }
    out.write_all(&dump.buffer.text)?;
    out.flush()
}

/// The proportions of the kinds. Both are estimates from published counts and from recorded
/// answers of the public service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mix {
    /// As a firm holds instruments: half of the rows are options, 6 rows per contract
    #[default]
    Firm,
    /// As the whole market: five rows in six are options, 17 rows per contract
    Full,
}

#[cfg(test)]
mod tests;
