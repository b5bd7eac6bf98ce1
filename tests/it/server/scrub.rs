//! The files of the served generation are read again while it is served.

use figdex_ingest::Input;

use crate::support::process::{Process, figdex, get, metric};
use crate::support::{build_of, decay};

/// A byte that decays is found: the generation before is served, until another one is published.
#[test]
fn a_server_falls_back_from_a_damaged_generation() {
    let desk = tempfile::tempdir().unwrap();
    let index = desk.path().join("index");
    let build = |ticker: &str| {
        let dump = format!("figi,ticker\nBBG000BLNNH6,{ticker}\n").into_bytes();
        build_of(vec![Input::Memory("dump", dump.into())], &index).run(&mut |_| {}).unwrap();
    };
    build("ONE");
    build("TWO");
    let mut command = figdex();
    command.args(["--no-limits", "--listen", "127.0.0.1:0", "--scrub-rate", "5000", "--index"]);
    let server = Process::start(command.arg(&index));
    let ticker = || {
        let (_, found) = get(server.address(), "/instruments/BBG000BLNNH6");
        found["instrument"]["ticker"].as_str().unwrap().to_owned()
    };
    assert_eq!(ticker(), "TWO");
    decay(&index, 2);
    let line = server.wait_for("a file of the served generation is damaged", 1);
    assert!(line.contains("decayed on the disk"), "{line}");
    assert_eq!(ticker(), "ONE");
    assert_eq!(metric(server.address(), "figdex_index_scrub_damaged_total"), 1.0);
    // SIGHUP without a repair is refused, and the old one stays.
    server.signal("-HUP");
    server.wait_for("the new generation is refused; the old one stays in service", 1);
    assert_eq!(ticker(), "ONE");
    assert_eq!(metric(server.address(), "figdex_index_publication_refused"), 1.0);
    build("THREE");
    server.wait_for("loaded a new generation", 1);
    assert_eq!(ticker(), "THREE");
    server.stop();
}

/// A pass over undamaged files ends, and can be turned off.
#[test]
fn all_files_are_read() {
    let server = Process::of_one(&["--no-limits"]);
    let start = std::time::Instant::now();
    while metric(server.address(), "figdex_index_scrub_passes_total") < 1.0 {
        assert!(start.elapsed() < crate::support::process::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (_, ready) = get(server.address(), "/readyz");
    let read = metric(server.address(), "figdex_index_scrubbed_bytes_total");
    assert_eq!(read, ready["bytes"].as_f64().unwrap());
    server.stop();
    let server = Process::of_one(&["--no-limits", "--scrub-rate", "none"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(metric(server.address(), "figdex_index_scrubbed_bytes_total"), 0.0);
    server.stop();
}
