//! The facts of one request: who sends it, method, headers, and a body that is read
//! only when it is asked for, and never beyond its bounds.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method, header};
use warp::{Buf, Filter};

use crate::budget::Share;
use crate::config::BODY_WAIT;
use crate::error::ApiError;

type Chunk = Result<Box<dyn Buf + Send>, warp::Error>;

type BodyStream = Pin<Box<dyn Stream<Item = Chunk> + Send + Sync>>;

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
    /// This body's share of the memory budget for all bodies. Empty until the gate assigns
    /// one.
    pub(crate) share: Share,
    /// Bytes of the body as its head says, if it says so.
    content_length: Option<usize>,
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

/// The size up to which the buffer of a body grows step by step, so that a client that only
/// announces a large body holds little, and no more than this is ever copied at a time.
/// Beyond it the buffer gets the room of the whole body at once: the system backs that with
/// memory only as bytes arrive.
const GROWING_BYTES_MAX: usize = 512 << 10;

/// The factor of a step: few steps leave few freed buffers behind.
const GROWTH: usize = 4;

/// Bytes for which the buffer has its final size from the start.
const SMALL_BYTES_MAX: usize = 16 << 10;

impl Call {
    /// Reads the body.
    ///
    /// # Errors
    /// [`ApiError::PayloadTooLarge`] as soon as it exceeds `bytes_max`, without
    /// reading on; [`ApiError::BadRequest`] when it breaks off, or takes longer than
    /// it may; [`ApiError::Unavailable`] when too much is being read for others. hyper
    /// then closes the connection, since the rest of the body is no next request.
    pub(crate) async fn body(&mut self, bytes_max: usize) -> Result<Body, ApiError> {
        let Self { stream, share, content_length, .. } = self;
        let mut share = std::mem::take(share);
        let bytes_expected = content_length.unwrap_or(bytes_max).min(bytes_max);
        let read = read(stream, bytes_max, bytes_expected, &mut share);
        let read = tokio::time::timeout(self.body_wait, read).await;
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
        .map(|peer: Option<Peer>, method, headers: HeaderMap, body| {
            let peer = peer.unwrap_or(Peer::Address(Ipv4Addr::LOCALHOST.into()));
            let (stream, share) = (boxed(body), Share::default());
            let content_length = headers.get(header::CONTENT_LENGTH);
            let content_length = content_length.and_then(|bytes| bytes.to_str().ok()?.parse().ok());
            Call { peer, method, headers, body_wait: BODY_WAIT, share, content_length, stream }
        })
        .boxed()
}

async fn read(
    stream: &mut BodyStream,
    bytes_max: usize,
    bytes_expected: usize,
    share: &mut Share,
) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let mut chunk = chunk.map_err(|_| ApiError::BadRequest)?;
        let bytes = body.len() + chunk.remaining();
        if bytes > bytes_max {
            return Err(ApiError::PayloadTooLarge);
        }
        let room = room(bytes, body.capacity(), bytes_expected);
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
fn room(bytes: usize, capacity: usize, bytes_expected: usize) -> usize {
    if bytes <= capacity {
        return capacity;
    }
    let room = match bytes {
        _ if bytes_expected <= SMALL_BYTES_MAX || bytes > GROWING_BYTES_MAX => bytes_expected,
        _ => bytes_expected.min(GROWING_BYTES_MAX.min(GROWTH * bytes)),
    };
    room.max(bytes)
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

    /// Reads a body in chunks: its final capacity, the most that its buffers had together
    /// when it was moved, and the most that was counted.
    fn read_in(chunks: &[usize], bytes_max: usize, bytes_expected: usize) -> [usize; 3] {
        let (mut bytes, mut capacity, mut moved, mut counted) = (0, 0, 0, 0);
        for chunk in chunks {
            let before = bytes;
            bytes += chunk;
            assert!(bytes <= bytes_max);
            let room = room(bytes, capacity, bytes_expected);
            assert!(room >= bytes, "{bytes} bytes have room for {room}");
            counted = counted.max(held(bytes, room));
            assert!(counted >= bytes);
            if room > capacity {
                assert!(before <= GROWING_BYTES_MAX, "{before} bytes are copied");
                moved = moved.max(before + bytes);
            }
            capacity = room;
        }
        [capacity, moved, counted]
    }

    #[test]
    fn a_body_takes_little_more_than_its_size() {
        const MIB: usize = 1 << 20;
        assert_eq!(read_in(&[40], MIB, 40), [40, 40, 40]);
        assert_eq!(read_in(&[10_000, 2_000], MIB, 12_000)[0], 12_000, "it is never moved");
        for (bytes, bytes_max) in [(70_000, MIB), (MIB, MIB), (32 * MIB, 32 * MIB)] {
            for chunk in [1_000, 32_000, 300_000] {
                let chunks: Vec<_> =
                    (0..bytes).step_by(chunk).map(|at| chunk.min(bytes - at)).collect();
                // With a length that is announced, and without.
                let [capacity, moved, counted] = read_in(&chunks, bytes_max, bytes);
                assert_eq!(capacity, bytes);
                assert!(moved <= 2 * MIB && counted == bytes, "{moved} {counted}");
                let [capacity, moved, counted] = read_in(&chunks, bytes_max, bytes_max);
                assert!(capacity <= bytes_max && moved <= 2 * MIB, "{capacity} {moved}");
                assert!(
                    counted <= bytes_max.min(GROWTH * bytes.max(GROWING_BYTES_MAX)),
                    "{counted}"
                );
            }
        }
        // A length that is only announced holds nothing.
        assert_eq!(held(1_000, room(1_000, 0, 32 * MIB)), 4_000);
    }
}
