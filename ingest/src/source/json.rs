//! Reads a JSON object into a record: members by name, nested members by path, and the entries of
//! an array as several values.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize as _, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use super::unknown::UnknownColumns;
use crate::format::plan::Plan;
use crate::format::record::{Names, Record, Slot};
use crate::row::CellKind;
use crate::row::reject::Reject;

const NESTED: CellKind = CellKind::Invalid("a nested value");

/// Reads JSON objects into a record, and remembers the keys that the format does not know.
pub(super) struct Objects {
    pub(super) record: Record,
    unknown: UnknownColumns,
}

impl Objects {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { record: plan.record(), unknown: UnknownColumns::default() }
    }

    pub(super) fn unknown(&self) -> &[String] {
        self.unknown.names()
    }

    /// Reads the values of an object into the record.
    ///
    /// # Errors
    /// The reason why the bytes are not an object.
    pub(super) fn read(&mut self, plan: &Plan, raw: &[u8]) -> Result<(), Reject> {
        self.record.clear();
        let text = plan.description().encoding.decode(raw).ok_or(Reject::NotUtf8)?;
        let names = plan.names();
        object(&text, names, &mut self.record, Some(&mut self.unknown)).map_err(|error| match text
            .trim_start()
            .as_bytes()
            .first()
        {
            Some(b'{') => Reject::NotJson { byte: error.column(), what: what(&error) },
            Some(b'[') => Reject::Array,
            _ => Reject::NotAnObject,
        })
    }
}

/// Reads the values of an object into the record.
pub(super) fn object(
    text: &str,
    names: &Names,
    record: &mut Record,
    unknown: Option<&mut UnknownColumns>,
) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    json.deserialize_map(RecordVisitor { names, record, unknown })?;
    json.end()
}

/// The parser's message without the position, which is relative to the record.
fn what(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

struct RecordVisitor<'a> {
    names: &'a Names,
    record: &'a mut Record,
    unknown: Option<&'a mut UnknownColumns>,
}

impl<'de> Visitor<'de> for RecordVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { names, record, mut unknown } = self;
        while let Some(found) =
            members.next_key_seed(KeySeed { names, unknown: unknown.as_deref_mut() })?
        {
            match found {
                Some(names) => {
                    members.next_value_seed(Member { names, record, is_entry: false })?;
                }
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Looks up a key, or remembers it as unknown.
struct KeySeed<'n, 'u> {
    names: &'n Names,
    unknown: Option<&'u mut UnknownColumns>,
}

impl<'de, 'n> DeserializeSeed<'de> for KeySeed<'n, '_> {
    type Value = Option<&'n Names>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        let key = Cow::<str>::deserialize(key)?;
        let found = self.names.get(&key);
        if found.is_none()
            && let Some(unknown) = self.unknown
        {
            unknown.add(&key);
        }
        Ok(found)
    }
}

/// Reads the value of a member. It may be a value of the record, an object with further values, or
/// both.
struct Member<'a> {
    names: &'a Names,
    record: &'a mut Record,
    /// Whether it is an entry of an array.
    is_entry: bool,
}

impl Member<'_> {
    fn put(self, text: &str, kind: CellKind) {
        if let Some(slot) = self.names.slot {
            self.record.put(slot, text, kind, self.is_entry);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.put(text, CellKind::Text);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.put(if value { "true" } else { "false" }, CellKind::Text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.put(&number.to_string(), CellKind::Integer);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.put(&number.to_string(), CellKind::Integer);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.put(&number.to_string(), CellKind::Text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { names, record, is_entry } = self;
        if is_entry {
            nested(names.slot, record, "an array");
            while entries.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        while entries.next_element_seed(Member { names, record, is_entry: true })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        if self.names.takes_objects {
            let object = Value::deserialize(MapAccessDeserializer::new(members))?;
            self.put(&object.to_string(), CellKind::Text);
            return Ok(());
        }
        let Self { names, record, .. } = self;
        nested(names.slot, record, "an object");
        RecordVisitor { names, record, unknown: None }.visit_map(members)
    }
}

fn nested(slot: Option<Slot>, record: &mut Record, what: &str) {
    if let Some(slot) = slot {
        record.put(slot, what, NESTED, false);
    }
}
