//! `GET /schema` and `GET /{version}/schema`: the interface's own description. It
//! passes no gate and counts against no limit; `/schema` tells of v3.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::Method;
use warp::reply::Response;

use super::with;
use crate::caller;
use crate::error::ApiError;
use crate::gate::call::{Call, call};
use crate::gate::reply;
use crate::request::Route;
use crate::state::State;
use crate::version::Version;
use crate::{openapi, request};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let current = warp::path!("schema").map(|| Version::V3);
    let versioned = warp::path!(Version / "schema");
    current.or(versioned).unify().and(call()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, call: Call, state: Arc<State>) -> Response {
    request::takes(Route::Schema(version));
    let cors = &state.settings().cors;
    let mut reply = match (cors.preflight(&call.method, &call.headers, &Method::GET), &call.method)
    {
        (Some(preflight), _) => preflight,
        (None, &Method::GET | &Method::HEAD) => {
            answer(version, &call, &state).await.unwrap_or_else(Response::from)
        }
        _ => ApiError::InvalidMethod { allow: "GET, HEAD" }.into(),
    };
    // Pages that show such documents fetch them from other origins.
    cors.stamp(&call.headers, &mut reply);
    reply
}

/// The document, made for each request, and in a turn: it takes a millisecond, in which many
/// small answers could be made. No search waits for these turns.
async fn answer(version: Version, call: &Call, state: &Arc<State>) -> Result<Response, ApiError> {
    let (catalogue, of) = (state.catalogue(), state.clone());
    let make = move || {
        let per_request = of.limits().per_request;
        openapi::document(version, of.settings(), per_request, catalogue.vocabulary())
    };
    let document = state.describing(make).await?;
    let who = caller::caller(call.peer, &call.headers, state.settings().trust_proxy);
    reply::json(state, who, &call.headers, document).await
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::time::Duration;

    use figdex_index::Catalogue;
    use figdex_ingest::{Build, Input};
    use futures_util::FutureExt as _;

    use super::*;
    use crate::config::Settings;

    /// No rate limits `/schema` and `/instruments`, so that searches have turns of their own:
    /// neither waits for the other.
    #[tokio::test]
    async fn searches_have_turns_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        let dump = Input::Memory("dump", b"figi\nBBG000BLNNH6\n".as_slice().into());
        Build::new(vec![dump], &index).run(&mut |_| {}).unwrap();
        let catalogue = Catalogue::open(&index).unwrap();
        let turn_wait = Duration::from_millis(50);
        let settings = Settings { turns: Some(1), turn_wait, ..Settings::default() };
        let state = Arc::new(State::new(catalogue, settings));
        let service = crate::service(state.clone());
        let ask =
            async |path: &str| warp::test::request().path(path).reply(&service).await.status();

        let (release, released) = mpsc::channel::<()>();
        let mut searching = pin!(state.blocking(move || released.recv()));
        assert!(searching.as_mut().now_or_never().is_none());
        assert_eq!(ask("/schema").await, 200);
        assert_eq!(ask("/instruments/BBG000BLNNH6").await, 200);
        assert_eq!(state.blocking(|| ()).await, Err(ApiError::Unavailable), "searches are busy");
        drop(release);

        let (release, released) = mpsc::channel::<()>();
        let mut describing = pin!(state.describing(move || released.recv()));
        assert!(describing.as_mut().now_or_never().is_none());
        assert_eq!(ask("/schema").await, 503);
        assert_eq!(ask("/instruments/BBG000BLNNH6").await, 200);
        while state.blocking(|| ()).await.is_err() {}
        drop(release);
    }
}
