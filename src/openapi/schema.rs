//! A notation for the schemas of the document, which are those of OpenAPI 3.0. The public service's
//! document has this version, and all client generators read it.

use serde_json::{Map, Value, json};

/// Defines a function `objects`, which adds objects to the schemas of the document. They are
/// written like types. Their comments are descriptions, line for line, so they are not indented
/// further than the comments of types. An object `Name: Base` has the members of `Base`, which is
/// above it, and then its own.
macro_rules! objects {
    ($(
        $(#[doc = $about:literal])+
        $name:ident $(: $base:ident)? {
            $($(#[doc = $line:literal])* $presence:ident $member:ident: $schema:expr,)*
        }
    )+) => {
        fn objects(schemas: &mut $crate::openapi::schema::Schemas) {
            $(
                let object = schemas.object(&[$(stringify!($base))?]);
                $(let object = object.$presence(stringify!($member), $schema, &[$($line),*]);)*
                schemas.add(stringify!($name), object.described(&[$($about),+]));
            )+
        }
    };
}

pub(super) use objects;

/// The schemas of the document by name.
#[derive(Default)]
pub(super) struct Schemas(pub(super) Map<String, Value>);

impl Schemas {
    pub(super) fn add(&mut self, name: &str, schema: Schema) {
        self.0.insert(name.to_owned(), schema.0);
    }

    /// An object with the members of a base, if it has one.
    pub(super) fn object(&self, base: &[&str]) -> Schema {
        base.first().map_or_else(object, |base| Schema(self.0[*base].clone()))
    }
}

/// The schema of a value.
pub(super) struct Schema(Value);

impl Schema {
    pub(super) fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.0[keyword] = value.into();
        self
    }

    pub(super) fn example(self, example: &str) -> Self {
        self.with("example", example)
    }

    pub(super) fn or_null(self) -> Self {
        self.with("nullable", true)
    }

    /// Adds the lines of a comment as its description, if there are any.
    pub(super) fn described(self, lines: &[&str]) -> Self {
        let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
        if lines.is_empty() { self } else { self.with("description", lines.join("\n")) }
    }

    /// Adds a member that is always present.
    pub(super) fn required(self, name: &str, member: Self, lines: &[&str]) -> Self {
        let mut object = self.optional(name, member, lines);
        match &mut object.0["required"] {
            Value::Array(names) => names.push(name.into()),
            none => *none = json!([name]),
        }
        object
    }

    /// Adds a member that may be absent.
    pub(super) fn optional(mut self, name: &str, member: Self, lines: &[&str]) -> Self {
        self.0["properties"][name] = member.described(lines).0;
        self
    }
}

impl From<Schema> for Value {
    fn from(schema: Schema) -> Self {
        schema.0
    }
}

/// A value of a type of JSON.
pub(super) fn of(kind: &str) -> Schema {
    Schema(json!({"type": kind}))
}

pub(super) fn text() -> Schema {
    of("string")
}

pub(super) fn date() -> Schema {
    text().with("format", "date")
}

pub(super) fn flag() -> Schema {
    of("boolean")
}

/// A number of things.
pub(super) fn count() -> Schema {
    of("integer").with("format", "int64").with("minimum", 0)
}

pub(super) fn object() -> Schema {
    of("object")
}

pub(super) fn list(items: Schema) -> Schema {
    of("array").with("items", items)
}

pub(super) fn one_of<const N: usize>(schemas: [Schema; N]) -> Schema {
    Schema(json!({"oneOf": Value::from_iter(schemas)}))
}

/// A value of the type with this name.
pub(super) fn named(name: &str) -> Schema {
    Schema(json!({"$ref": format!("#/components/schemas/{name}")}))
}
