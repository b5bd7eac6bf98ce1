//! Commands, "Server": the program itself, with flags, environment and file. What
//! each setting may be is tested beside its rule, in `src/config/resolve`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use figdex_ingest::Input;

use crate::support::build_of;

/// How long the program may take for what it does about every second.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn figdex() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
    command.env_clear();
    command
}

pub(super) fn build_index(index: &Path) {
    let dump = Input::Memory("dump", b"figi,ticker\nBBG000BLNNH6,IBM\n".as_slice().into());
    build_of(vec![dump], index).run(&mut |_| {}).unwrap();
}

/// A server process, and the address that it says it serves.
pub(super) struct Process {
    child: Child,
    pub(super) address: SocketAddr,
    log: BufReader<ChildStderr>,
}

impl Process {
    pub(super) fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended without serving");
            if let Some((_, address)) = line.trim().split_once("serving on http://") {
                // In a line of JSON, more follows.
                break address.split('"').next().unwrap().parse().unwrap();
            }
        };
        Self { child, address, log }
    }

    /// The head and the body of the answer to a mapping request.
    pub(super) fn map(&self, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = format!(
            "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
             application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// "SIGTERM: stop accepting, answer what is in flight, exit 0." Returns the log.
    pub(super) fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut log = String::new();
        self.log.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A test that failed leaves nothing running; one that stopped it has no child.
        self.child.kill().ok();
    }
}

/// "Flag beats environment beats file", and `serve` may be left out.
#[test]
fn flag_beats_environment_beats_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let config = folder.path().join("figdex.toml");
    let text = "index = '/nowhere'\nlisten = '127.0.0.1:1'\njobs_per_request = 3\n\
                [limits.v3.mapping]\nwithout_key = '7/30s'\n";
    std::fs::write(&config, text).unwrap();
    let mut command = figdex();
    command.env("FIGDEX_INDEX", &index).env("FIGDEX_LISTEN", "127.0.0.1:2");
    command.args(["--listen", "127.0.0.1:0", "--config"]).arg(&config);
    let process = Process::start(&mut command);
    let answer = process.map("", r#"[{"idType":"TICKER","idValue":"IBM"}]"#);
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("BBG000BLNNH6"), "{answer}");
    assert!(answer.contains("ratelimit-policy: 7;w=30"), "{answer}");
    assert!(process.map("", "[1,2,3,4]").starts_with("HTTP/1.1 413"));
    process.stop();

    let mut command = figdex();
    command.arg("serve").args(["--no-limits", "--listen=127.0.0.1:0", "--index"]).arg(&index);
    let process = Process::start(command.env("FIGDEX_CORS", "https://a.example,https://b.example"));
    let answer = process.map("Origin: https://b.example\r\n", "[]");
    assert!(answer.contains("access-control-allow-origin: https://b.example"), "{answer}");
    assert!(!answer.contains("ratelimit-limit: "), "{answer}");
    process.stop();
}

/// "All faults are reported together", on standard error, and nothing is served.
#[test]
fn faults_are_told_together() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("figdex.toml");
    std::fs::write(&config, "lisen = 1\n[limits.v3.mapping]\nwith_key = '25'\n").unwrap();
    let mut command = figdex();
    command.args(["--listen", "here", "--keys", "/nowhere/keys"]).arg("--config").arg(&config);
    let output = command.env("FIGDEX_UNKNOWN_ENUM", "maybe").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("figdex: 5 faults in the settings\n  --"), "{stderr}");
    for fault in [
        "--listen or FIGDEX_LISTEN: `here` is no address",
        "--keys or FIGDEX_KEYS: there is no keys file at /nowhere/keys; make one with: figdex \
         keys add NAME --keys /nowhere/keys",
        "--unknown-enum or FIGDEX_UNKNOWN_ENUM: `maybe` is neither",
        "figdex.toml: lisen: there is no such setting",
        "figdex.toml: limits.v3.mapping.with_key: `25` is no rate",
    ] {
        assert!(stderr.contains(fault), "{fault}\n{stderr}");
    }
}

/// "A changed file is taken up without a restart": a key that is added is admitted
/// within seconds, and refused within seconds when it is revoked. No key is logged.
#[test]
fn keys_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let keys = folder.path().join("keys.toml");
    figdex::auth::file::add(&keys, "first").unwrap();
    let mut command = figdex();
    command.args(["--listen", "127.0.0.1:0"]).arg("--index").arg(&index).arg("--keys").arg(&keys);
    let process = Process::start(&mut command);
    let key = figdex::auth::file::add(&keys, "second").unwrap();
    let header = format!("X-OPENFIGI-APIKEY: {key}\r\n");
    let becomes = |status: &str| {
        let start = Instant::now();
        while !process.map(&header, "[]").starts_with(&format!("HTTP/1.1 {status}")) {
            assert!(start.elapsed() < PATIENCE, "it never became {status}");
            std::thread::sleep(Duration::from_millis(400));
        }
    };
    becomes("200");
    figdex::auth::file::revoke(&keys, "second").unwrap();
    becomes("401");
    let log = process.stop();
    assert!(log.contains("keys file taken up") && !log.contains(&key[4..]), "{log}");
}
