//! Words that differ by one typo: a letter too many, too few or wrong, or two neighbours swapped.
//!
//! The dictionary is searched with an automaton. Its states are a few numbers, which are computed
//! from letter to letter. A table of all states would grow with the square of the length of the
//! word.

use tantivy::TantivyError;
use tantivy::postings::TermInfo;
use tantivy_fst::Automaton;

use super::prefix::most_frequent;
use crate::error::Result;
use crate::meter::{INLINE_UNITS_MAX, Meter};
use crate::part::Part;

/// Shorter words are not guessed, since too many words differ from them by one typo.
pub(crate) const LETTERS_MIN: usize = 4;

/// Words that are longer after folding are not guessed. They are seldom typed, and a state of the
/// automaton has a bit for each letter.
pub(crate) const LETTERS_MAX: usize = 24;

/// The largest number of words that a word with a typo is taken for.
const WORDS_MAX: usize = 32;

/// Units of work of searching the dictionary, without those of the words that are found. The
/// search cannot be stopped while it finds nothing, so it is never done inline.
const WALK_UNITS: u64 = 2 * INLINE_UNITS_MAX;

/// Whether a typo is looked for in a word: one of 4 to 24 letters and no digits, since a wrong
/// number is another number (contract 16.1).
pub(crate) fn may_be_mistyped(word: &str) -> bool {
    let letters = word.chars().take(LETTERS_MAX + 1).count();
    (LETTERS_MIN..=LETTERS_MAX).contains(&letters) && !word.chars().any(char::is_numeric)
}

/// The most frequent words of a part that differ from `word` by at most one typo. When the word is
/// unfinished, also words with a beginning that does.
pub(crate) fn neighbours(
    part: &Part,
    word: &str,
    is_unfinished: bool,
    meter: &Meter,
) -> Result<Vec<TermInfo>> {
    let Some(automaton) = OneTypo::of(word, is_unfinished) else { return Ok(Vec::new()) };
    meter.charge(WALK_UNITS)?;
    let inverted = part.segment.inverted_index(part.fields.words)?;
    let stream = inverted.terms().search(automaton).into_stream();
    most_frequent(stream.map_err(TantivyError::from)?, WORDS_MAX, meter)
}

/// An automaton that accepts words with at most one typo, or words with such a beginning.
struct OneTypo {
    letters: Vec<char>,
    /// For each ASCII letter, a bit for each place where it is in the word.
    ascii: [u32; 128],
    is_unfinished: bool,
}

/// The state after some bytes of a word of the dictionary. Bit n of a set is set when n letters of
/// the typed word may have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// Letters that were read without a typo.
    right: u32,
    /// Letters that were read with one typo.
    mistyped: u32,
    /// Letters that were read before two swapped letters, of which the first was just read.
    swapped: u32,
    /// The bits of a character of which not all bytes were read, and the number of missing bytes.
    partial: u32,
    missing: u8,
    /// Whether the whole typed word was read and any letters may follow.
    is_found: bool,
}

impl OneTypo {
    /// `None` for words of more than [`LETTERS_MAX`] letters.
    fn of(word: &str, is_unfinished: bool) -> Option<Self> {
        let letters: Vec<char> = word.chars().take(LETTERS_MAX + 1).collect();
        if letters.len() > LETTERS_MAX {
            return None;
        }
        let mut ascii = [0; 128];
        for (place, letter) in letters.iter().enumerate().filter(|(_, letter)| letter.is_ascii()) {
            ascii[*letter as usize] |= 1 << place;
        }
        Some(Self { letters, ascii, is_unfinished })
    }

    /// The bit for all letters of the typed word.
    fn all(&self) -> u32 {
        1 << self.letters.len()
    }

    /// A bit for each place where the letter is in the word.
    fn places(&self, letter: u32) -> u32 {
        match self.ascii.get(letter as usize) {
            Some(places) => *places,
            None => (0..)
                .zip(&self.letters)
                .fold(0, |places, (place, own)| places | u32::from(*own as u32 == letter) << place),
        }
    }

    fn next(&self, state: State, letter: u32) -> State {
        let State { right, mistyped, swapped, .. } = state;
        let places = self.places(letter);
        let in_word = self.all() | (self.all() - 1);
        let next = (right & places) << 1;
        let mistyped = (mistyped & places) << 1
            // In this order: a letter too many, a wrong letter, two swapped letters, a letter too
            // few.
            | right
            | right << 1
            | (swapped & places) << 2
            | next << 1;
        let state = State {
            right: next & in_word,
            mistyped: mistyped & in_word,
            swapped: right & places >> 1,
            ..State::default()
        };
        State { is_found: self.is_unfinished && self.is_all(&state), ..state }
    }

    fn is_all(&self, state: &State) -> bool {
        (state.right | state.mistyped) & self.all() != 0
    }
}

impl Automaton for OneTypo {
    type State = State;

    fn start(&self) -> State {
        // The first letter may be missing.
        let state = State { right: 1, mistyped: 1 << 1, ..State::default() };
        State { is_found: self.is_unfinished && self.is_all(&state), ..state }
    }

    fn is_match(&self, state: &State) -> bool {
        state.is_found || state.missing == 0 && self.is_all(state)
    }

    fn can_match(&self, state: &State) -> bool {
        state.is_found || state.right | state.mistyped | state.swapped != 0
    }

    fn will_always_match(&self, state: &State) -> bool {
        state.is_found
    }

    fn accept(&self, state: &State, byte: u8) -> State {
        if state.is_found {
            return *state;
        }
        // Terms are UTF-8.
        let (partial, missing) = match byte {
            0x00..0x80 => (u32::from(byte), 0),
            0x80..0xc0 => (state.partial << 6 | u32::from(byte & 0x3f), state.missing.max(1) - 1),
            0xc0..0xe0 => (u32::from(byte & 0x1f), 1),
            0xe0..0xf0 => (u32::from(byte & 0x0f), 2),
            0xf0.. => (u32::from(byte & 0x07), 3),
        };
        if missing > 0 { State { partial, missing, ..*state } } else { self.next(*state, partial) }
    }
}

/// Whether two words differ by at most one typo.
pub(crate) fn is_close(a: &str, b: &str) -> bool {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    are_close(&a, &b)
}

/// Whether a beginning of `word` differs from `beginning` by at most one typo.
pub(crate) fn begins_close(beginning: &str, word: &str) -> bool {
    let beginning: Vec<char> = beginning.chars().collect();
    let word: Vec<char> = word.chars().take(beginning.len() + 1).collect();
    let least = beginning.len().saturating_sub(1).min(word.len());
    (least..=word.len()).any(|end| are_close(&beginning, &word[..end]))
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

    /// The word, and all words that one typo makes of it.
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
        fn words_are_close_by_one_typo(a in "[a-d]{0,6}", b in "[a-d]{0,6}") {
            prop_assert_eq!(is_close(&a, &b), one_typo(&a).contains(&b));
            prop_assert_eq!(is_close(&a, &b), is_close(&b, &a));
            let begins = (0..=b.len()).any(|end| is_close(&a, &b[..end]));
            prop_assert_eq!(begins_close(&a, &b), begins);
        }

        /// The search of the dictionary and the comparison with a row accept the same words,
        /// however many bytes a letter has.
        #[test]
        fn the_automaton_accepts_close_words(a in "[abé株😀]{0,7}", b in "[abé株😀]{0,8}") {
            prop_assert_eq!(accepts(&a, &b, false), is_close(&a, &b));
            prop_assert_eq!(accepts(&a, &b, true), begins_close(&a, &b));
        }
    }

    fn accepts(word: &str, other: &str, is_unfinished: bool) -> bool {
        let automaton = OneTypo::of(word, is_unfinished).unwrap();
        let end = other.bytes().try_fold(automaton.start(), |state, byte| {
            automaton.can_match(&state).then(|| automaton.accept(&state, byte))
        });
        end.is_some_and(|state| automaton.is_match(&state))
    }

    /// Folding turns U+FDFA into 15 letters, so the bound is that of folded words.
    #[test]
    fn long_words_are_not_guessed() {
        let ideographs: String = ('\u{4e00}'..).take(341).collect();
        let folded = crate::words::squeeze(&"\u{fdfa}".repeat(2));
        let longest = "a".repeat(LETTERS_MAX);
        for (word, may_be) in
            [(&*ideographs, false), (&folded, false), (&longest, true), (&longest[1..], true)]
        {
            assert_eq!(may_be_mistyped(word), may_be, "{word}");
            assert_eq!(OneTypo::of(word, true).is_some(), may_be, "{word}");
        }
        assert!(!may_be_mistyped(&(longest.clone() + "a")));
        assert!(accepts(&longest, &(longest.clone() + "b"), false));
    }

    #[test]
    fn an_automaton_is_small() {
        assert!(size_of::<State>() <= 24);
        assert!(size_of::<OneTypo>() + LETTERS_MAX * size_of::<char>() <= 1 << 10);
    }

    #[test]
    fn typical_typos() {
        for (typed, meant) in [("mircosoft", "microsoft"), ("aplle", "apple"), ("бакн", "банк")]
        {
            assert!(is_close(typed, meant), "{typed}");
        }
        assert!(!is_close("vodaphone", "vodafone"));
        assert!(begins_close("mirco", "microsoft") && !begins_close("mrico", "mexico"));
        assert!(may_be_mistyped("aple") && !may_be_mistyped("ibm") && !may_be_mistyped("us037"));
    }
}
