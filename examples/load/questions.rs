//! Makes the requests of a case as bytes, and checks their answers: a server that quickly answers
//! with errors must not look fast.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json, json};

use crate::client::{BlockingClient, get, post};
use crate::drive::Load;
use crate::mixes::{Ask, Filter, Frequency, Mapping, Suggest, Words};
use crate::sample::Sample;

/// Rows of a full page.
const PAGE_ROWS: usize = 100;

/// The number of further requests that are only checked, for cases whose measured requests must be
/// new to the server.
const VARIED_CHECKED: usize = 16;

/// The number of steps in which varying bounds rise by 1. All of these bounds find nearly the same
/// rows.
const VARIED_STEPS: f64 = 10_000.0;

/// Requests of a kind, and the form of their answers.
pub(crate) struct Questions {
    pub(crate) requests: Arc<[Vec<u8>]>,
    /// The requests whose answers are checked before the measurement.
    trials: Vec<Vec<u8>>,
    expected: Expected,
}

/// The checked answers.
pub(crate) struct Checked {
    /// The header lines of the last answer.
    pub(crate) headers: String,
    /// Mean length of the bodies.
    pub(crate) body_bytes: usize,
}

/// The expected form of an answer.
enum Expected {
    /// The answers to `jobs` jobs, each with `rows` rows.
    Jobs { jobs: usize, rows: std::ops::RangeInclusive<u32> },
    /// A full page of a filter, with a total.
    FilterPage,
    /// A page of a filter with any number of rows, and a total.
    AnyFilterPage,
    /// A page with at least one row.
    SearchPage,
    /// Suggestions or results, at least one, perhaps after the reading of the text.
    ReadPage,
    /// An answer that only its status judges.
    Any,
}

#[derive(Deserialize)]
struct JobAnswer {
    data: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct PageAnswer {
    data: Option<Vec<IgnoredAny>>,
    /// Only in an answer of `/find`, which may have guesses and no rows.
    #[serde(default)]
    securities: Vec<IgnoredAny>,
    next: Option<String>,
    total: Option<u64>,
}

impl Questions {
    /// Makes requests, with cursors from the server at `address`. Requests that are made from the
    /// sample are at most `count`.
    pub(crate) fn new(
        ask: &Ask,
        count: usize,
        sample: &Sample,
        address: SocketAddr,
    ) -> anyhow::Result<Self> {
        let (mut requests, expected) = match ask {
            Ask::Mapping(mapping) => {
                let jobs = jobs(mapping, count, sample)?;
                let request = |jobs| post("/v3/mapping", &Json::Array(jobs).to_string());
                let expected = Expected::Jobs { jobs: mapping.jobs, rows: mapping.rows() };
                (jobs.into_iter().map(request).collect(), expected)
            }
            Ask::List(mapping) => {
                let lists = jobs(mapping, count, sample)?.into_iter().map(|jobs| {
                    let texts: Vec<_> = jobs.iter().map(|job| &job["idValue"]).collect();
                    let mut list = json!({ "jobs": texts });
                    if !mapping.fields.is_empty() {
                        list["fields"] = json!(mapping.fields);
                    }
                    post("/resolve", &list.to_string())
                });
                (lists.collect(), Expected::Any)
            }
            Ask::Filter(Filter { bodies, vary: Some(number), .. }) => {
                let bodies = bodies.iter().cycle().take(count + VARIED_CHECKED);
                let requests = (1..).zip(bodies).map(|(ordinal, body)| {
                    let mut body = body.clone();
                    body.insert(number.clone(), json!([f64::from(ordinal) / VARIED_STEPS, null]));
                    post("/v3/filter", &Json::from(body).to_string())
                });
                (requests.collect(), Expected::AnyFilterPage)
            }
            Ask::Filter(Filter { bodies, page, vary: None }) => {
                let bodies = bodies.iter().map(|body| page_of(body, *page, address));
                let requests = bodies.collect::<anyhow::Result<Vec<_>>>()?;
                (requests, Expected::FilterPage)
            }
            Ask::Search(Words { words, frequency }) => {
                let request = |phrase| post("/v3/search", &json!({ "query": phrase }).to_string());
                let phrases = phrases(sample, *words, *frequency, count)?;
                (phrases.into_iter().map(request).collect(), Expected::SearchPage)
            }
            Ask::Facets(Words { words, frequency }) => {
                let phrases = phrases(sample, *words, *frequency, count)?;
                let request = |phrase| text_request("/facets", phrase);
                (phrases.into_iter().map(request).collect(), Expected::Any)
            }
            Ask::Suggest(typed) | Ask::Find(typed) => {
                let path = if matches!(ask, Ask::Find(_)) { "/find" } else { "/suggest" };
                let Suggest { words, frequency, typed: [least, most] } = typed;
                let phrases = phrases(sample, *words, *frequency, count)?;
                let typed = phrases.into_iter().zip((*least..=*most).cycle());
                let request = |(phrase, typed): (&str, usize)| {
                    text_request(path, &phrase[..typed.min(phrase.len())])
                };
                (typed.map(request).collect(), Expected::ReadPage)
            }
            Ask::Fixed { path, body } => {
                let request = body.as_ref().map_or_else(|| get(path), |body| post(path, body));
                (vec![request], Expected::Any)
            }
        };
        let trials = match expected {
            Expected::AnyFilterPage => requests.split_off(count),
            _ => requests.clone(),
        };
        Ok(Self { requests: requests.into(), trials, expected })
    }

    /// Sends each request once, and checks its answer. If no request may be sent twice, sends
    /// others of the same kind instead.
    ///
    /// # Errors
    /// When an answer does not have the expected form.
    pub(crate) fn check(&self, address: SocketAddr) -> anyhow::Result<Checked> {
        let mut client = BlockingClient::to(address)?;
        let mut checked = Checked { headers: String::new(), body_bytes: 0 };
        for request in &self.trials {
            let answer = client.ask(request)?;
            self.expected.check(answer.body).with_context(|| {
                let (request, answer) = (text_of(request), text_of(answer.body));
                format!("unexpected answer to\n{request}\n:\n{answer}\n")
            })?;
            checked.body_bytes += answer.body.len();
            checked.headers = answer.headers.to_owned();
        }
        checked.body_bytes /= self.trials.len();
        Ok(checked)
    }

    /// The load that sends these requests.
    pub(crate) fn load(&self, address: SocketAddr, connections: usize) -> Load {
        let (requests, prefix) = (self.requests.clone(), self.prefix());
        Load { address, requests, prefix, connections }
    }

    /// The first bytes of every answer's body.
    pub(crate) fn prefix(&self) -> &'static [u8] {
        match self.expected {
            Expected::Jobs { .. } => b"[{\"data\":[{\"",
            Expected::Any => b"",
            Expected::ReadPage => b"{\"",
            _ => b"{\"data\":[",
        }
    }
}

impl Expected {
    fn check(&self, body: &[u8]) -> anyhow::Result<()> {
        if let Self::Any = self {
            return Ok(());
        }
        if let Self::Jobs { jobs, rows } = self {
            let answers: Vec<JobAnswer> = serde_json::from_slice(body)?;
            ensure!(answers.len() == *jobs, "{} answers to {jobs} jobs", answers.len());
            for answer in answers {
                let data = answer.data.context("a job without data")?;
                let is_expected = rows.contains(&(data.len() as u32));
                ensure!(is_expected, "a job with {} rows, not {rows:?}", data.len());
            }
            return Ok(());
        }
        let page: PageAnswer = serde_json::from_slice(body)?;
        let rows = page.data.context("a page without data")?.len();
        if let Self::SearchPage | Self::ReadPage = self {
            ensure!(rows > 0 || !page.securities.is_empty(), "no rows");
            return Ok(());
        }
        let total = page.total.context("a page without its total")?;
        ensure!(total >= rows as u64, "a total below the page");
        let is_full = rows == PAGE_ROWS || matches!(self, Self::AnyFilterPage);
        ensure!(is_full, "{rows} rows, not {PAGE_ROWS}");
        Ok(())
    }
}

/// The jobs of at most `count` requests, made from values of the index.
fn jobs(mapping: &Mapping, count: usize, sample: &Sample) -> anyhow::Result<Vec<Vec<Json>>> {
    let properties = mapping.filter();
    let mut values = Vec::new();
    for id_type in mapping.id_types() {
        let of_kind = sample.values(id_type, &mapping.hits(), &properties);
        let name = id_type.name();
        ensure!(!of_kind.is_empty(), "no {name} finds {:?} rows", mapping.hits());
        values.push((name, of_kind));
    }
    // With more jobs than values, requests would repeat.
    let jobs_max: usize = values.iter().map(|(_, values)| values.len()).sum();
    let count = count.min(jobs_max.div_ceil(mapping.jobs));
    let turns = (0..).flat_map(|round| {
        values.iter().map(move |(name, values)| (*name, values[round % values.len()]))
    });
    let mut jobs = turns.map(|(name, value)| {
        let mut job = Map::new();
        job.insert("idType".to_owned(), name.into());
        job.insert("idValue".to_owned(), value.text.as_str().into());
        job.extend(mapping.with.clone());
        for property in properties.iter().filter(|_| !mapping.is_plain) {
            let shared = value.common[*property as usize].as_deref();
            job.insert(property.name().to_owned(), shared.into());
        }
        Json::from(job)
    });
    Ok((0..count).map(|_| jobs.by_ref().take(mapping.jobs).collect()).collect())
}

fn phrases(
    sample: &Sample,
    words: usize,
    frequency: Frequency,
    count: usize,
) -> anyhow::Result<Vec<&str>> {
    let phrases = sample.phrases(words, frequency, count);
    ensure!(!phrases.is_empty(), "no name has this many words");
    Ok(phrases)
}

/// A `GET` with a text as its query. The text has only letters and blanks, so only blanks are
/// encoded.
fn text_request(path: &str, text: &str) -> Vec<u8> {
    get(&format!("{path}?query={}", text.replace(' ', "%20")))
}

/// The request for a page. Its cursor is found by reading the earlier pages.
fn page_of(body: &Map<String, Json>, page: usize, address: SocketAddr) -> anyhow::Result<Vec<u8>> {
    let mut client = BlockingClient::to(address)?;
    let mut body = body.clone();
    for number in 1..page {
        let request = post("/v3/filter", &Json::from(body.clone()).to_string());
        let answer: PageAnswer = serde_json::from_slice(client.ask(&request)?.body)?;
        let Some(next) = answer.next else {
            let rows = answer.total.unwrap_or_default();
            body.remove("start");
            bail!("{} has {rows} rows: page {number} is the last, not {page}", Json::from(body));
        };
        body.insert("start".to_owned(), next.into());
    }
    Ok(post("/v3/filter", &Json::from(body).to_string()))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned()
}
