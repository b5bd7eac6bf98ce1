//! Conflicts: rows of one instrument with different values in one column. All are counted by
//! column, and the first few of each column are kept as examples.

use std::collections::BTreeMap;
use std::fmt::Display;

use figdex_index::Figi;
use serde::Serialize;

use crate::row::Column;

/// The most examples per column.
const SAMPLES_MAX: usize = 3;

/// The longest value of an example, in characters. A longer one is cut.
const VALUE_CHARS_MAX: usize = 100;

/// The conflicts of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Number of conflicts whose values differ in more than spelling.
    pub count: u64,
    /// Number of other conflicts: the values differ only in letter case, punctuation, blanks or the
    /// legal form of a company.
    pub cosmetic: u64,
    /// The first few of those in `count`, in FIGI order.
    pub samples: Vec<Sample>,
}

/// One instrument whose rows have different values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The instrument's FIGI.
    pub figi: String,
    /// The value that was kept.
    pub kept: InputValue,
    /// The value that was discarded.
    pub lost: InputValue,
}

/// A value and the input that gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputValue {
    /// The value; several values are joined by `;`. A long text is cut.
    pub value: String,
    /// The name of the input; `None` for the instrument's own value when an `--enrich` input
    /// differs from it.
    pub input: Option<String>,
    /// The line of the input, from 1; in a Parquet file the number of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// Collects the conflicts of a build.
#[derive(Default)]
pub(crate) struct Conflicts {
    columns: BTreeMap<Column, Conflict>,
}

/// A value, and the name of the input and the line that gave it.
pub(crate) type Given<'a> = (&'a dyn Display, Option<(&'a str, Option<u64>)>);

impl Conflicts {
    /// Adds a conflict of two values of one instrument.
    pub(crate) fn add(&mut self, column: Column, figi: Figi, kept: Given<'_>, lost: Given<'_>) {
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

/// A text without letter case, blanks, punctuation and words of a legal form. A text that has only
/// such words keeps them.
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

#[cfg(test)]
mod tests {
    use figdex_index::Attribute;

    use super::*;

    /// The conflict of a column, from pairs of a value that was kept and one that was lost.
    fn conflict<T: Display>(column: Column, values: &[(T, T)]) -> Conflict {
        let mut conflicts = Conflicts::default();
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        for (kept, lost) in values {
            conflicts.add(column, figi, (kept, None), (lost, None));
        }
        conflicts.finish().remove(&column).unwrap()
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
            let conflict = conflict(Column::Attribute(Attribute::Name), &[(other, one)]);
            let counts = (conflict.count, conflict.cosmetic, conflict.samples.len());
            assert_eq!(counts, if is_cosmetic { (0, 1, 0) } else { (1, 0, 1) }, "{one} {other}");
        }
        // In numbers a point counts.
        assert_eq!(conflict(Column::Attribute(Attribute::Strike), &[(1.5, 15.0)]).count, 1);
    }

    #[test]
    fn examples_are_few_and_short() {
        let names = (0..10).map(|round| ["1", "2"].map(|digit| digit.repeat(4000 + round)));
        let names: Vec<_> = names.map(|[kept, lost]| (kept, lost)).collect();
        let conflict = conflict(Column::Attribute(Attribute::Name), &names);
        assert_eq!((conflict.count, conflict.samples.len()), (10, SAMPLES_MAX));
        assert!(
            conflict.samples.iter().all(|s| s.kept.value.chars().count() <= VALUE_CHARS_MAX + 1)
        );
    }
}
