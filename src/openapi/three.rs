//! Translation to OpenAPI 3.0. The public service's document has this version, and all client
//! generators read it. utoipa writes only 3.1. The two versions differ in the notation of nullable
//! values and of composed objects.

use serde_json::{Map, Value, json};

/// Translates the document to 3.0.
pub(super) fn translate(document: &mut Value) {
    document["openapi"] = json!("3.0.3");
    translate_schema(document);
}

/// Replaces each composed object by an object that has all its properties. Requests forbid further
/// properties, and 3.0 cannot do so for a composed object. Removes the schema that was only a part
/// of others.
pub(super) fn spread(schemas: &Map<String, Value>) -> Map<String, Value> {
    let whole = |(name, schema): (&String, &Value)| (name.clone(), composed(schema, schemas));
    let mut spread: Map<String, Value> = schemas.iter().map(whole).collect();
    spread.remove("CommonSearchMappingRequest");
    spread
}

/// The schema with the properties of the schemas in its `allOf`.
fn composed(schema: &Value, schemas: &Map<String, Value>) -> Value {
    let Some(parts) = schema["allOf"].as_array() else { return schema.clone() };
    let mut whole = json!({"type": "object", "properties": {}, "required": []});
    if let Some(description) = schema.get("description") {
        whole["description"] = description.clone();
    }
    for part in parts {
        let part = match part["$ref"].as_str().and_then(|path| path.rsplit_once('/')) {
            Some((_, name)) => composed(&schemas[name], schemas),
            None => part.clone(),
        };
        for (name, property) in part["properties"].as_object().into_iter().flatten() {
            whole["properties"][name] = property.clone();
        }
        for name in part["required"].as_array().into_iter().flatten() {
            whole["required"].as_array_mut().expect("it was made above").push(name.clone());
        }
    }
    if whole["required"] == json!([]) {
        // An empty list of required properties is not allowed in 3.0.
        whole.as_object_mut().expect("it was made above").remove("required");
    }
    whole
}

/// Replaces `"type": [t, "null"]` by `"type": t, "nullable": true` everywhere in a value. Removes
/// `propertyNames`, which 3.0 does not have.
fn translate_schema(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("propertyNames");
            if let Some(Value::Array(types)) = members.get("type") {
                let kind = types.iter().find(|kind| *kind != "null").cloned();
                members.insert("type".to_owned(), kind.expect("a type other than null"));
                members.insert("nullable".to_owned(), Value::Bool(true));
            }
            members.values_mut().for_each(translate_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(translate_schema),
        _ => {}
    }
}
