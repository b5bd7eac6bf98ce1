//! The program `figdex` as a separate process: its log, its memory, and clients that exchange bytes
//! with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use figdex_ingest::Input;
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use crate::support::build_of;

/// The time after which a test gives up waiting.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The longest that a well-behaved client may wait, whatever others do meanwhile. A machine that
/// runs other tests at the same time is slow, but not as slow as this.
const OTHERS_WAIT: Duration = Duration::from_secs(5);

/// The open files that the clients of all tests together may need, except for the test with ten
/// thousand connections.
const FILES: u64 = 4_000;

/// A mapping request that finds the one instrument, and closes.
pub(crate) const REQUEST: &str = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
     Content-Type: application/json\r\nContent-Length: 37\r\n\r\n\
     [{\"idType\":\"TICKER\",\"idValue\":\"IBM\"}]";

/// `figdex` with an empty environment.
pub(crate) fn figdex() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
    command.env_clear();
    command
}

/// Runs a command. Returns exit code, standard output and standard error.
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

/// Lets this process open `files` files; `false` where the system does not.
pub(crate) fn may_open(files: u64) -> bool {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= files);
    is_enough(current)
        || is_enough(maximum)
            && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok()
}

/// A server process.
pub(crate) struct Process {
    pub(crate) child: Child,
    /// The address that it logged: `http://…`, `https://…`, `unix:…`.
    pub(crate) place: String,
    log: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
    /// The folder of its index, if the index was made for this process.
    desk: Option<tempfile::TempDir>,
}

impl Process {
    /// Starts it and waits until it serves.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_until(command, "serving on ")
    }

    /// Starts it and waits for a line that names its address after `text`.
    pub(crate) fn start_until(command: &mut Command, text: &str) -> Self {
        // Its clients take open files of this process, which other tests need too.
        may_open(FILES);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = log.clone();
        let reader =
            std::thread::spawn(move || lines.for_each(|line| kept.lock().push(line.unwrap())));
        let mut process =
            Self { child, place: String::new(), log, reader: Some(reader), desk: None };
        process.place = process.place_after(text);
        process
    }

    /// Starts it over an index of one instrument, on a free port or where `--listen`
    /// among the arguments says.
    pub(crate) fn of_one(arguments: &[&str]) -> Self {
        Self::of_one_from(figdex(), arguments)
    }

    /// As [`Self::of_one`], from a shell that allows `open_files` open files until the program
    /// raises its limit.
    pub(crate) fn of_one_with_few_files(open_files: u32, arguments: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let script = format!("ulimit -Sn {open_files} && exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_figdex")]);
        Self::of_one_from(command, arguments)
    }

    fn of_one_from(mut command: Command, arguments: &[&str]) -> Self {
        let desk = tempfile::tempdir().unwrap();
        let index = desk.path().join("index");
        build_index(&index);
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let mut process = Self::start(command.arg("--index").arg(&index).args(arguments));
        process.desk = Some(desk);
        process
    }

    /// The folder of the index of one instrument.
    pub(crate) fn index(&self) -> PathBuf {
        self.desk.as_ref().unwrap().path().join("index")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.place.rsplit("://").next().unwrap().parse().unwrap()
    }

    /// The operators' address, where there is one.
    pub(crate) fn operators(&self) -> SocketAddr {
        self.place_after("serving operators on http://").parse().unwrap()
    }

    /// The rest of the log line that contains `text`, after it.
    pub(crate) fn place_after(&self, text: &str) -> String {
        let line = self.wait_for(text, 1);
        // In a JSON line, more members follow.
        line.split_once(text).unwrap().1.split('"').next().unwrap().to_owned()
    }

    /// The number of logged lines that contain `text`.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.log.lock().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until `count` lines that contain `text` were logged. Returns the last of them.
    pub(crate) fn wait_for(&self, text: &str, count: usize) -> String {
        let start = Instant::now();
        loop {
            // Read before the log, so that its last lines are not missed.
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

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.address())
    }

    /// Sends bytes, and reads until the server closes or resets the connection.
    pub(crate) fn exchange(&self, request: impl AsRef<[u8]>) -> String {
        exchange(self.address(), request)
    }

    /// The head and the body of the answer to a mapping request.
    pub(crate) fn map(&self, headers: &str, body: &str) -> String {
        let length = body.len();
        self.exchange(format!(
            "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
             application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Asserts that another client is answered soon.
    pub(crate) fn assert_serves(&self) {
        let start = Instant::now();
        let answer = self.exchange(REQUEST);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains("BBG000BLNNH6"), "{answer}");
        assert!(start.elapsed() < OTHERS_WAIT, "it waited {:?}", start.elapsed());
    }

    /// Its anonymous memory (not backed by a file), in bytes; `None` where the system does not
    /// report it.
    pub(crate) fn anonymous_bytes(&self) -> Option<u64> {
        let rollup = format!("/proc/{}/smaps_rollup", self.child.id());
        let rollup = fs::read_to_string(rollup).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kilobytes << 10)
    }

    /// Asserts that its anonymous memory is below a bound now.
    pub(crate) fn assert_memory_below(&self, bytes_max: u64) {
        match self.anonymous_bytes() {
            Some(bytes) => {
                eprintln!("{} MB of at most {} MB", bytes >> 20, bytes_max >> 20);
                assert!(bytes < bytes_max, "{bytes} bytes of memory, at most {bytes_max}");
            }
            None => skip_memory(),
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Asserts that the server lived until now, and stops it by SIGTERM: it accepts nothing more,
    /// answers the requests in flight and ends with 0. Returns the log.
    pub(crate) fn stop(mut self) -> String {
        assert_eq!(self.child.try_wait().unwrap(), None, "it ended: {:#?}", self.log.lock());
        self.signal("-TERM");
        self.ended()
    }

    /// Waits for its end, which must be a success. Returns the log.
    pub(crate) fn ended(mut self) -> String {
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{:#?}", self.log.lock());
        self.reader.take().unwrap().join().unwrap();
        assert_eq!(self.count("panicked"), 0, "{:#?}", self.log.lock());
        self.log.lock().join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A failed test leaves nothing running; after `stop` there is no child any more.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Notes that a test could not judge the memory of a process. On Linux that is a failure; elsewhere
/// the rest of the test is still useful.
pub(crate) fn skip_memory() {
    assert_ne!(std::env::consts::OS, "linux", "the memory of a process cannot be read");
    eprintln!("skipped: the system does not report the memory of a process");
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

pub(crate) fn exchange(address: SocketAddr, request: impl AsRef<[u8]>) -> String {
    let mut stream = connect(address);
    // A server may answer and close before it has read everything.
    stream.write_all(request.as_ref()).ok();
    read_to_close(&mut stream)
}

/// The status and the JSON of an answer to a GET over a new connection.
pub(crate) fn get(address: SocketAddr, path: &str) -> (u16, Value) {
    let answer = exchange(
        address,
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: */*\r\n\r\n"),
    );
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status(&answer), serde_json::from_str(body).unwrap_or_default())
}

/// The sum of all samples of a metric.
pub(crate) fn metric(operators: SocketAddr, name: &str) -> f64 {
    let request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let page = exchange(operators, request);
    let values = page.lines().filter_map(|line| {
        let rest = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '{']))?;
        Some(rest.rsplit_once(' ')?.1.parse::<f64>().unwrap())
    });
    values.sum()
}

/// Reads until the server closes the connection, or resets one that it has not read to the end. A
/// server that does neither in time fails the test.
pub(crate) fn read_to_close(stream: &mut impl Read) -> String {
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&answer)),
        }
    }
    String::from_utf8(answer).unwrap()
}

/// The status of an answer.
pub(crate) fn status(answer: &str) -> u16 {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    status.and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{answer:?}"))
}
