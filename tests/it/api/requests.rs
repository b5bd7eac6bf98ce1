//! Contract, chapter 2: the members of a request, whatever its endpoint.

use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Server, figis};

/// A server over two instruments with the FIGIs of numbers 1 and 2.
fn server() -> Server {
    let [ibm, apple] = [1, 2].map(figi);
    Server::of_dump(&format!("figi,ticker,exchCode\n{ibm},IBM,US\n{apple},AAPL,GR\n"))
}

fn answer(server: &Server, path: &str, body: &str) -> Value {
    let answer = server.post(path, body);
    assert_eq!(answer.status, 200, "{path} {body} {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Two bodies, because a job is read in two ways: alone, and next to a job that the fast parser of
/// the whole body cannot read.
fn jobs(job: &str) -> [String; 2] {
    [format!("[{job}]"), format!(r#"[{job},{{"idType":"TICKER","idValue":1.5}}]"#)]
}

/// contract 2.8: of a repeated member the last one counts, also when that one is null, and
/// whatever the earlier ones were.
#[test]
fn the_last_of_repeated_members_counts() {
    let server = server();
    for (job, expected) in [
        (r#"{"idType":"TICKER","idValue":"IBM","idValue":"AAPL"}"#, 2),
        (r#"{"idType":"NONSENSE","idType":"TICKER","idValue":"IBM"}"#, 1),
        (r#"{"idType":null,"idValue":"IBM","idType":"TICKER"}"#, 1),
        (r#"{"idType":"TICKER","idValue":"AAPL","exchCode":"US","exchCode":"GR"}"#, 2),
        (r#"{"idType":"TICKER","idValue":"AAPL","exchCode":"??","exchCode":"GR"}"#, 2),
        (r#"{"idType":"TICKER","idValue":"AAPL","exchCode":"US","exchCode":null}"#, 2),
        (r#"{"idType":"TICKER","idValue":"IBM","strike":[2,1],"strike":null}"#, 1),
    ] {
        for body in jobs(job) {
            assert_eq!(
                figis(&answer(&server, "/v3/mapping", &body)[0]),
                [figi(expected)],
                "{body}"
            );
        }
    }
    for (job, error) in [
        (
            r#"{"idType":"TICKER","idValue":"IBM","idValue":null}"#,
            "idValue must be a string or an integer.",
        ),
        (r#"{"idType":"TICKER","idValue":"IBM","idType":"NONSENSE"}"#, "Invalid value for idType."),
    ] {
        for body in jobs(job) {
            let answers = answer(&server, "/v3/mapping", &body);
            assert_eq!(answers[0], json!({ "error": error }), "{body}");
        }
    }
    for (body, expected) in [
        (r#"{"query":"ibm","query":"aapl"}"#, 2),
        (r#"{"query":"","query":"ibm"}"#, 1),
        (r#"{"query":"ibm","query":null,"exchCode":"GR"}"#, 2),
        (r#"{"exchCode":"US","exchCode":"GR"}"#, 2),
        (r#"{"query":"ibm","exchCode":"GR","exchCode":null}"#, 1),
        (r#"{"query":"ibm","start":"nonsense","start":null}"#, 1),
    ] {
        for path in ["/v3/search", "/v3/filter", "/v2/search"] {
            assert_eq!(figis(&answer(&server, path, body)), [figi(expected)], "{path} {body}");
        }
    }
}

/// contract 2.10: of several unknown members the first is named, by 64 characters at most.
#[test]
fn the_first_unknown_member_is_named() {
    let server = server();
    let (whole, long) = ("é".repeat(64), "é".repeat(65));
    for (members, named) in [
        (r#""zeta":1,"alpha":2"#.to_owned(), "zeta".to_owned()),
        (r#""alpha":null,"zeta":null"#.to_owned(), "alpha".to_owned()),
        (format!(r#""{whole}":1,"alpha":2"#), whole.clone()),
        (format!(r#""{long}":1,"alpha":2"#), format!("{whole}…")),
    ] {
        let expected = json!({"error": format!("Invalid key '{named}'.")});
        for version in ["v1", "v2", "v3"] {
            let job = format!(r#"{{"idType":"TICKER",{members},"idValue":"IBM"}}"#);
            for body in jobs(&job) {
                let answers = answer(&server, &format!("/{version}/mapping"), &body);
                assert_eq!(answers[0], expected, "{version} {body}");
            }
        }
        for path in ["/v3/search", "/v3/filter", "/v2/search"] {
            let body = format!(r#"{{"query":"ibm",{members}}}"#);
            assert_eq!(answer(&server, path, &body), expected, "{path} {body}");
        }
    }
}
