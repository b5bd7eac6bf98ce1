//! Where sources disagree: rows of one instrument that give one field different
//! values. Every conflict is counted under its column; of each column a few are
//! kept whole, so that a person sees what kind of difference it is.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use figdex_index::{Change, Figi, Instrument};
use serde::Serialize;

use crate::row::Column;

/// So many conflicts of a column are kept whole.
const SAMPLES_MAX: usize = 3;

/// A kept value is cut to so many characters.
const VALUE_CHARS_MAX: usize = 100;

/// The conflicts in one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// How many there are.
    pub count: u64,
    /// The first of them, in FIGI order.
    pub samples: Vec<Sample>,
}

/// One instrument of which two sources say different things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The instrument's FIGI.
    pub figi: String,
    /// The value that stands.
    pub kept: InputValue,
    /// The value that was given up.
    pub lost: InputValue,
}

/// What a source says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputValue {
    /// The value; several are joined by `;`. A long one is cut.
    pub value: String,
    /// The input that says so; `None` for what stood when an `--enrich` input
    /// disagreed.
    pub input: Option<String>,
}

/// Counts conflicts.
pub(crate) struct Conflicts {
    inputs: Arc<[String]>,
    columns: BTreeMap<Column, Conflict>,
}

impl Conflicts {
    /// None yet, between inputs of these names.
    pub(crate) fn new(inputs: Vec<String>) -> Self {
        Self { inputs: inputs.into(), columns: BTreeMap::new() }
    }

    /// Counts one; the values are looked at only while samples are wanted.
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

    /// The conflicts of each column.
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

/// An instrument on its way from its rows, which remembers who said what: of
/// each field the input whose value stands.
pub(crate) struct Union {
    /// What the rows together say.
    pub(crate) instrument: Instrument,
    first_input: usize,
    /// The fields that are not the first row's, and whose they are.
    later_inputs: Vec<(&'static str, usize)>,
}

impl Union {
    /// The first row, and the place of the input that it came from.
    pub(crate) fn new(input: usize, instrument: Instrument) -> Self {
        Self { instrument, first_input: input, later_inputs: Vec::new() }
    }

    /// Takes in a later row.
    pub(crate) fn update(&mut self, input: usize, later: Instrument, conflicts: &mut Conflicts) {
        let Self { instrument, first_input, later_inputs } = self;
        let figi = instrument.figi;
        let inputs = Arc::clone(&conflicts.inputs);
        instrument.update(later, |Change { field, old, new }| {
            let said = match later_inputs.iter_mut().find(|(name, _)| *name == field) {
                Some((_, said)) => std::mem::replace(said, input),
                None => {
                    later_inputs.push((field, input));
                    *first_input
                }
            };
            if let Some(old) = old {
                let column = Column::from_name(field).expect("every field is a column");
                let (kept, lost) = ((new, Some(&*inputs[input])), (old, Some(&*inputs[said])));
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

    /// A value is traced to the input that gave it, though another input was first.
    #[test]
    fn a_conflict_names_both_inputs() {
        let mut conflicts = Conflicts::new(["a", "b", "c"].map(String::from).to_vec());
        let mut union = Union::new(0, named(None, Some("IBM")));
        union.update(1, named(Some("OLD"), Some("IBM")), &mut conflicts);
        union.update(2, named(Some("NEW"), None), &mut conflicts);
        let said = |value: &str, input: &str| InputValue {
            value: value.into(),
            input: Some(input.into()),
        };
        let columns = conflicts.finish();
        assert_eq!(
            columns.keys().copied().collect::<Vec<_>>(),
            [Column::Name],
            "IBM is no conflict"
        );
        let sample =
            Sample { figi: "BBG000BLNNH6".into(), kept: said("NEW", "c"), lost: said("OLD", "b") };
        assert_eq!(columns[&Column::Name], Conflict { count: 1, samples: vec![sample] });
    }

    #[test]
    fn memory_is_bounded() {
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
