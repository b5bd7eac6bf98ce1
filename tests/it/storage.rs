//! A server over a copy of an index in object storage. The storage is a folder here; real servers of
//! S3, and faults between them and Figdex, are in `tests/tools/storage`.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use figdex_ingest::Input;
use figdex_io::{Address, StorageAddress};
use figdex_storage::{PublishOptions, Said, StorageSettings, Store};
use serde_json::Value;

use crate::support::process::{PATIENCE, Process, figdex, get, metric, run};
use crate::support::{build_of, decay};

/// A storage, an index that is published there, and the copies of servers.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn address(&self) -> StorageAddress {
        let address = format!("file://{}", self.path("storage").display());
        let Ok(Address::Storage(address)) = address.parse() else { panic!("{address}") };
        address
    }

    fn call<T>(&self, call: impl AsyncFnOnce(&Store) -> figdex_storage::Result<T>) -> T {
        let store = Store::open(&self.address(), &StorageSettings::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(call(&store)).unwrap()
    }

    /// Builds a generation with an instrument of that ticker, and publishes it.
    fn publish(&self, ticker: &str) {
        let index = self.path("index");
        let dump = format!("figi,ticker\nBBG000BLNNH6,{ticker}\n").into_bytes();
        build_of(vec![Input::Memory("dump", dump.into())], &index).run(&mut |_| {}).unwrap();
        let options = PublishOptions { keep: 1, grace: Duration::ZERO };
        self.call(async |store| figdex_storage::publish(store, &index, options, |_, _| {}).await);
    }

    /// A server over the copy of that name.
    fn serve(&self, copy: &str) -> Process {
        let mut command = figdex();
        command.args(["--no-limits", "--listen", "127.0.0.1:0", "--index"]);
        command.arg(self.address().to_string()).arg("--cache").arg(self.path(copy));
        Process::start(&mut command)
    }
}

/// The ticker of the one instrument.
fn ticker(server: SocketAddr) -> String {
    let (status, found) = get(server, "/instruments/BBG000BLNNH6");
    assert_eq!(status, 200, "{found}");
    found["instrument"]["ticker"].as_str().unwrap().to_owned()
}

/// The facts about the storage in `/readyz`, as soon as its state is `state`. The server is always ready.
fn standing(server: SocketAddr, state: &str) -> Value {
    let start = Instant::now();
    loop {
        let (status, ready) = get(server, "/readyz");
        assert_eq!((status, ready["status"].as_str()), (200, Some("ready")), "{ready}");
        if ready["storage"]["state"] == state {
            return ready["storage"].clone();
        }
        assert!(start.elapsed() < PATIENCE, "{ready}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn await_ticker(server: SocketAddr, expected: &str) {
    let start = Instant::now();
    while ticker(server) != expected {
        assert!(start.elapsed() < PATIENCE, "it serves {}", ticker(server));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A new server fetches what is published; what is published later is taken by all servers; going
/// back too.
#[test]
fn servers_follow_what_is_published() {
    let desk = Desk::new();
    desk.publish("ONE");
    let servers = ["a", "b"].map(|copy| desk.serve(copy));
    for server in &servers {
        assert_eq!(ticker(server.address()), "ONE");
        let found = standing(server.address(), "current");
        assert_eq!((&found["published"], &found["behind_seconds"]), (&1.into(), &0.into()));
    }
    desk.publish("TWO");
    for server in &servers {
        server.signal("-HUP");
        await_ticker(server.address(), "TWO");
    }
    desk.call(async |store| figdex_storage::rollback(store).await);
    for server in servers {
        // Without a signal it looks by itself.
        await_ticker(server.address(), "ONE");
        let address = server.address();
        assert_eq!(metric(address, "figdex_storage_published_generation"), 1.0);
        assert_eq!(metric(address, "figdex_storage_behind_seconds"), 0.0);
        assert!(metric(address, "figdex_storage_fetched_bytes_total") > 1_000.0);
        server.stop();
    }
}

/// Each server leaves a note about what it serves, which is listed, also after it has ended.
#[test]
fn servers_are_listed() {
    let desk = Desk::new();
    desk.publish("ONE");
    let servers = ["a", "b"].map(|copy| desk.serve(copy));
    let listed = |expected: &[Option<u64>]| {
        let start = Instant::now();
        loop {
            let found = desk.call(async |store| figdex_storage::overview(store).await).replicas;
            let mut behind: Vec<_> = found.noted.iter().map(|noted| behind(&noted.said)).collect();
            behind.sort_unstable();
            if behind == expected {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{found:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let found = listed(&[Some(0), Some(0)]);
    assert!(found.noted.iter().all(|noted| !noted.is_stale), "{found:?}");
    let [first, second] = servers;
    first.stop();
    desk.publish("TWO");
    second.signal("-HUP");
    listed(&[Some(0), Some(1)]);
    // At its next start it goes on under its name.
    let first = desk.serve("a");
    let shown = listed(&[Some(0), Some(0)]).to_string();
    assert_eq!((shown.lines().count(), shown.matches(" 2  20").count()), (3, 2), "{shown}");
    first.stop();
    second.stop();
}

/// The generations between the one in a note and the published one.
fn behind(said: &Said) -> Option<u64> {
    match said {
        Said::Serves { generations_behind, .. } => *generations_behind,
        Said::Unreadable { fault } => panic!("{fault}"),
    }
}

/// A storage that is away takes no server down: one that has a copy serves it at once, and says how
/// far behind it may be. When the storage is back, it follows again.
#[test]
fn a_storage_that_is_away() {
    let desk = Desk::new();
    desk.publish("ONE");
    desk.serve("a").stop();
    let away = desk.path("away");
    fs::rename(desk.path("storage"), &away).unwrap();
    let server = desk.serve("a");
    let address = server.address();
    assert_eq!(ticker(address), "ONE");
    let found = standing(address, "unknown");
    assert!(found["reason"].as_str().unwrap().contains("nothing is published at file://"));
    server.wait_for("the published generation is not taken; the old one stays in service", 1);
    assert!(metric(address, "figdex_storage_failures_total") > 0.0);
    fs::remove_dir_all(desk.path("storage")).unwrap();
    fs::rename(&away, desk.path("storage")).unwrap();
    desk.publish("TWO");
    server.signal("-HUP");
    await_ticker(address, "TWO");
    server.wait_for("the storage is followed again", 1);
    server.stop();
}

/// A server without a copy answers health, readiness and metrics at once, and nothing else; after the
/// first publication it serves, at the same address.
#[test]
fn a_server_may_come_before_its_index() {
    let desk = Desk::new();
    let mut command = figdex();
    command.args(["--listen", "127.0.0.1:0", "--index"]).arg(desk.address().to_string());
    command.arg("--cache").arg(desk.path("a"));
    let starting = "answering health and metrics on ";
    let server = Process::start_until(&mut command, starting);
    let place = server.place.trim_end_matches(", until there is an index");
    let address: SocketAddr = place.rsplit("://").next().unwrap().parse().unwrap();
    let (status, health) = get(address, "/healthz");
    assert_eq!((status, health["status"].as_str()), (200, Some("ok")), "{health}");
    let start = Instant::now();
    loop {
        let (status, ready) = get(address, "/readyz");
        assert_eq!((status, ready["status"].as_str()), (503, Some("starting")), "{ready}");
        let storage = &ready["storage"];
        assert_eq!((&storage["fetched_bytes"], &storage["missing_bytes"]), (&0.into(), &0.into()));
        if storage["reason"].as_str().is_some_and(|reason| reason.contains("nothing is published"))
        {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{ready}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(metric(address, "figdex_storage_failures_total") >= 1.0);
    assert_eq!(metric(address, "figdex_storage_missing_bytes"), 0.0);
    assert_eq!(get(address, "/instruments/BBG000BLNNH6").0, 503);
    desk.publish("ONE");
    server.wait_for("nothing can be served yet: waiting for the storage", 1);
    server.wait_for("serving on ", 1);
    assert_eq!(ticker(address), "ONE");
    standing(address, "current");
    server.stop();
}

/// A damaged piece is never served; the server names it, and takes it when it is repaired.
#[test]
fn damage_in_the_storage() {
    let desk = Desk::new();
    desk.publish("ONE");
    let server = desk.serve("a");
    desk.publish("TWO");
    let storage = desk.path("storage");
    let newest = newest_piece(&storage);
    let right = fs::read(&newest).unwrap();
    fs::write(&newest, &right[1..]).unwrap();
    server.signal("-HUP");
    let found = standing(server.address(), "behind");
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.contains(newest.file_name().unwrap().to_str().unwrap()), "{reason}");
    assert_eq!(ticker(server.address()), "ONE");
    fs::write(&newest, &right).unwrap();
    server.signal("-HUP");
    await_ticker(server.address(), "TWO");
    server.stop();
}

/// A piece that only the newest generation has.
fn newest_piece(storage: &Path) -> PathBuf {
    let entries = fs::read_dir(storage).unwrap().map(|entry| entry.unwrap().path());
    let is_generation =
        |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("generation-");
    let newest = entries.filter(is_generation).max().unwrap();
    let pieces = fs::read_dir(newest).unwrap().map(|entry| entry.unwrap().path());
    pieces.filter(|path| path.extension().is_none()).max().unwrap()
}

/// A copy that is damaged while no server runs is repaired at the start, from what is published.
#[test]
fn a_damaged_copy_is_repaired() {
    let desk = Desk::new();
    desk.publish("ONE");
    desk.serve("a").stop();
    let rows = desk.path("a/generation-000001/part-000/rows.heap");
    let file = fs::read_dir(desk.path("a/generation-000001/part-000")).unwrap();
    let file = file.map(|entry| entry.unwrap().path()).find(|path| path.is_file());
    let damaged = if rows.exists() { rows } else { file.unwrap() };
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[0] ^= 1;
    fs::write(&damaged, &bytes).unwrap();
    let server = desk.serve("a");
    server.wait_for("the copy cannot be opened: it is fetched again", 1);
    assert_eq!(ticker(server.address()), "ONE");
    server.stop();
}

/// Bytes that decay on the disk while they are served are found and fetched again; meanwhile the
/// generation before is served.
#[test]
fn decay_in_a_copy_is_repaired() {
    let desk = Desk::new();
    desk.publish("ONE");
    desk.serve("a").stop();
    desk.publish("TWO");
    let mut command = figdex();
    command.args(["--no-limits", "--listen", "127.0.0.1:0", "--scrub-rate", "5000", "--index"]);
    command.arg(desk.address().to_string()).arg("--cache").arg(desk.path("a"));
    let server = Process::start(&mut command);
    await_ticker(server.address(), "TWO");
    decay(&desk.path("a"), 2);
    server.wait_for("a file of the served generation is damaged: the one before it is served", 1);
    await_ticker(server.address(), "TWO");
    assert_eq!(metric(server.address(), "figdex_index_scrub_damaged_total"), 1.0);
    standing(server.address(), "current");
    server.stop();
}

/// Settings that cannot work are refused at the start, with advice.
#[test]
fn settings_that_do_not_fit() {
    let desk = Desk::new();
    let address = desk.address().to_string();
    let cache = desk.path("a").display().to_string();
    desk.publish("ONE");
    let server = desk.serve("a");
    for (arguments, expected) in [
        (&["--index", &address][..], "name it with `cache`"),
        (&["--cache", &cache], "it is for an index in object storage"),
        (&["--index", "s3://x", "--cache", &cache], "the name of a bucket has 3 to 63"),
        (&["--index", &address, "--cache", &cache], "each server needs its own copy"),
        (&["--index", "s3://abc", "--cache", "/x", "--storage-keys-file", "/none"], "/none"),
    ] {
        let mut command = figdex();
        let (code, _, error) = run(command.args(["--listen", "127.0.0.1:0"]).args(arguments));
        assert_eq!(code, Some(1), "{arguments:?} {error}");
        assert!(error.contains(expected), "{arguments:?} {error}");
    }
    for (arguments, expected) in [
        (&["explain", "-", "--index", &address][..], "has no plan to explain"),
        (&["map", "/dev/null", "--index", &address], "is copied before it is asked"),
    ] {
        let (code, _, error) = run(figdex().args(arguments));
        assert_eq!(code, Some(1), "{arguments:?} {error}");
        assert!(error.contains(expected), "{arguments:?} {error}");
    }
    server.stop();
}
