//! The folding table, `folding.txt`: words, signs and letters that mean the same in names. Another
//! table with the same sections may replace it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::squeeze;

/// The parts of the table.
#[derive(Default)]
pub(crate) struct Folding {
    and: HashSet<&'static str>,
    umlauts: HashMap<char, &'static str>,
    class: HashSet<&'static str>,
    /// The canonical words of legal forms, folded: Hangul is decomposed.
    endings: HashSet<String>,
    /// All words whose canonical word is an ending, by their first ASCII letter.
    endings_by_letter: [Vec<String>; LETTERS],
    /// The canonical words of legal forms of several words.
    long_endings: Vec<Vec<&'static str>>,
    beginnings: HashSet<String>,
    /// The endings, and the beginnings of two characters or more, in scripts without spaces.
    joined_endings: Vec<String>,
    joined_beginnings: Vec<String>,
    /// The group of each word, as a line of the file.
    groups: HashMap<&'static str, &'static str>,
}

/// The letters from a to z.
const LETTERS: usize = 26;

static FOLDING: LazyLock<Folding> =
    LazyLock::new(|| Folding::of(include_str!("folding.txt")).expect("a test checks the table"));

/// The table.
pub(crate) fn folding() -> &'static Folding {
    &FOLDING
}

impl Folding {
    /// Reads a table; `None` when a line is in no section, or a section or a letter is unknown.
    fn of(text: &'static str) -> Option<Self> {
        let mut table = Self::default();
        let mut section = "";
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let mut words = line.split_whitespace();
            match section {
                _ if line.starts_with('[') => section = line,
                "[and]" => table.and.extend(words),
                "[umlauts]" => {
                    let letter = words.next()?.chars().next()?;
                    table.umlauts.insert(letter, words.next()?);
                }
                "[class]" => table.class.extend(words),
                "[endings of words]" => table.long_endings.push(words.collect()),
                "[endings]" => table.endings.extend(words.map(squeeze)),
                "[beginnings]" => {
                    let long = words.clone().filter(|word| word.chars().count() > 1);
                    let joined = long.filter(|word| word.chars().all(is_unspaced));
                    table.joined_beginnings.extend(joined.map(squeeze));
                    table.beginnings.extend(words.map(squeeze));
                }
                "[abbreviations]" => table.groups.extend(words.map(|word| (word, line))),
                _ => return None,
            }
        }
        for word in table.long_endings.iter_mut().flatten() {
            *word = canonical(&table.groups, word);
        }
        // Of several forms the longest one is left out.
        table.long_endings.sort_by_key(|form| std::cmp::Reverse(form.len()));
        let joined = table.endings.iter().filter(|word| word.chars().all(is_unspaced));
        table.joined_endings = joined.cloned().collect();
        for set in [&mut table.endings, &mut table.beginnings] {
            let groups = &table.groups;
            *set = set.iter().map(|word| canonical(groups, word).to_owned()).collect();
        }
        let alone = table.endings.iter().map(String::as_str);
        let words: HashSet<&str> = table.groups.keys().copied().chain(alone).collect();
        for word in words {
            if table.is_ending(canonical(&table.groups, word))
                && let Some(letter) = letter(word)
            {
                table.endings_by_letter[letter].push(word.to_owned());
            }
        }
        Some(table)
    }

    /// Whether a folded word or a sign means "and".
    pub(crate) fn is_and(&self, word: &str) -> bool {
        self.and.contains(word)
    }

    /// The two letters that a letter is also written as.
    pub(crate) fn umlaut(&self, letter: char) -> Option<&'static str> {
        if letter.is_ascii() {
            return None;
        }
        let mut lower = letter.to_lowercase();
        self.umlauts.get(&lower.next()?).copied()
    }

    /// Whether a word may precede the letter of a share class.
    pub(crate) fn is_class(&self, word: &str) -> bool {
        self.class.contains(word)
    }

    /// Whether a canonical word may be left out at the end of a name.
    pub(crate) fn is_ending(&self, word: &str) -> bool {
        self.endings.contains(word)
    }

    /// The canonical word of a folded word that may be left out at the end of a name.
    pub(crate) fn ending(&self, word: &str) -> Option<&str> {
        self.endings.get(self.canonical(word)).map(String::as_str)
    }

    /// Whether a folded word of ASCII letters may be left out at the end of a name. It need not be
    /// canonical, and is not hashed: this is asked for each name that is read.
    pub(crate) fn is_plain_ending(&self, word: &str) -> bool {
        let letter = letter(word);
        letter.is_some_and(|letter| self.endings_by_letter[letter].iter().any(|it| it == word))
    }

    /// The number of the last canonical words that are one legal form of several words; 0 if none
    /// are.
    pub(crate) fn long_ending(&self, words: &[String]) -> usize {
        let is_end = |form: &&Vec<&str>| {
            let start = words.len().checked_sub(form.len());
            start.is_some_and(|start| words[start..].iter().eq(form.iter()))
        };
        self.long_endings.iter().find(is_end).map_or(0, Vec::len)
    }

    /// Whether a canonical word may be left out at the beginning of a name.
    pub(crate) fn is_beginning(&self, word: &str) -> bool {
        self.beginnings.contains(word)
    }

    /// The endings in scripts without spaces.
    pub(crate) fn joined_endings(&self) -> &[String] {
        &self.joined_endings
    }

    /// The beginnings in scripts without spaces, of two characters or more.
    pub(crate) fn joined_beginnings(&self) -> &[String] {
        &self.joined_beginnings
    }

    /// The other words in the group of a folded word; empty when the word is in no group.
    pub(crate) fn equivalents(&self, word: &str) -> impl Iterator<Item = &'static str> {
        let group = self.groups.get(word).copied().unwrap_or_default();
        group.split_whitespace().filter(move |other| *other != word)
    }

    /// The first word of the group of a folded word, or the word itself.
    pub(crate) fn canonical<'a>(&self, word: &'a str) -> &'a str {
        canonical(&self.groups, word)
    }
}

/// The place in the alphabet of the first letter of a folded word.
fn letter(word: &str) -> Option<usize> {
    let letter = word.bytes().next().filter(u8::is_ascii_lowercase)?;
    Some(usize::from(letter - b'a'))
}

fn canonical<'a>(groups: &HashMap<&'static str, &'static str>, word: &'a str) -> &'a str {
    groups.get(word).and_then(|group| group.split_whitespace().next()).unwrap_or(word)
}

/// Whether a character belongs to a script that is written without spaces, or with few: Han, kana
/// or Hangul.
pub(crate) fn is_unspaced(character: char) -> bool {
    script(character).is_some()
}

/// The script of a character, of those that are written without spaces.
pub(crate) fn script(character: char) -> Option<u8> {
    Some(match character {
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => 1,
        '々' | '〇' => 1,
        '\u{3041}'..='\u{309f}' => 2,
        '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => 3,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}' | '\u{a960}'..='\u{a97f}' => 4,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::squeeze;

    #[test]
    fn each_abbreviation_is_folded_and_in_one_group() {
        let table = folding();
        let (_, groups) = include_str!("folding.txt").split_once("[abbreviations]").unwrap();
        let words: Vec<&str> = groups.split_whitespace().collect();
        assert!(words.len() > 500 && words.len() == table.groups.len(), "a word is in two groups");
        for word in words {
            assert_eq!(squeeze(word), word);
            let group = table.groups[word].split_whitespace();
            assert!(group.clone().all(|other| table.groups[other] == table.groups[word]), "{word}");
            assert_eq!(table.equivalents(word).count(), group.count() - 1, "{word}");
        }
    }

    #[test]
    fn words_of_a_group_stand_for_each_other() {
        let table = folding();
        for (a, b) in [("international", "intl"), ("technologies", "tech"), ("group", "grp")] {
            assert!(table.equivalents(a).any(|other| other == b), "{a} {b}");
            assert!(table.equivalents(b).any(|other| other == a), "{b} {a}");
            assert_eq!(table.canonical(a), table.canonical(b));
        }
        assert_eq!((table.equivalents("apple").count(), table.canonical("apple")), (0, "apple"));
    }

    #[test]
    fn a_line_outside_of_a_section_is_refused() {
        assert!(Folding::of("ag\n").is_none());
        assert!(Folding::of("[enddings]\nag\n").is_none());
        assert!(Folding::of("[umlauts]\nü\n").is_none());
        assert!(Folding::of("[endings]\nag\n").is_some_and(|table| table.is_ending("ag")));
    }
}
