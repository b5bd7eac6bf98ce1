//! The sources of a setting: its flag or environment variable, which clap has merged, and the TOML
//! file.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use figdex_io::{escaped, masked};
use toml::{Table, Value};

use super::{Provenance, SettingFlags, values};

/// The flags and the file that settings come from, and the errors found in them so far.
pub(super) struct Sources<'a> {
    flags: &'a SettingFlags,
    /// The name of the file.
    file: String,
    /// The values of the file that no setting has taken yet.
    table: Table,
    /// The keys of all known settings so far, in dotted form.
    known: Vec<String>,
    pub(super) faults: Vec<String>,
    /// The origin of each setting that has a valid value.
    pub(super) provenance: BTreeMap<String, Provenance>,
}

impl<'a> Sources<'a> {
    /// Collects the settings of flags, and reads the file that they name.
    pub(super) fn new(flags: &'a SettingFlags) -> Self {
        let (mut faults, mut table, mut name) = (Vec::new(), Table::new(), String::new());
        if let Some(file) = &flags.config {
            name = file.to_string_lossy().into_owned();
            let parsed = std::fs::read_to_string(file).map_err(unreadable).and_then(|text| {
                text.parse().map_err(|error: toml::de::Error| {
                    // The error quotes a line of the file, and a password in that line may have
                    // spaces.
                    let error = error.to_string();
                    let lines: Vec<_> = error.trim_end().lines().map(masked).collect();
                    format!("{}\n{TOML_HELP}", lines.join("\n"))
                })
            });
            match parsed {
                Ok(parsed) => table = parsed,
                Err(error) => faults.push(format!("{}: {error}", escaped(&name))),
            }
        }
        let (known, provenance) = (Vec::new(), BTreeMap::new());
        Self { flags, file: name, table, known, faults, provenance }
    }

    /// Calls `set` with the text of a setting if it is given; for a list, with each of its texts.
    /// `key` is the setting's name in the file, in dotted form.
    pub(super) fn apply(
        &mut self,
        key: &str,
        is_list: bool,
        mut set: impl FnMut(&str) -> Result<(), String>,
    ) {
        self.known.push(key.to_owned());
        let place = self.place(key);
        // The value is taken out even if a flag overrides it. Otherwise its key would count as
        // unknown.
        let in_file = take(&mut self.table, key).and_then(|value| {
            let texts = match value {
                Value::Array(values) if is_list => values.into_iter().map(values::scalar).collect(),
                value => values::scalar(value).map(|text| vec![text]),
            };
            if texts.is_none() {
                let expected = if is_list { "an array of strings" } else { "a single value" };
                self.faults.push(format!("{place}: expected {expected}"));
            }
            Some((texts?, place))
        });
        let Some((texts, place)) = self.flags.given.get(key).cloned().or(in_file) else { return };
        let faults = texts.iter().filter_map(|text| {
            // An error quotes the text. Its line ends would look like those between errors.
            let fault = set(text).err()?.replace(text, &escaped(text).to_string());
            Some(format!("{place}: {fault}"))
        });
        let count = self.faults.len();
        self.faults.extend(faults);
        if self.faults.len() == count {
            self.provenance.insert(key.to_owned(), place);
        }
    }

    /// Reports a key of the file that names something which cannot be set. `fault` says why.
    pub(super) fn refuse(&mut self, key: &str, fault: &str) {
        if take(&mut self.table, key).is_some() {
            self.faults.push(format!("{}: {fault}", self.place(key)));
        }
    }

    /// The origin of every value, or all errors. Call it after all settings were applied. A key of
    /// the file that no setting has taken is an error, because it would have no effect. A variable
    /// whose name is almost that of a setting is an error too.
    pub(super) fn finish(mut self) -> Result<BTreeMap<String, Provenance>, Vec<String>> {
        let table = std::mem::take(&mut self.table);
        self.find_unknown("", table);
        self.find_misspelt();
        if self.faults.is_empty() { Ok(self.provenance) } else { Err(self.faults) }
    }

    fn find_unknown(&mut self, path: &str, table: Table) {
        for (key, value) in table {
            let key = format!("{path}{key}");
            let inside = format!("{key}.");
            let has_known = self.known.iter().any(|known| known.starts_with(&inside));
            match value {
                Value::Table(table) if has_known => self.find_unknown(&inside, table),
                _ => {
                    // The known keys of the same depth.
                    let depth = key.matches('.').count();
                    let known = self.known.iter().map(|known| {
                        known
                            .match_indices('.')
                            .nth(depth)
                            .map_or(&**known, |(end, _)| &known[..end])
                    });
                    let meant = similar(&key, known);
                    let fault = match meant {
                        _ if has_known => "expected a table".to_owned(),
                        None => "unknown setting".to_owned(),
                        Some(meant) => format!("unknown setting; did you mean {meant}?"),
                    };
                    self.faults.push(format!("{}: {fault}", self.place(&key)));
                }
            }
        }
    }

    /// Finds variables that were probably meant as settings. A variable with a very different name
    /// may be for another program: Kubernetes sets some for a service that is called figdex.
    fn find_misspelt(&mut self) {
        let given = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for name in given {
            let Some(setting) = name.strip_prefix("FIGDEX_").map(str::to_lowercase) else {
                continue;
            };
            let settings = self.known.iter().map(String::as_str).chain(["config"]);
            let variables = settings.filter(|known| !known.contains('.'));
            if let Some(meant) = similar(&setting, variables) {
                let meant = meant.to_uppercase();
                let fault = format!("unknown variable; did you mean FIGDEX_{meant}?");
                self.faults.push(format!("{}: {fault}", escaped(&name)));
            }
        }
    }

    fn place(&self, key: &str) -> Provenance {
        Provenance::File { file: self.file.clone(), key: key.to_owned() }
    }
}

/// The advice for a file of settings that is not TOML.
const TOML_HELP: &str = "expected TOML: a setting on each line, and texts such as addresses in \
                         quotes, as in listen = \"127.0.0.1:8080\"";

fn unreadable(error: std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            format!("{error}: the user that runs figdex must be able to read this file")
        }
        _ => error.to_string(),
    }
}

/// The known name that `given` probably means: one slip away, or two in a long name. Letter case is
/// not a slip, since names of idTypes are in capitals. `None` if `given` is itself known, or is so
/// short that one slip makes another name.
fn similar<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips_max = match given.rsplit('.').next()?.len() {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    };
    let lower = given.to_lowercase();
    let slips = known.map(|name| (strsim::osa_distance(&lower, &name.to_lowercase()), name));
    let (slips, name) = slips.min()?;
    (slips <= slips_max && name != given).then_some(name)
}

/// Takes the value of a dotted key out of a table.
fn take(table: &mut Table, key: &str) -> Option<Value> {
    match key.split_once('.') {
        None => table.remove(key),
        Some((first, rest)) => take(table.get_mut(first)?.as_table_mut()?, rest),
    }
}
