//! Bodies of lists in CSV (contract 17.4): a column of texts, with or without a heading, or columns
//! `idType`, `idValue` and the properties of a mapping job.

use std::borrow::Cow;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use figdex_index::{COLUMN_VALUES_MAX, Column, IdType, Question, type_of_heading};
use serde_json::{Map, Value};

use super::options::Options;
use super::{Context, List, ListError, ListJob, shortened_owned};
use crate::version::Version;
use crate::wire::job::job;

const DELIMITERS: [u8; 3] = *b"\t;,";

/// The most cells of a row: every property of a mapping job, and more.
const CELLS_MAX: usize = 64;

/// Reads a CSV body.
pub(super) fn read<'a>(
    body: &'a str,
    options: Options,
    context: Context<'_>,
) -> Result<List<'a>, ListError> {
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    let mut rows = rows(body).peekable();
    let first = rows.peek().copied().unwrap_or_default();
    let delimiter = DELIMITERS.into_iter().find(|delimiter| first.as_bytes().contains(delimiter));
    let mut cells = Cells::new(delimiter.unwrap_or(b','));
    let heading: Vec<String> = cells.of(first)?.iter().map(|cell| cell.trim().to_owned()).collect();
    let jobs = if heading.iter().any(|name| name == "idValue") {
        rows.next();
        of_columns(&heading, rows, &mut cells, &options, context)?
    } else if heading.len() > 1 {
        return Err(format!(
            "A CSV body must be one column of texts, or have the columns idType and idValue; the \
             first row has {} cells and no idValue.",
            heading.len()
        )
        .into());
    } else {
        let mut name = "";
        if let [first] = &heading[..]
            && is_heading(first)
        {
            name = first;
            rows.next();
        }
        of_one_column(name, rows, &mut cells, &options, context)?
    };
    Ok(List { options, jobs: Some(jobs), columns: None })
}

/// Whether the first text of a column names it.
fn is_heading(text: &str) -> bool {
    type_of_heading(text).is_some()
        || ["id", "identifier", "identifiers"].iter().any(|name| text.eq_ignore_ascii_case(name))
}

/// The jobs of a column of texts, whose type is recognised by the whole column.
fn of_one_column<'a>(
    heading: &str,
    rows: impl Iterator<Item = &'a str>,
    cells: &mut Cells,
    options: &Options,
    context: Context<'_>,
) -> Result<Vec<ListJob<'a>>, ListError> {
    let mut texts: Vec<Cow<'a, str>> = Vec::new();
    let mut column = Column::default();
    for row in rows {
        if texts.len() == context.jobs_max {
            return Err(ListError::TooManyJobs);
        }
        let text = match row.contains('"') {
            true => Cow::Owned(cells.of(row)?.concat()),
            false => Cow::Borrowed(row.trim_end_matches(',')),
        };
        if texts.len() < COLUMN_VALUES_MAX {
            column.add(&text);
        }
        texts.push(text);
    }
    let id_type = column.recognise(heading).map(|recognised| recognised.id_type);
    let job = |text: Cow<'a, str>| {
        let question = match &text {
            Cow::Borrowed(text) => ask(text, id_type, options, context),
            Cow::Owned(text) => ask(text, id_type, options, context).into_owned(),
        };
        ListJob { input: shortened_owned(text), question }
    };
    Ok(texts.into_iter().map(job).collect())
}

fn ask<'t>(
    text: &'t str,
    id_type: Option<IdType>,
    options: &Options,
    context: Context<'_>,
) -> Question<'t> {
    match id_type {
        Some(id_type) => Question::of_column(text, id_type, context.vocabulary, options.filters()),
        None => Question::text(text, context.vocabulary, options.filters()),
    }
}

/// The jobs of a table with a column for each member of a mapping job. A blank cell is a member
/// that is not given. Without `idType`, or with a blank one, the value is a text.
fn of_columns<'a>(
    heading: &[String],
    rows: impl Iterator<Item = &'a str>,
    cells: &mut Cells,
    options: &Options,
    context: Context<'_>,
) -> Result<Vec<ListJob<'a>>, ListError> {
    let mut jobs = Vec::new();
    for row in rows {
        if jobs.len() == context.jobs_max {
            return Err(ListError::TooManyJobs);
        }
        let values = cells.of(row)?;
        if values.len() > heading.len() {
            let reason = format!("it has {} cells under {} headings", values.len(), heading.len());
            let question = Question::invalid(reason);
            jobs.push(ListJob { input: Cow::Borrowed(""), question });
            continue;
        }
        let mut members = Map::new();
        for (name, value) in heading.iter().zip(values) {
            if !value.trim().is_empty() && !name.is_empty() {
                members.insert(name.clone(), member(name, &value));
            }
        }
        jobs.push(of_members(&members, options, context));
    }
    Ok(jobs)
}

/// A job of these members. It is read as the same job in JSON.
fn of_members(
    members: &Map<String, Value>,
    options: &Options,
    context: Context<'_>,
) -> ListJob<'static> {
    let vocabulary = context.vocabulary;
    let value = members.get("idValue").and_then(Value::as_str).unwrap_or_default();
    let question = if !members.contains_key("idType") && members.len() < 2 {
        Question::text(value, vocabulary, options.filters()).into_owned()
    } else {
        let json = Value::Object(members.clone()).to_string();
        match job(&json, Version::V3) {
            Ok(job) => ListJob::of(job, options, vocabulary).question.into_owned(),
            Err(error) => Question::invalid(error.to_string()),
        }
    };
    ListJob { input: shortened_owned(Cow::Borrowed(value)).into_owned().into(), question }
}

/// A cell as the value of a member: intervals and truths are JSON, anything else is a text.
fn member(name: &str, cell: &str) -> Value {
    let is_json = matches!(
        name,
        "strike"
            | "contractSize"
            | "coupon"
            | "expiration"
            | "maturity"
            | "includeUnlistedEquities"
    );
    let text = cell.trim();
    let json = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    json.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The rows of a text. A line end inside quotes does not end a row; blank lines are rows.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut is_quoted = false;
        let end = rest.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b'\n' && !is_quoted
        });
        let (row, after) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, ""),
        };
        rest = after;
        Some(row.strip_suffix('\r').unwrap_or(row))
    })
}

/// Reads the cells of one row at a time.
struct Cells {
    reader: Reader,
    texts: Vec<u8>,
}

impl Cells {
    fn new(delimiter: u8) -> Self {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Self { reader, texts: Vec::new() }
    }

    /// The cells of a row; a blank row has one, which is empty.
    fn of(&mut self, row: &str) -> Result<Vec<String>, ListError> {
        self.reader.reset();
        self.texts.resize(row.len() + 1, 0);
        let mut ends = [0; CELLS_MAX];
        let (mut read, mut written, mut count) = (0, 0, 0);
        // Without more input the reader ends the record.
        loop {
            let (result, bytes_in, bytes_out, cells) = self.reader.read_record(
                &row.as_bytes()[read..],
                &mut self.texts[written..],
                &mut ends[count..],
            );
            read += bytes_in;
            written += bytes_out;
            count += cells;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(format!("A row has more than {CELLS_MAX} cells.").into());
                }
            }
        }
        let mut start = 0;
        let cells = ends[..count].iter().map(|end| {
            let cell = String::from_utf8_lossy(&self.texts[start..*end]).into_owned();
            start = *end;
            cell
        });
        let mut cells: Vec<String> = cells.collect();
        if cells.is_empty() {
            cells.push(String::new());
        }
        Ok(cells)
    }
}
