//! The server program as a process, and its log on standard error.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use parking_lot::Mutex;

/// The time that the program has to open its index.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// The interval at which the number of reloaded generations is checked.
const CHECK_PERIOD: Duration = Duration::from_millis(100);

/// The text before the address in the line that reports that the program serves.
const SERVING: &str = "serving on http://";

/// The text in the line, of level INFO, that reports a reloaded generation.
const RELOADED: &str = "new generation";

/// The maximum number of warnings and errors that are kept.
const FAULTS_MAX: usize = 20;

/// The relevant lines of the log.
#[derive(Clone, Default)]
pub(super) struct Log {
    /// The number of reloaded generations.
    pub(super) reloaded: usize,
    /// The first warnings and errors.
    pub(super) faults: Vec<String>,
}

/// A running server program. The drop kills it, unless it was stopped.
pub(super) struct Program {
    child: Child,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

impl Program {
    /// Starts the program over this index, on a free port, without rate limits.
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
        let (send_address, address) = mpsc::channel();
        let shared = log.clone();
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || read(stderr, &shared, &send_address))?;
        let address = address.recv_timeout(START_TIMEOUT);
        if address.is_err() {
            child.kill().ok();
        }
        let address = address.context("the server did not start")?;
        Ok(Self { child, address, log })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server has reloaded `count` generations, or the time is over.
    pub(super) fn await_generations(&self, count: usize, timeout: Duration) {
        let started = Instant::now();
        while self.log.lock().reloaded < count && started.elapsed() < timeout {
            std::thread::sleep(CHECK_PERIOD);
        }
    }

    /// Stops the server; returns whether it ended with code 0, and its log.
    pub(super) fn stop(mut self) -> anyhow::Result<(bool, Log)> {
        signal("-TERM", self.id())?;
        let ended = self.child.wait().context("waiting for the server's end")?;
        Ok((ended.success(), self.log.lock().clone()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Killing fails when the process has ended already.
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

/// Reads the log to its end, and sends the address once. Lines before the address are printed,
/// because they may show why the program does not start.
fn read(stderr: ChildStderr, log: &Mutex<Log>, send_address: &mpsc::Sender<SocketAddr>) {
    let mut serves = false;
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        let address = line.split_once(SERVING).and_then(|(_, address)| address.trim().parse().ok());
        if let Some(address) = address {
            send_address.send(address).ok();
            serves = true;
        }
        if !serves {
            eprintln!("server: {line}");
        }
        let mut log = log.lock();
        log.reloaded += usize::from(line.contains(" INFO ") && line.contains(RELOADED));
        let is_fault = line.contains(" WARN ") || line.contains(" ERROR ");
        if is_fault && log.faults.len() < FAULTS_MAX {
            log.faults.push(line);
        }
    }
}
