//! Guesses at the meaning of an unfinished text (contract 16.1). Documents that may be meant are
//! found by prefixes and typos, and scored by the same code as rows of a local index. They may
//! differ from the rows that a local index would find.

use std::collections::{HashMap, HashSet};

use figdex_index::{
    Candidates, Clauses, Fetched, Filters, FoundBy, Guesses, Hit, IdValue, Interpretation,
    RowSource as _, Suggest, Suggestion, TypedWord, id_key,
};
use serde_json::{Value, json};

use super::filters::conditions;
use super::matching::{by_number, exact, one_word, value};
use super::{Found, all, any, by_rank, terms, typos};
use crate::error::Result;
use crate::generation::Generation;
use crate::schema::field;

/// The most terms that a text with typos may stand for.
const EXPANSIONS_MAX: usize = 50;

/// The fields with the terms of a document: those of searches, and those of other names.
const FIELDS: [&str; 2] = [field::WORDS, field::NAMES];

/// The typed words that occur in at least one document.
#[derive(Default)]
struct Held {
    /// The words that are whole terms.
    terms: HashSet<String>,
    /// The words that are beginnings of terms.
    beginnings: HashSet<String>,
    /// The words that are short beginnings of a document.
    listed: HashSet<String>,
}

impl Generation {
    /// The securities that a text may mean, one row each, the likeliest first. `id` is the id of
    /// the request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn suggest(
        &self,
        question: &Suggest,
        limit: usize,
        id: Option<&str>,
    ) -> Result<(Fetched, Vec<Suggestion>)> {
        let vocabulary = self.vocabulary();
        let mut rows = Fetched::default();
        let mut candidates = Candidates::new(question, vocabulary);
        let mut guesses = Guesses::new(question, vocabulary);
        // The plain interpretations depend on no answer, so they are asked together with the whole
        // text.
        let mut stage = guesses.next(0, limit, |_, _| false);
        let plain = stage.as_deref().unwrap_or_default();
        let held =
            self.whole_text(question, (&guesses, plain), &mut rows, &mut candidates, id).await?;
        let has = |text: &str, is_beginning: bool| match is_beginning {
            true => held.beginnings.contains(text),
            false => held.terms.contains(text),
        };
        // Of the plain interpretations, only one with a short beginning that no document lists is
        // asked again.
        let is_other = |meant: &Interpretation| {
            is_open(meant, question, Some(&held)) != is_open(meant, question, None)
        };
        stage.iter_mut().for_each(|plain| plain.retain(is_other));
        while let Some(meant) = stage {
            let bodies = meant.iter().map(|meant| self.body_of(meant, question, Some(&held)));
            let rows_max = meant.iter().map(Interpretation::read_max).max().unwrap_or(0);
            let found = self.several(&bodies.collect::<Vec<_>>(), rows_max, id).await?;
            for (meant, found) in meant.iter().zip(&found) {
                self.add(found, FoundBy::Words(meant), &mut rows, &mut candidates)?;
            }
            stage = guesses.next(candidates.len(), limit, has);
        }
        let best = candidates.best(&rows, &self.places, limit);
        let hits: Vec<(Hit, bool)> = best.iter().map(|it| (it.hit, it.is_shown)).collect();
        let shown = self.shown(&question.filters, &hits, &mut rows, id).await?;
        let counts: HashMap<Hit, usize> = shown.iter().copied().collect();
        let shown = best.into_iter().zip(shown).map(|(of, (hit, _))| (of, hit)).collect();
        let arranged = candidates.arranged(shown, &rows, &self.places, limit).into_iter();
        let suggestions = arranged.map(|(hit, matched, matched_name)| {
            let listings = counts.get(&hit).map_or(1, |count| *count);
            Suggestion { hit, listings, matched, matched_name }
        });
        let suggestions = suggestions.collect();
        Ok((rows, suggestions))
    }

    /// The document to show for each document, and the number of listings of its security: the best
    /// listing if it passes the filters, unless the document is shown itself, as its flag says. This
    /// is one call. `id` is the id of the request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn shown(
        &self,
        filters: &Filters,
        documents: &[(Hit, bool)],
        rows: &mut Fetched,
        id: Option<&str>,
    ) -> Result<Vec<(Hit, usize)>> {
        let keys = documents.iter().map(|(hit, _)| {
            let row = rows.row(*hit);
            let of = row.share_class_figi().map(IdValue::share_class);
            of.or(row.composite_figi().map(IdValue::composite)).map(|value| id_key(&value))
        });
        let keys: Vec<Option<String>> = keys.collect();
        let mut bodies = Vec::new();
        for ((_, is_shown), key) in documents.iter().zip(&keys) {
            let Some(key) = key else { continue };
            bodies.push(count(field::KEYS, key));
            if !is_shown {
                let mut wanted = conditions(filters, self.vocabulary());
                wanted.push(terms(field::KEYS, &[key]));
                wanted.push(json!({"term": {field::BEST_LISTING: true}}));
                bodies.push(by_rank(all(wanted), 1));
            }
        }
        let mut found = self.several(&bodies, 1, id).await?.into_iter();
        let mut shown = Vec::with_capacity(documents.len());
        for (&(mut hit, is_shown), key) in documents.iter().zip(keys) {
            // A row without a security counts as one listing.
            let mut listings = 1;
            if key.is_some() {
                listings = found.next().map_or(1, |found| found.total());
                let best = if is_shown { None } else { found.next() };
                if let Some(best) = best.as_ref().and_then(|found| found.hits.hits.first()) {
                    hit = rows.add(best.stored(&self.index)?);
                }
            }
            shown.push((hit, listings as usize));
        }
        Ok(shown)
    }

    /// Adds the documents that the whole text identifies, and those of some interpretations.
    /// Returns the typed words that occur in at least one document.
    async fn whole_text(
        &self,
        question: &Suggest,
        (guesses, plain): (&Guesses<'_>, &[Interpretation]),
        rows: &mut Fetched,
        candidates: &mut Candidates<'_>,
        id: Option<&str>,
    ) -> Result<Held> {
        let vocabulary = self.vocabulary();
        let clauses = Clauses::of(&question.keywords, vocabulary);
        let passing = |filters: &Filters, condition: Value| {
            let mut conditions = conditions(filters, vocabulary);
            conditions.push(condition);
            by_rank(all(conditions), Interpretation::ROWS_MAX)
        };
        let (mut bodies, mut found_by) = (Vec::new(), Vec::new());
        let numbers = by_number(&clauses);
        if !numbers.is_empty() {
            bodies.push(passing(&question.filters, any(numbers)));
            found_by.push(FoundBy::Number);
        }
        let exact = exact(&clauses, vocabulary);
        if !exact.is_empty() {
            bodies.push(passing(&question.filters, any(exact)));
            found_by.push(FoundBy::Whole);
        }
        let forms = candidates.forms();
        if !forms.is_empty() {
            bodies.push(passing(&question.filters, terms(field::KEYS, &forms)));
            found_by.push(FoundBy::Form);
        }
        for (number, key, filters) in candidates.spelled() {
            bodies.push(passing(filters, terms(field::KEYS, &[key])));
            found_by.push(FoundBy::Spelled(number));
        }
        for (text, is_beginning) in guesses.asked() {
            let is_held = match is_beginning {
                true => FIELDS.map(|field| json!({"prefix": {field: text}})),
                false => FIELDS.map(|field| json!({"term": {field: text}})),
            };
            let is_held = any(is_held.into());
            bodies.push(counted(is_held, 1));
            bodies.push(counted(terms(field::BEGINNINGS, &[text]), 1));
        }
        bodies.extend(plain.iter().map(|meant| self.body_of(meant, question, None)));
        let rows_max = plain.iter().map(Interpretation::read_max).max();
        let rows_max = rows_max.unwrap_or(0).max(Interpretation::ROWS_MAX);
        let mut found = self.several(&bodies, rows_max, id).await?.into_iter();
        for (found_by, found) in found_by.into_iter().zip(found.by_ref()) {
            self.add(&found, found_by, rows, candidates)?;
        }
        let mut held = Held::default();
        for (text, is_beginning) in guesses.asked() {
            let mut is_held = || found.next().is_some_and(|found| found.total() > 0);
            let (is_in_words, is_listed) = (is_held(), is_held());
            if is_in_words {
                let texts = if is_beginning { &mut held.beginnings } else { &mut held.terms };
                texts.insert(text.to_owned());
            }
            if is_listed {
                held.listed.insert(text.to_owned());
            }
        }
        for (meant, found) in plain.iter().zip(found) {
            self.add(&found, FoundBy::Words(meant), rows, candidates)?;
        }
        Ok(held)
    }

    /// Adds the first documents that fit, up to [`Interpretation::ROWS_MAX`].
    fn add(
        &self,
        found: &Found,
        found_by: FoundBy<'_>,
        rows: &mut Fetched,
        candidates: &mut Candidates<'_>,
    ) -> Result<()> {
        let mut fitting = 0;
        for document in &found.hits.hits {
            let hit = rows.add(document.stored(&self.index)?);
            fitting += usize::from(candidates.add(rows, hit, found_by));
            if fitting == Interpretation::ROWS_MAX {
                break;
            }
        }
        Ok(())
    }

    /// The question for the documents of an interpretation. Without `held`, it is not known yet
    /// which of its words occur in a document.
    fn body_of(&self, meant: &Interpretation, question: &Suggest, held: Option<&Held>) -> Value {
        let mut conditions = conditions(&question.filters, self.vocabulary());
        conditions.extend(self.words(meant, is_open(meant, question, held)));
        by_rank(all(conditions), meant.read_max())
    }

    /// The conditions of an interpretation. With `is_open`, a term that begins with its only word
    /// is enough.
    fn words(&self, meant: &Interpretation, is_open: bool) -> Vec<Value> {
        let mut conditions = Vec::new();
        match meant.beginning() {
            Some(beginning) => {
                let listed = terms(field::BEGINNINGS, &[beginning]);
                let words: Vec<TypedWord<'_>> = meant.words().collect();
                if let [only] = &words[..] {
                    let mut ways = self.ways(only, is_open);
                    ways.push(listed);
                    conditions.push(any(ways));
                } else {
                    conditions.push(listed);
                    let others = words.iter().filter(|word| word.text != beginning);
                    conditions.extend(others.map(|word| any(self.ways(word, true))));
                }
            }
            None => conditions.extend(meant.words().map(|word| any(self.ways(&word, true)))),
        }
        conditions.extend(meant.exch_code().map(|known| value(known, self.vocabulary())));
        conditions
    }

    /// The ways in which a document may hold a typed word. Beginnings are included only if
    /// `as_beginning`.
    fn ways(&self, word: &TypedWord<'_>, as_beginning: bool) -> Vec<Value> {
        let mut ways = vec![one_word(&word.terms)];
        for terms in &word.terms.0 {
            ways.push(all(terms
                .iter()
                .map(|term| json!({"term": {field::NAMES: term}}))
                .collect()));
        }
        for field in FIELDS {
            if !word.equivalents.is_empty() {
                ways.push(terms(field, word.equivalents));
            }
            if word.is_beginning && as_beginning {
                ways.push(json!({"prefix": {field: word.text}}));
            }
        }
        if word.typos > 0 {
            let pattern = typos::beginning(word.text, word.typos);
            let pattern = pattern.filter(|_| word.is_beginning && as_beginning);
            for field in FIELDS {
                if let Some(pattern) = &pattern {
                    ways.push(json!({"regexp": {field: {
                        "value": pattern,
                        // Letters stand for themselves, and no other character has a meaning.
                        "flags": "NONE",
                    }}}));
                }
                ways.push(json!({"fuzzy": {field: {
                    "value": word.text,
                    "fuzziness": word.typos,
                    "max_expansions": EXPANSIONS_MAX,
                    "transpositions": true,
                }}}));
            }
        }
        ways
    }
}

/// Whether a term that begins with the only word of an interpretation is enough, although the word
/// is short. This is so if there are filters, or if no document lists the word. Without `held`, a
/// document is assumed to list it.
fn is_open(meant: &Interpretation, question: &Suggest, held: Option<&Held>) -> bool {
    let is_alone = meant.words().count() == 1;
    let is_listed = |beginning| held.is_none_or(|held| held.listed.contains(beginning));
    let is_narrowed = question.filters != Filters::default();
    is_alone && meant.beginning().is_some_and(|beginning| is_narrowed || !is_listed(beginning))
}

/// A question for the number of documents with a term.
fn count(field: &str, term: &str) -> Value {
    let mut body = counted(terms(field, &[term]), 0);
    body["track_total_hits"] = true.into();
    body
}

/// A question for the number of documents of a query. Counts no further than `up_to`.
fn counted(query: Value, up_to: usize) -> Value {
    json!({"query": query, "size": 0, "track_total_hits": up_to})
}
