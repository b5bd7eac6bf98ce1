//! Parses a columns file into a description. All faults are reported together, each with its line,
//! so that the author can correct all of them at once.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::description::{
    Alternative, Conditions, Description, Dialect, DumpContainer, Encoding, Feed, Path, Recognise,
    Test, TestKind, ValueFrom, Wildcard,
};
use super::transform::{NumberForm, Transform, is_date_form};
use super::walk::{Fault, TomlValue, Walk, dump_column, unknown};
use crate::row::Column;

/// The highest number of a column in a dump without a header row.
const COLUMN_NUMBER_MAX: usize = 10_000;

/// Reads a columns file.
///
/// # Errors
/// All faults of the file, in the order of their lines. If the file has syntax errors, only these.
pub(crate) fn parse(text: &str) -> Result<Description, Vec<Fault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut walk = Walk::new(text);
    for error in &errors {
        walk.fault(error.span().unwrap_or_default(), error.message());
    }
    if !errors.is_empty() {
        // Further faults would only be consequences of the broken syntax.
        return Err(walk.into_faults());
    }
    let description = walk.description(table.get_ref());
    let faults = walk.into_faults();
    if faults.is_empty() { Ok(description) } else { Err(faults) }
}

impl Walk<'_> {
    fn description(&mut self, table: &DeTable<'_>) -> Description {
        let mut description = Description {
            about: String::new(),
            container: None,
            encoding: Encoding::default(),
            dialect: Dialect::default(),
            records: None,
            blank: Vec::new(),
            recognise: Vec::new(),
            feeds: Vec::new(),
            skip: Vec::new(),
        };
        let dialect = &mut description.dialect;
        let mut own_names = false;
        let mut columns = None;
        for (key, value) in table {
            match &**key.get_ref() {
                "about" => description.about = self.text_of(value, "about").unwrap_or_default(),
                "format" => {
                    description.container = self.word_of(value, "format", &CONTAINERS);
                }
                "encoding" => {
                    // For any other word a fault was added. A file with faults is not used.
                    let encoding = self.word_of(value, "encoding", &ENCODINGS);
                    description.encoding = encoding.unwrap_or_default();
                }
                "delimiter" => dialect.delimiter = self.delimiter(value),
                "quotes" => dialect.quotes = self.bool_of(value, "quotes"),
                "header" => dialect.header = self.bool_of(value, "header"),
                "trailing-delimiter" => {
                    dialect.trailing_delimiter = self.bool_of(value, "trailing-delimiter");
                }
                "skip-lines" => dialect.skip_lines = self.count_of(value, "skip-lines"),
                "control-lines" => {
                    let lines = self.texts_of(value, "control-lines");
                    dialect.control_lines =
                        lines.into_iter().map(|line| Wildcard(line.into_bytes())).collect();
                }
                "records" => {
                    let paths = self.texts_of(value, "records");
                    description.records =
                        Some(paths.iter().map(|path| Path::parse(path)).collect());
                }
                "blank" => description.blank = self.texts_of(value, "blank"),
                "recognise" => description.recognise = self.recognise(value),
                "skip" => description.skip = self.skip(value),
                "own-names" => own_names = self.bool_of(value, "own-names"),
                "columns" => columns = Some(value),
                other => self.fault(key.span(), unknown(other, &KEYS)),
            }
        }
        if let Some(columns) = columns {
            description.feeds = self.columns(columns);
        }
        let is_named = |feeds: &[Feed], column| feeds.iter().any(|feed| feed.column == column);
        if own_names {
            let own: Vec<Column> =
                Column::all().filter(|column| !is_named(&description.feeds, *column)).collect();
            description.feeds.extend(own.into_iter().map(Feed::own));
        }
        description.feeds.sort_by_key(|feed| feed.column);
        if columns.is_none() && !own_names {
            self.fault(0..0, "[columns] is missing");
        }
        if !description.dialect.header {
            self.numbered(&description, columns.map_or(0..0, Spanned::span));
        }
        description
    }

    /// Checks that all columns of the dump are given as numbers, since there is no header row.
    fn numbered(&mut self, description: &Description, span: Range<usize>) {
        let alternatives = description.feeds.iter().flat_map(|feed| &feed.alternatives);
        let sources = alternatives.clone().filter_map(|alternative| match &alternative.from {
            ValueFrom::Column(source) => Some(source.as_str()),
            ValueFrom::Constant(_) => None,
        });
        let conditions =
            alternatives.map(|alternative| &alternative.conditions).chain(&description.skip);
        let tested = conditions.flat_map(|conditions| &conditions.0).map(|(name, _)| name.as_str());
        let wrong = |name: &&str| {
            let number = name.split('.').next().unwrap_or(name);
            !number.parse().is_ok_and(|number| (1..=COLUMN_NUMBER_MAX).contains(&number))
        };
        let mut named: Vec<&str> = sources.chain(tested).filter(wrong).collect();
        named.sort_unstable();
        named.dedup();
        if !named.is_empty() {
            let names = named.join(", ");
            let what = format!(
                "without a header columns are numbers from 1 to {COLUMN_NUMBER_MAX}, not {names}"
            );
            self.fault(span, what);
        }
    }

    fn columns(&mut self, value: &TomlValue<'_>) -> Vec<Feed> {
        let Some(table) = self.table_of(value, "columns") else { return Vec::new() };
        let mut feeds = Vec::new();
        for (key, value) in table {
            let name = key.get_ref();
            let Some(column) = Column::from_name(name).or_else(|| Column::of_names(name)) else {
                let what = format!(
                    "`{}` is not a canonical column: use figi, ticker, marketSector, … or an \
                     idType",
                    key.get_ref()
                );
                self.fault(key.span(), what);
                continue;
            };
            let alternatives = match value.get_ref() {
                DeValue::Array(alternatives) => alternatives
                    .iter()
                    .filter_map(|alternative| self.alternative(alternative))
                    .collect(),
                _ => Vec::from_iter(self.alternative(value)),
            };
            feeds.push(Feed { column, alternatives, is_named: true });
        }
        feeds
    }

    /// One of the values that may feed a column: a name, a number, or a table.
    fn alternative(&mut self, value: &TomlValue<'_>) -> Option<Alternative> {
        let plain = |from| Alternative {
            from,
            conditions: Conditions::default(),
            transform: Transform::default(),
        };
        if let Some(source) = dump_column(value) {
            return Some(plain(ValueFrom::Column(source)));
        }
        let DeValue::Table(table) = value.get_ref() else {
            self.fault(
                value.span(),
                "a column must be a name, a number, a table, or an array of these",
            );
            return None;
        };
        let mut from = None;
        let mut conditions = Conditions::default();
        let mut transform = Transform::default();
        for (key, value) in table {
            match &**key.get_ref() {
                "from" => match dump_column(value) {
                    Some(source) => from = Some(ValueFrom::Column(source)),
                    None => self.fault(value.span(), "`from` must be a name or a number"),
                },
                "value" => {
                    // If it is not a text, a fault was already added.
                    let text = self.text_of(value, "value").unwrap_or_default();
                    from = Some(ValueFrom::Constant(text));
                }
                "where" => conditions = self.conditions(value, "where"),
                "blank" => transform.blank = self.texts_of(value, "blank"),
                "until" => transform.until = self.text_of(value, "until"),
                "replace" => transform.replace = self.replace(value),
                "upper" => transform.upper = self.bool_of(value, "upper"),
                "values" => {
                    for (theirs, ours) in self.table_of(value, "values").into_iter().flatten() {
                        let ours = self.text_of(ours, "each of `values`").unwrap_or_default();
                        transform.values.insert(theirs.get_ref().to_string(), ours);
                    }
                }
                "otherwise" => transform.otherwise = self.text_of(value, "otherwise"),
                "date" => {
                    transform.date = self.texts_of(value, "date");
                    for form in transform.date.iter().filter(|form| !is_date_form(form)) {
                        let what =
                            format!("invalid date form `{form}`: expected one such as %d.%m.%Y");
                        self.fault(value.span(), what);
                    }
                }
                "number" => {
                    for example in self.texts_of(value, "number") {
                        match NumberForm::of_example(&example) {
                            Some(form) => transform.number.push(form),
                            None => {
                                let known = NumberForm::EXAMPLES.map(|(text, _)| text).join("  ");
                                let what =
                                    format!("unknown number form `{example}`: use one of {known}");
                                self.fault(value.span(), what);
                            }
                        }
                    }
                }
                "separator" => {
                    transform.separator = self.text_of(value, "separator");
                    if transform.separator.as_deref() == Some("") {
                        self.fault(value.span(), "`separator` must not be empty");
                    }
                }
                other => self.fault(key.span(), unknown(other, &ALTERNATIVE_KEYS)),
            }
        }
        let both = table.contains_key("from") && table.contains_key("value");
        if from.is_none() || both {
            self.fault(value.span(), "a column needs either `from` or `value`");
        }
        Some(Alternative { from: from?, conditions, transform })
    }

    fn replace(&mut self, value: &TomlValue<'_>) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for pair in self.array_of(value, "replace").into_iter().flatten() {
            match <[String; 2]>::try_from(self.texts_of(pair, "each of `replace`")) {
                Ok([old, new]) if !old.is_empty() => pairs.push((old, new)),
                _ => self.fault(pair.span(), "each of `replace` must be [\"old\", \"new\"]"),
            }
        }
        pairs
    }

    /// A sign by which a dump is recognised, or an array of signs.
    fn recognise(&mut self, value: &TomlValue<'_>) -> Vec<Recognise> {
        if let DeValue::Array(signs) = value.get_ref() {
            return signs.iter().flat_map(|sign| self.recognise(sign)).collect();
        }
        let mut recognise = Recognise::default();
        for (key, value) in self.table_of(value, "recognise").into_iter().flatten() {
            match &**key.get_ref() {
                "columns" => recognise.columns = self.texts_of(value, "recognise.columns"),
                "start" => recognise.start = self.text_of(value, "recognise.start"),
                other => self.fault(key.span(), unknown(other, &["columns", "start"])),
            }
        }
        if recognise.columns.is_empty() && recognise.start.is_none() {
            self.fault(value.span(), "`recognise` needs `columns` or `start`");
        }
        vec![recognise]
    }

    fn skip(&mut self, value: &TomlValue<'_>) -> Vec<Conditions> {
        let rules = self.array_of(value, "skip").into_iter().flatten();
        rules.map(|rule| self.conditions(rule, "each of `skip`")).collect()
    }

    fn conditions(&mut self, value: &TomlValue<'_>, name: &str) -> Conditions {
        let mut conditions = Conditions::default();
        let Some(table) = self.table_of(value, name) else { return conditions };
        if table.is_empty() {
            self.fault(value.span(), format!("{name} needs a condition"));
        }
        for (key, value) in table {
            let source = key.get_ref().to_string();
            let (kind, words) = match value.get_ref() {
                DeValue::Table(test) if test.len() == 1 => {
                    let mut tests = test.iter().map(|(key, words)| (&**key.get_ref(), words));
                    match tests.next() {
                        Some(("not", words)) => (TestKind::NoneOf, words),
                        Some(("starts", words)) => (TestKind::StartsWith, words),
                        _ => {
                            self.fault(
                                value.span(),
                                "a condition must be { not = … } or { starts = … }",
                            );
                            continue;
                        }
                    }
                }
                _ => (TestKind::OneOf, value),
            };
            let words = self.texts_of(words, &source);
            conditions.0.push((source, Test { words, kind }));
        }
        conditions
    }

    fn delimiter(&mut self, value: &TomlValue<'_>) -> Option<u8> {
        let text = self.text_of(value, "delimiter")?;
        match text.as_bytes() {
            [b'"' | b'\r' | b'\n'] => {}
            [byte] => return Some(*byte),
            _ => {}
        }
        self.fault(value.span(), "`delimiter` must be one byte, not a quote or a line end");
        None
    }
}

const CONTAINERS: [(&str, DumpContainer); 4] = [
    ("delimited", DumpContainer::Delimited),
    ("json-lines", DumpContainer::JsonLines),
    ("json", DumpContainer::Json),
    ("parquet", DumpContainer::Parquet),
];

const ENCODINGS: [(&str, Encoding); 3] = [
    ("utf-8", Encoding::Utf8),
    ("latin-1", Encoding::Latin1),
    ("windows-1252", Encoding::Windows1252),
];

const KEYS: [&str; 15] = [
    "about",
    "format",
    "encoding",
    "delimiter",
    "quotes",
    "header",
    "trailing-delimiter",
    "skip-lines",
    "control-lines",
    "records",
    "blank",
    "recognise",
    "skip",
    "own-names",
    "columns",
];

const ALTERNATIVE_KEYS: [&str; 12] = [
    "from",
    "value",
    "where",
    "blank",
    "until",
    "replace",
    "upper",
    "values",
    "otherwise",
    "date",
    "number",
    "separator",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_reported_with_their_lines() {
        let faults = parse(
            "format = \"xml\"\n\
             delimiter = \"||\"\n\
             colour = 1\n\
             skip = [{ active = 3 }, {}]\n\
             [columns]\n\
             figi = true\n\
             isin = \"ISIN\"\n\
             ticker = { from = \"t\", value = \"x\", lower = true }\n\
             strike = { from = \"s\", number = \"1_000\" }\n\
             maturity = { from = \"m\", date = \"YYYY\" }\n",
        )
        .unwrap_err();
        let lines: Vec<String> =
            faults.iter().map(|fault| format!("{}: {}", fault.line, fault.what)).collect();
        let expected = [
            "1: format must be one of delimited, json-lines, json, parquet",
            "2: `delimiter` must be one byte, not a quote or a line end",
            "3: unknown key `colour`: use one of about, format,",
            "4: active must be a text or an array of texts, not a number",
            "4: each of `skip` needs a condition",
            "6: a column must be a name, a number, a table, or an array of these",
            "7: `isin` is not a canonical column",
            "8: unknown key `lower`: use one of from, value,",
            "8: a column needs either `from` or `value`",
            "9: unknown number form `1_000`: use one of 1,234.5  1.234,5",
            "10: invalid date form `YYYY`: expected one such as %d.%m.%Y",
        ];
        assert_eq!(lines.len(), expected.len(), "{lines:#?}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.starts_with(expected), "{line}\n{expected}");
        }
    }

    #[test]
    fn a_file_without_columns_or_with_invalid_numbers() {
        let faults = |text| parse(text).unwrap_err();
        assert_eq!(faults("")[0].what, "[columns] is missing");
        assert_eq!(faults("\n[columns\n")[0].line, 2);
        for (column, number) in [("\"t\"", "t"), ("0", "0"), ("10001", "10001")] {
            let text = format!("header = false\n[columns]\nfigi = 4\nticker = {column}\n");
            let what =
                format!("without a header columns are numbers from 1 to 10000, not {number}");
            assert_eq!(parse(&text).unwrap_err()[0].what, what);
        }
    }
}
