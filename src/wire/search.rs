//! The request of a search or a filter: one object, the same for both (contract 8.1).

use std::borrow::Cow;
use std::fmt;

use figdex_index::{Filters, Keywords, Level, Levels, Search, Vocabulary};
use serde::de::{Deserializer as _, MapAccess, Visitor};

use super::json::{Raw, elements, is_null, read_members, text};
use super::properties::{Checked, Properties, Several};
use super::{Fault, invalid_key};
use crate::callers::error::ApiError;
use crate::callers::version::Version;

/// A search or filter request, as the caller sent it.
#[derive(Default)]
pub(crate) struct SearchRequest<'a> {
    query: Option<Raw<'a>>,
    start: Option<Raw<'a>>,
    properties: Properties<'a>,
    level: Option<Raw<'a>>,
    unknown: Option<Cow<'a, str>>,
}

impl<'a> SearchRequest<'a> {
    /// Reads the body.
    ///
    /// # Errors
    /// [`ApiError::BadRequest`] when it is not JSON, or not an object.
    pub(crate) fn parse(body: &'a [u8], version: Version) -> Result<Self, ApiError> {
        let body = str::from_utf8(body).map_err(|_| ApiError::BadRequest)?;
        let mut reader = serde_json::Deserializer::from_str(body);
        let request = reader.deserialize_map(OneSearch(version));
        let request = request.map_err(|_| ApiError::BadRequest)?;
        reader.end().map_err(|_| ApiError::BadRequest)?;
        Ok(request)
    }

    /// Checks the request. The conditional properties of mapping jobs are not required here
    /// (contract 8.8).
    pub(crate) fn check(&self, vocabulary: &Vocabulary, several: Several) -> Checked<Search> {
        let Checked { enums_hold, question } = self.properties.check(vocabulary, several);
        Checked { enums_hold, question: self.search(question, several) }
    }

    /// The search with the checked filters. Faults are reported in the order of contract 8.13.
    fn search(
        &self,
        filters: Result<Option<Filters>, Fault>,
        several: Several,
    ) -> Result<Option<Search>, Fault> {
        if let Some(key) = &self.unknown {
            return Err(invalid_key(key));
        }
        if self.level.is_some() && several == Several::No {
            return Err(invalid_key("level"));
        }
        let is_given = [self.query, self.start, self.level].iter().any(Option::is_some);
        if !is_given && !self.properties.any() {
            return Err("query must contain at least one parameter".into());
        }
        let keywords = self.query.map(keywords).transpose()?;
        let levels = self.level.map_or(Ok(Levels::default()), levels)?;
        Ok(filters?.map(|filters| Search { keywords, filters: Filters { levels, ..filters } }))
    }

    /// The text of the cursor where the search continues.
    ///
    /// # Errors
    /// [`INVALID_START`] when it is not a text.
    pub(crate) fn start(&self) -> Result<Option<Cow<'a, str>>, Fault> {
        self.start.map(|raw| text(raw).ok_or(INVALID_START)).transpose().map_err(Fault::from)
    }
}

/// Reads the object.
struct OneSearch(Version);

impl<'de> Visitor<'de> for OneSearch {
    type Value = SearchRequest<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a search or filter request")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut request = SearchRequest::default();
        read_members(map, |name, raw| match &*name {
            "query" => request.query = (!is_null(raw)).then_some(raw),
            "start" => request.start = (!is_null(raw)).then_some(raw),
            "level" => request.level = (!is_null(raw)).then_some(raw),
            known if request.properties.take(known, raw, self.0) => {}
            _ if request.unknown.is_some() => {}
            _ => request.unknown = Some(name),
        })?;
        Ok(request)
    }
}

/// The fault of a `start` that is not a cursor of this query (contract 8.12).
pub(crate) const INVALID_START: &str = "Invalid start value.";

fn keywords(raw: Raw<'_>) -> Result<Keywords, Fault> {
    let query = text(raw).filter(|query| !query.is_empty());
    let query = query.ok_or("query must be a non-empty string.")?;
    Keywords::parse(&query).map_err(|error| format!("{error}.").into())
}

/// The requested levels: a name, or an array of names (contract 8.17).
fn levels(raw: Raw<'_>) -> Result<Levels, Fault> {
    let fault = "level must be composite, venue, listing or single, or an array of these.";
    let names = elements(raw, Level::COUNT).unwrap_or_else(|| vec![raw]);
    let mut levels = Levels::default();
    for name in names {
        let level = text(name).and_then(|name| Level::from_name(&name));
        levels.insert(level.ok_or(fault)?);
    }
    if levels.is_empty() { Err(fault.into()) } else { Ok(levels) }
}
