//! The values of settings: parsed from the operator's text, and converted back for the file.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use figdex_io::{Address, AddressError};
use toml::Value;
use warp::http::Uri;

use super::{DEFAULT_LISTEN, SearchEnvelope, UnknownEnum};
use crate::callers::limits::Rate;
use crate::observe::log::LogFormat;
use crate::serve::Listen;

/// The longest time that can be set.
const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The two values of a setting, by name.
type Choices<T> = [(&'static str, T); 2];

pub(super) const ENVELOPES: Choices<SearchEnvelope> =
    [("object", SearchEnvelope::Object), ("array", SearchEnvelope::Array)];

pub(super) const UNKNOWN_ENUMS: Choices<UnknownEnum> =
    [("reject", UnknownEnum::Reject), ("no-match", UnknownEnum::NoMatch)];

pub(super) const LOG_FORMATS: Choices<LogFormat> =
    [("human", LogFormat::Human), ("json", LogFormat::Json)];

/// The choice of that name.
pub(super) fn choice<T: Copy>(choices: &Choices<T>, text: &str) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let [(one, _), (other, _)] = choices;
        format!("invalid value `{text}`: expected `{one}` or `{other}`")
    })
}

/// The name of a choice, as a value of the file.
pub(super) fn chosen<T: PartialEq>(choices: &Choices<T>, value: T) -> Option<Value> {
    choices.iter().find(|(_, choice)| *choice == value).map(|(name, _)| text(name))
}

pub(super) fn truth(text: &str) -> Result<bool, String> {
    match text {
        "1" => Ok(true),
        "0" => Ok(false),
        text => choice(&[("true", true), ("false", false)], text),
    }
}

pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("a path must not be empty".into()) } else { Ok(text.into()) }
}

/// The address of an index. A folder must exist.
pub(super) fn index(text: &str) -> Result<Address, String> {
    let index = path(text)?;
    let address: Address = text.parse().map_err(|error: AddressError| error.to_string())?;
    let Some(folder) = address.folder() else { return Ok(address) };
    match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(Address::Folder(index)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{text}: {error}")),
        _ => Err(format!(
            "there is no index at {text}; build one with: figdex-ingest build DUMP… --index {text}"
        )),
    }
}

pub(super) fn listen(text: &str) -> Result<Listen, String> {
    if let Ok(listen) = text.parse() {
        return Ok(listen);
    }
    match Listen::named(text) {
        Some(Ok(listen)) => Ok(listen),
        Some(Err(error)) => {
            Err(format!("`{text}` names no address of this machine ({error}): use an address"))
        }
        None => Err(format!(
            "invalid address `{text}`: expected an address or a name with a port, such as \
             `{DEFAULT_LISTEN}` or `localhost:8080`, `unix:` and a path, `systemd`, or `systemd:` \
             and a name"
        )),
    }
}

/// A time from a millisecond to [`TIME_MAX`].
pub(super) fn time(text: &str) -> Result<Duration, String> {
    milliseconds(text).filter(|time| !time.is_zero()).ok_or_else(|| invalid_time(text))
}

/// A time from 0 to [`TIME_MAX`].
pub(super) fn time_or_zero(text: &str) -> Result<Duration, String> {
    milliseconds(text).ok_or_else(|| invalid_time(text))
}

fn milliseconds(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let milliseconds = UNITS.iter().find_map(|(unit, milliseconds)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(*milliseconds)
    });
    milliseconds.map(Duration::from_millis).filter(|time| *time <= TIME_MAX)
}

fn invalid_time(text: &str) -> String {
    format!(
        "invalid duration `{text}`: expected a number with a unit, such as `15s`, `500ms` or `2m` \
         (at most 24h)"
    )
}

/// A number of at least 1.
fn number(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number| *number > 0)
}

/// A number from 1 to `max`; `limit` describes `max`.
pub(super) fn count_up_to(text: &str, max: usize, limit: &str) -> Result<usize, String> {
    match number(text) {
        Some(number) if number <= max => Ok(number),
        Some(_) => Err(format!("`{text}` is more than {max}, {limit}")),
        None => Err(format!("invalid number `{text}`: expected a whole number of at least 1")),
    }
}

/// A number of at least 1, or `none`.
pub(super) fn count_or_none(text: &str) -> Result<Option<usize>, String> {
    match number(text) {
        None if text != "none" => Err(format!(
            "invalid number `{text}`: expected a whole number of at least 1, or `none`"
        )),
        number => Ok(number),
    }
}

/// A rate, or `none`.
pub(super) fn rate(text: &str) -> Result<Option<Rate>, String> {
    match text {
        "none" => Ok(None),
        _ => text.parse().map(Some).map_err(|error: String| format!("{error}, or `none`")),
    }
}

/// An address for clients, without a slash at the end.
pub(super) fn url(text: &str) -> Result<String, String> {
    let is_url = text.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
            && uri.query().is_none()
    });
    if is_url && !text.contains('#') {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err(format!(
            "invalid URL `{text}`: expected `http` or `https`, a host and nothing behind `?` or \
             `#`, such as `https://figi.example.com`"
        ))
    }
}

/// The text of a value that could also be given by a flag.
pub(super) fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

/// A value as people write it: a text without quotation marks, and an empty array as `none`.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

pub(super) fn text(value: &impl Display) -> Value {
    Value::String(value.to_string())
}

pub(super) fn file_name(path: &Path) -> Value {
    text(&path.display())
}

/// A number as a TOML integer, or as text if it is too large for one. The file accepts both.
pub(super) fn count(number: usize) -> Option<Value> {
    Some(i64::try_from(number).map_or_else(|_| text(&number), Value::Integer))
}

/// A time, in seconds if it is a whole number of them.
pub(super) fn duration(time: Duration) -> Value {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds}s").into(),
        _ => format!("{}ms", time.as_millis()).into(),
    }
}
