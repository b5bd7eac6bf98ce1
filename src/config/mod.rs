//! The configuration: settings from flags, environment and file, resolved to a [`Config`].
//!
//! `table` defines every setting, `flags` the command line, `sources` reads the texts of flags,
//! environment and file, `values` parses them, and `listing` prints the result.

pub mod as_of;
mod flags;
mod identifiers;
mod listing;
pub mod map;
#[cfg(feature = "mcp")]
mod mcp;
mod provenance;
mod ready;
mod sources;
pub mod symbols;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use figdex_index::Visible;
use figdex_io::Address;
use figdex_opensearch::client::ClientSettings;

pub use self::flags::{
    Command, ExplainFlags, Flags, KeysCommand, KeysFlags, ReadyFlags, ServerFlags, SettingFlags,
};
pub use self::identifiers::{IdentifierClass, IdentifierClasses};
pub(crate) use self::listing::Changes;
pub use self::listing::Listing;
pub use self::map::MapFlags;
#[cfg(feature = "mcp")]
pub use self::mcp::McpFlags;
pub use self::provenance::Provenance;
pub use self::ready::ServerPlace;
use self::sources::Sources;
use self::symbols::SymbolsFile;
use self::table::{SETTINGS, Takes};
use crate::callers::auth::KeyRing;
use crate::callers::limits::{
    ANSWERS_BYTES_MAX, BODIES_BYTES_MAX, BODY_BYTES_MAX, BODY_TIMEOUT, JOBS_MAX, JOBS_MAX_WITH_KEY,
    LIST_JOBS_MAX, LIST_JOBS_MAX_WITH_KEY, POOL_TIMEOUT, PerRequest, Rate, Rates,
};
use crate::http::cors::Cors;
use crate::observe::Logged;
use crate::observe::log::LogFormat;
use crate::serve::Listen;
use crate::serve::bounds::ConnectionBounds;
use crate::serve::tls::Tls;

/// The folder of the index, unless `--index` names another.
pub const DEFAULT_INDEX: &str = "data/index";

/// The address to listen on, unless `--listen` names another.
const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

/// The time between two looks at the index folder for a new generation.
const RELOAD_PERIOD: Duration = Duration::from_secs(1);

/// The number of bytes of the served files that are read again in a second: 250 GB in seven hours.
const SCRUB_RATE: usize = 10_000_000;

/// The bounds on connections to the operators' address. These connections are counted separately
/// from those of clients, so that a flood of clients does not lock operators out. A few are enough
/// for a scraper and some people.
pub const ADMIN_CONNECTIONS: ConnectionBounds =
    ConnectionBounds { max: 64, ..ConnectionBounds::DEFAULT };

/// The configuration of `figdex serve`. A field for a flag has the name of the flag.
#[derive(Debug)]
pub struct Config {
    /// The address of the index; `None` means the folder [`DEFAULT_INDEX`].
    pub index: Option<Address>,
    /// The certificates to trust for an index in a cluster.
    pub cluster_ca_file: Option<PathBuf>,
    /// The file with the header that names a user to the cluster.
    pub cluster_authorization_file: Option<PathBuf>,
    /// The local folder for the copy of an index that is in object storage.
    pub cache: Option<PathBuf>,
    /// The highest number of bytes to fetch in a second; `None` for no bound.
    pub cache_rate: Option<usize>,
    /// The root of an object storage other than Amazon's.
    pub storage_endpoint: Option<String>,
    /// The region of the bucket.
    pub storage_region: Option<String>,
    /// The certificates to trust for an index in object storage.
    pub storage_ca_file: Option<PathBuf>,
    /// The file with the keys for object storage.
    pub storage_keys_file: Option<PathBuf>,
    /// The address for clients.
    pub listen: Listen,
    /// The separate address for operators.
    pub admin_listen: Option<Listen>,
    /// The file of the certificate; both TLS files or neither are set.
    pub tls_cert: Option<PathBuf>,
    /// The file of the certificate's key.
    pub tls_key: Option<PathBuf>,
    /// The contents of both TLS files.
    pub tls: Option<Arc<Tls>>,
    /// The contents of the keys file.
    pub keys: Arc<KeyRing>,
    /// The contents of the file of symbols.
    pub symbols: Option<SymbolsFile>,
    /// The format of log lines.
    pub log_format: LogFormat,
    /// The settings for answering requests.
    pub settings: Settings,
    /// The rates of the file's `[limits]`, even when `no_limits` lifts them.
    pub rates: Rates,
    /// The origin of each value, by name. A setting that is missing here has its default.
    pub provenance: BTreeMap<String, Provenance>,
}

/// The settings for answering requests. A field for a flag has the name of the flag.
///
/// The default is for tests and for programs that embed the service: it has no request rates.
/// `figdex serve` has those of the contract, unless `--no-limits` lifts them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The shape of search and filter answers.
    pub search_envelope: SearchEnvelope,
    /// The treatment of values outside the set of an enum-like property.
    pub unknown_enum: UnknownEnum,
    /// Whether the extension of contract 8.14 is off.
    pub strict_contract: bool,
    /// Whether idTypes without a class are internal.
    pub hide_identifiers: bool,
    /// The classes of idTypes in the file.
    pub identifiers: IdentifierClasses,
    /// Whether `/changes` is answered.
    pub changes: bool,
    /// Whether the Parquet file of all instruments is answered.
    pub parquet: bool,
    /// Whether `/mcp` is answered. Only a program with the feature `mcp` has it.
    pub mcp: bool,
    /// The origins whose web pages may call.
    pub cors: Cors,
    /// The server's address for its clients, without a slash at the end. `None` when it is unknown;
    /// then clients get the address that they sent the request to.
    pub public_url: Option<String>,
    /// Whether callers are identified by `X-Forwarded-For`.
    pub trust_proxy: bool,
    /// The request rates; `None` with `--no-limits`.
    pub rates: Option<Rates>,
    /// The maximum number of mapping jobs in a request without a key.
    pub jobs_per_request: usize,
    /// The maximum number of mapping jobs in a request with a key.
    pub jobs_per_request_with_key: usize,
    /// The maximum number of jobs in a list without a key.
    pub jobs_per_list: usize,
    /// The maximum number of jobs in a list with a key.
    pub jobs_per_list_with_key: usize,
    /// The maximum number of bytes in the body of a request.
    pub body_bytes_max: usize,
    /// The bounds on connections: `--connections`, `--connections-per-address`,
    /// `--head-timeout`, `--idle-timeout`, `--drain-wait` and `--drain-timeout`.
    pub connections: ConnectionBounds,
    /// Whether requests are logged. On by default: without the line of a request, nobody can
    /// find out later that it was refused or slow. No request waits until its line is written.
    pub access_log: bool,
    /// Whether requests for the files of the page are also logged.
    pub access_log_page: bool,
    /// Whether log lines have the address of the client.
    pub access_log_address: bool,
    /// Whether the metrics may name the keys, because only operators can read them. Derived from
    /// the addresses and `trust_proxy`.
    pub metrics_name_keys: bool,
    /// Whether the page's requests without a key count in a separate window (contract 14.22).
    pub page_window: bool,
    /// The time in which a client must send the body of a request.
    pub body_timeout: Duration,
    /// The bytes that the bodies of all requests may hold together. This field and the fields below
    /// are not settings of the command, except `scrub_rate`.
    pub bodies_bytes_max: usize,
    /// The bytes that unsent answers may hold together.
    pub answers_bytes_max: usize,
    /// The number of threads for heavy answers, and as many for compression; `None` means one fewer
    /// than the cores, but at least one.
    pub pool_threads: Option<usize>,
    /// The time that heavy work may wait for a thread.
    pub pool_timeout: Duration,
    /// The time between two checks of the index folder for a new generation.
    pub reload_period: Duration,
    /// The number of bytes of the served files that are read again in a second; `None` for none.
    pub scrub_rate: Option<usize>,
}

impl Settings {
    /// The requests that are logged, and what their lines contain.
    pub(crate) fn logged(&self) -> Logged {
        Logged {
            requests: self.access_log,
            page: self.access_log_page,
            address: self.access_log_address,
            trust_proxy: self.trust_proxy,
        }
    }

    /// The idTypes that a caller may see, with an internal key or not (contract 23.4).
    pub(crate) fn visible(&self, has_internal_key: bool) -> Visible {
        self.identifiers.visible(self.hide_identifiers, has_internal_key)
    }

    /// The limits on one request.
    pub fn per_request(&self) -> PerRequest {
        PerRequest {
            jobs_max: self.jobs_per_request,
            jobs_max_with_key: self.jobs_per_request_with_key,
            list_jobs_max: self.jobs_per_list,
            list_jobs_max_with_key: self.jobs_per_list_with_key,
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
            identifiers: IdentifierClasses::default(),
            changes: false,
            parquet: false,
            mcp: false,
            cors: Cors::default(),
            public_url: None,
            trust_proxy: false,
            rates: None,
            jobs_per_request: JOBS_MAX,
            jobs_per_request_with_key: JOBS_MAX_WITH_KEY,
            jobs_per_list: LIST_JOBS_MAX,
            jobs_per_list_with_key: LIST_JOBS_MAX_WITH_KEY,
            body_bytes_max: BODY_BYTES_MAX,
            connections: ConnectionBounds::default(),
            access_log: true,
            access_log_page: false,
            access_log_address: false,
            metrics_name_keys: false,
            page_window: true,
            body_timeout: BODY_TIMEOUT,
            bodies_bytes_max: BODIES_BYTES_MAX,
            answers_bytes_max: ANSWERS_BYTES_MAX,
            pool_threads: None,
            pool_timeout: POOL_TIMEOUT,
            reload_period: RELOAD_PERIOD,
            scrub_rate: Some(SCRUB_RATE),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let rates = Rates::default();
        Self {
            index: None,
            listen: DEFAULT_LISTEN.parse().expect("an address and port"),
            admin_listen: None,
            cluster_ca_file: None,
            cluster_authorization_file: None,
            cache: None,
            cache_rate: None,
            storage_endpoint: None,
            storage_region: None,
            storage_ca_file: None,
            storage_keys_file: None,
            tls_cert: None,
            tls_key: None,
            tls: None,
            keys: Arc::default(),
            symbols: None,
            log_format: LogFormat::default(),
            settings: Settings { rates: Some(rates.clone()), ..Settings::default() },
            rates,
            provenance: BTreeMap::new(),
        }
    }
}

/// The most calls to a cluster at the same time.
const CLUSTER_CALLS_MAX: usize = 256;

impl Config {
    /// The settings for the client of a cluster.
    pub(crate) fn client_settings(&self) -> ClientSettings {
        ClientSettings {
            ca_file: self.cluster_ca_file.clone(),
            authorization_file: self.cluster_authorization_file.clone(),
            calls_max: CLUSTER_CALLS_MAX,
        }
    }

    /// Resolves flags, environment and file to a configuration.
    ///
    /// # Errors
    /// All errors in flags, environment and file together, and those in the keys file and the
    /// TLS files.
    pub fn resolve(flags: &SettingFlags) -> Result<Self, Faults> {
        let mut sources = Sources::new(flags);
        let mut config = Self::default();
        for setting in SETTINGS {
            let is_list = matches!(setting.takes, Takes::List(_));
            sources.apply(setting.name, is_list, |text| (setting.set)(&mut config, text));
        }
        for (key, rate) in rates_by_key(&mut config.rates) {
            sources.apply(&key, false, |text| values::rate(text).map(|parsed| *rate = parsed));
        }
        config.settings.identifiers = IdentifierClasses::read(&mut sources);
        config.complete(&mut sources);
        config.provenance = sources.finish().map_err(Faults)?;
        Ok(config)
    }

    /// Derives the values that follow from others, and checks settings that must agree.
    fn complete(&mut self, sources: &mut Sources<'_>) {
        let Self { settings, listen, rates, .. } = self;
        let Sources { faults, provenance, .. } = sources;
        if let Some(in_force) = &mut settings.rates {
            in_force.clone_from(rates);
        }
        // The time for an answer includes the time for the rest of its request's body.
        settings.connections.answer_timeout += settings.body_timeout.saturating_sub(BODY_TIMEOUT);

        let mut derive = |name: &str, reason: String| {
            let is_given = provenance.contains_key(name);
            if !is_given {
                provenance.insert(name.to_owned(), Provenance::Derived(reason));
            }
            !is_given
        };
        let stranger = if !listen.is_loopback() {
            Some(format!("{listen} is not a loopback address"))
        } else if settings.trust_proxy {
            Some("with trust_proxy the clients of the proxy may be strangers".to_owned())
        } else {
            None
        };
        settings.metrics_name_keys = self.admin_listen.is_some() || stranger.is_none();
        if let Some(reason) = stranger {
            let reason = format!("{reason}; --hide-identifiers=false shows them");
            settings.hide_identifiers |= derive("hide_identifiers", reason);
        }
        if settings.trust_proxy {
            let name = "connections_per_address";
            let reason = "with trust_proxy all connections come from the proxy";
            let per_address = &mut settings.connections.per_address;
            if derive(name, reason.to_owned()) {
                *per_address = None;
            } else if per_address.is_some() {
                faults.push(format!("{name}: must be `none`, since {reason}"));
            }
        }

        if settings.changes && matches!(self.index, Some(Address::Cluster(_))) {
            faults.push(
                "changes: an index in a cluster has no changes; they are in the folder of an index, \
                 and in object storage"
                    .to_owned(),
            );
        }
        if settings.parquet && matches!(self.index, Some(Address::Cluster(_))) {
            faults.push(
                "parquet: an index in a cluster has no Parquet file; it is in the folder of an \
                 index, and in object storage"
                    .to_owned(),
            );
        }
        match (&self.index, &self.cache) {
            (Some(Address::Storage(address)), None) => faults.push(format!(
                "index: {address} is copied into a folder of this machine, which is served: name \
                 it with `cache`"
            )),
            (Some(Address::Storage(_)), Some(_)) | (_, None) => {}
            (_, Some(_)) => faults.push(
                "cache: it is for an index in object storage, such as s3://bucket/figdex"
                    .to_owned(),
            ),
        }
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => match Tls::open(certificate, key) {
                Ok(tls) => self.tls = Some(Arc::new(tls)),
                Err(error) => faults.push(format!("tls_cert: {error}")),
            },
            (Some(_), None) => faults.push("tls_cert: its private key, tls_key, is not set".into()),
            (None, Some(_)) => faults.push("tls_key: its certificate, tls_cert, is not set".into()),
            (None, None) => {}
        }
        let of_request = (settings.jobs_per_request, settings.jobs_per_request_with_key);
        let of_list = (settings.jobs_per_list, settings.jobs_per_list_with_key);
        for (name, (jobs, with_key)) in
            [("jobs_per_request", of_request), ("jobs_per_list", of_list)]
        {
            if jobs > with_key {
                faults.push(format!("{name}: {jobs} is more than {name}_with_key, {with_key}"));
            }
        }
        if self.admin_listen.as_ref() == Some(listen) && !listen.is_any_port() {
            faults.push(format!("admin_listen: {listen} is the address of listen"));
        }
    }
}

impl KeysFlags {
    /// The keys file for `figdex keys`. Only this setting is read from the file of settings: the
    /// others are the server's.
    ///
    /// # Errors
    /// When no keys file is named, or the file of settings cannot be read.
    pub fn resolve(&self) -> Result<PathBuf, Faults> {
        let mut sources = Sources::new(&self.0);
        let mut file = None;
        sources.apply("keys", false, |text| values::path(text).map(|path| file = Some(path)));
        let mut faults = sources.faults;
        if file.is_none() && faults.is_empty() {
            let fault = "no keys file is named: use --keys FILE, FIGDEX_KEYS, or `keys` in the \
                         file of --config";
            faults.push(fault.to_owned());
        }
        file.filter(|_| faults.is_empty()).ok_or(Faults(faults))
    }
}

impl ReadyFlags {
    /// The server to ask: from the URL, else from the settings.
    ///
    /// # Errors
    /// When the settings cannot be read, or do not determine the address.
    pub fn asked(&self) -> Result<ServerPlace, Faults> {
        self.url.clone().map_or_else(|| self.server.asked(), Ok)
    }
}

impl ServerFlags {
    fn asked(&self) -> Result<ServerPlace, Faults> {
        let mut sources = Sources::new(&self.0);
        let (mut listen, mut operators, mut has_tls) = (Config::default().listen, None, false);
        sources.apply("listen", false, |text| values::listen(text).map(|place| listen = place));
        sources.apply("admin_listen", false, |text| {
            values::listen(text).map(|place| operators = Some(place))
        });
        sources.apply("tls_cert", false, |text| values::path(text).map(|_| has_tls = true));
        if !sources.faults.is_empty() {
            return Err(Faults(sources.faults));
        }
        // The operators' address has no TLS.
        let (place, has_tls) = match operators {
            Some(place) => (place, false),
            None => (listen, has_tls),
        };
        let fault = format!("the settings do not name the address of {place}: name the URL");
        ServerPlace::of(place, has_tls).ok_or_else(|| Faults(vec![fault]))
    }
}

/// Each rate of the file's `[limits]`, by its key in dotted form.
fn rates_by_key(rates: &mut Rates) -> Vec<(String, &mut Option<Rate>)> {
    let mut by_key = Vec::new();
    for line in rates.lines_mut() {
        if line.span.is_unversioned() {
            by_key.push((format!("limits.{}.rate", line.span.name()), &mut line.without_key));
        } else {
            let table = format!("limits.{}.{}", line.version.name(), line.span.name());
            by_key.push((format!("{table}.without_key"), &mut line.without_key));
            by_key.push((format!("{table}.with_key"), &mut line.with_key));
        }
    }
    by_key
}

/// The shape of a search or filter answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchEnvelope {
    /// A JSON object, as every known client expects.
    #[default]
    Object,
    /// That object in an array, as the public service's schema says.
    Array,
}

/// The treatment of a value outside the set of an enum-like property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownEnum {
    /// The request is refused: 400 `Invalid enum field.`
    #[default]
    Reject,
    /// The value matches no row.
    NoMatch,
}

/// All errors in the settings.
#[derive(Debug, thiserror::Error)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [fault] = &*self.0 {
            return f.write_str(fault);
        }
        write!(f, "{} errors in the settings", self.0.len())?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {}", fault.replace('\n', "\n  ")))
    }
}
