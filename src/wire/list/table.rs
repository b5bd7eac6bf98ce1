//! Bodies of lists in CSV (contract 17.4): a column of texts, with or without a heading; or the
//! column `idValue` and, optionally, `idType`, `as` and the properties of a mapping job.

use std::borrow::Cow;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use figdex_index::{
    Attribute, COLUMN_VALUE_UNITS, COLUMN_VALUES_MAX, Column, Question, TakesMore, trimmed,
    type_of_heading,
};
use serde_json::{Map, Value};

use super::options::Options;
use super::{Context, List, ListError, ListJob, shortened};
use crate::callers::limits::units_of_body;
use crate::callers::version::Version;
use crate::wire::KEY_CHARS_MAX;
use crate::wire::job::job;

const DELIMITERS: [u8; 3] = *b"\t;,";

/// The most cells of a row: every property of a mapping job, and more.
const CELLS_MAX: usize = 64;

/// The longest row whose cells are read, in bytes. A row with all properties of a mapping job is
/// far shorter. Copies of the cells of a longer row would take several times the row's size.
const ROW_BYTES_MAX: usize = 64 << 10;

/// The units of work of reading the cells of a row, without the units for their bytes.
const ROW_UNITS: u64 = 60;

/// Units of work of a cell that is a member of its job, without the units for the bytes of the cell
/// and its heading.
const CELL_UNITS: u64 = 10;

/// Reads a CSV body.
pub(super) fn read<'a>(
    body: &'a str,
    options: Options,
    context: Context<'_>,
) -> Result<List<'a>, ListError> {
    let line = body.lines().next().unwrap_or_default();
    let delimiter = DELIMITERS.into_iter().find(|delimiter| line.as_bytes().contains(delimiter));
    let delimiter = delimiter.unwrap_or(b',');
    let mut rows = Rows::new(body, delimiter);
    let mut cells = Cells::new(delimiter);
    let first = rows.clone().next().transpose()?.unwrap_or_default();
    if first.len() > ROW_BYTES_MAX {
        let bytes = first.len();
        return Err(
            format!("The first row has {bytes} bytes; a row has at most {ROW_BYTES_MAX}.").into()
        );
    }
    let mut heading: Vec<String> =
        cells.of(first)?.iter().map(|cell| cell.trim().to_owned()).collect();
    let jobs = if heading.iter().any(|name| name == "idValue") {
        refuse_same(&heading)?;
        rows.next();
        heading.iter_mut().for_each(cut);
        of_columns(&heading, rows, &mut cells, &options, context)?
    } else if heading.iter().skip(1).any(|cell| !cell.is_empty()) {
        return Err(format!(
            "A CSV body must be one column of texts, or name the column of identifiers idValue; \
             the first row has {} cells, and none is idValue.",
            heading.len()
        )
        .into());
    } else {
        // Spreadsheets write empty cells after the last column.
        heading.truncate(1);
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

/// Refuses columns of the same name: they would be two values of one member.
fn refuse_same(heading: &[String]) -> Result<(), ListError> {
    let mut names = heading.iter().enumerate().filter(|(_, name)| !name.is_empty());
    match names.find(|(place, name)| heading[..*place].contains(name)) {
        Some((_, name)) => Err(format!("The heading {name} is given twice.").into()),
        None => Ok(()),
    }
}

/// Cuts a long heading, since it is read again with each row. The rest is still longer than any
/// member's name, and than the part that an error repeats.
fn cut(heading: &mut String) {
    if let Some((end, _)) = heading.char_indices().nth(KEY_CHARS_MAX + 1) {
        heading.truncate(end);
    }
}

/// Whether the first text of a column is its heading.
fn is_heading(text: &str) -> bool {
    type_of_heading(text).is_some()
        || ["id", "identifier", "identifiers"].iter().any(|name| text.eq_ignore_ascii_case(name))
}

/// The jobs of a column of texts. The type of the column is recognised from its heading and its
/// first [`COLUMN_VALUES_MAX`] texts.
fn of_one_column<'a>(
    heading: &str,
    rows: Rows<'a>,
    cells: &mut Cells,
    options: &Options,
    context: Context<'_>,
) -> Result<Vec<ListJob<'a>>, ListError> {
    let delimiter = char::from(rows.delimiter).to_string();
    let mut texts: Vec<Cow<'a, str>> = Vec::new();
    let mut column = Column::default();
    for row in rows {
        if texts.len() == context.jobs_max {
            return Err(options.too_many_jobs());
        }
        let row = row?;
        context.meter.charge(ROW_UNITS)?;
        // A longer text cannot be an identifier, with its quotes or without.
        let text = match row.starts_with('"') && row.len() <= ROW_BYTES_MAX {
            true => {
                Cow::Owned(cells.of(row)?.join(&*delimiter).trim_end_matches(&*delimiter).into())
            }
            false => Cow::Borrowed(row.trim_end_matches(&*delimiter)),
        };
        if texts.len() < COLUMN_VALUES_MAX {
            context.meter.charge(COLUMN_VALUE_UNITS)?;
            column.add(&text);
        }
        texts.push(text);
    }
    let id_type = column.recognise(heading).map(|recognised| recognised.id_type);
    let job = |text| ListJob::text(text, id_type, options, context);
    Ok(texts.into_iter().map(job).collect::<Result<_, TakesMore>>()?)
}

/// The jobs of a table with a column for each member of a mapping job. A blank cell means that the
/// member is not given. Without `idType`, or with a blank one, the value is a text.
fn of_columns<'a>(
    heading: &[String],
    rows: Rows<'a>,
    cells: &mut Cells,
    options: &Options,
    context: Context<'_>,
) -> Result<Vec<ListJob<'a>>, ListError> {
    let mut jobs = Vec::new();
    for row in rows {
        if jobs.len() == context.jobs_max {
            return Err(options.too_many_jobs());
        }
        let row = row?;
        context.meter.charge(ROW_UNITS)?;
        if row.len() > ROW_BYTES_MAX {
            let bytes = row.len();
            let reason = format!("it has {bytes} bytes; a row has at most {ROW_BYTES_MAX}");
            jobs.push(ListJob::invalid(reason));
            continue;
        }
        let values = cells.of(row)?;
        if values.len() > heading.len() {
            let reason = format!("it has {} cells under {} headings", values.len(), heading.len());
            jobs.push(ListJob::invalid(reason));
            continue;
        }
        let mut members = Map::new();
        for (name, value) in heading.iter().zip(values) {
            // A row without a day is not taken for one that is asked as of now.
            let is_day = name == "asOf" && options.as_of.is_none();
            if (is_day || !value.trim().is_empty()) && !name.is_empty() {
                let bytes = units_of_body(name.as_bytes()) + units_of_body(value.as_bytes());
                context.meter.charge(CELL_UNITS + bytes)?;
                members.insert(name.clone(), member(name, &value));
            }
        }
        jobs.push(of_members(members, options, context)?);
    }
    Ok(jobs)
}

/// A job with these members, read like the same job in JSON. Without `idType`, the value is a
/// `text` (contract 17.13).
fn of_members(
    mut members: Map<String, Value>,
    options: &Options,
    context: Context<'_>,
) -> Result<ListJob<'static>, TakesMore> {
    let value = members.get("idValue").and_then(Value::as_str).unwrap_or_default();
    let input = shortened(Cow::Borrowed(value)).into_owned().into();
    if !members.contains_key("idType") && !members.contains_key("text") {
        let text = members.remove("idValue").unwrap_or_else(|| "".into());
        members.insert("text".to_owned(), text);
    }
    let json = Value::Object(members).to_string();
    let (question, day) = match job(&json, Version::V3) {
        Ok(job) => {
            let ListJob { question, day, .. } = ListJob::of(job, options, context)?;
            (question.into_owned(), day)
        }
        Err(error) => (Question::invalid(error.to_string()), None),
    };
    Ok(ListJob { input, question, day })
}

/// A cell as the value of a member. Quotation marks and the like around an identifier do not count.
/// Intervals and booleans are read as JSON, if they are valid; anything else is a text.
fn member(name: &str, cell: &str) -> Value {
    let is_json = name == "includeUnlistedEquities"
        || Attribute::compared().any(|attribute| attribute.name() == name);
    if matches!(name, "idValue" | "text") {
        return Value::String(trimmed(cell).into_owned());
    }
    let text = cell.trim();
    let json = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    json.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The rows of a text. A line end in a quoted cell does not end a row; blank lines are rows.
#[derive(Clone)]
struct Rows<'a> {
    rest: &'a str,
    delimiter: u8,
    /// The number of the line where `rest` begins.
    line: usize,
}

/// The position of a byte in a row, by the rules of the cell reader: a quote opens a cell only at
/// the beginning of the cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    CellStart,
    Plain,
    Quoted,
    /// After a quote in a quoted cell. The quote ends the cell, or is the first of two.
    AfterQuote,
}

impl<'a> Rows<'a> {
    fn new(rest: &'a str, delimiter: u8) -> Self {
        Self { rest, delimiter, line: 1 }
    }

    /// The length of the next row; `None` when it has a quoted cell that never ends.
    fn row_bytes(&self) -> Option<usize> {
        let mut place = Place::CellStart;
        let end = self.rest.bytes().position(|byte| {
            place = match (place, byte) {
                (Place::Quoted, b'"') => Place::AfterQuote,
                (Place::Quoted, _) => Place::Quoted,
                (Place::CellStart | Place::AfterQuote, b'"') => Place::Quoted,
                (_, b'\n' | b'\r') => return true,
                (_, byte) if byte == self.delimiter => Place::CellStart,
                _ => Place::Plain,
            };
            false
        });
        match end {
            None if place == Place::Quoted => None,
            end => Some(end.unwrap_or(self.rest.len())),
        }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Result<&'a str, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(bytes) = self.row_bytes() else {
            let fault = format!(
                "The row that begins on line {} has a quoted cell that never ends.",
                self.line
            );
            return Some(Err(fault.into()));
        };
        let (row, rest) = self.rest.split_at(bytes);
        let line_end = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        self.rest = &rest[line_end..];
        self.line += 1 + row.bytes().filter(|byte| *byte == b'\n').count();
        Some(Ok(row))
    }
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
        // Once there is no more input, the reader ends the record.
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

#[cfg(test)]
mod tests {
    use figdex_index::{INLINE_UNITS_MAX, Meter, Vocabularies, Vocabulary};

    use super::*;

    fn table(body: &str, meter: &Meter) -> Result<Vec<String>, ListError> {
        let vocabulary = Vocabulary::new([]);
        let vocabulary = Vocabularies::from(&vocabulary);
        let context = Context { vocabulary, jobs_max: 1_000, meter };
        let list = read(body, Options::default(), context)?;
        Ok(list.jobs.iter().flatten().map(|job| format!("{:?}", job.question)).collect())
    }

    /// engine 8: each cell that becomes a member of its job is work, so that rows of many cells are
    /// not read on a serving thread.
    #[test]
    fn cells_are_work() {
        let names: Vec<_> = (1..CELLS_MAX).map(|number| format!("a{number}")).collect();
        let row = format!("A{}\n", ",b".repeat(CELLS_MAX - 1));
        let body = format!("idValue,{}\n{}", names.join(","), row.repeat(90));
        assert!(matches!(table(&body, &Meter::of(INLINE_UNITS_MAX)), Err(ListError::TakesMore)));
        assert_eq!(table(&body, &Meter::unlimited()).unwrap().len(), 90);
        let blank = format!("idValue,{}\n{}", names.join(","), "A\n".repeat(90));
        assert!(table(&blank, &Meter::of(INLINE_UNITS_MAX)).is_ok());
    }

    /// A heading of 60,000 characters is not read again with each row. The fault of the rows names
    /// it as that of a shorter one is named.
    #[test]
    fn a_long_heading_is_cut() {
        let work = |chars: usize, rows: usize| {
            let meter = Meter::unlimited();
            let body = format!("idValue,{}\n{}", "x".repeat(chars), "A,b\n".repeat(rows));
            let questions = table(&body, &meter).unwrap();
            (meter.spent(), questions)
        };
        let (of_short, named) = work(KEY_CHARS_MAX + 1, 900);
        let (of_long, cut) = work(60_000, 900);
        assert_eq!(of_long, of_short);
        assert_eq!(cut, named);
        assert!(named[0].contains(&format!("{}…", "x".repeat(KEY_CHARS_MAX))), "{}", named[0]);
        assert!(work(KEY_CHARS_MAX, 1).1[0].contains(&format!("{}'", "x".repeat(KEY_CHARS_MAX))));
    }

    /// contract 17.13: a column `text` next to `idValue` is not passed over.
    #[test]
    fn a_text_next_to_a_value() {
        for heading in ["idValue,text", "text,idValue"] {
            let questions = table(&format!("{heading}\nA,B\n"), &Meter::unlimited()).unwrap();
            let fault = "text takes the place of idType and idValue";
            assert!(questions[0].contains(fault), "{heading}: {}", questions[0]);
        }
    }
}
