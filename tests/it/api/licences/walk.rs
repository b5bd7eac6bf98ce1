//! The walk: every route, in every form, by every sort of caller, over an index of marked values.
//! No answer, log line or metric has a mark that its reader may not see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use figdex::callers::auth::file;
use figdex_index::IdType;
use serde_json::{Value, json};

use super::marks::{DAYS, LETTERS, Mark, build, licensed, mark, marks};
use crate::support::openapi::Document;
use crate::support::process::{Process, figdex};
use crate::support::{figi, page_files};

/// The licence classes, by name.
const CLASSES: [&str; 3] = ["open", "internal", "hidden"];

/// A request of the walk.
#[derive(Clone, Debug)]
struct Step {
    /// The route as the log names it.
    route: String,
    method: &'static str,
    path: String,
    /// The form of the body and of the answer.
    form: Option<&'static str>,
    body: String,
    /// Whether the answer may repeat a text of the request.
    repeats: bool,
}

impl Step {
    fn get(route: &str, path: impl Into<String>) -> Self {
        let (path, body) = (path.into(), String::new());
        Self { route: route.to_owned(), method: "GET", path, form: None, body, repeats: true }
    }

    fn post(path: &str, form: &'static str, body: String) -> Self {
        let route = path.split('?').next().unwrap().to_owned();
        // Only answers in CSV, and those to a text of a person, have what was asked.
        let repeats = form == CSV;
        Self { route, method: "POST", path: path.to_owned(), form: Some(form), body, repeats }
    }
}

const JSON: &str = "application/json";
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

/// The class of each idType that has one.
type Classes = BTreeMap<IdType, &'static str>;

/// The sorts of callers.
const CALLERS: [&str; 3] = ["no key", "a key", "an internal key"];

fn may_see(classes: &Classes, caller: &str, id_type: IdType) -> bool {
    match classes[&id_type] {
        "open" => true,
        "internal" => caller == "an internal key",
        _ => false,
    }
}

/// Texts that are nearly the identifier: its beginnings, and others one slip away.
fn nearly(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let last = chars.len() - 1;
    let ends = |count: usize| chars[..chars.len() - count].iter().collect::<String>();
    let other = match chars[last] {
        '1' => '2',
        '0'..='9' => '1',
        'B' => 'C',
        _ => 'B',
    };
    let mut all = vec![ends(1), ends(2), ends(chars.len() / 2), format!("{}{other}", ends(1))];
    for place in [1, last / 2 + 1, last] {
        let mut swapped = chars.clone();
        swapped.swap(place - 1, place);
        all.push(swapped.into_iter().collect());
    }
    // A spreadsheet takes leading zeros away.
    all.extend(text.strip_prefix('0').map(str::to_owned));
    all.retain(|one| !one.trim().is_empty() && !has_mark(one, text));
    all
}

/// Whether a text contains a mark. One of digits only counts as a whole word: a time, a count or an
/// id may have its digits by chance.
fn has_mark(text: &str, mark: &str) -> bool {
    let is_number = mark.bytes().all(|byte| byte.is_ascii_digit());
    text.match_indices(mark).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + mark.len()..].chars();
        let (next, second) = (after.next(), after.next());
        let is_fraction = next == Some('.') && second.is_some_and(|c| c.is_ascii_digit());
        let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !is_number || !(goes_on(before) || before == Some('.') || goes_on(next) || is_fraction)
    })
}

fn query(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// All requests. `ids` are those of the generations, and `class` the end of this caller's tokens.
fn steps(ids: &[String], class: &str) -> Vec<Step> {
    let mut all = fixed(ids, class);
    let mut wholes: Vec<(IdType, String)> = Vec::new();
    let mut others: Vec<(IdType, String)> = Vec::new();
    for Mark { id_type, text } in marks() {
        others.extend(nearly(&text).into_iter().map(|text| (id_type, text)));
        wholes.push((id_type, text));
    }
    for texts in [&wholes, &others] {
        for some in texts.chunks(90) {
            lists(some, &mut all);
        }
    }
    for id_type in licensed() {
        let Mark { text, .. } = mark(id_type, 'K');
        // A beginning, one with another last character, and one with the last two swapped.
        let near = nearly(&text).into_iter().step_by(3);
        for text in near.chain([text]) {
            let query = query(&text);
            for route in ["/suggest", "/find", "/facets"] {
                all.push(Step::get(route, format!("{route}?query={query}")));
            }
            let body = json!({"query": text}).to_string();
            for path in ["/v2/search", "/v3/search", "/v3/filter"] {
                all.push(Step::post(path, JSON, body.clone()));
            }
        }
    }
    all
}

/// Lists and mapping jobs of these texts, in every form.
fn lists(texts: &[(IdType, String)], all: &mut Vec<Step>) {
    let jobs: Vec<Value> = texts
        .iter()
        .map(|(id_type, text)| json!({"idType": id_type.name(), "idValue": text}))
        .collect();
    for version in ["v1", "v2", "v3"] {
        let body = Value::from(jobs.clone()).to_string();
        all.push(Step::post(&format!("/{version}/mapping"), JSON, body));
    }
    let plain = || texts.iter().map(|(_, text)| json!(text));
    let typed = texts.iter().map(|(id_type, text)| json!({"text": text, "as": id_type.name()}));
    let three: [Vec<Value>; 3] = [plain().collect(), typed.collect(), jobs];
    let options = ["", "?many=all", "?candidates=true&formerly=true", "?asOf=2024-01-20"];
    for (jobs, options) in three.iter().flat_map(|jobs| options.map(|options| (jobs, options))) {
        let path = format!("/resolve{options}");
        all.push(Step::post(&path, JSON, json!({"jobs": jobs}).to_string()));
        let lines: Vec<String> = jobs.iter().map(Value::to_string).collect();
        all.push(Step::post(&path, NDJSON, lines.join("\n")));
    }
    for (texts, form) in texts.chunks(30).flat_map(|some| ["csv", "json"].map(|one| (some, one))) {
        let of_url = |(_, text): &(IdType, String)| format!("&text={}", query(text));
        let texts: String = texts.iter().map(of_url).collect();
        let fields = "fields=figi,ID_ISIN,ID_CUSIP,ID_SEDOL,symbol:yahoo";
        all.push(Step::get("/resolve", format!("/resolve?{fields}&format={form}{texts}")));
    }
    let cells = |(id_type, text): &(IdType, String)| format!("{},\"{text}\"\n", id_type.name());
    for options in options {
        let path = format!("/resolve{options}");
        let table: String = texts.iter().map(cells).collect();
        all.push(Step::post(&path, CSV, format!("idType,idValue\n{table}")));
        all.push(Step::post(&path, CSV, format!("as,idValue\n{table}")));
        let column: String = texts.iter().map(|(_, text)| format!("\"{text}\"\n")).collect();
        all.push(Step::post(&path, CSV, column));
    }
}

/// The messages of assistants, with every field that a tool can show.
fn assistants(fields: &[&str], all: &mut Vec<Step>) {
    let wholes = || marks().into_iter().map(|mark| mark.text);
    let mut calls = Vec::new();
    for fields in fields.chunks(10) {
        let texts = [figi(1), "STRX".to_owned(), "STRL".to_owned(), "GONX".to_owned()];
        for rest in [json!({}), json!({"candidates": true}), json!({"asOf": "2024-01-20"})] {
            let mut arguments = json!({"texts": texts, "fields": fields});
            arguments.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            calls.push(("resolve", arguments));
        }
    }
    for number in [1, 2, 3] {
        calls.push(("instrument", json!({"figi": figi(number), "history": true})));
    }
    for query in ["STROLL HOLDING", "STRX"] {
        calls.push(("search", json!({"query": query})));
    }
    for text in wholes().flat_map(|text| nearly(&text)).step_by(9).chain(wholes()) {
        calls.push(("check", json!({"text": text})));
    }
    for (name, arguments) in calls {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        // An answer names the text that it is about.
        all.push(Step { repeats: true, ..Step::post("/mcp", JSON, call.to_string()) });
    }
}

/// The requests that name no mark.
fn fixed(ids: &[String], class: &str) -> Vec<Step> {
    let mut all = Vec::new();
    for path in ["/about", "/healthz", "/readyz"] {
        all.push(Step::get(path, path));
    }
    for version in ["v1", "v2", "v3"] {
        all.push(Step::get(&format!("/{version}/schema"), format!("/{version}/schema")));
        let keys = ["idType", "exchCode", "micCode", "currency", "marketSecDes", "securityType"];
        for key in keys.into_iter().chain(["securityType2", "stateCode", "optionType"]) {
            let route = format!("/{version}/mapping/values/{{key}}");
            all.push(Step::get(&route, format!("/{version}/mapping/values/{key}")));
        }
    }
    all.push(Step::get("/page/{file}", "/"));
    for (file, _) in page_files() {
        all.push(Step::get("/page/{file}", format!("/page/{file}")));
    }
    for number in [1, 2, 3, 901, 903] {
        let path = format!("/instruments/{}", figi(number));
        all.push(Step::get("/instruments/{figi}", path.clone()));
        for rest in ["", "?revised=true"] {
            let path = format!("{path}/history{rest}");
            all.push(Step::get("/instruments/{figi}/history", path));
        }
    }
    for query in ["STROLL+HOLDING", "STRX", "strol"] {
        for route in ["/suggest", "/find", "/facets"] {
            all.push(Step::get(route, format!("{route}?query={query}")));
        }
        for path in ["/v2/search", "/v3/search", "/v3/filter"] {
            all.push(Step::post(path, JSON, json!({"query": query}).to_string()));
        }
    }
    // Every field that rows have, and every idType.
    let fields = "figi,name,ticker,exchCode,compositeFIGI,securityType,marketSector,shareClassFIGI,\
                  securityType2,securityDescription,uniqueID,uniqueIDFutOpt,metadata";
    let mut id_types: Vec<&str> = IdType::ALL.into_iter().map(IdType::name).collect();
    id_types.extend(["OCC_SYMBOL:compact", "OCC_SYMBOL:padded"]);
    for fields in [fields, &id_types.join(","), &format!("figi,{}", id_types.join(","))] {
        for rest in ["", "&asOf=2024-01-20", "&candidates=true&many=all&formerly=true"] {
            let path = format!("/resolve?fields={fields}{rest}");
            let texts = [figi(1), "STRX".to_owned(), "STRL".to_owned(), "GONX".to_owned()];
            all.push(Step::post(&path, JSON, json!({"jobs": texts}).to_string()));
            let lines: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
            all.push(Step::post(&path, NDJSON, lines.join("\n")));
            all.push(Step::post(&path, CSV, texts.join("\n")));
            let texts = texts.map(|text| format!("&text={text}")).concat();
            for form in ["csv", "json"] {
                all.push(Step::get("/resolve", format!("{path}{texts}&format={form}")));
            }
        }
    }
    for id_type in &id_types {
        let path = format!("/resolve?fields={id_type}");
        all.push(Step::post(&path, CSV, figi(1)));
    }
    // A file with CUSIPs: the whole, a part, and its address.
    let route = "/generations/{generation}/instruments.parquet";
    for generation in ["3", "latest", "9"] {
        all.push(Step::get(route, format!("/generations/{generation}/instruments.parquet")));
    }
    if cfg!(feature = "mcp") {
        assistants(&id_types, &mut all);
    } else {
        all.push(Step::post("/mcp", JSON, "{}".to_owned()));
    }
    for id in ids {
        for form in [JSON, CSV, NDJSON] {
            let path = format!("/changes?since={id}{class}");
            all.push(Step { form: Some(form), ..Step::get("/changes", path) });
        }
        // A token of all columns.
        all.push(Step::get("/changes", format!("/changes?since={id}&limit=1")));
    }
    all
}

/// A server over the index with these classes, and its callers.
struct Walk {
    process: Process,
    classes: Classes,
    keys: BTreeMap<&'static str, String>,
    ids: Vec<String>,
    /// The marks that were found where they may be, by caller.
    seen: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Walk {
    fn start(folder: &Path, ids: &[String], name: &str, settings: &str, classes: Classes) -> Self {
        let keys_file = folder.join(format!("{name}-keys.toml"));
        let keys = BTreeMap::from([
            ("no key", String::new()),
            ("a key", file::add(&keys_file, "plain").unwrap()),
            ("an internal key", file::add_internal(&keys_file, "inside").unwrap()),
        ]);
        let (config, mcp) = (folder.join(format!("{name}.toml")), cfg!(feature = "mcp"));
        let text = format!(
            "index = {:?}\nkeys = {keys_file:?}\nlisten = \"127.0.0.1:0\"\nno_limits = true\n\
             changes = true\nparquet = true\nmcp = {mcp}\njobs_per_request = 100\naccess_log_page = true\n{settings}",
            folder.join("index")
        );
        fs::write(&config, text).unwrap();
        let process = Process::start(figdex().arg("--config").arg(&config));
        let (ids, seen) = (ids.to_vec(), BTreeMap::new());
        Self { process, classes, keys, ids, seen }
    }

    /// The head and the body of an answer.
    fn ask(&self, caller: &str, step: &Step) -> (String, String) {
        let Step { method, path, form, body, .. } = step;
        let key = match &*self.keys[caller] {
            "" => String::new(),
            key => format!("X-SERVICE-APIKEY: {key}\r\n"),
        };
        let form = form.unwrap_or("*/*");
        // The protocol of assistants asks for both.
        let accept = if path == "/mcp" { "application/json, text/event-stream" } else { form };
        let of_body = match body.is_empty() {
            true => String::new(),
            false => format!("Content-Type: {form}\r\nContent-Length: {}\r\n", body.len()),
        };
        let answer = self.process.exchange(format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: {accept}\r\n{key}\
             {of_body}\r\n{body}"
        ));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{step:?}"));
        (head.to_owned(), body.to_owned())
    }

    /// Asserts that an answer has no mark that the caller may not see, nor has its head.
    fn check(&mut self, caller: &'static str, step: &Step) -> (String, String) {
        let (head, body) = self.ask(caller, step);
        // Times and random ids are of digits, and hold nothing else.
        let is_random = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default();
            ["date", "x-request-id", "content-length", "last-modified", "etag"].contains(&name)
        };
        let head: Vec<&str> = head.lines().filter(|line| !is_random(line)).collect();
        let head = head.join("\n");
        let asked = format!("{} {}", step.path, step.body);
        let asked = percent_decoded(&asked);
        for Mark { id_type, text } in marks() {
            let repeats = step.repeats && asked.contains(&text);
            let found = [&head, &body].into_iter().find(|answer| has_mark(answer, &text));
            let Some(answer) = found.filter(|_| !repeats) else { continue };
            if may_see(&self.classes, caller, id_type) {
                self.seen.entry(caller).or_default().insert(text);
                continue;
            }
            let line = answer.lines().find(|line| has_mark(line, &text)).unwrap_or_default();
            panic!(
                "{} {text} is {} and shown to a caller with {caller} by\n{} {} {:?}\n{}\nin\n{line}",
                id_type.name(),
                self.classes[&id_type],
                step.method,
                step.path,
                step.form,
                step.body
            );
        }
        (head, body)
    }

    /// All steps of a caller.
    fn walk(&mut self, caller: &'static str) -> Vec<Step> {
        let about = Step::get("/about", "/about");
        let (_, body) = self.check(caller, &about);
        let about: Value = serde_json::from_str(&body).unwrap();
        let token = about["token"].as_str().unwrap().to_owned();
        let class = token[32..].to_owned();
        let hidden = licensed().filter(|one| !may_see(&self.classes, caller, *one));
        let hidden: Vec<&str> = hidden.map(IdType::name).collect();
        assert_eq!(class.is_empty(), hidden.is_empty(), "{token}");
        let steps = steps(&self.ids, &class);
        for step in &steps {
            let (head, body) = self.check(caller, step);
            let is_answered = head.starts_with("HTTP/1.1 200");
            if step.route.starts_with("/instruments") && is_answered {
                let noted = head.lines().find_map(|line| line.strip_prefix("figdex-not-shown: "));
                assert_eq!(noted.unwrap_or_default(), hidden.join(", "), "{step:?}\n{head}");
            }
            if step.path == "/generations/3/instruments.parquet" {
                let expected = match caller {
                    "no key" => "HTTP/1.1 401",
                    _ if may_see(&self.classes, caller, IdType::Cusip) => "HTTP/1.1 200",
                    _ => "HTTP/1.1 409",
                };
                assert!(head.starts_with(expected), "{step:?}\n{head}\n{body}");
            }
            if step.route == "/mcp" && cfg!(feature = "mcp") {
                assert!(is_answered && body.contains("\"result\""), "{step:?}\n{head}\n{body}");
            }
            if step.path.starts_with("/resolve?fields=ID_") && is_answered {
                let fields = step.path.split(['=', '&']).nth(1).unwrap();
                let asked = fields.split(',').filter_map(|field| field.split(':').next());
                let asked: BTreeSet<&str> = asked.filter(|name| hidden.contains(name)).collect();
                let noted = head.lines().find_map(|line| line.strip_prefix("figdex-not-shown: "));
                let noted: BTreeSet<&str> =
                    noted.into_iter().flat_map(|it| it.split(", ")).collect();
                assert_eq!(noted, asked, "{step:?}\n{head}");
            }
            if step.route == "/changes" && caller == "no key" {
                assert!(head.starts_with("HTTP/1.1 401"), "{step:?}\n{head}");
            } else if step.route == "/changes" {
                let fits = class.is_empty() || step.path.contains(&class);
                let expected = if fits { "HTTP/1.1 200" } else { "HTTP/1.1 409" };
                assert!(head.starts_with(expected), "{step:?}\n{head}\n{body}");
                self.turn_pages(caller, &head);
            }
        }
        let seen = self.seen.get(caller).cloned().unwrap_or_default();
        let expected = marks().into_iter().filter(|it| may_see(&self.classes, caller, it.id_type));
        let expected: BTreeSet<String> = expected.map(|mark| mark.text).collect();
        assert_eq!(seen, expected, "what {caller} may see and what was shown");
        steps
    }

    /// The pages of changes after one.
    fn turn_pages(&mut self, caller: &'static str, head: &str) {
        let cursor = |head: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix("figdex-cursor: "));
            line.map(str::to_owned)
        };
        let mut next = cursor(head);
        while let Some(cursor_text) = next {
            let path = format!("/changes?cursor={cursor_text}&limit=1");
            let (head, body) = self.check(caller, &Step::get("/changes", path));
            assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
            next = cursor(&head);
        }
    }

    /// Asserts that metrics and log have no marks at all, and stops the server.
    fn end(self) {
        let (_, metrics) = self.ask("no key", &Step::get("/metrics", "/metrics"));
        // The value of a sample is a number; its name and its labels are before the last blank.
        let names: Vec<&str> = metrics
            .lines()
            .map(|line| match line.starts_with('#') {
                true => line,
                false => line.rsplit_once(' ').map_or(line, |(name, _)| name),
            })
            .collect();
        let log = self.process.stop();
        assert!(log.contains("/resolve") && log.contains("inside"), "{log}");
        for Mark { text, .. } in marks() {
            let of_metrics = names.iter().find(|line| has_mark(line, &text));
            assert_eq!(of_metrics, None, "{text} in the metrics");
            // A line has times and counts, which are numbers.
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let is_leak = |line: &&str| match is_number {
                true => line.contains(&format!("\"{text}\"")),
                false => has_mark(line, &text),
            };
            assert_eq!(log.lines().find(is_leak), None, "{text} in the log");
        }
    }
}

fn percent_decoded(text: &str) -> String {
    form_urlencoded::parse(text.replace('&', "%26").as_bytes())
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// Asserts that the steps have every route, and every form of a body that the document names.
fn assert_complete(walk: &Walk, steps: &[Step]) {
    let walked: BTreeSet<&str> = steps.iter().map(|step| step.route.as_str()).collect();
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/request/route.rs"));
    let source = source.unwrap();
    let routes = source.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next());
    let routes: BTreeSet<&str> = routes.filter(|route| route.starts_with('/')).collect();
    assert!(routes.len() > 15, "{routes:?}");
    // No version has the first three; the walk ends with the last.
    let absent = ["/v1/search", "/v1/filter", "/v2/filter", "/metrics"];
    let is_missing = |route: &&&str| !walked.contains(**route) && !absent.contains(route);
    let missing: Vec<_> = routes.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "add requests to these routes to the walk: {missing:?}");
    for version in ["v1", "v2", "v3"] {
        let (_, body) = walk.ask("no key", &Step::get("", format!("/{version}/schema")));
        let document = Document(serde_json::from_str(&body).unwrap());
        for (path, method, operation) in document.operations() {
            let versioned = format!("/{version}{path}");
            let route = if walked.contains(path) { path } else { &versioned };
            let forms = operation["requestBody"]["content"].as_object();
            let forms: Vec<_> = forms.into_iter().flat_map(serde_json::Map::keys).collect();
            for form in forms.iter().map(|form| Some(form.as_str())).chain([None]) {
                let is_walked = |step: &Step| {
                    step.route == route
                        && step.method == method
                        && form.is_none_or(|form| step.form == Some(form))
                };
                // Two names of JSON are read alike.
                let is_json = form == Some("text/json");
                assert!(is_json || steps.iter().any(is_walked), "{method} {route} {form:?}");
            }
        }
    }
}

/// contract 23.5 to 23.10: no route, form, key or field shows an identifier to those who may not see
/// it, nor do the log and the metrics, and all others see it.
#[test]
fn nothing_hidden_is_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let ids = build(&folder.path().join("index"));
    assert_eq!(ids.len(), DAYS.len());
    let all = |class: &'static str| licensed().map(move |id_type| (id_type, class)).collect();
    let mixed: Classes = licensed()
        .map(|id_type| {
            let class = id_type.licensed_as().unwrap();
            (id_type, CLASSES[class as usize % CLASSES.len()])
        })
        .collect();
    let table = |classes: &Classes| {
        let own = classes.iter().filter(|(id_type, _)| id_type.licensed_as() == Some(**id_type));
        let lines = own.map(|(id_type, class)| format!("{} = \"{class}\"\n", id_type.name()));
        format!("[identifiers]\n{}", lines.collect::<String>())
    };
    let hidden: Classes = all("hidden");
    let strict = format!("hide_identifiers = true\n{}", table(&mixed));
    for (name, settings, classes) in [
        ("open", String::new(), all("open")),
        ("internal", "hide_identifiers = true\n".to_owned(), all("internal")),
        ("hidden", table(&hidden), hidden.clone()),
        ("mixed", strict, mixed.clone()),
    ] {
        let mut walk = Walk::start(folder.path(), &ids, name, &settings, classes);
        for caller in CALLERS {
            let steps = walk.walk(caller);
            assert_complete(&walk, &steps);
        }
        walk.end();
    }
}

/// The walk would find a mark, and no time or random id is one.
#[test]
fn a_mark_is_found() {
    let texts: BTreeSet<String> = marks().into_iter().map(|mark| mark.text).collect();
    // A CINS is the CUSIP.
    assert_eq!(texts.len(), LETTERS.len() * (licensed().count() - 1));
    let [isin, wkn] = [IdType::Isin, IdType::Wertpapier].map(|one| mark(one, 'K').text);
    let italy = mark(IdType::Italy, 'K').text;
    assert!(has_mark(&format!("\"{isin}\""), &isin) && has_mark(&format!("x{wkn}y"), &wkn));
    for found in [format!("\"{italy}\""), format!("a|{italy}|b"), format!("it is {italy}.")] {
        assert!(has_mark(&found, &italy), "{found}");
    }
    for chance in ["0.739184", "12:00:00.739184Z", "739184.5", "a739184", "7391845", "x-739184a"] {
        assert!(!has_mark(chance, &italy), "{chance}");
    }
    for text in &texts {
        for near in nearly(text) {
            assert!(!has_mark(&near, text), "{near} has {text}");
        }
    }
}
