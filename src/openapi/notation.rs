//! A notation for the fragments of the document, in OpenAPI 3.0. The public service's document has
//! this version, and all client generators read it.

use serde_json::{Map, Value, json};

/// Defines a function `objects`, which adds objects to the schemas of the document. They are
/// written like types, and their comments are descriptions. An object `Name: Base` has the members
/// of `Base`, which is above it, and then its own. A description keeps the lines of its comment:
/// because an indentation would break them elsewhere, the objects have none.
macro_rules! objects {
    ($(
        $(#[doc = $about:literal])+
        $name:ident $(: $base:ident)? {
            $($(#[doc = $line:literal])* $presence:ident $member:ident: $schema:expr,)*
        }
    )+) => {
        fn objects(schemas: &mut $crate::openapi::notation::Schemas) {
            use $crate::openapi::notation::lines;
            $(
                let object = schemas.object(&[$(stringify!($base))?]);
                $(let object = object.$presence(stringify!($member), $schema, &lines(&[$($line),*]));)*
                schemas.add(stringify!($name), object.described(&lines(&[$($about),+])));
            )+
        }
    };
}

pub(super) use objects;

/// The schemas of the document by name.
#[derive(Default)]
pub(super) struct Schemas(pub(super) Map<String, Value>);

impl Schemas {
    pub(super) fn add(&mut self, name: &str, schema: Fragment) {
        self.0.insert(name.to_owned(), schema.0);
    }

    /// An object with the members of a base, if it has one.
    pub(super) fn object(&self, base: &[&str]) -> Fragment {
        base.first().map_or_else(object, |base| Fragment(self.0[*base].clone()))
    }
}

/// A fragment of the document: the schema of a value, an operation, an answer or a parameter.
#[derive(Clone, Default)]
pub(super) struct Fragment(Value);

impl Fragment {
    pub(super) fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.0[keyword] = value.into();
        self
    }

    pub(super) fn parameter(self, parameter: Self) -> Self {
        self.push("parameters", parameter)
    }

    pub(super) fn response(self, status: &str, response: Self) -> Self {
        self.put("responses", status, response)
    }

    pub(super) fn header(self, name: &str, header: Self) -> Self {
        self.put("headers", name, header)
    }

    pub(super) fn content(self, media_type: &str, content: Self) -> Self {
        self.put("content", media_type, content)
    }

    pub(super) fn example(self, example: &str) -> Self {
        self.with("example", example)
    }

    pub(super) fn or_null(self) -> Self {
        self.with("nullable", true)
    }

    /// Adds a description, if it is not empty.
    pub(super) fn described(self, text: &str) -> Self {
        if text.is_empty() { self } else { self.with("description", text) }
    }

    /// Adds a member that is always present.
    pub(super) fn required(self, name: &str, member: Self, description: &str) -> Self {
        self.optional(name, member, description).push("required", name)
    }

    /// Adds a member that may be absent.
    pub(super) fn optional(self, name: &str, member: Self, description: &str) -> Self {
        self.put("properties", name, member.described(description))
    }

    fn push(mut self, list: &str, entry: impl Into<Value>) -> Self {
        match &mut self.0[list] {
            Value::Array(entries) => entries.push(entry.into()),
            none => *none = Value::from_iter([entry.into()]),
        }
        self
    }

    fn put(mut self, kind: &str, name: &str, part: Self) -> Self {
        self.0[kind][name] = part.0;
        self
    }
}

impl From<Fragment> for Value {
    fn from(part: Fragment) -> Self {
        part.0
    }
}

/// The text of a comment.
pub(super) fn lines(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join("\n")
}

/// A value of a type of JSON.
pub(super) fn of(kind: &str) -> Fragment {
    Fragment(json!({"type": kind}))
}

pub(super) fn text() -> Fragment {
    of("string")
}

pub(super) fn date() -> Fragment {
    text().with("format", "date")
}

pub(super) fn flag() -> Fragment {
    of("boolean")
}

/// A number of things.
pub(super) fn count() -> Fragment {
    of("integer").with("format", "int64").with("minimum", 0)
}

pub(super) fn object() -> Fragment {
    of("object")
}

pub(super) fn list(items: Fragment) -> Fragment {
    of("array").with("items", items)
}

pub(super) fn one_of<const N: usize>(schemas: [Fragment; N]) -> Fragment {
    Fragment(json!({"oneOf": Value::from_iter(schemas)}))
}

/// A value of the type with this name.
pub(super) fn named(name: &str) -> Fragment {
    component("schemas", name)
}

/// The component of this kind and name.
pub(super) fn component(kind: &str, name: &str) -> Fragment {
    Fragment(json!({"$ref": format!("#/components/{kind}/{name}")}))
}
