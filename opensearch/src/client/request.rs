//! A request to a cluster.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// The default time limit of a call. `ANSWER_BYTES_MAX` is the default maximum of the bytes of its
/// answer.
const TIME_MAX: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A request: a method, a path, perhaps a body, and the bounds of its answer.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The method of HTTP.
    pub method: &'static str,
    /// The segments of the path.
    pub path: Vec<&'a str>,
    /// The parameters of the query.
    pub parameters: Vec<(&'static str, String)>,
    /// The media type and the body.
    pub body: Option<(&'static str, bytes::Bytes)>,
    /// The id of the request that this program is answering. It is sent to the cluster, which
    /// writes it to its log.
    pub id: Option<&'a str>,
    /// The time in which the request must be answered.
    pub time_max: Duration,
    /// The most bytes of its answer.
    pub answer_bytes_max: usize,
    /// Whether the request changes nothing, so that it may be sent twice.
    pub is_safe: bool,
}

impl<'a> Request<'a> {
    /// A request that reads. `path` has the segments of its path.
    pub fn get(path: &[&'a str]) -> Self {
        Self::new("GET", path, true)
    }

    /// A question with a body.
    pub fn search(path: &[&'a str]) -> Self {
        Self::new("POST", path, true)
    }

    /// A request that changes something.
    pub fn post(path: &[&'a str]) -> Self {
        Self::new("POST", path, false)
    }

    /// A request that creates something.
    pub fn put(path: &[&'a str]) -> Self {
        Self::new("PUT", path, false)
    }

    /// A request that removes something.
    pub fn delete(path: &[&'a str]) -> Self {
        Self::new("DELETE", path, false)
    }

    fn new(method: &'static str, path: &[&'a str], is_safe: bool) -> Self {
        Self {
            method,
            path: path.to_vec(),
            parameters: Vec::new(),
            body: None,
            id: None,
            time_max: TIME_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
            is_safe,
        }
    }

    /// The same request with a parameter.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.parameters.push((name, value.to_string()));
        self
    }

    /// The same request with a body.
    ///
    /// # Panics
    /// When the body cannot be JSON, such as a map whose keys are lists.
    #[must_use]
    pub fn json(mut self, body: &impl Serialize) -> Self {
        let body = serde_json::to_vec(body).expect("the bodies of this crate are JSON");
        self.body = Some(("application/json", body.into()));
        self
    }

    /// The same request with a body of JSON lines.
    #[must_use]
    pub fn lines(mut self, body: impl Into<bytes::Bytes>) -> Self {
        self.body = Some(("application/x-ndjson", body.into()));
        self
    }

    /// The same request with another time limit.
    #[must_use]
    pub fn within(mut self, time_max: Duration) -> Self {
        self.time_max = time_max;
        self
    }

    /// The same request with another bound on its answer.
    #[must_use]
    pub fn up_to(mut self, answer_bytes_max: usize) -> Self {
        self.answer_bytes_max = answer_bytes_max;
        self
    }

    /// The same request, on behalf of a client's request to this program.
    #[must_use]
    pub fn on_behalf_of(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /{}", self.method, self.path.join("/"))
    }
}
