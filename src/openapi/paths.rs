//! The operations: the request of each, and all statuses of its answers.
//!
//! The operations have no operationId, as in the public service's document. Client generators then
//! name them by path and method, so existing programs find the names that they use.

mod changes;

use figdex_index::{Attribute, Level, Property};
use serde_json::{Value, json};
use utoipa::openapi::example::Example;
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Operation, OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, ComponentsBuilder, Object, Ref, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    Content, ContentBuilder, HttpMethod, ObjectBuilder, Paths, Required, Response, ResponseBuilder,
    Server,
};

use crate::callers::error::ApiError;
use crate::callers::limits::standing::Standing;
use crate::callers::version::Version;
use crate::config::Settings;

/// The operations of a version.
pub(super) fn paths(version: Version, settings: &Settings) -> Paths {
    let mut paths = Paths::new();
    let mut add = |path, method, operation| {
        paths.add_path_operation(path, vec![method], operation);
    };
    add("/mapping", HttpMethod::Post, mapping());
    add("/mapping/values/{key}", HttpMethod::Get, values(version));
    if version.has_search() {
        add("/search", HttpMethod::Post, search());
    }
    if version.has_filter() {
        add("/filter", HttpMethod::Post, filter(settings));
    }
    if version == Version::V3 {
        add("/resolve", HttpMethod::Post, resolve(settings));
        add("/suggest", HttpMethod::Get, suggest(settings));
        add("/facets", HttpMethod::Get, facets(settings));
        add("/find", HttpMethod::Get, find(settings));
        if settings.changes {
            add("/changes", HttpMethod::Get, changes::operation(settings));
        }
    }
    paths
}

fn mapping() -> Operation {
    let examples = [
        (
            "simpleMappingRequest",
            "An identifier",
            json!([{"idType": "ID_BB_GLOBAL", "idValue": "BBG000BLNNH6"}]),
        ),
        (
            "narrowedMappingRequest",
            "Identifiers, narrowed by properties",
            json!([
                {"idType": "ID_ISIN", "idValue": "US4592001014", "exchCode": "US"},
                {"idType": "ID_WERTPAPIER", "idValue": 851399, "currency": "EUR"},
            ]),
        ),
        (
            "optionMappingRequest",
            "An option, by its base ticker and its expiration",
            json!([{
                "idType": "BASE_TICKER", "idValue": "AAPL 1 C155", "securityType2": "Option",
                "expiration": ["2025-01-01", "2025-12-31"], "strike": [150, null],
            }]),
        ),
    ];
    let operation = posting("BulkMappingJob", &examples)
        .description(Some("Maps identifiers to FIGIs, a batch of jobs at a time."));
    answering(operation, "BulkMappingJobResult", "The results of the jobs, in their order.").build()
}

fn search() -> Operation {
    let examples = [
        ("simpleSearchRequest", "Key words", json!({"query": "ibm", "exchCode": "US"})),
        (
            "narrowedSearchRequest",
            "Key words, narrowed by properties",
            json!({"query": "apple", "marketSecDes": "Equity", "currency": "EUR"}),
        ),
    ];
    let operation = posting("SearchRequest", &examples).description(Some(
        "Searches FIGIs by key words and properties, the best matches first: 100 on a page, up to \
         150 pages.",
    ));
    answering(operation, "SearchResponse", "A page of results.").build()
}

fn filter(settings: &Settings) -> Operation {
    let mut examples = vec![
        ("simpleFilterRequest", "Key words", json!({"query": "ibm", "exchCode": "US"})),
        (
            "propertyFilterRequest",
            "Properties alone",
            json!({"securityType2": "Option", "expiration": ["2025-01-01", "2025-12-31"]}),
        ),
    ];
    if !settings.strict_contract {
        examples.push((
            "severalFilterRequest",
            "Several values of a property",
            json!({"exchCode": ["US", "GR"], "securityType2": "Common Stock"}),
        ));
    }
    let operation = posting("FilterRequest", &examples)
        .description(Some("Finds the same FIGIs as search, in FIGI order, and counts them."));
    answering(operation, "FilterResponse", "A page of results, and the number of all.").build()
}

/// The operation of lists. It has no version, and so a separate address.
fn resolve(settings: &Settings) -> Operation {
    let examples = [
        (
            "simpleListRequest",
            "Texts",
            json!({"jobs": ["US0378331005", "IBM US Equity"], "prefer": ["composite", "exchCode=US"]}),
        ),
        (
            "narrowedListRequest",
            "Mapping jobs, with some fields of the rows",
            json!({
                "jobs": [{"idType": "ID_ISIN", "idValue": "US4592001014", "currency": "EUR"}],
                "prefer": ["composite"], "fields": ["figi", "ticker", "exchCode"],
            }),
        ),
    ];
    let operation = posting("ResolveRequest", &examples).description(Some(
        "Says which row each identifier of a list means, by the steps that the request states. \
         Bodies and answers may also be text/csv or application/x-ndjson; then the options are \
         parameters of the URL.",
    ));
    let fault = |description| counted(json_response("ResolveFault", description));
    let mut results = counted(json_response("ResolveResponse", "The results of the jobs."));
    for (name, description) in LIST_HEADERS {
        results = results.header(name, header(Type::Integer, description));
    }
    for (name, description) in [TOKEN, UNKNOWN_VALUES] {
        results = results.header(name, header(Type::String, description));
    }
    let (name, description) = JOBS_PER_LIST;
    let too_long = fault("The list, or its answer, is too large.")
        .header(name, header(Type::Integer, description));
    let operation = operation
        .servers(Some([unversioned(settings)]))
        .response("200", results)
        .response("400", fault("The body or an option is wrong."))
        .response("413", too_long)
        .response(
            "415",
            json_response("ResolveFault", "The body is not JSON, CSV or NDJSON in UTF-8."),
        );
    refused(operation, &["401", "405", "406", "429", "500", "503"]).build()
}

fn suggest(settings: &Settings) -> Operation {
    let query = "The beginning of what is looked for.";
    let operation = OperationBuilder::new()
        .description(Some(
            "Guesses what a person means who is still typing. One row of each security, the \
             likeliest first.",
        ))
        .parameter(parameter("query", query, text(), "inter bus").required(Required::True))
        .parameter(parameter("limit", "The most rows, 1 to 50.", number(), "10"));
    open(with_properties(operation), settings, "SuggestResponse", "The likeliest securities.")
}

/// An example of each interval.
const NUMBERS: [&str; Attribute::NUMBERS.len()] = ["100..200", "100..", "..5"];
const DATES: [&str; Attribute::DATES.len()] = ["2026-01-01..2026-12-31", "2030-01-01..2030-12-31"];

fn facets(settings: &Settings) -> Operation {
    let names = "That by which the instruments are counted, joined by commas: enum-like \
        properties, and level.";
    let limit = "The most values of each property, 1 to 10000.";
    let operation = OperationBuilder::new()
        .description(Some(
            "Counts the instruments that a search or filter finds by the values of their \
             properties. Without query and filters, all instruments.",
        ))
        .parameter(parameter("properties", names, text(), "level,exchCode"))
        .parameter(parameter("limit", limit, number(), "100"))
        .parameter(parameter("query", "Key words, at most 1,024 bytes.", text(), "ibm"));
    open(with_filters(operation), settings, "FacetsResponse", "The counts.")
}

fn find(settings: &Settings) -> Operation {
    let query = "What is looked for, at most 1,024 bytes.";
    let start = "The `next` of the page before; without it, the first page.";
    let operation = OperationBuilder::new()
        .description(Some(
            "Finds what a person means by a text. The securities are the suggestions for the text \
             and those of the rows; the rows are those that a search finds, 100 on a page, up to \
             150 pages. Words such as `xetra` or `dec 2025` narrow the question.",
        ))
        .parameter(parameter("query", query, text(), "apple xetra").required(Required::True))
        .parameter(parameter("start", start, text(), "").example(None));
    open(with_filters(operation), settings, "FindResponse", "The securities, and a page of rows.")
}

/// Adds the filters of a search as parameters.
fn with_filters(operation: OperationBuilder) -> OperationBuilder {
    let numbers = "Two numbers joined by two dots, of which one may be left out.";
    let days = "Two dates joined by two dots, of which one may be left out.";
    let mut operation = operation.parameter(parameter(
        "level",
        "The place of an instrument in its family; may be repeated.",
        ObjectBuilder::new().enum_values(Some(Level::ALL.map(Level::name))),
        "composite",
    ));
    for (number, example) in Attribute::NUMBERS.into_iter().zip(NUMBERS) {
        operation = operation.parameter(parameter(number.name(), numbers, text(), example));
    }
    for (date, example) in Attribute::DATES.into_iter().zip(DATES) {
        operation = operation.parameter(parameter(date.name(), days, text(), example));
    }
    with_properties(operation)
}

/// Adds the enum-like properties and `includeUnlistedEquities` as parameters.
fn with_properties(mut operation: OperationBuilder) -> OperationBuilder {
    for property in Property::ALL {
        let what = "An instrument must have one of the values that are given; may be repeated.";
        operation = operation.parameter(
            ParameterBuilder::new()
                .name(property.name())
                .parameter_in(ParameterIn::Query)
                .description(Some(what))
                .explode(Some(true))
                .schema(Some(ArrayBuilder::new().items(Object::with_type(Type::String)))),
        );
    }
    let what = "Whether to include equities that are not listed on an exchange.";
    let unlisted = ObjectBuilder::new().schema_type(Type::Boolean);
    operation.parameter(parameter("includeUnlistedEquities", what, unlisted, "true"))
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer)
}

/// An operation that only reads, needs no key, and has an address without a version.
fn open(
    operation: OperationBuilder,
    settings: &Settings,
    schema: &str,
    description: &str,
) -> Operation {
    let operation = operation
        .servers(Some([unversioned(settings)]))
        .securities(Some([SecurityRequirement::default()]))
        .response("200", counted(json_response(schema, description)))
        .response("400", counted(json_response("ResolveFault", "A parameter is wrong.")));
    refused(operation, &["405", "429", "500", "503"]).build()
}

/// The address of the operations without a version.
fn unversioned(settings: &Settings) -> Server {
    Server::new(settings.public_url.clone().unwrap_or_else(|| "/".to_owned()))
}

fn parameter(
    name: &str,
    description: &str,
    schema: ObjectBuilder,
    example: &str,
) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(description))
        .schema(Some(schema))
        .example(Some(example.into()))
}

fn values(version: Version) -> Operation {
    let properties = Property::ALL.into_iter().filter(|property| version.has_values_of(*property));
    let keys: Vec<_> = ["idType"].into_iter().chain(properties.map(Property::name)).collect();
    let key = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(keys));
    let parameter = ParameterBuilder::new()
        .name("key")
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some("The property whose values are listed."))
        .schema(Some(key.build()));
    let operation = OperationBuilder::new()
        .description(Some("Lists the values that a property may have now."))
        .parameter(parameter)
        .response("200", counted(json_response("ValuesResponse", "The values.")))
        .response("400", counted(refusal(&[("key", ApiError::BadRequest)])))
        .response("404", Ref::from_response_name("404"));
    refused(operation, &["401", "405", "406", "429", "500", "503"]).build()
}

/// An operation that takes a body, with examples that find something in the bundled sample.
fn posting(request: &str, examples: &[(&str, &str, Value)]) -> OperationBuilder {
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name(request))).examples_from_iter(
            examples.iter().map(|(name, summary, value)| (*name, example(summary, value.clone()))),
        );
    let body = RequestBodyBuilder::new()
        .content("application/json", content.build())
        .required(Some(Required::True));
    OperationBuilder::new().request_body(Some(body.build()))
}

fn example(summary: &str, value: Value) -> Example {
    let mut example = Example::new();
    example.summary = summary.to_owned();
    example.value = Some(value);
    example
}

/// Adds the answers of an operation that takes a body.
fn answering(operation: OperationBuilder, schema: &str, description: &str) -> OperationBuilder {
    let operation = operation.response("200", counted(json_response(schema, description)));
    refused(operation, &["400", "401", "405", "406", "413", "415", "429", "500", "503"])
}

/// Adds the refusals with these statuses, which are components, to an operation.
fn refused(mut operation: OperationBuilder, statuses: &[&str]) -> OperationBuilder {
    for status in statuses {
        operation = operation.response(*status, Ref::from_response_name(*status));
    }
    operation
}

fn json_response(schema: &str, description: &str) -> ResponseBuilder {
    let content = Content::new(Some(Ref::from_schema_name(schema)));
    ResponseBuilder::new().description(description).content("application/json", content)
}

/// A response for the lines of the error table that share a status, each with the name of its
/// example.
fn refusal(lines: &[(&str, ApiError)]) -> ResponseBuilder {
    let content =
        ContentBuilder::new().schema(Some(Object::with_type(Type::String))).examples_from_iter(
            lines.iter().map(|(name, error)| (*name, example("", error.line().1.into()))),
        );
    let reason = lines[0].1.line().0.canonical_reason();
    ResponseBuilder::new()
        .description(reason.expect("a status of the contract has a name"))
        .content("text/html; charset=utf-8", content.build())
}

/// Adds the rate-limit headers, which an answer has if its request was counted.
fn counted(mut response: ResponseBuilder) -> ResponseBuilder {
    for (name, ..) in RATE_HEADERS {
        response = response.header_ref(name, Ref::new(format!("#/components/headers/{name}")));
    }
    response
}

/// A header of an answer.
fn header(kind: Type, description: &str) -> Header {
    let mut header = Header::new(Object::with_type(kind));
    header.description = Some(description.to_owned());
    header
}

const JOBS_PER_LIST: (&str, &str) = ("figdex-jobs-per-list", "Jobs that a list may have.");

const UNKNOWN_VALUES: (&str, &str) = (
    "figdex-unknown-values",
    "Values of the steps that are outside the sets of their properties: `exchCode=XX`. Absent when \
     there are none.",
);

const TOKEN: (&str, &str) = (
    "figdex-token",
    "The token of the generation of the index that answered, from which /changes can go on.",
);

const LIST_HEADERS: [(&str, &str); 3] = [
    ("figdex-generation", "The number of the generation of the index that answered."),
    JOBS_PER_LIST,
    ("figdex-jobs-per-request", "Jobs of a list that count as one request. Not without limits."),
];

const RATE_HEADERS: [(&str, Type, &str); 4] = [
    ("ratelimit-limit", Type::Integer, "Requests allowed in the current window."),
    ("ratelimit-policy", Type::String, "The limit and its window in seconds: `25;w=60`."),
    ("ratelimit-remaining", Type::Integer, "Requests still allowed in the current window."),
    ("ratelimit-reset", Type::Integer, "Seconds until the current window ends."),
];

/// Adds the refusals and headers that operations share.
pub(super) fn components(components: ComponentsBuilder) -> ComponentsBuilder {
    let plain = |error| refusal(&[("text", error)]);
    let of_body = [("generic", ApiError::BadRequest), ("invalid_enum", ApiError::InvalidEnumField)];
    let method = plain(ApiError::InvalidMethod { allow: "" })
        .header("allow", header(Type::String, "The methods that the path accepts."));
    let full = Standing { limit: 0, remaining: 0, reset_seconds: 0, window_seconds: 0 };
    let rate = counted(plain(ApiError::RateLimitReached(full)))
        .header("retry-after", header(Type::Integer, "Seconds until another request can succeed."));
    let too_large = counted(plain(ApiError::PayloadTooLarge)).header(
        "figdex-rows",
        header(Type::Integer, "The rows of an answer that is too large; absent in other cases."),
    );
    let responses: [(&str, Response); 10] = [
        ("400", counted(refusal(&of_body)).build()),
        ("401", plain(ApiError::InvalidApiKey).build()),
        ("404", plain(ApiError::InvalidUrl).build()),
        ("405", method.build()),
        ("406", plain(ApiError::UnsupportedAccept).build()),
        ("413", too_large.build()),
        ("415", plain(ApiError::InvalidContentType).build()),
        ("429", rate.build()),
        ("500", counted(plain(ApiError::Internal)).build()),
        ("503", counted(plain(ApiError::Unavailable)).build()),
    ];
    let components = RATE_HEADERS.into_iter().fold(components, |components, (name, kind, text)| {
        components.header(name, header(kind, text))
    });
    components.responses_from_iter(responses)
}
