//! The program itself as a process of its own: what it says, what memory it takes, and
//! clients that speak to it in bytes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use figdex_ingest::Input;
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::build_of;

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How long a well-behaved client may wait, whatever others do meanwhile. A machine
/// that runs other tests at the same time is slow, but not as slow as this.
const OTHERS_WAIT: Duration = Duration::from_secs(5);

/// Files that the clients of all tests together may need, but for those of the one
/// with ten thousand.
const FILES: u64 = 4_000;

/// A mapping request that finds the one instrument, and closes.
pub(crate) const REQUEST: &str = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
     Content-Type: application/json\r\nContent-Length: 37\r\n\r\n\
     [{\"idType\":\"TICKER\",\"idValue\":\"IBM\"}]";

/// Lets this process open so many files; `false` where the system does not.
pub(crate) fn may_open(files: u64) -> bool {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= files);
    is_enough(current)
        || is_enough(maximum)
            && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok()
}

/// A running server over an index of one instrument.
pub(crate) struct Figdex {
    pub(crate) child: Child,
    /// As it says: `http://…`, `https://…`, `unix:…`.
    pub(crate) place: String,
    log: Arc<Mutex<Vec<String>>>,
    index: PathBuf,
    _folder: tempfile::TempDir,
}

impl Figdex {
    /// Starts it on a free port, or where `--listen` among the arguments says.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_from(Command::new(env!("CARGO_BIN_EXE_figdex")), arguments)
    }

    /// As [`Self::start`], by a shell that allows it so many open files until it asks
    /// for more.
    pub(crate) fn start_with_few_files(open_files: u32, arguments: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let script = format!("ulimit -Sn {open_files} && exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_figdex")]);
        Self::start_from(command, arguments)
    }

    fn start_from(mut command: Command, arguments: &[&str]) -> Self {
        // Its clients are files of this process, which other tests need as well.
        may_open(FILES);
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        let dump = Input::Memory("dump", b"figi,ticker\nBBG000BLNNH6,IBM\n".as_slice().into());
        build_of(vec![dump], &index).run(&mut |_| {}).unwrap();
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.arg("--index").arg(&index).args(arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = log.clone();
        std::thread::spawn(move || lines.for_each(|line| kept.lock().push(line.unwrap())));
        let mut figdex = Self { child, place: String::new(), log, index, _folder: folder };
        let line = figdex.wait_for("serving on ", 1);
        figdex.place = line.rsplit("serving on ").next().unwrap().to_owned();
        figdex
    }

    pub(crate) fn index(&self) -> &Path {
        &self.index
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.place.rsplit("://").next().unwrap().parse().unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes, and reads until the server closes, or resets what it does not read.
    pub(crate) fn exchange(&self, request: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        // A server that has heard enough need not listen to the rest.
        let _ = stream.write_all(request.as_ref());
        read_to_close(&mut stream)
    }

    /// Another client is answered meanwhile, and soon.
    pub(crate) fn assert_serves(&self) {
        let start = Instant::now();
        let answer = self.exchange(REQUEST);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains("BBG000BLNNH6"), "{answer}");
        assert!(start.elapsed() < OTHERS_WAIT, "it waited {:?}", start.elapsed());
    }

    /// The memory that it holds and that no file backs, in bytes; `None` where the
    /// system does not tell.
    pub(crate) fn anonymous_bytes(&self) -> Option<u64> {
        let rollup = format!("/proc/{}/smaps_rollup", self.child.id());
        let rollup = fs::read_to_string(rollup).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kilobytes << 10)
    }

    /// Its memory is below a line, now.
    pub(crate) fn assert_memory_below(&self, bytes_max: u64) {
        match self.anonymous_bytes() {
            Some(bytes) => {
                eprintln!("{} MB of at most {} MB", bytes >> 20, bytes_max >> 20);
                assert!(bytes < bytes_max, "{bytes} bytes of memory, at most {bytes_max}");
            }
            None => eprintln!("skipped: the system does not tell a process's memory"),
        }
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.log.lock().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until so many lines with `text` were logged; the last of them.
    pub(crate) fn wait_for(&self, text: &str, count: usize) -> String {
        let start = Instant::now();
        while self.count(text) < count {
            assert!(start.elapsed() < PATIENCE, "{count} × {text:?} in {:#?}", self.log.lock());
            std::thread::sleep(Duration::from_millis(10));
        }
        let log = self.log.lock();
        log.iter().rfind(|line| line.contains(text)).unwrap().clone()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// It lived until now, and ends as it should.
    pub(crate) fn stop(mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "it ended: {:#?}", self.log.lock());
        assert_eq!(self.count("panicked"), 0, "{:#?}", self.log.lock());
        self.signal("-TERM");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Figdex {
    fn drop(&mut self) {
        // Gone already, unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What comes until the server closes, or resets a connection that it has not read to
/// the end of; a server that does neither in time fails the test.
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
