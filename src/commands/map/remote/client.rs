//! Requests to a server: TLS, the key, waiting for the rate limit, and trying again.

use std::fmt::Display;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use figdex_index::escaped;
use figdex_ingest::terminal;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, Error};

use crate::commands::trust;
use crate::config::map::Address;

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 512 << 20;

/// The most characters of an error message of a server that are shown.
const MESSAGE_CHARS_MAX: usize = 300;

/// The times that a request is sent again after a broken connection or a 503.
const RETRIES_MAX: u32 = 5;

/// The times that a request waits for the rate limit. A second wait happens when others use the
/// same window.
const WAITS_MAX: u32 = 100;

/// The longest wait for the rate limit that a server may ask for.
const WAIT_MAX: Duration = Duration::from_secs(3_600);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A client of one server.
pub(super) struct Client {
    agent: Agent,
    address: String,
    key: Option<String>,
    /// The time before which no request passes the rate limit.
    blocked_until: Option<Instant>,
    has_answered: bool,
    has_waited: bool,
}

/// The window of a rate limit (contract 14.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) limit: u32,
    pub(super) remaining: u32,
    reset_seconds: u64,
}

/// An answer.
pub(super) struct Reply {
    pub(super) body: Vec<u8>,
    /// `None` for a server without rate limits.
    pub(super) window: Option<Window>,
    /// For a 413: the number that fits, if the server names one.
    pub(super) too_many: Option<Option<usize>>,
}

impl Client {
    /// A client that sends this key and trusts these certificates, or those of the system.
    ///
    /// # Errors
    /// When there are no certificates to trust.
    pub(super) fn new(
        address: &Address,
        key: Option<String>,
        ca_file: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let Address(address) = address;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(trust::tls(address, ca_file)?)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_send_body(Some(ANSWER_TIMEOUT))
            .timeout_recv_response(Some(ANSWER_TIMEOUT))
            .timeout_recv_body(Some(ANSWER_TIMEOUT))
            .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = Agent::new_with_config(config);
        let address = address.clone();
        Ok(Self {
            agent,
            address,
            key,
            blocked_until: None,
            has_answered: false,
            has_waited: false,
        })
    }

    pub(super) fn get(&mut self, path: &str) -> anyhow::Result<Reply> {
        self.exchange(path, None)
    }

    pub(super) fn post(&mut self, path: &str, json: &[u8]) -> anyhow::Result<Reply> {
        self.exchange(path, Some(json))
    }

    fn exchange(&mut self, path: &str, json: Option<&[u8]>) -> anyhow::Result<Reply> {
        let (mut retries, mut waits) = (0, 0);
        loop {
            if let Some(until) = self.blocked_until.take() {
                self.wait(until);
            }
            let answered = self.send(path, json).and_then(|mut response| {
                let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
                let body = body.read_to_vec()?;
                Ok((response, body))
            });
            let (response, body) = match answered {
                Ok(answered) => answered,
                Err(error) => {
                    ensure!(
                        self.has_answered && is_broken(&error) && retries < RETRIES_MAX,
                        "asking {}: {error}",
                        escaped(&*self.address)
                    );
                    self.retry(&mut retries, &error);
                    continue;
                }
            };
            self.has_answered = true;
            let window = window(response.headers());
            match response.status().as_u16() {
                200 => {
                    if let Some(Window { remaining: 0, reset_seconds, .. }) = window {
                        self.block(reset_seconds);
                    }
                    return Ok(Reply { body, window, too_many: None });
                }
                413 => {
                    let fits = number(&String::from_utf8_lossy(&body));
                    return Ok(Reply { body, window, too_many: Some(fits) });
                }
                429 => {
                    waits += 1;
                    let retry_after = header(response.headers(), "retry-after");
                    let seconds = retry_after.or(window.map(|window| window.reset_seconds));
                    let seconds = seconds.unwrap_or(1);
                    ensure!(
                        waits <= WAITS_MAX && seconds <= WAIT_MAX.as_secs(),
                        "{} limits the rate of requests: it asks to wait {seconds} s once more",
                        escaped(&*self.address)
                    );
                    self.block(seconds);
                }
                503 if retries < RETRIES_MAX => {
                    self.retry(&mut retries, &"503 Service Unavailable");
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
        let key = self.key.as_deref();
        match json {
            Some(json) => {
                let mut request = self.agent.post(&url).header("content-type", "application/json");
                if let Some(key) = key {
                    request = request.header(KEY_HEADER, key);
                }
                request.send(json)
            }
            None => {
                let mut request = self.agent.get(&url);
                if let Some(key) = key {
                    request = request.header(KEY_HEADER, key);
                }
                request.call()
            }
        }
    }

    /// Lets the next request wait until the window is over.
    fn block(&mut self, seconds: u64) {
        let seconds = seconds.min(WAIT_MAX.as_secs());
        self.blocked_until = Some(Instant::now() + Duration::from_secs(seconds));
    }

    /// Waits for the rate limit, and says so the first time.
    fn wait(&mut self, until: Instant) {
        let wait = until.saturating_duration_since(Instant::now());
        if !std::mem::replace(&mut self.has_waited, true) {
            terminal::note(&format_args!(
                "{}: waiting {:.0} s for its rate limit, and again whenever it is reached",
                escaped(&*self.address),
                wait.as_secs_f64()
            ));
        }
        thread::sleep(wait);
    }

    /// Waits before a request is sent again, longer each time.
    fn retry(&self, retries: &mut u32, reason: &dyn Display) {
        let seconds = 1_u64 << *retries;
        *retries += 1;
        terminal::note(&format_args!(
            "{}: {reason}; asking again in {seconds} s ({retries} of {RETRIES_MAX})",
            escaped(&*self.address)
        ));
        thread::sleep(Duration::from_secs(seconds));
    }
}

/// The header of the API key (contract 3.2).
const KEY_HEADER: &str = "x-service-apikey";

/// Whether a connection broke, so that another may not.
fn is_broken(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::ConnectionFailed | Error::Timeout(_))
}

fn window(headers: &HeaderMap) -> Option<Window> {
    let whole = |name| header(headers, name).and_then(|number| u32::try_from(number).ok());
    Some(Window {
        limit: whole("ratelimit-limit")?,
        remaining: whole("ratelimit-remaining")?,
        reset_seconds: header(headers, "ratelimit-reset")?,
    })
}

fn header(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The last number of a text, which says how many jobs fit.
fn number(text: &str) -> Option<usize> {
    let digits = text.replace(',', "");
    let numbers = digits.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    numbers.filter_map(|number| number.parse().ok()).rfind(|number| *number > 0)
}

/// The error message of an answer, after a colon.
fn message(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Fault {
        error: String,
    }
    let text = match serde_json::from_slice::<Fault>(body) {
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
    fn the_last_number_fits() {
        assert_eq!(number("251 jobs were sent; at most 1,000 fit."), Some(1_000));
        assert_eq!(number("Request exceeds the limit."), None);
        assert_eq!(number("none: 0"), None);
    }

    #[test]
    fn an_error_is_shown_in_short() {
        assert_eq!(message(br#"{"error":"Invalid key."}"#), ": Invalid key.");
        assert_eq!(message(b" Not here \n"), ": Not here");
        assert_eq!(message(&[b'x'; 1_000]).len(), ": ".len() + MESSAGE_CHARS_MAX);
    }
}
