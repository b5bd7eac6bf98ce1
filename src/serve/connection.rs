//! One connection, from its first byte to its end: the handshake of TLS if there is
//! one, then requests and answers, each within its time.
//!
//! A connection holds little until it needs more: before its first byte a task and its
//! timer, then [`BUFFER_BYTES_MAX`] each way at most, with TLS twice, and the bodies and
//! answers that `budget` counts. The kernel holds the buffers of its socket (`listener`).

use std::convert::Infallible;
use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
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
use super::per_address::Presence;
use super::socket::Socket;
use super::timeouts::{Pace, Paced};
use crate::caller::Peer;
use crate::encoding;
use crate::error::ApiError;
use crate::observe::Observer;
use crate::observe::metrics::ConnectionMetrics;

/// Bytes of a request's head: its line and its headers. Beyond them the answer is 431,
/// as beyond 100 headers, which is hyper's own bound: set by us, each request would
/// cost an allocation.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Bytes that are read ahead, or wait to be written beside an answer.
const BUFFER_BYTES_MAX: usize = 32 << 10;

/// How long a connection that never brought a whole head may live after the stop: a
/// request may be on its way, but browsers also open connections for later use.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a client may take nothing of its answer after the stop, before it is taken for
/// one that does not read. It is shorter than `idle_timeout`, so that such clients do not hold
/// the end up.
const DRAIN_IDLE_WAIT: Duration = Duration::from_secs(5);

/// How long a client that was silent too long may take to close its side after ours.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// How long a refused client may take to take the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that was accepted.
pub(super) struct Conversation {
    pub(super) socket: Socket,
    pub(super) peer: Peer,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) connections: ConnectionBounds,
    pub(super) observer: Observer,
    /// Its place among all and among those of its address, free again when dropped.
    pub(super) _place: (OwnedSemaphorePermit, Presence),
    pub(super) _open: Open,
}

/// Counts a connection as open, as long as it is.
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

/// Why a connection ended.
enum End {
    /// All is said, or the client broke off: what the kernel still has is on its way.
    Closed,
    /// The client was silent for too long, or its head took too long.
    Silent,
    /// The client did not read what was written.
    Unread,
    /// The client is gone.
    Gone,
    /// The server stops and waits no longer.
    CutOff,
}

impl Conversation {
    /// Answers its requests, until it ends, is too slow, or the server stops.
    pub(super) async fn hold<S>(self, service: S, mut stopping: watch::Receiver<Stage>)
    where
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        let Self { socket, peer, tls, connections, observer, _place, _open } = self;
        let (stream, handle) = socket.split();
        let pace = Pace::new();
        let client = Client { pace, peer, connections, observer };
        let stream = Paced::new(stream, client.pace.clone());
        let end = tokio::select! {
            biased;
            // Also while hyper does not read, because it answers.
            gone = handle.gone() => match gone {
                io::ErrorKind::TimedOut => End::Unread,
                _ => End::Gone,
            },
            end = client.talk_over(stream, tls, service, &mut stopping) => end,
        };
        match end {
            End::Closed => {}
            End::Gone => tracing::debug!("a client is gone"),
            End::CutOff => handle.reset(),
            End::Silent | End::Unread => {
                client.observer.connections().timed_out.inc();
                tracing::debug!("a connection was too slow");
                if let End::Silent = end {
                    // It may have taken all that was written: then it is owed a clean end.
                    let closed = Box::pin(handle.close());
                    tokio::time::timeout(CLOSE_TIMEOUT, closed).await.ok();
                }
                handle.reset();
            }
        }
    }
}

/// The other end: how fast it is, where it is, and how long what may take.
struct Client {
    pace: Arc<Pace>,
    peer: Peer,
    connections: ConnectionBounds,
    observer: Observer,
}

impl Client {
    /// The whole conversation, behind TLS if there is any.
    async fn talk_over<I, S>(
        &self,
        mut stream: Paced<I>,
        tls: Option<TlsAcceptor>,
        service: S,
        stopping: &mut watch::Receiver<Stage>,
    ) -> End
    where
        I: AsyncRead + AsyncWrite + Unpin,
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        // A client gets no buffer before it has sent a byte.
        if let Err(end) = self.first(stream.begin(), stopping).await {
            return end;
        }
        // Boxed, since a task is as large as the largest that it may come to.
        match tls {
            None => Box::pin(self.talk(stream, service, stopping)).await,
            Some(tls) => match self.first(Box::pin(handshake(&tls, stream)), stopping).await {
                Ok(stream) => Box::pin(self.talk(stream, service, stopping)).await,
                Err(end) => end,
            },
        }
    }

    /// Does the work that comes before the first head.
    async fn first<T>(
        &self,
        work: impl Future<Output = io::Result<T>>,
        stopping: &mut watch::Receiver<Stage>,
    ) -> Result<T, End> {
        tokio::select! {
            biased;
            done = work => done.map_err(|error| {
                tracing::debug!(%error, "a connection ended before its first request");
                End::Closed
            }),
            end = self.too_slow(&self.connections) => Err(end),
            () = async {
                reached(stopping, Stage::Draining).await;
                tokio::time::sleep(SILENCE_TIMEOUT).await;
            } => Err(End::Closed),
        }
    }

    /// Waits until the client is too slow.
    async fn too_slow(&self, connections: &ConnectionBounds) -> End {
        self.pace.too_slow(connections).await;
        if self.pace.is_owed() { End::Unread } else { End::Silent }
    }

    async fn talk<I, S>(&self, stream: I, service: S, stopping: &mut watch::Receiver<Stage>) -> End
    where
        I: AsyncRead + AsyncWrite + Unpin,
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        let (pace, peer, observer) = (&*self.pace, self.peer, &self.observer);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            let is_head = request.method() == Method::HEAD;
            let is_ambiguous = has_two_hosts(request.headers());
            let observed = observer.begin(request.method(), request.headers());
            let answer = service.call(request);
            async move {
                // Not before the first poll: while answers are unread there is none.
                pace.begin_answer();
                let answer = async {
                    if is_ambiguous {
                        return ambiguous();
                    }
                    let mut answer = pin!(answer);
                    poll_fn(|context| {
                        if pace.is_overdue() {
                            return Poll::Ready(ApiError::Unavailable.into());
                        }
                        let answer = answer.as_mut().poll(context);
                        answer.map(|answer| answer.unwrap_or_else(|never| match never {}))
                    })
                    .await
                };
                let answer = observed.answering(answer).await;
                pace.end_answer(if is_head { 0 } else { encoding::body_bytes(&answer) });
                Ok::<_, Infallible>(answer)
            }
        });
        let mut http = http1::Builder::new();
        // A client may shut its writing side and wait for its answer (RFC 9112, 9.6).
        http.half_close(true);
        http.max_header_size(HEAD_BYTES_MAX).max_buf_size(BUFFER_BYTES_MAX);
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            biased;
            ended = connection.as_mut() => ended,
            end = self.too_slow(&self.connections) => return end,
            () = reached(stopping, Stage::Draining) => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    biased;
                    ended = connection.as_mut() => ended,
                    end = self.too_slow_to_drain() => return end,
                    () = reached(stopping, Stage::Over) => return End::CutOff,
                }
            }
        };
        if let Err(error) = ended {
            if error.is_parse() {
                self.observer.connections().malformed.inc();
            }
            tracing::debug!(%error, "a connection broke off");
            if is_timed_out(&error) {
                return End::Unread;
            }
        }
        End::Closed
    }

    /// Waits, after the stop, until there is nothing to wait for: no request was ever on its
    /// way, or the client is too slow.
    async fn too_slow_to_drain(&self) -> End {
        tokio::time::sleep(SILENCE_TIMEOUT).await;
        if !self.pace.has_asked() {
            return End::Closed;
        }
        let idle_timeout = self.connections.idle_timeout.min(DRAIN_IDLE_WAIT);
        self.too_slow(&ConnectionBounds { idle_timeout, ..self.connections }).await
    }
}

/// Shakes hands. The session encrypts no more ahead than hyper buffers: these bytes are in no
/// budget.
async fn handshake<I>(tls: &TlsAcceptor, stream: I) -> io::Result<TlsStream<I>>
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    tls.accept_with(stream, |session| session.set_buffer_limit(Some(BUFFER_BYTES_MAX))).await
}

/// Waits until the server has come to a stage.
async fn reached(stopping: &mut watch::Receiver<Stage>, stage: Stage) {
    // It only fails when nobody can tell any more, which is the end as well.
    drop(stopping.wait_for(|now| *now >= stage).await);
}

/// Whether the kernel gave a connection up, and the next write was the first to meet it.
fn is_timed_out(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// Two `Host` headers may name one server to a proxy and another one here.
fn has_two_hosts(headers: &HeaderMap) -> bool {
    headers.get_all(header::HOST).iter().nth(1).is_some()
}

/// The answer to a request that a proxy may read in another way (RFC 9112, 3.2), and the
/// connection's end.
fn ambiguous() -> Response {
    let mut answer = Response::from(ApiError::BadRequest);
    let close = header::HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// Answers a client without a word from it that there is no place, and lets it go.
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
    // A client that does not take it has been refused all the same.
    drop(tokio::time::timeout(REFUSAL_TIMEOUT, refused).await);
}
