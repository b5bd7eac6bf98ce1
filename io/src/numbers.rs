//! Numbers for people: digits in groups, and bytes with a unit.

use std::fmt;

/// The number with its digits in groups of three: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes, displayed with a decimal unit: `2.3 GB`.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

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
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")]
        {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn sizes_are_rounded_to_a_unit() {
        for (bytes, text) in [(999, "999 bytes"), (1_000, "1.0 kB"), (2_345_678_901, "2.3 GB")] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
