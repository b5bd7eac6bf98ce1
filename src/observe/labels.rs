//! How labels are written.

use std::fmt;

use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};

use crate::request::Route;
use crate::version::Version;

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Answered {
    pub(crate) route: Route,
    pub(crate) status: u16,
}

/// The route's template without the version, and the version, which is empty where there
/// is none: so can one ask for an endpoint in all its versions.
impl EncodeLabelSet for Route {
    fn encode(&self, labels: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let version = self.version().map_or("", Version::name);
        EncodeLabelSet::encode(&[("route", self.template()), ("version", version)], labels)
    }
}

impl EncodeLabelSet for Answered {
    fn encode(&self, labels: &mut LabelSetEncoder<'_>) -> fmt::Result {
        self.route.encode(labels)?;
        EncodeLabel::encode(&("status", self.status), labels.encode_label())
    }
}
