//! The two servers: Figdex, as `figdex serve --no-limits` runs it, and the floor. Each has a
//! separate runtime and the same accept loop.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use figdex::callers::auth::KeyRing;
use figdex::config::Settings;
use figdex::{ConnectionBounds, Observer, State, serve, service};
use figdex_index::Catalogue;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, HeaderName, HeaderValue};
use warp::reply::Response;

use crate::client;

/// The maximum number of jobs of a request. Here it also applies to requests without a key.
const JOBS_PER_REQUEST: usize = 100;

/// A service, and the observer of its requests.
type Service = (BoxedFilter<(Response,)>, Observer);

/// A runtime for servers, as in the program.
pub(crate) struct Host {
    runtime: Runtime,
}

/// A server that stops when this is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Host {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        Ok(Self { runtime })
    }

    pub(crate) fn serve(&self, (service, observer): Service) -> anyhow::Result<Served> {
        let (stop, stopped) = oneshot::channel();
        let listener = self
            .runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .context("listening on 127.0.0.1")?;
        let address = listener.local_addr()?;
        self.runtime.spawn(serve(
            listener,
            service,
            observer,
            ConnectionBounds::default(),
            async {
                stopped.await.ok();
            },
        ));
        Ok(Served { address, _stop: stop })
    }
}

/// The service of Figdex over this catalogue.
pub(crate) fn figdex(catalogue: Catalogue) -> Service {
    figdex_with(catalogue, Arc::default())
}

/// As [`figdex`], with these keys.
pub(crate) fn figdex_with(catalogue: Catalogue, keys: Arc<KeyRing>) -> Service {
    let settings = Settings {
        jobs_per_request: JOBS_PER_REQUEST,
        jobs_per_request_with_key: JOBS_PER_REQUEST,
        ..Settings::default()
    };
    let state = Arc::new(State::new(catalogue, settings).with_keys(keys));
    (service(state.clone()), state.observer())
}

/// The floor: reads the whole body of a request, and answers `body_bytes` bytes that begin with
/// `prefix`, with the headers of an answer of Figdex.
pub(crate) fn floor(
    prefix: &[u8],
    body_bytes: usize,
    headers_of_figdex: &str,
) -> anyhow::Result<Service> {
    let mut body = prefix.to_vec();
    body.resize(body_bytes, b' ');
    let body = Bytes::from(body);
    let mut headers = HeaderMap::new();
    for (name, value) in client::fields(headers_of_figdex) {
        // hyper adds these two itself.
        if !matches!(name, "content-length" | "date") {
            headers.insert(name.parse::<HeaderName>()?, HeaderValue::from_str(value)?);
        }
    }
    let mut answer = warp::http::Response::new(body);
    *answer.headers_mut() = headers;
    Ok((constant(answer), Observer::none()))
}

/// A service that reads the whole body of each request and gives the same answer.
pub(crate) fn constant(answer: warp::http::Response<Bytes>) -> BoxedFilter<(Response,)> {
    let (parts, body) = answer.into_parts();
    let reply = move |_read: Bytes| {
        let mut reply = Response::new(body.clone().into());
        reply.headers_mut().clone_from(&parts.headers);
        reply
    };
    warp::body::bytes().map(reply).boxed()
}
