//! A mapping job: an element of the body of a mapping request (contract 4).

use std::borrow::Cow;
use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;

use figdex_index::{
    Filters, IdType, IdValue, Lookup, Question, Vendor, Vocabulary, check_required,
};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{Raw, integer, text};
use super::properties::{Checked, Properties, Several};
use super::{Fault, invalid_key};
use crate::callers::error::ApiError;
use crate::callers::version::Version;

/// An element of the array as the caller sent it.
pub(crate) enum Job<'a> {
    /// A mapping job: the fields of an object.
    Object(JobFields<'a>),
    /// A text, which only lists take (contract 17.3).
    Text(Cow<'a, str>),
    /// Any other value.
    Other,
}

/// The fields of a job that is an object.
#[derive(Default)]
pub(crate) struct JobFields<'a> {
    id_type: Option<Given<'a>>,
    id_value: Option<Given<'a>>,
    /// Boxed: most jobs have none, and jobs are moved by the hundred.
    properties: Option<Box<Properties<'a>>>,
    /// The first member whose name is neither a field nor a property.
    unknown: Option<Cow<'a, str>>,
}

/// The fault of an `idValue` that does not have the form of its idType (contract 4.11).
const INVALID_FORMAT: &str = "Invalid idValue format.";

/// The member of a list's job that says as of which day it is asked.
const AS_OF: &str = "asOf";

/// The two modes of reading the jobs of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadingMode {
    /// Expects texts and unsigned integers as `idType` and `idValue`, as in nearly all bodies; any
    /// other value there ends the reading with an error.
    Quick,
    /// Accepts any JSON value anywhere, and keeps it raw.
    Exact,
}

/// The largest body that is read quickly, in bytes: quick reading may hold a long value three times
/// in memory. Larger bodies need permission from the operator; no long value of theirs is copied.
const QUICK_BYTES_MAX: usize = 1 << 20;

impl ReadingMode {
    /// Reads a text of that length: quickly if it is short enough, and exactly if it is longer or
    /// the quick reading fails.
    fn any<T>(bytes: usize, read: impl Fn(Self) -> serde_json::Result<T>) -> serde_json::Result<T> {
        if bytes > QUICK_BYTES_MAX {
            return read(Self::Exact);
        }
        // Some values are valid JSON but do not fit into a Rust type, such as 1e999. Then the text
        // is read again, with each job kept raw.
        read(Self::Quick).or_else(|_| read(Self::Exact))
    }
}

/// The value of `idType` or `idValue`.
enum Given<'a> {
    Text(Cow<'a, str>),
    Integer(u64),
    /// Any value, in [`ReadingMode::Exact`].
    Raw(Raw<'a>),
}

/// Reads the jobs of a body, and passes each to `each` as soon as it is read, so only the results
/// of `each` are kept. If the quick reading fails, all jobs are read and passed again.
///
/// # Errors
/// - [`ApiError::BadRequest`] when the body is not JSON, or not an array (contract 2.7).
/// - [`ApiError::PayloadTooLarge`] when the array has more than `jobs_max` elements (contract
///   14.1).
pub(crate) fn jobs<'a, T>(
    body: &'a [u8],
    version: Version,
    jobs_max: usize,
    each: impl Fn(Job<'a>) -> T,
) -> Result<Vec<T>, ApiError> {
    jobs_until(body, version, jobs_max, |job| Ok::<T, Infallible>(each(job))).map(|Ok(jobs)| jobs)
}

/// As [`jobs`], but reads no further once `each` fails. Its error is the inner one.
///
/// # Errors
/// As [`jobs`].
pub(super) fn jobs_until<'a, T, E>(
    body: &'a [u8],
    version: Version,
    jobs_max: usize,
    each: impl Fn(Job<'a>) -> Result<T, E>,
) -> Result<Result<Vec<T>, E>, ApiError> {
    // UTF-8 is checked once for the whole body. Otherwise each value would be checked.
    let body = str::from_utf8(body).map_err(|_| ApiError::BadRequest)?;
    let failed = Cell::new(None);
    let read = |reading| {
        let mut reader = serde_json::Deserializer::from_str(body);
        let jobs =
            JobArray { one: OneJob(version, reading), jobs_max, each: &each, failed: &failed };
        let jobs = reader.deserialize_seq(jobs);
        if let Some(error) = failed.take() {
            return Ok(Some(Err(error)));
        }
        let jobs = jobs?;
        reader.end()?;
        Ok(jobs.map(Ok))
    };
    let jobs = ReadingMode::any(body.len(), read);
    jobs.map_err(|_| ApiError::BadRequest)?.ok_or(ApiError::PayloadTooLarge)
}

/// Reads a text as one job, like an element of the array.
///
/// # Errors
/// When the text is not JSON.
pub(super) fn job(text: &str, version: Version) -> serde_json::Result<Job<'_>> {
    let read = |reading| match reading {
        ReadingMode::Quick => {
            let mut reader = serde_json::Deserializer::from_str(text);
            let job = reader.deserialize_any(OneJob(version, reading))?;
            reader.end()?;
            Ok(job)
        }
        ReadingMode::Exact => one_job(serde_json::from_str(text)?, version),
    };
    ReadingMode::any(text.len(), read)
}

fn one_job(raw: Raw<'_>, version: Version) -> serde_json::Result<Job<'_>> {
    if let Some(text) = text(raw) {
        return Ok(Job::Text(text));
    }
    serde_json::Deserializer::from_str(raw.get())
        .deserialize_any(OneJob(version, ReadingMode::Exact))
}

/// Reads the array; `None` when it has more than `jobs_max` elements. Excess elements are not
/// stored, because an element of two bytes would become fifty times as large. They are still read:
/// a body that is not JSON is refused as such, whatever its size.
struct JobArray<'f, F, E> {
    one: OneJob,
    jobs_max: usize,
    each: &'f F,
    /// Set to the error of `each`, which ends the reading.
    failed: &'f Cell<Option<E>>,
}

impl<'de, T, E, F: Fn(Job<'de>) -> Result<T, E>> Visitor<'de> for JobArray<'_, F, E> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of mapping jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let Self { one, jobs_max, each, failed } = self;
        let OneJob(version, reading) = one;
        let mut jobs = Vec::new();
        while jobs.len() < jobs_max {
            let job = match reading {
                ReadingMode::Quick => array.next_element_seed(one)?,
                ReadingMode::Exact => {
                    let raw = array.next_element::<Raw<'de>>()?;
                    raw.map(|raw| one_job(raw, version).unwrap_or(Job::Other))
                }
            };
            let Some(job) = job else { return Ok(Some(jobs)) };
            match each(job) {
                Ok(one) => jobs.push(one),
                Err(error) => {
                    failed.set(Some(error));
                    return Err(de::Error::custom("the jobs are not read to the end"));
                }
            }
        }
        let mut is_over = false;
        while array.next_element::<IgnoredAny>()?.is_some() {
            is_over = true;
        }
        Ok((!is_over).then_some(jobs))
    }
}

/// Reads one job: an object with its fields, a text, or any other value as `Job::Other`.
#[derive(Clone, Copy)]
struct OneJob(Version, ReadingMode);

impl<'de> DeserializeSeed<'de> for OneJob {
    type Value = Job<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Job<'de>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneJob {
    type Value = Job<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping job")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Job<'de>, A::Error> {
        let Self(version, reading) = self;
        let mut fields = JobFields::default();
        while let Some(Name(name)) = map.next_key_seed(reading)? {
            let place = match &*name {
                "idType" => &mut fields.id_type,
                "idValue" => &mut fields.id_value,
                known => {
                    let raw = map.next_value::<Raw<'de>>()?;
                    let properties = fields.properties.get_or_insert_default();
                    if !properties.take(known, raw, version) && fields.unknown.is_none() {
                        fields.unknown = Some(name);
                    }
                    continue;
                }
            };
            *place = Some(match reading {
                ReadingMode::Quick => map.next_value::<Given<'de>>()?,
                ReadingMode::Exact => Given::Raw(map.next_value()?),
            });
        }
        Ok(Job::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Job<'de>, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Job::Other)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Job<'de>, E> {
        Ok(Job::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Job<'de>, E> {
        Ok(Job::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Job<'de>, E> {
        Ok(Job::Other)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Job<'de>, E> {
        Ok(Job::Other)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Job<'de>, E> {
        Ok(Job::Other)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Job<'de>, E> {
        Ok(Job::Other)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Job<'de>, E> {
        Ok(Job::Other)
    }
}

impl<'a> Job<'a> {
    /// Checks the job. Faults are reported in the order of contract 4.15.
    pub(crate) fn check(&self, version: Version, vocabulary: &Vocabulary) -> Checked<Lookup<'a>> {
        let Self::Object(fields) = self else {
            let question = Err("A mapping job must be an object.".into());
            return Checked { enums_hold: true, question };
        };
        let (enums_hold, filters) = match &fields.properties {
            Some(properties) => {
                let Checked { enums_hold, question } = properties.check(vocabulary, Several::No);
                (enums_hold, question.map(|filters| filters.map(Some)))
            }
            None => (true, Ok(Some(None))),
        };
        Checked { enums_hold, question: fields.lookup(version, filters) }
    }

    /// The idType of the job; `None` if it has no idType that exists in this version.
    pub(crate) fn id_type(&self, version: Version) -> Option<IdType> {
        let Self::Object(fields) = self else { return None };
        fields.id_type(version).ok()
    }
}

/// The name of a member.
struct Name<'a>(Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for ReadingMode {
    type Value = Name<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Name<'de>, D::Error> {
        if self == Self::Exact {
            // A name with a lone surrogate is not a text. It is kept as the body spells it.
            let raw = Raw::deserialize(reader)?;
            return Ok(Name(text(raw).unwrap_or(Cow::Borrowed(raw.get()))));
        }
        match Given::deserialize(reader)? {
            Given::Text(name) => Ok(Name(name)),
            Given::Integer(_) | Given::Raw(_) => Err(de::Error::custom("a name must be a text")),
        }
    }
}

impl<'de> Deserialize<'de> for Given<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct TextOrInteger;

        impl<'de> Visitor<'de> for TextOrInteger {
            type Value = Given<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or an integer")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Given<'de>, E> {
                Ok(Given::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Given<'de>, E> {
                Ok(Given::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Given<'de>, E> {
                Ok(Given::Integer(number))
            }
        }

        reader.deserialize_any(TextOrInteger)
    }
}

impl<'a> JobFields<'a> {
    /// The lookup with the checked filters; `None` if no row can match. If the job has no
    /// properties, `filters` holds `Some(None)`.
    fn lookup(
        &self,
        version: Version,
        filters: Result<Option<Option<Filters>>, Fault>,
    ) -> Result<Option<Lookup<'a>>, Fault> {
        if let Some(key) = &self.unknown {
            return Err(invalid_key(key));
        }
        self.known_lookup(version, filters)
    }

    /// The lookup of a job whose members are all known.
    fn known_lookup(
        &self,
        version: Version,
        filters: Result<Option<Option<Filters>>, Fault>,
    ) -> Result<Option<Lookup<'a>>, Fault> {
        let id_type = self.id_type(version)?;
        let id_value = self.id_value(id_type)?;
        let filters = filters?;
        if version.has_required_properties() {
            self.required(id_type)?;
        }
        Ok(filters.map(|filters| Lookup::new(id_value, filters)))
    }

    /// The question of a list's job. A fault is the reason why the job is invalid.
    pub(super) fn question(
        &self,
        version: Version,
        vocabulary: &Vocabulary,
        includes_unlisted: bool,
    ) -> Question<'a> {
        let unknown = |properties: &Properties<'_>| properties.unknown_value(vocabulary);
        if let Some(reason) = self.properties.as_deref().and_then(unknown) {
            return Question::invalid(reason);
        }
        let filters = match &self.properties {
            Some(properties) => {
                properties.check(vocabulary, Several::No).question.map(|f| f.map(Some))
            }
            None => Ok(Some(None)),
        };
        let filters = filters.map(|filters| match filters {
            Some(filters) if includes_unlisted => Some(Some(Filters {
                include_unlisted_equities: true,
                ..filters.unwrap_or_default()
            })),
            filters => filters,
        });
        if let Some((text, as_type)) = self.properties.as_deref().and_then(Properties::text) {
            let question = self.text_question((text, as_type), version, vocabulary, filters);
            return question
                .unwrap_or_else(|fault| Question::invalid(fault.trim_end_matches('.').to_owned()));
        }
        let lookup = match self.unknown_in_list() {
            Some(key) => Err(invalid_key(key)),
            None => self.known_lookup(version, filters),
        };
        match lookup {
            Ok(Some(lookup)) => Question::lookup(lookup),
            Ok(None) => Question::unfound(),
            Err(fault) => match (self.id_type(version), self.input()) {
                (Ok(id_type), Some(text)) if fault == INVALID_FORMAT => {
                    let text = if self.is_text() { text } else { id_type.padded(text) };
                    Question::malformed(id_type, text)
                }
                _ => Question::invalid(fault.trim_end_matches('.').to_owned()),
            },
        }
    }

    /// The first member that a list's job with an `idType` may not have.
    fn unknown_in_list(&self) -> Option<&str> {
        let first = self.unknown.as_deref()?;
        if first != AS_OF {
            return Some(first);
        }
        let properties = self.properties.as_deref()?;
        properties.unknown().or_else(|| properties.has_as().then_some("as"))
    }

    /// The day as of which the job is asked, as it was sent (contract 20.5).
    pub(super) fn as_of(&self) -> Option<Raw<'a>> {
        self.properties.as_deref().and_then(Properties::as_of)
    }

    /// The question of a job with `text`. The job may have `as`, the type of the text's column
    /// (contract 17.13).
    fn text_question(
        &self,
        (raw, as_type): (Raw<'a>, Option<Raw<'a>>),
        version: Version,
        vocabulary: &Vocabulary,
        filters: Result<Option<Option<Filters>>, Fault>,
    ) -> Result<Question<'a>, Fault> {
        if self.id_type.is_some() || self.id_value.is_some() {
            return Err("text takes the place of idType and idValue.".into());
        }
        if let Some(key) = self.properties.as_deref().and_then(Properties::unknown) {
            return Err(invalid_key(key));
        }
        let name = as_type.map(|raw| text(raw).unwrap_or_default());
        let vendor = name.as_deref().and_then(Vendor::from_name);
        let id_type = name.filter(|_| vendor.is_none()).map(|name| {
            let id_type = IdType::from_name(&name);
            id_type.filter(|id_type| version.has_id_type(*id_type)).ok_or("Invalid value for as.")
        });
        let id_type = id_type.transpose()?;
        let text = text(raw).ok_or("text must be a string.")?;
        let Some(filters) = filters? else { return Ok(Question::unfound()) };
        let filters = filters.as_ref();
        if let Some(vendor) = vendor {
            return Ok(Question::symbol(&text, vendor, vocabulary, filters));
        }
        Ok(Question::of(&text, id_type, vocabulary, filters))
    }

    /// The identifier as sent: a text, or the digits of an integer.
    pub(super) fn input(&self) -> Option<Cow<'a, str>> {
        if let Some((raw, _)) = self.properties.as_deref().and_then(Properties::text) {
            return text(raw);
        }
        match self.id_value.as_ref()? {
            Given::Text(text) => Some(text.clone()),
            Given::Integer(number) => Some(number.to_string().into()),
            Given::Raw(raw) => text(raw).or_else(|| integer(raw)),
        }
    }

    /// Whether `idValue` is a text.
    fn is_text(&self) -> bool {
        match &self.id_value {
            Some(Given::Raw(raw)) => text(raw).is_some(),
            value => matches!(value, Some(Given::Text(_))),
        }
    }

    fn id_type(&self, version: Version) -> Result<IdType, Fault> {
        let name = match self.id_type.as_ref().ok_or("idType is required.")? {
            Given::Text(name) => Some(Cow::Borrowed(&**name)),
            Given::Raw(raw) => text(raw),
            Given::Integer(_) => None,
        };
        IdType::from_name(&name.ok_or("idType must be a string.")?)
            .filter(|id_type| version.has_id_type(*id_type))
            .ok_or_else(|| "Invalid value for idType.".into())
    }

    fn id_value(&self, id_type: IdType) -> Result<IdValue<'a>, Fault> {
        let admit = |text: &Cow<'a, str>| match text {
            Cow::Borrowed(text) => id_type.admit(text),
            Cow::Owned(text) => id_type.admit(text).map(IdValue::into_owned),
        };
        let admitted = match self.id_value.as_ref().ok_or("idValue is required.")? {
            Given::Text(text) => admit(text),
            Given::Integer(number) => id_type.admit_integer(&number.to_string()),
            Given::Raw(raw) => match text(raw) {
                Some(text) => admit(&text),
                None => {
                    let decimal = integer(raw).ok_or("idValue must be a string or an integer.")?;
                    id_type.admit_integer(&decimal)
                }
            },
        };
        admitted.map_err(|_| INVALID_FORMAT.into())
    }

    /// Checks the conditional properties (contract 4.12 to 4.14).
    fn required(&self, id_type: IdType) -> Result<(), Fault> {
        match &self.properties {
            Some(properties) => properties.required(id_type),
            None => Ok(check_required(id_type, |_| false, None, [false; 2])?),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    const JOBS_MAX: usize = 3;

    /// The verdict of the simplest reader, which stores all elements.
    fn verdict(body: &str) -> Result<usize, ApiError> {
        let all: Vec<&RawValue> = serde_json::from_str(body).map_err(|_| ApiError::BadRequest)?;
        if all.len() > JOBS_MAX { Err(ApiError::PayloadTooLarge) } else { Ok(all.len()) }
    }

    fn read(body: &str) -> Result<usize, ApiError> {
        jobs(body.as_bytes(), Version::V3, JOBS_MAX, |_| ()).map(|jobs| jobs.len())
    }

    /// contract 2.7, 14.1: 400 for a body that is not JSON, 413 for too many jobs, wherever the
    /// fault is.
    #[test]
    fn faults_behind_the_last_job() {
        for (body, expected) in [
            ("[]", Ok(0)),
            ("[{},{},{}]", Ok(3)),
            ("[{},{},{},{}]", Err(ApiError::PayloadTooLarge)),
            ("[{},{},{},1e999]", Err(ApiError::PayloadTooLarge)),
            ("[1e999,{},{}]", Ok(3)),
            ("[1e999,{},{},[1e999]]", Err(ApiError::PayloadTooLarge)),
            ("[{},{},{},{},}", Err(ApiError::BadRequest)),
            ("[{},{},{},{},{]", Err(ApiError::BadRequest)),
            ("[{},{},{},{}", Err(ApiError::BadRequest)),
            ("[1e999,{},{},{},nul]", Err(ApiError::BadRequest)),
            ("[{},{},{},{}] ]", Err(ApiError::BadRequest)),
            ("{}", Err(ApiError::BadRequest)),
            ("1", Err(ApiError::BadRequest)),
        ] {
            assert_eq!((read(body), verdict(body)), (expected, expected), "{body}");
        }
    }

    proptest! {
        #[test]
        fn the_verdict_is_that_of_a_simple_reader(
            pieces in proptest::collection::vec(
                prop::sample::select(vec![
                    "[", "]", "{", "}", ",", "{},", "{\"a\":", "1", "1e999", "\"\\n\"", "null", ",0",
                    "{\"idType\":null}", "\"", "\\", "-", " ", "\u{fdfa}", "\"\\ud800\"", ":",
                ]),
                0..12,
            ),
            is_array in any::<bool>(),
        ) {
            let mut body = pieces.concat();
            if is_array {
                body = format!("[{body}]");
            }
            prop_assert_eq!(read(&body), verdict(&body), "{}", body);
        }
    }

    /// Jobs beyond the bound are not handed on.
    #[test]
    fn no_more_jobs_are_read_than_allowed() {
        for begin in ["", "1e999,"] {
            let count = std::cell::Cell::new(0);
            let body = format!("[{begin}{}0]", "0,".repeat(1_000));
            let each = |_: Job<'_>| count.set(count.get() + 1);
            assert!(jobs(body.as_bytes(), Version::V3, JOBS_MAX, each).is_err());
            assert!(count.get() <= 2 * JOBS_MAX, "{} are read", count.get());
        }
    }
}
