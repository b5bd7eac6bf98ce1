//! The routes, as the log and the metrics name them: by their templates and never by the path of a
//! request, because clients can make up any number of paths.

use std::fmt;

use crate::callers::version::Version;

/// A line of the route table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
    /// Also `/schema`, as the one of v3.
    Schema(Version),
    Instrument,
    Suggest,
    Facets,
    About,
    Resolve,
    /// Also `/`, as one of the page's files.
    Page,
    Health,
    Ready,
    Metrics,
    /// All paths that no route has.
    Other,
}

impl Route {
    /// Its path, with names in place of parameters.
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
            Self::Suggest => "/suggest",
            Self::Facets => "/facets",
            Self::About => "/about",
            Self::Resolve => "/resolve",
            Self::Page => "/page/{file}",
            Self::Health => "/healthz",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
            Self::Other => "other",
        }
    }

    /// Its path without the version.
    pub(crate) fn template(self) -> &'static str {
        match self.version() {
            Some(version) => &self.path()[1 + version.name().len()..],
            None => self.path(),
        }
    }

    /// Its version; `None` for a route that has none.
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
