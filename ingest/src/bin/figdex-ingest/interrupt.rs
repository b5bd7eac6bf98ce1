//! Ctrl-C (SIGINT) and SIGTERM during a build: the build ends where it is, removes what is half-made,
//! and says what is published.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anyhow::Context as _;
use figdex_index::Publication;
use figdex_io::terminal;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// The exit codes of a program that SIGINT or SIGTERM ended.
const BY_INTERRUPT: u8 = 130;
const BY_TERMINATE: u8 = 143;

/// The exit code of the signal that came first; 0 before one came.
static PRESSED: AtomicU8 = AtomicU8::new(0);

/// A build was ended by a signal.
#[derive(Debug)]
pub(crate) struct Interrupted {
    /// The exit code of the program.
    pub(crate) code: u8,
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
        let stands = Publication::of(index).ok().map(|found| found.generation);
        Self { code: PRESSED.load(Ordering::Relaxed), stands }
    }
}

/// The payload that unwinds from [`check`] to [`catch`].
struct Unwinding;

/// From now on Ctrl-C or SIGTERM ends the build of this index at its next [`check`]; a second one, at
/// once.
///
/// # Errors
/// When the system refuses.
pub(crate) fn listen(index: PathBuf) -> anyhow::Result<()> {
    let what = "waiting for Ctrl-C";
    let runtime = runtime::Builder::new_current_thread().enable_io().build().context(what)?;
    let [mut interrupts, mut terminations] = {
        let _runtime = runtime.enter();
        let listen = |kind| signal(kind).context(what);
        [listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?]
    };
    thread::spawn(move || {
        let mut next = || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupts.recv() => BY_INTERRUPT,
                    _ = terminations.recv() => BY_TERMINATE,
                }
            })
        };
        PRESSED.store(next(), Ordering::Relaxed);
        terminal::note(&"\nstopping; Ctrl-C again ends at once, and the next build tidies up");
        let code = next();
        // The build goes on until the process has ended, but it cannot publish within this time
        // unless it was about to.
        terminal::note(&format_args!("figdex-ingest: {}", Interrupted::of(&index)));
        std::process::exit(code.into());
    });
    Ok(())
}

/// Ends the build after a signal. What is half-made is removed as the build unwinds.
pub(crate) fn check() {
    if PRESSED.load(Ordering::Relaxed) != 0 {
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
