//! The parameters of `GET /facets` and its answer (contract 16.11 to 16.13).

use std::io::Write as _;

use figdex_index::{Facet, FacetQuestion, Facets, Property, Search, Vocabulary};

use super::Fault;
use super::json::{array, string};
use super::url_filters::{UrlFilters, keywords, number_to, once};
use crate::config::UnknownEnum;

/// The most values of a facet that a request may ask for: more than people read.
const LIMIT_MAX: usize = 10_000;

/// The number of values of a facet if a request has no `limit`.
const LIMIT_DEFAULT: usize = 100;

/// The facets if a request has no `properties`: the ones that the page shows.
const FACETS_DEFAULT: [Facet; 4] = [
    Facet::Level,
    Facet::Property(Property::ExchCode),
    Facet::Property(Property::Currency),
    Facet::Property(Property::SecurityType2),
];

/// A request for facets, as the caller sent it.
pub(crate) struct FacetsRequest {
    pub(crate) question: FacetQuestion,
    pub(crate) limit: usize,
    /// Whether nothing is found, since all values of a property are outside its set.
    pub(crate) is_impossible: bool,
}

impl FacetsRequest {
    /// Reads the query string of the request.
    ///
    /// # Errors
    /// The text for the answer's `error`.
    pub(crate) fn parse(
        query: &str,
        vocabulary: &Vocabulary,
        unknown_enum: UnknownEnum,
    ) -> Result<Self, Fault> {
        let (mut text, mut limit, mut facets) = (None, None, None);
        let mut filters = UrlFilters::new(vocabulary, unknown_enum);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "query" => once(&name, &mut text, value)?,
                "limit" => once(&name, &mut limit, value)?,
                "properties" => once(&name, &mut facets, self::facets(&value)?)?,
                _ if filters.take_property(&name, &value)? => {}
                _ if filters.take_other(&name, &value)? => {}
                _ => return Err(super::invalid_key(&name)),
            }
        }
        let limit = number_to(LIMIT_MAX, limit.as_deref())?.unwrap_or(LIMIT_DEFAULT);
        let keywords = text.map(|text| keywords(Some(&text))).transpose()?;
        let (filters, is_impossible) = filters.finish();
        let search = Search { keywords, filters };
        let facets = facets.unwrap_or_else(|| FACETS_DEFAULT.to_vec());
        Ok(Self { question: FacetQuestion { search, facets }, limit, is_impossible })
    }
}

/// Reads the names of facets, separated by commas.
fn facets(names: &str) -> Result<Vec<Facet>, Fault> {
    let mut facets = Vec::new();
    for name in names.split(',') {
        let facet = Facet::from_name(name).filter(|facet| !facets.contains(facet));
        facets.push(facet.ok_or(
            "properties must be names of enum-like properties, or level, each once, joined by commas.",
        )?);
    }
    Ok(facets)
}

/// The answer of `GET /facets`, with at most `limit` values of each facet. `found` is `None` when no
/// row can match.
pub(crate) fn write(
    vocabulary: &Vocabulary,
    question: &FacetQuestion,
    limit: usize,
    found: Option<&Facets>,
) -> Vec<u8> {
    let mut out = Vec::new();
    const INFALLIBLE: &str = "writing into memory does not fail";
    let total = found.map_or(0, |found| found.total);
    write!(out, "{{\"total\":{total},\"facets\":{{").expect(INFALLIBLE);
    for (place, facet) in question.facets.iter().enumerate() {
        let counts = found.map(|found| &found.counts[place]);
        let values = counts.map_or(&[][..], |counts| &counts.values);
        out.extend_from_slice(if place == 0 { b"" } else { b"," });
        string(&mut out, facet.name());
        out.extend_from_slice(b":{\"values\":");
        let shown = &values[..values.len().min(limit)];
        array(&mut out, shown, |out, &(value, count)| {
            out.extend_from_slice(b"{\"value\":");
            string(out, facet.value(value, vocabulary));
            write!(out, ",\"count\":{count}}}").expect(INFALLIBLE);
        });
        let without = counts.map_or(0, |counts| counts.without);
        write!(out, ",\"distinct\":{},\"without\":{without}}}", values.len()).expect(INFALLIBLE);
    }
    out.extend_from_slice(b"}}");
    out
}
