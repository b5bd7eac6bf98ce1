//! One typo: a letter too much, too few or another, or two neighbours swapped.

use tantivy::postings::TermInfo;
use tantivy::query::FuzzyTermQuery;
use tantivy::{TantivyError, Term};

use super::prefix::frequent;
use crate::error::Result;
use crate::part::Part;

/// Shorter words have too many neighbours to be guessed.
pub(crate) const LETTERS_MIN: usize = 4;

/// Words that are taken for a mistyped one.
const WORDS_MAX: usize = 32;

/// Whether a typo may be in a word: it has letters enough, and no digit, for a number
/// that is not right is another number.
pub(crate) fn may_be_mistyped(word: &str) -> bool {
    word.chars().count() >= LETTERS_MIN && !word.chars().any(char::is_numeric)
}

/// The words of a part that are one typo away from `word`, or begin with what is.
pub(crate) fn neighbours(part: &Part, word: &str, is_begun: bool) -> Result<Vec<TermInfo>> {
    let term = Term::from_field_text(part.fields.words, word);
    let query = match is_begun {
        true => FuzzyTermQuery::new_prefix(term, 1, true),
        false => FuzzyTermQuery::new(term, 1, true),
    };
    let automaton = query.automaton()?;
    let inverted = part.segment.inverted_index(part.fields.words)?;
    let stream = inverted.terms().search(automaton).into_stream();
    let mut terms = stream.map_err(TantivyError::from)?;
    let mut found = Vec::new();
    while terms.advance() {
        found.push(terms.value().clone());
    }
    Ok(frequent(found, WORDS_MAX))
}

/// Whether one typo makes the one word the other, or none.
pub(crate) fn is_close(a: &str, b: &str) -> bool {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    are_close(&a, &b)
}

/// Whether one typo makes the word the beginning of the other.
pub(crate) fn begins_close(begun: &str, word: &str) -> bool {
    let begun: Vec<char> = begun.chars().collect();
    let word: Vec<char> = word.chars().take(begun.len() + 1).collect();
    let least = begun.len().saturating_sub(1).min(word.len());
    (least..=word.len()).any(|end| are_close(&begun, &word[..end]))
}

fn are_close(a: &[char], b: &[char]) -> bool {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[common..], &b[common..]);
    let common = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&a[..a.len() - common], &b[..b.len() - common]) {
        ([], []) | ([_], [] | [_]) | ([], [_]) => true,
        ([a1, a2], [b1, b2]) => a1 == b2 && a2 == b1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All that one typo makes of a word, by making it.
    fn one_typo(word: &str) -> Vec<String> {
        let chars: Vec<char> = word.chars().collect();
        let mut all = vec![word.to_owned()];
        for place in 0..=chars.len() {
            for letter in 'a'..='d' {
                let mut more = chars.clone();
                more.insert(place, letter);
                all.push(more.into_iter().collect());
                if place < chars.len() {
                    let mut other = chars.clone();
                    other[place] = letter;
                    all.push(other.into_iter().collect());
                }
            }
            if place < chars.len() {
                let mut less = chars.clone();
                less.remove(place);
                all.push(less.into_iter().collect());
            }
            if place + 1 < chars.len() {
                let mut swapped = chars.clone();
                swapped.swap(place, place + 1);
                all.push(swapped.into_iter().collect());
            }
        }
        all
    }

    proptest! {
        #[test]
        fn close_is_what_one_typo_makes(a in "[a-d]{0,6}", b in "[a-d]{0,6}") {
            prop_assert_eq!(is_close(&a, &b), one_typo(&a).contains(&b));
            prop_assert_eq!(is_close(&a, &b), is_close(&b, &a));
            let begins = (0..=b.len()).any(|end| is_close(&a, &b[..end]));
            prop_assert_eq!(begins_close(&a, &b), begins);
        }
    }

    #[test]
    fn what_people_mistype() {
        for (typed, meant) in [("mircosoft", "microsoft"), ("aplle", "apple"), ("бакн", "банк")]
        {
            assert!(is_close(typed, meant), "{typed}");
        }
        assert!(!is_close("vodaphone", "vodafone"));
        assert!(begins_close("mirco", "microsoft") && !begins_close("mrico", "mexico"));
        assert!(may_be_mistyped("aple") && !may_be_mistyped("ibm") && !may_be_mistyped("us037"));
    }
}
