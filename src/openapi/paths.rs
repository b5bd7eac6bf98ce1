//! The operations: the request of each, and all statuses of its answers.
//!
//! The operations have no operationId, as in the public service's document. Client generators then
//! name them by path and method, so existing programs find the names that they use.

mod changes;
mod parquet;

use figdex_index::{Attribute, Level, Property};
use serde_json::{Map, Value, json};

use super::notation::{Fragment, component, flag, list, named, object, of, text};
use crate::callers::error::ApiError;
use crate::callers::limits::standing::Standing;
use crate::callers::version::Version;
use crate::config::Settings;

/// The operations of a version.
pub(super) fn paths(version: Version, settings: &Settings) -> Map<String, Value> {
    let mut paths = Map::new();
    let mut add = |path: &str, method: &str, operation: Fragment| {
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[method] = operation.into();
    };
    add("/mapping", "post", mapping());
    add("/mapping/values/{key}", "get", values(version));
    if version.has_search() {
        add("/search", "post", search());
    }
    if version.has_filter() {
        add("/filter", "post", filter(settings));
    }
    if version == Version::V3 {
        add("/resolve", "post", resolve(settings));
        add("/resolve", "get", resolve_url(settings));
        add("/suggest", "get", suggest(settings));
        add("/facets", "get", facets(settings));
        add("/find", "get", find(settings));
        if settings.changes {
            add("/changes", "get", changes::operation(settings));
        }
        if settings.parquet {
            let path = "/generations/{generation}/instruments.parquet";
            add(path, "get", parquet::operation(settings));
        }
    }
    paths
}

fn mapping() -> Fragment {
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
        .described("Maps identifiers to FIGIs, a batch of jobs at a time.");
    answering(operation, "BulkMappingJobResult", "The results of the jobs, in their order.")
}

fn search() -> Fragment {
    let examples = [
        ("simpleSearchRequest", "Key words", json!({"query": "ibm", "exchCode": "US"})),
        (
            "narrowedSearchRequest",
            "Key words, narrowed by properties",
            json!({"query": "apple", "marketSecDes": "Equity", "currency": "EUR"}),
        ),
    ];
    let operation = posting("SearchRequest", &examples).described(
        "Searches FIGIs by key words and properties, the best matches first: 100 on a page, up to \
         150 pages.",
    );
    answering(operation, "SearchResponse", "A page of results.")
}

fn filter(settings: &Settings) -> Fragment {
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
        .described("Finds the same FIGIs as search, in FIGI order, and counts them.");
    answering(operation, "FilterResponse", "A page of results, and the number of all.")
}

/// The operation of lists. It has no version, and so a separate address.
fn resolve(settings: &Settings) -> Fragment {
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
    let operation = posting("ResolveRequest", &examples).described(
        "Says which row each identifier of a list means, by the steps that the request states. \
         Bodies and answers may also be text/csv or application/x-ndjson; then the options are \
         parameters of the URL.",
    );
    let results = json_response("ResolveResponse", "The results of the jobs.");
    let operation = of_list(operation, results, "The body or an option is wrong.", settings);
    let unreadable = "The body is not JSON, CSV or NDJSON in UTF-8.";
    operation.response("415", json_response("ResolveFault", unreadable))
}

/// The operation of lists in a URL.
fn resolve_url(settings: &Settings) -> Fragment {
    let repeated = |name, description: &str, example: &str| {
        let one = parameter(name, description, list(text()), None);
        one.with("explode", true).with("example", json!([example]))
    };
    let texts = "An identifier in any form; may be repeated.";
    let steps = "A step that chooses one of several rows; may be repeated.";
    let fields = "The fields of the rows, separated by commas: members of a row, idTypes, \
        OCC_SYMBOL:compact, OCC_SYMBOL:padded, and symbols of vendors: symbol: and a name.";
    let format = "csv or json. Without it, what Accept likes best, among equals CSV.";
    let as_type = "The idType of all texts, or symbol: and the name of a vendor for its symbols.";
    let many = "With all, an ambiguous text is answered with all of its rows.";
    let operation = Fragment::default()
        .described(
            "Says which row each text means, as a POST does, for programs that only know an \
             address: a spreadsheet, or an engine that reads files. The URL has at most 8,192 \
             bytes, and never a key. Cells of CSV that a spreadsheet would run begin with an \
             apostrophe.",
        )
        .parameter(repeated("text", texts, "US0378331005").with("required", true))
        .parameter(repeated("prefer", steps, "composite"))
        .parameter(parameter("fields", fields, text(), "figi,ticker,ID_ISIN"))
        .parameter(parameter("format", format, text().with("enum", json!(["csv", "json"])), "csv"))
        .parameter(parameter("as", as_type, text(), None))
        .parameter(parameter("many", many, text(), None))
        .parameter(parameter("asOf", "The day as of which all texts are asked.", text(), None));
    let what = "Whether to include equities that are not listed on an exchange.";
    let candidates = "Whether names that are not resolved have candidates.";
    let formerly = "Whether other FIGIs that had an identifier before are named.";
    let operation = operation
        .parameter(parameter("includeUnlistedEquities", what, flag(), None))
        .parameter(parameter("candidates", candidates, flag(), None))
        .parameter(parameter("formerly", formerly, flag(), None));
    let results = json_response("ResolveResponse", "The results of the texts.")
        .content("text/csv", content(text()));
    let operation = of_list(operation, results, "A parameter is wrong.", settings);
    let too_long = "The URL has more than 8,192 bytes.";
    operation.response("414", counted(json_response("ResolveFault", too_long)))
}

/// Adds the answers that lists in a body and in a URL have.
fn of_list(operation: Fragment, results: Fragment, wrong: &str, settings: &Settings) -> Fragment {
    let fault = |description| counted(json_response("ResolveFault", description));
    let mut results = counted(results);
    for (name, description) in LIST_HEADERS {
        results = results.header(name, header("integer", description));
    }
    for (name, description) in [TOKEN, UNKNOWN_VALUES, NOT_SHOWN] {
        results = results.header(name, header("string", description));
    }
    let (name, description) = JOBS_PER_LIST;
    let too_long = fault("The list, or its answer, is too large.")
        .header(name, header("integer", description));
    let operation = operation
        .with("servers", unversioned(settings))
        .response("200", results)
        .response("400", fault(wrong))
        .response("413", too_long);
    refused(operation, &["401", "405", "406", "429", "500", "503"])
}

fn suggest(settings: &Settings) -> Fragment {
    let query = "The beginning of what is looked for.";
    let operation = Fragment::default()
        .described(
            "Guesses what a person means who is still typing. One row of each security, the \
             likeliest first.",
        )
        .parameter(parameter("query", query, text(), "inter bus").with("required", true))
        .parameter(parameter("limit", "The most rows, 1 to 50.", number(), "10"));
    open(with_properties(operation), settings, "SuggestResponse", "The likeliest securities.")
}

/// An example of each interval.
const NUMBERS: [&str; Attribute::NUMBERS.len()] = ["100..200", "100..", "..5"];
const DATES: [&str; Attribute::DATES.len()] = ["2026-01-01..2026-12-31", "2030-01-01..2030-12-31"];

fn facets(settings: &Settings) -> Fragment {
    let names = "That by which the instruments are counted, joined by commas: enum-like \
        properties, and level.";
    let limit = "The most values of each property, 1 to 10000.";
    let operation = Fragment::default()
        .described(
            "Counts the instruments that a search or filter finds by the values of their \
             properties. Without query and filters, all instruments.",
        )
        .parameter(parameter("properties", names, text(), "level,exchCode"))
        .parameter(parameter("limit", limit, number(), "100"))
        .parameter(parameter("query", "Key words, at most 1,024 bytes.", text(), "ibm"));
    open(with_filters(operation), settings, "FacetsResponse", "The counts.")
}

fn find(settings: &Settings) -> Fragment {
    let query = "What is looked for, at most 1,024 bytes.";
    let start = "The `next` of the page before; without it, the first page.";
    let operation = Fragment::default()
        .described(
            "Finds what a person means by a text. The securities are the suggestions for the text \
             and those of the rows; the rows are those that a search finds, 100 on a page, up to \
             150 pages. Words such as `xetra` or `dec 2025` narrow the question.",
        )
        .parameter(parameter("query", query, text(), "apple xetra").with("required", true))
        .parameter(parameter("start", start, text(), None));
    open(with_filters(operation), settings, "FindResponse", "The securities, and a page of rows.")
}

/// Adds the filters of a search as parameters.
fn with_filters(operation: Fragment) -> Fragment {
    let numbers = "Two numbers joined by two dots, of which one may be left out.";
    let days = "Two dates joined by two dots, of which one may be left out.";
    let mut operation = operation.parameter(parameter(
        "level",
        "The place of an instrument in its family; may be repeated.",
        object().with("enum", Vec::from(Level::ALL.map(Level::name))),
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
fn with_properties(mut operation: Fragment) -> Fragment {
    for property in Property::ALL {
        let what = "An instrument must have one of the values that are given; may be repeated.";
        let parameter = parameter(property.name(), what, list(text()), None).with("explode", true);
        operation = operation.parameter(parameter);
    }
    let what = "Whether to include equities that are not listed on an exchange.";
    operation.parameter(parameter("includeUnlistedEquities", what, flag(), "true"))
}

fn number() -> Fragment {
    of("integer")
}

/// An operation that only reads, needs no key, and has an address without a version.
fn open(operation: Fragment, settings: &Settings, schema: &str, description: &str) -> Fragment {
    let operation = operation
        .with("servers", unversioned(settings))
        .with("security", json!([{}]))
        .response("200", counted(json_response(schema, description)))
        .response("400", counted(json_response("ResolveFault", "A parameter is wrong.")));
    refused(operation, &["405", "429", "500", "503"])
}

/// The address of the operations without a version.
fn unversioned(settings: &Settings) -> Value {
    json!([{"url": settings.public_url.as_deref().unwrap_or("/")}])
}

/// A parameter of the query string, perhaps with an example.
fn parameter<'a>(
    name: &str,
    description: &str,
    schema: Fragment,
    example: impl Into<Option<&'a str>>,
) -> Fragment {
    let parameter =
        Fragment::default().with("name", name).with("in", "query").with("required", false);
    let parameter = parameter.described(description).with("schema", schema);
    match example.into() {
        Some(example) => parameter.example(example),
        None => parameter,
    }
}

fn values(version: Version) -> Fragment {
    let properties = Property::ALL.into_iter().filter(|property| version.has_values_of(*property));
    let keys: Vec<_> = ["idType"].into_iter().chain(properties.map(Property::name)).collect();
    let what = "The property whose values are listed.";
    let parameter = parameter("key", what, text().with("enum", keys), None)
        .with("in", "path")
        .with("required", true);
    let operation = Fragment::default()
        .described("Lists the values that a property may have now.")
        .parameter(parameter)
        .response("200", counted(json_response("ValuesResponse", "The values.")))
        .response("400", counted(refusal(&[("key", ApiError::BadRequest)])))
        .response("404", component("responses", "404"));
    refused(operation, &["401", "405", "406", "429", "500", "503"])
}

/// An operation that takes a body, with examples that find something in the bundled sample.
fn posting(request: &str, examples: &[(&str, &str, Value)]) -> Fragment {
    let examples: Map<_, _> = examples
        .iter()
        .map(|(name, summary, value)| {
            ((*name).to_owned(), json!({"summary": summary, "value": value}))
        })
        .collect();
    let content = content(named(request)).with("examples", examples);
    let body = Fragment::default().content("application/json", content).with("required", true);
    Fragment::default().with("requestBody", body)
}

/// Adds the answers of an operation that takes a body.
fn answering(operation: Fragment, schema: &str, description: &str) -> Fragment {
    let operation = operation.response("200", counted(json_response(schema, description)));
    refused(operation, &["400", "401", "405", "406", "413", "415", "429", "500", "503"])
}

/// Adds the refusals with these statuses, which are components, to an operation.
fn refused(mut operation: Fragment, statuses: &[&str]) -> Fragment {
    for status in statuses {
        operation = operation.response(status, component("responses", status));
    }
    operation
}

fn content(schema: Fragment) -> Fragment {
    Fragment::default().with("schema", schema)
}

fn json_response(schema: &str, description: &str) -> Fragment {
    Fragment::default().described(description).content("application/json", content(named(schema)))
}

/// A response for the lines of the error table that share a status, each with the name of its
/// example.
fn refusal(lines: &[(&str, ApiError)]) -> Fragment {
    let examples: Map<_, _> = lines
        .iter()
        .map(|(name, error)| ((*name).to_owned(), json!({"value": error.line().1})))
        .collect();
    let reason = lines[0].1.line().0.canonical_reason();
    Fragment::default()
        .described(reason.expect("a status of the contract has a name"))
        .content("text/html; charset=utf-8", content(text()).with("examples", examples))
}

/// Adds the rate-limit headers, which an answer has if its request was counted.
fn counted(mut response: Fragment) -> Fragment {
    for (name, ..) in RATE_HEADERS {
        response = response.header(name, component("headers", name));
    }
    response
}

/// A header of an answer.
fn header(kind: &str, description: &str) -> Fragment {
    content(of(kind)).described(description)
}

const JOBS_PER_LIST: (&str, &str) = ("figdex-jobs-per-list", "Jobs that a list may have.");

const UNKNOWN_VALUES: (&str, &str) = (
    "figdex-unknown-values",
    "Values of the steps that are outside the sets of their properties: `exchCode=XX`. Absent when \
     there are none.",
);

const NOT_SHOWN: (&str, &str) = (
    "figdex-not-shown",
    "The idTypes that would be in the answer and that the caller may not see. Absent when there are \
     none.",
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

const RATE_HEADERS: [(&str, &str, &str); 4] = [
    ("ratelimit-limit", "integer", "Requests allowed in the current window."),
    ("ratelimit-policy", "string", "The limit and its window in seconds: `25;w=60`."),
    ("ratelimit-remaining", "integer", "Requests still allowed in the current window."),
    ("ratelimit-reset", "integer", "Seconds until the current window ends."),
];

/// The refusals and headers that operations share.
pub(super) fn components() -> Value {
    let plain = |error| refusal(&[("text", error)]);
    let of_body = [("generic", ApiError::BadRequest), ("invalid_enum", ApiError::InvalidEnumField)];
    let method = plain(ApiError::InvalidMethod { allow: "" })
        .header("allow", header("string", "The methods that the path accepts."));
    let full = Standing { limit: 0, remaining: 0, reset_seconds: 0, window_seconds: 0 };
    let rate = counted(plain(ApiError::RateLimitReached(full)))
        .header("retry-after", header("integer", "Seconds until another request can succeed."));
    let too_large = counted(plain(ApiError::PayloadTooLarge)).header(
        "figdex-rows",
        header("integer", "The rows of an answer that is too large; absent in other cases."),
    );
    let responses: [(&str, Fragment); 10] = [
        ("400", counted(refusal(&of_body))),
        ("401", plain(ApiError::InvalidApiKey)),
        ("404", plain(ApiError::InvalidUrl)),
        ("405", method),
        ("406", plain(ApiError::UnsupportedAccept)),
        ("413", too_large),
        ("415", plain(ApiError::InvalidContentType)),
        ("429", rate),
        ("500", counted(plain(ApiError::Internal))),
        ("503", counted(plain(ApiError::Unavailable))),
    ];
    let mut components = Fragment::default();
    for (name, kind, description) in RATE_HEADERS {
        components = components.header(name, header(kind, description));
    }
    for (status, response) in responses {
        components = components.response(status, response);
    }
    components.into()
}
