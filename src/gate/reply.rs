//! An answer in JSON, CSV or NDJSON. It is compressed with gzip if the client asks for it (contract
//! 12.1), unless memory is short or no turn comes in time. The bytes of an answer count against the
//! memory budget for answers until they are sent.

use std::convert::Infallible;
use std::sync::Arc;

use figdex_index::Meter;
use futures_util::stream;
use parking_lot::Mutex;
use warp::Reply as _;
use warp::http::{HeaderMap, HeaderValue, header};
use warp::reply::Response;

use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::capacity::budget::{Refusal, Share};
use crate::http::encoding::{accepts_gzip, packed, packed_within};
use crate::http::pieces::{PIECE_BYTES, Pieces};
use crate::state::State;
use crate::wire::list::Form;

/// The media type of JSON.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// The largest answer that is packed on a serving thread, in bytes. Packing it takes 0.1 ms for
/// rows, and 0.5 ms for a text that cannot be compressed at all. A larger answer waits for a turn,
/// so that it does not delay small ones.
pub(crate) const INLINE_BYTES_MAX: usize = 64 << 10;

/// An answer in JSON to a caller. It is packed if the request's headers ask for that, and if memory
/// and a turn are there in time.
///
/// # Errors
/// - [`ApiError::Unavailable`] when the memory budget for answers has no room for it now.
/// - [`ApiError::AnswerTooLarge`] when the budget never has room for it.
pub(crate) async fn json(
    state: &State,
    caller: Caller,
    request: &HeaderMap,
    json: impl Into<Pieces>,
) -> Result<Response, ApiError> {
    packable(state, caller, request, json, JSON).await
}

/// The media type of a list's answer.
pub(super) fn media_type(form: Form) -> HeaderValue {
    match form {
        Form::Json => JSON,
        Form::Csv => HeaderValue::from_static("text/csv; charset=utf-8"),
        Form::Ndjson => HeaderValue::from_static("application/x-ndjson; charset=utf-8"),
    }
}

/// An answer of a media type, packed under the same conditions as that of [`json`].
///
/// # Errors
/// As [`json`].
pub(super) async fn packable(
    state: &State,
    caller: Caller,
    request: &HeaderMap,
    answer: impl Into<Pieces>,
    media_type: HeaderValue,
) -> Result<Response, ApiError> {
    let mut answer = answer.into();
    let mut share = answer.take_share();
    if !share.is_of_budget() {
        // The answer was written at once, like a page of a search.
        share = state.answers().share(caller);
    }
    let charged = answer.refused().map_or_else(|| share.grow_to(answer.held()), Err);
    charged.map_err(|refusal| match refusal {
        Refusal::Now => ApiError::Unavailable,
        Refusal::Always => {
            ApiError::AnswerTooLarge { rows: answer.rows(), bytes_max: share.most() }
        }
    })?;
    // While a piece is being packed, both forms of it are in memory. If there is no room for both,
    // the answer is sent unpacked.
    let packing = answer.held().min(PIECE_BYTES);
    let mut is_gzip = accepts_gzip(request) && share.grow_to(answer.held() + packing).is_ok();
    if is_gzip {
        (answer, is_gzip) = match answer.len() {
            0..=INLINE_BYTES_MAX => (packed(answer), true),
            _ => packed_in_turn(state, caller, answer).await?,
        };
    }
    share.shrink_to(answer.held());
    let mut reply = reply(answer, share);
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert(header::VARY, HeaderValue::from_name(header::ACCEPT_ENCODING));
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(reply)
}

/// Packs the answer if its turn comes in time, else returns it unchanged. Also returns whether it
/// is packed. An error if the client goes while it is packed.
async fn packed_in_turn(
    state: &State,
    caller: Caller,
    json: Pieces,
) -> Result<(Pieces, bool), ApiError> {
    let waiting = Arc::new(Mutex::new(Some(json)));
    let handed = waiting.clone();
    let pack = move |meter: &Meter| {
        let json = handed.lock().take()?;
        packed_within(json, meter).ok()
    };
    if let Ok(Some(packed)) = state.pools().packing.run_metered(caller, pack).await {
        return Ok((packed, true));
    }
    let json = waiting.lock().take();
    json.map(|json| (json, false)).ok_or(ApiError::Unavailable)
}

/// The response with the answer's share of the budget. Each piece gives back its part once it is
/// written.
fn reply(answer: Pieces, mut share: Share) -> Response {
    let answer = match answer.into_only() {
        Ok(only) => return Response::new(share.hold(only).into()),
        Err(answer) => answer,
    };
    let bytes = answer.len();
    let pieces: Vec<_> = answer.into_iter().collect();
    let pieces = pieces.into_iter().map(move |piece| Ok::<_, Infallible>(share.hold(piece)));
    let mut reply = warp::reply::stream(stream::iter(pieces)).into_response();
    reply.headers_mut().insert(header::CONTENT_LENGTH, bytes.into());
    reply
}
