//! Formats by description: what a dump looks like and which of its columns feed
//! ours is data, a columns file. Those of well-known dumps ship with the program;
//! the canonical dump is the one whose columns stand for themselves.

mod builtin;
pub(crate) mod columns_file;
pub(crate) mod description;
mod parse;
pub(crate) mod plan;
pub(crate) mod record;
mod transform;
mod walk;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

pub(crate) use self::builtin::{canonical, recognisable};
use self::columns_file::ColumnsFile;
pub(crate) use self::description::Description;
pub(crate) use self::transform::Transform;
use crate::error::{Error, Result};

/// The layout of a dump and the meaning of its columns, or several, of which each
/// input has one.
#[derive(Clone)]
pub struct Format(Choice);

#[derive(Clone)]
enum Choice {
    One(ColumnsFile),
    /// Each input is of one of these, or of one that ships.
    Among(Vec<ColumnsFile>),
}

impl Format {
    /// The format that a columns file describes, whatever the inputs look like.
    ///
    /// # Errors
    /// When the file cannot be read; with all its faults when it is none.
    pub fn read(path: &Path) -> Result<Self> {
        ColumnsFile::read(path).map(|format| Self(Choice::One(format)))
    }

    /// The format that several columns files describe: each input is of the one
    /// that it is recognised as, theirs before those that ship. A single one is
    /// the format of every input, recognised or not.
    ///
    /// # Errors
    /// When one of several does not say how it is recognised.
    pub fn read_all(paths: &[impl AsRef<Path>]) -> Result<Self> {
        if let [path] = paths {
            return Self::read(path.as_ref());
        }
        let formats = paths.iter().map(|path| ColumnsFile::read(path.as_ref()));
        let formats = formats.collect::<Result<Vec<_>>>()?;
        if let Some(format) = formats.iter().find(|format| format.description.recognise.is_empty())
        {
            let what = "one of several columns files must say how its dumps are recognised";
            return Err(Error::input(&format.name, None, what));
        }
        Ok(Self(Choice::Among(formats)))
    }

    /// The format that the text of a columns file describes; `name` is for messages.
    ///
    /// # Errors
    /// All its faults.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        ColumnsFile::parse(name, text).map(|format| Self(Choice::One(format)))
    }

    /// The names of the formats that ship with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        builtin::all().map(|format| &*format.name)
    }

    /// The canonical dump, in whatever container it comes.
    pub(crate) fn canonical() -> Self {
        Self(Choice::One(builtin::canonical().clone()))
    }

    /// The format itself, unless it is still to be recognised.
    pub(crate) fn one(&self) -> Option<&ColumnsFile> {
        match &self.0 {
            Choice::One(format) => Some(format),
            Choice::Among(_) => None,
        }
    }

    /// Those among which it is to be recognised, before those that ship.
    pub(crate) fn among(&self) -> &[ColumnsFile] {
        match &self.0 {
            Choice::One(_) => &[],
            Choice::Among(formats) => formats,
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let found = builtin::all().find(|format| *format.name == *name);
        found.map(|format| Self(Choice::One(format.clone()))).ok_or_else(|| {
            let names: Vec<&str> = Self::names().collect();
            format!("formats are {}", names.join(", "))
        })
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats = self.one().into_iter().chain(self.among());
        f.debug_tuple("Format")
            .field(&formats.map(|format| &format.name).collect::<Vec<_>>())
            .finish()
    }
}
