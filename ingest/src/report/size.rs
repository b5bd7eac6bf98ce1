//! (head)

use std::fmt;

use crate::error::Result;

/// Bytes as a person reads them.
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut number, mut unit) = (self.0 as f64, "bytes");
        for larger in ["kB", "MB", "GB", "TB"] {
            if number >= 1000.0 {
                (number, unit) = (number / 1000.0, larger);
            }
        }
        if unit == "bytes" { write!(f, "{number} {unit}") } else { write!(f, "{number:.1} {unit}") }
    }
}
