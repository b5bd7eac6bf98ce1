//! The accept loop: the service on a socket, until told to stop.
//!
//! Our own loop, not `warp::serve`, which has no TCP_NODELAY, no bound on connections,
//! on heads and on silence, and no drain (engine, decision 9).

mod pace;

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use warp::filters::BoxedFilter;
use warp::reply::Response;

use self::pace::{Pace, Paced};
use crate::call::Peer;

/// What connections may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// How many there may be at a time; who comes then waits until one has ended.
    pub max: usize,
    /// How long a client may take to send its request's head.
    pub head_wait: Duration,
    /// How long it may be silent between two requests, or leave an answer unread.
    pub idle_wait: Duration,
}

impl Connections {
    /// Enough for clients without number that behave.
    pub const DEFAULT: Self = Self {
        max: 10_000,
        head_wait: Duration::from_secs(15),
        idle_wait: Duration::from_secs(75),
    };
}

impl Default for Connections {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How long requests in flight may take after the server was told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection that never brought a whole head may live after the stop: a
/// request may be on its way, but browsers also open connections for later use.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait when the system has no descriptor for a new connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` is done; then accepts nothing more, answers what is in
/// flight, and returns.
pub async fn serve(
    listener: TcpListener,
    service: BoxedFilter<(Response,)>,
    connections: Connections,
    shutdown: impl Future<Output = ()>,
) {
    let service = TowerToHyperService::new(warp::service(service));
    let free = Arc::new(Semaphore::new(connections.max));
    // Each connection holds a receiver: it hears of the stop, and is waited for.
    let (stop, stopping) = watch::channel(());
    let mut shutdown = pin!(shutdown);
    let accept = async || {
        let place = free.clone().acquire_owned().await;
        let place = place.expect("the semaphore is never closed");
        listener.accept().await.map(|(stream, peer)| (stream, Peer(peer.ip()), place))
    };
    loop {
        let (stream, peer, place) = tokio::select! {
            accepted = accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was gone before it began");
            continue;
        }
        let connection = Connection { stream, peer, connections, _place: place };
        tokio::spawn(converse(connection, service.clone(), stopping.clone()));
    }
    drop(stopping);
    drop(listener);
    stop.send(()).ok();
    tokio::select! {
        () = stop.closed() => {}
        () = tokio::time::sleep(DRAIN_TIMEOUT) => tracing::warn!("requests in flight were cut off"),
    }
}

/// A connection that was accepted.
struct Connection {
    stream: TcpStream,
    peer: Peer,
    connections: Connections,
    /// Its place among them, which is free again when it is dropped.
    _place: OwnedSemaphorePermit,
}

/// Answers the requests of one connection, until it ends, is too slow, or the server
/// stops.
async fn converse<S>(connection: Connection, service: S, mut stopping: watch::Receiver<()>)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    let Connection { stream, peer, connections, _place } = connection;
    let pace = Pace::new();
    let service = service_fn({
        let pace = pace.clone();
        move |mut request: Request<Incoming>| {
            pace.begin_answer();
            request.extensions_mut().insert(peer);
            let (answer, pace) = (service.call(request), pace.clone());
            async move {
                let answer = answer.await;
                pace.end_answer();
                answer
            }
        }
    });
    let stream = TokioIo::new(Paced::new(stream, pace.clone()));
    let mut connection = pin!(http1::Builder::new().serve_connection(stream, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = pace.too_slow(connections.head_wait, connections.idle_wait) => {
            tracing::debug!("a connection was too slow");
            return;
        }
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(SILENCE_TIMEOUT, connection.as_mut()).await {
                Ok(ended) => ended,
                Err(_) if pace.has_asked() => connection.await,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
