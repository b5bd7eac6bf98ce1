//! Warnings of ignored columns whose names resemble known ones: their values would be lost
//! silently.

use crate::source::DumpReader;

/// The most warnings of a build.
const WARNINGS_MAX: usize = 10;

/// The warnings of ignored columns that resemble known ones, over all inputs.
#[derive(Default)]
pub(super) struct Mistaken {
    warnings: Vec<String>,
    more: usize,
}

impl Mistaken {
    /// Adds the columns of an input after its rows were read.
    pub(super) fn add(&mut self, input: &str, source: &DumpReader) {
        for (name, column) in source.mistaken_columns() {
            if self.warnings.len() == WARNINGS_MAX {
                self.more += 1;
                continue;
            }
            self.warnings.push(format!(
                "{input}: the column {name} is ignored: did you mean {}? rename it, or describe \
                 the dump with --columns",
                column.name()
            ));
        }
    }

    /// The warnings, a line each.
    pub(super) fn warnings(self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| {
            let more = self.more;
            format!(
                "{more} more columns are ignored and resemble known ones: see them with inspect"
            )
        });
        self.warnings.into_iter().chain(more)
    }
}
