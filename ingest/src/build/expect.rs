//! Known answers (`build --expect`): mapping jobs and the FIGIs that they must find in a new index
//! before it is published.
//!
//! Each line of the file is a job of the contract (chapters 4 to 6) with one more member:
//!
//! ```json
//! {"idType": "ID_ISIN", "idValue": "US4592001014", "exchCode": "US", "figi": "BBG000BLNNH6"}
//! ```
//!
//! `figi` is a FIGI, or an array of all FIGIs that the job must find. With `[]` the job must find
//! nothing.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use figdex_index::{
    Attribute, Catalogue, Date, DateInterval, Figi, Filters, IdType, IdValue, Lookup,
    NumberInterval, Property, RowSource as _, check_required,
};
use figdex_io::{escaped, escaped_path, grouped};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::report::wrong_answers::{NAMED_MAX, WrongAnswers};
use crate::waiting;

/// The most known answers of a file.
const ANSWERS_MAX: usize = 100_000;

/// The longest line, in bytes.
const LINE_BYTES_MAX: usize = 64 << 10;

/// The known answers of a file.
pub(crate) struct KnownAnswers {
    file: PathBuf,
    answers: Vec<KnownAnswer>,
}

/// A line of the file.
struct KnownAnswer {
    line: u64,
    job: Job,
    /// Ascending, each once.
    figis: Vec<Figi>,
}

/// A mapping job whose values are not yet looked up in the vocabulary of an index.
struct Job {
    id_value: IdValue<'static>,
    /// The enum-like properties.
    values: Vec<(Property, String)>,
    /// The other properties.
    filters: Filters,
}

impl KnownAnswers {
    /// Reads a file of known answers.
    ///
    /// # Errors
    /// When the file cannot be read, for the first line that is not a known answer, and when the
    /// file has no known answers or too many.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = escaped_path(path);
        let fault = |line, what: String| Error::input(&name, line, what);
        let file = waiting::open(path).map_err(|error| Error::open(&name, error))?;
        let mut input = BufReader::new(file);
        let mut answers = Vec::new();
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let mut rest = input.by_ref().take(LINE_BYTES_MAX as u64 + 1);
            rest.read_until(b'\n', &mut text).map_err(|error| Error::open(&name, error))?;
            if text.is_empty() {
                break;
            }
            if text.len() > LINE_BYTES_MAX {
                return Err(fault(Some(line), format!("it has more than {LINE_BYTES_MAX} bytes")));
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            if answers.len() == ANSWERS_MAX {
                let most = grouped(ANSWERS_MAX as u64);
                return Err(fault(Some(line), format!("more than {most} known answers")));
            }
            let (job, figis) = known_answer(&text).map_err(|what| fault(Some(line), what))?;
            answers.push(KnownAnswer { line, job, figis });
        }
        if answers.is_empty() {
            let what = "it has no known answers: expected a line for each, such as {\"idType\": \
                        \"ID_ISIN\", \"idValue\": \"US4592001014\", \"exchCode\": \"US\", \"figi\": \
                        \"BBG000BLNNH6\"}";
            return Err(fault(None, what.to_owned()));
        }
        Ok(Self { file: path.to_owned(), answers })
    }

    /// Runs all jobs on an index. `None` when the index gives every known answer.
    pub(crate) fn wrong(&self, catalogue: &Catalogue) -> Option<WrongAnswers> {
        let (mut lines, mut first) = (Vec::new(), None);
        for KnownAnswer { line, job, figis } in &self.answers {
            if let Err(difference) = job.check(catalogue, figis) {
                lines.push(*line);
                first = first.or(Some(difference));
            }
        }
        Some(WrongAnswers { file: self.file.clone(), of: self.answers.len(), lines, first: first? })
    }
}

impl Job {
    /// Checks that the job finds exactly these FIGIs. Otherwise returns the difference.
    fn check(&self, catalogue: &Catalogue, figis: &[Figi]) -> Result<(), String> {
        let (id_type, id_value) = (self.id_value.id_type().name(), self.id_value.as_str());
        let job = format!("{id_type} {}", escaped(id_value));
        let mut filters = self.filters.clone();
        for (property, value) in &self.values {
            let known = catalogue.vocabulary().admit(*property, value).ok_or_else(|| {
                format!(
                    "{job}: {} {:?} is not one of its values in the new index",
                    property.name(),
                    value
                )
            })?;
            filters.known.require(known);
        }
        let lookup = Lookup::new(self.id_value.borrowed(), filters);
        let found_max = figis.len().max(NAMED_MAX);
        let found = match catalogue.lookup(&lookup, found_max) {
            Ok(hits) => hits.iter().map(|hit| catalogue.row(*hit).figi()).collect::<Vec<_>>(),
            Err(_) => {
                let expected = named(figis);
                return Err(format!(
                    "{job} must find {expected}, and finds more than {found_max} instruments"
                ));
            }
        };
        match found == figis {
            true => Ok(()),
            false => Err(format!("{job} must find {}, and finds {}", named(figis), named(&found))),
        }
    }
}

/// The first [`NAMED_MAX`] FIGIs, for a message.
fn named(figis: &[Figi]) -> String {
    let first: Vec<_> = figis.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match figis.len() {
        0 => "nothing".to_owned(),
        count if count > NAMED_MAX => format!("{} …", first.join(" ")),
        _ => first.join(" "),
    }
}

/// The job of a line, and the FIGIs that it must find.
fn known_answer(text: &[u8]) -> Result<(Job, Vec<Figi>), String> {
    let mut members: Map<String, Value> = serde_json::from_slice(text).map_err(|error| {
        format!("not a JSON object: {error}; expected a mapping job with its figi")
    })?;
    let figis = figis(members.remove("figi").as_ref())?;
    let job = Job::of(&mut members)?;
    match members.keys().next() {
        Some(name) => {
            Err(format!("unknown member {name:?}: expected those of a mapping job, and figi"))
        }
        None => Ok((job, figis)),
    }
}

fn figis(value: Option<&Value>) -> Result<Vec<Figi>, String> {
    let one = |value: &Value| {
        let figi = value.as_str().and_then(|text| Figi::parse(text).ok());
        figi.ok_or_else(|| format!("figi: {value} is not a FIGI"))
    };
    let mut figis = match value {
        None => return Err("figi is required: a FIGI, or an array of them".to_owned()),
        Some(Value::Array(values)) => values.iter().map(one).collect::<Result<Vec<_>, _>>()?,
        Some(value) => vec![one(value)?],
    };
    figis.sort_unstable();
    figis.dedup();
    Ok(figis)
}

impl Job {
    /// Takes the members of a job out of an object.
    fn of(members: &mut Map<String, Value>) -> Result<Self, String> {
        let mut take = |name: &str| members.remove(name).filter(|value| !value.is_null());
        let id_type = match take("idType") {
            Some(Value::String(name)) => IdType::from_name(&name)
                .ok_or_else(|| format!("idType: {name:?} is not an idType"))?,
            _ => return Err("idType must be a text".to_owned()),
        };
        let id_value = match take("idValue") {
            Some(Value::String(text)) => id_type.admit(&text).map(IdValue::into_owned),
            Some(Value::Number(number)) if number.is_u64() => {
                id_type.admit_integer(&number.to_string())
            }
            _ => return Err("idValue must be a text or an integer".to_owned()),
        };
        let id_value = id_value.map_err(|error| format!("idValue is {error}"))?;
        let mut values = Vec::new();
        for property in Property::ALL {
            match take(property.name()) {
                Some(Value::String(value)) => values.push((property, value)),
                None => {}
                Some(_) => return Err(format!("{} must be a text", property.name())),
            }
        }
        let include_unlisted_equities = match take("includeUnlistedEquities") {
            Some(Value::Bool(flag)) => flag,
            None => false,
            Some(_) => return Err("includeUnlistedEquities must be true or false".to_owned()),
        };
        let mut filters = Filters { include_unlisted_equities, ..Filters::default() };
        for (slot, number) in filters.numbers.iter_mut().zip(Attribute::NUMBERS) {
            *slot = numbers(number.name(), take(number.name()))?;
        }
        for (slot, date) in filters.dates.iter_mut().zip(Attribute::DATES) {
            *slot = dates(date.name(), take(date.name()))?;
        }
        let given = |property| values.iter().find(|(other, _)| *other == property);
        let kind = given(Property::SecurityType2).map(|(_, value)| &**value);
        let [expiration, maturity, ..] = filters.dates.map(|date| date.is_some());
        let has_dates = [expiration, maturity];
        check_required(id_type, |property| given(property).is_some(), kind, has_dates)
            .map_err(|fault| fault.trim_end_matches('.').to_owned())?;
        Ok(Self { id_value, values, filters })
    }
}

fn numbers(name: &str, value: Option<Value>) -> Result<Option<NumberInterval>, String> {
    let ends = ends(name, value, "numbers", Value::as_f64)?;
    let interval = ends.map(|[low, high]| NumberInterval::new(low, high));
    interval.transpose().map_err(|error| format!("{name}: {error}"))
}

fn dates(name: &str, value: Option<Value>) -> Result<Option<DateInterval>, String> {
    let date = |value: &Value| Date::parse(value.as_str()?).ok();
    let ends = ends(name, value, "dates (YYYY-MM-DD)", date)?;
    let interval = ends.map(|[first, last]| DateInterval::new(first, last));
    interval.transpose().map_err(|error| format!("{name}: {error}"))
}

/// Both ends of an interval. An end that is null is `None`.
type IntervalEnds<T> = [Option<T>; 2];

fn ends<T>(
    name: &str,
    value: Option<Value>,
    kind: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<IntervalEnds<T>>, String> {
    let Some(value) = value else { return Ok(None) };
    let end = |value: &Value| match value {
        Value::Null => Some(None),
        value => read(value).map(Some),
    };
    let ends = match value.as_array().map(Vec::as_slice) {
        Some([first, last]) => end(first).zip(end(last)),
        _ => None,
    };
    let ends = ends.map(|(first, last)| Some([first, last]));
    ends.ok_or_else(|| format!("{name} must be an array of two {kind}, of which one may be null"))
}
