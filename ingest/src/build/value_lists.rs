//! The lists of allowed values that an operator gives (`--values DIR`): one JSON
//! file a key, in the shape in which the values endpoint itself answers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use figdex_index::Property;
use serde::Deserialize;

use crate::error::{Error, Result};

#[derive(Deserialize)]
struct ValueList {
    values: Vec<String>,
}

/// The list of a property in a folder.
pub(crate) fn list(folder: &Path, property: Property) -> PathBuf {
    folder.join(property.name()).with_extension("json")
}

/// The values of every list in the folder. Files of other names are left alone;
/// `idType.json` too, since each version's list is its own.
///
/// # Errors
/// When a list is not of the shape, or when the folder has none at all.
pub(crate) fn read(folder: &Path) -> Result<Vec<(Property, String)>> {
    let mut values = Vec::new();
    let mut lists = 0;
    for property in Property::ALL {
        let path = list(folder, property);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::open(&path.display(), error)),
        };
        let found: ValueList = serde_json::from_str(&text).map_err(|error| {
            let line = error.line() as u64;
            let what = format!("not a value list, {{\"values\": [\"…\"]}}: {error}");
            Error::input(&path.display(), Some(line), what)
        })?;
        values.extend(found.values.into_iter().map(|value| (property, value)));
        lists += 1;
    }
    if lists == 0 {
        let what = "the folder has no value list, such as exchCode.json";
        return Err(Error::input(&folder.display(), None, what));
    }
    Ok(values)
}
