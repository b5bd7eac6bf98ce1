//! Words that differ by typos. A typo is an extra, missing or wrong letter, or a swap of two
//! neighbours.
//!
//! The dictionary is searched with an automaton. Each state is a few numbers, computed from the
//! previous state and a letter. A table of all states would grow with the square of the length of
//! the word.

use std::ops::ControlFlow;

use tantivy::TantivyError;
use tantivy_fst::Automaton;

use super::frequent::MostFrequent;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::segment::dictionary::{Bytes, Selective};
use crate::search::plan::TERM_UNITS;
use crate::search::positions::DictionaryWord;

/// The fewest letters of a word in which typos are looked for. Too many words differ by one typo
/// from a shorter word.
pub(crate) const LETTERS_MIN: usize = 4;

/// The fewest letters of a word in which two typos are looked for.
pub(crate) const TWO_TYPOS_LETTERS_MIN: usize = 8;

/// The most letters, after folding, of a word in which typos are looked for. Longer words are
/// seldom typed, and a state of the automaton has a bit for each letter.
pub(crate) const LETTERS_MAX: usize = 24;

/// The most typos of a word.
const TYPOS_MAX: usize = 2;

/// The largest number of words that a mistyped word may stand for.
const WORDS_MAX: usize = 32;

/// Units of work of reading a letter of the dictionary.
const LETTER_UNITS: u64 = 1;

/// The most typos that are looked for in a word. None in words of fewer than 4 or more than 24
/// letters, and none in words with digits, since a wrong number is another number (contract 16.1).
pub(crate) fn typos_max(word: &str) -> usize {
    let letters = word.chars().take(LETTERS_MAX + 1).count();
    if word.chars().any(char::is_numeric) {
        return 0;
    }
    match letters {
        TWO_TYPOS_LETTERS_MIN..=LETTERS_MAX => 2,
        LETTERS_MIN..TWO_TYPOS_LETTERS_MIN => 1,
        _ => 0,
    }
}

/// The most frequent words of a part that differ from `word` by at most `typos` typos. If the word
/// is unfinished, it is also compared with the beginnings of the part's words.
pub(crate) fn neighbours(
    part: &Part,
    word: &str,
    typos: usize,
    is_unfinished: bool,
    meter: &Meter,
) -> Result<Vec<DictionaryWord>> {
    let Some(automaton) = Typos::of(word, typos, is_unfinished, meter) else {
        return Ok(Vec::new());
    };
    let terms = part.words.terms();
    let mut frequent = MostFrequent::new(part, terms, WORDS_MAX, meter);
    let mut add = |letters: &[u8], is_beginning: bool| -> Result<()> {
        if is_beginning {
            return frequent.add_beginning(letters);
        }
        meter.charge(TERM_UNITS)?;
        match terms.get(letters).map_err(TantivyError::from)? {
            Some(word) => frequent.add(&word),
            None => Ok(()),
        }
    };
    let walk = part.dictionary.search(&automaton, &mut |letters, is_beginning| match add(
        letters,
        is_beginning,
    ) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    });
    if let ControlFlow::Break(error) = walk {
        return Err(error);
    }
    // After a refused charge, the automaton accepts nothing.
    meter.check()?;
    frequent.finish()
}

/// Calls `each` as [`Dictionary::search`](crate::part::segment::dictionary::Dictionary::search)
/// does, with the words of other names that differ from `word` by at most `typos` typos.
pub(super) fn search_names<E>(
    part: &Part,
    word: &str,
    typos: usize,
    is_unfinished: bool,
    meter: &Meter,
    each: &mut impl FnMut(&[u8], bool) -> ControlFlow<E>,
) -> ControlFlow<E> {
    match Typos::of(word, typos, is_unfinished, meter) {
        Some(automaton) => part.name_words.dictionary.search(&automaton, each),
        None => ControlFlow::Continue(()),
    }
}

/// An automaton that accepts words that differ from the typed word by at most `typos` typos. If the
/// typed word is unfinished, it also accepts words that begin with an accepted word. It charges
/// each letter that it reads or looks for. After a refused charge, it accepts nothing.
struct Typos<'a> {
    letters: Vec<char>,
    /// For each ASCII letter, a bit for each place where the word has it.
    ascii: [u32; 128],
    typos: usize,
    is_unfinished: bool,
    meter: &'a Meter,
}

/// The state after some bytes of a word of the dictionary. Bit n of a set is set when n letters of
/// the typed word may have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// The letters that were read with no typo, with one typo, and so on.
    read: [u32; TYPOS_MAX + 1],
    /// The same sets, halfway through a swap: the first of two swapped letters was just read.
    swapped: [u32; TYPOS_MAX],
    /// The bits of a character whose bytes were read only in part, and the number of missing bytes.
    partial: u32,
    missing: u8,
    /// Whether the typed word is unfinished and was read to its end, so that any letters may
    /// follow.
    is_found: bool,
}

impl<'a> Typos<'a> {
    /// Makes the automaton; `None` for words of more than [`LETTERS_MAX`] letters.
    fn of(word: &str, typos: usize, is_unfinished: bool, meter: &'a Meter) -> Option<Self> {
        let letters: Vec<char> = word.chars().take(LETTERS_MAX + 1).collect();
        if letters.len() > LETTERS_MAX {
            return None;
        }
        let mut ascii = [0; 128];
        for (place, letter) in letters.iter().enumerate().filter(|(_, letter)| letter.is_ascii()) {
            ascii[*letter as usize] |= 1 << place;
        }
        Some(Self { letters, ascii, typos: typos.min(TYPOS_MAX), is_unfinished, meter })
    }

    /// The bit for all letters of the typed word.
    fn all(&self) -> u32 {
        1 << self.letters.len()
    }

    /// A bit for each place where the word has the letter.
    fn places(&self, letter: u32) -> u32 {
        match self.ascii.get(letter as usize) {
            Some(places) => *places,
            None => (0..)
                .zip(&self.letters)
                .fold(0, |places, (place, own)| places | u32::from(*own as u32 == letter) << place),
        }
    }

    fn next(&self, before: &State, letter: u32) -> State {
        let places = self.places(letter);
        let in_word = self.all() | (self.all() - 1);
        let mut state = State::default();
        state.read[0] = (before.read[0] & places) << 1 & in_word;
        for typos in 0..self.typos {
            let fewer = before.read[typos];
            state.swapped[typos] = fewer & places >> 1;
            let read = (before.read[typos + 1] & places) << 1
                // In this order: an extra letter, a wrong letter, two swapped letters, a missing
                // letter.
                | fewer
                | fewer << 1
                | (before.swapped[typos] & places) << 2
                | state.read[typos] << 1;
            state.read[typos + 1] = read & in_word;
        }
        state.is_found = self.is_unfinished && self.is_all(&state);
        state
    }

    /// A bit for each place whose letter may follow without another typo.
    fn expected(&self, state: &State) -> u32 {
        let swapped = state.swapped.iter().fold(0, |all, swapped| all | swapped);
        (state.read[self.typos] | swapped) & (self.all() - 1)
    }

    fn is_all(&self, state: &State) -> bool {
        state.read.iter().any(|read| read & self.all() != 0)
    }
}

impl Automaton for Typos<'_> {
    type State = State;

    fn start(&self) -> State {
        let mut state = State::default();
        for typos in 0..=self.typos {
            // This many of the first letters may be missing.
            state.read[typos] = 1 << typos & (self.all() | (self.all() - 1));
        }
        state.is_found = self.is_unfinished && self.is_all(&state);
        state
    }

    fn is_match(&self, state: &State) -> bool {
        state.is_found || state.missing == 0 && self.is_all(state)
    }

    fn can_match(&self, state: &State) -> bool {
        state.is_found || state.read.iter().chain(&state.swapped).any(|letters| *letters != 0)
    }

    fn will_always_match(&self, state: &State) -> bool {
        state.is_found
    }

    fn accept(&self, state: &State, byte: u8) -> State {
        if state.is_found {
            return *state;
        }
        if self.meter.charge(LETTER_UNITS).is_err() {
            return State::default();
        }
        // Terms are UTF-8, so the byte may be part of a character.
        let (partial, missing) = match byte {
            0x00..0x80 => (u32::from(byte), 0),
            0x80..0xc0 => (state.partial << 6 | u32::from(byte & 0x3f), state.missing.max(1) - 1),
            0xc0..0xe0 => (u32::from(byte & 0x1f), 1),
            0xe0..0xf0 => (u32::from(byte & 0x0f), 2),
            0xf0.. => (u32::from(byte & 0x07), 3),
        };
        if missing > 0 { State { partial, missing, ..*state } } else { self.next(state, partial) }
    }
}

impl Selective for Typos<'_> {
    /// After the last typo, only letters of the typed word may follow.
    fn only(&self, state: &State) -> Option<Bytes> {
        let may_err = state.read[..self.typos].iter().any(|letters| *letters != 0);
        if may_err || state.missing > 0 || state.is_found {
            return None;
        }
        let (mut expected, mut bytes) = (self.expected(state), Bytes::default());
        if self.meter.charge(LETTER_UNITS * u64::from(expected.count_ones())).is_err() {
            return Some(bytes);
        }
        while expected != 0 {
            let letter = self.letters[expected.trailing_zeros() as usize];
            expected &= expected - 1;
            bytes.insert(letter.encode_utf8(&mut [0; 4]).as_bytes()[0]);
        }
        Some(bytes)
    }
}

/// The number of typos between two words; `None` when there are more than `typos_max`.
pub(crate) fn typos_between(a: &str, b: &str, typos_max: usize) -> Option<usize> {
    if a.is_ascii() && b.is_ascii() {
        return typos_of(a.as_bytes(), b.as_bytes(), typos_max);
    }
    let [a, b]: [Vec<char>; 2] = [a, b].map(|word| word.chars().collect());
    typos_of(&a, &b, typos_max)
}

/// The number of typos between `beginning` and a beginning of `word`; `None` when there are more
/// than `typos_max`.
pub(crate) fn typos_of_beginning(beginning: &str, word: &str, typos_max: usize) -> Option<usize> {
    if beginning.is_ascii() && word.is_ascii() {
        return typos_of_any_beginning(beginning.as_bytes(), word.as_bytes(), typos_max);
    }
    let beginning: Vec<char> = beginning.chars().collect();
    let word: Vec<char> = word.chars().take(beginning.len() + typos_max).collect();
    typos_of_any_beginning(&beginning, &word, typos_max)
}

fn typos_of<L: Eq>(a: &[L], b: &[L], typos_max: usize) -> Option<usize> {
    // A typo changes the length by at most one letter.
    let typos_min = a.len().abs_diff(b.len());
    (typos_min..=typos_max).find(|typos| are_close(a, b, *typos))
}

fn typos_of_any_beginning<L: Eq>(beginning: &[L], word: &[L], typos_max: usize) -> Option<usize> {
    let most = (beginning.len() + typos_max).min(word.len());
    let least = beginning.len().saturating_sub(typos_max).min(most);
    (0..=typos_max)
        .find(|typos| (least..=most).any(|end| are_close(beginning, &word[..end], *typos)))
}

/// Whether two words differ by at most `typos` typos.
fn are_close<L: Eq>(a: &[L], b: &[L], typos: usize) -> bool {
    if a.len().abs_diff(b.len()) > typos {
        return false;
    }
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[common..], &b[common..]);
    let common = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - common], &b[..b.len() - common]);
    if typos == 0 || a.is_empty() || b.is_empty() {
        return a.len().max(b.len()) <= typos;
    }
    are_close(&a[1..], b, typos - 1)
        || are_close(a, &b[1..], typos - 1)
        || are_close(&a[1..], &b[1..], typos - 1)
        || a.len() > 1
            && b.len() > 1
            && a[0] == b[1]
            && a[1] == b[0]
            && are_close(&a[2..], &b[2..], typos - 1)
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
        fn words_are_close_by_typos(a in "[a-d]{0,6}", b in "[a-d]{0,6}") {
            let one = one_typo(&a);
            prop_assert_eq!(typos_between(&a, &b, 0).is_some(), a == b);
            prop_assert_eq!(typos_between(&a, &b, 1).is_some(), one.contains(&b));
            let begins = (0..=b.len()).any(|end| typos_between(&a, &b[..end], 1).is_some());
            prop_assert_eq!(typos_of_beginning(&a, &b, 1).is_some(), begins);
            prop_assert_eq!(typos_between(&a, &b, 2), typos_between(&b, &a, 2));
        }

        /// The search of the dictionary and the comparison with a row accept the same words,
        /// however many bytes a letter has.
        #[test]
        fn the_automaton_accepts_close_words(
            a in "[abé株😀]{0,7}",
            b in "[abé株😀]{0,8}",
            typos in 0_usize..=2,
        ) {
            prop_assert_eq!(
                accepts(&a, &b, typos, false),
                typos_between(&a, &b, typos).is_some()
            );
            prop_assert_eq!(
                accepts(&a, &b, typos, true),
                typos_of_beginning(&a, &b, typos).is_some()
            );
        }
    }

    fn accepts(word: &str, other: &str, typos: usize, is_unfinished: bool) -> bool {
        let meter = Meter::unlimited();
        let automaton = Typos::of(word, typos, is_unfinished, &meter).unwrap();
        let end = other.bytes().try_fold(automaton.start(), |state, byte| {
            let may_follow = automaton
                .only(&state)
                .is_none_or(|bytes| bytes.iter().any(|expected| expected == byte));
            (may_follow && automaton.can_match(&state)).then(|| automaton.accept(&state, byte))
        });
        end.is_some_and(|state| automaton.is_match(&state))
    }

    /// Folding turns U+FDFA into 15 letters, so the bound is that of folded words.
    #[test]
    fn long_words_are_not_guessed() {
        let ideographs: String = ('\u{4e00}'..).take(341).collect();
        let folded = crate::words::squeeze(&"\u{fdfa}".repeat(2));
        let longest = "a".repeat(LETTERS_MAX);
        let meter = Meter::unlimited();
        for (word, typos) in [(&*ideographs, 0), (&folded, 0), (&longest, 2), (&longest[1..], 2)] {
            assert_eq!(typos_max(word), typos, "{word}");
            assert_eq!(Typos::of(word, 1, true, &meter).is_some(), typos > 0, "{word}");
        }
        assert_eq!(typos_max(&(longest.clone() + "a")), 0);
        assert!(accepts(&longest, &(longest.clone() + "b"), 1, false));
    }

    #[test]
    fn an_automaton_is_small() {
        assert!(size_of::<State>() <= 28);
        assert!(size_of::<Typos<'_>>() + LETTERS_MAX * size_of::<char>() <= 1 << 10);
    }

    /// A search that finds nothing ends, too.
    #[test]
    fn letters_are_charged_as_they_are_read() {
        let meter = Meter::of(3 * LETTER_UNITS);
        let automaton = Typos::of("apple", 1, false, &meter).unwrap();
        let states = std::iter::successors(Some(automaton.start()), |state| {
            Some(automaton.accept(state, b'a'))
        });
        assert_eq!(states.take(4).filter(|state| automaton.can_match(state)).count(), 3);
        let refused = automaton.accept(&automaton.start(), b'a');
        assert!(!automaton.can_match(&refused) && meter.check().is_err());
    }

    #[test]
    fn typical_typos() {
        for (typed, meant, typos) in [
            ("mircosoft", "microsoft", 1),
            ("aplle", "apple", 1),
            ("бакн", "банк", 1),
            ("vodaphone", "vodafone", 2),
            ("schlumburger", "schlumberger", 1),
            ("volkswagon", "volkswagen", 1),
            ("berkshyer", "berkshire", 2),
            ("citigruop", "citigroup", 1),
        ] {
            assert_eq!(typos_between(typed, meant, 2), Some(typos), "{typed}");
        }
        assert_eq!(typos_of_beginning("mirco", "microsoft", 1), Some(1));
        assert_eq!(typos_of_beginning("mrico", "mexico", 1), None);
        for (word, typos) in
            [("aple", 1), ("ibm", 0), ("us037", 0), ("vodafon", 1), ("vodaphon", 2)]
        {
            assert_eq!(typos_max(word), typos, "{word}");
        }
    }
}
