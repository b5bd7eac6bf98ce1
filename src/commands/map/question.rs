//! Turns the rows of a table into questions, and the answers into one outcome for each row.

use std::borrow::Cow;

use figdex_index::{IdType, Known, Property, Resolution, Status, Vocabulary, check_required};
use figdex_ingest::table::{Batch, RawCell, RowBytes};
use figdex_io::is_hidden;

use super::advice::Undecided;
use super::answerer::{Answer, Answerer, Asked, AskedAs, Narrowing};
use super::columns::{Columns, Identifier, Reading, integer_in, text_of};

/// The columns with identifiers, the conditions on the rows that they find, and the first ambiguous
/// identifiers.
pub(super) struct Questions {
    pub(super) columns: Columns,
    /// The conditions that are the same for all rows.
    pub(super) narrowing: Narrowing,
    /// The first ambiguous identifiers.
    pub(super) undecided: Undecided,
}

/// The reason why a row has no question.
enum NoQuestion {
    Blank,
    Invalid(String),
}

/// The number of rows of the table that are answered together. With more rows, more memory reads
/// overlap. The second number applies if all rows of an ambiguous identifier are kept.
const ROWS_ASKED: usize = 1024;
const ROWS_ASKED_WITH_ALL: usize = 64;

impl Questions {
    /// Passes the outcome of each row of a batch to `each`, in order. Rows are answered in groups.
    ///
    /// # Errors
    /// When the answerer cannot answer, or `each` fails.
    pub(super) fn answer<A: Answerer>(
        &self,
        batch: &Batch,
        answerer: &A,
        keeps_all: bool,
        mut each: impl FnMut(RowBytes<'_>, &Answer<A::Row>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let step = if keeps_all { ROWS_ASKED_WITH_ALL } else { ROWS_ASKED };
        let mut asked = Vec::with_capacity(step);
        let mut places = Vec::with_capacity(step);
        for first in (0..batch.rows()).step_by(step) {
            let rows = first..batch.rows().min(first + step);
            let mut answers: Vec<Option<Answer<A::Row>>> = rows.clone().map(|_| None).collect();
            for identifier in &self.columns.identifiers {
                asked.clear();
                places.clear();
                for place in rows.clone() {
                    let answer = &mut answers[place - first];
                    if answer.as_ref().is_some_and(|answer| is_found(&answer.resolution)) {
                        continue;
                    }
                    match self.question(batch.row(place), *identifier, answerer.vocabulary()) {
                        Ok(question) => {
                            asked.push(question);
                            places.push(place - first);
                        }
                        Err(NoQuestion::Blank) => {}
                        Err(NoQuestion::Invalid(reason)) => prefer(answer, invalid(reason)),
                    }
                }
                let found = answerer.resolve(&asked)?;
                for ((place, asked), found) in places.iter().zip(&asked).zip(found) {
                    self.undecided.note(asked, &found.resolution);
                    prefer(&mut answers[*place], found);
                }
            }
            for (place, answer) in rows.zip(answers) {
                let answer = answer.unwrap_or_else(|| invalid("it is blank".to_owned()));
                each(batch.row(place), &answer)?;
            }
        }
        Ok(())
    }

    fn question<'a>(
        &self,
        row: RowBytes<'a>,
        identifier: Identifier,
        vocabulary: &Vocabulary,
    ) -> Result<Asked<'a>, NoQuestion> {
        let columns = match self.columns.are_delimited {
            true => self.columns.names.len(),
            // A later object may have further members, but none of them twice.
            false => self.columns.names.len().max(row.columns()),
        };
        if row.cells() > columns {
            return Err(NoQuestion::Invalid(format!(
                "the row has {} cells and the heading {columns}",
                row.cells()
            )));
        }
        let cell = row.cell(identifier.column);
        let text = checked(cell)?;
        let reading = match identifier.reading {
            Reading::Each => AskedAs::Text,
            Reading::OfColumn(id_type) => AskedAs::OfColumn(id_type),
            Reading::Given(id_type) => AskedAs::Given(id_type),
            Reading::TypeIn(column) => AskedAs::Given(id_type(row.cell(column))?),
        };
        let mut narrowing = self.narrowing;
        for (property, column) in &self.columns.conditions {
            // A blank cell sets no condition.
            let text = match checked(row.cell(*column)) {
                Ok(text) => text.trim(),
                Err(NoQuestion::Blank) => continue,
                Err(invalid) => return Err(invalid),
            };
            let known = vocabulary
                .admit(*property, text)
                .ok_or_else(|| NoQuestion::Invalid(outside(*property, text)))?;
            narrowing[*property as usize] = Some(known);
        }
        if let AskedAs::Given(id_type) = reading {
            let value = |known: Known| vocabulary.text(known);
            required(id_type, &narrowing, value).map_err(NoQuestion::Invalid)?;
        }
        let text = match integer_in(cell) {
            Some(decimal) => padded(decimal, reading),
            None => Cow::Borrowed(text),
        };
        Ok(Asked { text, reading, narrowing })
    }
}

/// The text of an integer. If its type is known, it gets back the leading zeros that a number loses
/// (contract 5.3).
fn padded(decimal: Cow<'_, str>, reading: AskedAs) -> Cow<'_, str> {
    match reading {
        AskedAs::Text => decimal,
        AskedAs::OfColumn(id_type) | AskedAs::Given(id_type) => id_type.padded(decimal),
    }
}

/// Checks the conditional properties of a mapping job (contract 4.12 to 4.14).
fn required<'v>(
    id_type: IdType,
    narrowing: &Narrowing,
    value: impl Fn(Known) -> &'v str,
) -> Result<(), String> {
    let is_given = |property: Property| narrowing[property as usize].is_some();
    let kind = narrowing[Property::SecurityType2 as usize].map(value);
    // Rows of a table have no dates.
    let fault = check_required(id_type, is_given, kind, [false; 2]);
    fault.map_err(|fault| fault.trim_end_matches('.').to_owned())
}

/// The text of a cell. An error if the cell is blank, nested or not UTF-8.
fn checked(cell: RawCell<'_>) -> Result<&str, NoQuestion> {
    match cell {
        RawCell::Absent => return Err(NoQuestion::Blank),
        RawCell::Nested => {
            return Err(NoQuestion::Invalid("it is neither a text nor a number".to_owned()));
        }
        RawCell::Text(_) | RawCell::Number(_) => {}
    }
    let text = text_of(cell).ok_or_else(|| NoQuestion::Invalid("it is not UTF-8".to_owned()))?;
    let is_visible = |c: char| !c.is_whitespace() && !is_hidden(c);
    if text.chars().any(is_visible) { Ok(text) } else { Err(NoQuestion::Blank) }
}

/// The idType that a cell names.
fn id_type(cell: RawCell<'_>) -> Result<IdType, NoQuestion> {
    let name = match checked(cell) {
        Ok(name) => name.trim(),
        Err(NoQuestion::Blank) => {
            return Err(NoQuestion::Invalid("its idType is blank".to_owned()));
        }
        Err(invalid) => return Err(invalid),
    };
    let known = IdType::from_name(name).or_else(|| figdex_index::type_of_heading(name));
    known.ok_or_else(|| NoQuestion::Invalid(format!("{name:?} is not an idType")))
}

/// The reason why a row is invalid: the index has no such value of this property.
fn outside(property: Property, value: &str) -> String {
    format!("{value:?} is not a value of {}", property.name())
}

/// Keeps the better of two answers. The first that found something is best, and an unknown
/// identifier is better than an invalid one.
fn prefer<R>(kept: &mut Option<Answer<R>>, answer: Answer<R>) {
    let rank = |answer: &Answer<R>| match answer.resolution.status {
        Status::Resolved(_) | Status::Ambiguous(_) => 2,
        Status::Unknown => 1,
        Status::Invalid(_) => 0,
    };
    if kept.as_ref().is_none_or(|kept| rank(&answer) > rank(kept)) {
        *kept = Some(answer);
    }
}

fn is_found(resolution: &Resolution) -> bool {
    matches!(resolution.status, Status::Resolved(_) | Status::Ambiguous(_))
}

fn invalid<R>(reason: String) -> Answer<R> {
    let status = Status::Invalid(reason);
    let (id_types, hits, rows) = Default::default();
    Answer {
        resolution: Resolution { status, id_types, hits, correction: None, is_beyond_rows: false },
        rows,
    }
}
