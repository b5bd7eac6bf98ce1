//! The formats of dumps. A format is data: a columns file describes the syntax of a dump and
//! which of its columns feed which canonical columns. The columns files of well-known dumps ship
//! with the program. The canonical format is the one whose columns have the canonical names.
//!
//! `plan` applies a description to the records of one dump.

pub(crate) mod builtin;
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

pub(crate) use self::builtin::{canonical, is_of_vendor, recognisable};
use self::columns_file::ColumnsFile;
pub(crate) use self::description::Description;
pub(crate) use self::transform::Transform;
use crate::error::{Error, Result};

/// The format of a dump, or several formats, one of which is recognised for each dump.
#[derive(Clone)]
pub struct Format(Choice);

#[derive(Clone)]
enum Choice {
    One(ColumnsFile),
    /// One of these formats or of the shipped ones. Recognition decides.
    Among(Vec<ColumnsFile>),
}

impl Format {
    /// Reads the format from a columns file. Dumps are then read in that format without
    /// recognition.
    ///
    /// # Errors
    /// [`Error::Input`] when the file cannot be read, and [`Error::Columns`] with all its faults
    /// when it is invalid.
    pub fn read(path: &Path) -> Result<Self> {
        ColumnsFile::read(path).map(|format| Self(Choice::One(format)))
    }

    /// Reads several columns files. Each dump is recognised as one of them or, failing that, as
    /// a shipped format. With a single file this is [`Format::read`].
    ///
    /// # Errors
    /// The errors of [`Format::read`], and [`Error::Input`] when one of several files has no key
    /// `recognise`.
    pub fn read_all(paths: &[impl AsRef<Path>]) -> Result<Self> {
        if let [path] = paths {
            return Self::read(path.as_ref());
        }
        let formats = paths.iter().map(|path| ColumnsFile::read(path.as_ref()));
        let formats = formats.collect::<Result<Vec<_>>>()?;
        if let Some(format) = formats.iter().find(|format| format.description.recognise.is_empty())
        {
            let what = "with several columns files, each needs the key `recognise`";
            return Err(Error::input(&format.name, None, what));
        }
        Ok(Self(Choice::Among(formats)))
    }

    /// Parses the text of a columns file; `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Columns`] with all its faults.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        ColumnsFile::parse(name, text).map(|format| Self(Choice::One(format)))
    }

    /// The names of the shipped formats.
    pub fn names() -> impl Iterator<Item = &'static str> {
        builtin::all().map(|format| &*format.name)
    }

    /// The canonical format, in any container.
    pub(crate) fn canonical() -> Self {
        Self(Choice::One(builtin::canonical().clone()))
    }

    /// The format of the files of `--names`, in any container.
    pub(crate) fn other_names() -> Self {
        Self(Choice::One(builtin::names().clone()))
    }

    /// The columns file, if the format is already decided.
    pub(crate) fn one(&self) -> Option<&ColumnsFile> {
        match &self.0 {
            Choice::One(format) => Some(format),
            Choice::Among(_) => None,
        }
    }

    /// The columns files to recognise, before the shipped ones.
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
            format!("expected one of {}", names.join(", "))
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
