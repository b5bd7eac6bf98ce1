//! The operator's lists of allowed values (`--values DIR`): one JSON file per property, in the form
//! of the values endpoint.

use std::io;
use std::path::{Path, PathBuf};

use figdex_index::Property;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::waiting;

/// The size limit of a list. The values of a property take some kilobytes.
const BYTES_MAX: u64 = 4 << 20;

#[derive(Deserialize)]
struct ValueList {
    values: Vec<String>,
}

/// The path of a property's list in the folder.
pub(crate) fn list(folder: &Path, property: Property) -> PathBuf {
    folder.join(property.name()).with_extension("json")
}

/// Reads every list in the folder. Other files are ignored. So is `idType.json`, because each
/// version of the interface fixes its idTypes.
///
/// # Errors
/// [`Error::Input`] when a list cannot be read or is invalid, or when the folder has no list.
pub(crate) fn read(folder: &Path) -> Result<Vec<(Property, String)>> {
    let mut values = Vec::new();
    let mut lists = 0;
    for property in Property::ALL {
        let path = list(folder, property);
        let text = match waiting::read_text(&path, BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::open(&path.display(), error)),
        };
        let found: ValueList = serde_json::from_str(&text).map_err(|error| {
            let line = error.line() as u64;
            let what = format!("invalid value list, expected {{\"values\": [\"…\"]}}: {error}");
            Error::input(&path.display(), Some(line), what)
        })?;
        values.extend(found.values.into_iter().map(|value| (property, value)));
        lists += 1;
    }
    if lists == 0 {
        let what = "the folder contains no value list, such as exchCode.json";
        return Err(Error::input(&folder.display(), None, what));
    }
    Ok(values)
}
