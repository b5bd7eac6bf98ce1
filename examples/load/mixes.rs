//! The requests to send and the bounds on their ratios, as `mixes.toml` lists and explains them.

use std::ops::RangeInclusive;

use anyhow::{Context as _, ensure};
use figdex_index::{IdType, Property};
use serde::Deserialize;

/// A list of kinds of requests for each command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mixes {
    #[serde(rename = "case")]
    pub(crate) cases: Vec<Kind>,
    pub(crate) answer: Vec<Kind>,
    pub(crate) fair: Vec<Kind>,
    /// The identifiers of the lists of the attacker of `fair`.
    pub(crate) dear: Kind,
    pub(crate) scale: Vec<Kind>,
    pub(crate) soak: Vec<Kind>,
}

/// A kind of request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) ask: Ask,
    #[serde(default = "requests")]
    pub(crate) requests: usize,
    pub(crate) clause: Option<u8>,
    pub(crate) bound: Option<Bound>,
    #[serde(default)]
    pub(crate) ratio: Ratio,
    #[serde(default)]
    pub(crate) against: Against,
    pub(crate) background: Option<Ask>,
    pub(crate) connections: Option<usize>,
    #[serde(default = "one")]
    pub(crate) share: usize,
    #[serde(default = "ok")]
    pub(crate) status: u16,
}

/// The compared figure: Figdex's divided by the other side's.
#[derive(Clone, Copy, Default, Deserialize)]
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
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Against {
    /// A constant body of the same length.
    #[default]
    Floor,
    /// Figdex, with the same jobs without their filters.
    WithoutFilter,
    /// Figdex, with the same list without its fields.
    WithoutFields,
    /// Figdex, with requests for the first page.
    FirstPage,
    /// Figdex, with the same requests. The ratio of this control shows the noise of the machine.
    Itself,
}

/// Requests that are made from an index, or one fixed request.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ask {
    Mapping(Mapping),
    List(Mapping),
    Filter(Filter),
    Search(Words),
    Facets(Words),
    Find(Suggest),
    Suggest(Suggest),
    Fixed { path: String, body: Option<String> },
}

/// Identifiers with `jobs` jobs for each request.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    pub(crate) jobs: usize,
    /// The names of the idTypes, which the jobs use in turn.
    id_types: Vec<String>,
    /// The minimum and maximum number of rows that a value finds.
    hits: [u32; 2],
    /// Further members of every job.
    #[serde(default)]
    pub(crate) with: serde_json::Map<String, serde_json::Value>,
    /// The names of properties that each job filters by, with the value that all its rows share.
    #[serde(default)]
    filter: Vec<String>,
    /// The minimum and maximum number of rows in the answer to a job, when not `hits`.
    rows: Option<[u32; 2]>,
    /// The columns that a list asks for.
    #[serde(default)]
    pub(crate) fields: Vec<String>,
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
    #[serde(default = "one")]
    pub(crate) page: usize,
    /// A number property with a different bound in each request, so that no total comes from the
    /// cache.
    pub(crate) vary: Option<String>,
}

/// Consecutive words of a name.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) words: usize,
    pub(crate) frequency: Frequency,
}

/// Partly typed words of a name.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suggest {
    pub(crate) words: usize,
    pub(crate) frequency: Frequency,
    /// The minimum and maximum number of typed characters, which requests use in turn.
    pub(crate) typed: [usize; 2],
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Frequency {
    Common,
    Rare,
}

/// The bound on a ratio.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Mixes {
    pub(crate) fn read() -> anyhow::Result<Self> {
        toml::from_str(include_str!("mixes.toml")).context("mixes.toml")
    }
}

/// The kinds whose name contains one of these texts; all kinds if there are no texts.
pub(crate) fn named(mut kinds: Vec<Kind>, texts: &[String]) -> anyhow::Result<Vec<Kind>> {
    kinds.retain(|kind| texts.is_empty() || texts.iter().any(|text| kind.name.contains(text)));
    ensure!(!kinds.is_empty(), "no case has such a name");
    Ok(kinds)
}

impl Kind {
    /// The requests of the other side; `None` for the floor.
    pub(crate) fn other(&self) -> Option<Ask> {
        let mut ask = self.ask.clone();
        match (self.against, &mut ask) {
            (Against::Itself, _) => {}
            (Against::WithoutFilter, Ask::Mapping(mapping)) => mapping.is_plain = true,
            (Against::WithoutFields, Ask::List(list)) => list.fields.clear(),
            (Against::FirstPage, Ask::Filter(filter)) => filter.page = 1,
            _ => return None,
        }
        Some(ask)
    }
}

impl Ask {
    /// Whether no request may be sent twice.
    pub(crate) fn is_varied(&self) -> bool {
        matches!(self, Self::Filter(Filter { vary: Some(_), .. }))
    }
}

impl Mapping {
    pub(crate) fn id_types(&self) -> Vec<IdType> {
        let named = |name: &String| IdType::from_name(name).expect("a name of an idType");
        self.id_types.iter().map(named).collect()
    }

    pub(crate) fn filter(&self) -> Vec<Property> {
        let named = |name: &String| Property::from_name(name).expect("a name of a property");
        self.filter.iter().map(named).collect()
    }

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

const fn requests() -> usize {
    10_000
}

const fn one() -> usize {
    1
}

const fn ok() -> u16 {
    200
}
