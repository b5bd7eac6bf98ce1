//! Escaping of text from outside, for terminals and log lines.
//!
//! Names, cells and paths may contain anything: an escape sequence that renames the window or hides
//! the text after it, a line end that forges a log line, a character that reverses the order of
//! other characters. Each such character is printed as its JSON escape. So a text that is JSON
//! keeps its meaning, and the other characters stay readable.
//!
//! A typed address may contain a user and a password. They are shown as `…` wherever the address is
//! printed.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::path::Path;

/// Whether a character controls a terminal, ends a line or changes the order of other characters:
/// the control characters C0 and C1, DEL, the line and paragraph separators, and the marks,
/// embeddings, overrides and isolates of bidirectional text.
pub fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// Whether every byte is a printable ASCII character, so that nothing needs an escape.
pub fn is_plain(bytes: &[u8]) -> bool {
    // No early return: the compiler can then compare many bytes at a time.
    bytes.iter().fold(true, |plain, byte| plain & (0x20..0x7f).contains(byte))
}

/// The text with every hidden character escaped, including line ends.
pub fn escaped<'a>(text: impl Into<Cow<'a, str>>) -> Escaped<'a> {
    Escaped { text: text.into(), keeps_lines: false }
}

/// The text with every hidden character escaped, except `\n`.
pub fn escaped_lines<'a>(text: impl Into<Cow<'a, str>>) -> Escaped<'a> {
    Escaped { text: text.into(), keeps_lines: true }
}

/// The path with every hidden character escaped, including line ends. A user and a password are
/// masked: the path may be a mistyped address.
pub fn escaped_path(path: &Path) -> Escaped<'_> {
    let text = path.to_string_lossy();
    match masked(&text) {
        Cow::Owned(masked) => escaped(masked),
        Cow::Borrowed(_) => escaped(text),
    }
}

/// A value from a person, such as an argument, with `…` for the user and the password of an address
/// in it. If the value begins with a user and a password, they are everything before the last `@`.
/// Otherwise they are everything between `:/` and the last `@` after it.
pub fn masked(value: &str) -> Cow<'_, str> {
    if let Some(at) = value.rfind('@').filter(|_| begins_with_user(value)) {
        return format!("…{}", &value[at..]).into();
    }
    let Some(scheme) = value.find(":/") else { return value.into() };
    let start = scheme + 1 + value[scheme + 1..].chars().take_while(|c| *c == '/').count();
    match value[start..].rfind('@') {
        Some(at) => format!("{}…{}", &value[..start], &value[start + at..]).into(),
        None => value.into(),
    }
}

/// Whether a value begins with a user and a password, like an address without a scheme. Without a
/// password, as in `ISIN:@TYPE`, there is nothing to hide.
pub(crate) fn begins_with_user(value: &str) -> bool {
    let first = value.split('/').next().unwrap_or_default();
    first.split_once(':').is_some_and(|(_, rest)| rest.rfind('@').is_some_and(|at| at > 0))
}

/// A text for people with every word [`masked`]. Spaces, line ends and quotes separate the words.
pub fn masked_words(text: &str) -> Cow<'_, str> {
    if !(text.contains(':') && text.contains('@')) {
        return text.into();
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
    text.split_inclusive(is_end).map(masked).collect::<String>().into()
}

/// A text whose `Display` escapes hidden characters.
#[derive(Clone, Debug)]
pub struct Escaped<'a> {
    text: Cow<'a, str>,
    keeps_lines: bool,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.text.as_bytes()) {
            return f.write_str(&self.text);
        }
        for character in self.text.chars() {
            match character {
                '\n' if self.keeps_lines => f.write_char(character)?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\r' => f.write_str("\\r")?,
                hidden if is_hidden(hidden) => write!(f, "\\u{:04x}", u32::from(hidden))?,
                shown => f.write_char(shown)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_become_escapes() {
        for (text, shown) in [
            ("IBM", "IBM"),
            ("Société Générale 兆", "Société Générale 兆"),
            ("\x1b]0;x\x07", "\\u001b]0;x\\u0007"),
            ("\u{9b}2J", "\\u009b2J"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{202e}txt\u{2066}\u{2028}\u{2029}\x7f", "\\u202etxt\\u2066\\u2028\\u2029\\u007f"),
            ("a\\n", "a\\n"),
        ] {
            assert_eq!(escaped(text).to_string(), shown);
        }
        assert_eq!(escaped_lines("a\n\tb\r\x1b").to_string(), "a\n\\tb\\r\\u001b");
    }

    #[test]
    fn a_user_and_a_password_are_masked() {
        for (value, shown) in [
            ("opensearch+https://me:secret@host:9200/name", "opensearch+https://…@host:9200/name"),
            // With everything that a password may have.
            ("--url=https://me:s/e@c'r e\"t@host", "--url=https://…@host"),
            ("opensearch+https:/me:secret@host/name", "opensearch+https:/…@host/name"),
            ("me:secret@host:9200/name", "…@host:9200/name"),
            ("https://host/name", "https://host/name"),
            ("name@host.csv", "name@host.csv"),
        ] {
            assert_eq!(masked(value), shown);
            assert_eq!(escaped_path(Path::new(value)).to_string(), shown);
        }
        let text = "opening `a://me:secret@b`: see https://host/ and c://you:other@d\nmail e@f";
        let shown = "opening `a://…@b`: see https://host/ and c://…@d\nmail e@f";
        assert_eq!(masked_words(text), shown);
    }

    /// Exactly the hidden characters are escaped, and no escape contains a hidden one.
    #[test]
    fn nothing_hidden_is_left() {
        for character in '\0'..=char::MAX {
            let shown = escaped(character.to_string()).to_string();
            assert!(!shown.contains(is_hidden), "{character:?}");
            assert_eq!(shown == character.to_string(), !is_hidden(character), "{character:?}");
            assert!(!character.is_control() || is_hidden(character), "{character:?}");
        }
    }
}
