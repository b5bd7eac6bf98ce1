//! Other names of an instrument as a text: a JSON array of objects, or one object (contract 16.16).

use figdex_index::{Date, NameKind, OTHER_NAME_BYTES_MAX, OtherName};
use serde_json::Value;

/// The reason to drop the names of an instrument beyond the bound.
pub(crate) const TOO_MANY: &str = "more than 50 names";

pub(crate) const NOT_A_KIND: &str = "the kind is none of brand, former, transliteration and short";
pub(crate) const NOT_A_DAY: &str = "from and to must be dates of the form YYYY-MM-DD";
pub(crate) const TOO_LONG: &str = "the name is longer than 256 bytes";
pub(crate) const NO_NAME: &str = "the name is missing";
pub(crate) const BACKWARDS: &str = "the day from is after the day to";
const NOT_NAMES: &str = "not a JSON array of objects with name and kind";

/// The names in a cell.
///
/// # Errors
/// The reason why the cell is invalid.
pub(crate) fn parse(cell: &str) -> Result<Vec<OtherName>, &'static str> {
    match serde_json::from_str(cell) {
        Ok(Value::Array(names)) => names.iter().map(of_value).collect(),
        Ok(name @ Value::Object(_)) => Ok(vec![of_value(&name)?]),
        _ => Err(NOT_NAMES),
    }
}

fn of_value(value: &Value) -> Result<OtherName, &'static str> {
    let members = value.as_object().ok_or(NOT_NAMES)?;
    let mut texts = [None; 4];
    for (member, value) in members {
        let place = ["name", "kind", "from", "to"].iter().position(|known| known == member);
        match value {
            Value::String(text) => texts[place.ok_or(NOT_NAMES)?] = Some(text.as_str()),
            Value::Null => {}
            _ => return Err(NOT_NAMES),
        }
    }
    let [name, kind, from, to] = texts.map(Option::unwrap_or_default);
    of_texts(name, kind, from, to)
}

/// A name of its parts as texts. A day may be empty, and may have a time behind it.
///
/// # Errors
/// The first fault.
pub(crate) fn of_texts(
    name: &str,
    kind: &str,
    from: &str,
    to: &str,
) -> Result<OtherName, &'static str> {
    let text = name.trim();
    if text.is_empty() {
        return Err(NO_NAME);
    }
    if text.len() > OTHER_NAME_BYTES_MAX {
        return Err(TOO_LONG);
    }
    let kind = NameKind::from_name(kind.trim()).ok_or(NOT_A_KIND)?;
    let day = |text: &str| {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        // The days of the SEC have a time of day.
        let day = text.split_once('T').map_or(text, |(day, _)| day);
        Date::parse(day).map(Some).map_err(|_| NOT_A_DAY)
    };
    let (from, to) = (day(from)?, day(to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(BACKWARDS);
    }
    Ok(OtherName { text: text.to_owned(), kind, from, to })
}

/// The names as the text of a cell.
pub(crate) fn text(names: &[OtherName]) -> String {
    serde_json::to_string(names).expect("names are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 16.16: the column `names`.
    #[test]
    fn cells_are_names_and_back() {
        let cell = r#"[{"name":"FACEBOOK INC","kind":"former","from":"2012-05-18","to":"2022-06-08"},{"name":"Big; \"F\"","kind":"short"}]"#;
        let names = parse(cell).unwrap();
        assert_eq!((names.len(), text(&names)), (2, cell.to_owned()));
        assert_eq!(parse(r#"{"name":" x ","kind":"brand","to":null}"#).unwrap()[0].text, "x");
        assert_eq!(parse("[]").unwrap(), []);
        for (wrong, reason) in [
            ("FACEBOOK INC", NOT_NAMES),
            (r#"["FACEBOOK INC"]"#, NOT_NAMES),
            (r#"[{"name":"x","kind":"brand","until":"2020-01-01"}]"#, NOT_NAMES),
            (r#"[{"kind":"brand"}]"#, NO_NAME),
            (r#"[{"name":"x"}]"#, NOT_A_KIND),
            (r#"[{"name":"x","kind":"Former"}]"#, NOT_A_KIND),
            (r#"[{"name":"x","kind":"former","to":"8 June 2022"}]"#, NOT_A_DAY),
            (r#"[{"name":"x","kind":"former","to":"TBD"}]"#, NOT_A_DAY),
            (r#"[{"name":"x","kind":"former","from":"2022-01-01","to":"2021-01-01"}]"#, BACKWARDS),
        ] {
            assert_eq!(parse(wrong), Err(reason), "{wrong}");
        }
        let long = format!(r#"[{{"name":"{}","kind":"brand"}}]"#, "x".repeat(257));
        assert_eq!(parse(&long), Err(TOO_LONG));
        assert!(of_texts("x", "former", "1994-05-26T04:00:00.000Z", "").is_ok());
    }
}
