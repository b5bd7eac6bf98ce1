//! Flags as typed → [`Config`] as resolved. A flag beats the environment, which
//! beats the file; all faults are found before any is told.

mod flags;
mod listing;
mod resolve;
mod sources;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use self::flags::{Command, Flags, KeysCommand, KeysFlags, ServeFlags};
pub(crate) use self::listing::Changes;
pub use self::listing::{Held, Listing, Setting};
pub use self::sources::Provenance;
use crate::auth::KeyRing;
use crate::cors::Cors;
use crate::limits::{
    ANSWERS_BYTES_MAX, BODIES_BYTES_MAX, BODY_BYTES_MAX, BODY_WAIT, JOBS_MAX, JOBS_MAX_WITH_KEY,
    PerRequest, Rates, TURN_WAIT,
};
use crate::observe::log::LogFormat;
use crate::serve::Listen;
use crate::serve::bounds::ConnectionBounds;
use crate::serve::tls::Tls;

/// Where the index lies when no flag says so.
pub const DEFAULT_INDEX: &str = "data/index";

/// How often the index folder is looked at for a new generation.
const RELOAD_PERIOD: Duration = Duration::from_secs(1);

/// The connections to the operators' own address. They have places of their own, so
/// that a flood of clients does not lock them out, and few: a scraper and some people.
pub const ADMIN_CONNECTIONS: ConnectionBounds =
    ConnectionBounds { max: 64, ..ConnectionBounds::DEFAULT };

/// Everything that `figdex serve` was told.
#[derive(Debug)]
pub struct Config {
    /// `--index`; without it, [`DEFAULT_INDEX`].
    pub index: Option<PathBuf>,
    /// `--listen`
    pub listen: Listen,
    /// `--admin-listen`
    pub admin_listen: Option<Listen>,
    /// `--tls-cert` and `--tls-key`, opened.
    pub tls: Option<Arc<Tls>>,
    /// `--keys`, opened.
    pub keys: Arc<KeyRing>,
    /// `--log-format`
    pub log_format: LogFormat,
    /// How to answer.
    pub settings: Settings,
    /// The file's `[limits]`, also where `--no-limits` lifts them.
    pub rates: Rates,
    /// Where each value comes from, by name; one that is not here is the default.
    pub provenance: BTreeMap<String, Provenance>,
}

/// What the operator chose, resolved: how the server answers.
///
/// The default is for a program that embeds the service, and for tests: it has no
/// request rates. `figdex` itself has the contract's unless told otherwise.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `--search-envelope`
    pub search_envelope: SearchEnvelope,
    /// `--unknown-enum`
    pub unknown_enum: UnknownEnum,
    /// `--strict-contract`: nothing that the contract does not know.
    pub strict_contract: bool,
    /// `--hide-identifiers`
    pub hide_identifiers: bool,
    /// `--cors`
    pub cors: Cors,
    /// `--public-url`: the server's address for its clients, without a slash at the
    /// end; `None` when nobody knows it.
    pub public_url: Option<String>,
    /// `--trust-proxy`
    pub trust_proxy: bool,
    /// The file's `[limits]`; `None` with `--no-limits`.
    pub rates: Option<Rates>,
    /// `--jobs-per-request`
    pub jobs_per_request: usize,
    /// `--jobs-per-request-with-key`
    pub jobs_per_request_with_key: usize,
    /// `--body-bytes-max`
    pub body_bytes_max: usize,
    /// `--connections`, and how slow they may be.
    pub connections: ConnectionBounds,
    /// `--access-log`: a line for each request. It is on unless told otherwise, since
    /// without one nobody can tell afterwards what was refused and what was slow; and no
    /// request waits for its line to be written.
    pub access_log: bool,
    /// `--body-timeout`: how long the body of a request may take.
    pub body_wait: Duration,
    /// The bytes that the bodies of all requests may have together. It is a setting of
    /// the type, not of the command, as those below.
    pub bodies_bytes_max: usize,
    /// The bytes that answers may have together which wait for their readers.
    pub answers_bytes_max: usize,
    /// The heavy pieces of work that may run at a time; without it, the machine says.
    pub turns: Option<usize>,
    /// How long one waits for its turn.
    pub turn_wait: Duration,
    /// How often the index folder is looked at for a new generation.
    pub reload_period: Duration,
}

impl Settings {
    /// What one request may carry.
    pub fn per_request(&self) -> PerRequest {
        PerRequest {
            jobs_max: self.jobs_per_request,
            jobs_max_with_key: self.jobs_per_request_with_key,
            body_bytes_max: self.body_bytes_max,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search_envelope: SearchEnvelope::default(),
            unknown_enum: UnknownEnum::default(),
            strict_contract: false,
            hide_identifiers: false,
            cors: Cors::default(),
            public_url: None,
            trust_proxy: false,
            rates: None,
            jobs_per_request: JOBS_MAX,
            jobs_per_request_with_key: JOBS_MAX_WITH_KEY,
            body_bytes_max: BODY_BYTES_MAX,
            connections: ConnectionBounds::default(),
            access_log: true,
            body_wait: BODY_WAIT,
            bodies_bytes_max: BODIES_BYTES_MAX,
            answers_bytes_max: ANSWERS_BYTES_MAX,
            turns: None,
            turn_wait: TURN_WAIT,
            reload_period: RELOAD_PERIOD,
        }
    }
}

/// What a search or filter answer is wrapped in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchEnvelope {
    /// One JSON object, as every known client expects.
    #[default]
    Object,
    /// An array of that one object, as the public service's schema says.
    Array,
}

/// What becomes of an enum-like field outside its allowed set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownEnum {
    /// The request is refused: 400 `Invalid enum field.`
    #[default]
    Reject,
    /// It finds nothing.
    NoMatch,
}

/// All that is wrong with what the program was told, at once.
#[derive(Debug, thiserror::Error)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [fault] = &*self.0 {
            return f.write_str(fault);
        }
        write!(f, "{} faults in the settings", self.0.len())?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {}", fault.replace('\n', "\n  ")))
    }
}
