//! The questions of `figdex-index` to a generation in a cluster. Each answer is from one
//! generation: the question goes to its index, not to the alias.

mod facets;
mod family;
mod filters;
mod lookup;
mod matching;
mod reading;
mod resolve;
mod search;
mod suggest;
mod typos;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figdex_index::{Figi, Stored};
use serde::Deserialize;
use serde_json::{Value, json};

pub use self::lookup::{Located, LookupBounds};
use crate::client::{CallError, Request};
use crate::error::Result;
use crate::generation::Generation;
use crate::schema::field;

/// The time limit of a question.
const TIME_MAX: Duration = Duration::from_secs(20);

/// The most bytes of an answer are `ANSWER_BYTES`, and `ROW_BYTES` more for each row.
const ROW_BYTES: usize = 4 << 10;
const ANSWER_BYTES: usize = 4 << 20;

/// The line before each of several questions. If a shard fails, the question must fail: an
/// incomplete list would be wrong.
const QUESTION_HEADER: &[u8] =
    b"{\"allow_partial_search_results\":false,\"request_cache\":false}\n";

/// The answer of `_search`.
#[derive(Deserialize)]
pub(crate) struct Found {
    timed_out: bool,
    #[serde(rename = "_shards")]
    shards: Shards,
    pub(crate) hits: Hits,
    #[serde(default)]
    pub(crate) aggregations: Value,
}

/// The counts of the asked shards. A shard that is on no node is neither successful nor failed.
#[derive(Deserialize)]
struct Shards {
    total: u32,
    successful: u32,
    failed: u32,
}

#[derive(Deserialize)]
pub(crate) struct Hits {
    #[serde(default)]
    total: Total,
    pub(crate) hits: Vec<Document>,
}

/// The number of all matches, or a lower bound if they were not all counted.
#[derive(Default, Deserialize)]
struct Total {
    value: u64,
}

#[derive(Deserialize)]
pub(crate) struct Document {
    #[serde(rename = "_score")]
    pub(crate) score: Option<f64>,
    #[serde(default)]
    fields: Fields,
    /// The names of the conditions that the document fulfils, if the question names conditions.
    #[serde(default)]
    matched_queries: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Fields {
    #[serde(default)]
    instrument: Vec<String>,
}

impl Found {
    /// Whether every shard answered in time. Otherwise documents are missing.
    pub(crate) fn is_whole(&self) -> bool {
        let Shards { total, successful, failed } = self.shards;
        !self.timed_out && failed == 0 && successful == total
    }

    /// The number of all matches, exact or as far as it was counted.
    pub(crate) fn total(&self) -> u64 {
        self.hits.total.value
    }
}

impl Document {
    /// The instrument of the document.
    pub(crate) fn stored(&self, index: &str) -> Result<Stored> {
        let bytes = self.fields.instrument.first().and_then(|text| STANDARD.decode(text).ok());
        let stored = bytes.and_then(Stored::read);
        Ok(stored.ok_or_else(|| CallError::Malformed {
            host: index.to_owned(),
            what: "a document without the instrument that this version of Figdex stores".to_owned(),
        })?)
    }
}

impl Generation {
    /// The answer to a question. `rows` is the most documents that the answer has.
    pub(crate) async fn found(&self, body: &Value, rows: usize, id: Option<&str>) -> Result<Found> {
        let mut request = Request::search(&[&self.index, "_search"])
            .with("allow_partial_search_results", false)
            .with("request_cache", false)
            .within(TIME_MAX)
            .up_to(ANSWER_BYTES + ROW_BYTES * rows)
            .json(body);
        if let Some(id) = id {
            request = request.on_behalf_of(id);
        }
        let found: Found = self.client.ask(&request).await?;
        match found.is_whole() {
            true => Ok(found),
            false => Err(self.failed_shard().into()),
        }
    }

    /// The answers to several questions, in order. `rows` is the most documents of each answer.
    async fn several(&self, bodies: &[Value], rows: usize, id: Option<&str>) -> Result<Vec<Found>> {
        #[derive(Deserialize)]
        struct SeveralAnswers {
            responses: Vec<Response>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Response {
            Found(Found),
            Failed { status: u16 },
        }
        match bodies {
            [] => return Ok(Vec::new()),
            [only] => return Ok(vec![self.found(only, rows, id).await?]),
            _ => {}
        }
        let mut lines = Vec::new();
        for body in bodies {
            lines.extend_from_slice(QUESTION_HEADER);
            lines.extend_from_slice(body.to_string().as_bytes());
            lines.push(b'\n');
        }
        let mut request = Request::search(&[&self.index, "_msearch"])
            .within(TIME_MAX)
            .up_to(ANSWER_BYTES + ROW_BYTES * rows * bodies.len())
            .lines(lines);
        if let Some(id) = id {
            request = request.on_behalf_of(id);
        }
        let answer: SeveralAnswers = self.client.ask(&request).await?;
        let malformed = |what: String| CallError::Malformed { host: self.index.clone(), what };
        if answer.responses.len() != bodies.len() {
            return Err(malformed("answers to fewer questions than were asked".to_owned()).into());
        }
        let found = answer.responses.into_iter().map(|response| match response {
            Response::Found(found) if found.is_whole() => Ok(found),
            Response::Found(_) | Response::Failed { status: 404 | 429 | 500..=599 } => {
                Err(self.failed_shard())
            }
            Response::Failed { status } => Err(malformed(format!("status {status} to a question"))),
        });
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// The FIGI of an instrument on a page. It must come after the previous FIGI: otherwise a
    /// cluster that repeats a page would be asked without end.
    pub(crate) fn next_figi(&self, last: Option<Figi>, instrument: &Stored) -> Result<Figi> {
        let figi = instrument.row().figi();
        if last.is_some_and(|last| figi <= last) {
            let what = format!("the document of {figi}, which was on an earlier page");
            return Err(CallError::Malformed { host: self.index.clone(), what }.into());
        }
        Ok(figi)
    }

    fn failed_shard(&self) -> CallError {
        let what = "a part of the index cannot be asked".to_owned();
        CallError::Unavailable { host: self.index.clone(), what }
    }
}

/// A request for the documents of some FIGIs.
pub(crate) fn some_by_figi<'a>(index: &'a str, figis: &[Figi]) -> Request<'a> {
    let numbers: Vec<Value> = figis.iter().copied().map(number).collect();
    let body = question(terms(field::FIGI, &numbers), figis.len());
    Request::search(&[index, "_search"])
        .with("allow_partial_search_results", false)
        .up_to(ANSWER_BYTES + ROW_BYTES * figis.len())
        .json(&body)
}

/// A question for documents with their instruments, in FIGI order unless the caller changes `sort`.
pub(crate) fn question(query: Value, size: usize) -> Value {
    json!({
        "query": query,
        "size": size,
        "sort": [{field::FIGI: "asc"}],
        "_source": false,
        "stored_fields": [field::INSTRUMENT],
        "track_total_hits": false,
    })
}

/// A question for the first documents by rank.
fn by_rank(query: Value, size: usize) -> Value {
    let mut body = question(query, size);
    body["sort"] = json!([{field::RANK: "asc"}, {field::FIGI: "asc"}]);
    body
}

/// A FIGI in the form that documents have.
pub(crate) fn number(figi: Figi) -> Value {
    figi.to_u64().into()
}

/// All of the conditions together.
fn all(conditions: Vec<Value>) -> Value {
    json!({"bool": {"filter": conditions}})
}

/// Any of the conditions. Without conditions, no document matches.
fn any(conditions: Vec<Value>) -> Value {
    if conditions.is_empty() {
        return json!({"match_none": {}});
    }
    json!({"bool": {"should": conditions, "minimum_should_match": 1}})
}

/// A condition that a field has one of the terms.
fn terms(field: &str, terms: &[impl serde::Serialize]) -> Value {
    json!({"terms": {field: terms}})
}
