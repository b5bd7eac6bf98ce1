//! Ctrl-C (SIGINT), SIGTERM and SIGHUP during a build: the build ends at its next [`check`],
//! removes its unfinished files, and reports the published generation. A build under `nohup`
//! continues after SIGHUP.

use std::fmt;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anyhow::Context as _;
use figdex_index::Publication;
use figdex_io::terminal;
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit codes of a program that SIGHUP, SIGINT or SIGTERM ended.
const BY_HANGUP: u8 = 129;
const BY_INTERRUPT: u8 = 130;
const BY_TERMINATE: u8 = 143;

/// The exit code for the first signal; 0 before any signal.
static PRESSED: AtomicU8 = AtomicU8::new(0);

/// The error of a build that a signal ended.
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

/// From now on, Ctrl-C, SIGTERM or SIGHUP ends the build of this index at its next [`check`], and a
/// second signal ends it at once. Under `nohup`, SIGHUP has no effect.
///
/// # Errors
/// When the system refuses.
pub(crate) fn listen(index: PathBuf) -> anyhow::Result<()> {
    let what = "waiting for Ctrl-C";
    let runtime = runtime::Builder::new_current_thread().enable_io().build().context(what)?;
    let (mut interrupts, mut terminations, mut hangups) = {
        let _runtime = runtime.enter();
        let listen = |kind| signal(kind).context(what);
        let hangups = (!ignores_hangups()).then(|| listen(SignalKind::hangup())).transpose()?;
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, hangups)
    };
    thread::spawn(move || {
        let mut next = || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupts.recv() => BY_INTERRUPT,
                    _ = terminations.recv() => BY_TERMINATE,
                    Some(()) = hangup(&mut hangups) => BY_HANGUP,
                }
            })
        };
        PRESSED.store(next(), Ordering::Relaxed);
        terminal::note(&"\nstopping; Ctrl-C again ends at once, and the next build tidies up");
        let code = next();
        // The build continues until the process has ended. In this short time the build cannot
        // publish, unless it was about to publish.
        terminal::note(&format_args!("figdex-ingest: {}", Interrupted::of(&index)));
        std::process::exit(code.into());
    });
    Ok(())
}

/// Whether this program was started to go on after SIGHUP, as under `nohup`.
fn ignores_hangups() -> bool {
    // A system without `/proc` does not say it: there SIGHUP ends the build, as it ends any program.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & 1 << (SignalKind::hangup().as_raw_value() - 1) != 0)
}

/// Waits for SIGHUP; `None` at once when the program ignores SIGHUP.
async fn hangup(hangups: &mut Option<Signal>) -> Option<()> {
    hangups.as_mut()?.recv().await
}

/// Ends the build if a signal came. Unwinding the build removes its unfinished files.
pub(crate) fn check() {
    if PRESSED.load(Ordering::Relaxed) != 0 {
        panic::resume_unwind(Box::new(Unwinding));
    }
}

/// Runs a build that calls [`check`].
///
/// # Errors
/// [`Interrupted`] when one of these calls ended the build.
pub(crate) fn catch<T>(index: &Path, build: impl FnOnce() -> T) -> Result<T, Interrupted> {
    // State that the build has changed is not used after the build was ended.
    panic::catch_unwind(AssertUnwindSafe(build)).map_err(|payload| {
        if !payload.is::<Unwinding>() {
            panic::resume_unwind(payload);
        }
        Interrupted::of(index)
    })
}
