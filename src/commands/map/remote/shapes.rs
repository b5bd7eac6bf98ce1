//! The JSON of `POST /resolve` and of the values of a property.

use std::borrow::Cow;
use std::fmt;

use anyhow::{Context as _, anyhow, bail, ensure};
use figdex_index::{
    Basis, By, Coverage, Date, Figi, IdType, ListField, NAME_CANDIDATES_MAX, Resolution, Status,
    Vocabulary,
};
use figdex_io::escaped;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::callers::limits::REQUEST_ROWS_MAX;
use crate::commands::map::answerer::{Answer, Asked, AskedAs, RowPast, SEVERAL};
use crate::wire::json::{Raw, elements, read_members, text};

/// A request.
pub(super) struct ListRequest<'a> {
    pub(super) jobs: &'a [Asked<'a>],
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) prefer: &'a [String],
    pub(super) fields: &'a [ListField],
    pub(super) include_unlisted_equities: bool,
    /// The day as of which all jobs are asked, if it is the same for all.
    pub(super) as_of: Option<Date>,
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
        if let Some(day) = self.as_of {
            request.serialize_entry("asOf", &day)?;
        }
        request.end()
    }
}

struct SentJobs<'a>(&'a ListRequest<'a>);

impl Serialize for SentJobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(ListRequest { jobs, vocabulary, as_of, .. }) = self;
        let mut list = serializer.serialize_seq(Some(jobs.len()))?;
        for job in *jobs {
            let day = job.day.filter(|day| Some(*day) != *as_of);
            let is_bare = day.is_none() && job.narrowing.iter().all(Option::is_none);
            match job.reading {
                AskedAs::Text if is_bare => list.serialize_element(&job.text)?,
                _ => list.serialize_element(&SentJob(job, vocabulary, day))?,
            }
        }
        list.end()
    }
}

/// A job, and the day as of which it is asked if the request does not say so.
struct SentJob<'a>(&'a Asked<'a>, &'a Vocabulary, Option<Date>);

impl Serialize for SentJob<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(asked, vocabulary, day) = self;
        let mut job = serializer.serialize_map(None)?;
        match asked.reading {
            AskedAs::Text => job.serialize_entry("text", &asked.text)?,
            AskedAs::OfColumn(id_type) => {
                job.serialize_entry("text", &asked.text)?;
                job.serialize_entry("as", id_type.name())?;
            }
            AskedAs::Symbol(vendor) => {
                job.serialize_entry("text", &asked.text)?;
                job.serialize_entry("as", vendor.name())?;
            }
            AskedAs::Given(id_type) => {
                job.serialize_entry("idType", id_type.name())?;
                job.serialize_entry("idValue", &asked.text)?;
            }
        }
        for known in asked.narrowing.iter().flatten() {
            job.serialize_entry(known.property().name(), vocabulary.text(*known))?;
        }
        if let Some(day) = day {
            job.serialize_entry("asOf", day)?;
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
    /// The row that had the identifier, or an array of them.
    #[serde(borrow)]
    former: Option<Raw<'a>>,
    coverage: Option<StatedCoverage>,
}

/// The members of a result, or of a row, that say what the past knows of a row. A server without a
/// past does not send them.
#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct PastMembers<'a> {
    /// The row that the FIGI has now.
    #[serde(borrow)]
    today: Option<Raw<'a>>,
    valid_from: Option<Date>,
    valid_to: Option<Date>,
    #[serde(borrow)]
    basis: Option<Cow<'a, str>>,
    #[serde(borrow)]
    successor: Option<Cow<'a, str>>,
}

impl<'a> PastMembers<'a> {
    /// The members of an object, which has others too.
    fn of(object: Raw<'a>) -> anyhow::Result<Self> {
        Ok(serde_json::from_str(object.get())?)
    }

    /// The past of a row: its own members, or else those of its result.
    fn of_row(&self, row: Raw<'_>) -> anyhow::Result<RowPast> {
        let own = PastMembers::of(row)?;
        let members = if own.basis.is_some() { &own } else { self };
        let PastMembers { today, valid_from, valid_to, basis, successor } = members;
        let basis = basis.as_deref().and_then(Basis::from_name);
        let successor = successor.as_deref().map(Figi::parse).transpose()?;
        let (valid_from, valid_to) = (*valid_from, *valid_to);
        let today = today.map(figi).transpose()?;
        Ok(RowPast { figi: figi(row)?, today, valid_from, valid_to, basis, successor })
    }
}

/// The days that a past covers.
#[derive(Clone, Copy, serde::Deserialize)]
struct StatedCoverage {
    since: Date,
    until: Date,
}

impl From<StatedCoverage> for Coverage {
    fn from(StatedCoverage { since, until }: StatedCoverage) -> Self {
        Self { since, until }
    }
}

const WHAT: &str = "the answer of the server does not have the shape of POST /resolve";

/// The options that apply to every identifier.
#[derive(Clone, Copy)]
pub(super) struct AnswerOptions<'a> {
    pub(super) prefer: &'a [String],
    pub(super) fields: &'a [ListField],
    pub(super) keeps_all: bool,
    pub(super) accepts_historical: bool,
    /// Whether the server has a past. Then all rows have their FIGI.
    pub(super) has_past: bool,
    /// Whether rows are asked for as of a day.
    pub(super) is_as_of: bool,
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
        let members = match wanted.has_past {
            true => PastMembers::of(result).context(WHAT)?,
            false => PastMembers::default(),
        };
        answers.push(answer(item, &members, wanted, &mut rows_left).context(WHAT)?);
    }
    Ok(Answers { generation, answers })
}

fn answer(
    item: Item<'_>,
    members: &PastMembers<'_>,
    wanted: AnswerOptions<'_>,
    rows_left: &mut usize,
) -> anyhow::Result<Answer<RemoteRow>> {
    let Item { status, id_type, id_types, by, matches, error, correction, reason, .. } = item;
    let Item { data, candidates, former, coverage, .. } = item;
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
        "invalid" => Status::Invalid(error.context("`error` is missing")?.into()),
        "historical" => Status::Historical,
        "gone" => Status::Gone,
        "uncertain" => Status::Uncertain,
        "outOfCoverage" => Status::OutOfCoverage(coverage.context("`coverage` is missing")?.into()),
        other => bail!("the status {other:?} is unknown"),
    };
    let is_accepted = status == Status::Historical && wanted.accepts_historical;
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
        Status::Uncertain if wanted.keeps_all => {
            let rows = former.map_or(Some(Vec::new()), |data| elements(data, *rows_left));
            let rows = rows.context("`former` is not an array, or it is too long")?;
            *rows_left -= rows.len();
            rows
        }
        Status::Historical if is_accepted => {
            vec![members.today.context("`today` is missing")?]
        }
        _ => Vec::new(),
    };
    let were = match former {
        _ if wanted.is_as_of => rows.clone(),
        // One row, or several of an ambiguous identifier.
        Some(former) if former.get().starts_with('[') => {
            elements(former, REQUEST_ROWS_MAX).context("`former` has too many rows")?
        }
        Some(former) => vec![former],
        None => Vec::new(),
    };
    let past = match wanted.has_past {
        true => were.into_iter().map(|row| members.of_row(row)).collect::<anyhow::Result<_>>()?,
        false => Vec::new(),
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
    let is_former = former.is_some() && !wanted.is_as_of;
    let for_reason = past.iter().filter(|_| is_former).filter_map(RowPast::for_reason).collect();
    let resolution = Resolution { correction, is_name_like, past: for_reason, ..resolution };
    let candidates = candidates.map_or(Some(Vec::new()), |raw| elements(raw, NAME_CANDIDATES_MAX));
    let candidates = candidates.with_context(|| {
        format!("`candidates` is not an array of at most {NAME_CANDIDATES_MAX} rows")
    })?;
    let candidates = candidates.into_iter().map(|row| Ok(figi(row)?.to_string()));
    let candidates = candidates.collect::<anyhow::Result<_>>()?;
    Ok(Answer { candidates, past, is_former, is_accepted, ..Answer::new(resolution, rows) })
}

/// The FIGI of a row.
fn figi(row: Raw<'_>) -> anyhow::Result<Figi> {
    #[derive(serde::Deserialize)]
    struct RowFigi<'a> {
        #[serde(borrow)]
        figi: Cow<'a, str>,
    }
    let RowFigi { figi } = serde_json::from_str(row.get())?;
    Figi::parse(&figi).map_err(|error| anyhow!("a row has no FIGI: {error}"))
}

/// A row of an answer: the requested fields, escaped as inside a JSON string, one after another.
/// The two control characters below cannot occur in them.
pub(in crate::commands::map) struct RemoteRow(Box<str>);

/// A JSON string without its quotes; `None` for any other value.
fn inside(value: Raw<'_>) -> Option<&str> {
    value.get().strip_prefix('"')?.strip_suffix('"')
}

/// The most identifiers of one idType that a row may have.
const VALUES_MAX: usize = 1_000;

/// [`SEVERAL`] as a text.
const SEVERAL_TEXT: &str = match str::from_utf8(&[SEVERAL]) {
    Ok(text) => text,
    Err(_) => panic!("a control character is a text"),
};

/// Separates two fields. `NULL` replaces a field that is null.
const NEXT: char = '\n';
const NULL: &str = "\0";

impl RemoteRow {
    /// Reads these fields of a row.
    ///
    /// # Errors
    /// When a field is missing, or is neither a text nor null.
    fn read(row: Raw<'_>, fields: &[ListField]) -> anyhow::Result<Self> {
        struct RowMembers<'f>(&'f [ListField]);

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
            let value = value.with_context(|| format!("a row has no {name}"))?;
            if place > 0 {
                texts.push(NEXT);
            }
            if value.get() == "null" {
                texts += NULL;
            } else if let Some(text) = inside(value) {
                texts += text;
            } else {
                // Only a field of identifiers may have several values.
                let several = elements(value, VALUES_MAX).filter(|_| field.row_field().is_none());
                let several = several.and_then(|all| all.into_iter().map(inside).collect());
                let several: Vec<&str> =
                    several.with_context(|| format!("{name} is neither a text nor null"))?;
                texts += &several.join(SEVERAL_TEXT);
            }
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
    let past = answer.past.len() * size_of::<RowPast>();
    reason + correction.as_ref().map_or(0, String::len) + rows.sum::<usize>() + past
}

/// The days that the past of a server covers, as `GET /about` states them (contract 16.14); `None`
/// without a past.
pub(super) fn coverage(body: &[u8]) -> Option<Coverage> {
    #[derive(serde::Deserialize)]
    struct About {
        coverage: StatedCoverage,
    }
    let About { coverage } = serde_json::from_slice(body).ok()?;
    Some(coverage.into())
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
