//! The routes in the log and the metrics. They are named by templates, never by the path of a
//! request, because clients can invent any number of paths.

use std::fmt;

use crate::callers::version::Version;

/// A line of the route table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
    /// `/{version}/schema`, and also `/schema`, which counts as v3.
    Schema(Version),
    Instrument,
    History,
    Suggest,
    Facets,
    Find,
    Changes,
    Parquet,
    About,
    Resolve,
    /// The tools for assistants.
    #[cfg(feature = "mcp")]
    Mcp,
    /// A file of the page, and also `/`.
    Page,
    Health,
    Ready,
    Metrics,
    /// Any other path.
    Other,
}

impl Route {
    /// The path, with names in place of parameters.
    pub(crate) fn path(self) -> &'static str {
        use Version::{V1, V2, V3};
        match self {
            Self::Mapping(V1) => "/v1/mapping",
            Self::Mapping(V2) => "/v2/mapping",
            Self::Mapping(V3) => "/v3/mapping",
            Self::Values(V1) => "/v1/mapping/values/{key}",
            Self::Values(V2) => "/v2/mapping/values/{key}",
            Self::Values(V3) => "/v3/mapping/values/{key}",
            Self::Search(V1) => "/v1/search",
            Self::Search(V2) => "/v2/search",
            Self::Search(V3) => "/v3/search",
            Self::Filter(V1) => "/v1/filter",
            Self::Filter(V2) => "/v2/filter",
            Self::Filter(V3) => "/v3/filter",
            Self::Schema(V1) => "/v1/schema",
            Self::Schema(V2) => "/v2/schema",
            Self::Schema(V3) => "/v3/schema",
            Self::Instrument => "/instruments/{figi}",
            Self::History => "/instruments/{figi}/history",
            Self::Suggest => "/suggest",
            Self::Facets => "/facets",
            Self::Find => "/find",
            Self::Changes => "/changes",
            Self::Parquet => "/generations/{generation}/instruments.parquet",
            Self::About => "/about",
            Self::Resolve => "/resolve",
            #[cfg(feature = "mcp")]
            Self::Mcp => "/mcp",
            Self::Page => "/page/{file}",
            Self::Health => "/healthz",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
            Self::Other => "other",
        }
    }

    /// The path without the version.
    pub(crate) fn template(self) -> &'static str {
        match self.version() {
            Some(version) => &self.path()[1 + version.name().len()..],
            None => self.path(),
        }
    }

    /// The version; `None` for a route without one.
    pub(crate) fn version(self) -> Option<Version> {
        match self {
            Self::Mapping(version)
            | Self::Values(version)
            | Self::Search(version)
            | Self::Filter(version)
            | Self::Schema(version) => Some(version),
            _ => None,
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path())
    }
}
