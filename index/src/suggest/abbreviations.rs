//! Abbreviations in the names of securities, from `abbreviations.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The group of each word, as a line of the file.
static GROUPS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("abbreviations.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split_whitespace().map(move |word| (word, line))).collect()
});

/// The other words in the group of a folded word; empty when the word is in no group.
pub(crate) fn equivalents(word: &str) -> impl Iterator<Item = &'static str> {
    let group = GROUPS.get(word).copied().unwrap_or_default();
    group.split_whitespace().filter(move |other| *other != word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::squeeze;

    #[test]
    fn each_word_is_folded_and_in_one_group() {
        let lines = include_str!("abbreviations.txt").lines().filter(|line| !line.starts_with('#'));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        assert!(words.len() > 500 && words.len() == GROUPS.len(), "a word is in two groups");
        for word in words {
            assert_eq!(squeeze(word), word);
            let group = GROUPS[word].split_whitespace();
            assert!(group.clone().all(|other| GROUPS[other] == GROUPS[word]), "{word}");
            assert_eq!(equivalents(word).count(), group.count() - 1, "{word}");
        }
    }

    #[test]
    fn words_of_a_group_stand_for_each_other() {
        for (a, b) in [("international", "intl"), ("technologies", "tech"), ("group", "grp")] {
            assert!(equivalents(a).any(|other| other == b), "{a} {b}");
            assert!(equivalents(b).any(|other| other == a), "{b} {a}");
        }
        assert_eq!(equivalents("apple").count(), 0);
    }
}
