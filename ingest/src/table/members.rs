//! The members of JSON objects as cells. Each name is a column; columns are in the order of their
//! first occurrence.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::cell::RawCell;

/// The most columns of a table of objects.
const COLUMNS_MAX: usize = 4096;

/// The columns that were found so far.
#[derive(Default)]
pub(super) struct Members {
    names: Vec<String>,
    columns: HashMap<String, u32>,
}

impl Members {
    #[cfg(feature = "parquet")]
    pub(super) fn new(names: &[String]) -> Self {
        let columns = names.iter().cloned().zip(0..).collect();
        Self { names: names.to_vec(), columns }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Passes each member of an object to `put`, with its column.
    ///
    /// # Errors
    /// A message when the bytes are not an object, or there are too many columns.
    pub(super) fn read(
        &mut self,
        object: &[u8],
        put: impl FnMut(u32, RawCell<'_>),
    ) -> Result<(), String> {
        let text = str::from_utf8(object).map_err(|_| "the line is not UTF-8".to_owned())?;
        let mut json = serde_json::Deserializer::from_str(text);
        let read =
            json.deserialize_map(ObjectVisitor { members: self, put }).and_then(|()| json.end());
        read.map_err(|error| {
            let what = error.to_string();
            let what = what.split_once(" at line ").map_or(&*what, |(what, _)| what);
            format!("the line is not a JSON object: {what}, byte {}", error.column())
        })
    }

    /// The column of a name. Usually the next name is that of the next column.
    fn column(&mut self, name: &str, likely: usize) -> Option<u32> {
        if self.names.get(likely).is_some_and(|known| known == name) {
            return Some(likely as u32);
        }
        if let Some(column) = self.columns.get(name) {
            return Some(*column);
        }
        if self.names.len() == COLUMNS_MAX {
            return None;
        }
        let column = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.columns.insert(name.to_owned(), column);
        Some(column)
    }
}

struct ObjectVisitor<'a, F> {
    members: &'a mut Members,
    put: F,
}

impl<'de, F: FnMut(u32, RawCell<'_>)> Visitor<'de> for ObjectVisitor<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut likely = 0;
        while let Some(Name(name)) = map.next_key()? {
            let value = map.next_value::<&'de RawValue>()?;
            let column = self.members.column(&name, likely).ok_or_else(|| {
                serde::de::Error::custom(format!("more than {COLUMNS_MAX} different members"))
            })?;
            likely = column as usize + 1;
            match value.get().as_bytes() {
                [b'n', ..] => (self.put)(column, RawCell::Absent),
                [b'{' | b'[', ..] => (self.put)(column, RawCell::Nested),
                [b'"', text @ .., b'"'] if !text.contains(&b'\\') => {
                    (self.put)(column, RawCell::Text(text));
                }
                [b'"', ..] => match serde_json::from_str::<String>(value.get()) {
                    Ok(text) => (self.put)(column, RawCell::Text(text.as_bytes())),
                    // The text has a lone surrogate.
                    Err(_) => (self.put)(column, RawCell::Nested),
                },
                truth @ [b't' | b'f', ..] => (self.put)(column, RawCell::Text(truth)),
                number => (self.put)(column, RawCell::Number(number)),
            }
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
