//! A server of this process on a real port, with settings, keys or answers of the test's choice.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use figdex::callers::auth::KeyRing;
use figdex::config::Settings;
use figdex::{ConnectionBounds, Observer, State};
use tokio::sync::oneshot;

use super::{Server, Service};

/// Serves on a free port while `test` runs, then stops and waits for the end.
pub(crate) fn serving(test: impl FnOnce(SocketAddr)) {
    serving_with(Settings::default(), |address, _stop| test(address));
}

/// As [`serving`]; `test` may stop the server itself.
pub(crate) fn serving_with(settings: Settings, test: impl FnOnce(SocketAddr, oneshot::Sender<()>)) {
    serving_dump("figi,ticker\nBBG000BLNNH6,IBM\n", settings, test);
}

/// As [`serving_with`], over the test's dump.
pub(crate) fn serving_dump(
    dump: &str,
    settings: Settings,
    test: impl FnOnce(SocketAddr, oneshot::Sender<()>),
) {
    serving_keys(dump, settings, Arc::default(), test);
}

/// As [`serving_dump`], and accepts those keys.
pub(crate) fn serving_keys(
    dump: &str,
    settings: Settings,
    keys: Arc<KeyRing>,
    test: impl FnOnce(SocketAddr, oneshot::Sender<()>),
) {
    let connections = settings.connections;
    let server = Server::with(dump, |catalogue| State::new(catalogue, settings).with_keys(keys));
    let (service, observer) = (server.service.clone(), server.observer.clone());
    serving_on(service, observer, connections, test);
}

/// As [`serving_with`], with the test's own routes.
pub(crate) fn serving_service(
    service: Service,
    connections: ConnectionBounds,
    test: impl FnOnce(SocketAddr, oneshot::Sender<()>),
) {
    serving_on(service, Observer::none(), connections, test);
}

pub(crate) fn serving_on(
    service: Service,
    observer: Observer,
    connections: ConnectionBounds,
    test: impl FnOnce(SocketAddr, oneshot::Sender<()>),
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = runtime.spawn(figdex::serve(listener, service, observer, connections, async {
        // Stopped by the test, or by its end, which drops the sender.
        stopped.await.ok();
    }));
    test(address, stop);
    runtime.block_on(serving).unwrap();
    assert!(TcpStream::connect(address).is_err(), "nothing is accepted any more");
    // As in the program, the end does not wait for work that blocks a thread.
    runtime.shutdown_background();
}

/// Sends bytes and reads until the server closes.
pub(crate) fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
