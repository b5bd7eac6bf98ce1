//! The arguments of a call. Only their types are checked here: what they mean, the routes know.

use serde_json::{Map, Value};

use super::answer::{BYTES_DEFAULT, BYTES_LEAST, BYTES_MOST};
use super::text::quoted;

/// A fault of a call: a sentence that says what to send instead.
pub(super) type Sentence = String;

/// The most characters of an argument that is one text.
const CHARS_MAX: usize = 1_000;

/// The arguments of one call, taken one by one.
pub(super) struct Arguments {
    tool: &'static str,
    given: Map<String, Value>,
    names: Vec<&'static str>,
}

impl Arguments {
    pub(super) fn new(tool: &'static str, given: Option<Map<String, Value>>) -> Self {
        Self { tool, given: given.unwrap_or_default(), names: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.names.push(name);
        self.given.remove(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Sentence> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.chars().nth(CHARS_MAX).is_none() => Ok(Some(text)),
            Some(Value::String(_)) => {
                Err(format!("{name} is too long. Send a text of at most {CHARS_MAX} characters."))
            }
            Some(other) => Err(wrong(name, &other, "a text")),
        }
    }

    /// A text that must be given.
    pub(super) fn required(
        &mut self,
        name: &'static str,
        example: &str,
    ) -> Result<String, Sentence> {
        let text = self.text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| format!("{} needs {name}. Send it as in {example}.", self.tool))
    }

    /// Whether something is wanted.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, Sentence> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(wrong(name, &other, "true or false")),
        }
    }

    /// A number from `least` to `most`.
    pub(super) fn number(
        &mut self,
        name: &'static str,
        (least, most): (usize, usize),
        default: usize,
    ) -> Result<usize, Sentence> {
        let Some(value) = self.take(name) else { return Ok(default) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wrong(name, &value, &format!("a number from {least} to {most}")))
    }

    /// A list of texts; one text counts as a list of one.
    pub(super) fn texts(
        &mut self,
        name: &'static str,
        most: usize,
    ) -> Result<Vec<String>, Sentence> {
        let elements = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => vec![Value::String(text)],
            Some(Value::Array(elements)) => elements,
            Some(other) => return Err(wrong(name, &other, "a list of texts")),
        };
        if elements.len() > most {
            let number = elements.len();
            return Err(format!(
                "{name} has {number} texts. Send at most {most} in one call, and the others in \
                 further calls."
            ));
        }
        let texts = elements.into_iter().map(|element| match element {
            Value::String(text) => Ok(text),
            other => Err(wrong(name, &other, "a list of texts")),
        });
        texts.collect()
    }

    /// An object, as it is.
    pub(super) fn object(&mut self, name: &'static str) -> Result<Map<String, Value>, Sentence> {
        match self.take(name) {
            None => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members),
            Some(other) => Err(wrong(name, &other, "an object such as {\"exchCode\": \"US\"}")),
        }
    }

    /// A value of any type, as it is.
    pub(super) fn any(&mut self, name: &'static str) -> Option<Value> {
        self.take(name)
    }

    /// The bound of the answer, in bytes.
    pub(super) fn max_bytes(&mut self) -> Result<usize, Sentence> {
        self.number("maxBytes", (BYTES_LEAST, BYTES_MOST), BYTES_DEFAULT)
    }

    /// Refuses arguments that the tool does not have.
    pub(super) fn end(self) -> Result<(), Sentence> {
        match self.given.keys().next() {
            None => Ok(()),
            Some(unknown) => Err(format!(
                "{} has no argument {}. Send only: {}.",
                self.tool,
                quoted(unknown),
                self.names.join(", ")
            )),
        }
    }
}

fn wrong(name: &str, found: &Value, expected: &str) -> Sentence {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("{name} is {found}. Send {expected}.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(given: Value) -> Arguments {
        Arguments::new("search", given.as_object().cloned())
    }

    /// contract 24.7: a fault says what to send, and repeats little of what came.
    #[test]
    fn faults_say_what_to_send() {
        let faults = [
            of(json!({"a": 7})).text("a").unwrap_err(),
            of(json!({"a": "x".repeat(CHARS_MAX + 1)})).text("a").unwrap_err(),
            of(json!({"a": " "})).required("a", "{\"a\": \"IBM\"}").unwrap_err(),
            of(json!({"a": "yes"})).flag("a").unwrap_err(),
            of(json!({"a": -1})).number("a", (0, 9), 0).unwrap_err(),
            of(json!({"a": ["x", ["y"]]})).texts("a", 2).unwrap_err(),
            of(json!({"a": ["x", "y", "z"]})).texts("a", 2).unwrap_err(),
            of(json!({"a": []})).object("a").unwrap_err(),
            of(json!({"\u{202e}a": []})).end().unwrap_err(),
        ];
        assert_eq!(
            faults,
            [
                "a is 7. Send a text.",
                "a is too long. Send a text of at most 1000 characters.",
                "search needs a. Send it as in {\"a\": \"IBM\"}.",
                "a is \"yes\". Send true or false.",
                "a is -1. Send a number from 0 to 9.",
                "a is a list. Send a list of texts.",
                "a has 3 texts. Send at most 2 in one call, and the others in further calls.",
                "a is a list. Send an object such as {\"exchCode\": \"US\"}.",
                "search has no argument \"\\u{202e}a\". Send only: .",
            ]
        );
        assert_eq!(of(json!({"a": "one"})).texts("a", 2), Ok(vec!["one".to_owned()]));
        assert_eq!(of(json!({"a": null})).text("a"), Ok(None));
    }
}
