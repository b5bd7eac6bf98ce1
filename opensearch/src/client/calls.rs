//! The client of a cluster: every call has a deadline, every answer has a maximum size, and a host
//! that fails is left alone for a while.

use std::time::Duration;

use figdex_io::{ClusterAddress, escaped};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::error::is_block;
use super::hosts::Hosts;
use super::running::Running;
use super::{CallError, CallResult, Failure, HostState, Reply, Request, Wire};

/// The most characters of a text from the cluster that a message repeats.
const REPEATED_CHARS_MAX: usize = 300;

/// The time after which a second host gets the same question.
const SECOND_HOST_WAIT: Duration = Duration::from_secs(3);

/// The most hosts that work on one question at the same time.
const ATTEMPTS_MAX: usize = 2;

/// A client of one cluster, shared by all callers.
pub struct Client {
    wire: Box<dyn Wire>,
    hosts: Hosts,
    places: Semaphore,
    /// The texts that no message repeats.
    secrets: Vec<String>,
}

/// The fault in an answer, in the form of OpenSearch.
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
    /// A client that sends its requests over a wire. No message repeats the secrets.
    pub fn over(
        wire: Box<dyn Wire>,
        secrets: Vec<String>,
        address: &ClusterAddress,
        calls_max: usize,
    ) -> Self {
        Self { wire, hosts: Hosts::new(address), places: Semaphore::new(calls_max), secrets }
    }

    /// A text of the cluster, for a message: short, without characters that control a terminal, and
    /// without the value of the `Authorization` header, which some servers echo. Every text of an
    /// answer passes here before it becomes part of an error.
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

    /// The number of calls that were repeated with another host.
    pub fn repeated(&self) -> u64 {
        self.hosts.repeated()
    }

    /// Sends a request and reads the answer to it.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] when no host answered in time, [`CallError::Refused`] when the cluster
    /// refused the request, and [`CallError::Malformed`] when the answer is not what was expected.
    pub async fn ask<T: DeserializeOwned>(&self, request: &Request<'_>) -> CallResult<T> {
        let (host, answer) = self.send(request).await?;
        serde_json::from_slice(&answer.body).map_err(|error| CallError::Malformed {
            host: self.hosts.name(host),
            what: format!(
                "not the JSON that {request} should give ({})",
                self.quoted(&error.to_string())
            ),
        })
    }

    /// Sends a request to one host after the other until one answers. If a host has not answered
    /// after [`SECOND_HOST_WAIT`], the next host gets the request too, unless it changes something.
    /// Such a request is sent again only when it cannot have been received.
    async fn send(&self, request: &Request<'_>) -> CallResult<(usize, Reply)> {
        let deadline = Instant::now() + request.time_max;
        let place = timeout_at(deadline, self.places.acquire()).await;
        let _place = match place {
            Ok(place) => place.expect("the semaphore is never closed"),
            Err(_) => {
                let what = "too many other calls are waiting for the cluster".to_owned();
                return Err(CallError::Unavailable { host: self.hosts.all(), what });
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
                running.add(host, self.wire.send(host, request));
            }
            if running.is_empty() {
                break;
            }
            // A slow host may hang. So another host is asked too, and the first answer counts.
            let is_last = !request.is_safe || running.count() == ATTEMPTS_MAX || hosts.len() == 0;
            let until =
                if is_last { deadline } else { deadline.min(Instant::now() + SECOND_HOST_WAIT) };
            let Ok((host, time, sent)) = timeout_at(until, running.first_to_end()).await else {
                if until < deadline {
                    continue;
                }
                for (host, time) in running.left() {
                    self.hosts.failed(host, time);
                    let what = format!("no answer within {:?}", request.time_max);
                    last = Some(CallError::Unavailable { host: self.hosts.name(host), what });
                }
                break;
            };
            let name = || self.hosts.name(host);
            match sent {
                Ok(answer) => {
                    self.hosts.worked(host, time);
                    // The hosts that were asked earlier and have not answered are slow or hang.
                    for (slow, waited) in running.left().filter(|(_, waited)| *waited > time) {
                        self.hosts.failed(slow, waited);
                    }
                    return self.accepted(name(), request, answer).map(|answer| (host, answer));
                }
                Err(Failure::Answer(what)) => {
                    self.hosts.failed(host, time);
                    return Err(CallError::Malformed { host: name(), what });
                }
                Err(Failure::Connection { what, was_sent }) => {
                    self.hosts.failed(host, time);
                    last = Some(CallError::Unavailable { host: name(), what: self.quoted(&what) });
                    if was_sent && !request.is_safe {
                        break;
                    }
                }
            }
        }
        Err(last.unwrap_or_else(|| CallError::Unavailable {
            host: self.hosts.all(),
            what: "the address has no host".to_owned(),
        }))
    }

    /// The answer, if its status says that the request was carried out.
    fn accepted(&self, host: String, request: &Request<'_>, answer: Reply) -> CallResult<Reply> {
        let Reply { status, body } = answer;
        if (200..300).contains(&status) {
            return Ok(Reply { status, body });
        }
        let fault: Fault = serde_json::from_slice(&body).unwrap_or_default();
        let (kind, reason) = match fault.error {
            FaultCause::Object { r#type, reason } => (r#type, reason),
            FaultCause::Text(text) => (String::new(), text),
        };
        let (kind, reason) = (self.quoted(&kind), self.quoted(&reason));
        Err(match status {
            429 if is_block(&kind) => {
                CallError::Refused { host, status, kind, reason, what: request.to_string() }
            }
            429 | 502..=504 => {
                CallError::Unavailable { host, what: format!("status {status} {kind} {reason}") }
            }
            _ => CallError::Refused { host, status, kind, reason, what: request.to_string() },
        })
    }
}
