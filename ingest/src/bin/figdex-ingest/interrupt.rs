//! Ctrl-C during a build: the build ends where it is, removes what is half-made, and says what is
//! published.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use figdex_index::Publication;
use figdex_ingest::terminal;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a program that SIGINT ended.
pub(crate) const EXIT_CODE: u8 = 130;

/// Whether Ctrl-C was pressed.
static PRESSED: AtomicBool = AtomicBool::new(false);

/// A build was ended by Ctrl-C.
#[derive(Debug)]
pub(crate) struct Interrupted {
    /// The generation that is published, if there is one.
    stands: Option<u64>,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stands {
            Some(number) => write!(f, "interrupted: the old index, generation {number}, stands"),
            None => f.write_str("interrupted: nothing is published"),
        }
    }
}

impl std::error::Error for Interrupted {}

impl Interrupted {
    fn of(index: &Path) -> Self {
        Self { stands: Publication::of(index).ok().map(|found| found.generation) }
    }
}

/// The payload that unwinds from [`check`] to [`catch`].
struct Unwinding;

/// From now on Ctrl-C ends the build of this index at its next [`check`]; pressed again, at once.
///
/// # Errors
/// When the system refuses.
pub(crate) fn listen(index: PathBuf) -> anyhow::Result<()> {
    let what = "waiting for Ctrl-C";
    let runtime = runtime::Builder::new_current_thread().enable_io().build().context(what)?;
    let mut presses = {
        let _runtime = runtime.enter();
        signal(SignalKind::interrupt()).context(what)?
    };
    thread::spawn(move || {
        runtime.block_on(presses.recv());
        PRESSED.store(true, Ordering::Relaxed);
        terminal::note(&"\nstopping; Ctrl-C again ends at once, and the next build tidies up");
        runtime.block_on(presses.recv());
        // The build goes on until the process has ended, but it cannot publish within this time
        // unless it was about to.
        terminal::note(&format_args!("figdex-ingest: {}", Interrupted::of(&index)));
        std::process::exit(EXIT_CODE.into());
    });
    Ok(())
}

/// Ends the build when Ctrl-C was pressed. What is half-made is removed as the build unwinds.
pub(crate) fn check() {
    if PRESSED.load(Ordering::Relaxed) {
        panic::resume_unwind(Box::new(Unwinding));
    }
}

/// Runs a build that calls [`check`].
///
/// # Errors
/// [`Interrupted`], when such a call ended it.
pub(crate) fn catch<T>(index: &Path, build: impl FnOnce() -> T) -> Result<T, Interrupted> {
    // Nothing that the build has changed is used after it was ended.
    panic::catch_unwind(AssertUnwindSafe(build)).map_err(|payload| {
        if !payload.is::<Unwinding>() {
            panic::resume_unwind(payload);
        }
        Interrupted::of(index)
    })
}
