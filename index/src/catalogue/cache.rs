//! Answers that were given before, in bounded memory: a generation never changes, so that
//! an answer is true as long as its catalogue is open.

use std::collections::HashMap;
use std::hash::Hash;

use parking_lot::Mutex;

use super::uses::{Counted, Uses};
use crate::instrument::vocabulary::Known;
use crate::query::{Filters, Keywords};

/// Questions of one kind that are remembered, and the bytes that they and their answers
/// take.
const QUESTIONS_MAX: usize = 4096;
const BYTES_MAX: usize = 4 << 20;

/// Questions of one kind with their answers.
pub(crate) struct Remembered<Q, A> {
    answers: Mutex<Answers<Q, A>>,
    counted: Counted,
}

struct Answers<Q, A> {
    of: HashMap<Q, A>,
    bytes: usize,
}

impl<Q, A> Default for Remembered<Q, A> {
    fn default() -> Self {
        let answers = Answers { of: HashMap::new(), bytes: 0 };
        Self { answers: Mutex::new(answers), counted: Counted::default() }
    }
}

impl<Q: Eq + Hash, A: Clone> Remembered<Q, A> {
    pub(crate) fn get(&self, question: &Q) -> Option<A> {
        let answer = self.answers.lock().of.get(question).cloned();
        if answer.is_some() {
            self.counted.hit();
        }
        answer
    }

    pub(crate) fn uses(&self) -> Uses {
        self.counted.uses()
    }

    /// Remembers an answer that takes, with its question, so many bytes besides their own
    /// size.
    pub(crate) fn remember(&self, question: Q, answer: A, bytes: usize) {
        self.counted.miss();
        let bytes = bytes + size_of::<(Q, A)>();
        let mut answers = self.answers.lock();
        if answers.of.len() >= QUESTIONS_MAX || answers.bytes + bytes > BYTES_MAX {
            // To forget all costs each question that is still asked one more answer, once
            // in thousands of new ones; to know which are asked would cost a list that
            // every hit moves.
            answers.of.clear();
            answers.bytes = 0;
        }
        answers.bytes += bytes;
        answers.of.insert(question, answer);
    }
}

/// The bytes that the key words and filters of a question take besides their own size,
/// where the words are left out.
pub(crate) fn bytes(keywords: Option<&Keywords>, filters: &Filters) -> usize {
    let text = keywords.map_or(0, |keywords| keywords.text().len());
    text + filters.known.len() * size_of::<Known>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_bounded_by_number_and_by_bytes() {
        let remembered = Remembered::default();
        for number in 0..=QUESTIONS_MAX {
            remembered.remember(number, number, 0);
        }
        assert_eq!(remembered.get(&0), None);
        assert_eq!(remembered.get(&QUESTIONS_MAX), Some(QUESTIONS_MAX));
        assert_eq!(remembered.uses(), Uses { hits: 1, misses: QUESTIONS_MAX as u64 + 1 });
        let half = BYTES_MAX / 2;
        remembered.remember(1, 1, half);
        assert_eq!(remembered.answers.lock().of.len(), 2);
        remembered.remember(2, 2, half);
        assert_eq!((remembered.get(&1), remembered.get(&2)), (None, Some(2)));
        assert!(remembered.answers.lock().bytes <= BYTES_MAX);
    }
}
