//! The formats that ship with the program. They are ordinary columns files, in `formats/`.

use std::sync::{Arc, LazyLock};

use super::columns_file::ColumnsFile;

const CANONICAL: &str = include_str!("../../formats/canonical.toml");

/// The names of the canonical format in a specific container, and the keys that select it.
const CONTAINERS: [(&str, &str); 6] = [
    ("csv", "format = \"delimited\"\ndelimiter = \",\"\n"),
    ("tsv", "format = \"delimited\"\ndelimiter = \"\\t\"\n"),
    ("pipe", "format = \"delimited\"\ndelimiter = \"|\"\n"),
    ("jsonl", "format = \"json-lines\"\n"),
    ("json", "format = \"json\"\n"),
    ("parquet", "format = \"parquet\"\n"),
];

/// The format of the files of `--names`. No dump of instruments is recognised as one.
const NAMES: &str = include_str!("../../formats/names.toml");

/// The other formats, by name.
const OTHERS: [(&str, &str); 12] = [
    ("answers", include_str!("../../formats/answers.toml")),
    ("back-office", include_str!("../../formats/back-office.toml")),
    ("financedatabase", include_str!("../../formats/financedatabase.toml")),
    ("finnhub", include_str!("../../formats/finnhub.toml")),
    ("free-ticker", include_str!("../../formats/free-ticker.toml")),
    ("iex", include_str!("../../formats/iex.toml")),
    ("kaiko", include_str!("../../formats/kaiko.toml")),
    ("open-symbology", include_str!("../../formats/open-symbology.toml")),
    ("polygon-v2", include_str!("../../formats/polygon-v2.toml")),
    ("polygon-v3", include_str!("../../formats/polygon-v3.toml")),
    ("t-invest", include_str!("../../formats/t-invest.toml")),
    ("twelve-data", include_str!("../../formats/twelve-data.toml")),
];

struct Formats {
    canonical: ColumnsFile,
    names: ColumnsFile,
    containers: Vec<ColumnsFile>,
    others: Vec<ColumnsFile>,
}

static FORMATS: LazyLock<Formats> = LazyLock::new(|| Formats {
    canonical: shipped("canonical", CANONICAL),
    names: shipped("names", NAMES),
    containers: CONTAINERS
        .map(|(name, container)| shipped(name, &format!("{container}{CANONICAL}")))
        .into(),
    others: OTHERS.map(|(name, text)| shipped(name, text)).into(),
});

fn shipped(name: &str, text: &str) -> ColumnsFile {
    ColumnsFile::parse(name, text).expect("a test checks every shipped columns file")
}

/// All formats with a name for `--format`.
pub(crate) fn all() -> impl Iterator<Item = &'static ColumnsFile> {
    FORMATS.containers.iter().chain(&FORMATS.others)
}

/// The canonical format, in any container.
pub(crate) fn canonical() -> &'static ColumnsFile {
    &FORMATS.canonical
}

/// The format of a file of names, in any container.
pub(crate) fn names() -> &'static ColumnsFile {
    &FORMATS.names
}

/// Whether the name is that of a format for a vendor's dumps, and not of a columns file with the
/// same name.
pub(crate) fn is_of_vendor(name: &Arc<str>) -> bool {
    FORMATS.others.iter().any(|format| Arc::ptr_eq(&format.name, name))
}

/// The formats that a dump may be recognised as, besides the canonical one.
pub(crate) fn recognisable() -> &'static [ColumnsFile] {
    &FORMATS.others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn every_shipped_format_is_valid_and_can_be_recognised() {
        for (name, text) in OTHERS {
            let format = ColumnsFile::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
            assert!(!format.description.recognise.is_empty(), "{name}");
            assert_eq!(*name.parse::<Format>().unwrap().one().unwrap().name, *name);
        }
        assert_eq!(all().count(), CONTAINERS.len() + OTHERS.len());
    }
}
