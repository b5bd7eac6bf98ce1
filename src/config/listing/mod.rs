//! Every setting in force, as `figdex config` prints it: TOML that `--config` takes
//! again, with where each value comes from in a comment after it. It is read from the
//! resolved [`Config`], so that it tells what the server does, not what was typed.

use std::fmt::{self, Display};
use std::path::Path;
use std::time::Duration;

use figdex_index::{escaped, is_hidden};
use toml::Value;

use super::{Config, Provenance, SearchEnvelope, UnknownEnum};
use crate::limits::{Rate, Span};
use crate::observe::log::LogFormat;

/// The settings whose changes a running server takes up; those of `[limits]` are more.
const LIVE: [&str; 5] =
    ["keys", "no_limits", "jobs_per_request", "jobs_per_request_with_key", "body_bytes_max"];

/// Every setting of `figdex serve`, the limits last: in TOML, tables are.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing(Vec<Setting>);

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name in the file, with those of its tables before it in dots.
    pub name: String,
    /// Its value.
    pub value: Held,
    /// Where that comes from.
    pub provenance: Provenance,
    /// What else is to be said of it.
    pub note: Option<&'static str>,
}

/// The value of a setting, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// That.
    Value(Value),
    /// None; then this holds.
    Nothing(&'static str),
}

/// What became of settings that were read again; their names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// They hold from now on.
    pub(crate) taken_up: Vec<String>,
    /// A restart would change them.
    pub(crate) waiting: Vec<String>,
}

impl Config {
    /// All settings, as they are.
    pub fn listing(&self) -> Listing {
        let settings = &self.settings;
        let index = self.index.as_deref().map(path);
        let admin = self.admin_listen.as_ref().map(text);
        let tls = self.tls.as_deref();
        let certificate = tls.map(|tls| path(tls.certificate()));
        let connections = settings.connections;
        let per_address = connections.per_address.map_or_else(|| Held::Value("none".into()), count);
        let log_format = match self.log_format {
            LogFormat::Human => "human",
            LogFormat::Json => "json",
        };
        let keys = self.keys.file();
        let url = settings.public_url.as_ref().map(text);
        let origins = settings.cors.origins().iter().map(text);
        let envelope = match settings.search_envelope {
            SearchEnvelope::Object => "object",
            SearchEnvelope::Array => "array",
        };
        let unknown_enum = match settings.unknown_enum {
            UnknownEnum::Reject => "reject",
            UnknownEnum::NoMatch => "no-match",
        };
        let values = [
            ("index", or(index, "data/index, made of the bundled sample when it is not there")),
            ("listen", Held::Value(text(&self.listen))),
            ("admin_listen", or(admin, "what is for operators is served on the listen address")),
            ("tls_cert", or(certificate, "connections are not encrypted")),
            ("tls_key", or(tls.map(|tls| path(tls.key())), "there is no certificate")),
            ("keys", or(keys.as_deref().map(path), "a request with a key is refused")),
            ("no_limits", Held::Value(settings.rates.is_none().into())),
            ("trust_proxy", Held::Value(settings.trust_proxy.into())),
            ("jobs_per_request", count(settings.jobs_per_request)),
            ("jobs_per_request_with_key", count(settings.jobs_per_request_with_key)),
            ("body_bytes_max", count(settings.body_bytes_max)),
            ("connections", count(connections.max)),
            ("connections_per_address", per_address),
            ("head_timeout", time(connections.head_timeout)),
            ("idle_timeout", time(connections.idle_timeout)),
            ("body_timeout", time(settings.body_wait)),
            ("search_envelope", Held::Value(envelope.into())),
            ("unknown_enum", Held::Value(unknown_enum.into())),
            ("strict_contract", Held::Value(settings.strict_contract.into())),
            ("hide_identifiers", Held::Value(settings.hide_identifiers.into())),
            ("cors", Held::Value(Value::Array(origins.collect()))),
            ("public_url", or(url, "the address that a request was sent to")),
            ("log_format", Held::Value(log_format.into())),
            ("access_log", Held::Value(settings.access_log.into())),
        ];
        let mut listing: Vec<_> = values
            .into_iter()
            .map(|(name, value)| self.setting(name.to_owned(), value, None))
            .collect();
        let note = settings.rates.is_none().then_some("lifted by no_limits");
        for line in self.rates.lines() {
            let table = format!("limits.{}.{}", line.version.name(), line.span.name());
            let rates = match line.span {
                Span::Suggest => vec![("limits.suggest.rate".to_owned(), line.without_key)],
                _ => vec![
                    (format!("{table}.without_key"), line.without_key),
                    (format!("{table}.with_key"), line.with_key),
                ],
            };
            listing.extend(
                rates.into_iter().map(|(name, figure)| self.setting(name, rate(figure), note)),
            );
        }
        Listing(listing)
    }

    fn setting(&self, name: String, value: Held, note: Option<&'static str>) -> Setting {
        let provenance = self.provenance.get(&name).cloned().unwrap_or(Provenance::Default);
        Setting { name, value, provenance, note }
    }
}

impl Listing {
    /// The settings, in the order in which they are printed.
    pub fn settings(&self) -> &[Setting] {
        &self.0
    }

    /// Takes over what a running server can of the settings as they are now.
    pub(crate) fn take_up(&mut self, now: Self) -> Changes {
        let mut changes = Changes::default();
        // Both have every setting, and no other.
        for (before, now) in self.0.iter_mut().zip(now.0) {
            debug_assert_eq!(before.name, now.name);
            let changed = before.value != now.value;
            match (now.is_live(), changed) {
                (true, true) => changes.taken_up.push(now.name.clone()),
                (false, true) => changes.waiting.push(now.name.clone()),
                (_, false) => {}
            }
            if now.is_live() {
                *before = now;
            }
        }
        changes
    }
}

impl Setting {
    /// Whether a change takes effect without a restart.
    fn is_live(&self) -> bool {
        LIVE.contains(&&*self.name) || self.name.starts_with("limits.")
    }
}

impl Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# The settings of figdex that are in force, and where each comes from.")?;
        writeln!(f, "# What changes at once when a running server gets SIGHUP: [limits] and")?;
        writeln!(f, "# {}; all else waits for a restart.", LIVE.join(", "))?;
        let mut table = "";
        for setting in &self.0 {
            let (path, key) = setting.name.rsplit_once('.').unwrap_or(("", &setting.name));
            if path != table {
                writeln!(f, "\n[{path}]")?;
                table = path;
            }
            match &setting.value {
                Held::Value(value) => {
                    // A comment ends with its line, and the name of a file may have several.
                    let place = escaped(setting.provenance.to_string());
                    write!(f, "{key} = {}  # {place}", quoted(value))?;
                }
                Held::Nothing(otherwise) => write!(f, "# {key} is not set: {otherwise}")?,
            }
            match setting.note {
                Some(note) => writeln!(f, "; {note}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// The value as TOML. A text with hidden characters is a basic string with their escapes:
/// the library leaves some of them as they are, and makes several lines of others.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(is_hidden) => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", escaped(text))
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(quoted).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

fn text(value: &impl Display) -> Value {
    Value::String(value.to_string())
}

fn path(path: &Path) -> Value {
    text(&path.display())
}

fn or(value: Option<Value>, otherwise: &'static str) -> Held {
    value.map_or(Held::Nothing(otherwise), Held::Value)
}

/// TOML has no greater numbers than `i64`; as text, any is read.
fn count(count: usize) -> Held {
    Held::Value(i64::try_from(count).map_or_else(|_| text(&count), Value::Integer))
}

/// As a flag has it.
fn time(time: Duration) -> Held {
    let milliseconds = time.as_millis();
    let text = if milliseconds.is_multiple_of(1_000) {
        format!("{}s", milliseconds / 1_000)
    } else {
        format!("{milliseconds}ms")
    };
    Held::Value(text.into())
}

fn rate(rate: Option<Rate>) -> Held {
    Held::Value(rate.map_or_else(|| "none".into(), |rate| text(&rate)))
}

#[cfg(test)]
mod tests;
