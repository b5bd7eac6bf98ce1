//! A file of holdings gets its FIGIs, identifiers and a vendor's symbols in one pass: over an index,
//! over its server, and by a request (contract 21).

use figdex::callers::auth::file;
use serde_json::{Value, json};

use super::Desk;
use crate::support::process::{Process, figdex};

const HOLDINGS: &str = "security,quantity\n\
                        US4592001014,100\n\
                        BRK-B,20\n\
                        AAPL  250117C00155000,5\n\
                        nonsense,1\n";

const FIELDS: &str = "figi,ID_ISIN,ID_CUSIP,OCC_SYMBOL:compact,symbol:yahoo";

const STEPS: [&str; 4] = ["--prefer", "composite", "--prefer", "exchCode=US"];

fn serving(desk: &Desk) -> Process {
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0", "--no-limits"]);
    Process::start(&mut command)
}

/// contract 21.1 to 21.3, 21.6.
#[test]
fn holdings_in_one_pass() {
    let desk = Desk::new();
    let server = serving(&desk);
    let url = format!("http://{}", server.address());
    let rows = [
        ("US4592001014", "100", ["BBG000BLNNH6", "US4592001014", "459200101", "", "IBM"]),
        ("BRK-B", "20", ["BBG000DWG505", "US0846707026", "084670702", "", "BRK-B"]),
        ("AAPL  250117C00155000", "5", ["BBG019KNL404", "", "", "AAPL250117C00155000", ""]),
        ("nonsense", "1", [""; 5]),
    ];
    desk.write("holdings.csv", HOLDINGS);
    let arguments =
        [&["holdings.csv", "--id", "security", "--fields", FIELDS], &STEPS[..]].concat();
    let over_index = desk.map(&arguments);
    let over_server = desk.map(&[&arguments[..], &["--url", &url]].concat());
    assert_eq!(over_index.text(), over_server.text());
    let lines: Vec<Vec<&str>> =
        over_index.ok().lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][5..], FIELDS.split(',').collect::<Vec<_>>());
    for (line, (text, quantity, values)) in lines[1..].iter().zip(&rows) {
        assert_eq!((line[0], line[1], &line[5..]), (*text, *quantity, &values[..]));
    }
    let json = |extra: &[&str]| {
        let mapped = desk.map(&[&arguments[..], &["--format", "jsonl"], extra].concat());
        mapped.ok().to_owned()
    };
    assert_eq!(json(&[]), json(&["--url", &url]));
    let first: Value = serde_json::from_str(json(&[]).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["ID_CUSIP"], &first["OCC_SYMBOL:compact"]),
        (&json!("459200101"), &Value::Null)
    );
    let body = json!({
        "jobs": ["US4592001014", "BRK-B", "AAPL  250117C00155000", "nonsense"],
        "prefer": ["composite", "exchCode=US"], "fields": FIELDS.split(',').collect::<Vec<_>>(),
    });
    let body = body.to_string();
    let answer = server.exchange(format!(
        "POST /resolve HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let (_, answer) = answer.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(answer).unwrap();
    for (result, (text, _, values)) in answer["results"].as_array().unwrap().iter().zip(&rows) {
        for (field, value) in FIELDS.split(',').zip(values) {
            let found = result["data"][0][field].as_str().unwrap_or_default();
            assert_eq!(found, *value, "{text} {field}");
        }
    }
}

/// contract 21.2: several identifiers are joined in a cell, and a list in JSON lines, from an index
/// and from a server.
#[test]
fn several_identifiers() {
    let desk = Desk::new();
    let dump = "figi,ticker,exchCode,ID_ISIN,ID_EXCH_SYMBOL\n\
                BBG000BLNNH6,IBM,US,US4592001014;US0378331005,\"a\"\"b;c\"\n";
    desk.write("dump.csv", dump);
    let dump = figdex_ingest::Input::File(desk.path("dump.csv"));
    crate::support::build_of(vec![dump], &desk.path("several")).run(&mut |_| {}).unwrap();
    let mut command = figdex();
    command.arg("--index").arg(desk.path("several")).args([
        "--listen",
        "127.0.0.1:0",
        "--no-limits",
    ]);
    let server = Process::start(&mut command);
    let url = format!("http://{}", server.address());
    desk.write("in.csv", "t,x\nIBM,1\n");
    let run = |arguments: &[&str]| {
        let mut command = figdex();
        command.current_dir(desk.path("")).args(["map", "in.csv", "--id", "t"]);
        command.args(["--fields", "ID_ISIN,ID_EXCH_SYMBOL"]).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for place in [["--index", "several"], ["--url", &url]] {
        let csv = run(&place);
        let expected = "IBM,1,resolved,1,only,US4592001014|US0378331005,\"A\"\"B|C\"\n";
        assert!(csv.ends_with(expected), "{csv}");
        let line: Value =
            serde_json::from_str(&run(&[&place[..], &["--format", "jsonl"]].concat())).unwrap();
        assert_eq!(line["ID_ISIN"], json!(["US4592001014", "US0378331005"]));
        assert_eq!(line["ID_EXCH_SYMBOL"], json!(["A\"B", "C"]));
    }
}

/// contract 21.8: a column of a vendor's symbols.
#[test]
fn a_column_of_symbols() {
    let desk = Desk::new();
    let server = serving(&desk);
    let url = format!("http://{}", server.address());
    let rows = "symbol\nBRK-B\nIBM\nVOD.XX\n";
    let arguments = ["--id", "symbol:symbol:yahoo", "--prefer", "composite", "--fields", "figi"];
    let mapped = desk.map_file("symbols.csv", rows, &arguments);
    let lines: Vec<&str> = mapped.ok().lines().skip(1).collect();
    assert!(lines[0].ends_with("BBG000DWG505") && lines[1].ends_with("BBG000BLNNH6"), "{lines:?}");
    assert!(lines[2].contains("invalid") && lines[2].contains("has no exchange"), "{lines:?}");
    let over_server = desk.map(&[&["symbols.csv", "--url", &url], &arguments[..]].concat());
    assert_eq!(over_server.text(), mapped.text());
}

/// contract 21.1, 21.5: wrong flags.
#[test]
fn wrong_flags() {
    let desk = Desk::new();
    desk.write("in.csv", "IBM\n");
    for (arguments, expected) in [
        (&["--fields", "ID_ISINS"][..], "the fields are figi, name,"),
        (&["--fields", "ID_ISIN,ID_ISIN"], "--fields names ID_ISIN twice"),
        (&["--fields", "symbol:yahoo", "--as-of", "2024-01-02"], "the past does not keep it"),
        (&["--id", "IBM:symbol:reuters"], "names no vendor; the vendors are symbol:yahoo"),
    ] {
        let mapped = desk.map(&[&["in.csv"], arguments].concat());
        assert_eq!(mapped.code, Some(2), "{arguments:?} {}", mapped.said);
        assert!(mapped.said.contains(expected), "{arguments:?} {}", mapped.said);
    }
}

/// contract 23.5: a column that the server does not show is empty, with one warning; with an internal
/// key it is filled. The index itself shows everything to its operator.
#[test]
fn columns_that_a_server_does_not_show() {
    let desk = Desk::new();
    let key = file::add_internal(&desk.path("keys.toml"), "desk").unwrap();
    desk.write("key.txt", &key);
    let settings = format!(
        "index = {:?}\nkeys = {:?}\nlisten = \"127.0.0.1:0\"\nno_limits = true\n\
         [identifiers]\nID_CUSIP = \"internal\"\nID_SEDOL = \"hidden\"\n",
        desk.path("index"),
        desk.path("keys.toml")
    );
    desk.write("figdex.toml", &settings);
    let server = Process::start(figdex().arg("--config").arg(desk.path("figdex.toml")));
    let url = format!("http://{}", server.address());
    desk.write("in.csv", "isin\nUS4592001014\nUS0378331005\n");
    let fields =
        ["in.csv", "--prefer", "exchCode=US", "--fields", "figi,ID_ISIN,ID_CUSIP,ID_SEDOL"];
    let warning = |name: &str| {
        format!(
            "warning: the server does not show {name} to this caller, so its column is empty; an \
             internal key (--key-file) may see it"
        )
    };
    let map = |more: &[&str]| desk.map(&[&fields[..], more].concat());
    let own = map(&[]);
    assert!(own.ok().contains(",BBG000BLNNH6,US4592001014,459200101,"), "{}", own.text());
    assert!(!own.said.contains("does not show"), "{}", own.said);
    let outside = map(&["--url", &url]);
    assert!(outside.ok().contains(",BBG000BLNNH6,US4592001014,,\n"), "{}", outside.text());
    for name in ["ID_CUSIP", "ID_SEDOL"] {
        assert_eq!(outside.said.matches(&warning(name)).count(), 1, "{}", outside.said);
    }
    let inside = map(&["--url", &url, "--key-file", "key.txt"]);
    assert!(inside.ok().contains(",BBG000BLNNH6,US4592001014,459200101,\n"), "{}", inside.text());
    assert!(!inside.said.contains(&warning("ID_CUSIP")), "{}", inside.said);
    assert_eq!(inside.said.matches(&warning("ID_SEDOL")).count(), 1, "{}", inside.said);
}
