//! One connection, from its first byte to its end: the handshake of TLS if there is
//! one, then requests and answers, each within its time.
//!
//! What a connection holds is small until it is needed: before its first byte a task
//! and its timer, then [`BUFFER_BYTES_MAX`] each way at most, and the bodies and
//! answers that `budget` counts.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_rustls::TlsAcceptor;
use warp::reply::Response;

use super::Connections;
use super::crowd::Presence;
use super::listener::Socket;
use super::pace::{Pace, Paced};
use crate::call::Peer;
use crate::encoding;
use crate::error::ApiError;
use crate::metrics::ConnectionMetrics;
use crate::observe::Observer;

/// Bytes of a request's head: its line and its headers. Beyond them the answer is 431,
/// as beyond 100 headers, which is hyper's own bound: set by us, each request would
/// cost an allocation.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Bytes that are read ahead, or wait to be written beside an answer.
const BUFFER_BYTES_MAX: usize = 32 << 10;

/// How long a connection that never brought a whole head may live after the stop: a
/// request may be on its way, but browsers also open connections for later use.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a refused client may take to take the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that was accepted.
pub(super) struct Conversation {
    pub(super) socket: Box<dyn Socket>,
    pub(super) peer: Peer,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) connections: Connections,
    pub(super) observer: Observer,
    /// Its place among all and among those of its address, free again when dropped.
    pub(super) _place: (OwnedSemaphorePermit, Presence),
    pub(super) _open: Open,
}

/// That a connection is open, as long as it is.
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

impl Conversation {
    /// Answers its requests, until it ends, is too slow, or the server stops.
    pub(super) async fn hold<S>(self, service: S, mut stopping: watch::Receiver<bool>)
    where
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        let Self { socket, peer, tls, connections, observer, _place, _open } = self;
        let pace = Pace::new();
        let client = Client { pace, peer, connections, observer };
        let mut stream = Paced::new(socket, client.pace.clone());
        // Nobody is given a buffer who sends nothing.
        match client.first(stream.begin(), &mut stopping).await {
            Some(Ok(())) => {}
            Some(Err(_)) | None => return,
        }
        // Boxed, since a task is as large as the largest that it may come to.
        match tls {
            None => Box::pin(client.talk(stream, service, stopping)).await,
            Some(tls) => match client.first(Box::pin(tls.accept(stream)), &mut stopping).await {
                Some(Ok(stream)) => Box::pin(client.talk(stream, service, stopping)).await,
                Some(Err(error)) => tracing::debug!(%error, "a handshake failed"),
                None => {}
            },
        }
    }
}

/// The other end: how fast it is, where it is, and how long what may take.
struct Client {
    pace: Arc<Pace>,
    peer: Peer,
    connections: Connections,
    observer: Observer,
}

impl Client {
    /// What comes before the first head; `None` when that is too slow, or the server
    /// stops.
    async fn first<T>(
        &self,
        work: impl Future<Output = io::Result<T>>,
        stopping: &mut watch::Receiver<bool>,
    ) -> Option<io::Result<T>> {
        tokio::select! {
            done = work => Some(done),
            () = self.too_slow() => None,
            () = async {
                stopped(stopping).await;
                tokio::time::sleep(SILENCE_TIMEOUT).await;
            } => None,
        }
    }

    async fn too_slow(&self) {
        self.pace.too_slow(&self.connections).await;
        self.observer.connections().timed_out.inc();
        tracing::debug!("a connection was too slow");
    }

    async fn talk<I, S>(&self, stream: I, service: S, mut stopping: watch::Receiver<bool>)
    where
        I: AsyncRead + AsyncWrite + Unpin,
        S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
    {
        let (pace, peer, observer) = (&*self.pace, self.peer, &self.observer);
        let service = service_fn(move |mut request: Request<Incoming>| {
            pace.begin_answer();
            request.extensions_mut().insert(peer);
            let is_head = request.method() == Method::HEAD;
            let observed = observer.begin(request.method(), request.headers());
            let answer = service.call(request);
            async move {
                let answer = async { answer.await.unwrap_or_else(|never| match never {}) };
                let answer = observed.answering(answer).await;
                pace.end_answer(if is_head { 0 } else { encoding::body_bytes(&answer) });
                Ok::<_, Infallible>(answer)
            }
        });
        let mut http = http1::Builder::new();
        http.max_header_size(HEAD_BYTES_MAX).max_buf_size(BUFFER_BYTES_MAX);
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.too_slow() => return,
            () = stopped(&mut stopping) => {
                connection.as_mut().graceful_shutdown();
                match tokio::time::timeout(SILENCE_TIMEOUT, connection.as_mut()).await {
                    Ok(ended) => ended,
                    Err(_) if self.pace.has_asked() => connection.await,
                    Err(_) => return,
                }
            }
        };
        if let Err(error) = ended {
            if error.is_parse() {
                self.observer.connections().malformed.inc();
            }
            tracing::debug!(%error, "a connection broke off");
        }
    }
}

/// Waits until the server is told to stop.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // It only fails when nobody can tell any more, which is the end as well.
    drop(stopping.wait_for(|stopped| *stopped).await);
}

/// Tells a client without a word from it that there is no place, and lets it go.
pub(super) async fn refuse(mut socket: Box<dyn Socket>, _place: OwnedSemaphorePermit) {
    let (status, text) = ApiError::Unavailable.line();
    let answer = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/html; charset=utf-8\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    );
    let told = async {
        socket.write_all(answer.as_bytes()).await?;
        socket.shutdown().await
    };
    // Whether it arrives is the client's affair.
    drop(tokio::time::timeout(REFUSAL_TIMEOUT, told).await);
}
