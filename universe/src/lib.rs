//! A synthetic universe of instruments of any size, written as a canonical dump.
//!
//! Real dumps are licensed, and so not available to tests and measurements. The generated dump
//! resembles a real one: all kinds of instruments in realistic proportions ([`Mix`]), shares with
//! their composites and venues, option chains with a row per venue, debt, futures, indices; skewed
//! numbers of listings, realistic word frequencies, valid check digits; and, on request, the
//! defects of real dumps ([`Dirt`]). Its FIGIs differ from issued ones (`figis.rs`).
//!
//! The same seed gives the same bytes, on every machine and in every release. A smaller dump is the
//! beginning of a larger one, with the same mix of kinds. Memory does not grow with the dump. To
//! achieve this, an *issue* (a share class, a stretch of an option chain, a bond) depends only on
//! the seed, the mix, its kind and its ordinal. The next issue is of the kind that is furthest
//! behind its proportion.
//!
//! Each kind has a file in `kinds/`, which writes the rows of one issue; `kinds/mod.rs` has the
//! table of kinds.

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
use figdex_io::Layout;

use crate::dirt::Defects;
pub use crate::dirt::Dirt;
use crate::dump::{Buffer, Dump, Issue};
use crate::kinds::{KINDS, Quota};
use crate::row::Row;

/// Size of the buffer of formatted rows, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// A universe of instruments, and the number of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Universe {
    /// Number of rows to write. Without dirt each is an instrument.
    pub count: u64,
    /// Another seed gives other companies, identifiers and terms. Two seeds may give the same
    /// FIGIs, so they are not meant for one index.
    pub seed: u64,
    /// The proportions of the kinds.
    pub mix: Mix,
    /// The proportion of rows with a defect.
    pub dirt: Dirt,
}

impl Universe {
    /// A universe with [`Mix::Firm`] and without defects.
    pub const fn new(count: u64, seed: u64) -> Self {
        Self { count, seed, mix: Mix::Firm, dirt: Dirt::NONE }
    }

    /// Writes exactly `count` rows.
    ///
    /// # Errors
    /// Those of `out`, and [`io::ErrorKind::InvalidInput`] when there are not enough FIGIs for the
    /// count, which happens only beyond 10^9 rows.
    pub fn write(&self, layout: Layout, out: &mut impl Write) -> io::Result<()> {
        let buffer = Buffer { layout, remaining: self.count, text: Vec::new() };
        let defects = Defects::new(self.seed, self.dirt);
        let mut dump = Dump { made: 0, defects, buffer };
        if layout == Layout::Csv {
            row::write_csv_header(&mut dump.buffer.text);
        }
        let mut row = Row::new();
        let mut quotas = KINDS.each_ref().map(|kind| Quota::new(kind, self.mix));
        while dump.buffer.remaining > 0 {
            let (kind, quota) = KINDS
                .iter()
                .zip(&mut quotas)
                .max_by_key(|(_, quota)| quota.lag(dump.made))
                .expect("there are kinds");
            if quota.issues == kind.region.issues_max {
                let what =
                    format!("--count is too large: there are no more FIGIs for {}", kind.name);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            let made = dump.made;
            let issue = Issue { seed: self.seed, mix: self.mix, ordinal: quota.issues };
            (kind.write)(&issue, &mut row, &mut dump);
            quota.issues += 1;
            quota.rows += dump.made - made;
            if dump.buffer.text.len() >= BUFFER_BYTES {
                out.write_all(&dump.buffer.text)?;
                dump.buffer.text.clear();
            }
        }
        out.write_all(&dump.buffer.text)?;
        out.flush()
    }
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
