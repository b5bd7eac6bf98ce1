//! The origin of a setting's value, for errors and `figdex config`.

use std::fmt;

use figdex_io::escaped;

/// The origin of a setting's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The setting is not set.
    Default,
    /// The value follows from other settings, for this reason.
    Derived(String),
    /// The flag of the setting with this name.
    Flag(&'static str),
    /// The environment variable of the setting with this name.
    Variable(&'static str),
    /// A key of the file.
    File {
        /// The file's name, as given.
        file: String,
        /// The key, in dotted form.
        key: String,
    },
}

/// Writes the origin in the operator's spelling, as the beginning of an error.
impl fmt::Display for Provenance {
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
