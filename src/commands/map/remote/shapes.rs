//! The JSON of `POST /resolve` and of the values of a property.

use std::borrow::Cow;
use std::fmt;

use anyhow::{Context as _, anyhow, bail, ensure};
use figdex_index::{By, Field, Figi, IdType, NAME_CANDIDATES_MAX, Resolution, Status, Vocabulary};
use figdex_io::escaped;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::callers::limits::REQUEST_ROWS_MAX;
use crate::commands::map::answerer::{Answer, Asked, AskedAs};
use crate::wire::json::{Raw, elements, read_members, text};

/// A request.
pub(super) struct ListRequest<'a> {
    pub(super) jobs: &'a [Asked<'a>],
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) prefer: &'a [String],
    pub(super) fields: &'a [Field],
    pub(super) include_unlisted_equities: bool,
}

impl ListRequest<'_> {
    pub(super) fn to_json(&self) -> Vec<u8> {
        // This cannot fail: texts and numbers are valid JSON, and memory takes them.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Serialize for ListRequest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut request = serializer.serialize_map(None)?;
        request.serialize_entry("jobs", &SentJobs(self))?;
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

struct SentJobs<'a>(&'a ListRequest<'a>);

impl Serialize for SentJobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(ListRequest { jobs, vocabulary, .. }) = self;
        let mut list = serializer.serialize_seq(Some(jobs.len()))?;
        for job in *jobs {
            let is_bare = job.narrowing.iter().all(Option::is_none);
            match job.reading {
                AskedAs::Text if is_bare => list.serialize_element(&job.text)?,
                _ => list.serialize_element(&SentJob(job, vocabulary))?,
            }
        }
        list.end()
    }
}

struct SentJob<'a>(&'a Asked<'a>, &'a Vocabulary);

impl Serialize for SentJob<'_> {
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

/// The shape of an answer. Lists that a server may make arbitrarily long stay raw until they are
/// counted, so that memory is bounded by the bytes of the answer.
#[derive(serde::Deserialize)]
struct Response<'a> {
    generation: u64,
    #[serde(borrow)]
    results: Raw<'a>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    id_type: Option<String>,
    #[serde(borrow)]
    id_types: Option<Raw<'a>>,
    by: Option<String>,
    matches: Option<usize>,
    error: Option<String>,
    #[serde(default)]
    ask_again: bool,
    correction: Option<String>,
    reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Raw<'a>>,
    #[serde(borrow)]
    candidates: Option<Raw<'a>>,
}

const WHAT: &str = "the answer of the server does not have the shape of POST /resolve";

/// The options that apply to every identifier.
#[derive(Clone, Copy)]
pub(super) struct AnswerOptions<'a> {
    pub(super) prefer: &'a [String],
    pub(super) fields: &'a [Field],
    pub(super) keeps_all: bool,
}

/// The answers to the first identifiers of a request.
pub(super) struct Answers {
    pub(super) generation: u64,
    /// The answers whose rows had room: at least one.
    pub(super) answers: Vec<Answer<RemoteRow>>,
}

/// The answers of a response to `jobs` jobs, up to the first answer whose rows had no room.
///
/// # Errors
/// When the body does not have the shape of such a response, or the rows of the first answer had no
/// room.
pub(super) fn answers(
    body: &[u8],
    jobs: usize,
    wanted: AnswerOptions<'_>,
) -> anyhow::Result<Answers> {
    let Response { generation, results } = serde_json::from_slice(body).context(WHAT)?;
    let Some(results) = elements(results, jobs) else {
        let kind = if results.get().starts_with('[') { "more than one result" } else { "no list" };
        bail!("{WHAT}: it has {kind} for each identifier");
    };
    let found = results.len();
    ensure!(found == jobs, "the server answered {found} of {jobs} identifiers");
    let mut answers = Vec::with_capacity(jobs);
    let mut rows_left = REQUEST_ROWS_MAX;
    for result in results {
        let item: Item<'_> = serde_json::from_str(result.get()).context(WHAT)?;
        if item.ask_again {
            let error = item.error.unwrap_or_default();
            ensure!(
                !answers.is_empty(),
                "the server has no room for the rows of one identifier: {}",
                escaped(error)
            );
            break;
        }
        answers.push(answer(item, wanted, &mut rows_left).context(WHAT)?);
    }
    Ok(Answers { generation, answers })
}

fn answer(
    item: Item<'_>,
    wanted: AnswerOptions<'_>,
    rows_left: &mut usize,
) -> anyhow::Result<Answer<RemoteRow>> {
    let Item { status, id_type, id_types, by, matches, error, correction, reason, .. } = item;
    let Item { data, candidates, .. } = item;
    let status = match &*status {
        "resolved" => Status::Resolved(match by.as_deref() {
            Some("only") => By::Only,
            step => {
                let place = wanted.prefer.iter().position(|known| Some(&**known) == step);
                let step = step.unwrap_or_default();
                By::Step(place.ok_or_else(|| anyhow!("`by` is {step:?}, which is not a step"))?)
            }
        }),
        "ambiguous" => Status::Ambiguous(matches.context("`matches` is missing")?),
        "unknown" => Status::Unknown,
        "invalid" => Status::Invalid(error.context("`error` is missing")?),
        other => bail!("the status {other:?} is unknown"),
    };
    let rows = match status {
        Status::Resolved(_) => {
            let rows = data.and_then(|data| elements(data, 1)).unwrap_or_default();
            ensure!(rows.len() == 1, "a resolved identifier has one row");
            rows
        }
        Status::Ambiguous(matches) if wanted.keeps_all => {
            let rows = data.map_or(Some(Vec::new()), |data| elements(data, *rows_left));
            let rows = rows.with_context(|| {
                format!("`data` is not an array, or there are over {REQUEST_ROWS_MAX} rows")
            })?;
            let count = rows.len();
            ensure!(count == matches, "the server names {count} of {matches} matches");
            *rows_left -= count;
            rows
        }
        _ => Vec::new(),
    };
    let rows = rows.into_iter().map(|row| RemoteRow::read(row, wanted.fields));
    let rows = rows.collect::<anyhow::Result<_>>()?;
    let several = match id_types {
        Some(names) => {
            elements(names, IdType::ALL.len()).context("`idTypes` is not an array of idTypes")?
        }
        None => Vec::new(),
    };
    let several = several.into_iter().map(|raw| text(raw).unwrap_or_default());
    let id_types = id_type.map(Cow::Owned).into_iter().chain(several).map(|name| {
        IdType::from_name(&name).ok_or_else(|| anyhow!("the idType {name:?} is unknown"))
    });
    let id_types = id_types.collect::<anyhow::Result<_>>()?;
    // Only a text that is written like a name has a reason (contract 17.14).
    let is_name_like = reason.is_some();
    let resolution = Resolution::new(status, id_types, Vec::new());
    let resolution = Resolution { correction, is_name_like, ..resolution };
    let candidates = candidates.map_or(Some(Vec::new()), |raw| elements(raw, NAME_CANDIDATES_MAX));
    let candidates = candidates.with_context(|| {
        format!("`candidates` is not an array of at most {NAME_CANDIDATES_MAX} rows")
    })?;
    let candidates = candidates.into_iter().map(figi).collect::<anyhow::Result<_>>()?;
    Ok(Answer { candidates, ..Answer::new(resolution, rows) })
}

/// The FIGI of a row.
fn figi(row: Raw<'_>) -> anyhow::Result<String> {
    #[derive(serde::Deserialize)]
    struct Candidate<'a> {
        #[serde(borrow)]
        figi: Cow<'a, str>,
    }
    let Candidate { figi } = serde_json::from_str(row.get())?;
    let figi = Figi::parse(&figi).map_err(|error| anyhow!("a candidate has no FIGI: {error}"))?;
    Ok(figi.to_string())
}

/// A row of an answer: the requested fields, escaped as inside a JSON string, one after another.
/// The two control characters below cannot occur in them.
pub(in crate::commands::map) struct RemoteRow(Box<str>);

/// Separates two fields. `NULL` replaces a field that is null.
const NEXT: char = '\n';
const NULL: &str = "\0";

impl RemoteRow {
    /// Reads these fields of a row.
    ///
    /// # Errors
    /// When a field is missing, or is neither a text nor null.
    fn read(row: Raw<'_>, fields: &[Field]) -> anyhow::Result<Self> {
        struct RowMembers<'f>(&'f [Field]);

        impl<'de> Visitor<'de> for RowMembers<'_> {
            type Value = Vec<Option<Raw<'de>>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row, which is an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let mut values = vec![None; self.0.len()];
                read_members(map, |name, value| {
                    if let Some(place) = self.0.iter().position(|field| field.name() == name) {
                        values[place] = Some(value);
                    }
                })?;
                Ok(values)
            }
        }

        let mut reader = serde_json::Deserializer::from_str(row.get());
        let values = reader.deserialize_map(RowMembers(fields))?;
        let mut texts = String::with_capacity(row.get().len());
        for (place, (field, value)) in fields.iter().zip(values).enumerate() {
            let name = field.name();
            let value = value.with_context(|| format!("a row has no {name}"))?.get();
            let text = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let text = text.or((value == "null").then_some(NULL));
            if place > 0 {
                texts.push(NEXT);
            }
            texts += text.with_context(|| format!("{name} is neither a text nor null"))?;
        }
        Ok(Self(texts.into()))
    }

    /// The field at a place among the requested ones; `None` when it is null.
    pub(super) fn field(&self, place: usize) -> Option<&str> {
        self.0.split(NEXT).nth(place).filter(|text| *text != NULL)
    }
}

/// The approximate size of an answer in memory, in bytes.
pub(super) fn bytes(answer: &Answer<RemoteRow>) -> usize {
    /// The bytes of a row apart from its text: for its place and for the allocator.
    const BESIDES_TEXT: usize = 32;
    let Resolution { status, correction, .. } = &answer.resolution;
    let reason = match status {
        Status::Invalid(reason) => reason.len(),
        _ => 0,
    };
    let rows = answer.rows.iter().map(|RemoteRow(texts)| texts.len() + BESIDES_TEXT);
    reason + correction.as_ref().map_or(0, String::len) + rows.sum::<usize>()
}

/// The values of a property (contract 7).
///
/// # Errors
/// When the body does not list values.
pub(super) fn values(body: &[u8]) -> anyhow::Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Values {
        values: Vec<String>,
    }
    let found: Values = serde_json::from_slice(body)
        .context("the answer of the server does not list the values of a property")?;
    Ok(found.values)
}
