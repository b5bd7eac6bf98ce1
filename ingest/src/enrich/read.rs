//! Reads an `--enrich` input: its rows are taken in, or rejected, and counted.

use figdex_index::Source as SourceEntry;

use super::Enrichment;
use crate::error::Result;
use crate::normalize::Dropped;
use crate::rejects::Rejects;
use crate::report::Report;
use crate::row::Row;
use crate::source::{Next, Source};

/// Reads every row of an input of that name; tells `read` of each, and of the bytes so far.
pub(crate) fn read(
    mut source: Source,
    name: &str,
    enrichment: &mut Enrichment,
    rejects: &mut Rejects,
    report: &mut Report,
    read: &mut dyn FnMut(u64),
) -> Result<SourceEntry> {
    enrichment.begin(name.to_owned());
    let mut row = Row::default();
    let mut dropped: Vec<Dropped> = Vec::new();
    loop {
        let taken = match source.next(&mut row)? {
            Next::Row => enrichment.add(&row, &mut dropped)?,
            Next::Rejected(reason) => Err(reason),
            Next::Skipped => {
                let counts = &mut enrichment.account().counts;
                counts.read += 1;
                counts.skipped += 1;
                continue;
            }
            Next::End => break,
        };
        let counts = &mut enrichment.account().counts;
        counts.read += 1;
        read(source.meter().bytes());
        if let Err(reason) = taken {
            counts.rejected += 1;
            rejects.keep(name, &row, None, &reason.to_string())?;
            report.reasons.entry(reason.kind()).or_default().add(name, row.line);
        }
        for Dropped { column, reason } in dropped.drain(..) {
            rejects.keep(name, &row, Some(column), reason)?;
            report.dropped.entry((column, reason)).or_default().add(name, row.line);
        }
    }
    let account = enrichment.account();
    account.unknown_columns = source.unknown_columns().to_vec();
    let rows = account.counts.read;
    let (bytes, sha256) = (source.meter().bytes(), source.meter().sha256());
    Ok(SourceEntry { name: name.to_owned(), bytes, sha256, rows })
}
