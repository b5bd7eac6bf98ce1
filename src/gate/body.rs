//! The body of a request. It is read only when its endpoint asks for it, and never beyond its
//! bounds (contract 2.12, 2.13).

use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use warp::Buf;

use crate::callers::error::ApiError;
use crate::capacity::budget::{Refusal, Share};

type Chunk = Result<Box<dyn Buf + Send>, warp::Error>;

/// The chunks of a body as they arrive.
pub(super) type BodyStream = Pin<Box<dyn Stream<Item = Chunk> + Send + Sync>>;

/// An unread body, with its bounds.
pub(crate) struct UnreadBody {
    pub(super) stream: BodyStream,
    pub(super) bytes_max: usize,
    /// The size in `Content-Length`; hyper enforces it. `None` for a chunked body.
    pub(super) bytes_announced: Option<usize>,
    /// The time that the whole body may take to arrive.
    pub(super) wait: Duration,
    /// This body's share of the memory budget for all bodies.
    pub(super) share: Share,
}

/// A body that was read. It holds its share of the memory budget until it is dropped.
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

/// The size up to which the buffer of a body grows step by step. So a client that sends little of a
/// large body holds little memory, and no more than this is ever copied at once. Beyond it the
/// buffer gets room for the whole body at once: its `Content-Length`, or the largest allowed body.
/// The system backs that room with memory only as bytes arrive.
const GROWING_BYTES_MAX: usize = 512 << 10;

/// The factor of each step of the buffer's growth: few steps leave few freed buffers behind.
const GROWTH: usize = 4;

impl UnreadBody {
    /// Reads the body.
    ///
    /// # Errors
    /// - [`ApiError::PayloadTooLarge`] as soon as the body exceeds its bound, without reading on,
    ///   or when its caller may never hold that much.
    /// - [`ApiError::BadRequest`] when the body breaks off or takes too long.
    /// - [`ApiError::Unavailable`] when the memory budget for bodies is used up.
    ///
    /// hyper then closes the connection, so that the rest of the body is not taken for a request.
    pub(crate) async fn read(self) -> Result<Body, ApiError> {
        let Self { mut stream, bytes_max, bytes_announced, wait, mut share } = self;
        let read = read(&mut stream, bytes_max, bytes_announced, &mut share);
        let read = tokio::time::timeout(wait, read).await;
        let bytes = read.unwrap_or(Err(ApiError::BadRequest))?;
        Ok(Body { bytes, _share: share })
    }
}

async fn read(
    stream: &mut BodyStream,
    bytes_max: usize,
    bytes_announced: Option<usize>,
    share: &mut Share,
) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    // A buffer never needs to be larger than the body can become.
    let capacity_max = bytes_announced.map_or(bytes_max, |announced| announced.min(bytes_max));
    while let Some(chunk) = stream.next().await {
        let mut chunk = chunk.map_err(|_| ApiError::BadRequest)?;
        let bytes = body.len() + chunk.remaining();
        if bytes > bytes_max {
            return Err(ApiError::PayloadTooLarge);
        }
        let room = room(bytes, body.capacity(), capacity_max.max(bytes));
        share.grow_to(held(bytes, room)).map_err(|refusal| match refusal {
            Refusal::Now => ApiError::Unavailable,
            Refusal::Always => ApiError::PayloadTooLarge,
        })?;
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

/// The capacity for a body after `bytes` have arrived in a buffer of size `capacity`.
fn room(bytes: usize, capacity: usize, capacity_max: usize) -> usize {
    match capacity {
        // Most bodies consist of one chunk.
        0 => bytes,
        _ if bytes <= capacity => capacity,
        _ if bytes <= GROWING_BYTES_MAX => GROWING_BYTES_MAX.min(GROWTH * bytes).min(capacity_max),
        _ => capacity_max,
    }
}

/// The memory that a buffer of that capacity holds after `bytes` have arrived: all of it while the
/// buffer grows; afterwards the written part, rounded up to [`GROWING_BYTES_MAX`].
fn held(bytes: usize, capacity: usize) -> usize {
    capacity.min(bytes.next_multiple_of(GROWING_BYTES_MAX))
}

/// The chunks of a body, without the type that warp gives them.
pub(super) fn boxed(
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
