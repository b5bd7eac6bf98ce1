//! The dry run of a build over dumps: how each is recognised, which columns are taken, and which
//! rows would be rejected. Nothing is built. `propose` makes a columns file for an unknown layout,
//! and `text` prints a preview for people.

mod propose;
mod records;
mod text;

use std::collections::BTreeMap;
use std::io::Read as _;

use figdex_index::{Figi, Instrument};
use serde::Serialize;

use self::records::Records;
use crate::error::{Error, Result};
use crate::format::{Format, builtin};
use crate::row::normalize::{Dropped, normalize, set_cell};
use crate::row::{Column, Row};
use crate::source::next::Next;
use crate::source::{DumpReader, Input, LEFT_OUT};

/// The most samples of a reason.
const SAMPLES_MAX: usize = 3;

/// The most characters of a value that are shown.
const VALUE_CHARS_MAX: usize = 60;

/// The most bytes of a pipe. They are kept in memory, since the pipe may have to be read twice.
const PIPE_BYTES_MAX: u64 = 256 << 20;

/// A preview of each dump.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Previews(pub Vec<Preview>);

/// The dry run of a build over one dump.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The name of the dump as given.
    pub input: String,
    /// The format that the dump is read as; `None` if it cannot be opened.
    pub format: Option<String>,
    /// Whether the format was recognised, not given.
    pub is_recognised: bool,
    /// The reason why a build cannot read the dump, or not to its end.
    pub problem: Option<String>,
    /// The format of a dump without FIGIs, which can only enrich others.
    pub enriches_as: Option<String>,
    /// Number of rows read.
    pub read: u64,
    /// Whether all rows of the dump were read.
    pub is_whole: bool,
    /// Rows that would become instruments, before rows of one FIGI are merged.
    pub accepted: u64,
    /// Rows that would be rejected.
    pub rejected: u64,
    /// Rows that the format leaves out.
    pub skipped: u64,
    /// The canonical columns that have a value in the rows read.
    pub taken: Vec<Taken>,
    /// The columns that the format names and the dump does not have.
    pub absent: Vec<String>,
    /// The columns that the format does not take.
    pub ignored: Vec<Ignored>,
    /// The reasons why rows would be skipped, the most common first.
    pub skips: Vec<Reason>,
    /// The reasons why rows would be rejected, the most common first.
    pub rejects: Vec<Reason>,
    /// The reasons why cells of accepted rows would be dropped, the most common first.
    pub dropped: Vec<Reason>,
    /// A columns file for this dump, if its layout is unknown.
    pub proposal: Option<String>,
}

/// A canonical column that the dump feeds.
#[derive(Serialize)]
pub struct Taken {
    /// The canonical column.
    pub column: &'static str,
    /// The columns of the dump that feed it; empty for a constant.
    pub from: Vec<String>,
    /// Number of rows with a value.
    pub filled: u64,
    /// The first value of the column.
    pub example: String,
}

/// A column of the dump that is not taken.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ignored {
    /// The name of the column in the dump.
    pub name: String,
    /// The canonical column that the name may stand for.
    pub did_you_mean: Option<&'static str>,
}

/// A reason, with the rows that it applies to.
#[derive(Serialize)]
pub struct Reason {
    /// The column of a dropped cell.
    pub column: Option<&'static str>,
    /// The reason.
    pub reason: &'static str,
    /// Number of rows.
    pub count: u64,
    /// The first rows with this reason.
    pub samples: Vec<SampleRow>,
}

/// A row to which a reason applies.
#[derive(Serialize)]
pub struct SampleRow {
    /// The line of the row, from 1; in a Parquet file the number of the record.
    pub line: u64,
    /// The invalid value; if it is unknown, the beginning of the row.
    pub value: String,
}

impl Previews {
    /// Reads at most `rows_max` rows of each dump like a build. With `None`, the format is
    /// recognised.
    ///
    /// # Errors
    /// When a pipe cannot be read or is too long. For an unreadable dump, [`Preview::problem`] is
    /// set instead.
    pub fn of(inputs: &[Input], format: Option<&Format>, rows_max: u64) -> Result<Self> {
        let previews = inputs.iter().map(|input| {
            let name = input.name();
            // A pipe can be read only once.
            let kept = if input.bytes().is_none() { kept(input)? } else { input.clone() };
            Ok(Preview { input: name, ..Preview::of(&kept, format, rows_max) })
        });
        previews.collect::<Result<_>>().map(Self)
    }

    /// The number of dumps that a build cannot read in their present form, even with `--enrich`.
    pub fn unreadable(&self) -> usize {
        let previews = self.0.iter();
        previews.filter(|one| one.problem.is_some() && one.enriches_as.is_none()).count()
    }
}

/// Standard input, or a pipe, in memory.
fn kept(input: &Input) -> Result<Input> {
    // Opening a missing file reports the error later.
    if matches!(input, Input::File(path) if !path.exists()) {
        return Ok(input.clone());
    }
    let name = input.name();
    let mut bytes = Vec::new();
    let read = input.open()?.take(PIPE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::open(&name, error))?;
    if bytes.len() as u64 > PIPE_BYTES_MAX {
        let most = PIPE_BYTES_MAX >> 20;
        let what = format!("longer than {most} MiB: save it as a file and name the file");
        return Err(Error::input(&name, None, what));
    }
    Ok(Input::Memory("-", bytes.into()))
}

impl Preview {
    fn of(input: &Input, format: Option<&Format>, rows_max: u64) -> Self {
        let mut preview = Self { input: input.name(), ..Self::default() };
        preview.is_recognised = format.is_none_or(|format| format.one().is_none());
        match DumpReader::open(input, format) {
            Ok(source) => preview.read_rows(source, rows_max),
            Err(error) => preview.problem = Some(what(error)),
        }
        // A dump of a known vendor without FIGIs needs no proposal: its layout is known.
        if preview.problem.is_some()
            && let Ok(source) = DumpReader::open_without_figi(input, format)
            && builtin::recognisable().iter().any(|known| *known.name == *source.format())
        {
            preview.enriches_as = Some(source.format().to_owned());
            return preview;
        }
        // The operator's own description should be corrected, not replaced.
        let is_unknown = preview.problem.is_some() || (preview.accepted == 0 && preview.read > 0);
        if format.is_none() && is_unknown {
            preview.proposal = propose::columns_file(&Records::readings(input));
        }
        preview
    }

    fn read_rows(&mut self, mut source: DumpReader, rows_max: u64) {
        let mut row = Row::default();
        let mut dropped: Vec<Dropped> = Vec::new();
        let mut filled: BTreeMap<Column, (u64, String)> = BTreeMap::new();
        let mut skips = BTreeMap::new();
        let mut rejects = BTreeMap::new();
        let mut drops = BTreeMap::new();
        while self.read < rows_max {
            let taken = match source.next(&mut row) {
                Ok(Next::Row) => normalize(&row, &mut dropped).map(drop),
                Ok(Next::Rejected(reason)) => Err(reason),
                Ok(Next::Skipped) => {
                    self.read += 1;
                    self.skipped += 1;
                    add(&mut skips, (None, LEFT_OUT), row.line, || start_of(&row));
                    continue;
                }
                Ok(Next::End) => {
                    self.is_whole = true;
                    break;
                }
                Err(error) => {
                    self.problem = Some(what(error));
                    break;
                }
            };
            self.read += 1;
            let mut last = None;
            for cell in row.cells().filter(|cell| last.replace(cell.column) != Some(cell.column)) {
                let (count, _) = filled.entry(cell.column).or_insert_with(|| (0, cut(cell.value)));
                *count += 1;
            }
            match taken {
                Ok(()) => self.accepted += 1,
                Err(reason) => {
                    if let Some(skipped) = source.skips(&reason) {
                        self.skipped += 1;
                        add(&mut skips, (None, skipped), row.line, || start_of(&row));
                        dropped.clear();
                        continue;
                    }
                    self.rejected += 1;
                    let value = || {
                        let figi = row.cells().find(|cell| cell.column == Column::Figi);
                        figi.map_or_else(|| start_of(&row), |cell| cut(cell.value))
                    };
                    add(&mut rejects, (None, reason.kind()), row.line, value);
                }
            }
            for Dropped { column, reason, .. } in dropped.drain(..) {
                add(&mut drops, (Some(column), reason), row.line, || invalid_value(&row, column));
            }
        }
        if self.read == rows_max {
            self.is_whole = matches!(source.next(&mut row), Ok(Next::End));
        }
        let from = |column| source.feeding(column).into_iter().map(str::to_owned).collect();
        let taken = filled.into_iter().map(|(column, (filled, example))| Taken {
            column: column.name(),
            from: from(column),
            filled,
            example,
        });
        self.taken = taken.collect();
        self.format = Some(source.format().to_owned());
        self.absent = source.absent_columns().to_vec();
        let mistaken: BTreeMap<&str, Column> = source.mistaken_columns().into_iter().collect();
        let ignored = source.unknown_columns().iter().map(|name| Ignored {
            name: name.clone(),
            did_you_mean: mistaken.get(name.as_str()).map(|column| column.name()),
        });
        self.ignored = ignored.collect();
        self.skips = reasons(skips);
        self.rejects = reasons(rejects);
        self.dropped = reasons(drops);
    }
}

/// The message of an error, without the name of the dump, which was already printed.
fn what(error: Error) -> String {
    match error {
        Error::Input { line: Some(line), what, .. } => format!("line {line}: {what}"),
        Error::Input { what, .. } => what,
        other => other.to_string(),
    }
}

type Tallies = BTreeMap<(Option<Column>, &'static str), (u64, Vec<SampleRow>)>;

fn add(
    tallies: &mut Tallies,
    key: (Option<Column>, &'static str),
    line: u64,
    value: impl FnOnce() -> String,
) {
    let (count, samples) = tallies.entry(key).or_default();
    *count += 1;
    if samples.len() < SAMPLES_MAX {
        samples.push(SampleRow { line, value: value() });
    }
}

fn reasons(tallies: Tallies) -> Vec<Reason> {
    let tallies = tallies.into_iter().map(|((column, reason), (count, samples))| Reason {
        column: column.map(Column::name),
        reason,
        count,
        samples,
    });
    let mut reasons: Vec<_> = tallies.collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    reasons
}

/// The first value of the row that the column does not accept. If it accepts all, the first value
/// of the row in this column.
fn invalid_value(row: &Row, column: Column) -> String {
    let cells = || row.cells().filter(|cell| cell.column == column);
    let figi = Figi::parse(Column::Figi.about().example);
    let refused = figi.ok().and_then(|figi| {
        let mut instrument = Instrument::new(figi);
        cells().find(|cell| set_cell(&mut instrument, cell).is_err())
    });
    refused.or_else(|| cells().next()).map_or_else(String::new, |cell| cut(cell.value))
}

fn start_of(row: &Row) -> String {
    cut(&String::from_utf8_lossy(&row.raw))
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
