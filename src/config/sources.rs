//! Where a setting's text comes from, and how its fault is told: flag and variable,
//! which clap has merged already, and then the TOML file.

use std::fmt::Display;
use std::path::Path;

use toml::{Table, Value};

/// Texts to be resolved, and the faults found on the way.
pub(super) struct Sources {
    file: Section,
    pub(super) faults: Vec<String>,
}

/// A table of the file. What is taken out of it is known; what is left is not.
pub(super) struct Section {
    /// The table's own path in dots, and the file's name for people.
    path: String,
    file: String,
    table: Table,
}

impl Sources {
    /// The file is read here; without one, it is empty.
    pub(super) fn new(file: Option<&Path>) -> Self {
        let (mut faults, mut table, mut name) = (Vec::new(), Table::new(), String::new());
        if let Some(file) = file {
            name = file.display().to_string();
            let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
            let parsed = text.and_then(|text| {
                text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().into())
            });
            match parsed {
                Ok(parsed) => table = parsed,
                Err(error) => faults.push(format!("{name}: {error}")),
            }
        }
        Self { file: Section { path: String::new(), file: name, table }, faults }
    }

    /// The value of a setting that has one. `name` is the file's; the flag's and the
    /// variable's follow from it.
    pub(super) fn one<T, E: Display>(
        &mut self,
        name: &str,
        typed: Option<&String>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        // Taken in any case: a key that a flag beats is still a known one.
        let in_file = self.file.text(name, &mut self.faults);
        let (text, origin) = match typed {
            Some(typed) => (typed.clone(), origin(name)),
            None => in_file?,
        };
        self.parsed(&text, &origin, parse)
    }

    /// The values of a setting that has any number; of the file, text or array.
    pub(super) fn many<T, E: Display>(
        &mut self,
        name: &str,
        typed: &[String],
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let (mut texts, mut place) = (typed.to_vec(), origin(name));
        if let Some(value) = self.file.table.remove(name)
            && typed.is_empty()
        {
            place = self.file.origin(name);
            let values = if let Value::Array(values) = value { values } else { vec![value] };
            for value in values {
                match scalar(value) {
                    Some(text) => texts.push(text),
                    None => self.faults.push(format!("{place}: must be an array of texts")),
                }
            }
        }
        texts.iter().filter_map(|text| self.parsed(text, &place, &parse)).collect()
    }

    /// A table of the file.
    pub(super) fn section(&mut self, name: &str) -> Section {
        self.file.section(name, &mut self.faults)
    }

    /// The faults, once everything was asked for.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.file.finish(&mut self.faults);
        self.faults
    }

    fn parsed<T, E: Display>(
        &mut self,
        text: &str,
        origin: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        parse(text).map_err(|fault| self.faults.push(format!("{origin}: {fault}"))).ok()
    }
}

impl Section {
    /// The text of a key, and where it stands.
    pub(super) fn text(&mut self, key: &str, faults: &mut Vec<String>) -> Option<(String, String)> {
        let value = self.table.remove(key)?;
        let origin = self.origin(key);
        let text = scalar(value);
        if text.is_none() {
            faults.push(format!("{origin}: must be one value"));
        }
        Some((text?, origin))
    }

    /// A table in this one; empty when it is not there.
    pub(super) fn section(&mut self, key: &str, faults: &mut Vec<String>) -> Self {
        let path = if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) };
        let table = match self.table.remove(key) {
            None => Table::new(),
            Some(Value::Table(table)) => table,
            Some(_) => {
                faults.push(format!("{}: must be a table", self.origin(key)));
                Table::new()
            }
        };
        Self { path, file: self.file.clone(), table }
    }

    /// Whatever nobody took is a fault: it would be a setting that does nothing.
    pub(super) fn finish(self, faults: &mut Vec<String>) {
        for key in self.table.keys() {
            faults.push(format!("{}: there is no such setting", self.origin(key)));
        }
    }

    fn origin(&self, key: &str) -> String {
        let dot = if self.path.is_empty() { "" } else { "." };
        format!("{}: {}{dot}{key}", self.file, self.path)
    }
}

/// The text of a value that a flag could give as well.
fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

fn origin(name: &str) -> String {
    format!("--{} or FIGDEX_{}", name.replace('_', "-"), name.to_uppercase())
}
