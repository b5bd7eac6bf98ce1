//! The accept loop: the service on a socket, until told to stop.
//!
//! Our own loop, not `warp::serve`, which has no TCP_NODELAY and no drain
//! (engine, decision 9).

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use crate::call::Peer;

/// How long a client may take to send its request's head.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

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
    shutdown: impl Future<Output = ()>,
) {
    let service = TowerToHyperService::new(warp::service(service));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    // Each connection holds a receiver: it hears of the stop, and is waited for.
    let (stop, stopping) = watch::channel(());
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => (stream, Peer(peer.ip())),
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
        tokio::spawn(converse(http.clone(), stream, peer, service.clone(), stopping.clone()));
    }
    drop((listener, stopping));
    stop.send(()).ok();
    tokio::select! {
        () = stop.closed() => {}
        () = tokio::time::sleep(DRAIN_TIMEOUT) => tracing::warn!("requests in flight were cut off"),
    }
}

/// Answers the requests of one connection, until it ends or the server stops.
async fn converse<S>(
    http: http1::Builder,
    stream: TcpStream,
    peer: Peer,
    service: S,
    mut stopping: watch::Receiver<()>,
) where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    let has_asked = Arc::new(AtomicBool::new(false));
    let service = service_fn({
        let has_asked = has_asked.clone();
        move |mut request: Request<Incoming>| {
            has_asked.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(peer);
            service.call(request)
        }
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(SILENCE_TIMEOUT, connection.as_mut()).await {
                Ok(ended) => ended,
                Err(_) if has_asked.load(Ordering::Relaxed) => connection.await,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
