//! The facts of one request: method, headers, and a body that is read only when
//! it is asked for, and never beyond its bound.

use std::pin::Pin;

use futures_util::{Stream, StreamExt as _};
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};
use warp::{Buf, Filter};

use crate::error::ApiError;

type Chunk = Result<Box<dyn Buf + Send>, warp::Error>;

type Body = Pin<Box<dyn Stream<Item = Chunk> + Send + Sync>>;

/// A request that found its route.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    body: Body,
}

impl Call {
    /// Reads the body.
    ///
    /// # Errors
    /// [`ApiError::PayloadTooLarge`] as soon as it exceeds `bytes_max`, without
    /// reading on; [`ApiError::BadRequest`] when it breaks off.
    pub(crate) async fn body(&mut self, bytes_max: usize) -> Result<Vec<u8>, ApiError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.body.next().await {
            let mut chunk = chunk.map_err(|_| ApiError::BadRequest)?;
            if body.len() + chunk.remaining() > bytes_max {
                return Err(ApiError::PayloadTooLarge);
            }
            while chunk.has_remaining() {
                let piece = chunk.chunk();
                body.extend_from_slice(piece);
                let length = piece.len();
                chunk.advance(length);
            }
        }
        Ok(body)
    }
}

/// Takes the facts of any request.
pub(crate) fn call() -> BoxedFilter<(Call,)> {
    warp::method()
        .and(warp::header::headers_cloned())
        .and(warp::body::stream())
        .map(|method, headers, body| Call { method, headers, body: boxed(body) })
        .boxed()
}

fn boxed(
    body: impl Stream<Item = Result<impl Buf + Send + 'static, warp::Error>> + Send + Sync + 'static,
) -> Body {
    Box::pin(body.map(|chunk| chunk.map(|chunk| Box::new(chunk) as Box<dyn Buf + Send>)))
}
