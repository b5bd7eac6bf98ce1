//! "Mapping job": an element of a mapping request.

use std::borrow::Cow;
use std::fmt;

use figdex_index::{Filters, IdType, IdValue, Lookup, Property, Vocabulary};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{Raw, integer, text};
use super::properties::{Checked, Properties, Several};
use super::{Fault, invalid_key};
use crate::error::ApiError;
use crate::version::Version;

/// A mapping job as a caller gave it: its fields, if it is an object.
pub(crate) struct Job<'a>(Option<Fields<'a>>);

/// The fields of a job that is an object.
#[derive(Default)]
struct Fields<'a> {
    id_type: Option<Given<'a>>,
    id_value: Option<Given<'a>>,
    /// Most jobs have none, and a hundred jobs are moved about.
    properties: Option<Box<Properties<'a>>>,
    unknown: Option<Cow<'a, str>>,
}

/// How the jobs of a body are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Texts and integers as a reader hands them on, which is enough for nearly all
    /// bodies; anything else in their places is an error.
    Quick,
    /// Whatever JSON allows, as it stands.
    Exact,
}

/// What stands behind `idType` or `idValue`.
enum Given<'a> {
    Text(Cow<'a, str>),
    Integer(u64),
    /// As it stands, when it is read exactly.
    Raw(Raw<'a>),
}

/// The jobs of a request's body.
///
/// # Errors
/// [`ApiError::BadRequest`] when the body is not JSON, or not an array.
pub(crate) fn jobs(body: &[u8], version: Version) -> Result<Vec<Job<'_>>, ApiError> {
    // Looked at once as a whole: else every value would be, by itself.
    let body = str::from_utf8(body).map_err(|_| ApiError::BadRequest)?;
    let mut reader = serde_json::Deserializer::from_str(body);
    let read = reader.deserialize_seq(Jobs(OneJob(version, Reading::Quick))).and_then(|jobs| {
        reader.end()?;
        Ok(jobs)
    });
    read.or_else(|_| {
        // A value may be JSON and yet none that a reader can hold, such as 1e999: so it is
        // only looked at whether the array is one, and each job is read by itself.
        let jobs: Vec<Raw<'_>> = serde_json::from_str(body).map_err(|_| ApiError::BadRequest)?;
        Ok(jobs.into_iter().map(|raw| one_job(raw, version).unwrap_or(Job(None))).collect())
    })
}

fn one_job(raw: Raw<'_>, version: Version) -> serde_json::Result<Job<'_>> {
    serde_json::Deserializer::from_str(raw.get()).deserialize_any(OneJob(version, Reading::Exact))
}

struct Jobs(OneJob);

impl<'de> Visitor<'de> for Jobs {
    type Value = Vec<Job<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of mapping jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut jobs = Vec::new();
        while let Some(job) = array.next_element_seed(self.0)? {
            jobs.push(job);
        }
        Ok(jobs)
    }
}

/// Reads a job that is an object, and any other value as one without fields.
#[derive(Clone, Copy)]
struct OneJob(Version, Reading);

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
        let mut fields = Fields::default();
        while let Some(Key(name)) = map.next_key_seed(reading)? {
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
                Reading::Quick => map.next_value::<Given<'de>>()?,
                Reading::Exact => Given::Raw(map.next_value()?),
            });
        }
        Ok(Job(Some(fields)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Job<'de>, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Job(None))
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Job<'de>, E> {
        Ok(Job(None))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Job<'de>, E> {
        Ok(Job(None))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Job<'de>, E> {
        Ok(Job(None))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Job<'de>, E> {
        Ok(Job(None))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Job<'de>, E> {
        Ok(Job(None))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Job<'de>, E> {
        Ok(Job(None))
    }
}

impl<'a> Job<'a> {
    /// The question that this job asks.
    pub(crate) fn check(&self, version: Version, vocabulary: &Vocabulary) -> Checked<Lookup<'a>> {
        let Some(fields) = &self.0 else {
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
}

/// A member's key.
struct Key<'a>(Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for Reading {
    type Value = Key<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Key<'de>, D::Error> {
        if self == Self::Exact {
            // One with a lone surrogate is no text: it stands for itself.
            let raw = Raw::deserialize(reader)?;
            return Ok(Key(text(raw).unwrap_or(Cow::Borrowed(raw.get()))));
        }
        match Given::deserialize(reader)? {
            Given::Text(key) => Ok(Key(key)),
            Given::Integer(_) | Given::Raw(_) => Err(de::Error::custom("a key is a text")),
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

impl<'a> Fields<'a> {
    /// The question, of filters that were checked: `Some(None)` when none are given.
    fn lookup(
        &self,
        version: Version,
        filters: Result<Option<Option<Filters>>, Fault>,
    ) -> Result<Option<Lookup<'a>>, Fault> {
        if let Some(key) = &self.unknown {
            return Err(invalid_key(key));
        }
        let id_type = self.id_type(version)?;
        let id_value = self.id_value(id_type)?;
        let filters = filters?;
        if version.has_required_properties() {
            self.required(id_type)?;
        }
        Ok(filters.map(|filters| Lookup::new(id_value, filters)))
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
        admitted.map_err(|_| "Invalid idValue format.".into())
    }

    /// The conditional rows of the contract's table "Mapping job".
    fn required(&self, id_type: IdType) -> Result<(), Fault> {
        let indistinct = matches!(id_type, IdType::BaseTicker | IdType::ExchSymbol);
        let properties = self.properties.as_deref();
        let given = |property| properties.is_some_and(|properties| properties.has(property));
        if indistinct && !given(Property::SecurityType2) && !given(Property::MarketSecDes) {
            let name = id_type.name();
            return Err(format!(
                "securityType2 or marketSecDes is required when idType is {name}."
            )
            .into());
        }
        properties.map_or(Ok(()), Properties::required_dates)
    }
}
