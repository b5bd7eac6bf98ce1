//! The normal form of a whole name (contract 16.16): its words by the folding table, without legal
//! forms, joined. Names with one form mean the same company, as people write it.
//!
//! A search does not use forms: its keys are [`common_name`](super::names::common_name).

use unicode_normalization::UnicodeNormalization as _;

use super::Folded;
use super::folding::{folding, is_unspaced, script};

/// The sign that stands for every "and".
const AND: &str = "&";

/// The fewest letters that must remain when a legal form is left out.
const LETTERS_MIN: usize = 3;

/// The fewest characters of a text without spaces that must remain, and its shortest beginning.
const UNSPACED_MIN: usize = 2;

/// The longest beginning of a text without spaces that is a key only because of its length.
const UNSPACED_CHARS_MAX: usize = 4;

/// The most beginnings of a text without spaces.
pub(crate) const BEGINNINGS_MAX: usize = 8;

/// The most bytes of a form. A longer text has no form.
const FORM_BYTES_MAX: usize = 256;

/// A name as canonical words, without legal forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Words {
    words: Vec<String>,
    /// The letter of the share class.
    class: Option<String>,
    is_preferred: bool,
}

/// The forms of a text, as typed: one, or two if it has letters that are also written as two.
pub(crate) fn forms(text: &str) -> Vec<String> {
    let forms = spellings(text).iter().map(|text| Words::of(text).joined(true)).collect();
    kept(forms)
}

/// The forms by which a name is found: those of [`forms`], these without the share class, and the
/// beginnings of a text without spaces ([`BEGINNINGS_MAX`] at most).
pub(crate) fn forms_of_name(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for text in spellings(text) {
        let words = Words::of(&text);
        forms.push(words.joined(true));
        if words.class.is_some() || words.is_preferred {
            forms.push(words.joined(false));
        }
        forms.extend(words.beginnings());
    }
    kept(forms)
}

/// The letter of the share class that a text names: `alphabet class a`, `brk-b`.
pub(crate) fn class_of(text: &str) -> Option<String> {
    Words::of(text).class
}

/// Whether a name is of the share class with this letter; `None` when it names no class.
pub(crate) fn has_class(name: &str, letter: &str) -> Option<bool> {
    if let Some(class) = class_of(name) {
        return Some(class == letter);
    }
    // Vendors write `NEWS CORP. A DL-,01` and `News Corp A`.
    let mut last = String::new();
    for word in super::words(name) {
        if word.pieces().any(|piece| piece == letter) {
            return Some(true);
        }
        last = word.squeezed();
    }
    (last.len() == 1 && last.as_bytes()[0].is_ascii_alphabetic()).then_some(false)
}

/// The runs of one script in the words of a text without spaces, except the first run of a word,
/// by which its beginning finds it; [`BEGINNINGS_MAX`] at most. Legal forms are left out.
pub(crate) fn inner_runs(text: &str) -> Vec<String> {
    if !has_unspaced(text) {
        return Vec::new();
    }
    let mut runs = Vec::new();
    for word in super::words(text) {
        let word = word.squeezed();
        let trimmed = without_joined(&word);
        // A legal form in front makes even the first run an inner one.
        let first = usize::from(word.starts_with(trimmed));
        let places = changes(trimmed);
        let starts = std::iter::once(0).chain(places.iter().copied()).skip(first);
        let ends = places.iter().copied().chain([trimmed.len()]).skip(first);
        for (start, end) in starts.zip(ends) {
            let run = &trimmed[start..end];
            if run.chars().all(|c| script(c).is_some()) && syllables(run).len() >= UNSPACED_MIN {
                runs.push(run.to_owned());
            }
        }
    }
    runs.truncate(BEGINNINGS_MAX);
    runs
}

/// The forms, each once, without those that are empty or too long.
fn kept(mut forms: Vec<String>) -> Vec<String> {
    forms.retain(|form| !form.is_empty() && form.len() <= FORM_BYTES_MAX);
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// The text, and the text with two letters for each umlaut, if it has any. Two letters are never
/// made an umlaut.
fn spellings(text: &str) -> Vec<String> {
    let mut spellings = vec![text.to_owned()];
    if !text.is_ascii() {
        let mut other = String::with_capacity(text.len());
        let mut has_umlaut = false;
        for letter in text.nfc() {
            match folding().umlaut(letter) {
                Some(two) => {
                    has_umlaut = true;
                    other.push_str(two);
                }
                None => other.push(letter),
            }
        }
        if has_umlaut {
            spellings.push(other);
        }
    }
    spellings
}

impl Words {
    fn of(text: &str) -> Self {
        let table = folding();
        let mut words: Vec<String> = Vec::new();
        let mut class = None;
        for word in text.split_whitespace() {
            let mut is_first = true;
            for part in word.split(['&', '+', '＆', '＋']) {
                if !std::mem::take(&mut is_first) {
                    words.push(AND.to_owned());
                    class = None;
                }
                let folded = Folded::new(part);
                let squeezed = folded.squeezed();
                if squeezed.is_empty() {
                    continue;
                }
                class = None;
                if table.is_and(&squeezed) {
                    words.push(AND.to_owned());
                } else if is_one_word(part, &folded, table.canonical(&squeezed)) {
                    words.push(table.canonical(&squeezed).to_owned());
                } else {
                    let pieces = folded.pieces().map(|piece| match table.is_and(piece) {
                        true => AND,
                        false => table.canonical(piece),
                    });
                    words.extend(pieces.map(str::to_owned));
                    class = letter_of_class(part);
                }
            }
        }
        // A letter is a class only behind a name, which folding may leave nothing of.
        match words.len() {
            0 | 1 => class = None,
            _ if class.is_some() => drop(words.pop()),
            _ => {}
        }
        let mut name = Self { words, class, is_preferred: false };
        name.strip();
        name
    }

    /// Leaves out legal forms, and takes the share class from the end.
    fn strip(&mut self) {
        let table = folding();
        while let Some(last) = self.words.last() {
            let count = self.words.len();
            let is_letter = last.chars().count() == 1 && last != AND;
            let long = table.long_ending(&self.words);
            if long > 0 && self.has_letters(count - long) {
                self.words.truncate(count - long);
                continue;
            }
            if last == AND && count > 1 {
                self.words.pop();
            } else if is_letter
                && self.class.is_none()
                && count > 2
                && table.is_class(&self.words[count - 2])
            {
                self.class = self.words.pop();
                self.words.pop();
            } else if last == "preferred" && !self.is_preferred && self.has_letters(count - 1) {
                self.is_preferred = true;
                self.words.pop();
            } else if table.is_ending(last) && self.has_letters(count - 1) {
                self.words.pop();
            } else {
                break;
            }
        }
        while let [first, rest @ ..] = &self.words[..]
            && (first == AND || table.is_beginning(first))
            && letters(rest) >= LETTERS_MIN
        {
            self.words.remove(0);
        }
        for word in &mut self.words {
            let trimmed = without_joined(word);
            if trimmed.len() < word.len() {
                *word = trimmed.to_owned();
            }
        }
    }

    /// Whether the first words have enough letters to leave out the others.
    fn has_letters(&self, count: usize) -> bool {
        letters(&self.words[..count]) >= LETTERS_MIN
    }

    fn joined(&self, with_class: bool) -> String {
        let mut form = self.words.concat();
        if with_class && !form.is_empty() {
            if let Some(class) = &self.class {
                form.push('/');
                form.push_str(class);
            }
            if self.is_preferred {
                form.push_str("/preferred");
            }
        }
        form
    }

    /// The beginnings of the first word, if it is of a script without spaces: those of two to four
    /// characters, and those that end where the script changes.
    fn beginnings(&self) -> Vec<String> {
        let Some(first) = self.words.first().filter(|word| has_unspaced(word)) else {
            return Vec::new();
        };
        let is_last = self.words.len() == 1;
        let ends = syllables(first);
        // Letters at the beginning, as in `CMS能源`, are only found together.
        let is_unspaced = |end: &usize| first[..*end].chars().next_back().is_some_and(is_unspaced);
        let by_length = ends.iter().copied().skip(UNSPACED_MIN - 1).filter(is_unspaced);
        let by_length = by_length.take(UNSPACED_CHARS_MAX + 1 - UNSPACED_MIN);
        let whole = (!is_last).then_some(first.len());
        let mut all: Vec<usize> =
            by_length.chain(changes(first)).chain(whole).filter(|end| *end > 0).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|end| {
            (*end < first.len() || !is_last) && first[..*end].chars().nth(1).is_some()
        });
        all.truncate(BEGINNINGS_MAX);
        all.into_iter().map(|end| first[..end].to_owned()).collect()
    }
}

/// Whether the punctuation of a word does not separate words: in a legal form or an abbreviation
/// such as `S.p.A.`, and between single letters with points.
fn is_one_word(word: &str, folded: &Folded, canonical: &str) -> bool {
    let is_initials = || word.contains('.') && folded.pieces().all(|it| it.chars().count() == 1);
    folded.only_piece().is_some() || folding().is_ending(canonical) || is_initials()
}

/// The letter of the share class at the end of a word such as `INC-A` or `BRK/B`.
fn letter_of_class(word: &str) -> Option<String> {
    let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    let (before, letter) = word.rsplit_once(['-', '/'])?;
    let is_letter = letter.chars().count() == 1 && letter.chars().all(char::is_alphabetic);
    let folded = Folded::new(letter).squeezed();
    (is_letter && !folded.is_empty() && before.contains(char::is_alphanumeric)).then_some(folded)
}

fn letters(words: &[String]) -> usize {
    words.iter().filter(|word| *word != AND).map(|word| weight(word)).sum()
}

/// The letters of a word. A character of a script without spaces counts as two.
fn weight(word: &str) -> usize {
    word.chars().map(|c| 1 + usize::from(script(c).is_some())).sum()
}

fn has_unspaced(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|c| script(c).is_some())
}

/// A word without the legal forms that are written together with it.
fn without_joined(word: &str) -> &str {
    if !has_unspaced(word) {
        return word;
    }
    let table = folding();
    let mut rest = word;
    loop {
        // Of several forms the longest one is left out.
        let endings = table.joined_endings().iter();
        let ending = endings.filter_map(|form| rest.strip_suffix(&**form));
        let beginnings = table.joined_beginnings().iter();
        let beginning = beginnings.filter_map(|form| rest.strip_prefix(&**form));
        let shorter = ending.chain(beginning).min_by_key(|rest| rest.len());
        match shorter.filter(|rest| rest.nfc().nth(UNSPACED_MIN - 1).is_some()) {
            Some(shorter) => rest = shorter,
            None => return rest,
        }
    }
}

/// The places where the script of a word changes.
fn changes(word: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut before: Option<Option<u8>> = None;
    for (place, character) in word.char_indices() {
        let script = script(character);
        if before.is_some_and(|before| before != script) {
            places.push(place);
        }
        before = Some(script);
    }
    places
}

/// The ends of the characters of a folded word. A Hangul syllable, which folding decomposes, is
/// one.
fn syllables(word: &str) -> Vec<usize> {
    let mut end = 0;
    let ends = word.nfc().map(|character| {
        end += std::iter::once(character).nfd().map(char::len_utf8).sum::<usize>();
        end
    });
    ends.filter(|end| word.is_char_boundary(*end)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn classes() {
        for (name, expected) in [
            ("ALPHABET INC-CL A", Some(true)),
            ("Alphabet Inc Class C", Some(false)),
            ("NEWS CORP. A DL-,01", Some(true)),
            ("LENNAR CORP.A DL-,10", Some(true)),
            ("News Corp B", Some(false)),
            ("Lennar Corporation", None),
            ("", None),
        ] {
            assert_eq!(has_class(name, "a"), expected, "{name}");
        }
        assert_eq!(class_of("alphabet cl a").as_deref(), Some("a"));
        assert_eq!(class_of("vitamin c"), None);
    }

    /// contract 16.16: the forms of a text.
    #[test]
    fn folds() {
        for (a, b) in [
            ("PROCTER & GAMBLE CO/THE", "procter and gamble"),
            ("Procter + Gamble", "procter und gamble"),
            ("AT&T INC", "at and t"),
            ("VOLKSWAGEN AG VZO O.N.", "volkswagen pref"),
            ("x-et", "x &"),
            ("HEINEKEN NV", "Heineken Naamloze Vennootschap"),
            ("VODAFONE GROUP PLC", "Vodafone Group Public Limited Company"),
            ("ALLIANZ SE-REG", "allianz societas europaea"),
            ("SOCIETE GENERALE SA", "Société Générale Société Anonyme"),
            ("BAYER AG-REG", "ag bayer"),
            ("AB VOLVO", "ab volvo aktiebolag"),
            ("ALPHABET INC-CL A", "alphabet class a"),
            ("BRK-B &", "brk b &"),
            ("삼성전자 주식회사", "삼성전자"),
            ("주식회사 카카오", "카카오"),
            ("BERKSHIRE HATHAWAY INC-CL B", "berkshire hathaway/b"),
            ("BERKSHIRE HATHAWAY-B", "Berkshire Hathaway CL B"),
            ("JPMORGAN CHASE & CO", "jp morgan chase"),
            ("INTL BUSINESS MACHINES CORP", "international business machines"),
            ("JOHNSON ELEC HLDGS LTD", "johnson electric"),
            ("VOLKSWAGEN AG-PREF", "volkswagen pfd"),
            ("MUENCHENER RUECKVER AG-REG", "muenchener rueckver"),
            ("PT BANK CENTRAL ASIA TBK", "bank central asia"),
            ("ООО Ромашка", "ромашка"),
            ("株式会社トヨタ", "トヨタ"),
            ("トヨタ自動車株式会社", "トヨタ自動車"),
            ("腾讯控股有限公司", "腾讯控股"),
            ("삼성전자주식회사", "삼성전자"),
            ("Eni S.p.A.", "eni"),
            ("B of A", "b of a"),
            ("The Boeing Company", "boeing"),
        ] {
            assert_eq!(forms(a), forms(b), "{a} {b}");
        }
        for (text, expected) in [
            ("P&G", &["p&g"][..]),
            ("P&G CO", &["p&gcompany"]),
            ("AB SA", &["absa"]),
            ("3M CO", &["3mcompany"]),
            ("Münchener Rück", &["muenchenerrueck", "munchenerruck"]),
            ("Mu\u{308}nchener Ru\u{308}ck", &["muenchenerrueck", "munchenerruck"]),
            ("Blue Queen", &["bluequeen"]),
            ("ALPHABET INC-CL A", &["alphabet/a"]),
            ("Class A", &["classa"]),
            ("-", &[]),
            ("&", &["&"]),
        ] {
            assert_eq!(forms(text), expected, "{text}");
        }
    }

    /// contract 16.16: the forms by which a name is found.
    #[test]
    fn forms_of_names() {
        for (text, expected) in [
            ("ALPHABET INC-CL A", &["alphabet", "alphabet/a"][..]),
            ("APPLE INC", &["apple"]),
            ("トヨタ自動車株式会社", &["トヨ", "トヨタ", "トヨタ自", "トヨタ自動車"]),
            ("腾讯控股有限公司", &["腾讯", "腾讯控", "腾讯控股"]),
        ] {
            assert_eq!(forms_of_name(text), expected, "{text}");
        }
        let samsung = forms_of_name("삼성전자");
        for beginning in ["삼성", "삼성전", "삼성전자"] {
            assert!(samsung.contains(&forms(beginning)[0]), "{beginning}");
        }
        assert_eq!(samsung.len(), 3);
        let long = "トヨ自タ動ヨ車タ自トヨ動タ車ヨ自";
        assert_eq!(forms_of_name(long).len(), BEGINNINGS_MAX + 1);
        assert_eq!(inner_runs("トヨタ自動車株式会社"), ["自動車"]);
        assert_eq!(inner_runs("株式会社トヨタ"), ["トヨタ"]);
        assert_eq!(inner_runs("TOYOTA MOTOR"), [""; 0]);
    }

    /// The words with blanks between them, the class and the preference last.
    fn spaced(words: &Words) -> String {
        let class = words.class.iter().map(|class| format!("class {class}"));
        let preferred = words.is_preferred.then(|| "preferred".to_owned());
        words.words.iter().cloned().chain(class).chain(preferred).collect::<Vec<_>>().join(" ")
    }

    proptest! {
        #[test]
        fn any_text_folds_and_twice_is_once(text in any::<String>()) {
            forms_of_name(&text);
            inner_runs(&text);
            let words = Words::of(&text);
            let spaced = spaced(&words);
            let again = Words::of(&spaced);
            prop_assert_eq!(again.joined(true), words.joined(true), "{}", spaced);
        }

        #[test]
        fn names_fold_twice_as_once(
            words in proptest::collection::vec(
                "[a-c]{1,4}|ag|inc-cl|[ab]|cl|pref|the|&|und|co/the|grp|intl|株式会社|トヨタ|pt|corp-b",
                0..6,
            )
        ) {
            let text = words.join(" ");
            let words = Words::of(&text);
            let spaced = spaced(&words);
            let again = Words::of(&spaced);
            prop_assert_eq!(again.joined(true), words.joined(true), "{} -> {}", text, spaced);
        }

        /// Two letters are never made an umlaut.
        #[test]
        fn two_letters_stay(before in "[a-z]{3,8}", after in "[a-z]{3,8}") {
            let text = format!("{before}ue{after}");
            if folding().canonical(&text) == text {
                prop_assert_eq!(forms(&text), [text]);
            }
        }
    }
}
