//! Reads values of a TOML document as the expected types. A value of another type adds a fault
//! with its line, and reading continues, so that all faults are found.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

/// A fault of a columns file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The message.
    pub(crate) what: String,
}

/// The text of a document, and the faults so far.
pub(super) struct Walk<'a> {
    text: &'a str,
    faults: Vec<Fault>,
}

/// A value of the document, with its place.
pub(super) type TomlValue<'a> = Spanned<DeValue<'a>>;

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, faults: Vec::new() }
    }

    pub(super) fn fault(&mut self, span: Range<usize>, what: impl Into<String>) {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        self.faults.push(Fault { line, what: what.into() });
    }

    /// All faults, in the order of their lines.
    pub(super) fn into_faults(mut self) -> Vec<Fault> {
        self.faults.sort_by_key(|fault| fault.line);
        self.faults
    }

    /// The value as the expected type, which `what` names. If it has another type, adds a fault.
    fn expect<T>(
        &mut self,
        value: &TomlValue<'_>,
        name: &str,
        what: &str,
        found: Option<T>,
    ) -> Option<T> {
        if found.is_none() {
            self.fault(value.span(), format!("{name} must be {what}, not {}", kind(value)));
        }
        found
    }

    pub(super) fn text_of(&mut self, value: &TomlValue<'_>, name: &str) -> Option<String> {
        self.expect(value, name, "a text", value.get_ref().as_str().map(String::from))
    }

    /// A text, or an array of texts.
    pub(super) fn texts_of(&mut self, value: &TomlValue<'_>, name: &str) -> Vec<String> {
        if let DeValue::Array(texts) = value.get_ref() {
            return texts.iter().filter_map(|text| self.text_of(text, name)).collect();
        }
        let text = value.get_ref().as_str().map(String::from);
        Vec::from_iter(self.expect(value, name, "a text or an array of texts", text))
    }

    pub(super) fn bool_of(&mut self, value: &TomlValue<'_>, name: &str) -> bool {
        self.expect(value, name, "true or false", value.get_ref().as_bool()).unwrap_or_default()
    }

    pub(super) fn count_of(&mut self, value: &TomlValue<'_>, name: &str) -> u64 {
        let digits = value.get_ref().as_integer().map(DeInteger::as_str);
        digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| {
            self.fault(value.span(), format!("{name} must be a number of lines"));
            0
        })
    }

    pub(super) fn word_of<T: Copy>(
        &mut self,
        value: &TomlValue<'_>,
        name: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text_of(value, name)?;
        let known = words.iter().find(|(word, _)| *word == text);
        if known.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.fault(value.span(), format!("{name} must be one of {}", words.join(", ")));
        }
        known.map(|(_, meaning)| *meaning)
    }

    pub(super) fn table_of<'v, 'i>(
        &mut self,
        value: &'v TomlValue<'i>,
        name: &str,
    ) -> Option<&'v DeTable<'i>> {
        self.expect(value, name, "a table", value.get_ref().as_table())
    }

    pub(super) fn array_of<'v, 'i>(
        &mut self,
        value: &'v TomlValue<'i>,
        name: &str,
    ) -> Option<&'v DeArray<'i>> {
        self.expect(value, name, "an array", value.get_ref().as_array())
    }
}

/// The message about an unknown key.
pub(super) fn unknown(key: &str, known: &[&str]) -> String {
    format!("unknown key `{key}`: use one of {}", known.join(", "))
}

/// A column of the dump: its name or its number.
pub(super) fn dump_column(value: &TomlValue<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(name) if !name.is_empty() => Some(name.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn kind(value: &TomlValue<'_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
