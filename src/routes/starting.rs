//! The answers of a server that has no index yet, because it fetches one for the first time. It is
//! healthy but not ready. Operators also get its progress and metrics. All other requests get a
//! 503.

use std::sync::Arc;

use figdex_storage::Following;
use parking_lot::Mutex;
use serde_json::json;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{Method, header};
use warp::path::Tail;
use warp::reply::Response;

use super::metrics::{self, text};
use super::{health, with};
use crate::callers::error::ApiError;
use crate::gate;
use crate::request::Route;

/// The routes of an address, including those for operators if the address is theirs.
pub(crate) fn service(
    copy: &Arc<Mutex<Following>>,
    is_for_operators: bool,
) -> BoxedFilter<(Response,)> {
    let health = warp::path!("healthz").map(move || {
        let facts = if is_for_operators { health::build() } else { health::version() };
        (Route::Health, facts)
    });
    let ready =
        warp::path!("readyz").and(with(copy.clone())).map(move |copy: Arc<Mutex<Following>>| {
            let mut facts = json!({"status": "starting"});
            if is_for_operators {
                facts["storage"] = health::storage(&copy.lock());
            }
            (Route::Ready, facts)
        });
    let known = health::answering(health.or(ready).unify().boxed());
    let unknown = warp::path::tail().map(|_: Tail| Response::from(ApiError::Unavailable));
    if !is_for_operators {
        return known.or(unknown).unify().boxed();
    }
    let metrics = warp::path!("metrics").and(warp::method()).and(with(copy.clone()));
    let metrics =
        metrics.map(|method: Method, copy: Arc<Mutex<Following>>| page(&method, &copy.lock()));
    known.or(metrics).unify().or(unknown).unify().boxed()
}

fn page(method: &Method, copy: &Following) -> Response {
    if let Err(error) = gate::read_only(Route::Metrics, method) {
        return error.into();
    }
    let mut reply = Response::new(text::render_starting(copy).into());
    reply.headers_mut().insert(header::CONTENT_TYPE, metrics::OPEN_METRICS);
    reply
}
