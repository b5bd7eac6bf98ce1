//! An object inside of a cell: JSON, or a dictionary as Python prints it
//! (`{'figi': 'BBG000C2V3D6', 'cik': None}`).

use super::json;
use crate::format::record::{Names, Record};
use crate::row::CellKind;

/// Takes the values of the object in a cell; where there is none, its values are
/// told to be at fault.
pub(super) fn take(cell: &str, names: &Names, record: &mut Record) {
    let cell = cell.trim();
    if cell.is_empty() {
        return;
    }
    // A cell is read twice where the first try fails, so each goes to a record of
    // its own only when it is whole.
    let is_object = |text: &str| serde_json::from_str::<Object>(text).is_ok();
    let text = if is_object(cell) { Some(cell.to_owned()) } else { python(cell) };
    let taken = match text.filter(|text| is_object(text)) {
        Some(text) => json::object(&text, names, record, None).is_ok(),
        None => false,
    };
    if !taken {
        fault(cell, names, record);
    }
}

type Object = std::collections::HashMap<String, serde::de::IgnoredAny>;

fn fault(cell: &str, names: &Names, record: &mut Record) {
    for member in names.members.values() {
        if let Some(slot) = member.slot {
            record.put(slot, cell, CellKind::Invalid("inside of a cell that is no object"), false);
        }
        fault(cell, member, record);
    }
}

/// The same as JSON; what this leaves wrong, the JSON reader will find.
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

/// The rest of a Python string, after its opening quote.
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

    fn taken(cell: &str) -> Vec<(String, CellKind)> {
        let names = ["codes.figi".to_owned(), "codes.n".to_owned()];
        let names = Names::new(&names);
        let mut record = Record::new(2, Vec::new());
        take(cell, names.get("codes").unwrap(), &mut record);
        let values = [0, 1].into_iter().flat_map(|slot| record.of(slot));
        values.map(|value| (value.text.to_owned(), value.kind)).collect()
    }

    #[test]
    fn dictionaries_of_python_and_json() {
        let text = |text: &str| (text.to_owned(), CellKind::Text);
        assert_eq!(taken("{'figi': 'BBG', 'cik': None}"), [text("BBG")]);
        assert_eq!(
            taken(r#"{"figi": "B'G", "n": 3}"#),
            [text("B'G"), ("3".into(), CellKind::Integer)]
        );
        assert_eq!(taken(r#"{'figi': "it's", 'n': True}"#), [text("it's"), text("true")]);
        assert_eq!(taken(r"{'figi': 'a\'b\xe9\u00e9'}"), [text("a'béé")]);
        assert_eq!(taken(""), []);
        assert_eq!(taken("{'n': ('a', 'b')}"), [text("a"), text("b")]);
    }

    #[test]
    fn what_is_no_object_is_told() {
        for cell in ["x", "{'figi': ", "{'figi': 'BBG'", "{'figi': __import__('os')}", "[1]"] {
            let values = taken(cell);
            assert_eq!(values.len(), 2, "{cell}");
            assert!(values.iter().all(|(_, kind)| matches!(kind, CellKind::Invalid(_))), "{cell}");
        }
    }
}
