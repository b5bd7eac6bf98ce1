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
    /// Number of conflicts whose values differ in more than their writing.
    pub count: u64,
    /// Number of other conflicts: the values differ only in letter case, punctuation, blanks or the
    /// legal form of a company.
    pub cosmetic: u64,
    /// The first few of those in `count`, in FIGI order.
    pub samples: Vec<Sample>,
}

/// The place in a dump from which a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The number of the input, from 0.
    pub(crate) input: u32,
    /// The line, from 1; `u32::MAX` for that line and all later ones, which are not printed.
    pub(crate) line: u32,
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
    /// The line of the input, from 1; in a Parquet file the number of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// The name of an input and a line in it.
type Place<'a> = (&'a str, Option<u64>);

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

    /// Adds a conflict of two values, each with its place.
    pub(crate) fn add(
        &mut self,
        column: Column,
        figi: Figi,
        kept: (&dyn Display, Option<Place<'_>>),
        lost: (&dyn Display, Option<Place<'_>>),
    ) {
        let conflict = self.columns.entry(column).or_default();
        let [kept, lost] = [kept, lost].map(|(value, place)| (value.to_string(), place));
        if column.is_text() && plain(&kept.0) == plain(&lost.0) {
            conflict.cosmetic += 1;
            return;
        }
        conflict.count += 1;
        if conflict.samples.len() < SAMPLES_MAX {
            let [kept, lost] = [kept, lost].map(|(value, place)| InputValue {
                value: cut(&value),
                input: place.map(|(input, _)| input.to_owned()),
                line: place.and_then(|(_, line)| line),
            });
            conflict.samples.push(Sample { figi: figi.to_string(), kept, lost });
        }
    }

    /// The conflicts by column.
    pub(crate) fn finish(self) -> BTreeMap<Column, Conflict> {
        self.columns
    }
}

/// Words of the legal form of a company, in lower case and without punctuation.
const LEGAL_FORMS: [&str; 28] = [
    "ab",
    "ag",
    "asa",
    "bhd",
    "bv",
    "co",
    "company",
    "corp",
    "corporation",
    "gmbh",
    "inc",
    "incorporated",
    "kk",
    "limited",
    "llc",
    "lp",
    "ltd",
    "nv",
    "oyj",
    "pcl",
    "pjsc",
    "plc",
    "sa",
    "sab",
    "se",
    "spa",
    "srl",
    "tbk",
];

/// A text without letter case, blanks, punctuation and words of a legal form. A text that is nothing
/// else keeps these words.
fn plain(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '-' | '/' | ',');
    let words = text.split(is_end).map(|word| {
        let word = word.chars().filter(|c| c.is_alphanumeric());
        word.flat_map(char::to_lowercase).collect::<String>()
    });
    let words: Vec<String> = words.collect();
    let named = words.iter().filter(|word| !LEGAL_FORMS.contains(&word.as_str()));
    let plain: String = named.map(String::as_str).collect();
    if plain.is_empty() { words.concat() } else { plain }
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
    first: Origin,
    /// The fields whose value is from a later row than the first, and the origin of that row.
    later: Vec<(&'static str, Origin)>,
}

impl Union {
    /// Begins with the first row.
    pub(crate) fn new(first: Origin, instrument: Instrument) -> Self {
        Self { instrument, first, later: Vec::new() }
    }

    /// Merges a later row, whose values win, and adds the conflicts.
    pub(crate) fn update(&mut self, origin: Origin, later: Instrument, conflicts: &mut Conflicts) {
        let Self { instrument, first, later: origins } = self;
        let figi = instrument.figi;
        let inputs = Arc::clone(&conflicts.inputs);
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
    use figdex_index::Attribute;

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
        let mut union = Union::new(Origin::new(0, 2), named(None, Some("IBM")));
        union.update(Origin::new(1, 3), named(Some("OLD"), Some("IBM")), &mut conflicts);
        union.update(Origin::new(2, 4), named(Some("NEW"), None), &mut conflicts);
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

    /// Other writings of the same are counted apart, and never become examples.
    #[test]
    fn cosmetic_differences() {
        for (one, other, is_cosmetic) in [
            ("APPLE INC", "Apple Inc.", true),
            ("APPLE INC", "Apple", true),
            ("AMAZON.COM INC", "Amazon com, Inc.", true),
            ("Eni S.p.A.", "ENI SPA", true),
            ("AT&T INC", "AT & T Inc", true),
            ("ALPHABET INC-CL A", "Alphabet Inc CL-A", true),
            ("ALPHABET INC-CL A", "ALPHABET INC-CL C", false),
            ("CO", "INC", false),
            ("IBM CORP", "INTL BUSINESS MACHINES", false),
            ("-", "", true),
        ] {
            let mut conflicts = Conflicts::new(vec!["a".into()]);
            let mut union = Union::new(Origin::new(0, 2), named(Some(one), None));
            union.update(Origin::new(0, 3), named(Some(other), None), &mut conflicts);
            let conflict = &conflicts.finish()[&Column::Attribute(Attribute::Name)];
            let counts = (conflict.count, conflict.cosmetic, conflict.samples.len());
            assert_eq!(counts, if is_cosmetic { (0, 1, 0) } else { (1, 0, 1) }, "{one} {other}");
        }
        // In numbers a point counts.
        let mut conflicts = Conflicts::new(Vec::new());
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        conflicts.add(Column::Attribute(Attribute::Strike), figi, (&1.5, None), (&15, None));
        assert_eq!(conflicts.finish()[&Column::Attribute(Attribute::Strike)].count, 1);
    }

    #[test]
    fn examples_are_few_and_short() {
        let mut conflicts = Conflicts::new(vec!["a".into()]);
        let mut union = Union::new(Origin::new(0, 2), named(Some(""), None));
        for round in 0..10 {
            let name = round.to_string().repeat(4000);
            union.update(Origin::new(0, 5), named(Some(&name), None), &mut conflicts);
        }
        let conflict = &conflicts.finish()[&Column::Attribute(Attribute::Name)];
        assert_eq!((conflict.count, conflict.samples.len()), (10, SAMPLES_MAX));
        assert!(
            conflict.samples.iter().all(|s| s.kept.value.chars().count() <= VALUE_CHARS_MAX + 1)
        );
    }
}
