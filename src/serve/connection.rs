//! One connection, from its first byte to its end: the TLS handshake if there is one, then
//! requests and answers, each within its timeout.
//!
//! A connection needs little memory. Before its first byte it has only a task and a timer. Later it
//! has up to [`BUFFER_BYTES_MAX`] in each direction (twice that with TLS), and the bodies and
//! answers that `capacity::budget` counts. The kernel's buffers are bounded by `listener`.

use std::convert::Infallible;
use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{HeaderMap, Method, Request, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use warp::reply::Response;

use super::Stage;
use super::bounds::ConnectionBounds;
use super::per_address::Counted;
use super::socket::Socket;
use super::timeouts::{TimedStream, Timeouts};
use crate::callers::Peer;
use crate::callers::error::ApiError;
use crate::http::encoding;
use crate::observe::Observer;
use crate::observe::metrics::ConnectionMetrics;

/// The maximum size of a request's head, that is, of its line and its headers. A larger head gets a
/// 431, and so does one with more than 100 headers (contract 13.16). The second bound is hyper's
/// default: setting it would cost an allocation for each request.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// The maximum size of the buffer for reading, and of the one for writing an answer's head.
const BUFFER_BYTES_MAX: usize = 32 << 10;

/// The time that a connection without a whole head still has once the server is stopping. A request
/// may be in transit, but browsers also open connections for later use.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);

/// The time that a client may leave its answer unread once the server is stopping. It is
/// shorter than `idle_timeout`, so that clients that do not read cannot delay the end.
const DRAIN_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The time that a silent client has to close its side after the server has closed its own.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// The time that a refused client has to read the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// The header of an answer that closes the connection (RFC 9112, 9.6).
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// An accepted connection.
pub(super) struct Connection {
    pub(super) socket: Socket,
    pub(super) peer: Peer,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) bounds: ConnectionBounds,
    pub(super) observer: Observer,
    /// Its place among all connections and among those of its address. The drop frees both.
    pub(super) _place: (OwnedSemaphorePermit, Counted),
    pub(super) _open: Open,
}

/// Counts a connection as open until this is dropped.
pub(super) struct Open(Arc<ConnectionMetrics>);

impl Open {
    pub(super) fn new(metrics: Arc<ConnectionMetrics>) -> Self {
        metrics.accepted.inc();
        metrics.open.inc();
        Self(metrics)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.dec();
    }
}

/// The reason why a connection ended.
enum End {
    /// Both sides are done, or the client broke off. The kernel sends the bytes that were written.
    Closed,
    /// The client was silent for too long, or took too long to send a head.
    Silent,
    /// The client did not read the bytes that were written.
    Unread,
    /// The client reset the connection.
    Reset,
    /// The server is stopping, and the time for requests in flight is over.
    CutOff,
}

impl Connection {
    /// Answers requests until the connection ends or times out, or the server stops.
    pub(super) async fn run<S>(self, service: S, mut stopping: watch::Receiver<Stage>)
    where
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        let Self { socket, peer, tls, bounds, observer, _place, _open } = self;
        let (stream, handle) = socket.split();
        let timeouts = Timeouts::new(bounds.answer_bytes_per_second);
        let stream = TimedStream::new(stream, timeouts.clone());
        let client = ConnectedClient { timeouts, peer, bounds, observer };
        let end = tokio::select! {
            biased;
            // The end is noticed even while hyper answers and therefore does not read.
            error = handle.disconnected() => match error {
                io::ErrorKind::TimedOut => End::Unread,
                _ => End::Reset,
            },
            end = client.serve(stream, tls, service, &mut stopping) => end,
        };
        match end {
            End::Closed => {}
            End::Reset => {
                tracing::debug!(address = client.address(), "the client reset its connection");
            }
            End::CutOff => handle.reset(),
            End::Silent | End::Unread => {
                client.observer.connections().timed_out.inc();
                tracing::debug!(address = client.address(), "a connection timed out");
                if let End::Silent = end {
                    // The client may have read everything, so it gets the chance of an orderly end
                    // before the reset.
                    let closed = Box::pin(handle.close());
                    tokio::time::timeout(CLOSE_TIMEOUT, closed).await.ok();
                }
                handle.reset();
            }
        }
    }
}

/// The client of a connection: its address, and its time limit for each step.
struct ConnectedClient {
    timeouts: Arc<Timeouts>,
    peer: Peer,
    bounds: ConnectionBounds,
    observer: Observer,
}

impl ConnectedClient {
    /// The address of the client for the log.
    fn address(&self) -> Option<impl tracing::Value> {
        self.observer.address(self.peer)
    }

    /// Serves the whole connection, after a TLS handshake if `tls` is given.
    async fn serve<I, S>(
        &self,
        mut stream: TimedStream<I>,
        tls: Option<TlsAcceptor>,
        service: S,
        stopping: &mut watch::Receiver<Stage>,
    ) -> End
    where
        I: AsyncRead + AsyncWrite + Unpin,
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        // No buffer is allocated until the client has sent a byte.
        if let Err(end) = self.before_requests(stream.begin(), stopping).await {
            return end;
        }
        // Boxed: otherwise each task would have the size of the largest of these futures.
        match tls {
            None => Box::pin(self.answer_requests(stream, service, stopping)).await,
            Some(tls) => {
                let handshake = Box::pin(handshake(&tls, stream));
                match self.before_requests(handshake, stopping).await {
                    Ok(stream) => Box::pin(self.answer_requests(stream, service, stopping)).await,
                    Err(end) => end,
                }
            }
        }
    }

    /// Awaits `work`, which precedes the first head, within the timeouts.
    async fn before_requests<T>(
        &self,
        work: impl Future<Output = io::Result<T>>,
        stopping: &mut watch::Receiver<Stage>,
    ) -> Result<T, End> {
        tokio::select! {
            biased;
            done = work => done.map_err(|error| {
                let address = self.address();
                tracing::debug!(address, %error, "a connection ended before its first request");
                End::Closed
            }),
            end = self.expired(&self.bounds) => Err(end),
            () = async {
                reached(stopping, Stage::Draining).await;
                tokio::time::sleep(SILENCE_TIMEOUT).await;
            } => Err(End::Closed),
        }
    }

    /// Waits until the client has passed a deadline.
    async fn expired(&self, bounds: &ConnectionBounds) -> End {
        self.timeouts.expired(bounds).await;
        if self.timeouts.has_unsent() { End::Unread } else { End::Silent }
    }

    async fn answer_requests<I, S>(
        &self,
        stream: I,
        service: S,
        stopping: &mut watch::Receiver<Stage>,
    ) -> End
    where
        I: AsyncRead + AsyncWrite + Unpin,
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        let (timeouts, peer, observer) = (&*self.timeouts, self.peer, &self.observer);
        let stage = &stopping.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            let is_head = request.method() == Method::HEAD;
            let is_ambiguous = has_two_hosts(request.headers());
            let observed = observer.begin(peer, request.method(), request.headers());
            let answer = service.call(request);
            async move {
                // This is called at the first poll. hyper delays that poll while answers are
                // unread.
                timeouts.begin_answer();
                let answer = async {
                    if is_ambiguous {
                        return ambiguous();
                    }
                    let mut answer = pin!(answer);
                    poll_fn(|context| {
                        if timeouts.is_overdue() {
                            return Poll::Ready(ApiError::Unavailable.into());
                        }
                        let answer = answer.as_mut().poll(context);
                        answer.map(|answer| answer.unwrap_or_else(|never| match never {}))
                    })
                    .await
                };
                let mut answer = observed.answering(answer).await;
                if *stage.borrow() != Stage::Serving {
                    answer.headers_mut().insert(header::CONNECTION, CLOSE);
                }
                timeouts.end_answer(if is_head { 0 } else { encoding::body_bytes(&answer) });
                Ok::<_, Infallible>(answer)
            }
        });
        let mut http = http1::Builder::new();
        // A client may shut down its writing side and wait for its answer (RFC 9112, 9.6).
        http.half_close(true);
        http.max_header_size(HEAD_BYTES_MAX).max_buf_size(BUFFER_BYTES_MAX);
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            biased;
            ended = connection.as_mut() => ended,
            end = self.expired(&self.bounds) => return end,
            () = reached(stopping, Stage::Draining) => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    biased;
                    ended = connection.as_mut() => ended,
                    end = self.expired_while_draining() => return end,
                    () = reached(stopping, Stage::Over) => return End::CutOff,
                }
            }
        };
        if let Err(error) = ended {
            if error.is_parse() {
                self.observer.connections().malformed.inc();
            }
            tracing::debug!(address = self.address(), %error, "a connection broke off");
            if is_timed_out(&error) {
                return End::Unread;
            }
        }
        End::Closed
    }

    /// While the server is stopping, waits until the client has not sent a head in time, or has
    /// passed a deadline.
    async fn expired_while_draining(&self) -> End {
        tokio::time::sleep(SILENCE_TIMEOUT).await;
        if !self.timeouts.has_had_head() {
            return End::Closed;
        }
        let idle_timeout = self.bounds.idle_timeout.min(DRAIN_IDLE_TIMEOUT);
        self.expired(&ConnectionBounds { idle_timeout, ..self.bounds }).await
    }
}

/// Does the TLS handshake. The session's buffer is no larger than hyper's, because no budget counts
/// it.
async fn handshake<I>(tls: &TlsAcceptor, stream: I) -> io::Result<TlsStream<I>>
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    tls.accept_with(stream, |session| session.set_buffer_limit(Some(BUFFER_BYTES_MAX))).await
}

/// Waits until the server has reached a stage.
async fn reached(stopping: &mut watch::Receiver<Stage>, stage: Stage) {
    // The wait fails when the sender was dropped. This also means that the last stage is reached.
    drop(stopping.wait_for(|now| *now >= stage).await);
}

/// Whether the kernel has dropped the connection and a write was the first to notice.
fn is_timed_out(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// Whether the request has several `Host` headers. A proxy may read a different one than this
/// server (contract 2.15).
fn has_two_hosts(headers: &HeaderMap) -> bool {
    headers.get_all(header::HOST).iter().nth(1).is_some()
}

/// The answer to a request that a proxy may read differently (RFC 9112, 3.2). It closes the
/// connection.
fn ambiguous() -> Response {
    let mut answer = Response::from(ApiError::BadRequest);
    answer.headers_mut().insert(header::CONNECTION, CLOSE);
    answer
}

/// Answers 503 to a client whose address has too many connections, without reading its request
/// (contract 14.19).
pub(super) async fn refuse(socket: Socket, _place: OwnedSemaphorePermit) {
    let (status, text) = ApiError::Unavailable.line();
    let answer = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/html; charset=utf-8\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    );
    let (mut stream, _handle) = socket.split();
    let refused = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    // The client is refused even if it does not read the answer.
    drop(tokio::time::timeout(REFUSAL_TIMEOUT, refused).await);
}
