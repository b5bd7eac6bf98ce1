//! The labels of the metrics of requests.

use std::fmt;

use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};

use crate::callers::version::Version;
use crate::request::Route;

/// The labels of a counted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestLabels {
    pub(crate) route: Route,
    pub(crate) status: u16,
}

/// `route` is the template without the version, and `version` is empty for a route that has
/// none. A query can therefore select an endpoint in all its versions.
impl EncodeLabelSet for Route {
    fn encode(&self, labels: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let version = self.version().map_or("", Version::name);
        EncodeLabelSet::encode(&[("route", self.template()), ("version", version)], labels)
    }
}

impl EncodeLabelSet for RequestLabels {
    fn encode(&self, labels: &mut LabelSetEncoder<'_>) -> fmt::Result {
        self.route.encode(labels)?;
        EncodeLabel::encode(&("status", self.status), labels.encode_label())
    }
}
