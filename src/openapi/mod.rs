//! The machine-readable description of the interface, `GET /schema` (contract 1.9, 1.10).
//!
//! `wire` reads raw JSON and writes rows by hand. So its shapes are repeated here, in the notation
//! of `notation`: `requests` and `answers`. They have the names of the public service's document,
//! because client programs are generated from these. `paths` has the operations. `edition` turns
//! the schemas into those of one version under one set of settings.
//!
//! `tests/it/api/schema.rs` compares the document with the requests that the server accepts and
//! with its answers. `.ci/run` checks it with the tools of other projects.

mod answers;
mod edition;
mod notation;
mod paths;
mod requests;

use figdex_index::Vocabulary;
use serde_json::json;

use self::notation::Schemas;
use crate::callers::limits::PerRequest;
use crate::callers::version::Version;
use crate::config::Settings;

/// The name of the security scheme.
const API_KEY: &str = "ApiKeyAuth";

const ABOUT: &str = "Finds FIGIs of financial instruments. Requests without an API key have \
    lower limits. An invalid field or mapping job is reported inside a 200; other statuses are for \
    requests that are invalid as a whole.";

/// The document of a version, as JSON. `vocabulary` gives the values of the properties whose lists
/// are short enough for the document.
pub(crate) fn document(
    version: Version,
    settings: &Settings,
    per_request: PerRequest,
    vocabulary: &Vocabulary,
) -> Vec<u8> {
    let mut schemas = Schemas::default();
    requests::add(&mut schemas);
    answers::add(&mut schemas);
    let Schemas(mut schemas) = schemas;
    edition::apply(&mut schemas, version, settings, per_request, vocabulary);
    let mut components = paths::components();
    components["schemas"] = schemas.into();
    components["securitySchemes"][API_KEY] = json!({
        "type": "apiKey", "in": "header", "name": "X-SERVICE-APIKEY",
        "description": "Gives higher limits.",
    });
    // Without a public URL, the address of the server is relative to that of this document.
    let server = format!("{}/{}", settings.public_url.as_deref().unwrap_or(""), version.name());
    let document = json!({
        "openapi": "3.0.3",
        "info": {"title": "Figdex", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT},
        "servers": [{"url": server}],
        "security": [{}, {API_KEY: []}],
        "paths": paths::paths(version, settings),
        "components": components,
    });
    serde_json::to_vec(&document).expect("a JSON value is written into memory")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config::SearchEnvelope;

    fn of(version: Version, search_envelope: SearchEnvelope) -> Value {
        let settings = Settings { search_envelope, ..Settings::default() };
        serde_json::from_slice(&document(
            version,
            &settings,
            settings.per_request(),
            &Vocabulary::new([]),
        ))
        .unwrap()
    }

    /// Every reference points to something, and every component is pointed to.
    #[test]
    fn references_and_components_are_the_same() {
        fn references<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
            match value {
                Value::Object(members) => {
                    into.extend(members.get("$ref").and_then(Value::as_str));
                    members.values().for_each(|value| references(value, into));
                }
                Value::Array(items) => items.iter().for_each(|item| references(item, into)),
                _ => {}
            }
        }
        for version in [Version::V1, Version::V2, Version::V3] {
            for envelope in [SearchEnvelope::Object, SearchEnvelope::Array] {
                let document = of(version, envelope);
                let mut pointed = Vec::new();
                references(&document, &mut pointed);
                pointed.sort_unstable();
                pointed.dedup();
                let components = document["components"].as_object().unwrap().iter();
                let mut named: Vec<_> = components
                    .filter(|(kind, _)| *kind != "securitySchemes")
                    .flat_map(|(kind, named)| {
                        let names = named.as_object().unwrap().keys();
                        names.map(move |name| format!("#/components/{kind}/{name}"))
                    })
                    .collect();
                named.sort_unstable();
                assert_eq!(pointed, named, "{version:?} {envelope:?}");
            }
        }
    }

    /// contract 1.10: `servers` is the configured public address; without one it is relative.
    #[test]
    fn servers_name_the_public_address() {
        for (public_url, server) in
            [(None, "/v2"), (Some("https://figi.example.com"), "https://figi.example.com/v2")]
        {
            let settings =
                Settings { public_url: public_url.map(str::to_owned), ..Settings::default() };
            let document =
                document(Version::V2, &settings, settings.per_request(), &Vocabulary::new([]));
            let document: Value = serde_json::from_slice(&document).unwrap();
            assert_eq!(document["servers"], serde_json::json!([{"url": server}]));
        }
    }

    /// contract 8.3: with `--search-envelope array` the schema is an array of one.
    #[test]
    fn the_envelope_is_documented() {
        let schemas = &of(Version::V3, SearchEnvelope::Array)["components"]["schemas"];
        for name in ["SearchResponse", "FilterResponse"] {
            assert_eq!(schemas[name]["type"], "array");
            assert_eq!(schemas[name]["maxItems"], 1);
            assert_eq!(schemas[format!("{name}Element")]["type"], "object");
        }
        let schemas = &of(Version::V3, SearchEnvelope::Object)["components"]["schemas"];
        assert_eq!(schemas["SearchResponse"]["type"], "object");
        assert!(schemas.get("SearchResponseElement").is_none());
    }
}
