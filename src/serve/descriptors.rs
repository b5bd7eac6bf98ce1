//! The limit on open files. Each connection is an open file, and a shell allows a program 1,024 of
//! them unless it asks for more.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of open files apart from connections: files of the index, logs, the runtime.
const SPARE: u64 = 256;

/// Raises the limit on open files to the number that `connections` need. If the system allows
/// fewer, the server runs anyway, with a warning.
pub(crate) fn provide(connections: usize) {
    let needed = connections as u64 + SPARE;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let granted = maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(granted), maximum });
    let granted = if raised.is_ok() { Some(granted) } else { current };
    if granted.is_some_and(|granted| granted < needed) {
        tracing::warn!(
            open_files = granted,
            connections,
            "the system allows fewer open files than the connections need"
        );
    }
}
