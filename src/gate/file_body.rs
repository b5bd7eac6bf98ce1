//! The bytes of a file as an answer, piece by piece: a file of any size takes the memory of a few
//! pieces.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use figdex_index::ParquetFile;
use futures_util::stream;
use tokio::sync::mpsc;
use warp::Reply as _;
use warp::reply::Response;

use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::capacity::budget::Refusal;
use crate::state::State;

/// The bytes that are read at once.
const PIECE_BYTES: usize = 256 << 10;

/// The pieces of one file that are in memory: one that is read, one that waits to be sent, and the
/// one that is sent.
const PIECES: usize = 3;

/// An answer with these bytes of a file. The next piece is read when the client has taken the last
/// one, so that an answer takes the memory of a few pieces.
///
/// # Errors
/// [`ApiError::Unavailable`] when the memory for answers has no room, or the first piece is not read
/// in time; [`ApiError::Internal`] when it cannot be read.
pub(super) async fn body_of(
    state: Arc<State>,
    caller: Caller,
    file: Arc<ParquetFile>,
    range: Range<u64>,
) -> Result<Response, ApiError> {
    let bytes = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let mut share = state.answers().share(caller);
    let charged = share.grow_to(bytes.min(PIECES * PIECE_BYTES));
    charged.map_err(|refusal| match refusal {
        Refusal::Now => ApiError::Unavailable,
        Refusal::Always => ApiError::Internal,
    })?;
    let mut reading = FileReading { state, caller, file, range };
    let first = reading.next().await?;
    if reading.range.is_empty() {
        return Ok(Response::new(first.into()));
    }
    let (send, mut receive) = mpsc::channel::<io::Result<Bytes>>(1);
    tokio::spawn(async move {
        // The share is given back when the last piece was handed over.
        let _share = share;
        let mut piece = Ok(first);
        loop {
            let is_last = piece.is_err() || reading.range.is_empty();
            // The client may go at any time. An error cuts the answer off: it is shorter than
            // announced.
            if send.send(piece).await.is_err() || is_last {
                return;
            }
            // The log has the reason.
            piece = reading.next().await.map_err(|_| io::ErrorKind::Other.into());
        }
    });
    let pieces = stream::poll_fn(move |context| receive.poll_recv(context));
    Ok(warp::reply::stream(pieces).into_response())
}

/// The rest of a file that is to be sent.
struct FileReading {
    state: Arc<State>,
    caller: Caller,
    file: Arc<ParquetFile>,
    range: Range<u64>,
}

impl FileReading {
    /// Reads the next piece.
    async fn next(&mut self) -> Result<Bytes, ApiError> {
        let Range { start, end } = self.range;
        let length = (end - start).min(PIECE_BYTES as u64);
        let file = self.file.clone();
        let read = move || {
            let mut piece = vec![0; length as usize];
            file.read_at(&mut piece, start).map(|()| Bytes::from(piece))
        };
        let piece = self.state.pools().parquet.run(self.caller, read).await?;
        self.range.start += length;
        piece.map_err(|error| {
            tracing::error!(%error, "the Parquet file cannot be read");
            ApiError::Internal
        })
    }
}
