//! The parts of the document that depend on the version, the settings and the data.

use figdex_index::{Attribute, IdType, Level, Property, Vocabulary};
use serde_json::{Map, Value, json};

use crate::callers::limits::{ENUM_VALUES_MAX, PerRequest};
use crate::callers::version::Version;
use crate::config::{SearchEnvelope, Settings};

/// Turns the schemas, which cover all versions, into those of one version under one set of
/// settings.
pub(super) fn apply(
    schemas: &mut Map<String, Value>,
    version: Version,
    settings: &Settings,
    per_request: PerRequest,
    vocabulary: &Vocabulary,
) {
    let id_types = IdType::ALL.into_iter().filter(|id_type| version.has_id_type(*id_type));
    schemas["MappingJob"]["properties"]["idType"]["enum"] = id_types.map(IdType::name).collect();
    for request in ["MappingJob", "SearchRequest", "FilterRequest"] {
        // Any other property is an error inside a 200 (contract 2.10).
        schemas[request]["additionalProperties"] = json!(false);
        let option_type = &mut schemas[request]["properties"]["optionType"];
        option_type["enum"] = nullable(vocabulary.values(Property::OptionType));
        for (intervals, schema) in [
            (&Attribute::NUMBERS[..], "NullableNumberInterval"),
            (&Attribute::DATES, "NullableDateInterval"),
        ] {
            for attribute in intervals {
                schemas[request]["properties"][attribute.name()] =
                    json!({"$ref": format!("#/components/schemas/{schema}")});
            }
        }
    }
    let PerRequest { jobs_max: jobs, jobs_max_with_key: with_key, .. } = per_request;
    schemas["BulkMappingJob"]["maxItems"] = with_key.into();
    schemas["BulkMappingJob"]["description"] =
        format!("The jobs of one request: at most {jobs}, or {with_key} with an API key.").into();
    let request = &mut schemas["ResolveRequest"];
    request["additionalProperties"] = json!(false);
    request["properties"]["many"]["enum"] = json!(["none", "all", null]);
    let jobs = &mut request["properties"]["jobs"];
    jobs["maxItems"] = per_request.list_jobs_max_with_key.into();
    jobs["description"] = format!(
        "Texts, each read by its form, and mapping jobs: at most {}, or {} with an API key.",
        per_request.list_jobs_max, per_request.list_jobs_max_with_key
    )
    .into();
    if version.has_required_properties() {
        schemas["MappingJob"]["description"] = REQUIRED.into();
    }
    if version.has_state_code() {
        schemas["StateCode"]["enum"] = nullable(vocabulary.values(Property::StateCode));
    } else {
        schemas.remove("StateCode");
        for request in ["MappingJob", "SearchRequest", "FilterRequest"] {
            without(&mut schemas[request], "stateCode");
        }
    }
    if !settings.strict_contract {
        several(schemas, version, vocabulary);
    }
    if !version.has_unique_ids() {
        for row in ["FigiResult", "SuggestRow", "FindSecurity"] {
            without(&mut schemas[row], "uniqueID");
            without(&mut schemas[row], "uniqueIDFutOpt");
        }
    }
    if version.no_match_key() == "error" {
        schemas.remove("MappingJobResultFigiNotFound");
        let results = schemas["MappingJobResult"]["oneOf"].as_array_mut();
        results
            .expect("a result is one of several")
            .retain(|result| result["$ref"] != "#/components/schemas/MappingJobResultFigiNotFound");
        schemas["MappingJobResultError"]["description"] =
            "The job found nothing, is invalid, or finds more instruments than a result may hold."
                .into();
    }
    if settings.search_envelope == SearchEnvelope::Array {
        wrap(schemas, "SearchResponse");
        wrap(schemas, "FilterResponse");
    }
    // The document of v3 also has the operations without a version.
    let has_others = version == Version::V3;
    let endpoints = [
        (version.has_search(), "Search"),
        (version.has_filter(), "Filter"),
        (has_others, "Resolve"),
        (has_others, "Suggest"),
        (has_others, "Facet"),
        (has_others, "Find"),
    ];
    for (_, name) in endpoints.into_iter().filter(|(has, _)| !has) {
        schemas.retain(|component, _| !component.starts_with(name));
    }
}

/// The description of a mapping job, with its conditional properties (contract 4.12 to 4.14).
const REQUIRED: &str = "One identifier to map. securityType2, or marketSecDes in its place, is \
    required when idType is BASE_TICKER or ID_EXCH_SYMBOL; expiration when securityType2 is \
    Option or Warrant; maturity when it is Pool.";

/// The values of a nullable property, and null. In OpenAPI 3.0 the enum of such a property must
/// list null.
fn nullable<'a>(values: impl Iterator<Item = &'a str>) -> Value {
    values.map(Value::from).chain([Value::Null]).collect()
}

/// Allows the extensions of the published interface: an array of values for each enum-like property
/// of a search or filter (contract 8.14), and levels (8.17).
fn several(schemas: &mut Map<String, Value>, version: Version, vocabulary: &Vocabulary) {
    let array = |items: Value| {
        json!({
            "type": "array", "minItems": 1, "maxItems": ENUM_VALUES_MAX, "items": items,
        })
    };
    let among = |property| -> Value { vocabulary.values(property).map(Value::from).collect() };
    let exists = |property: &Property| *property != Property::StateCode || version.has_state_code();
    for property in Property::ALL.into_iter().filter(exists) {
        let several = match property {
            // Its list is long: as a component it is not repeated.
            Property::StateCode => {
                schemas.insert(
                    "StateCodes".to_owned(),
                    array(json!({"type": "string", "enum": among(property)})),
                );
                json!({"$ref": "#/components/schemas/StateCodes"})
            }
            Property::OptionType => array(json!({"type": "string", "enum": among(property)})),
            _ => array(json!({"type": "string"})),
        };
        for request in ["SearchRequest", "FilterRequest"] {
            let described = &mut schemas[request]["properties"][property.name()];
            let one = described.take();
            let mut whole = json!({"oneOf": [&one, &several]});
            for keyword in ["description", "example"] {
                if let Some(text) = one.get(keyword) {
                    whole[keyword] = text.clone();
                }
            }
            *described = whole;
        }
    }
    let level = json!({"type": "string", "enum": Level::ALL.map(Level::name)});
    for request in ["SearchRequest", "FilterRequest"] {
        schemas[request]["properties"]["level"] = json!({
            "description": "The place of an instrument in its family, or an array of such places.",
            "oneOf": [&level, {"type": "array", "minItems": 1, "maxItems": Level::COUNT, "items": &level}],
        });
    }
}

/// Removes a property.
fn without(schema: &mut Value, property: &str) {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove(property);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != property);
    }
}

/// Turns the schema of an object into an array of one such object, under the same name (contract
/// 8.3). The object itself gets the name `…Element`.
fn wrap(schemas: &mut Map<String, Value>, name: &str) {
    let element = format!("{name}Element");
    let array = json!({
        "type": "array", "minItems": 1, "maxItems": 1,
        "items": {"$ref": format!("#/components/schemas/{element}")},
    });
    if let Some(object) = schemas.insert(name.to_owned(), array) {
        schemas.insert(element, object);
    }
}
