//! Reads an object inside a cell: JSON, or a dictionary as Python prints it
//! (`{'figi': 'BBG000C2V3D6', 'cik': None}`).

use std::collections::HashMap;

use serde::de::IgnoredAny;

use super::json;
use crate::format::record::{Names, Record};
use crate::row::CellKind;

/// Reads the values of the object in a cell. An empty cell has none. If another cell does not hold
/// an object, all these values are invalid.
pub(super) fn read(cell: &str, names: &Names, record: &mut Record) {
    let cell = cell.trim();
    if cell.is_empty() {
        return;
    }
    // The text is checked first, so that nothing is added to the record for an invalid one.
    let is_object = |text: &str| serde_json::from_str::<HashMap<String, IgnoredAny>>(text).is_ok();
    let text = if is_object(cell) { Some(cell.to_owned()) } else { python(cell) };
    let is_read = match text.filter(|text| is_object(text)) {
        Some(text) => json::object(&text, names, record, None).is_ok(),
        None => false,
    };
    if !is_read {
        add_invalid(cell, names, record);
    }
}

fn add_invalid(cell: &str, names: &Names, record: &mut Record) {
    for member in names.members.values() {
        if let Some(slot) = member.slot {
            record.put(
                slot,
                cell,
                CellKind::Invalid("the cell does not hold a JSON object"),
                false,
            );
        }
        add_invalid(cell, member, record);
    }
}

/// Converts a Python dictionary to JSON; `None` if it has an unknown word or an invalid string. The
/// result may be invalid JSON, which the caller checks.
fn python(text: &str) -> Option<String> {
    let mut json = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => string(&mut chars, c, &mut json)?,
            c if c.is_alphabetic() => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric()) {
                    word.push(c);
                }
                json.push_str(match word.as_str() {
                    "None" | "nan" => "null",
                    "True" => "true",
                    "False" => "false",
                    _ => return None,
                });
            }
            '(' => json.push('['),
            ')' => json.push(']'),
            c => json.push(c),
        }
    }
    Some(json)
}

/// Converts the rest of a Python string, after its opening quote.
fn string(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    quote: char,
    json: &mut String,
) -> Option<()> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\\' => text.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'x' => code(chars, 2)?,
                'u' => code(chars, 4)?,
                'U' => code(chars, 8)?,
                other => other,
            }),
            c if c == quote => break,
            c => text.push(c),
        }
    }
    json.push_str(&serde_json::Value::String(text).to_string());
    Some(())
}

fn code(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, digits: usize) -> Option<char> {
    let hex: String = chars.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&hex, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(cell: &str) -> Vec<(String, CellKind)> {
        let names = ["codes.figi".to_owned(), "codes.n".to_owned()];
        let names = Names::new(&names);
        let mut record = Record::new(2, Vec::new());
        read(cell, names.get("codes").unwrap(), &mut record);
        let values = [0, 1].into_iter().flat_map(|slot| record.of(slot));
        values.map(|value| (value.text.to_owned(), value.kind)).collect()
    }

    #[test]
    fn objects_of_json_and_python_are_read() {
        let text = |text: &str| (text.to_owned(), CellKind::Text);
        assert_eq!(values("{'figi': 'BBG', 'cik': None}"), [text("BBG")]);
        assert_eq!(
            values(r#"{"figi": "B'G", "n": 3}"#),
            [text("B'G"), ("3".into(), CellKind::Integer)]
        );
        assert_eq!(values(r#"{'figi': "it's", 'n': True}"#), [text("it's"), text("true")]);
        assert_eq!(values(r"{'figi': 'a\'b\xe9\u00e9'}"), [text("a'béé")]);
        assert_eq!(values(""), []);
        assert_eq!(values("{'n': ('a', 'b')}"), [text("a"), text("b")]);
    }

    #[test]
    fn the_values_of_other_cells_are_invalid() {
        for cell in ["x", "{'figi': ", "{'figi': 'BBG'", "{'figi': __import__('os')}", "[1]"] {
            let found = values(cell);
            assert_eq!(found.len(), 2, "{cell}");
            assert!(found.iter().all(|(_, kind)| matches!(kind, CellKind::Invalid(_))), "{cell}");
        }
    }
}
