//! Turns the rows of a table into questions, and the answers into one outcome for each row.

use std::borrow::Cow;

use figdex_index::{
    Date, IdType, Known, ListField, Property, Question, Resolution, Status, Vocabulary,
    candidates_of, check_required, joined, trimmed,
};
use figdex_ingest::table::{Batch, RawCell, RowBytes};
use figdex_io::is_hidden;

use super::advice::Undecided;
use super::answerer::{Answer, Answerer, Asked, AskedAs, Narrowing};
use super::columns::{Columns, Identifier, Reading, integer_in, shortened, text_of};
use super::left_out::{FooterRule, LeftOut, is_blank, is_heading};
use crate::config::as_of::{DayFormat, iso_day};
use crate::config::map::Many;

/// The columns with identifiers, the conditions on the rows that they find, and the first ambiguous
/// identifiers.
pub(super) struct Questions {
    pub(super) columns: Columns,
    /// The conditions that are the same for all rows.
    pub(super) narrowing: Narrowing,
    /// The day as of which all rows are asked, if it is the same for all.
    pub(super) day: Option<Date>,
    /// The format of the days in their column; `None` for YYYY-MM-DD.
    pub(super) day_format: Option<DayFormat>,
    /// The first ambiguous identifiers.
    pub(super) undecided: Undecided,
    /// Whether names that are not resolved have candidates.
    pub(super) names_as_candidates: bool,
}

/// The reason why a row has no question.
enum NoQuestion {
    Blank,
    Invalid(String),
}

/// The number of rows of the table that are answered together. With more rows, more memory reads
/// overlap. The second number applies if all rows of an ambiguous identifier are kept, and the third
/// if their identifiers or symbols are asked for too: an identifier may have 15,000 rows, and texts
/// take most memory.
const ROWS_ASKED: usize = 1024;
const ROWS_ASKED_WITH_ALL: usize = 64;
const ROWS_ASKED_WITH_TEXTS: usize = 1;

/// The number of rows of a table that are answered together, with these fields.
pub(super) fn rows_asked(many: Many, fields: &[ListField]) -> usize {
    match many {
        Many::All if fields.iter().any(|field| field.row_field().is_none()) => {
            ROWS_ASKED_WITH_TEXTS
        }
        Many::All => ROWS_ASKED_WITH_ALL,
        Many::None => ROWS_ASKED,
    }
}

impl Questions {
    /// Passes the outcome of each row of a batch to `each`, in order. `step` rows are answered
    /// together. `footer` is the place of the first row of the footer.
    ///
    /// # Errors
    /// When the answerer cannot answer, or `each` fails.
    pub(super) fn answer<A: Answerer>(
        &self,
        (batch, footer): (&Batch, Option<usize>),
        answerer: &A,
        step: usize,
        mut each: impl FnMut(RowBytes<'_>, &Answer<A::Row>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut asked = Vec::with_capacity(step);
        let mut places = Vec::with_capacity(step);
        for first in (0..batch.rows()).step_by(step) {
            let rows = first..batch.rows().min(first + step);
            let answer_of = |place| self.left_out((batch, footer), place).map(Answer::left_out);
            let mut answers: Vec<Option<Answer<A::Row>>> = rows.clone().map(answer_of).collect();
            for identifier in &self.columns.identifiers {
                asked.clear();
                places.clear();
                for place in rows.clone() {
                    let answer = &mut answers[place - first];
                    if answer.as_ref().is_some_and(is_done) {
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
                    self.undecided.note(asked, &found);
                    prefer(&mut answers[*place], found);
                }
            }
            if self.names_as_candidates {
                self.add_candidates((batch, first), answerer, &mut answers)?;
            }
            for (place, answer) in rows.zip(answers) {
                let answer = answer.unwrap_or_else(|| Answer::left_out(LeftOut::Blank));
                each(batch.row(place), &answer)?;
            }
        }
        Ok(())
    }

    /// The reason why a row is not asked, if that shows before its identifiers are read.
    fn left_out(&self, (batch, footer): (&Batch, Option<usize>), place: usize) -> Option<LeftOut> {
        let row = batch.row(place);
        if is_blank(row) {
            return Some(LeftOut::Blank);
        }
        match footer.is_some_and(|footer| footer <= place) {
            true if FooterRule::of(&self.columns).is_total(row) => Some(LeftOut::Total),
            true => Some(LeftOut::BelowTotal),
            false => is_heading(row, &self.columns).then_some(LeftOut::Heading),
        }
    }

    /// Adds the candidates of the names among some rows that are not resolved. `first` is the place
    /// of the first of these rows in the batch.
    fn add_candidates<A: Answerer>(
        &self,
        (batch, first): (&Batch, usize),
        answerer: &A,
        answers: &mut [Option<Answer<A::Row>>],
    ) -> anyhow::Result<()> {
        let vocabulary = answerer.vocabulary();
        let (mut asked, mut places) = (Vec::new(), Vec::new());
        let is_free = |identifier: &&Identifier| identifier.reading == Reading::Each;
        for (place, answer) in answers.iter().enumerate() {
            let Some(answer) = answer.as_ref().filter(|answer| answer.left_out.is_none()) else {
                continue;
            };
            let row = batch.row(first + place);
            for identifier in self.columns.identifiers.iter().filter(is_free) {
                let Ok(question) = self.question(row, *identifier, vocabulary) else { continue };
                let text = Question::text(&question.text, vocabulary, None);
                if candidates_of(&text, &answer.resolution).is_some() {
                    asked.push(question);
                    places.push(place);
                    break;
                }
            }
        }
        let named = answerer.candidates(&asked)?;
        for (place, named) in places.into_iter().zip(named) {
            if let Some(answer) = &mut answers[place] {
                answer.candidates = named.candidates;
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
            Reading::Symbol(vendor) => AskedAs::Symbol(vendor),
            Reading::TypeIn(column) => AskedAs::Given(id_type(row.cell(column))?),
        };
        let day = self.day_of(row)?;
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
            // Characters around an identifier and blanks in it do not count, whatever its type
            // (contract 17.2).
            None => match reading {
                AskedAs::Given(id_type) => joined(text, id_type).map_or(trimmed(text), Cow::Owned),
                AskedAs::Text | AskedAs::OfColumn(_) | AskedAs::Symbol(_) => trimmed(text),
            },
        };
        Ok(Asked { text, reading, narrowing, day })
    }

    /// The day as of which a row is asked; `None` for today.
    fn day_of(&self, row: RowBytes<'_>) -> Result<Option<Date>, NoQuestion> {
        let Some(column) = self.columns.days else { return Ok(self.day) };
        let text = match checked(row.cell(column)) {
            Ok(text) => trimmed(text),
            Err(NoQuestion::Blank) => {
                let name = shortened(&self.columns.name(column));
                return Err(NoQuestion::Invalid(format!("it has no day: {name} is blank")));
            }
            Err(NoQuestion::Invalid(reason)) => {
                return Err(NoQuestion::Invalid(format!("its day: {reason}")));
            }
        };
        let day = match &self.day_format {
            Some(format) => format.day(&text),
            None => iso_day(&text),
        };
        day.map(Some).map_err(NoQuestion::Invalid)
    }
}

/// The text of an integer. If its type is known, it gets back the leading zeros that a number loses
/// (contract 5.3).
fn padded(decimal: Cow<'_, str>, reading: AskedAs) -> Cow<'_, str> {
    match reading {
        AskedAs::Text | AskedAs::Symbol(_) => decimal,
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

/// Keeps the better of two answers. The first that found something is best; what the past knows is
/// better than an unknown identifier, and that is better than an invalid one.
fn prefer<R>(kept: &mut Option<Answer<R>>, answer: Answer<R>) {
    let rank = |answer: &Answer<R>| match answer.resolution.status {
        Status::Resolved(_) | Status::Ambiguous(_) => 3,
        Status::Historical | Status::Gone | Status::Uncertain | Status::OutOfCoverage(_) => 2,
        Status::Unknown => 1,
        Status::Invalid(_) => 0,
    };
    if kept.as_ref().is_none_or(|kept| rank(&answer) > rank(kept)) {
        *kept = Some(answer);
    }
}

/// Whether a row needs no other column: something was found, or the row is left out.
fn is_done<R>(answer: &Answer<R>) -> bool {
    answer.left_out.is_some()
        || matches!(answer.resolution.status, Status::Resolved(_) | Status::Ambiguous(_))
}

fn invalid<R>(reason: String) -> Answer<R> {
    Answer::new(Resolution::new(Status::Invalid(reason.into()), Vec::new(), Vec::new()), Vec::new())
}
