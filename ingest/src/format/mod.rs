//! Formats by description: what a dump looks like and which of its columns feed
//! ours is data, a columns file. Those of well-known dumps ship with the program;
//! the canonical dump is the one whose columns stand for themselves.

mod builtin;
pub(crate) mod description;
mod parse;
mod transform;

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

pub(crate) use self::builtin::recognisable;
pub(crate) use self::description::Description;
use crate::error::{Error, Result};
pub(crate) use transform::Transform;

/// The layout of a dump and the meaning of its columns.
#[derive(Clone)]
pub struct Format {
    name: Arc<str>,
    description: Arc<Description>,
}

impl Format {
    /// The format that a columns file describes.
    ///
    /// # Errors
    /// When the file cannot be read; with all its faults when it is none.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|error| Error::open(&name, error))?;
        Self::parse(&name.to_string(), &text)
    }

    /// The format that the text of a columns file describes; `name` is for messages.
    ///
    /// # Errors
    /// All its faults.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let description = parse::parse(text).map_err(|faults| Error::Columns {
            name: name.to_owned(),
            faults: faults.into_iter().map(|fault| (fault.line, fault.what)).collect(),
        })?;
        Ok(Self { name: name.into(), description: Arc::new(description) })
    }

    /// Its name, or the file's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the formats that ship with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        builtin::all().map(Self::name)
    }

    pub(crate) fn description(&self) -> &Arc<Description> {
        &self.description
    }

    /// The canonical dump, in whatever container it comes.
    pub(crate) fn canonical() -> Self {
        builtin::canonical().clone()
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let found = builtin::all().find(|format| format.name() == name);
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = Self::names().collect();
            format!("formats are {}", names.join(", "))
        })
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}
