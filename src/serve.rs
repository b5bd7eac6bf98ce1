//! The accept loop: the service on a socket, until told to stop.
//!
//! Our own loop, not `warp::serve`, which has no TCP_NODELAY, no bound on connections,
//! on heads and on silence, and no drain (engine, decision 9). `listener` is where
//! connections come from, `crowd` how many an address may have, `conversation` what
//! becomes of one.

mod conversation;
mod crowd;
mod listener;
mod pace;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};
use warp::filters::BoxedFilter;
use warp::reply::Response;

use self::conversation::{Conversation, Open, refuse};
use self::crowd::Crowd;
pub use self::listener::{Listen, Listener};
use crate::observe::Observer;

/// What connections may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// How many there may be at a time; who comes then waits until one has ended.
    pub max: usize,
    /// How many of them one address may have, or one IPv6 network of 64 bits; whoever
    /// has more is refused. `None` is no bound, as behind a proxy, which has them all.
    pub per_address: Option<usize>,
    /// How long a client may take to send its request's head, and before the first one
    /// for the handshake of TLS.
    pub head_wait: Duration,
    /// How long it may be silent between two requests, or leave an answer unread.
    pub idle_wait: Duration,
    /// How much of an answer it must take in a second, after the time that it may be silent:
    /// who takes a byte now and then would keep the answer, and its part of what all answers
    /// may have, for as long as he likes. At least 1.
    pub answer_bytes_per_second: u64,
}

/// A tenth of all: many people behind one address have enough, a load program too,
/// and no single address shuts out the others.
const PER_ADDRESS: usize = 1_000;

impl Connections {
    /// Enough for clients without number that behave.
    pub const DEFAULT: Self = Self {
        max: 10_000,
        per_address: Some(PER_ADDRESS),
        head_wait: Duration::from_secs(15),
        idle_wait: Duration::from_secs(75),
        answer_bytes_per_second: 16 << 10,
    };
}

impl Default for Connections {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How long requests in flight may take after the server was told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait when the system has no descriptor for a new connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` is done; then accepts nothing more, answers what is in
/// flight, and returns.
pub async fn serve(
    listener: impl Into<Listener>,
    service: BoxedFilter<(Response,)>,
    observer: Observer,
    connections: Connections,
    shutdown: impl Future<Output = ()>,
) {
    let listener = listener.into();
    let service = TowerToHyperService::new(warp::service(service));
    let free = Arc::new(Semaphore::new(connections.max));
    let crowd = Crowd::new(connections.per_address);
    // Each connection holds a receiver: it hears of the stop, and is waited for.
    let (stop, stopping) = watch::channel(false);
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
    stop.send(true).ok();
    tokio::select! {
        () = stop.closed() => {}
        () = tokio::time::sleep(DRAIN_TIMEOUT) => tracing::warn!("requests in flight were cut off"),
    }
}
