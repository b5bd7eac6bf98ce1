//! Requests to a server: TLS, the key, waiting for the rate limit, and trying again.

use std::fmt::Display;
use std::io::Read as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use figdex_index::escaped;
use figdex_ingest::terminal;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, Error, Timeout};

use crate::commands::trust;
use crate::config::map::Url;

/// The most bytes of an answer. A server's largest, of 200,000 rows, has about 60 MB with ten
/// fields; if it has more, fewer identifiers are asked for at a time.
pub(super) const ANSWER_BYTES_MAX: u64 = 128 << 20;

/// The most bytes that are read of the answer to a request that was refused.
const FAULT_BYTES_MAX: u64 = 64 << 10;

/// The most characters of an error message of a server that are shown.
const MESSAGE_CHARS_MAX: usize = 300;

/// The times that a request is sent again after a broken connection or a 503.
const RETRIES_MAX: u32 = 5;

/// The times that a request waits for the rate limit. A second wait happens when others use the
/// same window.
const WAITS_MAX: u32 = 100;

/// The longest wait for the rate limit that a server may ask for.
const WAIT_MAX: Duration = Duration::from_secs(3_600);

/// The wait for the rate limit of a server that names none.
const WAIT_UNSTATED: Duration = Duration::from_secs(1);

/// The longest time to find and reach a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time without a byte from a server, or to it. Proxies usually wait as long for the
/// server behind them. A server makes its largest answer in seconds, and one that is too busy says
/// so sooner (503). A slow connection is not silent: it brings bytes all the time.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// The longest time for one answer. Its largest takes as long at 1.8 Mbit/s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

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
    pub(super) reset_seconds: u64,
}

/// The figures that the headers of an answer state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stated {
    /// `None` for a server without rate limits.
    pub(super) window: Option<Window>,
    /// The identifiers that a list may have, and those that count as one request (contract 17.8).
    pub(super) jobs_per_list: Option<usize>,
    pub(super) jobs_per_request: Option<usize>,
}

/// The reply to a request.
pub(super) enum Reply {
    Answer {
        body: Vec<u8>,
        stated: Stated,
    },
    /// A 413, with the number that fits if the server names one.
    TooMany(Option<usize>),
    /// The answer has more than [`ANSWER_BYTES_MAX`] bytes.
    TooLong,
}

impl Client {
    /// A client that sends this key and trusts these certificates, or those of the system.
    ///
    /// # Errors
    /// When there are no certificates to trust.
    pub(super) fn new(
        address: &Url,
        key: Option<String>,
        ca_file: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let Url(address) = address;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(trust::tls(address, ca_file)?)
            .timeout_resolve(Some(CONNECT_TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_per_read(Some(SILENCE_MAX))
            .timeout_per_write(Some(SILENCE_MAX))
            .timeout_send_request(Some(SILENCE_MAX))
            .timeout_send_body(Some(ANSWER_TIMEOUT))
            .timeout_recv_response(Some(SILENCE_MAX))
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
                let body = read(&mut response)?;
                Ok((response, body))
            });
            let (response, body) = match answered {
                Ok(answered) => answered,
                Err(Error::BodyExceedsLimit(_)) => return Ok(Reply::TooLong),
                Err(error) => {
                    let reason = reason(&error);
                    ensure!(
                        self.has_answered && is_broken(&error) && retries < RETRIES_MAX,
                        "asking {}: {reason}",
                        escaped(&*self.address)
                    );
                    self.retry(&mut retries, &reason);
                    continue;
                }
            };
            self.has_answered = true;
            let stated = stated(response.headers());
            match response.status().as_u16() {
                200 => {
                    if let Some(Window { remaining: 0, reset_seconds, .. }) = stated.window {
                        self.block(reset_seconds);
                    }
                    return Ok(Reply::Answer { body, stated });
                }
                413 => return Ok(Reply::TooMany(number(&message(&body)))),
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

/// The body of an answer, and the beginning of any other.
fn read(response: &mut Response<Body>) -> Result<Vec<u8>, Error> {
    if response.status() == 200 {
        if response.body().content_length().is_some_and(|bytes| bytes > ANSWER_BYTES_MAX) {
            return Err(Error::BodyExceedsLimit(ANSWER_BYTES_MAX));
        }
        return response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
    }
    let mut body = Vec::new();
    response.body_mut().as_reader().take(FAULT_BYTES_MAX).read_to_end(&mut body)?;
    Ok(body)
}

/// The reason of a failure, for people.
fn reason(error: &Error) -> String {
    match error {
        Error::Io(error) => error.to_string(),
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            format!("no connection within {} s", CONNECT_TIMEOUT.as_secs())
        }
        Error::Timeout(Timeout::RecvBody | Timeout::SendBody) => {
            format!("the exchange took more than {} s", ANSWER_TIMEOUT.as_secs())
        }
        Error::Timeout(Timeout::SendRequest | Timeout::PerWrite) => {
            format!("nothing could be sent for {} s", SILENCE_MAX.as_secs())
        }
        Error::Timeout(_) => format!("nothing came for {} s", SILENCE_MAX.as_secs()),
        other => other.to_string(),
    }
}

fn stated(headers: &HeaderMap) -> Stated {
    let count = |name| header(headers, name).and_then(|number| usize::try_from(number).ok());
    Stated {
        window: window(headers),
        jobs_per_list: count("figdex-jobs-per-list"),
        jobs_per_request: count("figdex-jobs-per-request"),
    }
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

/// The seconds that a server asks to wait: a number, or the time until a date (RFC 9110, 10.2.3) by
/// the server's own clock if its answer has one. At least one second.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let date = |name| {
        let text = headers.get(name)?.to_str().ok()?;
        DateTimeParser::new().parse_timestamp(text.trim()).ok()
    };
    let seconds = header(headers, "retry-after").or_else(|| {
        let seconds = date("retry-after")?.as_second() - date("date").unwrap_or(now).as_second();
        Some(u64::try_from(seconds).unwrap_or(0))
    });
    seconds.map(|seconds| seconds.max(1))
}

/// The number after `at most` in the message of a server, which says how many jobs fit.
fn number(message: &str) -> Option<usize> {
    let message = message.to_ascii_lowercase();
    let (_, rest) = message.rsplit_once("at most ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit() && c != ',').next()?.replace(',', "");
    digits.parse().ok().filter(|number| *number > 0)
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
    fn a_413_names_the_number_that_fits() {
        assert_eq!(number("251 jobs were sent; at most 1,000 fit."), Some(1_000));
        assert_eq!(number("At most 60, and no more than 7 at a time"), Some(60));
        assert_eq!(number("at most 0"), None);
        assert_eq!(number("at most a few"), None);
        // A proxy's, with its version.
        assert_eq!(number("413 Request Entity Too Large nginx/1.18.0"), None);
    }

    /// Seconds, and a date by the server's clock or else by that of this machine.
    #[test]
    fn a_wait_may_be_a_date() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let wait = |retry: &str, date: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", retry.parse().unwrap());
            date.map(|date| headers.insert("date", date.parse().unwrap()));
            retry_after(&headers, now)
        };
        const LATER: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait("7", None), Some(7));
        assert_eq!(wait("0", None), Some(1));
        assert_eq!(wait(LATER, None), Some(37));
        assert_eq!(wait(LATER, Some("Sun, 06 Nov 1994 08:49:30 GMT")), Some(7));
        assert_eq!(wait(LATER, Some("Sun, 06 Nov 1994 09:00:00 GMT")), Some(1));
        assert_eq!(wait(LATER, Some("yesterday")), Some(37));
        assert_eq!(wait("Fri, 24 Dec 9999 23:59:59 GMT", None), Some(252_617_584_259));
        for odd in ["soon", "-1", "", "1.5", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(wait(odd, None), None, "{odd}");
        }
    }

    /// A reason names no layer of the program.
    #[test]
    fn reasons_are_plain() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert_eq!(reason(&Error::Io(refused)), "connection refused");
        assert_eq!(reason(&Error::Timeout(Timeout::RecvResponse)), "nothing came for 60 s");
        assert_eq!(reason(&Error::Timeout(Timeout::Connect)), "no connection within 10 s");
    }

    #[test]
    fn an_error_is_shown_in_short() {
        assert_eq!(message(br#"{"error":"Invalid key."}"#), ": Invalid key.");
        assert_eq!(message(b" Not here \n"), ": Not here");
        assert_eq!(message(&[b'x'; 1_000]).len(), ": ".len() + MESSAGE_CHARS_MAX);
    }
}
