//! The description of a format in a columns file: how to find the records of a dump, and which of
//! their values feed which canonical columns. `transform` has the steps for a single value, and
//! `parse` the syntax of the file.

use std::borrow::Cow;

use super::transform::Transform;
use crate::row::Column;

/// The syntax of a dump and the meaning of its columns.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    /// A description for people; empty if the file has none.
    pub(crate) about: String,
    /// The container of the records; `None` recognises it by the file's name and content.
    pub(crate) container: Option<DumpContainer>,
    pub(crate) encoding: Encoding,
    pub(crate) dialect: Dialect,
    /// The paths to the records of a JSON document.
    pub(crate) records: Option<Vec<Path>>,
    /// Words that mean "unknown" in any column.
    pub(crate) blank: Vec<String>,
    /// Signs that identify a dump of this format. Any one of them is enough.
    pub(crate) recognise: Vec<Recognise>,
    /// The values that feed each canonical column. Each column occurs once.
    pub(crate) feeds: Vec<Feed>,
    /// The rules that leave out rows. A row is left out if it meets all conditions of one rule.
    pub(crate) skip: Vec<Conditions>,
}

/// The container of a dump's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DumpContainer {
    /// Delimited text, a record per row.
    Delimited,
    /// JSON lines, an object per line.
    JsonLines,
    /// JSON documents, with the records at given paths.
    Json,
    /// A Parquet file.
    Parquet,
}

/// The character encoding of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    Latin1,
    Windows1252,
}

impl Encoding {
    /// Decodes the bytes; `None` if they are invalid.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Self::Utf8 => str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Self::Latin1 => Some(encoding_rs::mem::decode_latin1(bytes)),
            Self::Windows1252 => {
                encoding_rs::WINDOWS_1252.decode_without_bom_handling_and_without_replacement(bytes)
            }
        }
    }
}

/// The dialect of delimited text.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    /// The delimiter between cells; `None` recognises it by the file's name and header row.
    pub(crate) delimiter: Option<u8>,
    /// Whether `"` quotes a cell (RFC 4180).
    pub(crate) quotes: bool,
    /// Whether the first row names the columns. Without a header row they have numbers.
    pub(crate) header: bool,
    /// Whether a delimiter ends every record.
    pub(crate) trailing_delimiter: bool,
    /// Number of lines to skip before the header row or the first record.
    pub(crate) skip_lines: u64,
    /// Patterns of lines that are not records.
    pub(crate) control_lines: Vec<Wildcard>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            delimiter: None,
            quotes: true,
            header: true,
            trailing_delimiter: false,
            skip_lines: 0,
            control_lines: Vec::new(),
        }
    }
}

/// A pattern for a line. `*` in it matches any bytes without the delimiter.
#[derive(Clone, Debug)]
pub(crate) struct Wildcard(pub(crate) Vec<u8>);

impl Wildcard {
    pub(crate) fn matches(&self, line: &[u8], delimiter: u8) -> bool {
        let pattern = &self.0;
        let (mut at, mut byte) = (0, 0);
        // The position of the last star, and of the byte that its match ends at.
        let mut star: Option<(usize, usize)> = None;
        while byte < line.len() {
            if pattern.get(at) == Some(&b'*') {
                star = Some((at, byte));
                at += 1;
            } else if pattern.get(at) == Some(&line[byte]) {
                at += 1;
                byte += 1;
            } else if let Some((star_at, reached)) = star
                && line[reached] != delimiter
            {
                star = Some((star_at, reached + 1));
                at = star_at + 1;
                byte = reached + 1;
            } else {
                return false;
            }
        }
        pattern[at..].iter().all(|&rest| rest == b'*')
    }
}

/// The path from the root of a JSON document to its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(pub(crate) Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// The member with that name.
    Member(String),
    /// Any member of an object, any entry of an array.
    Any,
}

impl Path {
    /// Parses a path such as `data.*`. The empty path is the document itself.
    pub(crate) fn parse(text: &str) -> Self {
        let segments = text.split('.').filter(|segment| !segment.is_empty());
        Self(
            segments
                .map(|segment| match segment {
                    "*" => Segment::Any,
                    name => Segment::Member(name.to_owned()),
                })
                .collect(),
        )
    }
}

/// A sign that identifies a dump. All parts of it must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recognise {
    /// Names that must all be in the header row or in the first record.
    pub(crate) columns: Vec<String>,
    /// The text at the start of the dump, if any is required.
    pub(crate) start: Option<String>,
}

/// The values of the dump that feed a canonical column.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    pub(crate) column: Column,
    /// The alternatives, in the order of preference. The first one with a value is used.
    pub(crate) alternatives: Vec<Alternative>,
    /// Whether the columns file names the column. If not, `own-names` added it.
    pub(crate) is_named: bool,
}

/// One of the values that may feed a column.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    pub(crate) from: ValueFrom,
    pub(crate) conditions: Conditions,
    pub(crate) transform: Transform,
}

/// The origin of a value.
#[derive(Clone, Debug)]
pub(crate) enum ValueFrom {
    /// A column of the dump: its name, its number, or the path to a nested value.
    Column(String),
    /// The same value for every record.
    Constant(String),
}

impl Feed {
    /// A column that has its canonical name in the dump.
    pub(crate) fn own(column: Column) -> Self {
        let from = ValueFrom::Column(column.name().to_owned());
        let alternative = Alternative {
            from,
            conditions: Conditions::default(),
            transform: Transform::default(),
        };
        Self { column, alternatives: vec![alternative], is_named: false }
    }
}

/// Conditions on the values of a record, by column of the dump. All must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions(pub(crate) Vec<(String, Test)>);

/// A condition on one value. A blank value counts as the empty text.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    pub(crate) words: Vec<String>,
    pub(crate) kind: TestKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestKind {
    OneOf,
    NoneOf,
    StartsWith,
}

impl Test {
    /// Whether the condition holds for a column with these values. A column without values counts
    /// as blank.
    pub(crate) fn holds<'a>(&self, values: impl Iterator<Item = &'a str>) -> bool {
        let mut values = values.peekable();
        if values.peek().is_none() {
            return self.holds_for("");
        }
        match self.kind {
            TestKind::NoneOf => values.all(|value| self.holds_for(value)),
            TestKind::OneOf | TestKind::StartsWith => values.any(|value| self.holds_for(value)),
        }
    }

    fn holds_for(&self, value: &str) -> bool {
        match self.kind {
            TestKind::OneOf => self.words.iter().any(|word| word == value),
            TestKind::NoneOf => self.words.iter().all(|word| word != value),
            TestKind::StartsWith => self.words.iter().any(|word| value.starts_with(word.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_does_not_match_the_delimiter() {
        for (pattern, line, matches) in [
            ("START-OF-*", "START-OF-FILE", true),
            ("START-OF-*", "START-OF-FILE|", false),
            ("*=*", "KEY=value", true),
            ("*=*", "BBG000BLNNH6|a=b", false),
            ("*a*b", "xaxaxb", true),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("File*|||", "File Creation Time: 1202|||", true),
        ] {
            let wildcard = Wildcard(pattern.into());
            assert_eq!(wildcard.matches(line.as_bytes(), b'|'), matches, "{pattern} {line}");
        }
    }

    #[test]
    fn bytes_are_decoded_by_their_encoding() {
        assert_eq!(Encoding::Utf8.decode(b"caf\xe9"), None);
        assert_eq!(Encoding::Latin1.decode(b"caf\xe9 \x80").unwrap(), "caf\u{e9} \u{80}");
        assert_eq!(Encoding::Windows1252.decode(b"caf\xe9 \x80").unwrap(), "caf\u{e9} \u{20ac}");
    }
}
