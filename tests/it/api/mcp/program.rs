//! `figdex mcp`, over standard input and output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use super::call_of;
use crate::support::process::{build_index, figdex};

/// A running program, and its messages.
struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Sends messages, ends the input, and returns the lines of the output as JSON with the text of
    /// standard error.
    fn exchange(mut self, messages: &[Value]) -> (Vec<Value>, String) {
        let mut input = self.0.stdin.take().unwrap();
        let mut output = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let mut answers = Vec::new();
        for message in messages {
            writeln!(input, "{message}").unwrap();
            if message.get("id").is_some() {
                answers.push(serde_json::from_str(&output.next().unwrap().unwrap()).unwrap());
            }
        }
        drop(input);
        for line in output {
            answers.push(serde_json::from_str(&line.unwrap()).unwrap());
        }
        let mut errors = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(self.0.wait().unwrap().success(), "{errors}");
        (answers, errors)
    }
}

/// The messages that begin a session of an earlier revision, and a call.
fn session(tool: &str, arguments: &Value) -> [Value; 3] {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call_of(tool, arguments),
    ]
}

/// contract 24.1: over an index, and the program ends with its input.
#[test]
fn it_answers_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    build_index(&folder.path().join("index"));
    let program =
        Program::start(figdex().args(["mcp", "--index"]).arg(folder.path().join("index")));
    let messages = session("resolve", &json!({"texts": ["BBG000BLNNH6"]}));
    let (answers, errors) = program.exchange(&messages);
    assert_eq!(errors, "");
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1]["result"]["structuredContent"]["rows"][0]["ticker"], "IBM");
    let program = Program::start(figdex().args(["mcp", "--index", "absent"]));
    let output = program.0.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b""[..]));
}

/// contract 21.15: `--symbols` replaces the vendors here too.
#[test]
fn it_takes_a_table_of_symbols() {
    let folder = tempfile::tempdir().unwrap();
    build_index(&folder.path().join("index"));
    std::fs::write(folder.path().join("desk.txt"), "[desk]\nhome US\n").unwrap();
    for (field, is_error) in [("symbol:desk", None), ("symbol:yahoo", Some(true))] {
        let mut command = figdex();
        command.current_dir(folder.path()).args(["mcp", "--index", "index"]);
        let program = Program::start(command.args(["--symbols", "desk.txt"]));
        let arguments = json!({"texts": ["BBG000BLNNH6"], "fields": ["figi", field]});
        let (answers, _) = program.exchange(&session("resolve", &arguments));
        let result = &answers[1]["result"];
        assert_eq!(result["isError"].as_bool().filter(|is| *is), is_error, "{result}");
    }
}

/// contract 24.12: `--url` sends the key to its server only: a redirect is not followed.
#[test]
fn a_redirect_gets_no_key() {
    let (other, server) = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap()).into();
    let place = other.local_addr().unwrap();
    let address = server.local_addr().unwrap();
    let (seen, heads) = mpsc::channel();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let mut head = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            while lines.read_line(&mut head).unwrap() > 2 {}
            let redirect = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{place}/\r\n\
                 Content-Length: 0\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(redirect.as_bytes()).unwrap();
            seen.send(head).unwrap();
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.txt");
    std::fs::write(&key, "secret-key\n").unwrap();
    let url = format!("http://{address}");
    let program = Program::start(figdex().args(["mcp", "--url", &url, "--key-file"]).arg(&key));
    let (answers, _) = program.exchange(&session("check", &json!({"text": "IBM"})));
    let result = &answers[1]["result"];
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("The server redirects to another address, which is not followed."));
    assert!(heads.recv().unwrap().contains("x-service-apikey: secret-key"));
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "nobody asked the other server");
}

/// contract 24.11: a line that is too long, or not a message, ends nothing and is not answered with
/// anything but the protocol.
#[test]
fn hostile_lines_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    build_index(&folder.path().join("index"));
    let mut program =
        Program::start(figdex().args(["mcp", "--index"]).arg(folder.path().join("index")));
    let mut input = program.0.stdin.take().unwrap();
    let [begin, begun, call] = session("resolve", &json!({"texts": ["BBG000BLNNH6"]}));
    writeln!(input, "{begin}\n{begun}\nhello\n{{\"a\":[\n{}\n{call}", "x".repeat(200 << 10))
        .unwrap();
    drop(input);
    let output = program.0.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(answers.iter().any(|answer| answer["id"] == 1 && answer.get("result").is_some()));
}
