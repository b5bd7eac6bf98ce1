//! The client of a cluster. This is the only place that sends a request and reads an answer. Its wire
//! is HTTP, behind the feature of that name.

mod calls;
mod error;
mod hosts;
#[cfg(feature = "http")]
mod http;
mod pauses;
mod request;
mod running;
mod wire;

use std::path::PathBuf;

use figdex_io::ClusterAddress;

pub use self::calls::Client;
pub use self::error::{CallError, CallResult};
#[cfg(feature = "http")]
use self::http::connect;
pub use self::pauses::Pauses;
pub use self::request::Request;
pub use self::wire::{Failure, Reply, Sending, Wire};

/// The settings of a client, besides the address.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// A PEM file with the certificates to trust, instead of those of the system.
    pub ca_file: Option<PathBuf>,
    /// A file with the value of the `Authorization` header, such as `Basic …` or `ApiKey …`.
    pub authorization_file: Option<PathBuf>,
    /// The most calls at the same time; further calls wait.
    pub calls_max: usize,
}

/// The upper bounds of the buckets for the times of calls, in seconds.
pub const LATENCY_BUCKETS: [f64; 12] =
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 30.0];

/// The state of a host, for metrics. The numbers count from the creation of the client.
#[derive(Clone, Debug, PartialEq)]
pub struct HostState {
    /// Its name and port.
    pub name: String,
    /// Whether the host has failed since it last answered. Then it is left alone for a while.
    pub is_failing: bool,
    /// The number of calls that failed, or that another host answered sooner.
    pub failed: u64,
    /// The number of calls in each bucket of [`LATENCY_BUCKETS`], and of longer calls.
    pub latency: [u64; LATENCY_BUCKETS.len() + 1],
    /// The time of all calls.
    pub seconds: f64,
}

impl Client {
    /// A client of the cluster at an address. It does not ask the cluster anything yet.
    ///
    /// # Errors
    /// When a file of the settings cannot be read or used.
    pub fn new(address: &ClusterAddress, settings: &ClientSettings) -> CallResult<Self> {
        let (wire, secrets) = connect(address, settings)?;
        Ok(Self::over(wire, secrets, address, settings.calls_max))
    }
}

/// Programs without the feature refuse the address where they read it.
#[cfg(not(feature = "http"))]
fn connect(
    address: &ClusterAddress,
    _settings: &ClientSettings,
) -> CallResult<(Box<dyn Wire>, Vec<String>)> {
    Err(CallError::settings(format!("{address}: this program was built without clusters")))
}
