//! Formats a number of bytes for people.

use std::fmt;

/// A number of bytes, displayed with a decimal unit: `2.3 GB`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_a_unit() {
        for (bytes, text) in [(999, "999 bytes"), (1_000, "1.0 kB"), (2_345_678_901, "2.3 GB")] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
