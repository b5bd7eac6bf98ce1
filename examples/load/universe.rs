//! An index of generated instruments.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use figdex_ingest::{Build, Input};
use figdex_io::{Layout, grouped};
use figdex_universe::Universe;

/// The seed of every universe, so that two runs send the same requests.
const SEED: u64 = 1;

/// The memory of a build, approximately, in bytes.
const MEMORY_BYTES: usize = 2 << 30;

/// The fastest level, because the dump is read only once.
const COMPRESSION_LEVEL: i32 = 1;

/// An index, and the time of its build.
pub(crate) struct Built {
    pub(crate) index: PathBuf,
    pub(crate) time: Duration,
}

/// Generates a dump in a folder, builds an index of it there, and deletes the dump.
pub(crate) fn build(instruments: u64, folder: &Path) -> anyhow::Result<Built> {
    let dump = dump(instruments, folder)?;
    let index = folder.join("index");
    let time = publish(&dump, &index)?;
    fs::remove_file(&dump)?;
    Ok(Built { index, time })
}

/// Generates a compressed dump in a folder.
pub(crate) fn dump(instruments: u64, folder: &Path) -> anyhow::Result<PathBuf> {
    eprintln!("generating {} instruments and building their index", grouped(instruments));
    let dump = folder.join("dump.csv.zst");
    generate(instruments, &dump).with_context(|| format!("writing {}", dump.display()))?;
    Ok(dump)
}

/// A dump of generated instruments in memory, one JSON object a line.
pub(crate) fn json_lines(instruments: u64) -> anyhow::Result<Vec<u8>> {
    let mut dump = Vec::new();
    Universe::new(instruments, SEED).write(Layout::JsonLines, &mut dump)?;
    Ok(dump)
}

/// Publishes an index of a dump, and returns the time that it took.
pub(crate) fn publish(dump: &Path, index: &Path) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let build =
        Build { memory_bytes: MEMORY_BYTES, ..Build::new(vec![Input::File(dump.into())], index) };
    build.run(&mut |_| {}).context("building the index")?;
    Ok(started.elapsed())
}

fn generate(instruments: u64, dump: &Path) -> std::io::Result<()> {
    let mut encoder = zstd::Encoder::new(BufWriter::new(File::create(dump)?), COMPRESSION_LEVEL)?;
    Universe::new(instruments, SEED).write(Layout::Csv, &mut encoder)?;
    encoder.finish()?.into_inner()?.sync_all()
}
