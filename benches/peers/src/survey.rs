//! Draws the questions from the data, so that each has an answer of its kind, whatever the number of
//! instruments. The same instruments give the same questions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use anyhow::{Result, ensure};
use figdex_index::{Catalogue, IdType, Instrument, Property};

use crate::question::{Kind, PAGE_ROWS, PAIR, Pair, Pool, Question};

/// The identifiers that are mapped.
const MAPPED: [IdType; 3] = [IdType::Isin, IdType::Cusip, IdType::Sedol];

/// The pairs of properties to filter by.
const PAIRS: [[Property; 2]; 10] = [
    PAIR,
    [Property::ExchCode, Property::OptionType],
    [Property::ExchCode, Property::Currency],
    [Property::ExchCode, Property::SecurityType],
    [Property::MicCode, Property::OptionType],
    [Property::MicCode, Property::Currency],
    [Property::Currency, Property::SecurityType],
    [Property::Currency, Property::MarketSecDes],
    [Property::OptionType, Property::Currency],
    [Property::OptionType, Property::SecurityType2],
];

/// A filter is dense when at least one row in this many passes it.
const DENSE_ONE_IN: u32 = 100;

/// A word is common when at least one row in this many has it; only the most common are used.
const COMMON_ONE_IN: u32 = 200;
const COMMON_WORDS: usize = 60;

/// The minimum number of rows with both words of a question.
const BOTH_ROWS: u32 = 2 * PAGE_ROWS as u32;

/// The maximum number of rows of a rare word.
const RARE_ROWS: u32 = 20;

/// The number of rows that pass two filters between one cursor and the next.
const CURSOR_STEP: u32 = 97;

/// Counts over all instruments.
#[derive(Default)]
struct Counts {
    instruments: u32,
    identifiers: HashMap<(IdType, String), u32>,
    values: [HashMap<String, u32>; Property::COUNT],
    pairs: [HashMap<String, HashMap<String, u32>>; PAIRS.len()],
    words: HashMap<String, u32>,
    /// Words that some text has with punctuation, or as part of a longer word. The tokenizers of
    /// the engines treat such words differently.
    disputed: HashSet<String>,
}

/// Draws all questions, a pool for each kind.
pub(crate) fn questions(catalogue: &Catalogue, rounds: usize) -> Result<Vec<Pool>> {
    let mut counts = Counts::default();
    catalogue.instruments(|instrument| {
        counts.add(instrument);
        Ok::<_, figdex_index::Error>(())
    })?;
    let paged = counts.pairs(|rows, _| rows >= 10 * PAGE_ROWS as u32);
    let dense = |value: u32| value >= counts.instruments / DENSE_ONE_IN;
    let mut counted = counts.pairs(|rows, values| rows > 0 && values.into_iter().all(dense));
    counted.sort_by_key(|(_, rows)| *rows);
    let common = counts.common();
    let mut rare = counts.rare();
    let mut cursors: BTreeMap<&Pair, (u32, Vec<String>)> = BTreeMap::new();
    let mut both: BTreeMap<[&str; 2], u32> = BTreeMap::new();
    catalogue.instruments(|instrument| {
        for (pair, _) in &paged {
            let has = |(property, value): &(Property, String)| {
                instrument.property(*property) == Some(value)
            };
            if pair.0.iter().all(has) {
                let (seen, cursors) = cursors.entry(pair).or_default();
                if seen.is_multiple_of(CURSOR_STEP) {
                    cursors.push(instrument.figi.to_string());
                }
                *seen += 1;
            }
        }
        let held: BTreeSet<_> = plain_words(instrument).collect();
        let held: Vec<_> = common.iter().filter(|word| held.contains(*word)).collect();
        for (place, one) in held.iter().enumerate() {
            for other in &held[place + 1..] {
                *both.entry([one, other]).or_default() += 1;
            }
        }
        // A word that is also an identifier would find further rows.
        for value in instrument.keys() {
            rare.remove(&value.as_str().to_ascii_lowercase());
        }
        Ok::<_, figdex_index::Error>(())
    })?;

    let pages: Vec<_> = cursors
        .into_iter()
        .flat_map(|(pair, (rows, cursors))| {
            // A full page and one more row must follow.
            let last = (rows - 1 - PAGE_ROWS as u32) / CURSOR_STEP;
            cursors.into_iter().take(last as usize).map(move |after| (pair.clone(), after))
        })
        .collect();
    let of_pair = |pair: &Pair| pair.0.each_ref().map(|(property, _)| *property) == PAIR;
    let page = |(pair, after), only_figis| Question::Page { pair, after, only_figis };
    let mut words: Vec<_> = both.into_iter().filter(|(_, rows)| *rows >= BOTH_ROWS).collect();
    words.sort_by_key(|(_, rows)| *rows);
    let words: Vec<Vec<String>> =
        words.into_iter().map(|(words, _)| words.map(str::to_owned).to_vec()).collect();
    let map = |(id_type, id_value)| Question::Map { id_type, id_value };
    let drawn = |kind| -> Vec<Question> {
        match kind {
            Kind::MapOne => counts.identifiers(&MAPPED, 1..=1).into_iter().map(map).collect(),
            Kind::MapSeveral => {
                counts.identifiers(&[IdType::Isin], 10..=30).into_iter().map(map).collect()
            }
            Kind::Page | Kind::PageFigis => {
                let only_figis = kind == Kind::PageFigis;
                pages.iter().cloned().map(|asked| page(asked, only_figis)).collect()
            }
            Kind::PairPage => {
                let of_pair = pages.iter().filter(|(pair, _)| of_pair(pair));
                of_pair.cloned().map(|asked| page(asked, false)).collect()
            }
            Kind::Count => counted.iter().map(|(pair, _)| Question::Count(pair.clone())).collect(),
            Kind::PairCount => {
                let of_pair = counted.iter().filter(|(pair, _)| of_pair(pair));
                of_pair.map(|(pair, _)| Question::Count(pair.clone())).collect()
            }
            Kind::CommonFirst => words.iter().cloned().map(Question::First).collect(),
            Kind::CommonBest => words.iter().cloned().map(Question::Best).collect(),
            Kind::Rare => rare.iter().map(|word| Question::First(vec![word.clone()])).collect(),
        }
    };
    let pools = Kind::ALL.map(|kind| {
        let questions = spread(kind, &drawn(kind), kind.per_round() * rounds);
        Pool { kind, questions }
    });
    for pool in &pools {
        let (kind, drawn) = (pool.kind, pool.questions.len());
        ensure!(drawn >= rounds, "{kind:?}: {drawn} questions for {rounds} rounds");
    }
    Ok(pools.into())
}

impl Counts {
    fn add(&mut self, instrument: &Instrument) {
        self.instruments += 1;
        for value in instrument.identifiers.iter().filter(|it| MAPPED.contains(&it.id_type())) {
            let identifier = (value.id_type(), value.as_str().to_owned());
            *self.identifiers.entry(identifier).or_default() += 1;
        }
        for (property, counts) in Property::ALL.into_iter().zip(&mut self.values) {
            if let Some(value) = instrument.property(property) {
                increment(counts, value);
            }
        }
        for ([one, other], counts) in PAIRS.into_iter().zip(&mut self.pairs) {
            let (Some(one), Some(other)) = (instrument.property(one), instrument.property(other))
            else {
                continue;
            };
            if !counts.contains_key(one) {
                counts.insert(one.to_owned(), HashMap::new());
            }
            counts.get_mut(one).into_iter().for_each(|counts| increment(counts, other));
        }
        for word in plain_words(instrument).collect::<BTreeSet<_>>() {
            increment(&mut self.words, &word);
        }
        for word in
            instrument.words().flat_map(str::split_whitespace).filter(|word| !is_plain(word))
        {
            let runs = word.split(|c: char| !c.is_alphabetic()).filter(|run| !run.is_empty());
            let squeezed: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
            for text in runs.chain([&*squeezed]) {
                if !self.disputed.contains(&text.to_lowercase()) {
                    self.disputed.insert(text.to_lowercase());
                }
            }
        }
    }

    fn identifiers(
        &self,
        kinds: &[IdType],
        rows: std::ops::RangeInclusive<u32>,
    ) -> Vec<(IdType, String)> {
        let asked = self.identifiers.iter();
        let asked = asked.filter(|((kind, _), count)| kinds.contains(kind) && rows.contains(count));
        let mut identifiers: Vec<_> = asked.map(|(identifier, _)| identifier.clone()).collect();
        identifiers.sort_unstable();
        identifiers
    }

    /// The pairs of values that fulfil `applies`, each with its number of rows. `applies` gets the
    /// number of rows with both values, and the number of rows with each.
    fn pairs(&self, applies: impl Fn(u32, [u32; 2]) -> bool) -> Vec<(Pair, u32)> {
        let mut pairs = Vec::new();
        for (properties, counts) in PAIRS.into_iter().zip(&self.pairs) {
            for (one, counts) in counts {
                for (other, rows) in counts {
                    let values = [one, other];
                    let of = |place: usize| self.values[properties[place] as usize][values[place]];
                    if applies(*rows, [of(0), of(1)]) {
                        let value = |place: usize| (properties[place], values[place].clone());
                        pairs.push((Pair([value(0), value(1)]), *rows));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    fn common(&self) -> Vec<String> {
        let words = self.words.iter().filter(|(word, rows)| {
            **rows >= self.instruments / COMMON_ONE_IN && !self.disputed.contains(*word)
        });
        let mut words: Vec<_> = words.map(|(word, rows)| (*rows, word.clone())).collect();
        words.sort_unstable();
        words.into_iter().rev().take(COMMON_WORDS).map(|(_, word)| word).collect()
    }

    fn rare(&self) -> BTreeSet<String> {
        let words = self.words.iter().filter(|(word, rows)| {
            **rows <= RARE_ROWS && word.len() >= 4 && !self.disputed.contains(*word)
        });
        words.map(|(word, _)| word.clone()).collect()
    }
}

/// The words that consist of at least three ASCII letters, in lower case.
fn plain_words(instrument: &Instrument) -> impl Iterator<Item = String> {
    let words = instrument.words().flat_map(str::split_whitespace);
    words.filter(|word| is_plain(word) && word.len() >= 3).map(str::to_ascii_lowercase)
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn increment(counts: &mut HashMap<String, u32>, key: &str) {
    match counts.get_mut(key) {
        Some(count) => *count += 1,
        None => {
            counts.insert(key.to_owned(), 1);
        }
    }
}

/// Chooses at most `count` questions, spread evenly. Questions that are sorted by cost stay in that
/// order, so that every round gets some of the expensive ones. Other questions are shuffled,
/// because neighbours are close together in the data.
fn spread(kind: Kind, questions: &[Question], count: usize) -> Vec<Question> {
    /// A prime larger than any count here.
    const STRIDE: usize = 1_000_003;
    let stride = match kind {
        Kind::Count | Kind::PairCount | Kind::CommonFirst | Kind::CommonBest => 1,
        _ => STRIDE,
    };
    let count = count.min(questions.len());
    let place = |number: usize| (number * stride % count) * questions.len() / count;
    (0..count).map(|number| questions[place(number)].clone()).collect()
}
