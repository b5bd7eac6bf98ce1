//! One typo: a letter too much, too few or another, or two neighbours swapped.
//!
//! The dictionary is walked with an automaton whose states are a few numbers, worked out
//! as letters come: it needs no table, whose size would grow with the square of the word's
//! length and with the bytes of its letters.

use tantivy::TantivyError;
use tantivy::postings::TermInfo;
use tantivy_fst::Automaton;

use super::prefix::{Frequent, TERM_READ_UNITS, TERMS_READ_MAX};
use crate::error::Result;
use crate::meter::{INLINE_UNITS_MAX, Meter};
use crate::part::Part;

/// Shorter words have too many neighbours to be guessed.
pub(crate) const LETTERS_MIN: usize = 4;

/// Longer words, once they are folded, are not guessed at: hardly anybody types one, and a
/// state of the automaton has a bit for each letter.
pub(crate) const LETTERS_MAX: usize = 24;

/// Words that are taken for a mistyped one.
const WORDS_MAX: usize = 32;

/// Units of a walk over the dictionary beside the words that it finds. It cannot be
/// metered while it finds none, and so it is never done inline.
const WALK_UNITS: u64 = 2 * INLINE_UNITS_MAX;

/// Whether a typo may be in a word: it has letters enough and not too many, and no digit,
/// for a number that is not right is another number.
pub(crate) fn may_be_mistyped(word: &str) -> bool {
    let letters = word.chars().take(LETTERS_MAX + 1).count();
    (LETTERS_MIN..=LETTERS_MAX).contains(&letters) && !word.chars().any(char::is_numeric)
}

/// The words of a part that are one typo away from `word`, or begin with what is.
pub(crate) fn neighbours(
    part: &Part,
    word: &str,
    is_begun: bool,
    meter: &Meter,
) -> Result<Vec<TermInfo>> {
    let Some(automaton) = OneTypo::of(word, is_begun) else { return Ok(Vec::new()) };
    meter.charge(WALK_UNITS)?;
    let inverted = part.segment.inverted_index(part.fields.words)?;
    let stream = inverted.terms().search(automaton).into_stream();
    let mut terms = stream.map_err(TantivyError::from)?;
    let mut found = Frequent::new(WORDS_MAX);
    let mut read = 0;
    while read < TERMS_READ_MAX && terms.advance() {
        meter.charge(TERM_READ_UNITS)?;
        read += 1;
        found.add(terms.value());
    }
    Ok(found.finish())
}

/// The words with at most one typo, or the beginnings of words with at most one.
struct OneTypo {
    letters: Vec<char>,
    /// For each ASCII letter a bit for each place of the word where it is.
    ascii: [u32; 128],
    is_begun: bool,
}

/// What was read of a word so far. A bit of each set stands for a number of letters of the
/// asked word that may be behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Read {
    /// Without a typo.
    right: u32,
    /// With one.
    mistyped: u32,
    /// In the midst of two letters that are swapped.
    swapped: u32,
    /// The bits of a character whose bytes are not all read, and how many bytes are missing.
    partial: u32,
    missing: u8,
    /// It begins with what was asked for, whatever follows.
    is_found: bool,
}

impl OneTypo {
    /// `None` for words of more than [`LETTERS_MAX`] letters.
    fn of(word: &str, is_begun: bool) -> Option<Self> {
        let letters: Vec<char> = word.chars().take(LETTERS_MAX + 1).collect();
        if letters.len() > LETTERS_MAX {
            return None;
        }
        let mut ascii = [0; 128];
        for (place, letter) in letters.iter().enumerate().filter(|(_, letter)| letter.is_ascii()) {
            ascii[*letter as usize] |= 1 << place;
        }
        Some(Self { letters, ascii, is_begun })
    }

    /// The bit that stands for all letters.
    fn all(&self) -> u32 {
        1 << self.letters.len()
    }

    /// A bit for each place of the word where the letter is.
    fn places(&self, letter: u32) -> u32 {
        match self.ascii.get(letter as usize) {
            Some(places) => *places,
            None => (0..)
                .zip(&self.letters)
                .fold(0, |places, (place, own)| places | u32::from(*own as u32 == letter) << place),
        }
    }

    fn read(&self, read: Read, letter: u32) -> Read {
        let Read { right, mistyped, swapped, .. } = read;
        let places = self.places(letter);
        let in_word = self.all() | (self.all() - 1);
        let next = (right & places) << 1;
        let mistyped = (mistyped & places) << 1
            // A letter too much, another letter, two that are swapped, a letter too few.
            | right
            | right << 1
            | (swapped & places) << 2
            | next << 1;
        let read = Read {
            right: next & in_word,
            mistyped: mistyped & in_word,
            swapped: right & places >> 1,
            ..Read::default()
        };
        Read { is_found: self.is_begun && self.is_all(&read), ..read }
    }

    fn is_all(&self, read: &Read) -> bool {
        (read.right | read.mistyped) & self.all() != 0
    }
}

impl Automaton for OneTypo {
    type State = Read;

    fn start(&self) -> Read {
        // The first letter may be the one that is missing.
        let read = Read { right: 1, mistyped: 1 << 1, ..Read::default() };
        Read { is_found: self.is_begun && self.is_all(&read), ..read }
    }

    fn is_match(&self, read: &Read) -> bool {
        read.is_found || read.missing == 0 && self.is_all(read)
    }

    fn can_match(&self, read: &Read) -> bool {
        read.is_found || read.right | read.mistyped | read.swapped != 0
    }

    fn will_always_match(&self, read: &Read) -> bool {
        read.is_found
    }

    fn accept(&self, read: &Read, byte: u8) -> Read {
        if read.is_found {
            return *read;
        }
        // Terms are UTF-8.
        let (partial, missing) = match byte {
            0x00..0x80 => (u32::from(byte), 0),
            0x80..0xc0 => (read.partial << 6 | u32::from(byte & 0x3f), read.missing.max(1) - 1),
            0xc0..0xe0 => (u32::from(byte & 0x1f), 1),
            0xe0..0xf0 => (u32::from(byte & 0x0f), 2),
            0xf0.. => (u32::from(byte & 0x07), 3),
        };
        if missing > 0 { Read { partial, missing, ..*read } } else { self.read(*read, partial) }
    }
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

        /// The dictionary is walked to the words that reading a row would take, whatever
        /// number of bytes their letters have.
        #[test]
        fn the_automaton_accepts_what_is_close(a in "[abé株😀]{0,7}", b in "[abé株😀]{0,8}") {
            prop_assert_eq!(accepts(&a, &b, false), is_close(&a, &b));
            prop_assert_eq!(accepts(&a, &b, true), begins_close(&a, &b));
        }
    }

    fn accepts(word: &str, other: &str, is_begun: bool) -> bool {
        let automaton = OneTypo::of(word, is_begun).unwrap();
        let read = other.bytes().try_fold(automaton.start(), |read, byte| {
            automaton.can_match(&read).then(|| automaton.accept(&read, byte))
        });
        read.is_some_and(|read| automaton.is_match(&read))
    }

    /// Folding makes 15 letters of U+FDFA, so the bound is on what is left after it.
    #[test]
    fn no_long_word_is_guessed_at() {
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

    /// However long the word and whatever its letters, a state is a few numbers.
    #[test]
    fn an_automaton_is_small() {
        assert!(size_of::<Read>() <= 24);
        assert!(size_of::<OneTypo>() + LETTERS_MAX * size_of::<char>() <= 1 << 10);
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
