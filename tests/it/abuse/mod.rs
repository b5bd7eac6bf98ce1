//! Attacks on a server by its clients, and on a build by its dumps. In each case the process goes
//! on, other clients are served meanwhile, and memory stays below a stated bound. All attacks are
//! bounded and stay on this machine.

mod addresses;
mod bombs;
mod bounds;
mod connections;
mod fair;
mod growth;
mod heads;
mod json;
mod leaving;

mod questions;
mod smuggling;
mod stopping;
mod terminal;
mod unread;
mod waiting;
mod work;

use crate::support::process::Process;

/// The most memory of a server over a small index, whatever a test sends it, unless the test has
/// its own bound.
const MEMORY_MAX: u64 = 192 << 20;

/// Asserts that an answer reveals nothing about the machine: its files, the index, the source.
fn assert_reveals_nothing(figdex: &Process, answer: &str) {
    let index = figdex.index();
    let index = index.to_str().unwrap();
    let folder = std::env::temp_dir();
    let secrets = [index, folder.to_str().unwrap(), env!("CARGO_MANIFEST_DIR")];
    let traces =
        ["/home/", "/usr/", "/.cargo/", "src/", ".rs:", "panicked", "generation-0", "os error"];
    for secret in secrets.into_iter().chain(traces) {
        assert!(!answer.contains(secret), "{secret:?} in {answer:?}");
    }
}
