//! The checks of the Parquet file (contract 22), and how it leaves. The route is outside of the
//! contract, but it gives whole rows away. So it is off unless an operator turns it on, and needs a
//! key where there are keys.

use std::sync::Arc;

use figdex_index::{ParquetFile, Visible};
use warp::http::{HeaderValue, Method, StatusCode, header};
use warp::reply::Response;

use super::call::Head;
use super::file_body::body_of;
use super::{GENERATION, count, header_of, read_only, reply, with_key, with_rate_headers};
use crate::callers::Caller;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::Span;
use crate::callers::limits::standing::Standing;
use crate::callers::version::Version;
use crate::http::ranges::{FilePart, part};
use crate::request::Route;
use crate::state::State;
use crate::wire;

/// The media type of Parquet.
const PARQUET: HeaderValue = HeaderValue::from_static("application/vnd.apache.parquet");

/// The answer to a request for the file.
pub(crate) enum ParquetAnswer {
    /// The file of the generation with that number.
    File(u64, Arc<ParquetFile>),
    /// The address of the file, relative to that of the request.
    At(String),
}

const TURNED_OFF: &str =
    "This server does not answer with a Parquet file. Its operator turns it on with --parquet.";

const CHANGED: &str = "The file at this address is another one than that of If-Match.";

/// Whether a caller may have all columns of a file.
///
/// # Errors
/// [`OpenError::Conflict`] when the file has identifiers that the caller may not see.
fn licensed(visible: Visible, file: &ParquetFile) -> Result<(), OpenError> {
    let hidden = file.identifiers().iter().filter(|id_type| !visible.has(**id_type));
    let hidden: Vec<_> = hidden.map(|id_type| id_type.name()).collect();
    match hidden.is_empty() {
        true => Ok(()),
        false => Err(OpenError::Conflict(format!(
            "The Parquet file of this generation has columns that this caller may not see: {}. The \
             operator of the server says who may see them ([identifiers]), or builds the index with \
             --parquet, which names no idTypes.",
            hidden.join(", ")
        ))),
    }
}

/// Passes a request for the file on to its endpoint, which finds the file.
pub(crate) async fn parquet(
    state: &Arc<State>,
    head: Head,
    endpoint: impl AsyncFnOnce(Caller) -> Result<ParquetAnswer, OpenError>,
) -> Response {
    let readable = read_only(Route::Parquet, &head.method);
    let cors = &state.settings().cors;
    let mut reply = match cors.preflight(&head.method, &head.headers, &Method::GET) {
        Some(reply) => reply,
        None => {
            let mut counted = None;
            let answered = async {
                readable?;
                match answer(state, &head, &mut counted, endpoint).await {
                    Ok(reply) => Ok(reply),
                    Err(error) => refusal(state, &head, error).await,
                }
            };
            let answer = answered.await;
            with_rate_headers(answer, counted)
        }
    };
    cors.add_to(&head.headers, &mut reply);
    reply
}

/// The answer to an error: a line of the table, or a sentence in JSON.
async fn refusal(state: &State, head: &Head, error: OpenError) -> Result<Response, ApiError> {
    let size = match &error {
        OpenError::RangeNotSatisfiable { bytes } => Some(format!("bytes */{bytes}")),
        _ => None,
    };
    let caller = Caller::without_key(head.peer, &head.headers, state.settings().trust_proxy);
    let (status, text) = error.json()?;
    let mut reply = reply::json(state, caller, &head.headers, wire::error(&text)).await?;
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(size) = size.and_then(|size| HeaderValue::try_from(size).ok()) {
        headers.insert(header::CONTENT_RANGE, size);
    }
    Ok(reply)
}

/// Makes the checks in their order, and answers.
async fn answer(
    state: &Arc<State>,
    head: &Head,
    counted: &mut Option<Standing>,
    endpoint: impl AsyncFnOnce(Caller) -> Result<ParquetAnswer, OpenError>,
) -> Result<Response, OpenError> {
    let headers = &head.headers;
    if !state.settings().parquet {
        return Err(OpenError::NotFound(TURNED_OFF));
    }
    let (caller, visible) = with_key(state, head)?;
    // The windows of this route are kept among those of v3.
    *counted = count(state.limiter().as_deref(), caller, Version::V3, Span::Parquet)?;
    match endpoint(caller).await? {
        ParquetAnswer::File(generation, file) => {
            licensed(visible, &file)?;
            sent(state, head, caller, generation, file).await
        }
        ParquetAnswer::At(address) if headers.contains_key(header::RANGE) => {
            Err(OpenError::Invalid(
                format!(
                    "A range needs the address of one generation, since the newest may change \
                     between two ranges: ask for {address}, relative to this address."
                )
                .into(),
            ))
        }
        ParquetAnswer::At(address) => {
            let mut reply = Response::default();
            *reply.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            let address = HeaderValue::try_from(address);
            let headers = reply.headers_mut();
            headers.insert(header::LOCATION, address.expect("a number and a name are a header"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            Ok(reply)
        }
    }
}

/// The file, or the part of it that the request asks for.
async fn sent(
    state: &Arc<State>,
    head: &Head,
    caller: Caller,
    generation: u64,
    file: Arc<ParquetFile>,
) -> Result<Response, OpenError> {
    let (bytes, tag) = (file.bytes(), format!("\"{}\"", file.sha256()));
    let (range, status) = match part(&head.method, &head.headers, &tag, bytes) {
        FilePart::Whole => (0..bytes, StatusCode::OK),
        FilePart::Bytes(range) => (range, StatusCode::PARTIAL_CONTENT),
        FilePart::Unchanged => (0..0, StatusCode::NOT_MODIFIED),
        FilePart::Changed => return Err(OpenError::PreconditionFailed(CHANGED)),
        FilePart::Beyond => return Err(OpenError::RangeNotSatisfiable { bytes }),
    };
    let length = range.end - range.start;
    let last = range.end.saturating_sub(1);
    let content_range = format!("bytes {}-{last}/{bytes}", range.start);
    let mut reply = match length {
        0 => Response::default(),
        _ if head.method == Method::HEAD => Response::default(),
        _ => body_of(state.clone(), caller, file, range).await?,
    };
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::ETAG, HeaderValue::try_from(tag).expect("a tag is hexadecimal"));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // The number of a generation comes again when an index is built from nothing.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(GENERATION, generation.into());
    if status != StatusCode::NOT_MODIFIED {
        headers.insert(header::CONTENT_TYPE, PARQUET);
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
    if status == StatusCode::PARTIAL_CONTENT {
        headers.insert(header::CONTENT_RANGE, header_of(&content_range));
    }
    Ok(reply)
}
