//! Hostile messages to the tools for assistants (contract 24.11). Without the feature `mcp` their path
//! is unknown, and they are refused like any other.

use serde_json::{Value, json};

use super::hostile::{Form, Hostile};

/// The largest message.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Hostile messages: calls with long answers, and bodies that take memory to read.
pub(super) fn hostile() -> Vec<Hostile> {
    let most = |element: &str| {
        let one = format!("{element},");
        one.repeat((MESSAGE_BYTES_MAX - 300) / one.len()).trim_end_matches(',').to_owned()
    };
    let given = |name: &str, value: String| format!("{{\"{name}\":{value}}}");
    let raw = [
        ("numbers", call("resolve", &given("texts", format!("[{}]", most("0"))))),
        ("empty lists", call("resolve", &given("texts", format!("[{}]", most("[]"))))),
        ("empty objects", call("search", &given("filters", format!("{{\"a\":[{}]}}", most("{}"))))),
        ("members", call("search", &format!("{{{}}}", most("\"a\":0")))),
        ("a long text", call("check", &given("text", format!("\"{}\"", "x".repeat(60_000))))),
        ("escapes", call("check", &given("text", format!("\"{}\"", "\\u202e".repeat(10_000))))),
        (
            "deep",
            call(
                "search",
                &given("filters", format!("{}0{}", "[".repeat(30_000), "]".repeat(30_000))),
            ),
        ),
        ("not a message", format!("[{}]", most("{}"))),
    ];
    let most_bytes = |arguments: Value| {
        let mut arguments = arguments;
        arguments["maxBytes"] = 65_536.into();
        arguments.to_string()
    };
    let found = [
        ("resolve", "many rows", json!({"texts": vec!["MANY"; 100], "prefer": vec!["home"; 16]})),
        ("resolve", "too many rows", json!({"texts": vec!["TOOMANY"; 100]})),
        (
            "resolve",
            "names",
            json!({"texts": vec!["Common Holdings Inc"; 100], "candidates": true}),
        ),
        ("search", "a common word", json!({"query": "common"})),
        ("search", "all rows", json!({"filters": {"currency": "USD"}, "count": true})),
        ("instrument", "a family", json!({"figi": crate::support::figi(0)})),
        ("values", "all values", json!({"property": "stateCode"})),
        ("check", "a common name", json!({"text": "Common Holdings"})),
    ];
    let raw = raw.into_iter().map(|(name, body)| (name.to_owned(), body));
    let found = found.into_iter().map(|(tool, name, arguments)| {
        (format!("{tool}, {name}"), call(tool, &most_bytes(arguments)))
    });
    raw.chain(found).map(|(name, body)| message(&name, body)).collect()
}

fn call(tool: &str, arguments: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}"
    )
}

fn message(name: &str, body: String) -> Hostile {
    let hostile = Hostile::post("/mcp", Form::Json, name, body);
    hostile.with("Accept: application/json, text/event-stream\r\n")
}
