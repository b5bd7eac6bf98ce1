//! The limit of rejected rows (`--max-rejects`). If more rows are rejected, the dumps count as
//! broken.

use std::fmt;
use std::str::FromStr;

/// The most rejected rows of a build that still publishes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxRejects {
    /// This many rows of all inputs.
    Rows(u64),
    /// This percentage of the rows of all inputs.
    Percent(f64),
}

impl MaxRejects {
    /// No row may be rejected (`--strict`).
    pub const NONE: Self = Self::Rows(0);

    pub(super) fn allows(self, rejected: u64, read: u64) -> bool {
        match self {
            Self::Rows(rows) => rejected <= rows,
            Self::Percent(percent) => rejected as f64 <= read as f64 * percent / 100.0,
        }
    }
}

impl Default for MaxRejects {
    fn default() -> Self {
        Self::Percent(5.0)
    }
}

impl FromStr for MaxRejects {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("invalid limit {text:?}: expected a number of rows, or a percentage such as 5%")
        };
        match text.strip_suffix('%') {
            Some(percent) => match percent.parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self::Percent(percent)),
                _ => Err(wrong()),
            },
            None => text.parse().map(Self::Rows).map_err(|_| wrong()),
        }
    }
}

impl fmt::Display for MaxRejects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => write!(f, "{rows}"),
            Self::Percent(percent) => write!(f, "{percent} %"),
        }
    }
}
