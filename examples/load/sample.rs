//! A sample of the identifiers and words of an index, from one pass over all its instruments. The
//! same index always gives the same sample.
//!
//! The number of rows of each value is counted, which needs memory. If there are many values, only
//! those with enough zeros at the end of their hash are counted. Unlisted equities are left out,
//! because jobs do not find them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use figdex_index::{Catalogue, EQUITY, IdType, Instrument, Property};

use crate::mixes::{Ask, Frequency, Kind};

/// The maximum number of values of a kind that are counted.
const VALUES_MAX: usize = 1 << 17;

/// The maximum number of phrases that are counted.
const PHRASES_MAX: usize = 1 << 20;

/// The number of phrases that are called common.
const COMMON_PHRASES: usize = 16;

/// The minimum length of a word.
const WORD_CHARS_MIN: usize = 3;

/// Identifiers and phrases of an index.
pub(crate) struct Sample {
    values: BTreeMap<IdType, Values>,
    /// The number of rows of each phrase of one word, and of two.
    phrases: [HashMap<String, u32>; 2],
}

/// A value of an identifier.
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) hits: u32,
    /// The values that all of its rows share, by the property's number. `None` if the rows differ
    /// or have no value, or if no request needs the property.
    pub(crate) common: [Option<Box<str>>; Property::COUNT],
}

#[derive(Default)]
struct Values {
    by_text: HashMap<String, Value>,
    /// A value is counted when at least this many last bits of its hash are zero.
    zeros: u32,
}

impl Sample {
    /// Reads the catalogue, and takes the values and phrases that these kinds of requests need.
    pub(crate) fn of<'a>(
        catalogue: &Catalogue,
        kinds: impl IntoIterator<Item = &'a Kind>,
    ) -> anyhow::Result<Self> {
        eprintln!("taking identifiers and words from the index");
        let mut id_types = BTreeSet::new();
        let mut properties = BTreeSet::new();
        for ask in
            kinds.into_iter().flat_map(|kind| [&kind.ask].into_iter().chain(&kind.background))
        {
            if let Ask::Mapping(mapping) | Ask::List(mapping) = ask {
                id_types.extend(mapping.id_types());
                properties.extend(mapping.filter());
            }
        }
        let values = id_types.into_iter().map(|id_type| (id_type, Values::default())).collect();
        let mut sample = Self { values, phrases: Default::default() };
        catalogue.instruments(|instrument| {
            let is_equity = instrument.property(Property::MarketSecDes) == Some(EQUITY);
            if !(is_equity && instrument.listed == Some(false)) {
                sample.take(instrument, &properties);
            }
            anyhow::Ok(())
        })?;
        Ok(sample)
    }

    fn take(&mut self, instrument: &Instrument, properties: &BTreeSet<Property>) {
        if let Some(values) = self.values.get_mut(&IdType::BbGlobal) {
            values.count(&instrument.figi.to_string(), instrument, properties);
        }
        // An instrument may have the same identifier twice.
        for value in instrument.keys().collect::<BTreeSet<_>>() {
            if let Some(values) = self.values.get_mut(&value.id_type()) {
                values.count(value.as_str(), instrument, properties);
            }
        }
        let Some(name) = &instrument.name else { return };
        let is_word = |word: &&str| {
            word.len() >= WORD_CHARS_MIN && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        let words: Vec<String> =
            name.split_whitespace().filter(is_word).map(str::to_ascii_lowercase).collect();
        for (length, phrases) in (1..).zip(&mut self.phrases) {
            for phrase in words.windows(length) {
                *phrases.entry(phrase.join(" ")).or_default() += 1;
            }
            if phrases.len() > PHRASES_MAX {
                phrases.retain(|_, count| *count > 1);
            }
        }
    }

    /// The values of a kind with this number of rows, ordered by their hashes. The rows of each
    /// value must share the values of all properties in `shared`.
    pub(crate) fn values(
        &self,
        kind: IdType,
        hits: &std::ops::RangeInclusive<u32>,
        shared: &[Property],
    ) -> Vec<&Value> {
        let values = self.values.get(&kind).map(|values| values.by_text.values());
        let mut values: Vec<_> = values
            .into_iter()
            .flatten()
            .filter(|value| hits.contains(&value.hits))
            .filter(|value| shared.iter().all(|known| value.common[*known as usize].is_some()))
            .collect();
        values.sort_by_cached_key(|value| (hash(&value.text), value.text.clone()));
        values
    }

    /// The most common phrases of names, or rare ones.
    pub(crate) fn phrases(&self, words: usize, frequency: Frequency, count: usize) -> Vec<&str> {
        let mut phrases: Vec<_> = self.phrases[words - 1].iter().collect();
        match frequency {
            Frequency::Common => {
                phrases.sort_unstable_by_key(|(text, count)| (u32::MAX - **count, *text));
                phrases.truncate(COMMON_PHRASES);
            }
            Frequency::Rare => {
                phrases.sort_by_cached_key(|(text, count)| (**count, hash(text), *text));
            }
        }
        phrases.into_iter().map(|(text, _)| text.as_str()).take(count).collect()
    }
}

impl Values {
    fn count(&mut self, text: &str, instrument: &Instrument, properties: &BTreeSet<Property>) {
        if hash(text).trailing_zeros() < self.zeros {
            return;
        }
        match self.by_text.get_mut(text) {
            Some(value) => {
                value.hits += 1;
                for property in properties {
                    let common = &mut value.common[*property as usize];
                    if common.as_deref() != instrument.property(*property) {
                        *common = None;
                    }
                }
            }
            None => {
                let mut common: [Option<Box<str>>; Property::COUNT] = Default::default();
                for property in properties {
                    common[*property as usize] = instrument.property(*property).map(Box::from);
                }
                let value = Value { text: text.to_owned(), hits: 1, common };
                self.by_text.insert(text.to_owned(), value);
            }
        }
        while self.by_text.len() > VALUES_MAX {
            self.zeros += 1;
            self.by_text.retain(|text, _| hash(text).trailing_zeros() >= self.zeros);
        }
    }
}

/// A hash that is the same in every run.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
