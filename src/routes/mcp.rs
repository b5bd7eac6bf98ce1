//! `POST /mcp`: the tools for assistants (contract 24), over the routes of this server.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, HeaderValue, Method, Request, header};
use warp::reply::Response;

use super::with;
use crate::callers::auth::HEADERS;
use crate::callers::error::ApiError;
use crate::callers::{Caller, Peer};
use crate::gate;
use crate::gate::call::{Incoming, incoming};
use crate::mcp::{
    Assistant, MESSAGE_BYTES_MAX, REPLY_BYTES_MAX, REPLY_TOO_LONG, RouteReply, RouteRequest, Routes,
};
use crate::request::{self, on_behalf_of};
use crate::state::State;

/// The header in which a trusted proxy names its client.
const FORWARDED: &str = "x-forwarded-for";

/// The route, over the routes that answer questions.
pub(super) fn route(
    state: Arc<State>,
    answers: BoxedFilter<(Response,)>,
) -> BoxedFilter<(Response,)> {
    warp::path!("mcp").and(incoming()).and(with(state)).and(with(answers)).then(handle).boxed()
}

async fn handle(
    request: Incoming,
    state: Arc<State>,
    answers: BoxedFilter<(Response,)>,
) -> Response {
    gate::assistants(&state, request, MESSAGE_BYTES_MAX, async |(caller, peer), headers, body| {
        let mut headers = headers;
        // The gate has looked at the host. The library wants one, also of HTTP/1.0.
        headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        let routes = Own {
            answers,
            state: state.clone(),
            caller,
            peer,
            headers: Arc::new(identity(&headers)),
            request: request::current(),
        };
        let message = String::from_utf8(body.to_vec()).map_err(|_| ApiError::BadRequest)?;
        let mut request = Request::new(message);
        *request.method_mut() = Method::POST;
        *request.headers_mut() = headers;
        // Stateless: each message is answered by itself, and the answer is JSON. Hosts and origins
        // are checked by the gate.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MESSAGE_BYTES_MAX)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let sessions = Arc::new(NeverSessionManager::default());
        let service =
            StreamableHttpService::new(move || Ok(Assistant(routes.clone())), sessions, config);
        let (head, answer) = service.handle(request).await.into_parts();
        let answer = bytes_of(answer, REPLY_BYTES_MAX).await.ok_or(ApiError::Internal)?;
        let mut reply = Response::new(answer.into());
        *reply.status_mut() = head.status;
        *reply.headers_mut() = head.headers;
        Ok(reply)
    })
    .await
}

/// The tools over the routes of a state, for the caller of standard input.
pub(crate) fn assistant(state: Arc<State>) -> Assistant<Own> {
    Assistant(Own {
        answers: super::answers(state.clone()),
        state,
        caller: Caller::Socket,
        peer: Peer::Socket,
        headers: Arc::default(),
        request: None,
    })
}

/// The headers that say who asks: the key, and the client behind a proxy.
fn identity(headers: &HeaderMap) -> HeaderMap {
    let mut identity = HeaderMap::new();
    for name in HEADERS.into_iter().chain([FORWARDED]) {
        for value in headers.get_all(name) {
            identity.append(name, value.clone());
        }
    }
    identity
}

/// The routes of this program, asked on behalf of a caller. The gates of the routes check its key
/// and count its requests as if it had sent them.
#[derive(Clone)]
pub(crate) struct Own {
    answers: BoxedFilter<(Response,)>,
    state: Arc<State>,
    caller: Caller,
    peer: Peer,
    headers: Arc<HeaderMap>,
    /// The request of the assistant, which the log and the metrics have.
    request: Option<Arc<request::Request>>,
}

impl Routes for Own {
    async fn ask(&self, asked: RouteRequest) -> Result<RouteReply, String> {
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        let RouteRequest { path, body } = asked;
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let mut request =
            Request::new(body.map(String::from_utf8).and_then(Result::ok).unwrap_or_default());
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|_| "The path could not be read.")?;
        *request.headers_mut() = HeaderMap::clone(&self.headers);
        request.headers_mut().insert(header::CONTENT_TYPE, JSON);
        request.headers_mut().insert(header::ACCEPT, JSON);
        request.extensions_mut().insert(self.peer);
        let service = TowerToHyperService::new(warp::service(self.answers.clone()));
        // The SDK calls a tool in a separate task, where the assistant's request is not current.
        // warp also needs that: it answers one request in a task.
        let Ok(reply) = on_behalf_of(self.request.clone(), service.call(request)).await;
        let header = |name: &str| reply.headers().get(name)?.to_str().ok().map(str::to_owned);
        let status = reply.status().as_u16();
        let retry_after = header("retry-after").and_then(|seconds| seconds.parse().ok());
        let unknown_values = header("figdex-unknown-values");
        let not_shown = header("figdex-not-shown");
        let body = bytes_of(reply.into_body(), REPLY_BYTES_MAX).await.ok_or(REPLY_TOO_LONG)?;
        Ok(RouteReply { status, retry_after, unknown_values, not_shown, body })
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let done = self.state.pools().answers.run(self.caller, work).await;
        done.map_err(|_| "The server is busy. Send the call again in a few seconds.".to_owned())
    }
}

/// The bytes of an answer; `None` when it has more than `bytes_max`, or breaks off.
async fn bytes_of<B>(mut body: B, bytes_max: usize) -> Option<Vec<u8>>
where
    B: hyper::body::Body<Data = bytes::Bytes> + Unpin,
{
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            return None;
        }
        bytes.extend_from_slice(&data);
    }
    Some(bytes)
}
