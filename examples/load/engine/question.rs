//! The questions that both sides answer.

use std::collections::BTreeMap;

use figdex_index::Property;

/// Rows of a page.
pub(super) const PAGE: usize = 100;

/// The properties whose values are counted.
pub(super) const COUNTED: [Property; 4] =
    [Property::ExchCode, Property::Currency, Property::SecurityType2, Property::MarketSecDes];

/// The number of rows that have each value of each property.
pub(super) type Counts = BTreeMap<(&'static str, String), u64>;

/// A question for the rows with all these words and values, and a strike in this interval.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) words: &'static str,
    pub(super) values: &'static [(Property, &'static str)],
    pub(super) strikes: Option<(f64, f64)>,
    /// The minimum ratio of tantivy's time of a count to Figdex's (engine 13.6).
    pub(super) count_at_least: Option<f64>,
}

const ALL: Question =
    Question { name: "all rows", words: "", values: &[], strikes: None, count_at_least: None };

const STRIKES: Option<(f64, f64)> = Some((50.0, 150.0));
const US: (Property, &str) = (Property::ExchCode, "US");
const LONDON: (Property, &str) = (Property::ExchCode, "LN");
const DOLLARS: (Property, &str) = (Property::Currency, "USD");
const OPTION: (Property, &str) = (Property::SecurityType2, "Option");
const PUT: (Property, &str) = (Property::OptionType, "Put");

pub(super) const QUESTIONS: [Question; 12] = [
    ALL,
    Question { name: "a value of many", values: &[OPTION], ..ALL },
    Question { name: "a value of few", values: &[LONDON], ..ALL },
    Question { name: "two values", values: &[OPTION, DOLLARS], count_at_least: Some(25.0), ..ALL },
    Question {
        name: "three values",
        values: &[OPTION, DOLLARS, PUT],
        count_at_least: Some(25.0),
        ..ALL
    },
    Question { name: "an interval", strikes: STRIKES, count_at_least: Some(500.0), ..ALL },
    Question {
        name: "two values and an interval",
        values: &[OPTION, DOLLARS],
        strikes: STRIKES,
        count_at_least: Some(10.0),
        ..ALL
    },
    Question { name: "a common word", words: "calls", ..ALL },
    Question { name: "a word", words: "health", ..ALL },
    Question { name: "a rare word", words: "rqpx", ..ALL },
    Question { name: "two common words", words: "calls us", ..ALL },
    Question { name: "a common word and a value", words: "calls", values: &[US], ..ALL },
];
