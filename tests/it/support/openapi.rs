//! A validator of OpenAPI 3.0 documents that is stricter than the standard: it knows only the
//! keywords that our document uses and fails on any other, and an object may have no key that its
//! schema does not name.

use figdex_index::Date;
use serde_json::{Map, Value};

/// A document.
pub(crate) struct Document(pub(crate) Value);

impl Document {
    /// The schema of a component.
    pub(crate) fn component(&self, name: &str) -> &Value {
        self.0["components"]["schemas"].get(name).unwrap_or_else(|| panic!("no schema {name}"))
    }

    /// The names of a component's properties.
    pub(crate) fn properties(&self, name: &str) -> Vec<&str> {
        self.component(name)["properties"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    /// The operations: path, method in capitals, and the operation object.
    pub(crate) fn operations(&self) -> Vec<(&str, String, &Value)> {
        let paths = self.0["paths"].as_object().unwrap().iter();
        let operations = paths.flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods.map(move |(method, of)| (path.as_str(), method.to_uppercase(), of))
        });
        operations.collect()
    }

    /// The response that an operation documents for a status.
    pub(crate) fn response<'a>(&'a self, operation: &'a Value, status: u16) -> &'a Value {
        let response = operation["responses"].get(status.to_string());
        self.resolve(response.unwrap_or_else(|| panic!("status {status} is not documented")))
    }

    /// The target of a reference; any other value unchanged.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(path) => self.0.pointer(path.strip_prefix('#').unwrap()).expect(path),
            None => value,
        }
    }

    /// Asserts that `value` is as `schema` says.
    pub(crate) fn assert_valid(&self, schema: &Value, value: &Value) {
        if let Err(fault) = self.check(schema, value) {
            panic!("{fault}\n{value:#}");
        }
    }

    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let schema = self.resolve(schema).as_object().unwrap();
        if value.is_null() && !schema.contains_key("oneOf") {
            let nullable = schema.get("nullable") == Some(&Value::Bool(true));
            return if nullable { Ok(()) } else { Err(format!("null is not {schema:?}")) };
        }
        for (keyword, rule) in schema {
            self.check_keyword(schema, keyword, rule, value)
                .map_err(|fault| format!("{fault} in {value}"))?;
        }
        Ok(())
    }

    fn check_keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
    ) -> Result<(), String> {
        let count = rule.as_u64();
        let items = value.as_array().map(|items| items.len() as u64);
        let chars = value.as_str().map(|text| text.chars().count() as u64);
        let holds = match keyword {
            "description" | "example" | "nullable" => true,
            "type" => match rule.as_str().unwrap() {
                "array" => value.is_array(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "object" => value.is_object(),
                "string" => value.is_string(),
                other => panic!("unknown type {other}"),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "format" => match rule.as_str().unwrap() {
                "date" => value.as_str().is_some_and(|date| Date::parse(date).is_ok()),
                "int64" => value.is_i64(),
                "double" => value.is_number(),
                other => panic!("unknown format {other}"),
            },
            "minimum" => value.as_f64() >= rule.as_f64(),
            "maximum" => value.as_f64() <= rule.as_f64(),
            "minItems" => items >= count,
            "maxItems" => items <= count,
            "minLength" => chars >= count,
            "maxLength" => chars <= count,
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                return items.try_for_each(|item| self.check(rule, item));
            }
            "oneOf" => {
                let rules = rule.as_array().unwrap().iter();
                let checks: Vec<_> = rules.map(|rule| self.check(rule, value)).collect();
                checks.iter().filter(|check| check.is_ok()).count() == 1
            }
            "required" => {
                let names = rule.as_array().unwrap().iter();
                names.map(|name| name.as_str().unwrap()).all(|name| value.get(name).is_some())
            }
            "additionalProperties" => match rule {
                Value::Bool(is_allowed) => !is_allowed,
                rule => {
                    let mut members = value.as_object().into_iter().flatten();
                    return members.try_for_each(|(_, member)| self.check(rule, member));
                }
            },
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    let rule = rule.get(name).ok_or(format!("{name} is not documented"))?;
                    self.check(rule, value)?;
                }
                true
            }
            other => panic!("unknown keyword {other} in {schema:?}"),
        };
        if holds { Ok(()) } else { Err(format!("not {keyword}: {rule}")) }
    }
}
