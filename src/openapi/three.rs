//! OpenAPI 3.0, which every published client generator reads, and in which the
//! document of the public service is written. utoipa speaks 3.1 only; the two
//! differ in how a value may be null and in how objects are composed.

use serde_json::{Map, Value, json};

/// Says of the document that it is 3.0, and makes it so.
pub(super) fn translate(document: &mut Value) {
    document["openapi"] = json!("3.0.3");
    translate_schema(document);
}

/// Writes composed objects out: only 3.1 can close an object that is composed, and
/// requests are closed. What was nothing but a part goes.
pub(super) fn spread(schemas: &Map<String, Value>) -> Map<String, Value> {
    let whole = |(name, schema): (&String, &Value)| (name.clone(), composed(schema, schemas));
    let mut spread: Map<String, Value> = schemas.iter().map(whole).collect();
    spread.remove("CommonSearchMappingRequest");
    spread
}

/// The schema with what its `allOf` names written into it.
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

/// `"type": [t, "null"]` becomes `"type": t, "nullable": true`, wherever it stands.
fn translate_schema(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get("type") {
                let kind = types.iter().find(|kind| *kind != "null").cloned();
                members.insert("type".to_owned(), kind.expect("a type beside null"));
                members.insert("nullable".to_owned(), Value::Bool(true));
            }
            members.values_mut().for_each(translate_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(translate_schema),
        _ => {}
    }
}
