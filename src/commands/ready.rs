//! `figdex ready`: asks a server whether it is ready, for probes without curl.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use figdex_io::escaped;
use ureq::{Agent, Error};

use super::trust;
use crate::config::{ReadyFlags, ServerPlace};

/// The length of `HTTP/1.1 200`.
const HEAD_BYTES: usize = 12;

/// Succeeds when the server is ready.
///
/// # Errors
/// When the server is not ready, or the settings do not name it.
pub(super) fn run(flags: &ReadyFlags) -> anyhow::Result<()> {
    let timeout = Duration::from_secs(flags.timeout_seconds);
    let asked = flags.asked()?;
    let status = match &asked {
        ServerPlace::Socket(path) => status_over(path, timeout),
        ServerPlace::Address(address) => status_of(address, flags.ca_file.as_deref(), timeout),
    };
    match status.with_context(|| format!("not ready: asking {}", escaped(asked.to_string())))? {
        200 => Ok(()),
        status => bail!("not ready: {} answered {status}", escaped(asked.to_string())),
    }
}

/// The status code of a server at an address.
fn status_of(address: &str, ca_file: Option<&Path>, timeout: Duration) -> anyhow::Result<u16> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // A probe asks this server, not a proxy of the environment.
        .proxy(None)
        .tls_config(trust::tls(address, ca_file)?)
        .timeout_global(Some(timeout))
        .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
        .build();
    let answer = Agent::new_with_config(config).get(format!("{address}/readyz")).call();
    match answer {
        Ok(answer) => Ok(answer.status().as_u16()),
        Err(error) if let Some(reason) = trust::fault(address, &error) => bail!("{reason}"),
        Err(Error::Io(error)) => Err(error.into()),
        Err(Error::Timeout(_)) => bail!("no answer in {} s", timeout.as_secs()),
        Err(error) => Err(error.into()),
    }
}

/// The status code of a server at a Unix socket.
fn status_over(socket: &Path, timeout: Duration) -> anyhow::Result<u16> {
    let (send, answers) = mpsc::channel();
    let socket = socket.to_owned();
    // Connecting to a socket can block, and the system limits only the time of reads and writes.
    // The thread ends with the program.
    thread::spawn(move || send.send(head_over(&socket)).ok());
    let head = match answers.recv_timeout(timeout) {
        Ok(head) => head?,
        Err(_) => bail!("no answer in {} s", timeout.as_secs()),
    };
    let status = str::from_utf8(&head).ok().and_then(|head| head.strip_prefix("HTTP/1.1 "));
    status.and_then(|status| status.parse().ok()).context("the answer is not HTTP")
}

/// The beginning of the response, up to the end of its status code.
fn head_over(socket: &Path) -> io::Result<[u8; HEAD_BYTES]> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: figdex\r\nConnection: close\r\n\r\n")?;
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head)?;
    Ok(head)
}
