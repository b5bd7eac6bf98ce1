//! The rule of merging rows: of two rows of one FIGI the values of the later one win, and each
//! value keeps its origin, so that a conflict can name both.

use figdex_index::{Change, Instrument};

use crate::report::conflicts::Conflicts;
use crate::row::Column;

/// The place of a value in a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The number of the input, from 0.
    pub(super) input: u32,
    /// The line, from 1. `u32::MAX` stands for that line and all later ones, and is not printed.
    pub(super) line: u32,
}

impl Origin {
    pub(crate) fn new(input: usize, line: u64) -> Self {
        let input = u32::try_from(input).expect("fewer than 2^32 inputs fit on a command line");
        Self { input, line: u32::try_from(line).unwrap_or(u32::MAX) }
    }

    fn line(self) -> Option<u64> {
        (self.line < u32::MAX).then_some(u64::from(self.line))
    }
}

/// An instrument while its rows are merged, with the origin of each value.
pub(super) struct Union {
    /// The rows so far, merged.
    pub(super) instrument: Instrument,
    first: Origin,
    /// The fields whose value comes from a later row than the first, and the origin of that row.
    later: Vec<(&'static str, Origin)>,
}

impl Union {
    /// Begins with the first row.
    pub(super) fn new(first: Origin, instrument: Instrument) -> Self {
        Self { instrument, first, later: Vec::new() }
    }

    /// Merges a later row, whose values win, and adds the conflicts. `inputs` are the names of the
    /// inputs.
    pub(super) fn update(
        &mut self,
        origin: Origin,
        later: Instrument,
        inputs: &[String],
        conflicts: &mut Conflicts,
    ) {
        let Self { instrument, first, later: origins } = self;
        let figi = instrument.figi;
        instrument.update(later, |Change { field, old, new }| {
            let earlier = match origins.iter_mut().find(|(name, _)| *name == field) {
                Some((_, earlier)) => std::mem::replace(earlier, origin),
                None => {
                    origins.push((field, origin));
                    *first
                }
            };
            if let Some(old) = old {
                let column = Column::from_name(field).expect("every field is a column");
                let place = |origin: Origin| Some((&*inputs[origin.input as usize], origin.line()));
                conflicts.add(column, figi, (new, place(origin)), (old, place(earlier)));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::{Attribute, Figi};

    use super::*;
    use crate::report::conflicts::{Conflict, InputValue, Sample};

    fn named(name: Option<&str>, ticker: Option<&str>) -> Instrument {
        Instrument {
            name: name.map(Into::into),
            ticker: ticker.map(Into::into),
            ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
        }
    }

    /// The lost value is attributed to the input that gave it, not to the first input.
    #[test]
    fn a_conflict_names_both_inputs() {
        let inputs = ["a", "b", "c"].map(String::from);
        let mut conflicts = Conflicts::default();
        let mut union = Union::new(Origin::new(0, 2), named(None, Some("IBM")));
        for (place, name, ticker) in [(1, Some("OLD"), Some("IBM")), (2, Some("NEW"), None)] {
            let origin = Origin::new(place, place as u64 + 2);
            union.update(origin, named(name, ticker), &inputs, &mut conflicts);
        }
        let value = |value: &str, input: &str, line: u64| InputValue {
            value: value.into(),
            input: Some(input.into()),
            line: Some(line),
        };
        let columns = conflicts.finish();
        assert_eq!(
            columns.keys().copied().collect::<Vec<_>>(),
            [Column::Attribute(Attribute::Name)],
            "equal values are not a conflict"
        );
        let sample = Sample {
            figi: "BBG000BLNNH6".into(),
            kept: value("NEW", "c", 4),
            lost: value("OLD", "b", 3),
        };
        assert_eq!(
            columns[&Column::Attribute(Attribute::Name)],
            Conflict { count: 1, cosmetic: 0, samples: vec![sample] }
        );
    }
}
