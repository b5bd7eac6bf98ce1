//! The server over the small index, without sockets: requests pass through the real routes. A
//! panic ends the run, because libFuzzer's hook runs before the server can contain it.

use std::sync::{Arc, LazyLock};

use figdex::config::Settings;
use figdex::{Observer, State};
use figdex_index::Catalogue;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use warp::filters::BoxedFilter;
use warp::http::{HeaderName, HeaderValue};
use warp::reply::Response;

static SERVER: LazyLock<Server> = LazyLock::new(Server::start);

struct Server {
    service: BoxedFilter<(Response,)>,
    observer: Observer,
    runtime: Runtime,
    _index: TempDir,
}

/// An answer of the server.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

impl Server {
    fn start() -> Self {
        let index = crate::index::build();
        let catalogue = Catalogue::open(index.path()).expect("a new index is whole");
        // A trusted proxy, so that `X-Forwarded-For` is read too.
        let settings = Settings { trust_proxy: true, jobs_per_request: 100, ..Settings::default() };
        let state = Arc::new(State::new(catalogue, settings));
        Self {
            service: figdex::service(state.clone()),
            observer: state.observer(),
            runtime: Builder::new_current_thread().enable_all().build().expect("a runtime"),
            _index: index,
        }
    }
}

/// The routes, to serve a connection.
pub fn service() -> BoxedFilter<(Response,)> {
    SERVER.service.clone()
}

/// The observer of requests to these routes.
pub fn observer() -> Observer {
    SERVER.observer.clone()
}

/// Posts a body with a Content-Type of JSON.
pub fn post(path: &str, body: &[u8]) -> Answer {
    let kind = (HeaderName::from_static("content-type"), HeaderValue::from_static("text/json"));
    ask("POST", path, &[kind], body)
}

/// Sends a request.
///
/// # Panics
/// When `path` is not a valid URI, and when the status is 500 or more.
pub fn ask(method: &str, path: &str, headers: &[(HeaderName, HeaderValue)], body: &[u8]) -> Answer {
    let request = warp::test::request().method(method).path(path).body(body);
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(name, value.clone()));
    let reply = SERVER.runtime.block_on(request.reply(&SERVER.service));
    let answer = Answer { status: reply.status().as_u16(), body: reply.body().to_vec() };
    assert!(answer.status < 500, "{path} {}", answer.text());
    answer
}

impl Answer {
    /// The body as text.
    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).expect("an answer is UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("an answer is JSON")
    }
}
