//! Regular expressions of Lucene for terms whose beginning is similar to a text. Lucene's fuzzy
//! queries compare only whole terms, and an unfinished text is not a whole term.

use crate::schema::PATTERN_CHARS_MAX;

/// The expression for terms that begin with a text with up to `typos` typos: an extra, missing or
/// wrong letter, or two swapped neighbours. `None` if the expression would be too long.
pub(super) fn beginning(text: &str, typos: usize) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut pattern = String::new();
    near(&letters, typos, &mut pattern);
    pattern.push_str(".*");
    (pattern.chars().count() <= PATTERN_CHARS_MAX).then_some(pattern)
}

/// Appends the expression for texts that are similar to the letters.
fn near(letters: &[char], typos: usize, pattern: &mut String) {
    if pattern.len() > 4 * PATTERN_CHARS_MAX {
        return;
    }
    let (Some((first, rest)), true) = (letters.split_first(), typos > 0) else {
        letters.iter().for_each(|letter| push(*letter, pattern));
        (0..typos).for_each(|_| pattern.push_str(".?"));
        return;
    };
    pattern.push('(');
    push(*first, pattern);
    near(rest, typos, pattern);
    // The first letter is wrong or extra.
    pattern.push_str("|.?");
    near(rest, typos - 1, pattern);
    // A letter is missing before the first one.
    pattern.push_str("|.");
    near(letters, typos - 1, pattern);
    if let [second, rest @ ..] = rest {
        pattern.push('|');
        push(*second, pattern);
        push(*first, pattern);
        near(rest, typos - 1, pattern);
    }
    pattern.push(')');
}

/// Appends a letter, which stands for itself.
fn push(letter: char, pattern: &mut String) {
    if !letter.is_alphanumeric() {
        pattern.push('\\');
    }
    pattern.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_typos_of_a_short_text() {
        assert_eq!(beginning("a-", 0).unwrap(), "a\\-.*");
        assert_eq!(beginning("ab", 1).unwrap(), "(a(b.?|.?|.b)|.?b|.ab|ba).*");
    }

    #[test]
    fn a_long_text_is_refused() {
        let longest = (1..40).filter(|letters| beginning(&"x".repeat(*letters), 2).is_some()).max();
        assert!(longest > Some(14), "{longest:?}");
        assert!(beginning(&"x".repeat(1_000), 2).is_none());
        assert!(beginning(&"x".repeat(10_000), 1).is_none());
    }
}
