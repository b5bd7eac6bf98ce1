//! The accept loop: serves connections from a listener until the server is stopped.
//!
//! `warp::serve` is not enough: it has no TCP_NODELAY, no bounds on connections, heads and silence,
//! and no end to its drain (engine 9). `listener` accepts connections on its own sockets or on
//! `passed` ones. `per_address` counts the connections of each address. `connection` serves one
//! connection, `socket` holds its two parts, and `timeouts` its deadlines.

pub(crate) mod bounds;
mod connection;
pub(crate) mod descriptors;
mod listener;
pub(crate) mod passed;
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
use self::connection::{Connection, Open, refuse};
pub use self::listener::{Listen, Listener};
use self::per_address::PerAddress;
use self::socket::Socket;
use crate::callers::Peer;
use crate::observe::Observer;

/// The time that cut-off connections have to end. They need it only if all threads are busy.
const CUT_OFF_TIMEOUT: Duration = Duration::from_millis(200);

/// The pause after a failed attempt to accept a connection, for example without a descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The stages of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Accepts connections and answers requests.
    Serving,
    /// Accepts connections, and closes each after its next answer.
    Leaving,
    /// Answers only the requests in flight.
    Draining,
    /// Cuts off the remaining connections.
    Over,
}

/// Serves until `shutdown` is done, and for `bounds.drain_wait` longer. Answers in that time close
/// their connections. Then it accepts no more connections and answers the requests in flight. After
/// `bounds.drain_timeout` it cuts off those that remain, and returns.
pub async fn serve(
    listener: impl Into<Listener>,
    service: BoxedFilter<(Response,)>,
    observer: Observer,
    bounds: ConnectionBounds,
    shutdown: impl Future<Output = ()>,
) {
    let listener = listener.into();
    // Twice the limit of `timeouts`. Normally `timeouts` ends the connection first, with a reset
    // that the client notices.
    listener.drop_unread_after(2 * bounds.idle_timeout);
    let service = TowerToHyperService::new(warp::service(service));
    let free = Arc::new(Semaphore::new(bounds.max));
    let per_address = PerAddress::new(bounds.per_address);
    // Each connection holds a receiver: the connection notices the stop by it, and the server waits
    // until no receiver is left.
    let (stop, stopping) = watch::channel(Stage::Serving);
    let mut closing = pin!(async {
        shutdown.await;
        stop.send(Stage::Leaving).ok();
        tokio::time::sleep(bounds.drain_wait).await;
    });
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
            () = &mut closing => break,
        };
        let Some(counted) = per_address.add(peer) else {
            observer.connections().refused.inc();
            let address = observer.address(peer);
            tracing::debug!(address, "an address has too many connections");
            // A TLS client could not read an answer that is not encrypted.
            if listener.tls().is_none() {
                tokio::spawn(refuse(socket, place));
            }
            continue;
        };
        let connection = Connection {
            socket,
            peer,
            tls: listener.tls().map(|tls| tls.acceptor()),
            bounds,
            observer: observer.clone(),
            _place: (place, counted),
            _open: Open::new(observer.connections().clone()),
        };
        tokio::spawn(connection.run(service.clone(), stopping.clone()));
    }
    drop(stopping);
    drop(listener);
    stop.send(Stage::Draining).ok();
    if tokio::time::timeout(bounds.drain_timeout, stop.closed()).await.is_ok() {
        return;
    }
    tracing::warn!("requests in flight were cut off");
    stop.send(Stage::Over).ok();
    tokio::time::timeout(CUT_OFF_TIMEOUT, stop.closed()).await.ok();
}

/// Serves one connection without a listener until the connection ends or `shutdown` is done. For
/// fuzzing: the bytes are handled as in [`serve`].
#[doc(hidden)]
pub async fn serve_connection(
    socket: UnixStream,
    service: BoxedFilter<(Response,)>,
    observer: Observer,
    bounds: ConnectionBounds,
    shutdown: impl Future<Output = ()>,
) {
    let place = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("it is the only one");
    let counted = PerAddress::new(None).add(Peer::Socket).expect("there is no bound");
    let (stop, stopping) = watch::channel(Stage::Serving);
    let connection = Connection {
        socket: Socket::Unix(socket),
        peer: Peer::Socket,
        tls: None,
        bounds,
        _open: Open::new(observer.connections().clone()),
        observer,
        _place: (place, counted),
    };
    let service = TowerToHyperService::new(warp::service(service));
    let stopped = async {
        shutdown.await;
        stop.send(Stage::Leaving).ok();
        tokio::time::sleep(bounds.drain_wait).await;
        stop.send(Stage::Draining).ok();
        tokio::time::sleep(bounds.drain_timeout).await;
        stop.send(Stage::Over).ok();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = connection.run(service, stopping) => {}
        () = stopped => {}
    }
}
