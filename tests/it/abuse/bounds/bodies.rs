//! Requests that are made to take memory, each in a different way.

use crate::support::page_files;

/// A name, a path, and a body for it.
pub(super) type Body = (&'static str, &'static str, String);

pub(super) fn jobs(job: &str, count: usize) -> String {
    format!("[{}]", vec![job; count].join(","))
}

/// Bodies of the largest allowed size, each made to be larger in memory than on the wire.
pub(super) fn adversaries(bytes: usize) -> Vec<Body> {
    let fill = |begin: &str, piece: &str, end: &str| {
        let count = (bytes - begin.len() - end.len() - 1) / piece.len();
        format!("{begin}{}{end}", piece.repeat(count))
    };
    // Each filled array ends with one more element.
    let value = |piece: &str| fill(r#"[{"idType":"TICKER","idValue":""#, piece, r#""}]"#);
    let query = |piece: &str| fill(r#"{"query":""#, piece, r#""}"#);
    let numbered = |begin: &str, end: &str| {
        let members = (0..).map(|number| format!("\"k\\u0061{number}\":1,"));
        let mut text = begin.to_owned();
        for member in members {
            if text.len() + member.len() + end.len() + 8 > bytes {
                break;
            }
            text.push_str(&member);
        }
        format!("{text}\"a\":1{end}")
    };
    let half = bytes / 2 - 64;
    vec![
        ("zeros", "/v3/mapping", fill("[", "0,", "0]")),
        ("empty jobs", "/v3/mapping", fill("[", "{},", "{}]")),
        ("jobs of a property", "/v2/mapping", fill("[", r#"{"exchCode":"US"},"#, "{}]")),
        ("numbers that no reader holds", "/v1/mapping", fill("[1e999,", "0,", "0]")),
        ("empty arrays", "/v3/mapping", fill("[1e999,", "[],", "[]]")),
        ("texts", "/v3/mapping", fill("[", r#""\n","#, "0]")),
        ("a long text", "/v3/mapping", value("a")),
        ("a text with escapes", "/v3/mapping", value(r"\u00e9")),
        ("a text with few escapes", "/v3/mapping", value(r"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n")),
        ("a text that grows when folded", "/v3/mapping", value("\u{fdfa}")),
        ("a text that grows in upper case", "/v3/mapping", value("\u{390}")),
        (
            "a value that comes again",
            "/v3/mapping",
            fill("[{", r#""idValue":"\n\n\n","#, r#""idValue":1}]"#),
        ),
        (
            "a text read exactly",
            "/v3/mapping",
            fill(r#"[1e999,{"idType":"TICKER","idValue":""#, r"\u00e9", r#""}]"#),
        ),
        ("keys that nobody knows", "/v3/mapping", numbered("[{", "}]")),
        ("keys read exactly", "/v3/mapping", numbered("[1e999,{", "}]")),
        ("a key that is long", "/v3/mapping", fill("[{\"", r"\u0001", "\":1}]")),
        ("a key that is long, searched", "/v3/search", fill("{\"", r"\u0001", "\":1}")),
        ("a long number", "/v3/mapping", fill(r#"[{"idType":"TICKER","idValue":"#, "9", "}]")),
        ("a long fraction", "/v3/mapping", fill(r#"[{"idType":"TICKER","idValue":0."#, "9", "}]")),
        (
            "zeros after the point",
            "/v3/mapping",
            fill(r#"[{"idType":"TICKER","idValue":1."#, "0", "}]"),
        ),
        ("depth", "/v3/mapping", format!("{}{}", "[".repeat(half), "]".repeat(half))),
        ("depth that does not end", "/v3/mapping", "[".repeat(bytes - 1)),
        (
            "depth of a value",
            "/v3/filter",
            format!("{{\"query\":{}{}}}", "[".repeat(half), "]".repeat(half)),
        ),
        ("objects in objects", "/v3/search", fill("", "{\"a\":", "")),
        ("blanks", "/v3/mapping", fill("[", " ", "]")),
        ("blanks, searched", "/v3/filter", fill("{\"query\":\"common\"", "\n", "}")),
        ("a long query", "/v3/search", query("a")),
        ("a query with escapes", "/v3/search", query(r"\u00e9")),
        ("a query that grows", "/v2/search", query("\u{fdfa}")),
        ("members that nobody knows", "/v3/search", numbered("{", "}")),
        (
            "a member that comes again",
            "/v3/filter",
            fill("{", r#""query":"\n","#, r#""query":"a"}"#),
        ),
        ("values without end", "/v3/filter", fill("{\"exchCode\":[", "0,", "0]}")),
        ("texts without end", "/v3/filter", fill("{\"exchCode\":[", r#""US","#, r#""US"]}"#)),
        ("long values", "/v3/filter", fill("{\"exchCode\":[\"US\",\"", "\\n", "\"]}")),
        ("an interval without end", "/v3/filter", fill("{\"strike\":[", "0,", "0]}")),
        ("an interval of long numbers", "/v3/filter", fill("{\"coupon\":[0.", "1", ",1]}")),
        ("dates without end", "/v3/filter", fill("{\"maturity\":[", "null,", "null]}")),
        ("a long cursor", "/v3/filter", fill("{\"query\":\"common\",\"start\":\"", "0", "\"}")),
        (
            "a cursor with escapes",
            "/v3/search",
            fill("{\"query\":\"common\",\"start\":\"", r"\u0030", "\"}"),
        ),
    ]
}

/// Queries of at most 1,024 bytes that make much work.
pub(super) fn queries() -> Vec<(&'static str, String)> {
    let ideographs = |count| (0..count).map(|n| char::from_u32(0x4e00 + n).unwrap()).collect();
    let words: String = (0..500).map(|n| format!("{} ", char::from(b'A' + n as u8 % 26))).collect();
    let letters: String = (0..1_000).map(|n| char::from(b'A' + n as u8 % 26)).collect();
    vec![
        ("a common word", "common".to_owned()),
        ("common words", "common holdings incorporated".to_owned()),
        ("half a common word", "comm".to_owned()),
        ("a common word with faults", "cmomno hodlings".to_owned()),
        ("distinct letters", ideographs(341)),
        ("few distinct letters", ideographs(40)),
        ("letters that grow", "\u{fdfa}".repeat(341)),
        ("one letter that grows", "\u{fdfa}".to_owned()),
        ("many words", words),
        (
            "a word with terms and places",
            "common 4.2 2030 dec 2025 200 call put germany".to_owned(),
        ),
        ("a frequent word with a place", "common holdings germany".to_owned()),
        ("a long word", letters),
    ]
}

/// Every path that takes a GET.
pub(super) fn paths() -> Vec<String> {
    let mut paths: Vec<String> =
        ["/healthz", "/readyz", "/metrics", "/about", "/schema", "/v1/schema"]
            .into_iter()
            .chain(["/v2/schema", "/v3/schema", "/", "/suggest?query=common+hold"])
            .map(str::to_owned)
            .collect();
    for key in ["idType", "exchCode", "micCode", "currency", "marketSecDes", "securityType"] {
        paths.extend(["v1", "v2", "v3"].map(|version| format!("/{version}/mapping/values/{key}")));
    }
    paths.extend(page_files().into_iter().map(|(name, _)| format!("/page/{name}")));
    paths.push(format!("/instruments/{}", crate::support::figi(7)));
    paths.push("/instruments/BBG000000000".to_owned());
    paths.push(format!("/instruments/{}/history?revised=true", crate::support::figi(7)));
    paths
}
