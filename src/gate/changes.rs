//! The checks of `GET /changes` (contract 19.1, 19.9), and how its pages leave. The route is outside
//! of the contract, but it gives whole rows away. So it is off unless an operator turns it on, and
//! needs a key where there are keys.

use figdex_index::Visible;
use warp::http::{HeaderName, Method, StatusCode};
use warp::reply::Response;

use super::call::Head;
use super::media::form_of_answer;
use super::{
    GENERATION, NOT_SHOWN, TOKEN, count, header_of, not_shown, read_only, reply, with_key,
    with_rate_headers,
};
use crate::callers::Caller;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::Span;
use crate::callers::limits::standing::Standing;
use crate::callers::version::Version;
use crate::http::pieces::Pieces;
use crate::request::Route;
use crate::state::State;
use crate::wire::list::Form;
use crate::wire::{self, Token};

/// The cursor of the next page.
const CURSOR: HeaderName = HeaderName::from_static("figdex-cursor");

/// A page of changes.
pub(crate) struct ChangesPage {
    pub(crate) written: Pieces,
    /// The number of the generation up to which the changes go, and its token for this caller.
    pub(crate) generation: (u64, Token),
    /// The cursor of the next page; `None` on the last page.
    pub(crate) cursor: Option<String>,
}

const TURNED_OFF: &str =
    "This server does not answer /changes. Its operator turns it on with --changes.";

/// Passes a request for changes on to its endpoint.
pub(crate) async fn changes(
    state: &State,
    head: Head,
    endpoint: impl AsyncFnOnce(Caller, Visible, Form) -> Result<ChangesPage, OpenError>,
) -> Response {
    let readable = read_only(Route::Changes, &head.method);
    let cors = &state.settings().cors;
    let mut reply = match cors.preflight(&head.method, &head.headers, &Method::GET) {
        Some(reply) => reply,
        None => {
            let mut counted = None;
            let answered = async {
                readable?;
                let caller =
                    Caller::without_key(head.peer, &head.headers, state.settings().trust_proxy);
                match answer(state, &head, &mut counted, endpoint).await {
                    Ok(reply) => Ok(reply),
                    Err(error) => {
                        let (status, text) = error.json()?;
                        let text = wire::error(&text);
                        let mut reply = reply::json(state, caller, &head.headers, text).await?;
                        *reply.status_mut() = status;
                        Ok(reply)
                    }
                }
            };
            let answer = answered.await;
            with_rate_headers(answer, counted)
        }
    };
    cors.add_to(&head.headers, &mut reply);
    reply
}

/// Makes the checks in their order, and answers.
async fn answer(
    state: &State,
    head: &Head,
    counted: &mut Option<Standing>,
    endpoint: impl AsyncFnOnce(Caller, Visible, Form) -> Result<ChangesPage, OpenError>,
) -> Result<Response, OpenError> {
    let (settings, headers) = (state.settings(), &head.headers);
    if !settings.changes {
        return Err(OpenError::NotFound(TURNED_OFF));
    }
    let (caller, visible) = with_key(state, head)?;
    let form = form_of_answer(headers, Form::Ndjson).ok_or(ApiError::UnsupportedAccept)?;
    // The windows of this route are kept among those of v3.
    *counted = count(state.limiter().as_deref(), caller, Version::V3, Span::Changes)?;
    let ChangesPage { written, generation: (number, token), cursor } =
        endpoint(caller, visible, form).await?;
    let media_type = reply::media_type(form);
    let mut reply = reply::packable(state, caller, headers, written, media_type).await?;
    debug_assert_eq!(reply.status(), StatusCode::OK);
    let headers = reply.headers_mut();
    headers.insert(GENERATION, number.into());
    if let Some(names) = not_shown(visible, visible.hidden()) {
        headers.insert(NOT_SHOWN, names);
    }
    match cursor {
        Some(cursor) => headers.insert(CURSOR, header_of(&cursor)),
        None => headers.insert(TOKEN, header_of(&token)),
    };
    Ok(reply)
}
