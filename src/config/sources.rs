//! Where a setting's text comes from, and how its fault is told: its flag, its
//! environment variable (clap puts the two together, and says which it was), or the
//! TOML file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::path::Path;

use figdex_index::escaped;
use toml::{Table, Value};

/// Where the value of a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Nobody said anything.
    Default,
    /// It follows from another setting, for that reason.
    Derived(String),
    /// The flag of the setting with that name.
    Flag(String),
    /// Its environment variable.
    Variable(String),
    /// A key of the file.
    File {
        /// The file's name, as given.
        file: String,
        /// The key, with those of its tables before it in dots.
        key: String,
    },
}

/// As the operator wrote it, so that a fault can begin with it.
impl Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Derived(reason) => write!(f, "derived: {reason}"),
            Self::Flag(name) => write!(f, "--{}", name.replace('_', "-")),
            Self::Variable(name) => write!(f, "FIGDEX_{}", name.to_uppercase()),
            Self::File { file, key } => write!(f, "{}: {}", escaped(file), escaped(key)),
        }
    }
}

/// Texts to be resolved, and the faults found on the way.
pub(super) struct Sources {
    file: Section,
    from_environment: BTreeSet<String>,
    pub(super) faults: Vec<String>,
    /// Of each setting that somebody gave a value.
    pub(super) provenance: BTreeMap<String, Provenance>,
}

/// A table of the file. What is taken out of it is known; what is left is not.
pub(super) struct Section {
    /// The table's own path in dots, and the file's name for people.
    path: String,
    file: String,
    table: Table,
}

impl Sources {
    /// The file is read here; without one, it is empty. `from_environment` has the names
    /// of what was typed in no flag but found in the environment.
    pub(super) fn new(file: Option<&Path>, from_environment: &BTreeSet<String>) -> Self {
        let (mut faults, mut table, mut name) = (Vec::new(), Table::new(), String::new());
        if let Some(file) = file {
            name = file.to_string_lossy().into_owned();
            let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
            let parsed = text.and_then(|text| {
                text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().into())
            });
            match parsed {
                Ok(parsed) => table = parsed,
                Err(error) => faults.push(format!("{}: {error}", escaped(&name))),
            }
        }
        Self {
            file: Section { path: String::new(), file: name, table },
            from_environment: from_environment.clone(),
            faults,
            provenance: BTreeMap::new(),
        }
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
        let (text, place) = match typed {
            Some(typed) => (typed.clone(), self.typed(name)),
            None => in_file?,
        };
        self.provenance.insert(name.to_owned(), place.clone());
        self.parsed(&text, &place, parse)
    }

    /// The values of a setting that has any number; of the file, text or array.
    pub(super) fn many<T, E: Display>(
        &mut self,
        name: &str,
        typed: &[String],
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let (mut texts, mut place) = (typed.to_vec(), self.typed(name));
        let in_file = self.file.table.remove(name);
        if typed.is_empty() {
            let Some(value) = in_file else { return Vec::new() };
            place = self.file.place(name);
            let values = if let Value::Array(values) = value { values } else { vec![value] };
            for value in values {
                match scalar(value) {
                    Some(text) => texts.push(text),
                    None => self.faults.push(format!("{place}: must be an array of texts")),
                }
            }
        }
        self.provenance.insert(name.to_owned(), place.clone());
        texts.iter().filter_map(|text| self.parsed(text, &place, &parse)).collect()
    }

    /// A table of the file.
    pub(super) fn section(&mut self, name: &str) -> Section {
        self.file.section(name, &mut self.faults)
    }

    /// The provenance of every value, or the faults, once everything was asked for.
    pub(super) fn finish(mut self) -> Result<BTreeMap<String, Provenance>, Vec<String>> {
        self.file.finish(&mut self.faults);
        if self.faults.is_empty() { Ok(self.provenance) } else { Err(self.faults) }
    }

    /// The place of what clap found.
    fn typed(&self, name: &str) -> Provenance {
        let is_variable = self.from_environment.contains(name);
        let place = if is_variable { Provenance::Variable } else { Provenance::Flag };
        place(name.to_owned())
    }

    fn parsed<T, E: Display>(
        &mut self,
        text: &str,
        place: &Provenance,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let fault = |fault: E| {
            // A fault quotes the text, whose line ends would look like those of faults.
            let fault = fault.to_string().replace(text, &escaped(text).to_string());
            format!("{place}: {fault}")
        };
        parse(text).map_err(|error| self.faults.push(fault(error))).ok()
    }
}

impl Section {
    /// The text of a key, and where it stands.
    pub(super) fn text(
        &mut self,
        key: &str,
        faults: &mut Vec<String>,
    ) -> Option<(String, Provenance)> {
        let value = self.table.remove(key)?;
        let place = self.place(key);
        let text = scalar(value);
        if text.is_none() {
            faults.push(format!("{place}: must be one value"));
        }
        Some((text?, place))
    }

    /// A table in this one; empty when it is not there.
    pub(super) fn section(&mut self, key: &str, faults: &mut Vec<String>) -> Self {
        let table = match self.table.remove(key) {
            None => Table::new(),
            Some(Value::Table(table)) => table,
            Some(_) => {
                faults.push(format!("{}: must be a table", self.place(key)));
                Table::new()
            }
        };
        Self { path: self.name(key), file: self.file.clone(), table }
    }

    /// Whatever nobody took is a fault: it would be a setting that does nothing.
    pub(super) fn finish(self, faults: &mut Vec<String>) {
        for key in self.table.keys() {
            faults.push(format!("{}: there is no such setting", self.place(key)));
        }
    }

    /// A key's own name in dots.
    pub(super) fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn place(&self, key: &str) -> Provenance {
        Provenance::File { file: self.file.clone(), key: self.name(key) }
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
