//! Requests to a server: TLS, the key, waiting for the rate limit, and retries.

use std::fmt::Display;
use std::io::Read as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure};
use figdex_io::{escaped, terminal};
use jiff::Timestamp;
use ureq::http::Response;
use ureq::{Agent, Body, Error, RequestBuilder, Timeout};

use super::headers::{Stated, StatedWindow, retry_after};
use super::patience::{Bounds, Paced, Patience};
use crate::commands::to_server::{CONNECT_TIMEOUT, KEY_HEADER, agent};
use crate::commands::trust;
use crate::config::map::Url;

/// The most bytes of an answer. A server's largest answer, of 200,000 rows with ten fields, has
/// about 60 MB. If an answer is larger than this bound, the next request has fewer identifiers.
pub(super) const ANSWER_BYTES_MAX: u64 = 128 << 20;

/// The most bytes that are read of an error response.
const FAULT_BYTES_MAX: u64 = 64 << 10;

/// The most characters of a server's error message that are shown.
const MESSAGE_CHARS_MAX: usize = 300;

/// The most retries of a request after broken connections and 503s.
const RETRIES_MAX: u32 = 5;

/// The most times that a request waits for the rate limit. More than one wait is needed if
/// others use the same window.
const WAITS_MAX: u32 = 100;

/// The longest wait for the rate limit that a server may ask for.
const WAIT_MAX: Duration = Duration::from_secs(3_600);

/// The wait for the rate limit if the server states none.
const WAIT_UNSTATED: Duration = Duration::from_secs(1);

/// A client of one server.
pub(super) struct Client {
    agent: Agent,
    address: String,
    key: Option<String>,
    bounds: Bounds,
    patience: Patience,
    /// The time before which the rate limit admits no request.
    blocked_until: Option<Instant>,
    has_answered: bool,
    has_waited: bool,
}

/// The reply to a request.
pub(super) enum Reply {
    Answer {
        body: Vec<u8>,
        stated: Stated,
    },
    /// A 413, with the number of identifiers that the server accepts, if it states one.
    TooMany(Option<usize>),
    /// The answer has more than [`ANSWER_BYTES_MAX`] bytes.
    TooLong,
}

impl Client {
    /// A client that sends this key, and trusts the certificates of `ca_file`. Without such a file,
    /// it trusts those of the system.
    ///
    /// # Errors
    /// When the file cannot be used, or there are no certificates to trust.
    pub(super) fn new(
        address: &Url,
        key: Option<String>,
        ca_file: Option<&Path>,
        bounds: Bounds,
    ) -> anyhow::Result<Self> {
        let Url(address) = address;
        let agent = agent(address, ca_file, bounds.silence)?;
        let address = address.clone();
        Ok(Self {
            agent,
            address,
            key,
            bounds,
            patience: Patience::new(bounds),
            blocked_until: None,
            has_answered: false,
            has_waited: false,
        })
    }

    pub(super) fn get(&mut self, path: &str) -> anyhow::Result<Reply> {
        self.exchange(path, None)
    }

    /// The body at a path that an earlier version of the server, or a proxy, may not have. It is
    /// asked for once. A server that cannot be reached says so at the next request.
    pub(super) fn find(&mut self, path: &str) -> Option<Vec<u8>> {
        let start = Instant::now();
        let answered = self.send(path, None).and_then(|mut response| {
            let body = read(&mut response, self.bounds)?;
            Ok((response.status() == 200).then_some(body))
        });
        self.patience.spend(start);
        answered.ok().flatten()
    }

    pub(super) fn post(&mut self, path: &str, json: &[u8]) -> anyhow::Result<Reply> {
        self.exchange(path, Some(json))
    }

    /// Extends the patience with the server, which answered this many identifiers.
    pub(super) fn answered(&mut self, identifiers: usize) {
        self.patience.earn(identifiers);
    }

    fn exchange(&mut self, path: &str, json: Option<&[u8]>) -> anyhow::Result<Reply> {
        let (mut retries, mut waits) = (0, 0);
        loop {
            if let Some(until) = self.blocked_until.take() {
                self.wait(until)?;
            }
            let start = Instant::now();
            let answered = self.send(path, json).and_then(|mut response| {
                let body = read(&mut response, self.bounds)?;
                Ok((response, body))
            });
            self.patience.spend(start);
            let (response, body) = match answered {
                Ok(answered) => answered,
                Err(Error::BodyExceedsLimit(_)) => return Ok(Reply::TooLong),
                Err(Error::Timeout(Timeout::Global)) => return Err(self.out_of_patience()),
                Err(error) => {
                    let reason = self.reason(&error);
                    ensure!(
                        self.has_answered && is_broken(&error) && retries < RETRIES_MAX,
                        "asking {}: {reason}",
                        escaped(&*self.address)
                    );
                    self.retry(&mut retries, &reason)?;
                    continue;
                }
            };
            self.has_answered = true;
            let stated = Stated::of(response.headers());
            match response.status().as_u16() {
                200 => {
                    if let Some(StatedWindow { remaining: 0, reset_seconds, .. }) = stated.window {
                        self.block(reset_seconds);
                    }
                    return Ok(Reply::Answer { body, stated });
                }
                413 => return Ok(Reply::TooMany(stated.jobs_per_list)),
                429 => {
                    waits += 1;
                    let retry_after = retry_after(response.headers(), Timestamp::now());
                    let seconds = retry_after.or(stated.window.map(|window| window.reset_seconds));
                    let seconds = seconds.unwrap_or(WAIT_UNSTATED.as_secs());
                    ensure!(
                        waits <= WAITS_MAX && seconds <= WAIT_MAX.as_secs(),
                        "{} limits the rate of requests: it asks to wait {seconds} s once more",
                        escaped(&*self.address)
                    );
                    self.block(seconds);
                }
                503 if retries < RETRIES_MAX => {
                    self.retry(&mut retries, &"503 Service Unavailable")?;
                }
                status => bail!(
                    "{} answered {status}{}{}",
                    escaped(&*self.address),
                    escaped(message(&body)),
                    advice(status)
                ),
            }
        }
    }

    fn send(&self, path: &str, json: Option<&[u8]>) -> Result<Response<Body>, Error> {
        let url = format!("{}{path}", self.address);
        match json {
            Some(json) => {
                let request = self.agent.post(&url).header("content-type", "application/json");
                self.with_key(request).send(json)
            }
            None => self.with_key(self.agent.get(&url)).call(),
        }
    }

    /// Adds the key to a request, and a timeout at the end of the patience.
    fn with_key<Any>(&self, request: RequestBuilder<Any>) -> RequestBuilder<Any> {
        let request = request.config().timeout_global(Some(self.patience.left())).build();
        match self.key.as_deref() {
            Some(key) => request.header(KEY_HEADER, key),
            None => request,
        }
    }

    /// Makes the next request wait until the window is over.
    fn block(&mut self, seconds: u64) {
        let seconds = seconds.min(WAIT_MAX.as_secs());
        self.blocked_until = Some(Instant::now() + Duration::from_secs(seconds));
    }

    /// Waits for the rate limit. Reports the first wait.
    fn wait(&mut self, until: Instant) -> anyhow::Result<()> {
        let wait = until.saturating_duration_since(Instant::now());
        self.check_patience(wait)?;
        if !std::mem::replace(&mut self.has_waited, true) {
            terminal::note(&format_args!(
                "{}: waiting {:.0} s for its rate limit, and again whenever it is reached",
                escaped(&*self.address),
                wait.as_secs_f64()
            ));
        }
        self.sleep(wait);
        Ok(())
    }

    /// Waits before a retry, longer each time.
    fn retry(&mut self, retries: &mut u32, reason: &dyn Display) -> anyhow::Result<()> {
        let seconds = 1_u64 << *retries;
        self.check_patience(Duration::from_secs(seconds))?;
        *retries += 1;
        terminal::note(&format_args!(
            "{}: {reason}; asking again in {seconds} s ({retries} of {RETRIES_MAX})",
            escaped(&*self.address)
        ));
        self.sleep(Duration::from_secs(seconds));
        Ok(())
    }

    /// Refuses a wait that would end after the patience with the server.
    fn check_patience(&self, wait: Duration) -> anyhow::Result<()> {
        if wait < self.patience.left() { Ok(()) } else { Err(self.out_of_patience()) }
    }

    fn sleep(&mut self, time: Duration) {
        let start = Instant::now();
        thread::sleep(time);
        self.patience.spend(start);
    }

    fn out_of_patience(&self) -> anyhow::Error {
        anyhow!("asking {}: {}", escaped(&*self.address), self.patience.end())
    }

    /// The reason of a failure, for people.
    fn reason(&self, error: &Error) -> String {
        if !self.has_answered
            && let Some(fault) = trust::fault(&self.address, error)
        {
            return fault;
        }
        let silence = self.bounds.silence.as_secs();
        match error {
            Error::Io(error) => error.to_string(),
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                format!("no connection within {} s", CONNECT_TIMEOUT.as_secs())
            }
            Error::Timeout(Timeout::SendRequest | Timeout::PerWrite) => {
                format!("nothing could be sent for {silence} s")
            }
            Error::Timeout(_) => format!("nothing came for {silence} s"),
            other => other.to_string(),
        }
    }
}

/// Whether a connection broke or timed out. Then a retry may succeed.
fn is_broken(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::ConnectionFailed | Error::Timeout(_))
}

/// Reads the body of an answer; of an error response, only the beginning.
fn read(response: &mut Response<Body>, bounds: Bounds) -> Result<Vec<u8>, Error> {
    let is_answer = response.status() == 200;
    if is_answer && response.body().content_length().is_some_and(|bytes| bytes > ANSWER_BYTES_MAX) {
        return Err(Error::BodyExceedsLimit(ANSWER_BYTES_MAX));
    }
    // One byte more than the maximum shows whether the body is too long.
    let bytes_max = if is_answer { ANSWER_BYTES_MAX + 1 } else { FAULT_BYTES_MAX };
    let mut body = Vec::new();
    let reader = response.body_mut().as_reader().take(bytes_max);
    Paced::new(reader, bounds).read_to_end(&mut body)?;
    match is_answer && body.len() as u64 == bytes_max {
        true => Err(Error::BodyExceedsLimit(ANSWER_BYTES_MAX)),
        false => Ok(body),
    }
}

/// The error message in a body, after a colon; empty if the body is empty.
fn message(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct ErrorBody {
        error: String,
    }
    let text = match serde_json::from_slice::<ErrorBody>(body) {
        Ok(fault) => fault.error,
        Err(_) => String::from_utf8_lossy(body).trim().to_owned(),
    };
    let shown: String = text.chars().take(MESSAGE_CHARS_MAX).collect();
    if shown.is_empty() { shown } else { format!(": {shown}") }
}

/// The advice for a status.
fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => " (check --key-file)",
        404 | 405 => " (is it a Figdex server with POST /resolve, and is the URL its root?)",
        300..=399 => " (name the URL to which it redirects)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_in_short() {
        assert_eq!(message(br#"{"error":"Invalid key."}"#), ": Invalid key.");
        assert_eq!(message(b" Not here \n"), ": Not here");
        assert_eq!(message(&[b'x'; 1_000]).len(), ": ".len() + MESSAGE_CHARS_MAX);
    }
}
