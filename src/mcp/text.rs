//! Texts of the data, for a model. They are untrusted: a name may hold characters that nobody sees,
//! or whole sentences.

use std::fmt::Write as _;

use figdex_io::is_hidden;
use serde_json::{Map, Value};

/// The most characters of a text in an answer. The longest names of known data have 120.
const CHARS_MAX: usize = 300;

/// The most elements of a list in a row, such as other names.
const ELEMENTS_MAX: usize = 50;

/// The most characters of a cell in the table for people.
const CELL_CHARS_MAX: usize = 80;

/// Whether a character is not shown, but read by a model: one that controls a terminal or the order
/// of characters, one without a width, a variation selector, or a tag.
fn is_unseen(character: char) -> bool {
    is_hidden(character)
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200d}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// A text with every unseen character as an escape, cut to a number of characters.
pub(super) fn shown(text: &str, chars_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(4 * chars_max));
    for (place, character) in text.chars().enumerate() {
        if place == chars_max {
            out.push('…');
            break;
        }
        match character {
            unseen if is_unseen(unseen) => {
                // Writing into memory does not fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(unseen));
            }
            seen => out.push(seen),
        }
    }
    out
}

/// A value from the caller, for a sentence: short, on one line and in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    const QUOTED_CHARS_MAX: usize = 40;
    format!("\"{}\"", shown(text, QUOTED_CHARS_MAX).replace('"', "'"))
}

/// A value of the data with all of its texts [`shown`], without members that are null.
pub(super) fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(&text, CHARS_MAX)),
        Value::Array(elements) => {
            let left_out = elements.len().saturating_sub(ELEMENTS_MAX);
            let kept = elements.into_iter().take(ELEMENTS_MAX).map(clean);
            let more = (left_out > 0).then(|| Value::String(format!("… {left_out} more")));
            Value::Array(kept.chain(more).collect())
        }
        Value::Object(members) => Value::Object(clean_members(members)),
        plain => plain,
    }
}

/// The members of an object, [`clean`].
pub(super) fn clean_members(members: Map<String, Value>) -> Map<String, Value> {
    let known = members.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(name, value)| (shown(&name, CHARS_MAX), clean(value))).collect()
}

/// A cell of the table: the text of a value that was cleaned. It has no tab and no line end, because
/// those are escaped.
pub(super) fn cell(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => return shown(text, CELL_CHARS_MAX),
        Some(other) => other.to_string(),
    };
    shown(&text, CELL_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// contract 24.6: nothing that people do not see reaches a model.
    #[test]
    fn unseen_characters_are_escaped() {
        for (text, expected) in [
            ("Société Générale 兆", "Société Générale 兆"),
            ("a\tb\nc", "a\\u{9}b\\u{a}c"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("a\u{200b}b\u{200d}c\u{feff}", "a\\u{200b}b\\u{200d}c\\u{feff}"),
            ("\u{e0041}\u{fe0f}", "\\u{e0041}\\u{fe0f}"),
        ] {
            assert_eq!(shown(text, 100), expected);
        }
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(quoted("say \"so\"\n"), "\"say 'so'\\u{a}\"");
    }

    #[test]
    fn values_are_cleaned_and_cut() {
        let names = vec!["x"; ELEMENTS_MAX + 2];
        let cleaned = clean(json!({"a": null, "b": "x\u{200b}", "c": names}));
        assert_eq!(cleaned["b"], "x\\u{200b}");
        assert_eq!(cleaned.as_object().map(Map::len), Some(2));
        assert_eq!(cleaned["c"].as_array().map(Vec::len), Some(ELEMENTS_MAX + 1));
        assert_eq!(cleaned["c"][ELEMENTS_MAX], "… 2 more");
        assert_eq!(cell(Some(&json!("x".repeat(100)))).chars().count(), CELL_CHARS_MAX + 1);
        assert_eq!((cell(Some(&json!(7))), cell(None)), ("7".to_owned(), String::new()));
    }
}
