//! A mapping job: an element of the body of a mapping request (contract 4).

mod body;
mod usual;

use std::borrow::Cow;
use std::sync::Arc;

use figdex_index::{
    Filters, IdType, IdValue, Lookup, Question, Vendor, Vocabulary, check_required,
};

pub(crate) use self::body::jobs;
pub(super) use self::body::{job, jobs_until};
use super::json::{Raw, integer, text};
use super::properties::{Checked, Properties, Several};
use super::{Fault, invalid_key};
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

/// The value of `idType` or `idValue`.
enum Given<'a> {
    Text(Cow<'a, str>),
    Integer(u64),
    /// Any value, in [`ReadingMode::Exact`].
    Raw(Raw<'a>),
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
        let filters = filters.map(Arc::new);
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
