//! The facts of one request: who sends it, method, headers, and a body that is read
//! only when it is asked for, and never beyond its bounds.

use std::net::Ipv4Addr;
use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};
use warp::{Buf, Filter};

use crate::caller::Peer;
use crate::capacity::budget::Share;
use crate::error::ApiError;
use crate::limits::BODY_TIMEOUT;

type Chunk = Result<Box<dyn Buf + Send>, warp::Error>;

type BodyStream = Pin<Box<dyn Stream<Item = Chunk> + Send + Sync>>;

/// A request that found its route.
pub(crate) struct Call {
    pub(crate) peer: Peer,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// The time that the body may take; the gate sets it.
    pub(crate) body_timeout: Duration,
    /// This body's share of the memory budget for all bodies. Empty until the gate assigns
    /// one.
    pub(crate) share: Share,
    stream: BodyStream,
}

/// A body that was read, with its share of the budget for as long as it is kept.
pub(crate) struct Body {
    bytes: Vec<u8>,
    _share: Share,
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The size up to which the buffer of a body grows step by step, so that a client that sends
/// little of a large body holds little, and no more than this is ever copied at a time.
/// Beyond it the buffer gets the room of the largest body at once: the system backs that with
/// memory only as bytes arrive.
const GROWING_BYTES_MAX: usize = 512 << 10;

/// The factor of a step: few steps leave few freed buffers behind.
const GROWTH: usize = 4;

impl Call {
    /// Reads the body.
    ///
    /// # Errors
    /// [`ApiError::PayloadTooLarge`] as soon as it exceeds `bytes_max`, without
    /// reading on; [`ApiError::BadRequest`] when it breaks off, or takes longer than
    /// it may; [`ApiError::Unavailable`] when too much is being read for others. hyper
    /// then closes the connection, since the rest of the body is no next request.
    pub(crate) async fn body(&mut self, bytes_max: usize) -> Result<Body, ApiError> {
        let Self { stream, share, .. } = self;
        let mut share = std::mem::take(share);
        let read = read(stream, bytes_max, &mut share);
        let read = tokio::time::timeout(self.body_timeout, read).await;
        let bytes = read.unwrap_or(Err(ApiError::BadRequest))?;
        Ok(Body { bytes, _share: share })
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
            let (stream, share) = (boxed(body), Share::default());
            Call { peer, method, headers, body_timeout: BODY_TIMEOUT, share, stream }
        })
        .boxed()
}

async fn read(
    stream: &mut BodyStream,
    bytes_max: usize,
    share: &mut Share,
) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let mut chunk = chunk.map_err(|_| ApiError::BadRequest)?;
        let bytes = body.len() + chunk.remaining();
        if bytes > bytes_max {
            return Err(ApiError::PayloadTooLarge);
        }
        let room = room(bytes, body.capacity(), bytes_max);
        share.grow_to(held(bytes, room))?;
        if room > body.capacity() {
            body.reserve_exact(room - body.len());
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

/// The capacity for a body of which `bytes` have arrived, in a buffer that has `capacity`.
fn room(bytes: usize, capacity: usize, bytes_max: usize) -> usize {
    match capacity {
        // Most bodies are one chunk.
        0 => bytes,
        _ if bytes <= capacity => capacity,
        _ if bytes <= GROWING_BYTES_MAX => GROWING_BYTES_MAX.min(GROWTH * bytes).min(bytes_max),
        _ => bytes_max,
    }
}

/// The memory that a buffer of that capacity holds when `bytes` have arrived: all of it
/// while it grows, then what was written, in steps.
fn held(bytes: usize, capacity: usize) -> usize {
    capacity.min(bytes.next_multiple_of(GROWING_BYTES_MAX))
}

fn boxed(
    body: impl Stream<Item = Result<impl Buf + Send + 'static, warp::Error>> + Send + Sync + 'static,
) -> BodyStream {
    Box::pin(body.map(|chunk| chunk.map(|chunk| Box::new(chunk) as Box<dyn Buf + Send>)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body takes little more than its size, however it arrives.
    #[test]
    fn a_body_grows_in_steps() {
        const MIB: usize = 1 << 20;
        for (bytes_all, bytes_max) in [
            (40, MIB),
            (70_000, MIB),
            (70_000, 80_000),
            (MIB, MIB),
            (3 * MIB, 32 * MIB),
            (32 * MIB, 32 * MIB),
        ] {
            for chunk in [1_000, 32_000, 300_000, 600_000] {
                let (mut bytes, mut capacity) = (0, 0);
                while bytes < bytes_all {
                    let before = bytes;
                    bytes = bytes_all.min(bytes + chunk);
                    let room = room(bytes, capacity, bytes_max);
                    assert!((bytes..=bytes_max).contains(&room), "{bytes} bytes in {room}");
                    if room > capacity && before > 0 {
                        assert!(before <= GROWING_BYTES_MAX.max(chunk), "{before} are copied");
                    }
                    capacity = room;
                    let held = held(bytes, capacity);
                    assert!((bytes..=capacity).contains(&held), "{bytes} bytes hold {held}");
                    assert!(held <= GROWTH * bytes && held <= bytes + GROWING_BYTES_MAX);
                }
            }
        }
    }
}
