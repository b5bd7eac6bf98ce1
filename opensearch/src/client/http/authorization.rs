//! The header that names a user, from its file.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figdex_io::escaped_path;
use reqwest::header::HeaderValue;

use crate::client::{CallError, CallResult};

/// The most bytes of a file with a header.
const AUTHORIZATION_BYTES_MAX: u64 = 16 << 10;

/// The fewest bytes of a password that is searched for in texts from a cluster.
const SECRET_BYTES_MIN: usize = 4;

/// The first words of the header's values, in lower case. They show that a person gave a value in
/// place of the file.
const SCHEMES: [&str; 3] = ["basic ", "bearer ", "apikey "];

/// The value of the `Authorization` header that a file holds.
///
/// # Errors
/// When the file cannot be read or does not hold one line of printable text, or when `path` is
/// itself a value of the header.
pub(super) fn read(path: &Path) -> CallResult<HeaderValue> {
    let given = path.to_string_lossy().to_lowercase();
    if SCHEMES.iter().any(|scheme| given.starts_with(scheme)) {
        let what = "the Authorization file: expected the name of a file that holds the value of \
                    the header, not the value";
        return Err(CallError::settings(what));
    }
    let fault = |what: String| {
        CallError::settings(format!("the Authorization file {}: {what}", escaped_path(path)))
    };
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| fault(error.to_string()))?;
    file.take(AUTHORIZATION_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| fault(error.to_string()))?;
    let mut value = HeaderValue::from_str(text.trim()).map_err(|_| {
        fault("it must hold one line, the value of the header, such as `Basic …`".to_owned())
    })?;
    if value.is_empty() {
        return Err(fault("it is empty".to_owned()));
    }
    value.set_sensitive(true);
    Ok(value)
}

/// The secret texts of a header, the longest first: its value, the part after the scheme, the user
/// with the password that this part encodes, and the password.
pub(super) fn secrets(value: &HeaderValue) -> Vec<String> {
    let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let part = value.split_once(' ').map(|(_, part)| part.trim().to_owned());
    let decoded = part.as_ref().and_then(|part| STANDARD.decode(part).ok());
    let user = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let password = user.as_ref().and_then(|user| user.split_once(':'));
    let password = password.map(|(_, password)| password.to_owned());
    // A password of a few characters occurs in many words.
    let password = password.filter(|password| password.len() >= SECRET_BYTES_MIN);
    [Some(value), part, user, password]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect()
}
