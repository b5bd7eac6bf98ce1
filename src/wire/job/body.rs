//! Reading the jobs of a body (contract 2.7, 14.1). Each is passed on as soon as it is read.

use std::borrow::Cow;
use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::json::{Raw, text};
use super::usual::usual_jobs;
use super::{Given, Job, JobFields};
use crate::callers::error::ApiError;
use crate::callers::version::Version;

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
pub(in crate::wire) fn jobs_until<'a, T, E>(
    body: &'a [u8],
    version: Version,
    jobs_max: usize,
    each: impl Fn(Job<'a>) -> Result<T, E>,
) -> Result<Result<Vec<T>, E>, ApiError> {
    // UTF-8 is checked once for the whole body. Otherwise each value would be checked.
    let body = str::from_utf8(body).map_err(|_| ApiError::BadRequest)?;
    if let Some(jobs) = usual_jobs(body, jobs_max) {
        return Ok(jobs.map(each).collect());
    }
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
pub(in crate::wire) fn job(text: &str, version: Version) -> serde_json::Result<Job<'_>> {
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
