//! The checks that a request passes before its endpoint sees it. [`pass`] is the gate of the
//! contract's endpoints, and [`list`] that of lists. [`open`] is the gate of `/schema` and of other
//! routes outside the contract, such as `/suggest`; these need fewer checks.
//!
//! The routes check the path before the gate, and the endpoint checks the body after it. Together,
//! all checks are in the order of contract 13.12. Only the check of the path comes before the
//! answer to a preflight of `--cors` (contract 15.2).

#[cfg(feature = "mcp")]
mod assistants;
mod body;
pub(crate) mod call;
mod changes;
mod file_body;
mod media;
mod parquet;
pub(crate) mod reply;

use std::panic::AssertUnwindSafe;

use figdex_index::{IdType, Visible};
use futures_util::FutureExt as _;
use tokio::time::Instant;
use warp::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use warp::reply::Response;

#[cfg(feature = "mcp")]
pub(crate) use self::assistants::assistants;
use self::body::{BodyStream, UnreadBody};
use self::call::{Admitted, Call, Head, Incoming, JobsOfList};
pub(crate) use self::changes::{ChangesPage, changes};
use self::media::{accepts_json, form_of_answer, form_of_body, is_json};
pub(crate) use self::parquet::{ParquetAnswer, parquet};
use crate::callers::Caller;
use crate::callers::auth::HEADERS;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::standing::Standing;
use crate::callers::limits::{Limiter, Span};
use crate::callers::version::Version;
use crate::http::pieces::Pieces;
use crate::request::Route;
use crate::state::{Limits, State};
use crate::wire::Token;
use crate::wire::list::Form;
use crate::{request, wire};

/// An endpoint of the contract, in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
    /// A list, which counts with the mapping of v3 (contract 17.8).
    List,
    /// A list in the query of a URL, which may name the form of its answer (contract 21.10).
    ListByUrl {
        has_form: bool,
    },
}

impl Action {
    /// The endpoint's only method (contract 2.1).
    fn method(self) -> Method {
        match self {
            Self::Values(_) | Self::ListByUrl { .. } => Method::GET,
            Self::Mapping(_) | Self::Search(_) | Self::Filter(_) | Self::List => Method::POST,
        }
    }

    fn version(self) -> Version {
        match self {
            Self::Mapping(version)
            | Self::Values(version)
            | Self::Search(version)
            | Self::Filter(version) => version,
            Self::List | Self::ListByUrl { .. } => Version::V3,
        }
    }

    fn route(self) -> Route {
        match self {
            Self::Mapping(version) => Route::Mapping(version),
            Self::Values(version) => Route::Values(version),
            Self::Search(version) => Route::Search(version),
            Self::Filter(version) => Route::Filter(version),
            Self::List | Self::ListByUrl { .. } => Route::Resolve,
        }
    }

    /// The window that counts the request, unless it counts in the page's window. The total of the
    /// version counts it too.
    fn span(self) -> Span {
        match self {
            Self::Mapping(_) | Self::Values(_) | Self::List | Self::ListByUrl { .. } => {
                Span::Mapping
            }
            Self::Search(_) | Self::Filter(_) => Span::Search,
        }
    }
}

/// Passes a request on to an endpoint of the contract, whose answer is JSON. The caller always gets
/// an answer: a panic is a 500.
pub(crate) async fn pass<J: Into<Pieces>>(
    state: &State,
    request: Incoming,
    action: Action,
    endpoint: impl AsyncFnOnce(Call) -> Result<J, ApiError>,
) -> Response {
    request::set_route(action.route());
    let cors = &state.settings().cors;
    let Incoming { head, body } = request;
    let mut reply = match cors.preflight(&head.method, &head.headers, &action.method()) {
        Some(reply) => reply,
        None => answer(state, &head, body, action, endpoint).await,
    };
    cors.add_to(&head.headers, &mut reply);
    reply
}

async fn answer<J: Into<Pieces>>(
    state: &State,
    head: &Head,
    body: BodyStream,
    action: Action,
    endpoint: impl AsyncFnOnce(Call) -> Result<J, ApiError>,
) -> Response {
    let mut counted = None;
    let answered = async {
        let call = admit(state, head, body, action, &mut counted)?;
        let caller = call.admitted.caller;
        let json = endpoint(call).await?;
        reply::json(state, caller, &head.headers, json).await
    };
    let answer = AssertUnwindSafe(answered).catch_unwind().await;
    with_rate_headers(answer.unwrap_or_else(|_panic| Err(panicked())), counted)
}

/// The answer to a list.
pub(crate) struct Listed {
    pub(crate) results: Pieces,
    /// The number of the generation that the answers come from.
    pub(crate) generation: u64,
    /// The token of that generation for this caller.
    pub(crate) token: Token,
    /// The state of the tightest window that counted the list. `None` if the list counts as one
    /// request, or if no window counts it.
    pub(crate) counted: Option<Standing>,
    /// The jobs that such a list may have.
    pub(crate) jobs: JobsOfList,
    /// The values of its steps that are outside the sets of their properties, for a header.
    pub(crate) unknown_values: Option<HeaderValue>,
    /// The idTypes among its fields that the caller may not see, for a header.
    pub(crate) not_shown: Option<HeaderValue>,
}

/// The forms of a list's body and of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forms {
    pub(crate) body: Form,
    pub(crate) answer: Form,
}

/// The number of the generation that answered a list.
const GENERATION: HeaderName = HeaderName::from_static("figdex-generation");

/// The token of the generation that answered a list, or up to which the changes of a last page go
/// (contract 19.2).
const TOKEN: HeaderName = HeaderName::from_static("figdex-token");

/// The number of jobs that a list may have, and the number that counts as one request (contract
/// 17.8).
const JOBS_PER_LIST: HeaderName = HeaderName::from_static("figdex-jobs-per-list");
const JOBS_PER_REQUEST: HeaderName = HeaderName::from_static("figdex-jobs-per-request");

/// The values of the steps that are outside the sets of their properties (contract 17.17).
const UNKNOWN_VALUES: HeaderName = HeaderName::from_static("figdex-unknown-values");

/// The idTypes that were asked for and that the caller may not see (contract 23.5).
const NOT_SHOWN: HeaderName = HeaderName::from_static("figdex-not-shown");

/// The header [`NOT_SHOWN`]; `None` when the caller may see all that was asked for.
pub(crate) fn not_shown(
    visible: Visible,
    asked: impl IntoIterator<Item = IdType>,
) -> Option<HeaderValue> {
    let hidden = asked.into_iter().filter(|id_type| !visible.has(*id_type));
    let mut names: Vec<&str> = Vec::new();
    for name in hidden.map(IdType::name) {
        // Two spellings of an idType may be asked for.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    HeaderValue::try_from(names.join(", ")).ok().filter(|text| !text.is_empty())
}

/// An answer that shows identifiers, with the note about those that the caller may not see.
pub(crate) fn noting_hidden(mut reply: Response, visible: Visible) -> Response {
    if reply.status() == StatusCode::OK
        && let Some(names) = not_shown(visible, visible.hidden())
    {
        reply.headers_mut().insert(NOT_SHOWN, names);
    }
    reply
}

/// The caller of a route that gives whole rows away, and the idTypes that it may see. Where there are
/// keys, it needs one.
///
/// # Errors
/// [`ApiError::InvalidApiKey`] without a key where there are keys, and with one that is not valid.
fn with_key(state: &State, head: &Head) -> Result<(Caller, Visible), ApiError> {
    let settings = state.settings();
    let key = state.keys().admit(&head.headers)?;
    match &key {
        Some(key) => request::set_key(key.name.clone()),
        None if state.keys().file().is_some() => return Err(ApiError::InvalidApiKey),
        None => {}
    }
    let visible = settings.visible(key.as_ref().is_some_and(|key| key.is_internal));
    let caller = match key {
        Some(key) => Caller::Key(key.id),
        None => Caller::without_key(head.peer, &head.headers, settings.trust_proxy),
    };
    Ok((caller, visible))
}

/// The idTypes that the caller of a route outside of the contract may see. These routes need no
/// key, so one that is not valid is ignored (contract 23.4).
pub(crate) fn visible(state: &State, head: &Head) -> Visible {
    let key = state.keys().admit(&head.headers).ok().flatten().filter(|key| key.is_internal);
    if let Some(key) = &key {
        request::set_key(key.name.clone());
    }
    state.settings().visible(key.is_some())
}

/// Passes a list on to its endpoint. The checks are those of a mapping request of v3, but more
/// media types are allowed. The answer has the form that the caller accepts. Errors without a line
/// in the contract's table are JSON (contract 17.9).
///
/// A list in a URL has no body. `form` is the form that the URL names; without one, that of `Accept`,
/// among equals CSV. No cache keeps the answer.
pub(crate) async fn list(
    state: &State,
    request: Incoming,
    form: Option<Form>,
    endpoint: impl AsyncFnOnce(Call, Forms) -> Result<Listed, OpenError>,
) -> Response {
    request::set_route(Action::List.route());
    let cors = &state.settings().cors;
    let is_read = request.is_read();
    let Incoming { head, body } = request;
    let mut reply = match cors.preflight_of(&head.method, &head.headers, "GET, POST") {
        Some(reply) => reply,
        None => {
            let mut counted = None;
            let answered = list_answer(state, &head, body, &mut counted, form, endpoint);
            let answer = AssertUnwindSafe(answered).catch_unwind().await;
            with_rate_headers(answer.unwrap_or_else(|_panic| Err(panicked())), counted)
        }
    };
    if is_read {
        reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    cors.add_to(&head.headers, &mut reply);
    reply
}

/// Whether a method only reads.
fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

impl Incoming {
    /// Whether the request only reads: its list is in its URL.
    pub(crate) fn is_read(&self) -> bool {
        is_read(&self.head.method)
    }
}

async fn list_answer(
    state: &State,
    head: &Head,
    body: BodyStream,
    counted: &mut Option<Standing>,
    form: Option<Form>,
    endpoint: impl AsyncFnOnce(Call, Forms) -> Result<Listed, OpenError>,
) -> Result<Response, ApiError> {
    let is_read = is_read(&head.method);
    let action = match is_read {
        true => Action::ListByUrl { has_form: form.is_some() },
        false => Action::List,
    };
    let call = match admit(state, head, body, action, counted) {
        Ok(call) => call,
        // The table's line for this error names only JSON.
        Err(ApiError::InvalidContentType) => return Ok(unreadable_list()),
        Err(error) => return Err(error),
    };
    let caller = call.admitted.caller;
    let per_list = call.admitted.list_jobs(false).per_list;
    let forms = if is_read {
        let of_header = || form_of_answer(&head.headers, Form::Csv);
        Forms { body: Form::Ndjson, answer: form.or_else(of_header).unwrap_or(Form::Csv) }
    } else {
        let body = form_of_body(&head.headers).unwrap_or(Form::Json);
        Forms { body, answer: form_of_answer(&head.headers, body).unwrap_or(body) }
    };
    let answer = forms.answer;
    let answered = match endpoint(call, forms).await {
        Ok(listed) => {
            let Listed { results, generation, token, counted: of_all, jobs, .. } = listed;
            let notes = (listed.unknown_values, listed.not_shown);
            *counted = of_all.or(*counted);
            let media_type = reply::media_type(answer);
            let reply = reply::packable(state, caller, &head.headers, results, media_type).await;
            reply.map(|reply| (reply, (generation, token), jobs, notes)).map_err(OpenError::Line)
        }
        Err(error) => Err(error),
    };
    match answered {
        Ok((mut reply, (generation, token), jobs, (unknown_values, not_shown))) => {
            let headers = reply.headers_mut();
            headers.insert(GENERATION, generation.into());
            headers.insert(TOKEN, header_of(&token));
            headers.insert(JOBS_PER_LIST, jobs.per_list.into());
            if let Some(jobs) = jobs.per_request {
                headers.insert(JOBS_PER_REQUEST, jobs.into());
            }
            if let Some(values) = unknown_values {
                headers.insert(UNKNOWN_VALUES, values);
            }
            if let Some(names) = not_shown {
                headers.insert(NOT_SHOWN, names);
            }
            Ok(reply)
        }
        Err(error) => {
            let per_list = match &error {
                OpenError::TooLarge { jobs_per_list, .. } => *jobs_per_list,
                _ => per_list,
            };
            let (status, text) = error.json()?;
            let mut reply = reply::json(state, caller, &head.headers, wire::error(&text)).await?;
            *reply.status_mut() = status;
            if status == StatusCode::PAYLOAD_TOO_LARGE {
                reply.headers_mut().insert(JOBS_PER_LIST, per_list.into());
            }
            Ok(reply)
        }
    }
}

/// A header with a text that a program made: digits and letters.
fn header_of(text: &impl ToString) -> HeaderValue {
    HeaderValue::try_from(text.to_string()).expect("digits and letters are a header")
}

/// The 415 for a list: names the types that its body may have.
fn unreadable_list() -> Response {
    const TEXT: &str = "Invalid Content-Type. Should be application/json, text/json, text/csv or \
                        application/x-ndjson, with no charset other than UTF-8.";
    let mut reply = Response::new(wire::error(TEXT).into());
    *reply.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    reply.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
    reply
}

/// The error for a request whose handler panicked.
fn panicked() -> ApiError {
    tracing::error!(request_id = %request::id(), "a request made its handler panic");
    ApiError::Internal
}

/// Makes the checks in their order. `counted` is set as soon as the request is counted.
fn admit(
    state: &State,
    head: &Head,
    body: BodyStream,
    action: Action,
    counted: &mut Option<Standing>,
) -> Result<Call, ApiError> {
    let (settings, method, headers) = (state.settings(), action.method(), &head.headers);
    let is_right = match action {
        Action::ListByUrl { .. } => is_read(&head.method),
        _ => head.method == method,
    };
    if !is_right {
        let allow = match action {
            Action::List | Action::ListByUrl { .. } => "GET, HEAD, POST",
            _ if method == Method::GET => "GET",
            _ => "POST",
        };
        return Err(ApiError::InvalidMethod { allow });
    }
    let key = state.keys().admit(headers)?;
    if let Some(key) = &key {
        request::set_key(key.name.clone());
    }
    let visible = settings.visible(key.as_ref().is_some_and(|key| key.is_internal));
    let key = key.map(|key| key.id);
    let (is_accepted, is_readable) = match action {
        Action::List => {
            (form_of_answer(headers, Form::Json).is_some(), form_of_body(headers).is_some())
        }
        Action::ListByUrl { has_form } => {
            (has_form || form_of_answer(headers, Form::Csv).is_some(), true)
        }
        _ => (accepts_json(headers), method != Method::POST || is_json(headers)),
    };
    if !is_accepted {
        return Err(ApiError::UnsupportedAccept);
    }
    if !is_readable {
        return Err(ApiError::InvalidContentType);
    }
    let caller = key
        .map_or_else(|| Caller::without_key(head.peer, headers, settings.trust_proxy), Caller::Key);
    let Limits { limiter, per_request } = state.limits();
    let counted_by = match key.is_none() && settings.page_window && is_of_page(headers) {
        // The windows of an address are kept among those of v3.
        true => (Version::V3, Span::Page),
        false => (action.version(), action.span()),
    };
    *counted = count(limiter.as_deref(), caller, counted_by.0, counted_by.1)?;
    let body_bytes_max = per_request.body_bytes_max;
    let (jobs_max, list_jobs_max) = per_request.jobs(key.is_some());
    let (wait, share) = (settings.body_timeout, state.bodies().share(caller));
    let bytes_announced = headers.get(header::CONTENT_LENGTH);
    let bytes_announced = bytes_announced.and_then(|bytes| bytes.to_str().ok()?.parse().ok());
    Ok(Call {
        admitted: Admitted { jobs_max, list_jobs_max, caller, visible, counted_by, limiter },
        body: UnreadBody { stream: body, bytes_max: body_bytes_max, bytes_announced, wait, share },
    })
}

/// Whether a browser says that a page of this server sent the request (Fetch Metadata, W3C). A page
/// of another origin cannot say so, but any other program can.
fn is_of_page(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin")
}

/// Counts a request in the caller's windows.
///
/// # Errors
/// [`ApiError::RateLimitReached`] when one of the windows is full.
fn count(
    limiter: Option<&Limiter>,
    caller: Caller,
    version: Version,
    span: Span,
) -> Result<Option<Standing>, ApiError> {
    let Some(limiter) = limiter else { return Ok(None) };
    let counted = limiter.admit(caller, version, span, Instant::now().into_std());
    counted.map_err(ApiError::RateLimitReached)
}

/// Adds the rate-limit headers to the answer if its request was counted.
fn with_rate_headers(answer: Result<Response, ApiError>, counted: Option<Standing>) -> Response {
    // A 429 has them already: they describe the full window (contract 14.13).
    let is_refused = matches!(answer, Err(ApiError::RateLimitReached(_)));
    let mut reply = answer.unwrap_or_else(Response::from);
    if let Some(standing) = counted.filter(|_| !is_refused) {
        standing.add_to(reply.headers_mut());
    }
    reply
}

/// Answers a request to `/schema` or to a route outside the contract. Web pages of allowed origins
/// may read the answer too. `answer` gives the JSON. With a `span`, the request counts in that
/// window of its address, with a key or without (contract 16.4).
pub(crate) async fn open(
    state: &State,
    head: Head,
    route: Route,
    span: Option<Span>,
    answer: impl AsyncFnOnce(Caller) -> Result<Vec<u8>, OpenError>,
) -> Response {
    let Head { peer, method, headers } = head;
    let settings = state.settings();
    let differs_by_key = settings.visible(true) != settings.visible(false);
    let readable = read_only(route, &method);
    let cors = &state.settings().cors;
    let mut reply = match cors.preflight(&method, &headers, &Method::GET) {
        Some(reply) => reply,
        None => {
            let mut counted = None;
            let answered = async {
                readable?;
                let caller = Caller::without_key(peer, &headers, state.settings().trust_proxy);
                if let Some(span) = span {
                    // The windows of these routes are kept among those of v3.
                    counted = count(state.limiter().as_deref(), caller, Version::V3, span)?;
                }
                let (status, json) = match answer(caller).await {
                    Ok(json) => (StatusCode::OK, json),
                    Err(error) => {
                        let (status, text) = error.json()?;
                        (status, wire::error(&text))
                    }
                };
                let mut reply = reply::json(state, caller, &headers, json).await?;
                *reply.status_mut() = status;
                Ok(reply)
            };
            let answer = answered.await;
            with_rate_headers(answer, counted)
        }
    };
    // A cache must not give it to callers who may see less (contract 23.4).
    if differs_by_key && HEADERS.iter().any(|name| headers.contains_key(*name)) {
        reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    cors.add_to(&headers, &mut reply);
    reply
}

/// Sets the route of a request for `/schema`, or for a route outside of the contract, and checks
/// its method: these routes are only read (contract 1.11, 16).
///
/// # Errors
/// [`ApiError::InvalidMethod`] unless the method is GET or HEAD.
pub(crate) fn read_only(route: Route, method: &Method) -> Result<(), ApiError> {
    request::set_route(route);
    match is_read(method) {
        true => Ok(()),
        false => Err(ApiError::InvalidMethod { allow: "GET, HEAD" }),
    }
}

#[cfg(test)]
mod tests;
