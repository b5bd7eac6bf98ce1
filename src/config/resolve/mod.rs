//! From texts to values. Each value's rule stands here, in the words that the
//! operator reads when it is broken.

use std::io;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use warp::http::Uri;

use super::sources::{Provenance, Sources};
use super::{Config, Faults, KeysFlags, SearchEnvelope, ServeFlags, Settings, UnknownEnum};
use crate::auth::KeyRing;
use crate::capacity::budget::ADDRESS_PART;
use crate::cors::{Cors, Origin};
use crate::limits::{BODIES_BYTES_MAX, JOBS_MOST, Rate, Rates, Span};
use crate::observe::log::LogFormat;
use crate::serve::Listen;
use crate::serve::bounds::ConnectionBounds;
use crate::serve::tls::Tls;
use crate::version::Version;

const LISTEN: &str = "127.0.0.1:8080";

/// The connections that an operator may ask for: more than the ports of a dozen
/// machines, and far fewer than a semaphore can count.
const CONNECTIONS_MAX: usize = 1_000_000;

impl Config {
    /// Resolves what `figdex serve` was told.
    ///
    /// # Errors
    /// All faults of flags, environment and file together, also those of the keys
    /// file.
    pub fn resolve(flags: &ServeFlags) -> Result<Self, Faults> {
        let mut sources = Sources::new(flags.config.as_deref(), &flags.from_environment);
        let default = Settings::default();

        let index = sources.one("index", flags.index.as_ref(), index);
        let listen = sources.one("listen", flags.listen.as_ref(), self::listen);
        let listen = listen.unwrap_or_else(|| LISTEN.parse().expect("a socket address"));
        let tls = tls(&mut sources, flags);
        let admin_listen = sources.one("admin_listen", flags.admin_listen.as_ref(), self::listen);
        let keys = sources.one("keys", flags.keys.as_ref(), |text| {
            KeyRing::open(&path(text)?).map_err(|error| error.to_string())
        });
        let no_limits = sources.one("no_limits", flags.no_limits.as_ref(), truth);
        let rates = rates(&mut sources);
        let origins = sources.many("cors", &flags.cors, Origin::from_str);
        let cors = Cors::new(origins).unwrap_or_else(|fault| {
            sources.faults.push(format!("cors: {fault}"));
            Cors::default()
        });
        let trust_proxy = sources
            .one("trust_proxy", flags.trust_proxy.as_ref(), truth)
            .unwrap_or(default.trust_proxy);
        let connections = connections(&mut sources, flags, trust_proxy);
        let log_format = sources.one("log_format", flags.log_format.as_ref(), log_format);
        let mut settings = Settings {
            search_envelope: sources
                .one("search_envelope", flags.search_envelope.as_ref(), envelope)
                .unwrap_or(default.search_envelope),
            unknown_enum: sources
                .one("unknown_enum", flags.unknown_enum.as_ref(), unknown_enum)
                .unwrap_or(default.unknown_enum),
            strict_contract: sources
                .one("strict_contract", flags.strict_contract.as_ref(), truth)
                .unwrap_or(default.strict_contract),
            hide_identifiers: hide_identifiers(&mut sources, flags, &listen, trust_proxy),
            cors,
            public_url: sources.one("public_url", flags.public_url.as_ref(), public_url),
            trust_proxy,
            rates: (no_limits != Some(true)).then(|| rates.clone()),
            jobs_per_request: sources
                .one("jobs_per_request", flags.jobs_per_request.as_ref(), jobs)
                .unwrap_or(default.jobs_per_request),
            jobs_per_request_with_key: sources
                .one("jobs_per_request_with_key", flags.jobs_per_request_with_key.as_ref(), jobs)
                .unwrap_or(default.jobs_per_request_with_key),
            body_bytes_max: sources
                .one("body_bytes_max", flags.body_bytes_max.as_ref(), |text| {
                    let what = "which all bodies of one address together may have";
                    count_up_to(text, BODIES_BYTES_MAX / ADDRESS_PART, what)
                })
                .unwrap_or(default.body_bytes_max),
            connections,
            body_wait: sources
                .one("body_timeout", flags.body_timeout.as_ref(), time)
                .unwrap_or(default.body_wait),
            access_log: sources
                .one("access_log", flags.access_log.as_ref(), truth)
                .unwrap_or(default.access_log),
            ..default
        };
        // The wait for an answer includes that for the rest of its request's body.
        let more = settings.body_wait.saturating_sub(default.body_wait);
        settings.connections.answer_timeout += more;
        if settings.jobs_per_request > settings.jobs_per_request_with_key {
            sources.faults.push(format!(
                "jobs_per_request: {} would be more than with a key, {}",
                settings.jobs_per_request, settings.jobs_per_request_with_key
            ));
        }
        if admin_listen.as_ref() == Some(&listen) && !listen.is_any_port() {
            sources.faults.push(format!("admin_listen: {listen} is the address of `listen`"));
        }
        let provenance = sources.finish().map_err(Faults)?;
        let keys = keys.map_or_else(Arc::default, Arc::new);
        let log_format = log_format.unwrap_or_default();
        Ok(Self { index, listen, admin_listen, tls, keys, log_format, settings, rates, provenance })
    }
}

impl KeysFlags {
    /// The keys file that `figdex keys` is about. Of the configuration file only
    /// this is looked at: the rest is the server's.
    ///
    /// # Errors
    /// When none is named, or the configuration file cannot be read.
    pub fn resolve(&self) -> Result<PathBuf, Faults> {
        let mut sources = Sources::new(self.config.as_deref(), &self.from_environment);
        let file = sources.one("keys", self.keys.as_ref(), path);
        match file {
            Some(file) if sources.faults.is_empty() => Ok(file),
            None if sources.faults.is_empty() => {
                let fault = "no keys file is named: --keys FILE, FIGDEX_KEYS, or `keys` in the \
                             file of --config";
                Err(Faults(vec![fault.into()]))
            }
            _ => Err(Faults(sources.faults)),
        }
    }
}

/// The certificate and its key, where they are named.
fn tls(sources: &mut Sources, flags: &ServeFlags) -> Option<Arc<Tls>> {
    let certificate = sources.one("tls_cert", flags.tls_cert.as_ref(), path);
    let key = sources.one("tls_key", flags.tls_key.as_ref(), path);
    let faults = &mut sources.faults;
    match (certificate, key) {
        (Some(certificate), Some(key)) => match Tls::open(&certificate, &key) {
            Ok(tls) => return Some(Arc::new(tls)),
            Err(error) => faults.push(format!("tls_cert: {error}")),
        },
        (Some(_), None) => faults.push("tls_cert: it needs its key: tls_key".into()),
        (None, Some(_)) => faults.push("tls_key: it needs its certificate: tls_cert".into()),
        (None, None) => {}
    }
    None
}

fn connections(sources: &mut Sources, flags: &ServeFlags, trust_proxy: bool) -> ConnectionBounds {
    let default = ConnectionBounds::default();
    let per_address =
        sources.one("connections_per_address", flags.connections_per_address.as_ref(), |text| {
            match text {
                "none" => Ok(None),
                text => count(text).map(Some).map_err(|fault| format!("{fault}, nor `none`")),
            }
        });
    if trust_proxy && per_address.flatten().is_some() {
        sources.faults.push(
            "connections_per_address: with trust_proxy all connections are the proxy's".into(),
        );
    }
    ConnectionBounds {
        max: sources
            .one("connections", flags.connections.as_ref(), |text| {
                count_up_to(text, CONNECTIONS_MAX, "the most that there may be")
            })
            .unwrap_or(default.max),
        per_address: match per_address {
            Some(per_address) => per_address,
            None if trust_proxy => {
                let reason = "with trust_proxy all connections are the proxy's".to_owned();
                let name = "connections_per_address".to_owned();
                sources.provenance.insert(name, Provenance::Derived(reason));
                None
            }
            None => default.per_address,
        },
        head_timeout: sources
            .one("head_timeout", flags.head_timeout.as_ref(), time)
            .unwrap_or(default.head_timeout),
        idle_timeout: sources
            .one("idle_timeout", flags.idle_timeout.as_ref(), time)
            .unwrap_or(default.idle_timeout),
        ..default
    }
}

/// The contract's table with the file's figures, as in `[limits.v3.mapping]`, and the
/// rate of suggestions: `[limits.suggest]`.
fn rates(sources: &mut Sources) -> Rates {
    let mut rates = Rates::default();
    let mut limits = sources.section("limits");
    let Sources { faults, provenance, .. } = sources;
    for version in [Version::V1, Version::V2, Version::V3] {
        let mut section = limits.section(version.name(), faults);
        let lines = rates.lines_mut().iter_mut();
        for line in lines.filter(|line| line.version == version && line.span != Span::Suggest) {
            let mut figures = section.section(line.span.name(), faults);
            for (key, figure) in
                [("without_key", &mut line.without_key), ("with_key", &mut line.with_key)]
            {
                let Some((text, place)) = figures.text(key, faults) else { continue };
                match rate(&text) {
                    Ok(rate) => *figure = rate,
                    Err(fault) => faults.push(format!("{place}: {fault}")),
                }
                provenance.insert(figures.name(key), place);
            }
            figures.finish(faults);
        }
        section.finish(faults);
    }
    let mut suggest = limits.section(Span::Suggest.name(), faults);
    if let Some((text, place)) = suggest.text("rate", faults) {
        match rate(&text) {
            Ok(rate) => {
                let lines = rates.lines_mut().iter_mut();
                for line in lines.filter(|line| line.span == Span::Suggest) {
                    (line.without_key, line.with_key) = (rate, rate);
                }
            }
            Err(fault) => faults.push(format!("{place}: {fault}")),
        }
        provenance.insert(suggest.name("rate"), place);
    }
    suggest.finish(faults);
    limits.finish(faults);
    rates
}

/// Whether identifiers are hidden: what is told, or else whether strangers can ask.
/// Most identifiers belong to somebody, who may not want them shown to the world.
fn hide_identifiers(
    sources: &mut Sources,
    flags: &ServeFlags,
    listen: &Listen,
    trust_proxy: bool,
) -> bool {
    let told = sources.one("hide_identifiers", flags.hide_identifiers.as_ref(), truth);
    told.unwrap_or_else(|| {
        let reason = if !listen.is_loopback() {
            format!("{listen} is no loopback address")
        } else if trust_proxy {
            "with trust_proxy the proxy's clients may be strangers".to_owned()
        } else {
            return false;
        };
        let reason = format!("{reason}; --hide-identifiers=false would show them");
        sources.provenance.insert("hide_identifiers".to_owned(), Provenance::Derived(reason));
        true
    })
}

/// A rate, or `none`.
fn rate(text: &str) -> Result<Option<Rate>, String> {
    match text {
        "none" => Ok(None),
        _ => text.parse::<Rate>().map(Some).map_err(|fault| format!("{fault}, nor `none`")),
    }
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("must not be empty".into()) } else { Ok(text.into()) }
}

/// The folder of an index, which must be there.
fn index(text: &str) -> Result<PathBuf, String> {
    let index = path(text)?;
    match index.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(index),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{text}: {error}")),
        _ => Err(format!(
            "there is no index at {text}; build one with: figdex-ingest build DUMP… --index {text}"
        )),
    }
}

fn listen(text: &str) -> Result<Listen, String> {
    text.parse().map_err(|()| {
        format!("`{text}` is no address and port such as `{LISTEN}`, nor `unix:` and a path")
    })
}

/// A time of a millisecond to a day, as `15s`.
fn time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    const DAY: u64 = 86_400_000;
    let milliseconds = UNITS.iter().find_map(|(unit, milliseconds)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(*milliseconds)
    });
    let milliseconds = milliseconds.filter(|milliseconds| (1..=DAY).contains(milliseconds));
    milliseconds
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is no time such as `15s`, `500ms` or `2m`, up to a day"))
}

fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither `true` nor `false`")),
    }
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("`{text}` is no whole number of at least 1"))
}

/// A number from 1 to `most`; `what` says what that is.
fn count_up_to(text: &str, most: usize, what: &str) -> Result<usize, String> {
    match count(text)? {
        count if count > most => Err(format!("`{text}` is more than {most}, {what}")),
        count => Ok(count),
    }
}

/// The jobs that one request may carry.
fn jobs(text: &str) -> Result<usize, String> {
    count_up_to(text, JOBS_MOST, "the most that one request may carry")
}

fn envelope(text: &str) -> Result<SearchEnvelope, String> {
    match text {
        "object" => Ok(SearchEnvelope::Object),
        "array" => Ok(SearchEnvelope::Array),
        _ => Err(format!("`{text}` is neither `object` nor `array`")),
    }
}

fn unknown_enum(text: &str) -> Result<UnknownEnum, String> {
    match text {
        "reject" => Ok(UnknownEnum::Reject),
        "no-match" => Ok(UnknownEnum::NoMatch),
        _ => Err(format!("`{text}` is neither `reject` nor `no-match`")),
    }
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "human" => Ok(LogFormat::Human),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("`{text}` is neither `human` nor `json`")),
    }
}

fn public_url(text: &str) -> Result<String, String> {
    let is_url = text.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
            && uri.query().is_none()
    });
    if is_url && !text.contains('#') {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err(format!("`{text}` is no address such as `https://figi.example.com`"))
    }
}

#[cfg(test)]
mod tests;
