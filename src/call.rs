//! The facts of one request: who sends it, method, headers, and a body that is read
//! only when it is asked for, and never beyond its bounds.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};
use warp::{Buf, Filter};

use crate::budget::Share;
use crate::config::BODY_WAIT;
use crate::error::ApiError;

type Chunk = Result<Box<dyn Buf + Send>, warp::Error>;

type Body = Pin<Box<dyn Stream<Item = Chunk> + Send + Sync>>;

/// Where a request came from: an extension of the request, which the accept loop puts
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An address, over TCP.
    Address(IpAddr),
    /// The Unix socket, whose clients have none.
    Socket,
}

/// A request that found its route.
pub(crate) struct Call {
    pub(crate) peer: Peer,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// How long the body may take; the gate sets it.
    pub(crate) body_wait: Duration,
    /// What the body takes of what all bodies may have; of nothing, until the gate
    /// says of what.
    pub(crate) share: Share,
    body: Body,
}

impl Call {
    /// Reads the body.
    ///
    /// # Errors
    /// [`ApiError::PayloadTooLarge`] as soon as it exceeds `bytes_max`, without
    /// reading on; [`ApiError::BadRequest`] when it breaks off, or takes longer than
    /// it may; [`ApiError::Unavailable`] when too much is being read for others. hyper
    /// then closes the connection, since the rest of the body is no next request.
    pub(crate) async fn body(&mut self, bytes_max: usize) -> Result<Vec<u8>, ApiError> {
        let Self { body, share, .. } = self;
        let read = tokio::time::timeout(self.body_wait, read(body, bytes_max, share)).await;
        read.unwrap_or(Err(ApiError::BadRequest))
    }
}

/// Takes the facts of any request. One that no socket brought comes from this
/// machine.
pub(crate) fn call() -> BoxedFilter<(Call,)> {
    warp::ext::optional()
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .and(warp::body::stream())
        .map(|peer: Option<Peer>, method, headers, body| {
            let peer = peer.unwrap_or(Peer::Address(Ipv4Addr::LOCALHOST.into()));
            let (body, share) = (boxed(body), Share::default());
            Call { peer, method, headers, body_wait: BODY_WAIT, share, body }
        })
        .boxed()
}

async fn read(stream: &mut Body, bytes_max: usize, share: &mut Share) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let mut chunk = chunk.map_err(|_| ApiError::BadRequest)?;
        if body.len() + chunk.remaining() > bytes_max {
            return Err(ApiError::PayloadTooLarge);
        }
        share.grow_to(body.len() + chunk.remaining())?;
        body.reserve(chunk.remaining());
        while chunk.has_remaining() {
            let piece = chunk.chunk();
            body.extend_from_slice(piece);
            let length = piece.len();
            chunk.advance(length);
        }
    }
    Ok(body)
}

fn boxed(
    body: impl Stream<Item = Result<impl Buf + Send + 'static, warp::Error>> + Send + Sync + 'static,
) -> Body {
    Box::pin(body.map(|chunk| chunk.map(|chunk| Box::new(chunk) as Box<dyn Buf + Send>)))
}
