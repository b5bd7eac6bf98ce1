//! The answer to a list, in each form (contract 17.6, 17.7).

use std::io::Write as _;
use std::slice;

use figdex_index::{
    By, Coverage, Crosswalk, Date, Hit, NAME_LIKE, PastRow, Recognised, Resolution, RowSource,
    Status, Visible, WasRow,
};

use super::fields::{ShownRows, Texts};
use super::options::Options;
use super::past::joined;
use super::{Form, past};
use crate::http::pieces::Pieces;
use crate::wire;
use crate::wire::cell::{guard_of, push_cell};
use crate::wire::json::{array, string};

/// Writes the results of a list.
pub(crate) struct Writer<'a, R> {
    pub(crate) form: Form,
    pub(crate) options: &'a Options,
    /// Whether the index has a past, for which CSV has further columns (contract 20.4).
    pub(crate) has_past: bool,
    pub(crate) rows: &'a R,
    /// The identifiers and symbols of the rows of the results that are written.
    pub(crate) crosswalk: Crosswalk,
    /// The identifiers that the caller may see.
    pub(crate) visible: Visible,
    /// Whether an apostrophe is put before the formulas in CSV.
    pub(crate) guards_formulas: bool,
}

/// A job of which the result is written.
#[derive(Clone, Copy)]
pub(crate) struct ListedJob<'a> {
    /// The number of the job, from 1.
    pub(crate) row: usize,
    /// The identifier as it was sent, which is needed in CSV only.
    pub(crate) input: &'a str,
    /// The day as of which it is asked.
    pub(crate) day: Option<Date>,
}

/// The first column names of an answer in CSV. Those of the fields follow.
const CSV_COLUMNS: &str = "row,input,match,idType,matches,by,reason";

/// The column names after the fields, where the index has a past.
const PAST_COLUMNS: &str = ",formerFigi,todayFigi,validFrom,validTo,basis,successorFigi";

impl<R: RowSource> Writer<'_, R> {
    /// Writes the part before the results: the heading of CSV, or the beginning of JSON.
    pub(crate) fn heading(
        &self,
        out: &mut Pieces,
        generation: u64,
        columns: Option<&[Option<Recognised>]>,
    ) {
        let out = out.last();
        match self.form {
            Form::Ndjson => {}
            Form::Csv => {
                out.extend_from_slice(CSV_COLUMNS.as_bytes());
                for field in self.options.fields.all() {
                    out.push(b',');
                    out.extend_from_slice(field.name().as_bytes());
                }
                if self.has_past {
                    out.extend_from_slice(PAST_COLUMNS.as_bytes());
                }
                if self.options.has_formerly {
                    out.extend_from_slice(b",formerly");
                }
                if self.options.has_candidates {
                    out.extend_from_slice(b",candidates");
                }
                out.push(b'\n');
            }
            Form::Json => {
                let _ = write!(out, "{{\"generation\":{generation}");
                if let Some(columns) = columns {
                    out.extend_from_slice(b",\"columns\":[");
                    for (place, column) in columns.iter().enumerate() {
                        if place > 0 {
                            out.push(b',');
                        }
                        let _ = match column {
                            None => write!(out, "{{}}"),
                            Some(Recognised { id_type, share }) => {
                                let name = id_type.name();
                                write!(out, "{{\"idType\":\"{name}\",\"share\":{share:.4}}}")
                            }
                        };
                    }
                    out.push(b']');
                }
            }
        }
    }

    /// Writes one result.
    pub(crate) fn write(&self, out: &mut Pieces, asked: ListedJob<'_>, resolution: &Resolution) {
        match self.form {
            Form::Json => self.json(out, asked, resolution),
            Form::Ndjson => {
                self.json(out, asked, resolution);
                out.last().push(b'\n');
            }
            Form::Csv => self.csv(out, asked, resolution),
        }
    }

    fn json(&self, out: &mut Pieces, asked: ListedJob<'_>, resolution: &Resolution) {
        let buffer = out.last();
        let status = resolution.status.name();
        let _ = write!(buffer, "{{\"status\":\"{status}\"");
        match &resolution.id_types[..] {
            [] => {}
            [only] => {
                let _ = write!(buffer, ",\"idType\":\"{}\"", only.name());
            }
            several => {
                let names: Vec<_> = several.iter().map(|id_type| id_type.name()).collect();
                let _ = write!(buffer, ",\"idTypes\":[\"{}\"]", names.join("\",\""));
            }
        }
        match &resolution.status {
            Status::Resolved(by) => {
                buffer.extend_from_slice(b",\"by\":");
                string(buffer, self.by(*by));
            }
            Status::Ambiguous(matches) => {
                let _ = write!(buffer, ",\"matches\":{matches}");
                if resolution.is_name_like {
                    let _ = write!(buffer, ",\"reason\":\"{NAME_LIKE}\"");
                }
            }
            Status::OutOfCoverage(Coverage { since, until }) => {
                let _ =
                    write!(buffer, ",\"coverage\":{{\"since\":\"{since}\",\"until\":\"{until}\"}}");
            }
            Status::Unknown | Status::Historical | Status::Gone | Status::Uncertain => {}
            Status::Invalid(reason) => {
                buffer.extend_from_slice(b",\"error\":");
                string(buffer, reason);
                if resolution.is_beyond_rows {
                    buffer.extend_from_slice(b",\"askAgain\":true");
                }
            }
        }
        if let Some(correction) = &resolution.correction {
            buffer.extend_from_slice(b",\"correction\":");
            string(buffer, correction);
        }
        if let Some(day) = asked.day {
            let _ = write!(buffer, ",\"asOf\":\"{day}\"");
        }
        if !resolution.past.is_empty() {
            let has_day = asked.day.is_some();
            past::write(out.last(), &self.shown(), resolution, has_day);
        } else if !resolution.hits.is_empty() {
            buffer.extend_from_slice(b",\"data\":");
            let shown = self.shown();
            wire::array_in_pieces(out, &resolution.hits, |out, hit| shown.now(out.last(), *hit));
        }
        if !resolution.formerly.is_empty() {
            past::write_formerly(out.last(), self.rows, &resolution.formerly);
        }
        if !resolution.candidates.is_empty() {
            out.last().extend_from_slice(b",\"candidates\":");
            let shown = self.shown();
            array(out.last(), &resolution.candidates, |out, hit| shown.with_figi(out, *hit));
        }
        out.last().push(b'}');
    }

    fn csv(&self, out: &mut Pieces, asked: ListedJob<'_>, resolution: &Resolution) {
        let id_types: Vec<_> = resolution.id_types.iter().map(|id_type| id_type.name()).collect();
        let matches = resolution.status.matches().to_string();
        let by = match resolution.status {
            Status::Resolved(by) => self.by(by),
            _ => "",
        };
        let reason = resolution.reason();
        let (row, status) = (asked.row.to_string(), resolution.status.name());
        let head = [&row, asked.input, status, &id_types.join("|"), &matches, by, &reason];
        let is_shown = self.options.is_many || matches!(resolution.status, Status::Resolved(_));
        let shown: Vec<CsvRow<'_>> = match &resolution.past[..] {
            [] => resolution.hits.iter().copied().map(CsvRow::Now).collect(),
            past => past.iter().filter(|_| asked.day.is_some()).map(CsvRow::Was).collect(),
        };
        let shown = if is_shown { &shown[..] } else { &[] };
        for shown in shown.iter().map(Some).chain(shown.is_empty().then_some(None)) {
            let (buffer, guards_formulas) = (out.last(), self.guards_formulas);
            let mut cells = CellWriter { out: buffer, is_first: true, guards_formulas };
            head.iter().for_each(|text| cells.push(text));
            let of = shown.map(|shown| match shown {
                CsvRow::Now(hit) => Texts::Now(*hit, self.crosswalk.row(*hit)),
                CsvRow::Was(was) => Texts::Was(&was.row),
            });
            for place in 0..self.options.fields.all().len() {
                cells.push(&self.shown().cell(place, of));
            }
            if self.has_past {
                let rows = match shown {
                    Some(CsvRow::Now(_)) => &[],
                    Some(CsvRow::Was(row)) => slice::from_ref(*row),
                    None => &resolution.past[..],
                };
                for text in past::cells(rows) {
                    cells.push(&text);
                }
            }
            if self.options.has_formerly {
                let figis = resolution.formerly.iter().map(|row| row.figi);
                cells.push(&joined(figis));
            }
            if self.options.has_candidates {
                let figis = resolution.candidates.iter().map(|hit| self.rows.row(*hit).figi());
                cells.push(&joined(figis));
            }
            cells.out.push(b'\n');
            out.begin_if_full();
        }
    }

    fn shown(&self) -> ShownRows<'_, R> {
        let Self { options, rows, crosswalk, visible, .. } = self;
        ShownRows { fields: &options.fields, rows: *rows, crosswalk, visible: *visible }
    }

    /// The rows of a result whose identifiers and symbols the answer shows.
    pub(crate) fn crosswalked<'r>(
        &self,
        resolution: &'r Resolution,
    ) -> impl Iterator<Item = Hit> + 'r {
        let is_csv = self.form == Form::Csv;
        let is_shown =
            !is_csv || self.options.is_many || matches!(resolution.status, Status::Resolved(_));
        let past = resolution.past.iter().flat_map(|was| {
            let now = match was.row {
                WasRow::AsToday(hit) => Some(hit),
                WasRow::Then(_) => None,
            };
            [now, was.today]
        });
        let rows = resolution.hits.iter().copied().chain(past.flatten());
        let candidates = resolution.candidates.iter().copied();
        rows.filter(move |_| is_shown).chain(candidates.filter(move |_| !is_csv))
    }

    fn by(&self, by: By) -> &str {
        match by {
            By::Only => "only",
            By::Step(step) => self.options.policy.step(step),
        }
    }
}

/// A row of an answer in CSV.
enum CsvRow<'a> {
    /// A row of today.
    Now(Hit),
    /// A row as it was on the day that was asked for.
    Was(&'a PastRow),
}

/// The delimiter of an answer in CSV.
const DELIMITER: u8 = b',';

/// The writer of the cells of one row.
struct CellWriter<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
    guards_formulas: bool,
}

impl CellWriter<'_> {
    fn push(&mut self, text: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(DELIMITER);
        }
        let guard = if self.guards_formulas { guard_of(text.as_bytes()) } else { b"" };
        push_cell(text.as_bytes(), DELIMITER, guard, self.out);
    }
}
