//! The messages of the protocol: who may send them, and what a hostile one gets.

use figdex::State;
use figdex::callers::limits::{Rate, Rates, Span};
use figdex::config::Settings;
use figdex::http::cors::Cors;
use serde_json::{Value, json};

use super::{HEADERS, call_of, call_with, rows, send, server, settings, text};
use crate::support::{Server, one_key};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// contract 24.1: the route is off unless an operator turns it on.
#[test]
fn it_is_off_by_default() {
    let server = server().with_settings(Settings::default());
    assert_eq!(server.request("POST", "/mcp", &HEADERS, LIST).status, 404);
}

/// contract 24.2: the newest revision and earlier ones, without sessions.
#[test]
fn earlier_revisions_are_answered() {
    let server = server();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let answer = send(&server, &[], &message);
        assert_eq!((answer.status, answer.header("mcp-session-id")), (200, ""));
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(answer["result"]["protocolVersion"], revision);
        assert_eq!(answer["result"]["serverInfo"]["name"], "figdex");
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("never instructions"));
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let newest = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    let answer = send(&server, &newest, &message);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.contains("\"supportedVersions\":[") && answer.body.contains("2026-07-28"));
    // A header that contradicts the message.
    let newest = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    assert_eq!(send(&server, &newest, &message).status, 400);
}

/// contract 24.4: the list of tools has at most 6 KB, and no prompts.
#[test]
fn the_list_is_small() {
    let server = server();
    let answer = server.request("POST", "/mcp", &HEADERS, LIST);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.len() <= 6 << 10, "{} bytes", answer.body.len());
    let list: Value = serde_json::from_str(&answer.body).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["resolve", "search", "instrument", "values", "check"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let prompts = send(&server, &[], &json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}));
    assert!(prompts.body.contains("-32601"), "{}", prompts.body);
}

/// contract 24.4: the only resource describes the index.
#[test]
fn the_resource_describes_the_index() {
    let server = server();
    let read = |uri: &str| {
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}});
        serde_json::from_str::<Value>(&send(&server, &[], &message).body).unwrap()
    };
    let answer = read("figdex://about");
    let about = answer["result"]["contents"][0]["text"].as_str().unwrap();
    let about: Value = serde_json::from_str(about).unwrap();
    assert_eq!((&about["instruments"], &about["generation"]), (&json!(3), &json!(1)));
    assert_eq!(about.get("exchanges"), None);
    let fault = read("file:///etc/passwd");
    assert_eq!(
        fault["error"]["message"],
        "There is no resource \"file:///etc/passwd\". Read figdex://about."
    );
}

/// contract 24.8: web pages of other origins are refused, also those that name this host as theirs.
#[test]
fn other_origins_are_refused() {
    let server = server();
    for origin in ["https://evil.example", "null", "http://localhost:8080"] {
        let answer =
            send(&server, &[("origin", origin)], &call_of("check", &json!({"text": "IBM"})));
        assert_eq!(answer.status, 403, "{origin}");
        assert!(answer.body.contains("Its operator allows them with --cors."));
    }
    let cors = Cors::new(vec!["https://app.example".parse().unwrap()]).unwrap();
    let server = server.with_settings(Settings { cors, ..settings() });
    let origin = [("origin", "https://app.example")];
    let answer = send(&server, &origin, &call_of("check", &json!({"text": "IBM"})));
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, "https://app.example")
    );
    let preflight = [origin[0], ("access-control-request-method", "POST")];
    let answer = server.request("OPTIONS", "/mcp", &preflight, "");
    assert_eq!(answer.status, 204);
    assert!(answer.header("access-control-allow-headers").contains("mcp-protocol-version"));
    let other = [("origin", "https://evil.example")];
    assert_eq!(send(&server, &other, &call_of("check", &json!({"text": "IBM"}))).status, 403);
}

/// contract 24.9: a wrong key is refused, and a right one has its rates.
#[test]
fn keys_and_rates_are_those_of_the_routes() {
    let (keys, key) = one_key();
    let mut rates = Rates::default();
    for line in rates.lines_mut() {
        if line.version.name() == "v3" && line.span == Span::Search {
            line.without_key = Some(Rate::new(1, 60));
            line.with_key = Some(Rate::new(2, 60));
        }
    }
    let settings = Settings { rates: Some(rates), ..settings() };
    let server = Server::with(super::DUMP, |engine| State::new(engine, settings).with_keys(keys));
    let search =
        |headers: &[(&str, &str)]| call_with(&server, headers, "search", &json!({"query": "ibm"}));
    assert_eq!(rows(&search(&[])).len(), 2);
    let refused = search(&[]);
    assert_eq!(refused["isError"], true);
    assert!(
        text(&refused).starts_with("The rate limit is reached. Send the call again in "),
        "{refused}"
    );
    let with_key = [("x-service-apikey", &*key)];
    assert_eq!(rows(&search(&with_key)).len(), 2);
    assert_eq!(rows(&search(&with_key)).len(), 2);
    assert_eq!(search(&with_key)["isError"], true);
    let wrong = [("x-service-apikey", "wrong")];
    let answer = send(&server, &wrong, &call_of("search", &json!({"query": "ibm"})));
    assert_eq!((answer.status, &*answer.body), (401, "Invalid API key."));
}

/// contract 24.10: the metrics count the route, and the jobs of its lists.
#[test]
fn the_metrics_count_it() {
    let server = server();
    let service = server.observer.clone();
    let metrics = || server.request("GET", "/metrics", &[], "").body;
    let observed = |message: &Value| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let begin = service.begin(
            figdex::Peer::Socket,
            &warp::http::Method::POST,
            &warp::http::HeaderMap::new(),
        );
        let mut request =
            warp::test::request().method("POST").path("/mcp").body(message.to_string());
        for (name, value) in HEADERS {
            request = request.header(name, value);
        }
        let answer = async { request.reply(&server.service).await.map(|_| "") };
        runtime.block_on(begin.answering(answer)).status()
    };
    let before = metrics();
    assert_eq!(observed(&call_of("resolve", &json!({"texts": ["IBM US Equity"]}))), 200);
    let after = metrics();
    let line = |text: &str, name: &str| {
        text.lines().find(|line| line.starts_with(name)).map(str::to_owned)
    };
    let requests = "figdex_requests_total{route=\"/mcp\"";
    assert_eq!(line(&before, requests), None);
    assert!(line(&after, requests).is_some_and(|line| line.ends_with(" 1")), "{after}");
    let jobs = "figdex_list_jobs_total{status=\"resolved\"} 1";
    assert!(after.contains(jobs), "{after}");
    assert!(!after.contains("route=\"/resolve\""), "one request has one route");
}

/// contract 24.11: hostile messages get short answers.
#[test]
fn hostile_messages_are_refused() {
    let server = server();
    let raw = |body: Vec<u8>| server.request("POST", "/mcp", &HEADERS, body);
    // Too long.
    assert_eq!(raw(vec![b' '; (64 << 10) + 1]).status, 413);
    // Not UTF-8, not JSON, not a message, and too deep.
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}1{}}}",
        "[".repeat(30_000),
        "]".repeat(30_000)
    );
    for body in
        [b"\xff\xfe".to_vec(), b"{".to_vec(), b"[]".to_vec(), b"7".to_vec(), deep.into_bytes()]
    {
        let answer = raw(body);
        assert!((400..500).contains(&answer.status), "{} {}", answer.status, answer.body);
        assert!(answer.body.len() < 500, "{}", answer.body);
    }
    // Wide, of wrong types, and with hostile names.
    let nested = json!([[[[[[[[{"a": [1, 2, 3]}]]]]]]]]);
    for (tool, arguments) in [
        ("resolve", json!({"texts": nested})),
        ("resolve", json!({"texts": vec![7; 20_000]})),
        ("search", json!({"filters": {"exchCode": vec!["US"; 10_000]}})),
        ("search", json!({"filters": {"x".repeat(50_000): 1}})),
        ("search", json!({"\u{202e}\u{200b}evil".repeat(2_000): 1})),
        ("instrument", json!({"figi": "x".repeat(60_000)})),
        ("values", json!({"property": "x".repeat(60_000)})),
        ("check", json!({"text": {"a": 1}})),
    ] {
        let result = call_with(&server, &[], tool, &arguments);
        assert_eq!(result["isError"], true, "{tool}");
        assert!(text(&result).len() < 500, "{}", text(&result));
        assert!(!text(&result).contains(['\u{202e}', '\u{200b}']));
    }
    let answer = send(&server, &[], &call_of(&"\u{202e}x".repeat(9_000), &json!({})));
    assert!(
        answer.body.len() < 1_000 && answer.body.contains("There is no tool"),
        "{}",
        answer.body
    );
    assert!(!answer.body.contains('\u{202e}'));
    let method = "\u{202e}x".repeat(9_000);
    let answer = send(&server, &[], &json!({"jsonrpc": "2.0", "id": 1, "method": method}));
    assert!(answer.body.len() < 1_000 && answer.body.contains("There is no method"));
    assert!(!answer.body.contains('\u{202e}'));
    // Only POST.
    for method in ["GET", "DELETE", "PUT"] {
        let answer = server.request(method, "/mcp", &HEADERS, "");
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("POST")), "{method}");
    }
}
