//! The answer to a list, in each form (contract 17.6, 17.7).

use std::io::Write as _;

use figdex_index::{By, Field, FieldValue, NAME_LIKE, Recognised, Resolution, RowSource, Status};

use super::Form;
use super::fields;
use super::options::Options;
use crate::http::pieces::Pieces;
use crate::wire::cell::push_cell;
use crate::wire::json::{array, string};

/// Writes the results of a list.
pub(crate) struct Writer<'a, R> {
    pub(crate) form: Form,
    pub(crate) options: &'a Options,
    pub(crate) rows: &'a R,
}

/// The first column names of an answer in CSV. Those of the fields follow.
const CSV_COLUMNS: &str = "row,input,match,idType,matches,by,reason";

/// Writes the part before the results: the heading of CSV, or the beginning of JSON.
pub(crate) fn heading(
    out: &mut Pieces,
    form: Form,
    options: &Options,
    generation: u64,
    columns: Option<&[Option<Recognised>]>,
) {
    let out = out.last();
    match form {
        Form::Ndjson => {}
        Form::Csv => {
            out.extend_from_slice(CSV_COLUMNS.as_bytes());
            for field in &options.fields {
                out.push(b',');
                out.extend_from_slice(field.name().as_bytes());
            }
            if options.has_candidates {
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

impl<R: RowSource> Writer<'_, R> {
    /// Writes one result. `row` is its number, from 1; `input` is needed in CSV only.
    pub(crate) fn write(&self, out: &mut Pieces, row: usize, input: &str, resolution: &Resolution) {
        match self.form {
            Form::Json => self.json(out, resolution),
            Form::Ndjson => {
                self.json(out, resolution);
                out.last().push(b'\n');
            }
            Form::Csv => self.csv(out, row, input, resolution),
        }
    }

    fn json(&self, out: &mut Pieces, resolution: &Resolution) {
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
            Status::Unknown
            | Status::Historical
            | Status::Gone
            | Status::Uncertain
            | Status::OutOfCoverage(_) => {}
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
        if !resolution.hits.is_empty() {
            buffer.extend_from_slice(b",\"data\":");
            crate::wire::array_in_pieces(out, &resolution.hits, |out, hit| {
                fields::write_row(&self.options.fields, out.last(), self.rows.row(*hit));
            });
        }
        if !resolution.candidates.is_empty() {
            out.last().extend_from_slice(b",\"candidates\":");
            let has_figi = self.options.fields.contains(&Field::Figi);
            let figi = (!has_figi).then_some(Field::Figi);
            let fields: Vec<Field> = figi.into_iter().chain(self.options.fields.clone()).collect();
            array(out.last(), &resolution.candidates, |out, hit| {
                fields::write_row(&fields, out, self.rows.row(*hit));
            });
        }
        out.last().push(b'}');
    }

    fn csv(&self, out: &mut Pieces, row: usize, input: &str, resolution: &Resolution) {
        let id_types: Vec<_> = resolution.id_types.iter().map(|id_type| id_type.name()).collect();
        let matches = resolution.status.matches().to_string();
        let by = match resolution.status {
            Status::Resolved(by) => self.by(by),
            _ => "",
        };
        let reason = resolution.reason();
        let row = row.to_string();
        let head =
            [&row, input, resolution.status.name(), &id_types.join("|"), &matches, by, &reason];
        let is_shown = self.options.is_many || matches!(resolution.status, Status::Resolved(_));
        let hits = if is_shown { &resolution.hits[..] } else { &[] };
        for hit in hits.iter().map(Some).chain(hits.is_empty().then_some(None)) {
            let buffer = out.last();
            for (place, text) in head.iter().enumerate() {
                cell(buffer, place, text);
            }
            for (place, field) in (head.len()..).zip(&self.options.fields) {
                let value = |field: Field| self.rows.row(*hit?).value(field);
                let text = value(*field).as_ref().map(FieldValue::to_string);
                cell(buffer, place, text.as_deref().unwrap_or_default());
            }
            if self.options.has_candidates {
                let figis = resolution.candidates.iter().map(|hit| self.rows.row(*hit).figi());
                let figis: Vec<String> = figis.map(|figi| figi.to_string()).collect();
                cell(buffer, head.len(), &figis.join("|"));
            }
            buffer.push(b'\n');
            out.begin_if_full();
        }
    }

    fn by(&self, by: By) -> &str {
        match by {
            By::Only => "only",
            By::Step(step) => self.options.policy.step(step),
        }
    }
}

/// The delimiter of an answer in CSV.
const DELIMITER: u8 = b',';

fn cell(out: &mut Vec<u8>, place: usize, text: &str) {
    if place > 0 {
        out.push(DELIMITER);
    }
    push_cell(text.as_bytes(), DELIMITER, b"", out);
}
