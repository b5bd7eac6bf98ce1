//! The documents that match key words, and the tier of each (contract 9, 10.2).

use figdex_index::{Clauses, Known, Search, Tier, Vocabulary, WordTerms, bounded_term};
use serde_json::{Value, json};

use super::filters::conditions;
use super::{all, any, number, terms};
use crate::schema::field;

/// The most word terms in a question. A cluster allows 1,024 clauses in all.
const TERMS_MAX: usize = 900;

/// A search as conditions.
pub(super) struct Matching {
    /// The conditions of the filters.
    pub(super) filters: Vec<Value>,
    /// The condition of the key words, if there are any.
    words: Option<Value>,
    /// The condition of the words without that of identifiers; `None` without words.
    alternatives: Option<Value>,
    clauses: Clauses,
    /// The condition of the exact rows, before filters.
    exact: Option<Value>,
    /// Whether some words were left out because there are too many.
    pub(super) is_cut: bool,
}

impl Matching {
    pub(super) fn of(search: &Search, vocabulary: &Vocabulary) -> Self {
        let filters = conditions(&search.filters, vocabulary);
        let Some(keywords) = &search.keywords else {
            return Self {
                filters,
                words: None,
                alternatives: None,
                clauses: Clauses::default(),
                exact: None,
                is_cut: false,
            };
        };
        let clauses = Clauses::of(keywords, vocabulary);
        let (alternatives, is_cut) = alternatives(&clauses, vocabulary);
        let mut matching = identified(&clauses);
        matching.extend(alternatives.clone());
        let exact = exact(&clauses, vocabulary);
        let (words, exact) = (Some(any(matching)), Some(any(exact)));
        Self { filters, words, alternatives, exact, clauses, is_cut }
    }

    /// The clauses of the key words; empty without key words.
    pub(super) fn clauses(&self) -> &Clauses {
        &self.clauses
    }

    /// The documents that match and fulfil further conditions.
    pub(super) fn query(&self, further: Vec<Value>) -> Value {
        let mut conditions = self.filters.clone();
        conditions.extend(self.words.clone());
        conditions.extend(further);
        all(conditions)
    }

    /// The documents that hold the words and fulfil a further condition; `None` without words.
    pub(super) fn of_words(&self, further: Value) -> Option<Value> {
        let mut conditions = self.filters.clone();
        conditions.extend([self.alternatives.clone()?, further]);
        Some(all(conditions))
    }

    /// The exact rows that pass the filters, even if they do not match; `None` without key words.
    pub(super) fn exact(&self) -> Option<Value> {
        let mut conditions = self.filters.clone();
        conditions.push(self.exact.clone()?);
        Some(all(conditions))
    }

    /// The matching documents, with the score of their tier. `named` is the FIGI of the row that
    /// the text names.
    pub(super) fn scored(&self, named: Option<figdex_index::Figi>) -> Value {
        let mut conditions = self.filters.clone();
        conditions.extend(self.words.clone());
        json!({"bool": {"filter": conditions, "must": self.tiers(named)}})
    }

    /// A query that matches all documents, and scores each by its tier.
    fn tiers(&self, named: Option<figdex_index::Figi>) -> Value {
        if self.words.is_none() {
            return tier(Tier::Words, json!({"match_all": {}}));
        }
        let clauses = &self.clauses;
        let mut tiers = vec![tier(Tier::Joined, json!({"match_all": {}}))];
        // The tiers of words apply only to documents that the whole text does not identify.
        let mut identified = by_number(clauses);
        let is_number = any(identified.clone());
        if !clauses.by_symbol.is_empty() {
            identified.push(terms(field::KEYS, &clauses.by_symbol));
        }
        let without = |more: &[Value]| {
            let mut not = identified.clone();
            not.extend_from_slice(more);
            json!({"bool": {"must_not": not}})
        };
        let elsewhere = terms(field::ELSEWHERE, &clauses.elsewhere);
        tiers.push(tier(Tier::Elsewhere, without(&[])));
        tiers.push(tier(Tier::Words, without(std::slice::from_ref(&elsewhere))));
        if !clauses.kinds.is_empty() {
            let kinds: Vec<Value> = clauses.kinds.iter().map(|range| ranks(*range)).collect();
            let condition = all(vec![without(&[elsewhere]), any(kinds)]);
            tiers.push(tier(Tier::OfKind, condition));
        }
        tiers.extend(self.exact.clone().map(|exact| tier(Tier::Exact, exact)));
        if let Some(figi) = named {
            tiers.push(tier(Tier::Named, json!({"term": {field::FIGI: number(figi)}})));
        }
        if !by_number(clauses).is_empty() {
            tiers.push(tier(Tier::Identifier, is_number));
        }
        json!({"dis_max": {"queries": tiers}})
    }
}

/// The score of a tier. The first tier has the largest.
pub(super) fn score(place: usize) -> f64 {
    (Tier::ALL.len() - place) as f64
}

/// The tier with a score.
pub(super) fn tier_of(score: f64) -> Option<Tier> {
    let place = (0..Tier::ALL.len()).find(|place| self::score(*place) == score)?;
    Some(Tier::ALL[place])
}

/// The documents that fulfil a condition, with the score of a tier.
fn tier(tier: Tier, condition: Value) -> Value {
    json!({"constant_score": {"filter": condition, "boost": score(tier as usize)}})
}

/// The documents whose rank is in a range. The end of the range is excluded.
pub(super) fn ranks((first, end): (u64, u64)) -> Value {
    json!({"range": {field::RANK: {"gte": first, "lt": end}}})
}

/// The conditions for the whole text to be a number of a document.
pub(super) fn by_number(clauses: &Clauses) -> Vec<Value> {
    let mut conditions = Vec::new();
    if !clauses.by_number.is_empty() {
        conditions.push(terms(field::KEYS, &clauses.by_number));
    }
    conditions.extend(clauses.figi.map(|figi| json!({"term": {field::FIGI: number(figi)}})));
    conditions
}

/// The conditions for the whole text to be an identifier of a document.
fn identified(clauses: &Clauses) -> Vec<Value> {
    let mut conditions = by_number(clauses);
    if !clauses.by_symbol.is_empty() {
        conditions.push(terms(field::KEYS, &clauses.by_symbol));
    }
    conditions
}

/// The conditions for the whole text to be the ticker, the name or a symbol of a document.
pub(super) fn exact(clauses: &Clauses, vocabulary: &Vocabulary) -> Vec<Value> {
    let with_code = |(keys, exch_code): &(Vec<String>, Option<Known>)| {
        let keys = terms(field::KEYS, keys);
        match exch_code {
            None => keys,
            Some(known) => all(vec![keys, value(*known, vocabulary)]),
        }
    };
    let mut conditions: Vec<Value> = clauses.exact.iter().map(with_code).collect();
    if clauses.symbols_are_exact && !clauses.by_symbol.is_empty() {
        conditions.push(terms(field::KEYS, &clauses.by_symbol));
    }
    conditions
}

/// The condition of the words, if there are any, and whether some words were left out. The
/// alternatives differ only in the last word, which may be an exchange code instead. So the other
/// words are stated once.
fn alternatives(clauses: &Clauses, vocabulary: &Vocabulary) -> (Option<Value>, bool) {
    let Some(((words, _), others)) = clauses.alternatives.split_first() else {
        return (None, false);
    };
    let (mut terms_left, mut is_cut) = (TERMS_MAX, false);
    let mut words: Vec<Value> = words
        .iter()
        .rev()
        .filter_map(|word| {
            let terms = word.0.iter().map(Vec::len).sum();
            let left = terms_left.checked_sub(terms);
            is_cut |= left.is_none();
            terms_left = left?;
            Some(one_word(word))
        })
        .collect();
    let codes: Vec<Value> =
        others.iter().filter_map(|(_, code)| code.map(|code| value(code, vocabulary))).collect();
    if !codes.is_empty() {
        let mut last = codes;
        last.push(words.remove(0));
        words.push(any(last));
    }
    (Some(all(words)), is_cut)
}

/// The documents that hold a word.
pub(super) fn one_word(WordTerms(ways): &WordTerms) -> Value {
    let term = |term: &String| json!({"term": {field::WORDS: term}});
    let mut ways: Vec<Value> = ways
        .iter()
        .map(|terms| match &terms[..] {
            [only] => term(only),
            terms => all(terms.iter().map(term).collect()),
        })
        .collect();
    match ways.len() {
        1 => ways.remove(0),
        _ => any(ways),
    }
}

/// The documents with a value.
pub(super) fn value(known: Known, vocabulary: &Vocabulary) -> Value {
    json!({"term": {known.property().name(): bounded_term(vocabulary.text(known))}})
}
