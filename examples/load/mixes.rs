//! The mixes file: the requests to send and the bounds on their ratios. `mixes.toml` explains each
//! key and is read by default.

use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context as _, ensure};
use figdex_index::{IdType, Property};
use serde::{Deserialize, Serialize};

use crate::client;

const SHIPPED: &str = include_str!("mixes.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mixes {
    #[serde(rename = "case", default)]
    pub(crate) cases: Vec<Case>,
    #[serde(rename = "scale", default)]
    pub(crate) kinds: Vec<Kind>,
    #[serde(rename = "soak", default)]
    pub(crate) streams: Vec<Stream>,
    /// The requests of the quiet callers of `fair`.
    #[serde(default)]
    pub(crate) fair: Vec<Fair>,
    /// The identifiers of the lists of its attacker.
    pub(crate) dear: Option<Ask>,
}

/// A kind of request of the quiet callers of `fair`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fair {
    pub(crate) ask: Ask,
}

/// Two sides that take turns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) promise: Option<u8>,
    #[serde(default)]
    pub(crate) ratio: Ratio,
    at_least: Option<f64>,
    at_most: Option<f64>,
    pub(crate) ask: Ask,
    #[serde(default)]
    pub(crate) against: Against,
    pub(crate) background: Option<Background>,
    pub(crate) connections: Option<usize>,
    #[serde(default = "requests")]
    pub(crate) requests: usize,
}

/// A kind of request that `scale` asks at a fixed rate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) promise: Option<u8>,
    /// The maximum ratio of its cost at the largest size to that at the smallest.
    pub(crate) at_most: Option<f64>,
    pub(crate) ask: Ask,
    #[serde(default = "requests")]
    pub(crate) requests: usize,
}

/// A kind of request that `soak` sends among others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stream {
    pub(crate) name: String,
    /// The number of its requests for each request of a kind with share 1.
    pub(crate) share: usize,
    pub(crate) ask: Option<Ask>,
    path: Option<String>,
    body: Option<String>,
    /// The expected status of its answers.
    #[serde(default = "ok")]
    pub(crate) status: u16,
}

/// The compared figure: Figdex's divided by the other side's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ratio {
    /// Answers a second.
    #[default]
    Throughput,
    /// Time for an answer, at full load.
    Cost,
    /// Median latency.
    P50,
}

/// The other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Against {
    /// A constant body of the same length.
    #[default]
    Floor,
    /// Figdex, with the same jobs without their filters.
    WithoutFilter,
    /// Figdex, with requests for the first page.
    FirstPage,
    /// Figdex, with the same requests: a control, whose ratio shows the noise of the machine.
    Itself,
}

/// The requests of a case.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ask {
    Mapping(Mapping),
    Filter(Filter),
    Search(Search),
    Suggest(Suggest),
}

/// Mapping requests with `jobs` jobs each.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    pub(crate) jobs: usize,
    /// The idTypes, which the jobs use in turn.
    pub(crate) id_types: Vec<Kinds>,
    /// The minimum and maximum number of rows that a value finds.
    hits: [u32; 2],
    /// Further members of every job.
    #[serde(default)]
    pub(crate) with: serde_json::Map<String, serde_json::Value>,
    /// Properties that each job filters by, with the value that all its rows share.
    #[serde(default)]
    pub(crate) filter: Vec<Known>,
    /// The minimum and maximum number of rows in the answer to a job, when not `hits`.
    rows: Option<[u32; 2]>,
    /// Whether the jobs are sent without `filter`, for comparison.
    #[serde(skip)]
    pub(crate) is_plain: bool,
}

/// Filter requests for a page.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// The bodies, which the requests use in turn.
    pub(crate) bodies: Vec<serde_json::Map<String, serde_json::Value>>,
    #[serde(default = "first_page")]
    pub(crate) page: usize,
    /// A number property for which each request has a different bound, so that no total comes
    /// from the cache.
    pub(crate) vary: Option<String>,
}

/// Search requests.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// Number of words in a query, which are consecutive words of a name.
    #[serde(default = "one_word")]
    pub(crate) words: usize,
    pub(crate) frequency: Frequency,
}

/// Suggestions for partly typed searches.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suggest {
    /// Number of words of the whole search.
    #[serde(default = "one_word")]
    pub(crate) words: usize,
    pub(crate) frequency: Frequency,
    /// The minimum and maximum number of typed characters, which requests use in turn.
    pub(crate) typed: [usize; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Frequency {
    Common,
    Rare,
}

/// A load on Figdex during the turns of both sides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Background {
    pub(crate) connections: usize,
    pub(crate) ask: Ask,
}

/// A kind of identifier, by its name in a request.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Kinds(pub(crate) IdType);

/// A property, by its name in a request.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Known(pub(crate) Property);

/// The bound on a ratio.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Mixes {
    /// Reads a file, or the built-in one.
    pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Self::parse(SHIPPED) };
        let context = || path.display().to_string();
        Self::parse(&std::fs::read_to_string(path).with_context(context)?).with_context(context)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mixes: Self = toml::from_str(text)?;
        for case in &mixes.cases {
            case.check().with_context(|| format!("case {:?}", case.name))?;
        }
        for kind in &mixes.kinds {
            kind.ask.check().with_context(|| format!("scale {:?}", kind.name))?;
        }
        for stream in &mixes.streams {
            stream.check().with_context(|| format!("soak {:?}", stream.name))?;
        }
        Ok(mixes)
    }

    pub(crate) fn asks(&self) -> impl Iterator<Item = &Ask> {
        let background = self.cases.iter().filter_map(|case| case.background.as_ref());
        let cases = self.cases.iter().map(|case| &case.ask);
        let streams = self.streams.iter().filter_map(|stream| stream.ask.as_ref());
        let kinds = self.kinds.iter().map(|kind| &kind.ask);
        cases.chain(background.map(|background| &background.ask)).chain(kinds).chain(streams)
    }
}

impl Case {
    pub(crate) fn bound(&self) -> Option<Bound> {
        self.at_least.map(Bound::AtLeast).or(self.at_most.map(Bound::AtMost))
    }

    /// The requests of the other side; `None` for the floor.
    pub(crate) fn other(&self) -> Option<Ask> {
        match (self.against, &self.ask) {
            (Against::WithoutFilter, Ask::Mapping(mapping)) => {
                Some(Ask::Mapping(Mapping { is_plain: true, ..mapping.clone() }))
            }
            (Against::FirstPage, Ask::Filter(filter)) => {
                Some(Ask::Filter(Filter { page: 1, ..filter.clone() }))
            }
            (Against::Itself, ask) => Some(ask.clone()),
            _ => None,
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.at_least.is_none() || self.at_most.is_none(),
            "it has both at_least and at_most"
        );
        ensure!(self.connections != Some(0), "connections must be above 0");
        ensure!(self.requests > 0, "requests must be above 0");
        let has_other = self.against == Against::Floor || self.other().is_some();
        ensure!(has_other, "`against` does not fit the kind of request");
        if let Some(background) = &self.background {
            ensure!(background.connections > 0, "background: connections must be above 0");
            background.ask.check()?;
        }
        self.ask.check()
    }
}

impl Stream {
    /// The fixed request; `None` when the requests are made from the index.
    pub(crate) fn request(&self) -> Option<Vec<u8>> {
        let path = self.path.as_deref()?;
        Some(
            self.body.as_deref().map_or_else(|| client::get(path), |body| client::post(path, body)),
        )
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(self.share > 0, "share must be above 0");
        ensure!(self.ask.is_some() != self.path.is_some(), "it needs either ask or path");
        ensure!(self.body.is_none() || self.path.is_some(), "a body needs a path");
        self.ask.as_ref().map_or(Ok(()), Ask::check)
    }
}

impl Ask {
    /// Whether no request may be sent twice.
    pub(crate) fn is_varied(&self) -> bool {
        matches!(self, Self::Filter(Filter { vary: Some(_), .. }))
    }

    fn check(&self) -> anyhow::Result<()> {
        match self {
            Self::Mapping(mapping) => {
                ensure!((1..=100).contains(&mapping.jobs), "jobs must be 1 to 100");
                ensure!(!mapping.id_types.is_empty(), "id_types is empty");
                ensure!(
                    !mapping.hits().is_empty() && !mapping.rows().is_empty(),
                    "hits and rows must ascend"
                );
            }
            Self::Filter(filter) => {
                ensure!(!filter.bodies.is_empty(), "bodies is empty");
                ensure!((1..=150).contains(&filter.page), "page must be 1 to 150");
                ensure!(filter.vary.is_none() || filter.page == 1, "vary is for the first page");
            }
            Self::Search(search) => {
                ensure!((1..=2).contains(&search.words), "words must be 1 or 2");
            }
            Self::Suggest(Suggest { words, typed: [least, most], .. }) => {
                ensure!((1..=2).contains(words), "words must be 1 or 2");
                ensure!(*least > 0 && least <= most, "typed must start at 1 or more, and ascend");
            }
        }
        Ok(())
    }
}

impl Mapping {
    pub(crate) fn hits(&self) -> RangeInclusive<u32> {
        self.hits[0]..=self.hits[1]
    }

    pub(crate) fn rows(&self) -> RangeInclusive<u32> {
        let [least, most] = self.rows.unwrap_or(self.hits);
        least..=most
    }
}

impl Bound {
    pub(crate) fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(bound) => ratio >= bound,
            Self::AtMost(bound) => ratio <= bound,
        }
    }
}

impl TryFrom<String> for Kinds {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        IdType::from_name(&name).map(Self).ok_or_else(|| format!("no idType is named {name:?}"))
    }
}

impl TryFrom<String> for Known {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Property::from_name(&name).map(Self).ok_or_else(|| format!("no property is named {name:?}"))
    }
}

const fn requests() -> usize {
    10_000
}

const fn ok() -> u16 {
    200
}

const fn first_page() -> usize {
    1
}

const fn one_word() -> usize {
    1
}
