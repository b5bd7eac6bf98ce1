//! `GET /schema` and `GET /{version}/schema`: the interface's own description, of v3 without a
//! version (contract 1.9 to 1.11). It counts against no limit.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::error::OpenError;
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::version::Version;
use crate::{gate, openapi};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let current = warp::path!("schema").map(|| Version::V3);
    let versioned = warp::path!(Version / "schema");
    current.or(versioned).unify().and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, head: Head, state: Arc<State>) -> Response {
    gate::open(&state, head, Route::Schema(version), None, answer(version, &state)).await
}

/// The document. It is made for each request and takes a millisecond, in which many small
/// answers could be made: so it waits for a turn, of those that no search waits for.
async fn answer(version: Version, state: &Arc<State>) -> Result<Vec<u8>, OpenError> {
    let (catalogue, shared) = (state.catalogue(), state.clone());
    let make = move || {
        let per_request = shared.limits().per_request;
        openapi::document(version, shared.settings(), per_request, catalogue.vocabulary())
    };
    Ok(state.describing(make).await?)
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
    use crate::error::ApiError;

    /// No rate limits `/schema` and `/instruments`, so their turns are separate from those of
    /// searches: neither waits for the other.
    #[tokio::test]
    async fn searches_have_separate_turns() {
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
