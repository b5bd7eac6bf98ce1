//! The accept loop: the service on a socket, until told to stop.
//!
//! Our own loop, not `warp::serve`, which has no TCP_NODELAY and no drain
//! (engine, decision 9).

use std::future::Future;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use crate::call::Peer;

/// How long a client may take to send its request's head.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long requests in flight may take after the server was told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

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
    let connections = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
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
        let service = service.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            service.call(request)
        });
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
        });
    }
    drop(listener);
    tokio::select! {
        () = connections.shutdown() => {}
        () = tokio::time::sleep(DRAIN_TIMEOUT) => tracing::warn!("requests in flight were cut off"),
    }
}
