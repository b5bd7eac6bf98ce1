//! The accept loop: the service on a socket, until told to stop.
//!
//! Our own loop, not `warp::serve`, which has no TCP_NODELAY, no bound on connections,
//! on heads and on silence, and no drain. `listener` accepts connections, `crowd` counts
//! those of each address, `conversation` holds one, `socket` is its two parts, and `pace`
//! its deadlines.

pub(crate) mod bounds;
mod connection;
pub(crate) mod descriptors;
mod listener;
mod per_address;
mod socket;
mod timeouts;
pub(crate) mod tls;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::service::TowerToHyperService;
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, watch};
use warp::filters::BoxedFilter;
use warp::reply::Response;

use self::bounds::ConnectionBounds;
use self::connection::{Conversation, Open, refuse};
pub use self::listener::{Listen, Listener};
use self::per_address::Crowd;
use self::socket::Socket;
use crate::caller::Peer;
use crate::observe::Observer;

/// How long connections that were cut off may take to end: a moment, unless all threads are
/// busy. Nothing waits for them then.
const CUT_OFF_WAIT: Duration = Duration::from_millis(200);

/// How long to wait when the system has no descriptor for a new connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Serving,
    /// Requests in flight are answered, and no others.
    Draining,
    /// Nothing is waited for any more.
    Over,
}

/// Serves until `shutdown` is done; then accepts nothing more, answers what is in
/// flight, and returns after `drain_timeout` at the latest.
pub async fn serve(
    listener: impl Into<Listener>,
    service: BoxedFilter<(Response,)>,
    observer: Observer,
    connections: ConnectionBounds,
    shutdown: impl Future<Output = ()>,
) {
    let listener = listener.into();
    // Later than `pace` does, whose reset tells the client.
    listener.give_up_after(2 * connections.idle_timeout);
    let service = TowerToHyperService::new(warp::service(service));
    let free = Arc::new(Semaphore::new(connections.max));
    let crowd = Crowd::new(connections.per_address);
    // Each connection holds a receiver: it hears of the stop, and is waited for.
    let (stop, stopping) = watch::channel(Stage::Serving);
    let mut shutdown = pin!(shutdown);
    let accept = async || {
        let place = free.clone().acquire_owned().await;
        let place = place.expect("the semaphore is never closed");
        listener.accept().await.map(|(socket, peer)| (socket, peer, place))
    };
    loop {
        let (socket, peer, place) = tokio::select! {
            accepted = accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    observer.connections().refused.inc();
                    tracing::warn!(%error, "accepting a connection failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        let Some(presence) = crowd.enter(peer) else {
            observer.connections().refused.inc();
            tracing::debug!(?peer, "an address has too many connections");
            // Words that are not encrypted would mean nothing to a client of TLS.
            if listener.tls().is_none() {
                tokio::spawn(refuse(socket, place));
            }
            continue;
        };
        let conversation = Conversation {
            socket,
            peer,
            tls: listener.tls().map(|tls| tls.acceptor()),
            connections,
            observer: observer.clone(),
            _place: (place, presence),
            _open: Open::new(observer.connections().clone()),
        };
        tokio::spawn(conversation.hold(service.clone(), stopping.clone()));
    }
    drop(stopping);
    drop(listener);
    stop.send(Stage::Draining).ok();
    if tokio::time::timeout(connections.drain_timeout, stop.closed()).await.is_ok() {
        return;
    }
    tracing::warn!("requests in flight were cut off");
    stop.send(Stage::Over).ok();
    tokio::time::timeout(CUT_OFF_WAIT, stop.closed()).await.ok();
}

/// Serves one connection, which some other program than a listener has made, until it ends
/// or `shutdown` is done. For fuzzing: all bytes of a connection go through here as they do
/// in [`serve`].
#[doc(hidden)]
pub async fn serve_connection(
    socket: UnixStream,
    service: BoxedFilter<(Response,)>,
    observer: Observer,
    connections: ConnectionBounds,
    shutdown: impl Future<Output = ()>,
) {
    let place = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("it is the only one");
    let presence = Crowd::new(None).enter(Peer::Socket).expect("there is no bound");
    let (stop, stopping) = watch::channel(Stage::Serving);
    let conversation = Conversation {
        socket: Socket::Unix(socket),
        peer: Peer::Socket,
        tls: None,
        connections,
        _open: Open::new(observer.connections().clone()),
        observer,
        _place: (place, presence),
    };
    let service = TowerToHyperService::new(warp::service(service));
    let stopped = async {
        shutdown.await;
        stop.send(Stage::Draining).ok();
        tokio::time::sleep(connections.drain_timeout).await;
        stop.send(Stage::Over).ok();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = conversation.hold(service, stopping) => {}
        () = stopped => {}
    }
}
