//! Which route took a request, as the log and the metrics name it: never by its path, of
//! which a stranger may choose any number.

use std::fmt;

use crate::version::Version;

/// A line of the route table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
    /// `/schema` is that of v3.
    Schema(Version),
    Instrument,
    Suggest,
    /// `/` is one of its files.
    Page,
    Health,
    Ready,
    Metrics,
    /// None: all paths that are not there.
    Other,
}

impl Route {
    /// Its path without the version, with its parameters by name.
    pub(crate) fn template(self) -> &'static str {
        match self {
            Self::Mapping(_) => "/mapping",
            Self::Values(_) => "/mapping/values/{key}",
            Self::Search(_) => "/search",
            Self::Filter(_) => "/filter",
            Self::Schema(_) => "/schema",
            Self::Instrument => "/instruments/{figi}",
            Self::Suggest => "/suggest",
            Self::Page => "/page/{file}",
            Self::Health => "/healthz",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
            Self::Other => "other",
        }
    }

    /// `None` for those that have no version.
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

/// The whole template: `/v3/mapping`.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = self.version() {
            write!(f, "/{}", version.name())?;
        }
        f.write_str(self.template())
    }
}
