//! The server program as a process, and what it says on standard error.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use parking_lot::Mutex;

/// How long the program may take to open its index.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// How often it is looked whether a generation was taken up.
const LOOK_PERIOD: Duration = Duration::from_millis(100);

/// What the program says when it serves, before its address.
const SERVING: &str = "serving on http://";

/// What it says when a new generation serves.
const TOOK_UP: &str = "loaded a new generation";

/// Lines of the log that are kept, of those that tell of something wrong.
const FAULTS_MAX: usize = 20;

/// What a log said that matters here.
#[derive(Clone, Default)]
pub(super) struct Log {
    /// Generations that were taken up.
    pub(super) taken_up: usize,
    /// Warnings and errors, the first of them.
    pub(super) faults: Vec<String>,
}

/// A server program that runs; it is killed with this value, unless it was stopped.
pub(super) struct Program {
    child: Child,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

impl Program {
    /// Starts it over that index, on a port that is free, without request rates.
    pub(super) fn start(server: &Path, index: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(server)
            .args([
                "--listen",
                "127.0.0.1:0",
                "--no-limits",
                "--jobs-per-request",
                "100",
                "--index",
            ])
            .arg(index)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", server.display()))?;
        let stderr = child.stderr.take().expect("it is piped");
        let log = Arc::new(Mutex::new(Log::default()));
        let (tell, told) = mpsc::channel();
        let noted = log.clone();
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || read(stderr, &noted, &tell))?;
        let address = told.recv_timeout(START_TIMEOUT);
        if address.is_err() {
            child.kill().ok();
        }
        let address = address.context("the server did not start")?;
        Ok(Self { child, address, log })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has taken up so many generations, though not for ever.
    pub(super) fn await_generations(&self, count: usize, timeout: Duration) {
        let started = Instant::now();
        while self.log.lock().taken_up < count && started.elapsed() < timeout {
            std::thread::sleep(LOOK_PERIOD);
        }
    }

    /// Tells it to stop; whether it ended with code 0, and what it has said.
    pub(super) fn stop(mut self) -> anyhow::Result<(bool, Log)> {
        signal("-TERM", self.id())?;
        let ended = self.child.wait().context("waiting for the server's end")?;
        Ok((ended.success(), self.log.lock().clone()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Sends a process a signal.
pub(super) fn signal(name: &str, process: u32) -> anyhow::Result<()> {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    ensure!(sent.context("running kill")?.success(), "the server has ended");
    Ok(())
}

/// Reads the log to its end, and tells the address once. What comes before that is for
/// people: it may say why the program does not start.
fn read(stderr: ChildStderr, log: &Mutex<Log>, tell: &mpsc::Sender<SocketAddr>) {
    let mut serves = false;
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        let address = line.split_once(SERVING).and_then(|(_, address)| address.trim().parse().ok());
        if let Some(address) = address {
            tell.send(address).ok();
            serves = true;
        }
        if !serves {
            eprintln!("server: {line}");
        }
        let mut log = log.lock();
        log.taken_up += usize::from(line.contains(TOOK_UP));
        let is_fault = line.contains(" WARN ") || line.contains(" ERROR ");
        if is_fault && log.faults.len() < FAULTS_MAX {
            log.faults.push(line);
        }
    }
}
