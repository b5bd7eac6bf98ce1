//! The checks of `/mcp` (contract 24.8 to 24.11). The routes that its tools ask have their own gates,
//! which check keys, rates and bounds again; here is what concerns the message itself.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use warp::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use warp::reply::Response;

use super::body::{Body, UnreadBody};
use super::call::{Head, Incoming};
use super::{panicked, reply};
use crate::callers::error::{ApiError, OpenError};
use crate::callers::{Caller, Peer};
use crate::request::Route;
use crate::state::State;
use crate::{request, wire};

/// The request headers that a web page may send here.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, x-service-apikey, x-openfigi-apikey, x-request-id, \
     mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
);

const OTHER_ORIGIN: &str =
    "Web pages of this origin may not call this server. Its operator allows them with --cors.";

/// Passes a message of an assistant on. `bytes_max` bounds it. `endpoint` gets the caller with the
/// origin of its connection, the headers and the message.
pub(crate) async fn assistants(
    state: &State,
    request: Incoming,
    bytes_max: usize,
    endpoint: impl AsyncFnOnce((Caller, Peer), HeaderMap, Body) -> Result<Response, ApiError>,
) -> Response {
    request::set_route(Route::Mcp);
    let Incoming { head: Head { peer, method, headers }, body } = request;
    let cors = &state.settings().cors;
    if let Some(mut reply) = cors.preflight(&method, &headers, &Method::POST) {
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        cors.add_to(&headers, &mut reply);
        return reply;
    }
    let answered = async {
        if cors.forbids(&headers) && !is_of_this_machine(&headers) {
            return Err(OpenError::Forbidden(OTHER_ORIGIN));
        }
        if method != Method::POST {
            return Err(ApiError::InvalidMethod { allow: "POST" }.into());
        }
        let key = state.keys().admit(&headers)?.map(|key| {
            request::set_key(key.name.clone());
            key.id
        });
        let trust_proxy = state.settings().trust_proxy;
        let caller = || Caller::without_key(peer, &headers, trust_proxy);
        let caller = key.map_or_else(caller, Caller::Key);
        let bytes_announced = headers.get(header::CONTENT_LENGTH);
        let body = UnreadBody {
            stream: body,
            bytes_max: bytes_max.min(state.limits().per_request.body_bytes_max),
            bytes_announced: bytes_announced.and_then(|bytes| bytes.to_str().ok()?.parse().ok()),
            wait: state.settings().body_timeout,
            share: state.bodies().share(caller),
        };
        let body = body.read().await?;
        Ok(endpoint((caller, peer), headers.clone(), body).await?)
    };
    let answer = AssertUnwindSafe(answered).catch_unwind().await;
    let mut reply = match answer.unwrap_or_else(|_panic| Err(panicked().into())) {
        Ok(reply) => reply,
        Err(error) => refusal(error),
    };
    cors.add_to(&headers, &mut reply);
    reply
}

/// Whether a page of this server sent the request, opened by a name that only this machine has. A page
/// whose own name was made to lead here has that name as its host and as its origin.
fn is_of_this_machine(headers: &HeaderMap) -> bool {
    const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let (Some(host), Some(origin)) = (text(header::HOST), text(header::ORIGIN)) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let of_origin = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    NAMES.contains(&name) && of_origin == Some(host)
}

fn refusal(error: OpenError) -> Response {
    let (status, text): (StatusCode, _) = match error.json() {
        Ok(refused) => refused,
        Err(line) => return line.into(),
    };
    let mut reply = Response::new(wire::error(&text).into());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
    reply
}
