//! Bodies of lists in JSON and NDJSON (contract 17.3).

use std::borrow::Cow;
use std::fmt;

use figdex_index::{COLUMN_VALUE_UNITS, Column, Meter, Recognised};
use serde::de::{Deserializer as _, MapAccess, Visitor};

use super::options::{Options, texts};
use super::{COLUMN_TEXTS_MAX, COLUMNS_MAX, Context, List, ListError, ListJob};
use crate::callers::error::ApiError;
use crate::callers::version::Version;
use crate::wire::invalid_key;
use crate::wire::job::{job, jobs_until};
use crate::wire::json::{Raw, elements, is_null, read_members, text};

/// Reads a JSON object with `jobs`, `columns` and the options.
pub(super) fn json<'a>(
    body: &'a str,
    mut options: Options,
    context: Context<'_>,
) -> Result<List<'a>, ListError> {
    let mut reader = serde_json::Deserializer::from_str(body);
    let members = reader.deserialize_map(Members).and_then(|members| {
        reader.end()?;
        Ok(members)
    });
    let members = members.map_err(|error| {
        format!("The body must be a JSON object with jobs, such as {{\"jobs\": [\"US0378331005\"]}}: {error}.")
    })?;
    let (mut raw_jobs, mut raw_columns, mut raw_headings) = (None, None, None);
    for (name, raw) in members.0 {
        let place = match &*name {
            "jobs" => &mut raw_jobs,
            "columns" => &mut raw_columns,
            "headings" => &mut raw_headings,
            _ => {
                if !options.take(&name, raw, context.vocabulary)? {
                    return Err(invalid_key(&name).into());
                }
                continue;
            }
        };
        if place.replace(raw).is_some() {
            return Err(format!("{name} is given twice.").into());
        }
    }
    if raw_jobs.is_none() && raw_columns.is_none() {
        return Err("jobs is required: an array of texts and mapping jobs.".into());
    }
    let jobs = raw_jobs.map(|raw| of_array(raw, &options, context)).transpose()?;
    if raw_headings.is_some() && raw_columns.is_none() {
        return Err("headings are those of columns, which are not given.".into());
    }
    let columns = raw_columns.map(|raw| columns(raw, raw_headings, context.meter)).transpose()?;
    Ok(List { options, jobs, columns })
}

fn of_array<'a>(
    raw: Raw<'a>,
    options: &Options,
    context: Context<'_>,
) -> Result<Vec<ListJob<'a>>, ListError> {
    // Nothing is read once the meter allows no more work.
    let each = |job| ListJob::of(job, options, context);
    let jobs = jobs_until(raw.get().as_bytes(), Version::V3, context.jobs_max, each);
    let jobs = jobs.map_err(|error| match error {
        ApiError::PayloadTooLarge => options.too_many_jobs(),
        _ => "jobs must be an array of texts and mapping jobs.".into(),
    })?;
    Ok(jobs?)
}

/// Reads lines of JSON, each a text or a mapping job. Blank lines are skipped.
pub(super) fn lines<'a>(
    body: &'a str,
    options: Options,
    context: Context<'_>,
) -> Result<List<'a>, ListError> {
    let mut all = Vec::new();
    let lines = body.split('\n').enumerate();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        if all.len() == context.jobs_max {
            return Err(options.too_many_jobs());
        }
        let job = job(line.trim(), Version::V3).map_err(|error| {
            let number = number + 1;
            format!("Line {number} must be a text in quotes or a mapping job in JSON: {error}.")
        })?;
        all.push(ListJob::of(job, &options, context)?);
    }
    Ok(List { options, jobs: Some(all), columns: None })
}

/// The types of columns of texts.
fn columns(
    raw: Raw<'_>,
    headings: Option<Raw<'_>>,
    meter: &Meter,
) -> Result<Vec<Option<Recognised>>, ListError> {
    const COLUMNS: &str = "columns must be an array of at most 64 arrays of texts.";
    let headings = headings.map_or(Some(Vec::new()), |raw| texts(raw, COLUMNS_MAX));
    let headings = headings.ok_or("headings must be an array of at most 64 texts.")?;
    let mut recognised = Vec::new();
    let mut texts_left = COLUMN_TEXTS_MAX;
    for (place, raw) in elements(raw, COLUMNS_MAX).ok_or(COLUMNS)?.into_iter().enumerate() {
        let Some(texts) = elements(raw, texts_left) else {
            return Err(if raw.get().starts_with('[') {
                format!("columns may hold {COLUMN_TEXTS_MAX} texts together.").into()
            } else {
                COLUMNS.into()
            });
        };
        texts_left -= texts.len();
        let mut column = Column::default();
        for raw in texts {
            meter.charge(COLUMN_VALUE_UNITS)?;
            column.add(&text(raw).ok_or(COLUMNS)?);
        }
        recognised.push(column.recognise(headings.get(place).map_or("", String::as_str)));
    }
    Ok(recognised)
}

/// The members of an object that are not null, in order. The last one may be faulty: its name is
/// unknown or repeated. Later members are skipped, because a body can have a hundred thousand.
struct Members;

/// The names of the members that a list may have: those of the list, and those of its options.
const MEMBERS: [&str; 10] = [
    "jobs",
    "columns",
    "headings",
    "prefer",
    "fields",
    "many",
    "includeUnlistedEquities",
    "candidates",
    "asOf",
    "formerly",
];

struct Read<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'de> Visitor<'de> for Members {
    type Value = Read<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Raw<'de>)> = Vec::new();
        let mut is_faulty = false;
        read_members(map, |name, raw| {
            if is_faulty || is_null(raw) {
                return;
            }
            is_faulty =
                !MEMBERS.contains(&&*name) || members.iter().any(|(known, _)| *known == name);
            members.push((name, raw));
        })?;
        Ok(Read(members))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The rest of a list whose work is spent is not read: it may be long, or no JSON.
    #[test]
    fn nothing_is_read_after_a_refused_job() {
        let read = Cell::new(0);
        let each = |_| {
            read.set(read.get() + 1);
            if read.get() == 3 { Err("spent") } else { Ok(()) }
        };
        let jobs = jobs_until(br#"["a","b","c","d",no JSON"#, Version::V3, 100, each);
        assert_eq!(jobs.unwrap().unwrap_err(), "spent");
        assert_eq!(read.get(), 3);
    }
}
