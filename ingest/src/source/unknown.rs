//! The columns of a dump that its format does not know. A dump may have any number of them, so only
//! the first ones are remembered.

use std::collections::HashSet;

/// The most columns that are remembered.
const COLUMNS_MAX: usize = 1_000;

/// The longest name, in characters. A longer one is cut.
const NAME_CHARS_MAX: usize = 200;

#[derive(Default)]
pub(super) struct UnknownColumns {
    names: Vec<String>,
    known: HashSet<String>,
}

impl UnknownColumns {
    /// Remembers a column, once.
    pub(super) fn add(&mut self, name: &str) {
        if self.names.len() == COLUMNS_MAX {
            return;
        }
        let end = name.char_indices().nth(NAME_CHARS_MAX).map_or(name.len(), |(end, _)| end);
        let name = &name[..end];
        if !self.known.contains(name) {
            self.known.insert(name.to_owned());
            self.names.push(name.to_owned());
        }
    }

    /// Their names, in the order of the dump.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_remembered_once_and_not_all() {
        let mut unknown = UnknownColumns::default();
        for number in 0..5_000 {
            unknown.add(&(number / 2).to_string());
        }
        assert_eq!(unknown.names().len(), COLUMNS_MAX);
        assert_eq!(unknown.names()[..2], ["0", "1"]);
        let mut unknown = UnknownColumns::default();
        unknown.add(&"é".repeat(5_000));
        assert_eq!(unknown.names(), ["é".repeat(NAME_CHARS_MAX)]);
    }
}
