//! A cache of answers, in bounded memory. A generation never changes, so an answer stays valid as
//! long as its catalogue is open.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

use super::facets::{FacetQuestion, Facets};
use crate::instrument::vocabulary::Known;
use crate::query::{Filters, Keywords, Search};
use crate::reading::QuestionReading;
use crate::suggest::{Suggest, Suggestion};

/// The largest number of entries of one cache.
const ENTRIES_MAX: usize = 4096;

/// The largest number of bytes that the questions and answers of one cache take.
const BYTES_MAX: usize = 4 << 20;

/// The uses of a cache since its catalogue was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The number of answers that were in the cache.
    pub hits: u64,
    /// The number of answers that were worked out and added to the cache. Questions that were
    /// abandoned as too much work do not count.
    pub misses: u64,
}

/// A question whose answers are cached. Its keywords hold only the text: the words follow from the
/// text.
pub(super) trait CachedQuestion: Eq + Hash {
    /// The answer to a question of this kind.
    type Answer: Clone;

    /// The bytes that the question and its answer hold on the heap.
    fn held_bytes(&self, answer: &Self::Answer) -> usize;
}

/// A search; the answer is its number of matching rows. So the second page of a filter need not
/// count again.
impl CachedQuestion for Search {
    type Answer = u64;

    fn held_bytes(&self, _: &u64) -> usize {
        held_bytes(self.keywords.as_ref(), &self.filters)
    }
}

/// A text with its filters, and a limit; the answer is at most this many suggestions. People often
/// type the same letters.
impl CachedQuestion for (Suggest, usize) {
    type Answer = Vec<Suggestion>;

    fn held_bytes(&self, found: &Vec<Suggestion>) -> usize {
        let names = found.iter().filter_map(|found| found.matched_name.as_ref());
        let names: usize = names.map(|name| name.text.len()).sum();
        held_bytes(Some(&self.0.keywords), &self.0.filters) + size_of_val(found.as_slice()) + names
    }
}

/// A text with its filters; the answer is its reading, if it has one.
impl CachedQuestion for Suggest {
    type Answer = Option<Arc<QuestionReading>>;

    fn held_bytes(&self, read: &Self::Answer) -> usize {
        let read = read.as_ref().map_or(0, |reading| reading.held_bytes());
        held_bytes(Some(&self.keywords), &self.filters) + read
    }
}

/// A question; the answer is the number of rows of each value. The page asks for the facets of each
/// list of results.
impl CachedQuestion for FacetQuestion {
    type Answer = Arc<Facets>;

    fn held_bytes(&self, found: &Arc<Facets>) -> usize {
        let counts = found.counts.iter().map(|counts| size_of_val(counts.values.as_slice()));
        held_bytes(self.search.keywords.as_ref(), &self.search.filters)
            + size_of_val(self.facets.as_slice())
            + size_of_val(found.counts.as_slice())
            + counts.sum::<usize>()
    }
}

fn held_bytes(keywords: Option<&Keywords>, filters: &Filters) -> usize {
    let text = keywords.map_or(0, |keywords| keywords.text().len());
    text + filters.known.len() * size_of::<Known>()
}

/// Questions of one kind with their answers.
pub(super) struct Cache<Q: CachedQuestion>(Mutex<Entries<Q>>);

struct Entries<Q: CachedQuestion> {
    answers: HashMap<Q, Q::Answer>,
    bytes: usize,
    uses: Uses,
}

impl<Q: CachedQuestion> Default for Cache<Q> {
    fn default() -> Self {
        let (bytes, uses) = Default::default();
        Self(Mutex::new(Entries { answers: HashMap::new(), bytes, uses }))
    }
}

impl<Q: CachedQuestion> Cache<Q> {
    /// The answer to a question: from the cache, or from `work_out`. That answer is added to the
    /// cache unless it is `None`. No lock is held while it is worked out.
    pub(super) fn answer<E>(
        &self,
        question: Q,
        work_out: impl FnOnce() -> Result<Option<Q::Answer>, E>,
    ) -> Result<Option<Q::Answer>, E> {
        if let Some(answer) = self.get(&question) {
            return Ok(Some(answer));
        }
        let answer = work_out()?;
        if let Some(answer) = &answer {
            self.keep(question, answer.clone());
        }
        Ok(answer)
    }

    /// The answer to a question, if it is in the cache.
    pub(super) fn get(&self, question: &Q) -> Option<Q::Answer> {
        let mut entries = self.0.lock();
        let answer = entries.answers.get(question).cloned();
        entries.uses.hits += u64::from(answer.is_some());
        answer
    }

    pub(super) fn uses(&self) -> Uses {
        self.0.lock().uses
    }

    /// Adds an answer.
    pub(super) fn keep(&self, question: Q, answer: Q::Answer) {
        let bytes = question.held_bytes(&answer) + size_of::<(Q, Q::Answer)>();
        let mut entries = self.0.lock();
        if entries.answers.len() >= ENTRIES_MAX || entries.bytes + bytes > BYTES_MAX {
            // All entries are dropped, once in thousands of new questions; questions that are still
            // asked are then worked out again. Dropping only the entries that were not used
            // recently would need a list that every hit reorders.
            entries.answers.clear();
            entries.bytes = 0;
        }
        entries.uses.misses += 1;
        entries.bytes += bytes;
        entries.answers.insert(question, answer);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::query::interval::NumberInterval;

    /// A question with a number, whose answer holds as many bytes as the second number says.
    impl CachedQuestion for (usize, usize) {
        type Answer = usize;

        fn held_bytes(&self, _: &usize) -> usize {
            self.1
        }
    }

    fn ask<Q: CachedQuestion + Clone>(
        cache: &Cache<Q>,
        question: &Q,
        answer: Q::Answer,
    ) -> Option<Q::Answer> {
        cache.answer(question.clone(), || Ok::<_, Infallible>(Some(answer))).unwrap()
    }

    fn is_kept<Q: CachedQuestion + Clone>(cache: &Cache<Q>, question: &Q) -> bool {
        cache.answer(question.clone(), || Ok::<_, Infallible>(None)).unwrap().is_some()
    }

    #[test]
    fn entries_are_bounded_by_number_and_by_bytes() {
        let cache = Cache::default();
        for number in 0..=ENTRIES_MAX {
            ask(&cache, &(number, 0), number);
        }
        assert!(!is_kept(&cache, &(0, 0)));
        assert!(is_kept(&cache, &(ENTRIES_MAX, 0)));
        assert_eq!(cache.uses(), Uses { hits: 1, misses: ENTRIES_MAX as u64 + 1 });
        let half = BYTES_MAX / 2;
        ask(&cache, &(1, half), 1);
        assert_eq!(cache.0.lock().answers.len(), 2);
        ask(&cache, &(2, half), 2);
        assert!(!is_kept(&cache, &(1, half)) && is_kept(&cache, &(2, half)));
        assert!(cache.0.lock().bytes <= BYTES_MAX);
    }

    #[test]
    fn equal_searches_share_an_entry() {
        let of = |strike: f64, text: &str| {
            let mut filters = Filters::default();
            filters.numbers[0] = NumberInterval::new(Some(strike), None).ok();
            Search { keywords: Keywords::parse(text).ok(), filters }
        };
        let totals = Cache::default();
        assert_eq!(ask(&totals, &of(0.0, "two words"), 7), Some(7));
        assert_eq!(ask(&totals, &of(-0.0, "two words"), 8), Some(7));
        assert!(!is_kept(&totals, &of(1.0, "two words")));
        assert!(!is_kept(&totals, &of(0.0, "two")));
        assert_eq!(totals.uses(), Uses { hits: 1, misses: 1 });
    }
}
