//! The HTTP client of a cluster. This is the only place that sends a request and reads an answer:
//! every call has a deadline, every answer a largest size, and a host that fails is left alone for a
//! while.

mod hosts;
mod running;
#[cfg(test)]
mod tests;
mod trust;

use std::error::Error as _;
use std::time::Duration;

use figdex_io::{ClusterAddress, escaped};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls::RootCertStore;

use self::hosts::{Host, Hosts};
use self::running::Running;
use super::error::is_block;
use super::{ClientSettings, Error, HostState, Request, Result};

/// The most bytes of an answer that says what is wrong.
const FAULT_BYTES_MAX: usize = 64 << 10;

/// The most characters of a text of the cluster that a message repeats.
const REPEATED_CHARS_MAX: usize = 300;

/// The time in which a connection must be made.
const CONNECT_TIME: Duration = Duration::from_secs(3);

/// The time after which a question is put to a second host, too.
const PATIENCE: Duration = Duration::from_secs(3);

/// The most hosts that work on one question at the same time.
const ATTEMPTS_MAX: usize = 2;

/// The time after which an idle connection is closed.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// A client of one cluster. It is shared by all who ask it.
pub struct Client {
    http: reqwest::Client,
    hosts: Hosts,
    places: Semaphore,
    /// The texts that no message repeats: the value of the `Authorization` header, and its parts.
    secrets: Vec<String>,
}

/// An answer: its status, and its body as JSON has it.
#[derive(Debug)]
struct Answer {
    status: u16,
    body: Vec<u8>,
}

/// The fault of an answer, as OpenSearch writes it.
#[derive(Default, Deserialize)]
struct Fault {
    #[serde(default)]
    error: FaultCause,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FaultCause {
    Object {
        #[serde(default)]
        r#type: String,
        #[serde(default)]
        reason: String,
    },
    Text(String),
}

impl Default for FaultCause {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Client {
    /// A client of the cluster at an address. Nothing is asked yet.
    ///
    /// # Errors
    /// When a file of the settings cannot be read or used.
    pub fn new(address: &ClusterAddress, settings: &ClientSettings) -> Result<Self> {
        let (mut headers, mut secrets) = (HeaderMap::new(), Vec::new());
        if let Some(path) = &settings.authorization_file {
            let value = trust::authorization(path)?;
            secrets = trust::secrets(&value);
            headers.insert(AUTHORIZATION, value);
        }
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
            // A redirect would send the header of the settings elsewhere.
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIME)
            .pool_idle_timeout(IDLE_TIME);
        let roots = match address.is_tls {
            true => trust::roots(settings.ca_file.as_deref())?,
            false => RootCertStore::empty(),
        };
        builder = builder.tls_backend_preconfigured(trust::tls(roots)).https_only(address.is_tls);
        let http = builder.build().map_err(|error| Error::settings(chain(&error)))?;
        let (hosts, places) = (Hosts::new(address)?, Semaphore::new(settings.calls_max));
        Ok(Self { http, hosts, places, secrets })
    }

    /// A text of the cluster, for a message: short, without characters that control a terminal, and
    /// without the value of the `Authorization` header, which some servers echo. Every text of an
    /// answer that is put into an error comes from here.
    pub(crate) fn quoted(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret, "…");
        }
        match text.char_indices().nth(REPEATED_CHARS_MAX) {
            Some((end, _)) => format!("{}…", escaped(&text[..end])),
            None => escaped(text).to_string(),
        }
    }

    /// The state of each host, for metrics.
    pub fn hosts(&self) -> Vec<HostState> {
        self.hosts.states()
    }

    /// The number of calls that were made again with another host.
    pub fn repeated(&self) -> u64 {
        self.hosts.repeated()
    }

    /// Sends a request and reads the answer to it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when no host answered in time, [`Error::Refused`] when the cluster
    /// refused the request, and [`Error::Malformed`] when the answer is not what was expected.
    pub async fn ask<T: DeserializeOwned>(&self, request: &Request<'_>) -> Result<T> {
        let (host, answer) = self.send(request).await?;
        serde_json::from_slice(&answer.body).map_err(|error| Error::Malformed {
            host: self.hosts.name(host),
            what: format!(
                "not the JSON that {request} should give ({})",
                self.quoted(&error.to_string())
            ),
        })
    }

    /// Sends a request to one host after the other until one answers. A host that does not answer for
    /// [`PATIENCE`] is not waited for alone. A request that changes something is sent again only
    /// when it cannot have been received.
    async fn send(&self, request: &Request<'_>) -> Result<(usize, Answer)> {
        let deadline = Instant::now() + request.time_max;
        let place = timeout_at(deadline, self.places.acquire()).await;
        let _place = match place {
            Ok(place) => place.expect("the semaphore is never closed"),
            Err(_) => {
                let what = "too many other calls are waiting for the cluster".to_owned();
                return Err(Error::Unavailable { host: self.hosts.all(), what });
            }
        };
        let (mut hosts, mut last) = (self.hosts.in_turn().into_iter(), None);
        let mut running = Running::default();
        loop {
            let is_first = running.is_empty() && last.is_none();
            let next = if running.count() < ATTEMPTS_MAX { hosts.next() } else { None };
            if let Some(host) = next {
                if !is_first {
                    self.hosts.repeats();
                }
                running.add(host, self.send_to(self.hosts.at(host), request));
            }
            if running.is_empty() {
                break;
            }
            // A host that takes long may hang: another one is asked besides, and the first answer
            // counts.
            let is_last = !request.is_safe || running.count() == ATTEMPTS_MAX || hosts.len() == 0;
            let until = if is_last { deadline } else { deadline.min(Instant::now() + PATIENCE) };
            let Ok((host, time, sent)) = timeout_at(until, running.first_to_end()).await else {
                if until < deadline {
                    continue;
                }
                for (host, time) in running.left() {
                    self.hosts.failed(host, time);
                    let what = format!("no answer within {:?}", request.time_max);
                    last = Some(Error::Unavailable { host: self.hosts.name(host), what });
                }
                break;
            };
            let name = || self.hosts.name(host);
            match sent {
                Ok(answer) => {
                    self.hosts.worked(host, time);
                    // Those that were asked earlier and have not answered are slow or hang.
                    for (slow, waited) in running.left().filter(|(_, waited)| *waited > time) {
                        self.hosts.failed(slow, waited);
                    }
                    return self.accepted(name(), request, answer).map(|answer| (host, answer));
                }
                Err(Failure::Answer(what)) => {
                    self.hosts.failed(host, time);
                    return Err(Error::Malformed { host: name(), what });
                }
                Err(Failure::Connection { what, was_sent }) => {
                    self.hosts.failed(host, time);
                    last = Some(Error::Unavailable { host: name(), what });
                    if was_sent && !request.is_safe {
                        break;
                    }
                }
            }
        }
        Err(last.unwrap_or_else(|| Error::Unavailable {
            host: self.hosts.all(),
            what: "the address has no host".to_owned(),
        }))
    }

    /// The answer, if its status says that the request was carried out.
    fn accepted(&self, host: String, request: &Request<'_>, answer: Answer) -> Result<Answer> {
        let Answer { status, body } = answer;
        if (200..300).contains(&status) {
            return Ok(Answer { status, body });
        }
        let fault: Fault = serde_json::from_slice(&body).unwrap_or_default();
        let (kind, reason) = match fault.error {
            FaultCause::Object { r#type, reason } => (r#type, reason),
            FaultCause::Text(text) => (String::new(), text),
        };
        let (kind, reason) = (self.quoted(&kind), self.quoted(&reason));
        Err(match status {
            429 if is_block(&kind) => {
                Error::Refused { host, status, kind, reason, what: request.to_string() }
            }
            429 | 502..=504 => {
                Error::Unavailable { host, what: format!("status {status} {kind} {reason}") }
            }
            _ => Error::Refused { host, status, kind, reason, what: request.to_string() },
        })
    }

    async fn send_to(&self, host: &Host, request: &Request<'_>) -> Result<Answer, Failure> {
        let mut call = self.http.request(method(request), url(request, host.base()));
        if let Some((media_type, body)) = &request.body {
            let media_type = HeaderValue::from_static(media_type);
            call = call.header(CONTENT_TYPE, media_type).body(body.clone());
        }
        if let Some(id) = request.id {
            call = call.header("x-opaque-id", id);
        }
        let was_sent = |error: &reqwest::Error| !error.is_connect();
        let broken = |error: reqwest::Error| Failure::Connection {
            was_sent: was_sent(&error),
            what: self.quoted(&chain(&error.without_url())),
        };
        let mut answer = call.send().await.map_err(broken)?;
        let status = answer.status().as_u16();
        let is_fault = !answer.status().is_success();
        let bytes_max = if is_fault { FAULT_BYTES_MAX } else { request.answer_bytes_max };
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > bytes_max {
                if is_fault {
                    break;
                }
                let what = format!("longer than the {bytes_max} bytes that {request} may give");
                return Err(Failure::Answer(what));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, body })
    }
}

/// A call that got no whole answer.
enum Failure {
    /// The connection could not be made, or broke.
    Connection {
        what: String,
        /// The host may have received the request.
        was_sent: bool,
    },
    /// The answer breaks its bound.
    Answer(String),
}

fn method(request: &Request<'_>) -> Method {
    Method::from_bytes(request.method.as_bytes()).expect("the methods are those of HTTP")
}

/// The address of a request at a host.
fn url(request: &Request<'_>, base: &Url) -> Url {
    let mut url = base.clone();
    url.path_segments_mut().expect("a host has paths").clear().extend(&request.path);
    if !request.parameters.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.parameters);
    }
    url
}

/// An error with its causes.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        if !text.contains(&own) {
            text += ": ";
            text += &own;
        }
        cause = error.source();
    }
    text
}
