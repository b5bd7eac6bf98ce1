//! Reading all inputs of a build: each row becomes an instrument, a field of others, or a reject.

use figdex_index::SourceEntry;

use super::Build;
use super::enrich::Enrichment;
use super::merge::{Merge, Origin, Sorted};
use super::mistaken::Mistaken;
use super::names::OtherNames;
use super::progress::{Clock, Progress};
use super::rejects::{Entry, Rejects};
use super::written::Written;
use crate::error::Result;
use crate::format::Format;
use crate::report::{Counts, EnrichCounts, InputReport, NamesCounts, Report};
use crate::row::Row;
use crate::row::normalize::{Dropped, normalize};
use crate::row::reject::Reject;
use crate::source::next::Next;
use crate::source::{DumpReader, Input, LEFT_OUT};

impl Build {
    /// Reads all rows of all inputs.
    pub(super) fn read(
        &self,
        mut merge: Merge,
        rejects: Rejects,
        report: &mut Report,
        clock: &mut Clock<'_>,
    ) -> Result<ReadInputs> {
        let mut reading = Reading {
            rejects,
            written: Written::default(),
            sources: Vec::with_capacity(self.inputs.len() + self.enrich.len() + self.names.len()),
            report,
            clock,
            rows: 0,
            bytes_before: 0,
            bytes_total: self
                .inputs
                .iter()
                .chain(&self.enrich)
                .chain(&self.names)
                .map(Input::bytes)
                .sum(),
        };
        let mut mistaken = Mistaken::default();
        for (place, input) in self.inputs.iter().enumerate() {
            let name = input.name();
            let mut source = DumpReader::open(input, self.format.as_ref())?;
            let counts = reading.read(&name, &mut source, |row, dropped| {
                let origin = Origin::new(place, row.line);
                Ok(normalize(row, dropped).map(|instrument| merge.add(origin, instrument)))
            })?;
            mistaken.add(&name, &source);
            reading.report.inputs.push(InputReport {
                name,
                counts,
                format: source.format().to_owned(),
                unknown_columns: source.unknown_columns().to_vec(),
                absent_columns: source.absent_columns().to_vec(),
            });
        }
        let mut enrichment = Enrichment::new();
        for dump in &self.enrich {
            let name = dump.name();
            let mut source = DumpReader::open_without_figi(dump, self.enrich_format.as_ref())?;
            enrichment.begin(name.clone());
            let Counts { read, rejected, skipped, .. } =
                reading.read(&name, &mut source, |row, dropped| enrichment.add(row, dropped))?;
            mistaken.add(&name, &source);
            let input = enrichment.report();
            input.counts = EnrichCounts { read, rejected, skipped, ..EnrichCounts::default() };
            input.unknown_columns = source.unknown_columns().to_vec();
            input.format = source.format().to_owned();
        }
        let mut other_names = OtherNames::new();
        let format = Format::other_names();
        for file in &self.names {
            let name = file.name();
            let mut source = DumpReader::open_without_figi(file, Some(&format))?;
            other_names.begin(name.clone());
            let Counts { read, rejected, skipped, .. } =
                reading.read(&name, &mut source, |row, dropped| other_names.add(row, dropped))?;
            let input = other_names.report();
            input.counts = NamesCounts { read, rejected, skipped, ..NamesCounts::default() };
            input.unknown_columns = source.unknown_columns().to_vec();
            input.format = source.format().to_owned();
        }
        reading.report.names = other_names.reports().to_vec();
        reading.report.warnings.extend(mistaken.warnings());
        reading.report.enrich = enrichment.reports().to_vec();
        let Reading { rejects, written, sources, .. } = reading;
        Ok(ReadInputs {
            sorted: merge.finish()?,
            enrichment,
            other_names,
            rejects,
            written,
            sources,
        })
    }
}

/// The result of reading all inputs.
pub(super) struct ReadInputs {
    pub(super) sorted: Sorted,
    pub(super) enrichment: Enrichment,
    pub(super) other_names: OtherNames,
    pub(super) rejects: Rejects,
    pub(super) written: Written,
    pub(super) sources: Vec<SourceEntry>,
}

/// The state of reading all inputs in turn.
struct Reading<'a, 'b> {
    rejects: Rejects,
    written: Written,
    sources: Vec<SourceEntry>,
    report: &'a mut Report,
    clock: &'a mut Clock<'b>,
    /// Rows so far, of all inputs, without those that a rule of the format leaves out.
    rows: u64,
    /// Bytes of the inputs that were read before the current one, as they were before unpacking.
    bytes_before: u64,
    bytes_total: Option<u64>,
}

impl Reading<'_, '_> {
    fn skip(&mut self, reason: &'static str, input: &str, row: &Row) {
        self.report.skips.entry(reason).or_default().add(input, row.line);
    }

    /// Counts the dropped cells of a row. If the row was rejected or has dropped cells, writes it
    /// to the rejects file: an entry for each reason, the first one with the bytes of the row.
    fn keep(
        &mut self,
        input: &str,
        row: &Row,
        rejected: Option<&str>,
        dropped: &[Dropped],
    ) -> Result<()> {
        let mut entry = Entry { input, line: row.line, column: None, reason: "", raw: &row.raw };
        if let Some(reason) = rejected {
            self.rejects.keep(&Entry { reason, ..entry }, &mut self.written)?;
            entry.raw = b"";
        }
        for Dropped { column, reason, values } in dropped {
            let column = *column;
            let of_cells = Entry { column: Some(column), reason, ..entry };
            self.rejects.keep(&of_cells, &mut self.written)?;
            entry.raw = b"";
            let tally = self.report.dropped.entry((column, reason)).or_default();
            tally.add_times(*values, input, row.line);
        }
        Ok(())
    }

    /// Reads every row of an input. `take` adds a row to the build or rejects it, and reports its
    /// dropped cells.
    fn read(
        &mut self,
        name: &str,
        source: &mut DumpReader,
        mut take: impl FnMut(&Row, &mut Vec<Dropped>) -> Result<Result<(), Reject>>,
    ) -> Result<Counts> {
        let (bytes_before, bytes_total) = (self.bytes_before, self.bytes_total);
        let progress = |rows, bytes| Progress::Reading {
            input: name,
            rows,
            bytes: bytes_before + bytes,
            bytes_total,
        };
        let mut counts = Counts::default();
        let mut row = Row::default();
        let mut dropped: Vec<Dropped> = Vec::new();
        loop {
            let taken = match source.next(&mut row)? {
                Next::Row => take(&row, &mut dropped)?,
                Next::Rejected(reason) => Err(reason),
                Next::Skipped => {
                    counts.read += 1;
                    counts.skipped += 1;
                    self.skip(LEFT_OUT, name, &row);
                    continue;
                }
                Next::End => break,
            };
            counts.read += 1;
            self.rows += 1;
            self.clock.tick(self.rows, || progress(self.rows, source.meter().bytes()));
            self.written.set_read(bytes_before + source.meter().bytes());
            let mut rejected = None;
            if let Err(reason) = taken {
                if let Some(skipped) = source.skips(&reason) {
                    counts.skipped += 1;
                    self.skip(skipped, name, &row);
                    dropped.clear();
                    continue;
                }
                counts.rejected += 1;
                self.report.reasons.entry(reason.kind()).or_default().add(name, row.line);
                rejected = Some(reason.to_string());
            } else {
                self.written.row(row.cells().count(), row.value_bytes())?;
            }
            self.keep(name, &row, rejected.as_deref(), &dropped)?;
            dropped.clear();
        }
        if source.lacks_line_end() {
            let warning = format!("{name} ends without a line end: was it cut off?");
            self.report.warnings.push(warning);
        }
        let (bytes, sha256) = (source.meter().bytes(), source.meter().sha256());
        (self.clock.progress)(progress(self.rows, bytes));
        self.bytes_before += bytes;
        self.sources.push(SourceEntry { name: name.to_owned(), bytes, sha256, rows: counts.read });
        Ok(counts)
    }
}
