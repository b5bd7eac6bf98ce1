//! The program itself: its process, what it logs, and how it is asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use figdex_ingest::Input;
use parking_lot::Mutex;
use serde_json::Value;

use crate::support::build_of;

/// How long the program may take for what it does about every second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// `figdex`, in no environment but what a test gives it.
pub(crate) fn figdex() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
    command.env_clear();
    command
}

/// Exit code, standard output and standard error.
pub(crate) fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// An index of one instrument.
pub(crate) fn build_index(index: &Path) {
    let dump = Input::Memory("dump", b"figi,ticker\nBBG000BLNNH6,IBM\n".as_slice().into());
    build_of(vec![dump], index).run(&mut |_| {}).unwrap();
}

/// A server process, and the address that it says it serves.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts it and waits until it serves.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = log.clone();
        let reader =
            std::thread::spawn(move || lines.for_each(|line| kept.lock().push(line.unwrap())));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut process = Self { child, address, log, reader: Some(reader) };
        process.address = process.address_after("serving on http://");
        process
    }

    /// The address that a line of the log ends with.
    pub(crate) fn address_after(&self, text: &str) -> SocketAddr {
        let line = self.wait_for(text, 1);
        line.split_once(text).unwrap().1.parse().unwrap()
    }

    /// How many lines with `text` were logged.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.log.lock().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until so many lines with `text` were logged; the last of them.
    pub(crate) fn wait_for(&self, text: &str, count: usize) -> String {
        let start = Instant::now();
        loop {
            // Looked at first: what it logs at its end is not missed.
            let has_ended = self.reader.as_ref().is_none_or(JoinHandle::is_finished);
            let log = self.log.lock();
            let mut lines = log.iter().filter(|line| line.contains(text));
            if let Some(line) = lines.nth(count - 1) {
                return lines.next_back().unwrap_or(line).clone();
            }
            assert!(!has_ended, "it ended without {text:?}: {log:#?}");
            assert!(start.elapsed() < PATIENCE, "{count} × {text:?} in {log:#?}");
            drop(log);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The head and the body of the answer to a mapping request.
    pub(crate) fn map(&self, headers: &str, body: &str) -> String {
        let length = body.len();
        let head = format!("Content-Type: application/json\r\n{headers}Content-Length: {length}");
        exchange(self.address, "POST", "/v3/mapping", &head, body)
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// "SIGTERM: stop accepting, answer what is in flight, exit 0." Returns the log.
    pub(crate) fn stop(self) -> String {
        self.signal("-TERM");
        self.ended()
    }

    /// Waits for its end, which must be a good one. Returns the log.
    pub(crate) fn ended(mut self) -> String {
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.reader.take().unwrap().join().unwrap();
        self.log.lock().join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A test that failed leaves nothing running; one that stopped it has no child.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The status and the JSON of an answer to a GET, over a connection of its own.
pub(crate) fn get(address: SocketAddr, path: &str) -> (u16, Value) {
    let answer = exchange(address, "GET", path, "Accept: */*", "");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn exchange(address: SocketAddr, method: &str, path: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
