//! The table of settings. Flags, environment variables, keys of the file, `figdex config` and
//! `packaging/figdex.toml` all follow from it. Only `[limits]` is separate: it has no flags.

use toml::Value;

use super::symbols::SymbolsFile;
use super::values::{
    self, ENVELOPES, LOG_FORMATS, UNKNOWN_ENUMS, choice, chosen, count, count_up_to, duration,
    file_name, path, text,
};
use super::{Config, Provenance};
use crate::callers::auth::KeyRing;
use crate::callers::limits::{BODIES_BYTES_MAX, JOBS_MOST, Rates};
use crate::capacity::budget::ADDRESS_PART;
use crate::http::cors::Cors;

/// The highest number of connections that can be set: more than the ports of a dozen machines, and
/// far below the maximum of a semaphore.
const CONNECTIONS_MAX: usize = 1_000_000;

/// One setting of `figdex serve`.
pub(super) struct Setting {
    /// The key in the file. The flag has hyphens in place of the underscores; the variable is
    /// `FIGDEX_` and the name in capitals.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// The heading of the flag in `--help`.
    pub(super) heading: Option<&'static str>,
    /// The help text, without a full stop at the end. Names of settings are in backquotes.
    pub(super) help: &'static str,
    /// For a setting without a default, the behaviour when it is not set; for any other setting, a
    /// remark on its default.
    pub(super) note: &'static str,
    /// Whether a running server applies a change on SIGHUP.
    pub(super) is_live: bool,
    /// Parses a text and sets the value, or returns the fault of the text. A list is set by one
    /// call for each of its texts.
    pub(super) set: fn(&mut Config, &str) -> Result<(), String>,
    /// The value in the form of the file; `None` when it is not set.
    pub(super) get: fn(&Config) -> Option<Value>,
}

/// The kinds of values that a setting takes, by their names in `--help`.
pub(super) enum Takes {
    One(&'static str),
    /// `true` or `false`; the flag without a value means `true`.
    Switch,
    List(&'static str),
}

const GENERAL: Setting = Setting {
    name: "",
    takes: Takes::Switch,
    heading: None,
    help: "",
    note: "",
    is_live: false,
    set: |_, _| Ok(()),
    get: |_| None,
};
const CALLERS: Setting = Setting { heading: Some("Callers and limits"), ..GENERAL };
const ANSWERS: Setting = Setting { heading: Some("Answers"), ..GENERAL };
const LOG: Setting = Setting { heading: Some("Log"), ..GENERAL };

/// Every setting that has a flag, in the order of `--help`.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "index",
        takes: Takes::One("ADDRESS"),
        help: "The index: a folder, which must exist; an index in an OpenSearch cluster, as \
               `opensearch+https://host:9200,host2:9200/name`; or one in object storage, as \
               `s3://bucket/figdex`, which is copied into the folder of `cache`",
        note: "data/index, built from the bundled sample if it does not exist",
        set: |config, text| put(&mut config.index, values::index(text).map(Some)),
        get: |config| config.index.as_ref().map(text),
        ..GENERAL
    },
    Setting {
        name: "cluster_ca_file",
        takes: Takes::One("FILE"),
        help: "Certificates to trust when the index is in a cluster, in PEM",
        note: "those that the system trusts",
        set: |config, text| put(&mut config.cluster_ca_file, path(text).map(Some)),
        get: |config| config.cluster_ca_file.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "cluster_authorization_file",
        takes: Takes::One("FILE"),
        help: "File with the value of the `Authorization` header for a cluster, such as \
               `Basic …` or `ApiKey …`",
        note: "no user is named",
        set: |config, text| put(&mut config.cluster_authorization_file, path(text).map(Some)),
        get: |config| config.cluster_authorization_file.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "cache",
        takes: Takes::One("DIR"),
        help: "Folder for the copy of an index in object storage, which is served. It needs room \
               for three generations, and belongs to one server",
        note: "none",
        set: |config, text| put(&mut config.cache, path(text).map(Some)),
        get: |config| config.cache.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "cache_rate",
        takes: Takes::One("N|none"),
        help: "Maximum number of bytes to fetch from object storage in a second",
        set: |config, text| put(&mut config.cache_rate, values::count_or_none(text)),
        get: |config| config.cache_rate.map_or_else(|| Some("none".into()), count),
        ..GENERAL
    },
    Setting {
        name: "scrub_rate",
        takes: Takes::One("N|none"),
        help: "Number of bytes of the served files to read again from the disk in a second, once a \
               day, to find those that have decayed",
        set: |config, text| put(&mut config.settings.scrub_rate, values::count_or_none(text)),
        get: |config| config.settings.scrub_rate.map_or_else(|| Some("none".into()), count),
        ..GENERAL
    },
    Setting {
        name: "storage_endpoint",
        takes: Takes::One("URL"),
        help: "Root of an object storage that is not that of Amazon, such as \
               `https://storage.example.com`",
        note: "that of Amazon, or AWS_ENDPOINT_URL",
        set: |config, text| put(&mut config.storage_endpoint, values::url(text).map(Some)),
        get: |config| config.storage_endpoint.as_ref().map(text),
        ..GENERAL
    },
    Setting {
        name: "storage_region",
        takes: Takes::One("NAME"),
        help: "Region of the bucket",
        note: "AWS_REGION, or us-east-1",
        set: |config, text| {
            config.storage_region = Some(text.to_owned());
            Ok(())
        },
        get: |config| config.storage_region.as_ref().map(text),
        ..GENERAL
    },
    Setting {
        name: "storage_ca_file",
        takes: Takes::One("FILE"),
        help: "Certificates of the object storage to trust, in PEM",
        note: "those that the system trusts",
        set: |config, text| put(&mut config.storage_ca_file, path(text).map(Some)),
        get: |config| config.storage_ca_file.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "storage_keys_file",
        takes: Takes::One("FILE"),
        help: "TOML file with the `access_key_id` and `secret_access_key` for object storage",
        note: "AWS_ACCESS_KEY_ID and the other variables of Amazon, or the role of the machine",
        set: |config, text| put(&mut config.storage_keys_file, path(text).map(Some)),
        get: |config| config.storage_keys_file.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "listen",
        takes: Takes::One("ADDR"),
        help: "Address and port to listen on (0.0.0.0 and [::] are all addresses of the \
               machine; a name, such as localhost:8080, is all of its addresses), a Unix socket, as `unix:/run/figdex/figdex.sock`, or the socket that \
               systemd passes: `systemd`, or `systemd:NAME` for one of several",
        set: |config, text| put(&mut config.listen, values::listen(text)),
        get: |config| Some(text(&config.listen)),
        ..GENERAL
    },
    Setting {
        name: "admin_listen",
        takes: Takes::One("ADDR"),
        help: "A separate address for operators: build information, the published generation \
               and metrics. Do not expose it publicly",
        note: "all of it is served on the address of `listen`",
        set: |config, text| put(&mut config.admin_listen, values::listen(text).map(Some)),
        get: |config| config.admin_listen.as_ref().map(text),
        ..GENERAL
    },
    Setting {
        name: "tls_cert",
        takes: Takes::One("FILE"),
        help: "Certificate to serve TLS with and its intermediate certificates, in PEM; \
               reloaded when the file changes",
        note: "connections are not encrypted",
        set: |config, text| put(&mut config.tls_cert, path(text).map(Some)),
        get: |config| config.tls_cert.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "tls_key",
        takes: Takes::One("FILE"),
        help: "Private key of `tls_cert`, in PEM; reloaded when the file changes",
        note: "connections are not encrypted",
        set: |config, text| put(&mut config.tls_key, path(text).map(Some)),
        get: |config| config.tls_key.as_deref().map(file_name),
        ..GENERAL
    },
    Setting {
        name: "keys",
        takes: Takes::One("FILE"),
        help: "File of the API keys, which `figdex keys add` creates; it must exist",
        note: "a request with a key is refused",
        is_live: true,
        set: |config, text| {
            let ring = KeyRing::open(&path(text)?).map_err(|error| error.to_string());
            put(&mut config.keys, ring.map(Into::into))
        },
        get: |config| config.keys.file().as_deref().map(file_name),
        ..CALLERS
    },
    Setting {
        name: "page_window",
        help: "Count requests that the page for people sends without a key in a separate \
               window, 600 in 60 s for an address; without it they count as all others. Any program \
               can pretend to be the page",
        set: |config, text| put(&mut config.settings.page_window, values::truth(text)),
        get: |config| Some(config.settings.page_window.into()),
        ..CALLERS
    },
    Setting {
        name: "no_limits",
        help: "Lift the request rates, and the limit on mapping jobs a minute of v2 and v1. The \
               limits on the jobs and bytes of one request stay",
        is_live: true,
        set: |config, text| {
            let is_lifted = values::truth(text)?;
            config.settings.rates = (!is_lifted).then(Rates::default);
            Ok(())
        },
        get: |config| Some(config.settings.rates.is_none().into()),
        ..CALLERS
    },
    Setting {
        name: "trust_proxy",
        help: "Identify callers without a key by the last address in X-Forwarded-For, which \
               your proxy appends. Only for a server that clients cannot reach past the proxy",
        set: |config, text| put(&mut config.settings.trust_proxy, values::truth(text)),
        get: |config| Some(config.settings.trust_proxy.into()),
        ..CALLERS
    },
    Setting {
        name: "jobs_per_request",
        takes: Takes::One("N"),
        help: "Maximum number of mapping jobs in a request without a key, at most 10000",
        is_live: true,
        set: |config, text| put(&mut config.settings.jobs_per_request, jobs(text)),
        get: |config| count(config.settings.jobs_per_request),
        ..CALLERS
    },
    Setting {
        name: "jobs_per_request_with_key",
        takes: Takes::One("N"),
        help: "Maximum number of mapping jobs in a request with a key, at most 10000",
        is_live: true,
        set: |config, text| put(&mut config.settings.jobs_per_request_with_key, jobs(text)),
        get: |config| count(config.settings.jobs_per_request_with_key),
        ..CALLERS
    },
    Setting {
        name: "jobs_per_list",
        takes: Takes::One("N"),
        help: "Maximum number of jobs in a list without a key, at most 10000",
        is_live: true,
        set: |config, text| put(&mut config.settings.jobs_per_list, jobs(text)),
        get: |config| count(config.settings.jobs_per_list),
        ..CALLERS
    },
    Setting {
        name: "jobs_per_list_with_key",
        takes: Takes::One("N"),
        help: "Maximum number of jobs in a list with a key, at most 10000",
        is_live: true,
        set: |config, text| put(&mut config.settings.jobs_per_list_with_key, jobs(text)),
        get: |config| count(config.settings.jobs_per_list_with_key),
        ..CALLERS
    },
    Setting {
        name: "body_bytes_max",
        takes: Takes::One("N"),
        help: "Maximum number of bytes in the body of a request, at most 33554432",
        is_live: true,
        set: |config, text| {
            let limit = "the limit for all bodies of one address together";
            let bytes = count_up_to(text, BODIES_BYTES_MAX / ADDRESS_PART, limit);
            put(&mut config.settings.body_bytes_max, bytes)
        },
        get: |config| count(config.settings.body_bytes_max),
        ..CALLERS
    },
    Setting {
        name: "connections",
        takes: Takes::One("N"),
        help: "Maximum number of open connections; further clients wait",
        set: |config, text| {
            let number = count_up_to(text, CONNECTIONS_MAX, "the limit for connections");
            put(&mut config.settings.connections.max, number)
        },
        get: |config| count(config.settings.connections.max),
        ..CALLERS
    },
    Setting {
        name: "connections_per_address",
        takes: Takes::One("N|none"),
        help: "Maximum number of open connections of one address, or of one IPv6 network of 64 \
               bits; further ones are refused",
        note: "none with `trust_proxy`, since all connections come from the proxy",
        set: |config, text| {
            put(&mut config.settings.connections.per_address, values::count_or_none(text))
        },
        get: |config| {
            config.settings.connections.per_address.map_or_else(|| Some("none".into()), count)
        },
        ..CALLERS
    },
    Setting {
        name: "head_timeout",
        takes: Takes::One("TIME"),
        help: "Time in which a client must send the head of a request, and before the first one \
               complete the TLS handshake",
        set: |config, text| put(&mut config.settings.connections.head_timeout, values::time(text)),
        get: |config| Some(duration(config.settings.connections.head_timeout)),
        ..CALLERS
    },
    Setting {
        name: "body_timeout",
        takes: Takes::One("TIME"),
        help: "Time in which a client must send the body of a request",
        set: |config, text| put(&mut config.settings.body_timeout, values::time(text)),
        get: |config| Some(duration(config.settings.body_timeout)),
        ..CALLERS
    },
    Setting {
        name: "idle_timeout",
        takes: Takes::One("TIME"),
        help: "Time that a connection may be silent between requests or leave an answer unread; \
               after it, a client must read at least 16 KiB a second",
        set: |config, text| put(&mut config.settings.connections.idle_timeout, values::time(text)),
        get: |config| Some(duration(config.settings.connections.idle_timeout)),
        ..CALLERS
    },
    Setting {
        name: "drain_wait",
        takes: Takes::One("TIME"),
        help: "Time from the signal to stop until the server accepts no more connections. \
               Meanwhile `GET /readyz` is 503 and each answer closes its connection. Behind a \
               balancer: a little more than it needs to notice",
        set: |config, text| {
            put(&mut config.settings.connections.drain_wait, values::time_or_zero(text))
        },
        get: |config| Some(duration(config.settings.connections.drain_wait)),
        ..CALLERS
    },
    Setting {
        name: "drain_timeout",
        takes: Takes::One("TIME"),
        help: "Time that requests in flight have to end once no more connections are accepted. \
               It and `drain_wait` together must be shorter than the time after which the service \
               manager kills the server",
        set: |config, text| put(&mut config.settings.connections.drain_timeout, values::time(text)),
        get: |config| Some(duration(config.settings.connections.drain_timeout)),
        ..CALLERS
    },
    Setting {
        name: "search_envelope",
        takes: Takes::One("object|array"),
        help: "Shape of a search or filter answer: `object`, as clients expect, or `array`, that \
               object in an array, as the published schema says",
        set: |config, text| put(&mut config.settings.search_envelope, choice(&ENVELOPES, text)),
        get: |config| chosen(&ENVELOPES, config.settings.search_envelope),
        ..ANSWERS
    },
    Setting {
        name: "unknown_enum",
        takes: Takes::One("reject|no-match"),
        help: "Treatment of a value outside the set of an enum-like property: `reject` the \
               request, or find nothing (`no-match`)",
        set: |config, text| put(&mut config.settings.unknown_enum, choice(&UNKNOWN_ENUMS, text)),
        get: |config| chosen(&UNKNOWN_ENUMS, config.settings.unknown_enum),
        ..ANSWERS
    },
    Setting {
        name: "strict_contract",
        help: "Answer exactly as the contract says, without its extension: an array of values \
               for an enum-like property in search and filter",
        set: |config, text| put(&mut config.settings.strict_contract, values::truth(text)),
        get: |config| Some(config.settings.strict_contract.into()),
        ..ANSWERS
    },
    Setting {
        name: "hide_identifiers",
        help: "Show the identifiers of instruments (ISIN, CUSIP, SEDOL and others) to callers with \
               an internal key only, unless `[identifiers]` in the file gives them another class. \
               Set it to true for a server on a loopback address behind a proxy without \
               `trust_proxy`",
        note: "true when `listen` is not a loopback address, and with `trust_proxy`",
        set: |config, text| put(&mut config.settings.hide_identifiers, values::truth(text)),
        get: |config| Some(config.settings.hide_identifiers.into()),
        ..ANSWERS
    },
    Setting {
        name: "changes",
        help: "Answer GET /changes: every instrument that changed since an earlier build, with the \
               columns that the caller may see. Needs an index whose builds keep their changes; \
               with `keys` a request needs a key",
        set: |config, text| put(&mut config.settings.changes, values::truth(text)),
        get: |config| Some(config.settings.changes.into()),
        ..ANSWERS
    },
    Setting {
        name: "parquet",
        help: "Answer GET /generations/{generation}/instruments.parquet: all instruments as one \
               file, of which engines such as DuckDB read only the parts that they need. Needs an \
               index built with `--parquet`; with `keys` a request needs a key",
        set: |config, text| put(&mut config.settings.parquet, values::truth(text)),
        get: |config| Some(config.settings.parquet.into()),
        ..ANSWERS
    },
    Setting {
        name: "symbols",
        takes: Takes::One("FILE"),
        help: "File with the table of vendors and of their symbols, which lists show and read as \
               `symbol:yahoo`, in place of the table of the program",
        note: "the table of the program, with yahoo, google and tradingview",
        set: |config, text| put(&mut config.symbols, SymbolsFile::open(&path(text)?).map(Some)),
        get: |config| config.symbols.as_ref().map(|symbols| file_name(&symbols.path)),
        ..ANSWERS
    },
    Setting {
        name: "mcp",
        help: "Answer assistants at /mcp, by the Model Context Protocol. Needs a program that was \
               built with the feature `mcp`",
        set: |config, text| put(&mut config.settings.mcp, supported_mcp(text)),
        get: |config| Some(config.settings.mcp.into()),
        ..ANSWERS
    },
    Setting {
        name: "cors",
        takes: Takes::List("ORIGIN"),
        help: "Origins whose web pages may call this server, as `https://app.example.com`, or \
               `*` for all. Several flags, and commas between origins, make a list",
        set: |config, text| {
            let mut origins = config.settings.cors.origins().to_vec();
            origins.push(text.parse()?);
            put(&mut config.settings.cors, Cors::new(origins))
        },
        get: |config| {
            let origins = config.settings.cors.origins();
            Some(Value::Array(origins.iter().map(text).collect()))
        },
        ..ANSWERS
    },
    Setting {
        name: "public_url",
        takes: Takes::One("URL"),
        help: "Address of this server for its clients, as `https://figi.example.com`, for the \
               interface description",
        note: "the address that a request was sent to",
        set: |config, text| put(&mut config.settings.public_url, values::url(text).map(Some)),
        get: |config| config.settings.public_url.as_ref().map(text),
        ..ANSWERS
    },
    Setting {
        name: "log_format",
        takes: Takes::One("human|json"),
        help: "Format of the log: `human`, lines of text, or `json`, an object on each line",
        set: |config, text| put(&mut config.log_format, choice(&LOG_FORMATS, text)),
        get: |config| chosen(&LOG_FORMATS, config.log_format),
        ..LOG
    },
    Setting {
        name: "access_log",
        help: "Log a line for each request: its method, route, status, rows, time, id and the \
               name of its key, never its key, its body or the values that it asks for",
        set: |config, text| put(&mut config.settings.access_log, values::truth(text)),
        get: |config| Some(config.settings.access_log.into()),
        ..LOG
    },
    Setting {
        name: "access_log_page",
        help: "Log requests for the files of the page for people too, which are a few dozen for \
               each visitor. Those with an error are logged in any case",
        set: |config, text| put(&mut config.settings.access_log_page, values::truth(text)),
        get: |config| Some(config.settings.access_log_page.into()),
        ..LOG
    },
    Setting {
        name: "access_log_address",
        help: "Add the address of the client to the log line of each request; with `trust_proxy` \
               the last one in X-Forwarded-For. In many countries an address is personal data",
        set: |config, text| put(&mut config.settings.access_log_address, values::truth(text)),
        get: |config| Some(config.settings.access_log_address.into()),
        ..LOG
    },
];

/// Stores a parsed value.
fn put<T>(place: &mut T, parsed: Result<T, String>) -> Result<(), String> {
    *place = parsed?;
    Ok(())
}

/// Whether assistants are answered, which needs a program that can.
fn supported_mcp(text: &str) -> Result<bool, String> {
    match values::truth(text)? {
        true if !cfg!(feature = "mcp") => Err("this program was built without it; build one with \
                                               `--features mcp`"
            .into()),
        is_wanted => Ok(is_wanted),
    }
}

fn jobs(text: &str) -> Result<usize, String> {
    count_up_to(text, JOBS_MOST, "the limit for one request")
}

impl Setting {
    /// The help text of the flag. The default in it comes from `defaults`.
    pub(super) fn flag_help(&self, defaults: &Config) -> String {
        let default = match (self.get)(defaults) {
            None => self.note.to_owned(),
            Some(value) if self.note.is_empty() => values::plain(&value),
            Some(value) => format!("{}; {}", values::plain(&value), self.note),
        };
        let help = format!("{} [default: {default}]", self.help);
        SETTINGS.iter().fold(help, |help, setting| {
            help.replace(
                &format!("`{}`", setting.name),
                &Provenance::Flag(setting.name).to_string(),
            )
        })
    }
}
