//! Writes the dump of a command into `--out FILE`, or to standard output without it.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use anyhow::{Context as _, ensure};
use figdex_ingest::inspect::parquet;
use figdex_io::{Output, RowLayout, escaped_path};

/// Refuses Parquet if this program cannot write it, or a terminal would show it.
pub(crate) fn check(layout: RowLayout, output: Option<&Output>) -> anyhow::Result<()> {
    if layout == RowLayout::Parquet {
        parquet::supported()?;
        ensure!(
            output.is_some() || !io::stdout().is_terminal(),
            "--format parquet is not for a terminal: name a file with --out"
        );
    }
    Ok(())
}

/// Calls `write` with the file, or with standard output when `output` is `None`.
pub(crate) fn write<E>(
    output: Option<&Output>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> anyhow::Result<()>
where
    E: Into<anyhow::Error>,
{
    match output {
        Some(output) => {
            let written = || {
                let mut out = BufWriter::new(output.create()?);
                write(&mut out).map_err(Into::into)?;
                out.into_inner().map_err(io::IntoInnerError::into_error)?.keep()?;
                Ok::<_, anyhow::Error>(())
            };
            written().with_context(|| format!("writing {}", escaped_path(output.name())))
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = write(&mut out).map_err(Into::into);
            match written.and_then(|()| Ok(out.flush()?)) {
                // The reader of the pipe has ended, as `head` does. That is not an error.
                Err(error) if is_broken_pipe(&error) => Ok(()),
                written => written.context("writing to standard output"),
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}
