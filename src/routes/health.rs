//! `GET /healthz` and `GET /readyz`: unversioned, and no business of the contract.
//! A server is ready as soon as it answers, since it opens its index first.

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, Response as HttpResponse, header};
use warp::reply::Response;

use crate::error::ApiError;
use crate::request::{self, Route};

pub(super) fn route() -> BoxedFilter<(Response,)> {
    let health = warp::path!("healthz").map(|| (Route::Health, "ok\n"));
    let ready = warp::path!("readyz").map(|| (Route::Ready, "ready\n"));
    health.or(ready).unify().and(warp::method()).map(answer).boxed()
}

fn answer((route, text): (Route, &'static str), method: Method) -> Response {
    request::takes(route);
    if !matches!(method, Method::GET | Method::HEAD) {
        return ApiError::InvalidMethod { allow: "GET, HEAD" }.into();
    }
    let mut reply = HttpResponse::new(text.into());
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply
}
