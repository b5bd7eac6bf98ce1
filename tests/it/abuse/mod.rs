//! What strangers may do to a server, and dumps to a build. In each case the process
//! lives, another client is served meanwhile, and memory stays below a line that
//! stands here. All of it is bounded, and stays on this machine.

mod addresses;
mod bombs;
mod connections;
mod heads;
mod json;
mod leaving;
mod memory;
mod smuggling;
mod stopping;
mod terminal;
mod unread;
mod waiting;
mod work;

use crate::support::process::Process;

/// What a server over a small index takes with everything that a test sends it, where
/// no line of its own is said.
const MEMORY_MAX: u64 = 192 << 20;

/// No answer tells anything of the machine: its files, the index, the source.
fn assert_tells_nothing(figdex: &Process, answer: &str) {
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
