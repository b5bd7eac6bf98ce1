//! Figdex in a separate process, so that its memory and its start can be measured.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use figdex_index::Catalogue;

use crate::client::BlockingClient;
use crate::server::{self, Host};

/// Opens an index, prints the server's address on standard output, and serves the index until
/// standard input ends. That is at the latest when the parent process ends.
pub(crate) fn serve(index: &Path) -> anyhow::Result<()> {
    let host = Host::new()?;
    let served = host.serve(server::figdex(Catalogue::open(index)?))?;
    println!("{}", served.address);
    // The server program also does this while it already answers.
    Catalogue::open(index)?.warm()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// A running server process.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The time from the start of the process to the answer to its first request.
    pub(crate) to_first_answer: Duration,
}

impl Running {
    /// Starts a server over this index, and sends it one request.
    pub(crate) fn start(index: &Path, first_request: &[u8]) -> anyhow::Result<Self> {
        let started = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", "--index"])
            .arg(index)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the server")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line)?;
        let address = line.trim_end().parse().context("the server did not start")?;
        BlockingClient::to(address)?.ask(first_request)?;
        Ok(Self { child, address, to_first_answer: started.elapsed() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}
