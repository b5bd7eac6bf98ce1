//! The JSON of `POST /resolve` and of the values of a property.

use std::collections::BTreeMap;

use anyhow::{Context as _, anyhow, bail, ensure};
use figdex_index::{By, Field, IdType, Resolution, Status, Vocabulary};
use serde::Deserialize;
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::value::RawValue;

use super::RemoteRow;
use crate::commands::map::engine::{Answer, Asked, AskedAs};

/// A request.
pub(super) struct Request<'a> {
    pub(super) jobs: &'a [Asked<'a>],
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) prefer: &'a [String],
    pub(super) fields: &'a [Field],
    pub(super) include_unlisted_equities: bool,
}

impl Request<'_> {
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Texts and numbers are always JSON, and memory takes them.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Serialize for Request<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut request = serializer.serialize_map(None)?;
        request.serialize_entry("jobs", &Jobs(self))?;
        if !self.prefer.is_empty() {
            request.serialize_entry("prefer", self.prefer)?;
        }
        let fields: Vec<_> = self.fields.iter().map(|field| field.name()).collect();
        request.serialize_entry("fields", &fields)?;
        if self.include_unlisted_equities {
            request.serialize_entry("includeUnlistedEquities", &true)?;
        }
        request.end()
    }
}

struct Jobs<'a>(&'a Request<'a>);

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(Request { jobs, vocabulary, .. }) = self;
        let mut list = serializer.serialize_seq(Some(jobs.len()))?;
        for job in *jobs {
            let is_bare = job.narrowing.iter().all(Option::is_none);
            match job.reading {
                AskedAs::Text if is_bare => list.serialize_element(&job.text)?,
                _ => list.serialize_element(&Job(job, vocabulary))?,
            }
        }
        list.end()
    }
}

struct Job<'a>(&'a Asked<'a>, &'a Vocabulary);

impl Serialize for Job<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(asked, vocabulary) = self;
        let mut job = serializer.serialize_map(None)?;
        match asked.reading {
            AskedAs::Text => job.serialize_entry("text", &asked.text)?,
            AskedAs::OfColumn(id_type) => {
                job.serialize_entry("text", &asked.text)?;
                job.serialize_entry("as", id_type.name())?;
            }
            AskedAs::Given(id_type) => {
                job.serialize_entry("idType", id_type.name())?;
                job.serialize_entry("idValue", &asked.text)?;
            }
        }
        for known in asked.narrowing.iter().flatten() {
            job.serialize_entry(known.property().name(), vocabulary.text(*known))?;
        }
        job.end()
    }
}

#[derive(Deserialize)]
struct Response<'a> {
    generation: u64,
    #[serde(borrow)]
    results: Vec<Item<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    status: String,
    id_type: Option<String>,
    #[serde(default)]
    id_types: Vec<String>,
    by: Option<String>,
    matches: Option<usize>,
    error: Option<String>,
    correction: Option<String>,
    #[serde(borrow, default)]
    data: Vec<BTreeMap<&'a str, &'a RawValue>>,
}

/// The generation and the answers of a response to `jobs` jobs.
///
/// # Errors
/// When it does not have the shape of such a response.
pub(super) fn answers(
    body: &[u8],
    jobs: usize,
    request: (&[String], &[Field]),
    keeps_all: bool,
) -> anyhow::Result<(u64, Vec<Answer<RemoteRow>>)> {
    const WHAT: &str = "the answer of the server does not have the shape of POST /resolve";
    let response: Response<'_> = serde_json::from_slice(body).context(WHAT)?;
    let found = response.results.len();
    ensure!(found == jobs, "the server answered {found} of {jobs} identifiers");
    let (prefer, fields) = request;
    let answers = response.results.into_iter().map(|item| answer(item, prefer, fields, keeps_all));
    let answers = answers.collect::<anyhow::Result<_>>().context(WHAT)?;
    Ok((response.generation, answers))
}

fn answer(
    item: Item<'_>,
    prefer: &[String],
    fields: &[Field],
    keeps_all: bool,
) -> anyhow::Result<Answer<RemoteRow>> {
    let Item { status, id_type, id_types, by, matches, error, correction, mut data } = item;
    let status = match &*status {
        "resolved" => Status::Resolved(match by.as_deref() {
            Some("only") => By::Only,
            step => {
                let place = prefer.iter().position(|known| Some(&**known) == step);
                let step = step.unwrap_or_default();
                By::Step(place.ok_or_else(|| anyhow!("`by` is {step:?}, which is not a step"))?)
            }
        }),
        "ambiguous" => Status::Ambiguous(matches.context("`matches` is missing")?),
        "unknown" => Status::Unknown,
        "invalid" => Status::Invalid(error.context("`error` is missing")?),
        other => bail!("the status {other:?} is unknown"),
    };
    match status {
        Status::Resolved(_) => ensure!(data.len() == 1, "a resolved identifier has one row"),
        Status::Ambiguous(matches) if keeps_all => ensure!(
            data.len() == matches,
            "the server names {} of {matches} matches; for all of them use --index, or a --prefer \
             that leaves fewer",
            data.len()
        ),
        _ => data.clear(),
    }
    let id_types = id_type.into_iter().chain(id_types);
    let id_types = id_types.map(|name| {
        IdType::from_name(&name).ok_or_else(|| anyhow!("the idType {name:?} is unknown"))
    });
    let id_types = id_types.collect::<anyhow::Result<_>>()?;
    let rows = data.iter().map(|row| fields.iter().map(|field| text(row, *field)).collect());
    let rows = rows.collect::<anyhow::Result<_>>()?;
    Ok(Answer { resolution: Resolution { status, id_types, hits: Vec::new(), correction }, rows })
}

/// A field of a row, escaped as inside a JSON string; `None` when it is null.
fn text(row: &BTreeMap<&str, &RawValue>, field: Field) -> anyhow::Result<Option<Box<str>>> {
    let name = field.name();
    let value = row.get(name).with_context(|| format!("a row has no {name}"))?.get();
    if value == "null" {
        return Ok(None);
    }
    let text = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let text = text.with_context(|| format!("{name} is neither a text nor null"))?;
    Ok(Some(text.into()))
}

/// The values of a property (contract 7).
///
/// # Errors
/// When the body does not list values.
pub(super) fn values(body: &[u8]) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Values {
        values: Vec<String>,
    }
    let found: Values = serde_json::from_slice(body)
        .context("the answer of the server does not list the values of a property")?;
    Ok(found.values)
}
