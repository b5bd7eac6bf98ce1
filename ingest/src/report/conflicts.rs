//! Conflicts: rows of one instrument with different values in one column. All are counted by
//! column, and the first few of each column are kept as examples.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use figdex_index::{Change, Figi, Instrument};
use serde::Serialize;

use crate::row::Column;

/// The most examples per column.
const SAMPLES_MAX: usize = 3;

/// The longest value of an example, in characters. A longer one is cut.
const VALUE_CHARS_MAX: usize = 100;

/// The conflicts of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Number of conflicts.
    pub count: u64,
    /// The first few, in FIGI order.
    pub samples: Vec<Sample>,
}

/// One instrument of which two rows have different values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The instrument's FIGI.
    pub figi: String,
    /// The value that was kept.
    pub kept: InputValue,
    /// The value that was not.
    pub lost: InputValue,
}

/// A value and the input that gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputValue {
    /// The value; several values are joined by `;`. A long text is cut.
    pub value: String,
    /// The name of the input; `None` for the instrument's own value where an `--enrich` input
    /// differs from it.
    pub input: Option<String>,
}

/// Collects the conflicts of a build.
pub(crate) struct Conflicts {
    inputs: Arc<[String]>,
    columns: BTreeMap<Column, Conflict>,
}

impl Conflicts {
    /// No conflicts yet. `inputs` are the names of the inputs.
    pub(crate) fn new(inputs: Vec<String>) -> Self {
        Self { inputs: inputs.into(), columns: BTreeMap::new() }
    }

    /// Adds a conflict. The values, each with the name of its input, are formatted only if the
    /// conflict is kept as an example.
    pub(crate) fn add(
        &mut self,
        column: Column,
        figi: Figi,
        kept: (&dyn Display, Option<&str>),
        lost: (&dyn Display, Option<&str>),
    ) {
        let conflict = self.columns.entry(column).or_default();
        conflict.count += 1;
        if conflict.samples.len() < SAMPLES_MAX {
            let [kept, lost] = [kept, lost].map(|(value, input)| InputValue {
                value: cut(&value.to_string()),
                input: input.map(ToOwned::to_owned),
            });
            conflict.samples.push(Sample { figi: figi.to_string(), kept, lost });
        }
    }

    /// The conflicts by column.
    pub(crate) fn finish(self) -> BTreeMap<Column, Conflict> {
        self.columns
    }
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// An instrument that is being merged from its rows, with the input that each value came from.
pub(crate) struct Union {
    /// The rows so far, merged.
    pub(crate) instrument: Instrument,
    first_input: usize,
    /// The fields whose value is from a later input than the first, and that input.
    later_inputs: Vec<(&'static str, usize)>,
}

impl Union {
    /// Begins with the first row. `input` is the number of its input, from 0.
    pub(crate) fn new(input: usize, instrument: Instrument) -> Self {
        Self { instrument, first_input: input, later_inputs: Vec::new() }
    }

    /// Merges a later row, whose values win, and adds the conflicts.
    pub(crate) fn update(&mut self, input: usize, later: Instrument, conflicts: &mut Conflicts) {
        let Self { instrument, first_input, later_inputs } = self;
        let figi = instrument.figi;
        let inputs = Arc::clone(&conflicts.inputs);
        instrument.update(later, |Change { field, old, new }| {
            let earlier = match later_inputs.iter_mut().find(|(name, _)| *name == field) {
                Some((_, earlier)) => std::mem::replace(earlier, input),
                None => {
                    later_inputs.push((field, input));
                    *first_input
                }
            };
            if let Some(old) = old {
                let column = Column::from_name(field).expect("every field is a column");
                let (kept, lost) = ((new, Some(&*inputs[input])), (old, Some(&*inputs[earlier])));
                conflicts.add(column, figi, kept, lost);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut conflicts = Conflicts::new(["a", "b", "c"].map(String::from).to_vec());
        let mut union = Union::new(0, named(None, Some("IBM")));
        union.update(1, named(Some("OLD"), Some("IBM")), &mut conflicts);
        union.update(2, named(Some("NEW"), None), &mut conflicts);
        let value = |value: &str, input: &str| InputValue {
            value: value.into(),
            input: Some(input.into()),
        };
        let columns = conflicts.finish();
        assert_eq!(
            columns.keys().copied().collect::<Vec<_>>(),
            [Column::Name],
            "equal values are not a conflict"
        );
        let sample = Sample {
            figi: "BBG000BLNNH6".into(),
            kept: value("NEW", "c"),
            lost: value("OLD", "b"),
        };
        assert_eq!(columns[&Column::Name], Conflict { count: 1, samples: vec![sample] });
    }

    #[test]
    fn examples_are_few_and_short() {
        let mut conflicts = Conflicts::new(vec!["a".into()]);
        let mut union = Union::new(0, named(Some(""), None));
        for round in 0..10 {
            let name = round.to_string().repeat(4000);
            union.update(0, named(Some(&name), None), &mut conflicts);
        }
        let conflict = &conflicts.finish()[&Column::Name];
        assert_eq!((conflict.count, conflict.samples.len()), (10, SAMPLES_MAX));
        assert!(
            conflict.samples.iter().all(|s| s.kept.value.chars().count() <= VALUE_CHARS_MAX + 1)
        );
    }
}
