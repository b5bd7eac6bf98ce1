//! Readers of files that may make a command wait, such as a pipe that no program writes to. After a
//! few seconds without data, they report on standard error which file they wait for.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use figdex_io::{escaped, terminal};

/// The time without data after which the wait is reported.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// The interval between two checks of the time.
const LOOK_PERIOD: Duration = Duration::from_millis(500);

/// Opens a file for reading.
///
/// # Errors
/// The errors of the system.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path.metadata()?.is_file() {
        return Ok(Box::new(File::open(path)?));
    }
    let watch = Watch::start(&path.to_string_lossy());
    // Opening a pipe waits until a program opens it for writing.
    let file = watch.wait(|| File::open(path))?;
    Ok(Box::new(Watched { inner: file, watch }))
}

/// Opens standard input.
pub(crate) fn standard_input() -> Box<dyn Read + Send> {
    Box::new(Watched { inner: io::stdin(), watch: Watch::start("standard input") })
}

/// Reads a text of at most `bytes_max`.
///
/// # Errors
/// The errors of the system, and [`io::ErrorKind::InvalidData`] when the text is longer or not
/// UTF-8.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(bytes_max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > bytes_max {
        let what = format!("longer than {bytes_max} bytes, which is the limit");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(text)
}

/// A thread that measures how long a call takes. It ends when the watch is dropped.
struct Watch {
    /// The beginning of the current call, until its wait is reported.
    since: Arc<Mutex<Option<Instant>>>,
    _end: SyncSender<()>,
}

impl Watch {
    fn start(name: &str) -> Self {
        let since = Arc::new(Mutex::new(None::<Instant>));
        let (end, ended) = sync_channel::<()>(0);
        let looked_at = Arc::clone(&since);
        let name = name.to_owned();
        let look = move || {
            while ended.recv_timeout(LOOK_PERIOD) == Err(RecvTimeoutError::Timeout) {
                let mut since = looked_at.lock().unwrap_or_else(PoisonError::into_inner);
                if since.is_some_and(|since| since.elapsed() >= SILENCE_MAX) {
                    *since = None;
                    let name = escaped(&name);
                    terminal::note(&format_args!(
                        "waiting for data from {name}: no program writes to it"
                    ));
                }
            }
        };
        // Without a thread, waits are not reported.
        drop(thread::Builder::new().name("waiting".to_owned()).spawn(look));
        Self { since, _end: end }
    }

    /// Makes a call that may wait.
    fn wait<T>(&self, call: impl FnOnce() -> T) -> T {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let done = call();
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = None;
        done
    }
}

/// A reader whose calls are watched.
struct Watched<R> {
    inner: R,
    watch: Watch,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.wait(|| self.inner.read(buffer))
    }
}
