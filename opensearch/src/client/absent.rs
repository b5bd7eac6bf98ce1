//! No client: the program was built without the feature `http`.

use figdex_io::ClusterAddress;
use serde::de::DeserializeOwned;

use super::{ClientSettings, Error, HostState, Request, Result};

/// A client of a cluster, of which there is none in this program.
pub enum Client {}

impl Client {
    /// No client.
    ///
    /// # Errors
    /// Always: how to build a program that has one.
    pub fn new(address: &ClusterAddress, _settings: &ClientSettings) -> Result<Self> {
        Err(Error::settings(format!(
            "{address}: this program was built without clusters; build it with the cargo feature \
             opensearch"
        )))
    }

    /// No host.
    pub fn hosts(&self) -> Vec<HostState> {
        match *self {}
    }

    /// No call.
    pub fn repeated(&self) -> u64 {
        match *self {}
    }

    /// No text.
    pub(crate) fn quoted(&self, _text: &str) -> String {
        match *self {}
    }

    /// No answer.
    ///
    /// # Errors
    /// None.
    pub async fn ask<T: DeserializeOwned>(&self, _request: &Request<'_>) -> Result<T> {
        match *self {}
    }
}
