//! The settings in force, in the format that `figdex config` prints: TOML for `--config`, with the
//! origin of each value in a comment. The values come from the resolved [`Config`], which the
//! server runs with, not from the texts that were given.

use std::fmt::{self, Display};

use figdex_io::{escaped, is_hidden};
use toml::Value;

use super::table::SETTINGS;
use super::{Config, IdentifierClasses, Provenance, rates_by_key, values};

/// All settings of `figdex serve`. Those of `[identifiers]` and `[limits]` are last, since TOML
/// wants tables at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing(Vec<ListedSetting>);

/// A setting in force.
#[derive(Clone, Debug, PartialEq)]
struct ListedSetting {
    /// The key in the file, in dotted form.
    name: String,
    /// The value, if it is set or has a default.
    value: Option<Value>,
    provenance: Provenance,
    /// A remark. For a setting without a value, it says what applies instead.
    note: Option<&'static str>,
    is_live: bool,
}

/// The names of the settings that a reload finds changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The settings that the reload applies.
    pub(crate) applied: Vec<String>,
    /// The settings that need a restart.
    pub(crate) waiting: Vec<String>,
}

impl Config {
    /// All settings, as they are.
    pub fn listing(&self) -> Listing {
        let listed = |name: String, value, note, is_live| {
            let provenance = self.provenance.get(&name).cloned().unwrap_or(Provenance::Default);
            ListedSetting { name, value, provenance, note, is_live }
        };
        let settings = SETTINGS.iter().map(|setting| {
            let value = (setting.get)(self);
            let note = value.is_none().then_some(setting.note);
            listed(setting.name.to_owned(), value, note, setting.is_live)
        });
        let note = self.settings.rates.is_none().then_some("lifted by no_limits");
        let mut rates = self.rates.clone();
        let rates = rates_by_key(&mut rates).into_iter().map(|(key, rate)| {
            let rate = rate.map_or_else(|| "none".into(), |rate| values::text(&rate));
            listed(key, Some(rate), note, true)
        });
        let classes = IdentifierClasses::listed(self).map(|(key, class)| {
            let listed = listed(key, Some(class), None, false);
            match &listed.provenance {
                Provenance::Default if self.settings.hide_identifiers => ListedSetting {
                    provenance: Provenance::Derived("hide_identifiers is on".to_owned()),
                    ..listed
                },
                _ => listed,
            }
        });
        Listing(settings.chain(classes).chain(rates).collect())
    }
}

impl Listing {
    /// Replaces those settings that a running server can change by the new ones. Returns the names
    /// of all settings that differ.
    pub(crate) fn apply(&mut self, new: Self) -> Changes {
        let mut changes = Changes::default();
        // Both listings have the same settings, in the same order.
        for (old, new) in self.0.iter_mut().zip(new.0) {
            debug_assert_eq!(old.name, new.name);
            if old.value != new.value {
                let names = if new.is_live { &mut changes.applied } else { &mut changes.waiting };
                names.push(new.name.clone());
            }
            if new.is_live {
                *old = new;
            }
        }
        changes
    }
}

impl Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let live = SETTINGS.iter().filter(|setting| setting.is_live).map(|setting| setting.name);
        writeln!(f, "# The settings of figdex in force, each with its origin.")?;
        writeln!(f, "# A running server applies changes of these on SIGHUP: [limits],")?;
        // A few names on each line keep it within 80 columns.
        for names in live.collect::<Vec<_>>().chunks(3) {
            writeln!(f, "# {}", names.join(", "))?;
        }
        writeln!(f, "# Changes of all others need a restart.")?;
        let mut table = "";
        for ListedSetting { name, value, provenance, note, .. } in &self.0 {
            let (path, key) = name.rsplit_once('.').unwrap_or(("", name));
            if path != table {
                writeln!(f, "\n[{path}]")?;
                table = path;
            }
            let note = note.unwrap_or_default();
            match value {
                Some(value) => {
                    // A comment ends with its line, and a file name may contain line ends.
                    let origin = escaped(provenance.to_string());
                    let separator = if note.is_empty() { "" } else { "; " };
                    writeln!(f, "{key} = {}  # {origin}{separator}{note}", quoted(value))?;
                }
                None => writeln!(f, "# {key} is not set: {note}")?,
            }
        }
        Ok(())
    }
}

/// The value as TOML. A text with hidden characters is a basic string with their escapes: the
/// `toml` library leaves some of them as they are, and breaks the line at others.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(is_hidden) => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", escaped(text))
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(quoted).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}
