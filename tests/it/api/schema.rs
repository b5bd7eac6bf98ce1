//! Contract 1.9 to 1.11: the OpenAPI document describes what the server accepts and answers, in
//! every version.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use figdex::config::{SearchEnvelope, Settings};
use figdex_index::IdType;
use serde_json::{Value, json};

use crate::support::figi;
use crate::support::listening::{exchange, serving_with};
use crate::support::openapi::Document;
use crate::support::{Answer, Server};

const JSON: (&str, &str) = ("content-type", "application/json");

const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

/// The path of lists, which have no version (contract 17).
const LISTS: &str = "/resolve";

/// The operations that have no version.
const UNVERSIONED: [&str; 4] = [LISTS, "/suggest", "/facets", "/find"];

/// Whether an operation is only read: it passes no check of key, Accept or Content-Type (contract
/// 16).
fn is_open(path: &str) -> bool {
    path != LISTS && UNVERSIONED.contains(&path)
}

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Rows with everything, with nothing, and without attributes.
fn server() -> Server {
    let [whole, bare, hidden, other] = [1, 2, 3, 4].map(figi);
    Server::of_dump(&format!(
        "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,marketSector,securityType,\
         securityType2,securityDescription,metadata,uniqueID,uniqueIDFutOpt\n\
         {whole},{whole},BBG001S5S399,IBM,IBM CORP,US,Equity,Common Stock,Common Stock,IBM,,U,F\n\
         {bare},,,IBM,,,,,,,,,\n\
         {hidden},,,IBM,,,,,,,Metadata N/A,,\n\
         {other},,,X,,,,,,,,,\n"
    ))
}

fn document(server: &Server, path: &str) -> Document {
    let answer = server.request("GET", path, &[], "");
    assert_eq!(answer.status, 200, "{path}");
    assert_eq!(answer.content_type, "application/json; charset=utf-8");
    Document(serde_json::from_str(&answer.body).unwrap())
}

/// The path under its server.
fn url(version: &str, path: &str) -> String {
    let name = path.split('?').next().unwrap_or(path);
    if UNVERSIONED.contains(&name) { path.to_owned() } else { format!("/{version}{path}") }
}

/// A request as the document describes it.
fn request(server: &Server, version: &str, method: &str, path: &str, body: &str) -> Answer {
    let path = path.replace("{key}", "exchCode");
    server.request(method, &url(version, &path), &[JSON], body)
}

/// contract 1.9, 8.3: with `--search-envelope array` the answers are as that server's document
/// says.
#[test]
fn the_array_envelope_is_as_documented() {
    let search_envelope = SearchEnvelope::Array;
    let server = server().with_settings(Settings { search_envelope, ..Settings::default() });
    let document = document(&server, "/schema");
    for path in ["/search", "/filter"] {
        for body in [r#"{"query":"ibm"}"#, r#"{"query":""}"#] {
            let answer = request(&server, "v3", "POST", path, body);
            let answer = serde_json::from_str(&answer.body).unwrap();
            let operation = &document.0["paths"][path]["post"];
            let content = &document.response(operation, 200)["content"];
            document.assert_valid(&content["application/json"]["schema"], &answer);
            assert_eq!(answer.as_array().unwrap().len(), 1);
        }
    }
}

/// The document of v3 is the recorded one, which a person has read. `FIGDEX_BLESS=1` writes it.
#[test]
fn the_document_is_the_recorded_one() {
    let document = document(&server(), "/v3/schema");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/openapi.json");
    let text = format!("{:#}\n", document.0);
    if std::env::var_os("FIGDEX_BLESS").is_some() {
        fs::write(&golden, &text).unwrap();
    }
    let recorded = fs::read_to_string(&golden).unwrap();
    assert!(
        text == recorded,
        "tests/it/golden/openapi.json is not up to date: FIGDEX_BLESS=1 cargo test"
    );
}

/// contract 1.9, 1.11: the schema has its paths, and no check of key, Accept, Content-Type or
/// body.
#[test]
fn where_the_document_is() {
    let server = server();
    assert_eq!(document(&server, "/schema").0, document(&server, "/v3/schema").0);
    for path in ["/schema", "/schema/", "/v3/schema", "/v2/schema", "/v1/schema"] {
        let headers = [("accept", "image/png"), ("content-type", "null")];
        assert_eq!(server.request("GET", path, &headers, "null").status, 200, "{path}");
        assert_eq!(server.request("HEAD", path, &[], "").status, 200, "{path}");
        for key in ["x-service-apikey", "x-openfigi-apikey"] {
            let answer = server.request("GET", path, &[(key, "unknown")], "");
            assert_eq!(answer.status, 200, "{path} with a wrong key");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            let answer = server.request(method, path, &[JSON], "");
            let allow = answer.allow.as_deref();
            assert_eq!((answer.status, allow), (405, Some("GET, HEAD")), "{method} {path}");
        }
    }
    for path in ["/v4/schema", "/schema/v3", "/v3/schema/x"] {
        assert_eq!(server.request("GET", path, &[], "").status, 404, "{path}");
    }
    // Over a socket, where the body of a `HEAD` answer is left out.
    serving_with(Settings::default(), |address, _stop| {
        let ask = |method: &str| {
            let head = "/v2/schema HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            let answer = exchange(address, &format!("{method} {head}"));
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let lines = head.lines().filter(|line| !line.starts_with("date: ")).map(String::from);
            (lines.collect::<Vec<_>>(), body.len())
        };
        let ((head, head_bytes), (get, get_bytes)) = (ask("HEAD"), ask("GET"));
        assert!(head_bytes == 0 && get_bytes > 0, "{head_bytes} and {get_bytes} bytes");
        let own = |line: &&String| !line.starts_with("x-request-id: ");
        assert!(head.iter().filter(own).eq(get.iter().filter(own)), "{head:?} {get:?}");
    });
}

/// contract 1.2 to 1.5, 1.10: each documented path and method is there, each other method on it is
/// refused, and paths of another version are not there.
#[test]
fn the_paths_are_the_routes() {
    let server = server();
    let newest = document(&server, "/schema");
    for version in VERSIONS {
        let document = document(&server, &format!("/{version}/schema"));
        assert_eq!(document.0["servers"], json!([{"url": format!("/{version}")}]));
        let operations = document.operations();
        let all = newest.operations();
        for (path, ..) in &all {
            let documented =
                UNVERSIONED.contains(path) || operations.iter().any(|(own, ..)| own == path);
            let is_method =
                |method: &str| all.iter().any(|(own, known, _)| own == path && known == method);
            for other in METHODS {
                let answer = request(&server, version, other, path, "null");
                match (documented, is_method(other)) {
                    (true, true) => assert!(!matches!(answer.status, 404 | 405), "{other} {path}"),
                    (true, false) => assert_eq!(answer.status, 405, "{other} {path}"),
                    (false, _) => assert_eq!(answer.status, 404, "{other} /{version}{path}"),
                }
            }
        }
    }
    let paths = |version: &str| document(&server, &format!("/{version}/schema")).operations().len();
    assert_eq!(VERSIONS.map(paths), [2, 3, 9], "the others are in the document of v3");
    for (path, method) in UNVERSIONED.into_iter().zip(["post", "get", "get", "get"]) {
        assert_eq!(newest.0["paths"][path][method]["servers"], json!([{"url": "/"}]));
    }
}

/// All words in the code that reads requests: each could be a property.
fn words_of_the_wire() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_index = ["attribute.rs", "vocabulary.rs"];
    let mut sources =
        Vec::from(of_index.map(|file| folder.join("index/src/instrument").join(file)));
    for of_wire in ["src/wire", "src/wire/job"] {
        let entries = fs::read_dir(folder.join(of_wire)).unwrap();
        sources.extend(entries.map(|entry| entry.unwrap().path()));
    }
    sources.retain(|source| source.is_file());
    let texts: String = sources.iter().map(|source| fs::read_to_string(source).unwrap()).collect();
    let is_word = |text: &&str| !text.is_empty() && text.chars().all(char::is_alphanumeric);
    texts.split('"').filter(is_word).map(String::from).collect()
}

/// contract 1.6, 2.10, 4.7, 8.1: every property that the server accepts is in the document, and no
/// other.
#[test]
fn the_properties_are_the_ones_accepted() {
    let server = server();
    let candidates = words_of_the_wire();
    for version in VERSIONS {
        let document = document(&server, &format!("/{version}/schema"));
        for (path, component) in
            [("/mapping", "MappingJob"), ("/search", "SearchRequest"), ("/filter", "FilterRequest")]
        {
            if document.0["paths"].get(path).is_none() {
                continue;
            }
            let documented = document.properties(component);
            let accepted = |name: &&String| {
                let body = json!({"idType": "TICKER", "idValue": "X", *name: null});
                let body = if path == "/mapping" {
                    json!([body])
                } else {
                    json!({"query": "x", *name: null})
                };
                let answer = request(&server, version, "POST", path, &body.to_string());
                assert_eq!(answer.status, 200, "{path} {body}");
                !answer.body.contains(&format!("Invalid key '{name}'."))
            };
            let accepted: Vec<_> = candidates.iter().filter(accepted).collect();
            assert_eq!(documented, accepted, "{version} {component}");
        }
    }
}

/// contract 1.7: the idTypes of the document are those that a job may name.
#[test]
fn the_id_types_are_the_ones_accepted() {
    let server = server();
    for version in VERSIONS {
        let document = document(&server, &format!("/{version}/schema"));
        let documented = &document.component("MappingJob")["properties"]["idType"]["enum"];
        for id_type in IdType::ALL.map(IdType::name) {
            let body = json!([{"idType": id_type, "idValue": "?"}]).to_string();
            let answer = request(&server, version, "POST", "/mapping", &body);
            let accepted = !answer.body.contains("Invalid value for idType.");
            let named = documented.as_array().unwrap().contains(&json!(id_type));
            assert_eq!(named, accepted, "{version} {id_type}");
        }
    }
}

/// contract 1.9, 4.2, 4.5, 12.2, 12.5: every kind of answer is as the document says.
#[test]
fn the_answers_are_as_documented() {
    let server = server();
    let jobs = json!([
        {"idType": "TICKER", "idValue": "IBM"}, {"idType": "TICKER", "idValue": "NONE"},
        {"idType": "TICKER"}, {"idType": "NONSENSE", "idValue": 1}, 7, null,
    ]);
    let lists = [
        json!({"jobs": ["IBM", "NONE", "US4592001015", 7, jobs[0], jobs[3]], "prefer": null}),
        json!({"jobs": ["IBM"], "prefer": ["exchCode=US"], "fields": ["figi", "metadata"]}),
        json!({"columns": [["US4592001014"], ["x"]], "headings": ["ISIN"]}),
    ];
    let questions = [
        json!({"query": "ibm"}),
        json!({"query": "nonesuch"}),
        json!({"query": ""}),
        json!({"query": "ibm", "start": "?"}),
        json!({"exchCode": "US"}),
        json!({"nonsense": 1}),
        json!({}),
    ];
    for version in VERSIONS {
        let document = document(&server, &format!("/{version}/schema"));
        for (path, method, operation) in document.operations() {
            if (path, &*method) == (LISTS, "GET") {
                list_in_a_url(&server, &document, operation);
                continue;
            }
            let bodies = match path {
                "/mapping" => std::slice::from_ref(&jobs),
                LISTS => &lists,
                _ => &questions,
            };
            let asked = bodies.iter().map(|body| (path.to_owned(), body.to_string()));
            let queries = ["query=ibm", "query=nonesuch", "query=US4592001015"];
            let opened = queries.map(|query| (format!("{path}?{query}"), String::new()));
            let asked: Vec<_> = if is_open(path) { opened.into() } else { asked.collect() };
            for (path, body) in asked {
                let answer = request(&server, version, &method, &path, &body);
                assert_eq!(answer.status, 200, "{version} {path} {body}");
                let response = document.response(operation, 200);
                let schema = &response["content"]["application/json"]["schema"];
                document.assert_valid(schema, &serde_json::from_str(&answer.body).unwrap());
            }
        }
    }
}

/// contract 21.10: the answers to a list in a URL.
fn list_in_a_url(server: &Server, document: &Document, operation: &Value) {
    let content = &document.response(operation, 200)["content"];
    // A cluster answers no symbols (contract 21.9).
    let fields = if server.is_in_cluster() { "figi,ID_ISIN" } else { "figi,ID_ISIN,symbol:yahoo" };
    let fields = format!("text=IBM&fields={fields}");
    for query in ["text=IBM&text=NONE", &fields, "text="] {
        let answer = server.request("GET", &format!("{LISTS}?{query}&format=json"), &[], "");
        assert_eq!(answer.status, 200, "{query} {}", answer.body);
        let schema = &content["application/json"]["schema"];
        document.assert_valid(schema, &serde_json::from_str(&answer.body).unwrap());
        let answer = server.request("GET", &format!("{LISTS}?{query}"), &[], "");
        assert_eq!((answer.status, &*answer.content_type), (200, "text/csv; charset=utf-8"));
        document.assert_valid(&content["text/csv"]["schema"], &json!(answer.body));
    }
}

/// contract 1.9, 21.13: the faults of a list in a URL, which are JSON.
fn faults_of_a_url(server: &Server, document: &Document, operation: &Value) {
    let long = format!("{LISTS}?text={}", "A".repeat(9_000));
    for (status, url) in [(400, LISTS), (414, &long)] {
        let answer = server.request("GET", url, &[], "");
        assert_eq!(answer.status, status, "{}", answer.body);
        let schema = &document.response(operation, status)["content"]["application/json"]["schema"];
        document.assert_valid(schema, &serde_json::from_str(&answer.body).unwrap());
    }
}

/// contract 1.9: every refusal is documented, with its text.
#[test]
fn the_refusals_are_as_documented() {
    let mut rates = figdex::callers::limits::Rates::default();
    let suggest = rates.lines_mut().iter_mut().find(|line| line.span.name() == "suggest");
    suggest.unwrap().without_key = Some("5/60s".parse().unwrap());
    let rates = Some(rates);
    let limited = server().with_settings(Settings { rates, ..Settings::default() });
    let server = server();
    let too_much = " ".repeat(figdex::callers::limits::BODY_BYTES_MAX + 1);
    let outside = json!({"idType": "TICKER", "idValue": "X", "exchCode": "nonesuch"});
    for version in VERSIONS {
        let document = document(&server, &format!("/{version}/schema"));
        for (path, method, operation) in document.operations() {
            let is_in_url = (path, &*method) == (LISTS, "GET");
            if is_in_url {
                faults_of_a_url(&server, &document, operation);
            }
            let url = url(version, &path.replace("{key}", "nonsense"));
            let url = if is_in_url { format!("{url}?text=IBM") } else { url };
            let limited_by = |path: &str, body: &str| {
                let ask = || limited.request(&method, path, &[JSON], body);
                let used_up = (0..30).map(|_| ask()).find(|answer| answer.status == 429);
                (429, used_up.expect("no rate allows thirty requests"))
            };
            if is_open(path) {
                let fault = server.request("GET", &format!("{url}?limit=0"), &[], "");
                let component = document.component("ResolveFault");
                document.assert_valid(component, &serde_json::from_str(&fault.body).unwrap());
                let method = server.request("PATCH", &url, &[], "");
                let window = limited_by(&url, "");
                for (status, answer) in [(400, fault), (405, method), window] {
                    assert_eq!(answer.status, status, "{url} {}", answer.body);
                    let content = &document.response(operation, status)["content"];
                    let media_type = answer.content_type.replace("json; charset=utf-8", "json");
                    assert!(!content[&media_type].is_null(), "{url} {status}");
                }
                continue;
            }
            let mut refused = vec![
                (400, server.request(&method, &url, &[JSON], "7")),
                (405, server.request("PATCH", &url, &[JSON], "")),
                (401, server.request(&method, &url, &[("x-service-apikey", "none")], "")),
                (406, server.request(&method, &url, &[("accept", "text/html")], "")),
            ];
            if is_in_url {
                refused.remove(0);
            }
            if method == "POST" {
                let body = if path == "/mapping" {
                    json!([outside]).to_string()
                } else {
                    json!({"exchCode": "nonesuch"}).to_string()
                };
                refused.push((400, server.request(&method, &url, &[JSON], body)));
                refused.push((413, server.request(&method, &url, &[JSON], &too_much)));
                if path == LISTS {
                    // These statuses are for its own faults too, which are JSON.
                    let fault = document.component("ResolveFault");
                    let (_, answer) = refused.remove(0);
                    document.assert_valid(fault, &serde_json::from_str(&answer.body).unwrap());
                    refused.retain(|(status, _)| !matches!(status, 400 | 413));
                }
                let undeclared = server.request(&method, &url, &[], "[]");
                if path == LISTS {
                    let fault = document.component("ResolveFault");
                    assert_eq!(undeclared.status, 415);
                    document.assert_valid(fault, &serde_json::from_str(&undeclared.body).unwrap());
                } else {
                    refused.push((415, undeclared));
                }
            } else if !is_in_url {
                refused.push((404, server.request(&method, &format!("{url}/x"), &[], "")));
            }
            let body = if path == LISTS { r#"{"jobs":[]}"# } else { "[]" };
            refused.push(limited_by(&url, body));
            for (status, answer) in refused {
                assert_eq!(answer.status, status, "{method} {url} {}", answer.body);
                let content = &document.response(operation, status)["content"];
                let content = &content[&answer.content_type];
                document.assert_valid(&content["schema"], &json!(answer.body));
                let mut examples = content["examples"].as_object().unwrap().values();
                assert!(examples.any(|example| example["value"] == answer.body), "{}", answer.body);
            }
            for status in [500, 503] {
                document.response(operation, status);
            }
        }
    }
}

/// Every example is a request as documented, and the bundled sample answers it.
#[test]
fn the_examples_find_something() {
    let server = Server::of_sample();
    for version in VERSIONS {
        let document = document(&server, &format!("/{version}/schema"));
        for (path, method, operation) in document.operations() {
            let content = &operation["requestBody"]["content"]["application/json"];
            for example in content["examples"].as_object().into_iter().flatten() {
                let body = &example.1["value"];
                document.assert_valid(&content["schema"], body);
                let answer = request(&server, version, &method, path, &body.to_string());
                let answer: Value = serde_json::from_str(&answer.body).unwrap();
                let answers = match &answer {
                    Value::Array(answers) => answers.as_slice(),
                    list if path == LISTS => list["results"].as_array().unwrap().as_slice(),
                    one => std::slice::from_ref(one),
                };
                let found =
                    |answer: &Value| answer["data"].as_array().is_some_and(|d| !d.is_empty());
                assert!(answers.iter().all(found), "{path} {body} {answer}");
            }
        }
    }
}
