//! A table of symbols of the operator's, for `figdex map` and for a server: its vendors take the place
//! of those of the program (contract 21.15 to 21.17).

use std::process::Command;

use serde_json::{Value, json};

use super::Desk;
use crate::support::process::{Process, figdex, get, run};

/// A made-up vendor.
const DESK: &str =
    "# The desk's own spelling\r\n[desk]\r\nmarks before\r\nclasses _\r\n= NY US\r\n";

const LIST: &str = "t,n\nUS4592001014,1\nBRK-B,2\n";

const STEPS: [&str; 4] = ["--prefer", "composite", "--prefer", "exchCode=US"];

/// A desk with the table, and the command for its server.
fn desk() -> (Desk, std::process::Command) {
    let desk = Desk::new();
    desk.write("desk.txt", DESK);
    desk.write("in.csv", LIST);
    let mut command = figdex();
    command.current_dir(desk.path("")).args(["--index", "index", "--listen", "127.0.0.1:0"]);
    command.arg("--no-limits");
    (desk, command)
}

fn resolve(server: &Process, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let answer = server.exchange(format!(
        "POST /resolve HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
}

/// contract 21.15: symbols of the table's vendor are written and read, over an index, over a server
/// and by a request, and no others.
#[test]
fn a_vendor_of_the_operator() {
    let (desk, mut command) = desk();
    let server = Process::start(command.args(["--symbols", "desk.txt"]));
    let url = format!("http://{}", server.address());
    let arguments = [
        &["in.csv", "--symbols", "desk.txt", "--id", "t", "--fields", "figi,symbol:desk"],
        &STEPS[..],
    ]
    .concat();
    let over_index = desk.map(&arguments);
    assert_eq!(
        over_index.ok().lines().map(|line| &line[line.rfind(',').unwrap()..]).collect::<Vec<_>>(),
        [",symbol:desk", ",NY:IBM", ",NY:BRK_B"]
    );
    let over_server = desk.map(&[&arguments[..], &["--url", &url]].concat());
    assert_eq!(over_server.ok(), over_index.text());

    desk.write("symbols.csv", "symbol\nNY:IBM\nNY:BRK_B\nIBM\nBRK-B\n");
    let read = ["symbols.csv", "--id", "symbol:symbol:desk", "--fields", "ticker"];
    for place in [&[][..], &["--url", &url]] {
        // The variable is that of the server.
        let mut command = desk.command(&[&read, &STEPS[..], place].concat());
        let (code, text, said) = run(command.env("FIGDEX_SYMBOLS", "desk.txt"));
        assert_eq!(code, Some(0), "{said}");
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert!(lines[0].ends_with(",IBM") && lines[1].ends_with(",BRK/B"), "{text}");
        for line in &lines[2..] {
            assert!(
                line.contains("invalid") && line.contains("symbol:desk has no exchange"),
                "{text}"
            );
        }
    }

    let (_, answer) = resolve(
        &server,
        &json!({"jobs": [{"text": "ny:brk_b", "as": "symbol:desk"}, {"text": "IBM", "as": "symbol:yahoo"}],
            "prefer": ["composite", "exchCode=US"], "fields": ["symbol:desk"]}),
    );
    assert_eq!(answer["results"][0]["data"], json!([{"symbol:desk": "NY:BRK_B"}]));
    assert_eq!(answer["results"][1]["error"], "Invalid value for as");
    let (status, answer) = resolve(&server, &json!({"jobs": ["IBM"], "fields": ["symbol:yahoo"]}));
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 400, "{error}");
    assert!(
        error.starts_with("fields: \"symbol:yahoo\" is not a field; the fields are figi,"),
        "{error}"
    );
    assert!(error.ends_with("OCC_SYMBOL:padded, symbol:desk."), "{error}");

    // contract 16.14, 1.9.
    let (_, about) = get(server.address(), "/about");
    assert_eq!(about["symbols"], json!(["symbol:desk"]));
    let (_, document) = get(server.address(), "/schema");
    let row = document["components"]["schemas"]["ResolveRow"]["properties"].as_object().unwrap();
    let symbols: Vec<_> = row.keys().filter(|name| name.starts_with("symbol:")).collect();
    assert_eq!(symbols, ["symbol:desk"]);
}

/// contract 21.15: a vendor that the table lacks is an error, with the names of those that it has.
#[test]
fn vendors_that_a_table_lacks() {
    let (desk, _) = desk();
    let with_table = ["in.csv", "--symbols", "desk.txt"];
    for (arguments, expected) in [
        (
            [&with_table[..], &["--fields", "figi,symbol:yahoo"]].concat(),
            "--fields: \"symbol:yahoo\" is not a field; the fields are figi, ",
        ),
        (
            [&with_table[..], &["--fields", "symbol:yahoo"]].concat(),
            "OCC_SYMBOL:padded, symbol:desk. A file of --symbols may have others",
        ),
        (
            [&with_table[..], &["--id", "t:symbol:yahoo"]].concat(),
            "--id: \"t:symbol:yahoo\" names no vendor; the vendors are symbol:desk",
        ),
        (
            vec!["in.csv", "--fields", "symbol:desk"],
            "symbol:tradingview. A file of --symbols may have others",
        ),
    ] {
        let mapped = desk.map(&arguments);
        assert_eq!(mapped.code, Some(2), "{arguments:?} {}", mapped.said);
        assert!(mapped.said.contains(expected), "{arguments:?} {}", mapped.said);
    }
}

/// contract 21.16: a file with a fault ends every command that names it, with all of its faults. No
/// file is written, also not the table itself.
#[test]
fn tables_with_faults() {
    let (desk, _) = desk();
    desk.write("bad.txt", "[desk]\nhome XX\nmarks behind\n");
    let bad = "bad.txt: 2 errors\n  \
               line 2: \"XX\" is not an exchange code that is known: expected one such as US, LN or \
               GY, as rows have it in exchCode\n  \
               line 3: found \"behind\", expected marks after, for TICKER.MARK, or marks before, for \
               MARK:TICKER";
    let absent = "absent.txt cannot be read (No such file or directory (os error 2)): name a file \
                  with a table of symbols";
    // Nobody waits for a pipe.
    assert!(Command::new("mkfifo").arg(desk.path("pipe.txt")).status().unwrap().success());
    let pipe = "pipe.txt cannot be read (it is not a regular file): name a file with a table of \
                symbols";
    for (file, fault) in [("bad.txt", bad), ("absent.txt", absent), ("pipe.txt", pipe)] {
        let server = ["--index", "index", "--listen", "127.0.0.1:0", "--symbols", file];
        let map = ["map", "in.csv", "--index", "index", "--out", "out.csv", "--symbols", file];
        for arguments in [&server[..], &[&["config"], &server[..]].concat(), &map] {
            let mut command = figdex();
            let (code, _, said) = run(command.current_dir(desk.path("")).args(arguments));
            assert_eq!(code, Some(1), "{arguments:?} {said}");
            let plain = said.replace("\n    ", "\n  ");
            assert_eq!(plain, format!("figdex: --symbols: {fault}\n"), "{arguments:?}");
        }
        assert!(!desk.path("out.csv").exists());
    }
    let onto_itself = desk.map(&["in.csv", "--symbols", "desk.txt", "--out", "desk.txt"]);
    assert_eq!(onto_itself.code, Some(1), "{}", onto_itself.said);
    assert_eq!(desk.read("desk.txt"), DESK);
}

/// contract 21.17: a running server keeps its table. A reload says that another one needs a restart,
/// and refuses one with faults.
#[test]
fn a_table_that_changes() {
    let (desk, mut command) = desk();
    let server = Process::start(command.args(["--symbols", "desk.txt"]));
    let symbol = || {
        let body = json!({"jobs": ["US4592001014"], "prefer": ["exchCode=US"],
            "fields": ["symbol:desk"]});
        resolve(&server, &body).1["results"][0]["data"][0]["symbol:desk"].take()
    };
    assert_eq!(symbol(), "NY:IBM");
    server.signal("-HUP");
    server.wait_for("settings read again", 1);
    assert_eq!(server.count("need a restart"), 0);
    desk.write("desk.txt", DESK.replace("NY", "NYSE"));
    server.signal("-HUP");
    let line = server.wait_for("changed settings that need a restart", 1);
    assert!(line.contains("symbols"), "{line}");
    desk.write("desk.txt", "[desk]\n");
    server.signal("-HUP");
    let line = server.wait_for("invalid setting", 1);
    assert!(line.contains("[desk] has no exchange"), "{line}");
    server.wait_for("the changed settings are refused", 1);
    assert_eq!(symbol(), "NY:IBM");
    server.stop();
}
