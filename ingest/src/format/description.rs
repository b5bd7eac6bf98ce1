//! What a columns file says, as types: how records are told apart, and which of
//! their values feed which of our columns. What it says about one value stands in
//! `transform`; how it is written, in `parse`.

use std::borrow::Cow;

use super::transform::Transform;
use crate::row::Column;

/// A dump's dialect and the meaning of its columns.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    /// In what its records are; recognised by name and content when not said.
    pub(crate) container: Option<Container>,
    pub(crate) encoding: Encoding,
    pub(crate) dialect: Dialect,
    /// Where the records of a JSON document are.
    pub(crate) records: Option<Vec<Path>>,
    /// Words that mean "unknown" in any column.
    pub(crate) blank: Vec<String>,
    /// What it is told from others by: any of these.
    pub(crate) recognise: Vec<Recognise>,
    /// What feeds each column; a column stands here once.
    pub(crate) feeds: Vec<Feed>,
    /// Rows that meet all conditions of one of these are left out.
    pub(crate) skip: Vec<Conditions>,
}

/// In what the records of a dump are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// Cells between delimiters, a record a row.
    Delimited,
    /// A JSON object a line.
    JsonLines,
    /// JSON documents, whose records lie at certain paths.
    Json,
    /// A Parquet file.
    Parquet,
}

/// How the bytes of a dump are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    Latin1,
    Windows1252,
}

impl Encoding {
    /// The text of these bytes; `None` where they are none.
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

/// How delimited text is laid out.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    /// Stands between cells; taken from name and header row when not said.
    pub(crate) delimiter: Option<u8>,
    /// Whether `"` quotes a cell (RFC 4180).
    pub(crate) quotes: bool,
    /// Whether the first row names the columns; without one they are numbered.
    pub(crate) header: bool,
    /// Whether a delimiter ends every record.
    pub(crate) trailing_delimiter: bool,
    /// Lines before the header row or the first record.
    pub(crate) skip_lines: u64,
    /// Lines that are no records.
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

/// A line in which `*` stands for any bytes without the delimiter.
#[derive(Clone, Debug)]
pub(crate) struct Wildcard(pub(crate) Vec<u8>);

impl Wildcard {
    pub(crate) fn matches(&self, line: &[u8], delimiter: u8) -> bool {
        let pattern = &self.0;
        let (mut at, mut byte) = (0, 0);
        // The last star and the byte up to which it reaches.
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

/// The alternative from the root of a JSON document to its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(pub(crate) Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// The member of that name.
    Member(String),
    /// Any member of an object, any entry of an array.
    Any,
}

impl Path {
    /// `data.*` and the like; the empty path is the document itself.
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

/// How a dump is told from others: all of it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recognise {
    /// Names that are all in its header row, or in its first record.
    pub(crate) columns: Vec<String>,
    /// What it starts with, if that is told.
    pub(crate) start: Option<String>,
}

/// What feeds one of our columns.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    pub(crate) column: Column,
    /// The first that gives a value counts.
    pub(crate) alternatives: Vec<Alternative>,
    /// Whether the description names it, or it stands for itself.
    pub(crate) told: bool,
}

/// One alternative to a column's value.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    pub(crate) from: ValueFrom,
    pub(crate) conditions: Conditions,
    pub(crate) transform: Transform,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub(crate) enum ValueFrom {
    /// A column of the dump: its name, its number, or the path to a nested value.
    Column(String),
    /// It is the same in every record.
    Constant(String),
}

impl Feed {
    /// The column stands in the dump under its own name.
    pub(crate) fn own(column: Column) -> Self {
        let from = ValueFrom::Column(column.name().to_owned());
        let alternative = Alternative {
            from,
            conditions: Conditions::default(),
            transform: Transform::default(),
        };
        Self { column, alternatives: vec![alternative], told: false }
    }
}

/// What must hold of a record's own values, all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions(pub(crate) Vec<(String, Test)>);

/// What must hold of one value; a blank one is the empty text.
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
    /// Whether it holds of a column that has these values, or none.
    pub(crate) fn holds<'a>(&self, values: impl Iterator<Item = &'a str>) -> bool {
        let mut values = values.peekable();
        if values.peek().is_none() {
            return self.holds_of("");
        }
        match self.kind {
            TestKind::NoneOf => values.all(|value| self.holds_of(value)),
            TestKind::OneOf | TestKind::StartsWith => values.any(|value| self.holds_of(value)),
        }
    }

    fn holds_of(&self, value: &str) -> bool {
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
    fn a_star_does_not_cross_the_delimiter() {
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
    fn encodings() {
        assert_eq!(Encoding::Utf8.decode(b"caf\xe9"), None);
        assert_eq!(Encoding::Latin1.decode(b"caf\xe9 \x80").unwrap(), "caf\u{e9} \u{80}");
        assert_eq!(Encoding::Windows1252.decode(b"caf\xe9 \x80").unwrap(), "caf\u{e9} \u{20ac}");
    }
}
