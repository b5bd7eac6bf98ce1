//! The columns of a dump and the formats that ship, as lists for people and programs. Both lists
//! are made from the tables that read dumps.

use std::fmt;

use serde::Serialize;

use crate::format::builtin;
use crate::format::columns_file::ColumnsFile;
use crate::format::description::{DumpContainer, ValueFrom};
use crate::row::Column;
use crate::row::meaning::About;

/// The width of the text.
const WIDTH: usize = 80;

/// A list of entries, as text or as a JSON array.
#[derive(Serialize)]
#[serde(transparent)]
pub struct List<T>(Vec<T>);

/// A column of a dump.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnEntry {
    name: &'static str,
    meaning: &'static str,
    form: &'static str,
    example: &'static str,
    is_required: bool,
    takes_several_values: bool,
}

/// A format that ships.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormatEntry {
    name: &'static str,
    about: &'static str,
    container: &'static str,
    /// Lists of names in the header row or the first record. Any one list is enough. If both this
    /// and `starts_with` are empty, a column such as `figi` shows the format.
    recognised_by: Vec<Vec<&'static str>>,
    /// The beginning of the dump, if that is a sign.
    starts_with: Vec<&'static str>,
    columns: Vec<Fed>,
    /// Whether columns with canonical names are also taken.
    takes_canonical_names: bool,
}

/// A canonical column, and the columns of the dump that feed it. If there are none, the column is a
/// constant.
#[derive(Serialize)]
pub struct Fed {
    column: &'static str,
    from: Vec<&'static str>,
}

/// Every column of a dump, in its order.
pub fn columns() -> List<ColumnEntry> {
    let entry = |column: Column| {
        let About { meaning, form, example, .. } = column.about();
        ColumnEntry {
            name: column.name(),
            meaning,
            form,
            example,
            is_required: column == Column::Figi,
            takes_several_values: column.is_list(),
        }
    };
    List(Column::all().map(entry).collect())
}

/// Every format that ships.
pub fn formats() -> List<FormatEntry> {
    List(builtin::all().map(format).collect())
}

fn format(file: &'static ColumnsFile) -> FormatEntry {
    let description = &file.description;
    let fed = description.feeds.iter().filter(|feed| feed.is_named).map(|feed| {
        let from = feed.alternatives.iter().filter_map(|alternative| match &alternative.from {
            ValueFrom::Column(name) => Some(name.as_str()),
            ValueFrom::Constant(_) => None,
        });
        let mut from: Vec<_> = from.collect();
        from.dedup();
        Fed { column: feed.column.name(), from }
    });
    let signs = &description.recognise;
    let named = signs.iter().filter(|sign| !sign.columns.is_empty());
    FormatEntry {
        name: &file.name,
        about: &description.about,
        container: match description.container {
            None => "delimited text or JSON",
            Some(DumpContainer::Delimited) => "delimited text",
            Some(DumpContainer::JsonLines) => "JSON lines",
            Some(DumpContainer::Json) => "JSON documents",
            Some(DumpContainer::Parquet) => "Parquet",
        },
        recognised_by: named
            .map(|sign| sign.columns.iter().map(String::as_str).collect())
            .collect(),
        starts_with: signs.iter().filter_map(|sign| sign.start.as_deref()).collect(),
        columns: fed.collect(),
        takes_canonical_names: description.feeds.iter().any(|feed| !feed.is_named),
    }
}

impl fmt::Display for List<ColumnEntry> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.0 {
            writeln!(f, "{}{}", entry.name, if entry.is_required { " (required)" } else { "" })?;
            writeln!(f, "  {}", entry.meaning)?;
            let several = if entry.takes_several_values { "; several with ; between" } else { "" };
            writeln!(f, "  {}{several}", entry.form)?;
            writeln!(f, "  example: {}\n", entry.example)?;
        }
        let end = "Blank means unknown. In JSON several values are an array. Columns with other \
                   names are ignored; a columns file gives them a meaning, which `figdex-ingest \
                   inspect FILE` proposes.";
        wrap(f, "", end)
    }
}

impl fmt::Display for List<FormatEntry> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.0 {
            writeln!(f, "{} ({})", entry.name, entry.container)?;
            wrap(f, "  ", entry.about)?;
            for names in &entry.recognised_by {
                wrap(f, "  ", &format!("recognised by the columns {}", names.join(", ")))?;
            }
            for start in &entry.starts_with {
                wrap(f, "  ", &format!("must start with {}", start.trim_end()))?;
            }
            if entry.recognised_by.is_empty() && entry.starts_with.is_empty() {
                wrap(f, "  ", "recognised by a column figi, ID_ISIN, ID_CUSIP or ticker")?;
            }
            let fed = entry.columns.iter().map(|Fed { column, from }| match &from[..] {
                [] => format!("{column} (constant)"),
                [name] if name == column => (*column).to_owned(),
                names => format!("{column} from {}", names.join(" or ")),
            });
            let mut fed: Vec<_> = fed.collect();
            if entry.takes_canonical_names {
                fed.push("every column of `figdex-ingest columns`".to_owned());
            }
            wrap(f, "  ", &format!("takes {}", fed.join(", ")))?;
            writeln!(f)?;
        }
        wrap(f, "", "For another layout `figdex-ingest inspect FILE` proposes a columns file.")
    }
}

/// Writes a paragraph in lines of at most [`WIDTH`] characters, if its words are not longer.
pub(crate) fn wrap(f: &mut fmt::Formatter<'_>, indent: &str, text: &str) -> fmt::Result {
    let mut line = indent.to_owned();
    for word in text.split_whitespace() {
        let is_begun = line.len() > indent.len();
        if is_begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(f, "{line}")?;
            line = format!("{indent}{word}");
        } else {
            line += if is_begun { " " } else { "" };
            line += word;
        }
    }
    writeln!(f, "{line}")
}
