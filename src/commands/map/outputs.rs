//! The destinations of rows: standard output, a table on a terminal, and files. All regular files
//! are first written under temporary names, and all are renamed at the end. A signal removes the
//! temporary files.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use figdex_io::{NewFile, Output, escaped_path};
use parking_lot::Mutex;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::parquet_result::ParquetResult;
use super::screen::Screen;

/// A file that is being written.
pub(super) struct Writing {
    name: PathBuf,
    file: BufWriter<NewFile>,
}

impl Writing {
    /// Appends bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| format!("writing {}", escaped_path(&self.name)))
    }

    /// Appends what `write` writes.
    fn with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let written = write(&mut self.file);
        written.with_context(|| format!("writing {}", escaped_path(&self.name)))
    }
}

/// The temporary files. A signal removes them.
#[derive(Clone, Default)]
pub(super) struct Temporary(Arc<Mutex<Vec<PathBuf>>>);

impl Temporary {
    /// Removes the files and ends the program when a signal asks for it.
    pub(super) fn remove_on_signals(&self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let [mut interrupt, mut terminate, mut hangup] = {
            let _runtime = runtime.enter();
            [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ]
        };
        let files = self.0.clone();
        let wait = move || {
            let received = |signal: SignalKind, _: Option<()>| signal;
            let signal = runtime.block_on(async {
                tokio::select! {
                    it = Signal::recv(&mut interrupt) => received(SignalKind::interrupt(), it),
                    it = Signal::recv(&mut terminate) => received(SignalKind::terminate(), it),
                    it = Signal::recv(&mut hangup) => received(SignalKind::hangup(), it),
                }
            });
            // If `keep` is renaming files, this waits until all of them are renamed.
            let files = files.lock();
            files.iter().for_each(|file| drop(fs::remove_file(file)));
            // The exit code by which a shell reports that a signal ended a program.
            process::exit(128 + signal.as_raw_value());
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(())
    }

    /// Creates a file under a temporary name, or opens a stream such as a pipe in place.
    pub(super) fn create(&self, output: &Output) -> anyhow::Result<Writing> {
        let mut files = self.0.lock();
        let file = output.create();
        let file = file.with_context(|| format!("writing {}", escaped_path(output.name())))?;
        files.extend(file.temporary().map(PathBuf::from));
        Ok(Writing { name: output.name().to_owned(), file: BufWriter::new(file) })
    }

    /// Completes all files, then renames those that have a temporary name. A stream has none.
    pub(super) fn keep(&self, written: Vec<Writing>) -> anyhow::Result<()> {
        let mut complete = Vec::new();
        for Writing { name, file } in written {
            let synced = file.into_inner().map_err(io::IntoInnerError::into_error);
            let synced = synced.and_then(|file| file.sync().map(|()| file));
            let file = synced.with_context(|| format!("writing {}", escaped_path(&name)))?;
            complete.push((name, file));
        }
        let mut files = self.0.lock();
        for (name, file) in complete {
            file.keep().with_context(|| format!("writing {}", escaped_path(&name)))?;
        }
        files.clear();
        Ok(())
    }
}

/// The destination of the rows.
pub(super) enum Destination {
    File(Writing),
    /// A Parquet file.
    Parquet(Box<ParquetResult>, Writing),
    Stream,
    Screen(Screen),
}

impl Destination {
    /// Appends rows.
    pub(super) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Parquet(rows, file) => file.with(|out| rows.add(bytes, out)),
            Self::Stream => io::stdout().lock().write_all(bytes).context(STREAM),
            Self::Screen(screen) => screen.print(bytes).context(STREAM),
        }
    }

    /// Finishes standard output, the screen or the rows of a Parquet file. Files are finished by
    /// `keep`.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        match self {
            Self::File(_) => Ok(()),
            Self::Parquet(rows, file) => file.with(|out| rows.end(out)),
            Self::Stream => io::stdout().lock().flush().context(STREAM),
            // Prints the heading if there were no rows.
            Self::Screen(screen) => screen.print(b"").context(STREAM),
        }
    }
}

const STREAM: &str = "writing to standard output";

/// Whether the reader of a pipe has ended.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().map(io::Error::kind)
    };
    error.chain().any(|error| cause(error) == Some(io::ErrorKind::BrokenPipe))
}
