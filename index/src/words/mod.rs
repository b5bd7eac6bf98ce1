//! Cutting texts into folded words (contract 9.4, 9.5). Rows and questions use the same
//! functions, so that the same text always gives the same words.
//!
//! White space separates the words of a text. Symbols and punctuation cut a word into
//! **pieces**. A piece is cut into **runs** where letters meet digits. A word without its
//! punctuation is **squeezed**. The terms of a row are the squeezed words, pieces and runs.

pub(crate) mod folding;
pub(crate) mod forms;
pub(crate) mod names;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// The character that replaces punctuation in a folded word.
const GAP: char = ' ';

/// The most bytes of a term of the index. A query has at most
/// [`QUERY_BYTES_MAX`](crate::QUERY_BYTES_MAX) bytes and folding makes a text at most eleven times
/// longer. So no query contains a longer term.
const TERM_BYTES_MAX: usize = 16 << 10;

/// The usual size of a folded word, in bytes.
const WORD_BYTES: usize = 32;

/// A folded word: letters and digits, with a [`GAP`] for every other character. Combining marks are
/// removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded(String);

/// The words of a text that contain a letter or a digit.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Folded> {
    text.split_whitespace().map(Folded::new).filter(|word| !word.is_empty())
}

/// Calls `each` with the words of [`words`], without an allocation for each word.
pub(crate) fn for_each_word(text: &str, mut each: impl FnMut(&Folded)) {
    let mut folded = Folded(String::with_capacity(WORD_BYTES));
    for word in text.split_whitespace() {
        folded.0.clear();
        if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            // Most words need only lower case.
            folded.0.push_str(word);
            folded.0.make_ascii_lowercase();
        } else {
            word.chars().for_each(|character| fold(character, &mut folded.0));
        }
        if !folded.is_empty() {
            each(&folded);
        }
    }
}

/// The folded text without blanks and punctuation.
pub(crate) fn squeeze(text: &str) -> String {
    Folded::new(text).squeezed()
}

/// Calls `each` with every term of the words of `text`, except terms longer than
/// [`TERM_BYTES_MAX`]. A term may come more than once.
pub(crate) fn for_each_term(text: &str, mut each: impl FnMut(&str)) {
    let mut each = |term: &str| {
        if term.len() <= TERM_BYTES_MAX {
            each(term);
        }
    };
    for_each_word(text, |word| {
        let mut pieces = word.pieces();
        let (first, second) = (pieces.next(), pieces.next());
        if second.is_some() {
            each(&word.squeezed());
            word.pieces().for_each(&mut each);
        } else if let Some(only) = first {
            each(only);
        }
        for piece in word.pieces() {
            let mut runs = runs_of(piece).peekable();
            if runs.peek().is_some_and(|run| run.len() < piece.len()) {
                runs.for_each(&mut each);
            }
        }
    });
}

impl Folded {
    fn new(word: &str) -> Self {
        let mut folded = String::with_capacity(word.len());
        word.chars().for_each(|character| fold(character, &mut folded));
        Self(folded)
    }

    /// Whether the word has neither a letter nor a digit.
    fn is_empty(&self) -> bool {
        self.pieces().next().is_none()
    }

    /// The word without its punctuation.
    pub(crate) fn squeezed(&self) -> String {
        self.pieces().collect()
    }

    /// Whether the word has no punctuation and equals `squeezed`.
    pub(crate) fn is(&self, squeezed: &str) -> bool {
        self.0 == squeezed
    }

    /// The word, if it has no punctuation.
    pub(crate) fn only_piece(&self) -> Option<&str> {
        (!self.0.contains(GAP)).then_some(&*self.0)
    }

    /// The runs of letters and the runs of digits, in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &str> {
        self.pieces().flat_map(runs_of)
    }

    /// The pieces between punctuation, in order.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        self.0.split(GAP).filter(|piece| !piece.is_empty())
    }
}

/// The runs of a piece.
fn runs_of(piece: &str) -> impl Iterator<Item = &str> {
    let mut rest = piece;
    std::iter::from_fn(move || {
        let is_number = rest.chars().next()?.is_numeric();
        let other_kind = |c: char| c.is_numeric() != is_number;
        let (run, after) = rest.split_at(rest.find(other_kind).unwrap_or(rest.len()));
        rest = after;
        Some(run)
    })
}

/// Whether this is a letter of the Arabic alphabet, which has one case. A ligature decomposes into
/// up to fifteen of them, so a text of ligatures has more letters than any other of its length; the
/// tables of all scripts take several hundred instructions for each.
fn is_arabic_letter(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{64a}')
}

/// Appends a folded character (contract 9.4). Symbols become a [`GAP`] before the decomposition,
/// since some of them, such as ™, decompose into letters.
fn fold(character: char, folded: &mut String) {
    if character.is_ascii() {
        let kept = character.is_ascii_alphanumeric();
        folded.push(if kept { character.to_ascii_lowercase() } else { GAP });
        return;
    }
    if is_combining_mark(character) {
        return;
    }
    if !character.is_alphanumeric() {
        folded.push(GAP);
        return;
    }
    decompose_compatible(character, |part| {
        if is_combining_mark(part) {
            return;
        }
        if is_arabic_letter(part) {
            folded.push(part);
            return;
        }
        if !part.is_alphanumeric() {
            folded.push(GAP);
            return;
        }
        for lower in part.to_lowercase().filter(|lower| !is_combining_mark(*lower)) {
            match lower {
                'ø' => folded.push('o'),
                'ł' => folded.push('l'),
                'đ' => folded.push('d'),
                'ı' => folded.push('i'),
                'ß' => folded.push_str("ss"),
                'æ' => folded.push_str("ae"),
                'œ' => folded.push_str("oe"),
                'þ' => folded.push_str("th"),
                // ς is the form of σ at the end of a word.
                'ς' => folded.push('σ'),
                other => folded.push(other),
            }
        }
    });
}

/// Whether two names are the same but for letter case, accents, blanks, and those commas, full stops
/// and apostrophes that are not part of a number.
pub(crate) fn is_written_alike(old: &str, new: &str) -> bool {
    let signs = |text: &str| -> Vec<char> {
        let chars: Vec<char> = text.chars().collect();
        let is_digit = |place: Option<usize>| {
            place.and_then(|place| chars.get(place)).is_some_and(char::is_ascii_digit)
        };
        let signs = chars.iter().enumerate().filter(|(place, sign)| match sign {
            ',' | '.' | '\'' => is_digit(place.checked_sub(1)) && is_digit(Some(place + 1)),
            sign => !sign.is_alphanumeric() && !sign.is_whitespace(),
        });
        signs.map(|(_, sign)| *sign).collect()
    };
    squeeze(old) == squeeze(new) && signs(old) == signs(new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        for_each_term(text, |term| terms.push(term.to_owned()));
        terms
    }

    /// contract 9.5: a word is found without its punctuation, by its pieces, and by its runs.
    #[test]
    fn a_word_counts_whole_in_pieces_and_in_runs() {
        for (text, expected) in [
            ("BRK/B", &["brkb", "brk", "b"][..]),
            ("SJIM11", &["sjim11", "sjim", "11"]),
            ("05/20/26", &["052026", "05", "20", "26"]),
            ("A1/2B", &["a12b", "a1", "2b", "a", "1", "2", "b"]),
            ("IBM 3", &["ibm", "3"]),
            ("(US)", &["us"]),
            ("--- / ™", &[]),
            ("&c", &["c"]),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    /// contract 9.4: the folding of words.
    #[test]
    fn folding() {
        for (text, expected) in [
            ("Société Générale", &["societe", "generale"][..]),
            ("AT&T", &["att", "at", "t"]),
            ("X™Y", &["xy", "x", "y"]),
            ("ØRSTED Łódź Đ", &["orsted", "lodz", "d"]),
            ("Straße STRAẞE", &["strasse", "strasse"]),
            ("Æon Œuvre Þór", &["aeon", "oeuvre", "thor"]),
            ("İŞ BANKASI ısı", &["is", "bankasi", "isi"]),
            ("ＡＢＣ１２", &["abc12", "abc", "12"]),
            ("½", &["12", "1", "2"]),
            ("トヨタ自動車", &["トヨタ自動車"]),
            ("Газпром", &["газпром"]),
            ("ΟΔΟΣ οδος οδός", &["οδοσ", "οδοσ", "οδοσ"]),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
        assert_eq!(squeeze(" AAPL  251219C00200000 "), "aapl251219c00200000");
        assert_eq!(squeeze(" - "), "");
    }

    /// The short way for Arabic letters gives what the tables of all scripts give.
    #[test]
    fn arabic_letters() {
        for letter in ('\u{600}'..='\u{6ff}').filter(|letter| is_arabic_letter(*letter)) {
            assert!(letter.is_alphabetic() && !letter.is_numeric(), "{letter:?}");
            assert!(!is_combining_mark(letter) && letter.to_lowercase().eq([letter]), "{letter:?}");
        }
        assert_eq!(squeeze("\u{fdfa}"), "صلىاللهعليهوسلم");
    }

    #[test]
    fn a_term_that_no_query_can_contain_is_left_out() {
        assert_eq!(terms(&"x".repeat(TERM_BYTES_MAX + 1)), [] as [&str; 0]);
        assert_eq!(terms(&"x".repeat(TERM_BYTES_MAX)).len(), 1);
        let longest = "\u{fdfa}".repeat(crate::QUERY_BYTES_MAX / 3);
        assert!(squeeze(&longest).len() < TERM_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in any::<String>()) {
            let squeezed = squeeze(&text);
            prop_assert_eq!(squeeze(&squeezed), squeezed.clone());
            prop_assert!(squeezed.chars().all(char::is_alphanumeric));
            prop_assert_eq!(words(&text).map(|word| word.squeezed()).collect::<String>(), squeezed);
        }

        #[test]
        fn runs_make_up_the_word(text in any::<String>()) {
            for word in words(&text) {
                prop_assert_eq!(word.runs().collect::<String>(), word.squeezed());
            }
        }
    }
}
