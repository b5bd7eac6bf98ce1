//! The examples of the contract: each chapter has one, and a server over the bundled sample answers
//! it as the contract shows.

use std::fs;
use std::path::Path;

use figdex::callers::limits::Rates;
use figdex::config::Settings;
use figdex::http::cors::Cors;
use serde_json::Value;

use crate::support::{Answer, Server};

/// The text that stands for what an example leaves out.
const REST: &str = "…";

/// A request and its answer, as a block of the contract shows them.
struct Example {
    chapter: String,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
    status: u16,
    answer_headers: Vec<(String, String)>,
    answer: String,
}

/// The examples of a document. A block may hold several.
fn examples(document: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let (mut chapter, mut lines) = ("", document.lines());
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            chapter = title;
        }
        if line == "```http" {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let mut rest = &block[..];
            while !rest.is_empty() {
                let (request, after) = marked(rest, '>');
                let (answer, after) = marked(after, '<');
                assert!(!request.is_empty() && !answer.is_empty(), "{chapter}: {block:?}");
                examples.push(Example::read(chapter, &request, &answer));
                rest = after;
            }
        }
    }
    examples
}

/// The lines at the beginning that have this mark, without it, and the lines after them.
fn marked<'a, 'b>(lines: &'b [&'a str], mark: char) -> (Vec<&'a str>, &'b [&'a str]) {
    let texts = lines.iter().map_while(|line| line.strip_prefix(mark)).map(str::trim);
    let texts: Vec<&str> = texts.collect();
    let after = &lines[texts.len()..];
    (texts, after)
}

/// The headers at the beginning of some lines, and the body after them.
fn head_and_body(lines: &[&str]) -> (Vec<(String, String)>, String) {
    let header = |line: &&&str| {
        let (name, value) = line.split_once(": ")?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        is_name.then(|| (name.to_ascii_lowercase(), value.to_owned()))
    };
    let headers: Vec<_> = lines.iter().map_while(|line| header(&line)).collect();
    let body = lines[headers.len()..].join("\n");
    (headers, body)
}

impl Example {
    fn read(chapter: &str, request: &[&str], answer: &[&str]) -> Self {
        let (method, path) = request[0].split_once(' ').unwrap();
        let (mut headers, body) = head_and_body(&request[1..]);
        if !body.is_empty() && headers.iter().all(|(name, _)| name != "content-type") {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let (answer_headers, answer_body) = head_and_body(&answer[1..]);
        Self {
            chapter: chapter.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
            body,
            status: answer[0].parse().unwrap(),
            answer_headers,
            answer: answer_body,
        }
    }

    /// Whether an answer is the one that the example shows.
    fn is_answered_by(&self, answer: &Answer) -> bool {
        let has = |(name, value): &(String, String)| answer.header(name) == value;
        if answer.status != self.status || !self.answer_headers.iter().all(has) {
            return false;
        }
        match serde_json::from_str::<Value>(&self.answer) {
            Err(_text) => self.answer == answer.body,
            Ok(shown) => {
                serde_json::from_str(&answer.body).is_ok_and(|answered| shows(&shown, &answered))
            }
        }
    }
}

/// Whether a value is the one that is shown, apart from what [`REST`] stands for.
fn shows(shown: &Value, value: &Value) -> bool {
    match (shown, value) {
        (Value::Object(shown), Value::Object(members)) => {
            let named = shown.iter().filter(|(name, _)| *name != REST);
            let is_whole = named.clone().count() == members.len();
            (is_whole || shown.contains_key(REST))
                && named
                    .clone()
                    .all(|(name, shown)| members.get(name).is_some_and(|value| shows(shown, value)))
        }
        (Value::Array(shown), Value::Array(elements)) => {
            let named = shown.strip_suffix(&[Value::from(REST)]);
            let is_whole = shown.len() == elements.len();
            let named_all = named.unwrap_or(shown);
            (is_whole || named.is_some())
                && named_all.len() <= elements.len()
                && named_all.iter().zip(elements).all(|(shown, value)| shows(shown, value))
        }
        _ => shown == value,
    }
}

/// Each chapter of the contract has an example, and a server over the sample answers it as shown.
#[test]
fn each_chapter_has_an_example_that_is_true() {
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/contract.md");
    let contract = fs::read_to_string(contract).unwrap();
    let examples = examples(&contract);
    let chapters: Vec<&str> =
        contract.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for chapter in chapters {
        assert!(examples.iter().any(|example| example.chapter == chapter), "{chapter}: none");
    }
    let cors = Cors::new(vec!["https://app.example".parse().unwrap()]).unwrap();
    let rates = Some(Rates::default());
    let settings = Settings { cors, rates, changes: true, ..Settings::default() };
    let server = Server::of_sample().with_settings(settings);
    for (number, example) in examples.iter().enumerate() {
        let headers: Vec<(&str, &str)> =
            example.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        // Each from a separate address, so that none is refused for the requests before it.
        let peer = format!("192.0.2.{}", number + 1);
        let (method, path) = (&example.method, &example.path);
        let answer = server.request_from(&peer, method, path, &headers, &example.body);
        assert!(
            example.is_answered_by(&answer),
            "{}: {method} {path}: {} {:?} {}",
            example.chapter,
            answer.status,
            answer.headers,
            answer.body
        );
    }
}

/// The comparison of an example with an answer finds differences.
#[test]
fn a_wrong_example_is_found() {
    let shows = |shown: &str, value: &str| {
        shows(&serde_json::from_str(shown).unwrap(), &serde_json::from_str(value).unwrap())
    };
    for (shown, value) in [
        (r#"{"a": 1, "…": "…"}"#, r#"{"b": 2, "a": 1}"#),
        (r#"[1, "…"]"#, "[1, 2, 3]"),
        (r#"["…"]"#, "[]"),
        (r#"{"a": [{"b": 1}]}"#, r#"{"a": [{"b": 1}]}"#),
    ] {
        assert!(shows(shown, value), "{shown} {value}");
    }
    for (shown, value) in [
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#),
        (r#"{"a": 2, "…": "…"}"#, r#"{"a": 1, "b": 2}"#),
        (r#"{"c": 1, "…": "…"}"#, r#"{"a": 1, "b": 2}"#),
        ("[1]", "[1, 2]"),
        (r#"[2, "…"]"#, "[1, 2]"),
        (r#"[1, 2, "…"]"#, "[1]"),
    ] {
        assert!(!shows(shown, value), "{shown} {value}");
    }
    let block =
        "## 1 a\n```http\n> GET /a\n< 200\n< b\n> POST /c\n> {}\n< 404\n< Allow: d\n< e\n```\n";
    let [get, post] = &examples(block)[..] else { panic!("two examples") };
    assert_eq!((&*get.path, get.status, &*get.answer), ("/a", 200, "b"));
    assert_eq!((&*post.body, post.status, &*post.answer), ("{}", 404, "e"));
    assert_eq!(post.answer_headers, [("allow".to_owned(), "d".to_owned())]);
    assert_eq!(post.headers, [("content-type".to_owned(), "application/json".to_owned())]);
}
