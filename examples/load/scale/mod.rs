//! The cost of a larger index (engine 13.12), and a table of sizes.
//!
//! Each size is generated, built, measured and deleted before the next. It is served in separate
//! processes, first without a stamp and then with one, since a stamp makes reading all bytes
//! unnecessary (engine 10). Each time, one process starts on files that were dropped from memory,
//! and the next on files in memory. The last process gets the requests. Each kind of request is
//! first sent at a fixed rate, in an open loop, so that a slow answer also counts as latency of the
//! requests delayed by it. Then the kind is sent at full load, to measure the cost of an answer.

pub(crate) mod child;
mod report;

use std::path::Path;

use anyhow::{Context as _, ensure};
use figdex_index::{Catalogue, Manifest};

use self::child::Running;
use crate::ScaleFlags;
use crate::drive::{closed_loop, open_loop};
use crate::mixes::{Kind, Mixes};
use crate::process::{Cpu, Memory, bytes_from_disk, drop_from_memory};
use crate::questions::Questions;
use crate::sample::Sample;
use crate::universe;

/// Connections of the open loop, and therefore the maximum number of requests in flight.
const CONNECTIONS: usize = 64;

/// Connections at full load.
const CONNECTIONS_AT_FULL_LOAD: usize = 16;

/// The number of requests at full load when each must be new to the server.
const VARIED_AT_FULL_LOAD: usize = 50_000;

/// The largest size, in millions of instruments: the generator has no more FIGIs.
const MILLIONS_MAX: f64 = 1_000.0;

/// The figures of a size.
struct Size {
    instruments: u64,
    build_s: f64,
    bytes: u64,
    unstamped: Opening,
    stamped: Opening,
    memory: Memory,
    kinds: Vec<Measured>,
}

/// The times of a cold and of a warm start of the server with the same index. Either both starts
/// find a stamp, or neither does.
struct Opening {
    cold: Cold,
    warm_s: f64,
}

/// A start over files that the system was asked to drop from memory.
struct Cold {
    to_first_answer_s: f64,
    /// Whether the system accepted the request.
    is_dropped: bool,
    /// The bytes read from the disk; `None` where the system does not report it.
    from_disk: Option<u64>,
}

/// The figures of a kind of request.
struct Measured {
    p50_ms: f64,
    p99_ms: f64,
    answers_per_second: f64,
    /// Processor time of the server for an answer, at full load.
    work_us: f64,
}

/// Measures every size, and prints the results.
pub(crate) fn run(flags: &ScaleFlags) -> anyhow::Result<()> {
    let kinds = Mixes::read()?.scale;
    ensure!(flags.sizes.is_sorted() && !flags.sizes.is_empty(), "sizes must ascend");
    ensure!(flags.sizes[0] > 0.0, "sizes must be above 0");
    let are_possible = flags.sizes.iter().all(|millions| *millions <= MILLIONS_MAX);
    ensure!(are_possible, "sizes are in millions, and at most {MILLIONS_MAX}");
    let folder = flags.folder.make()?;
    let mut sizes = Vec::new();
    for millions in &flags.sizes {
        let instruments = (millions * 1e6).round() as u64;
        let folder = tempfile::tempdir_in(folder.path())?;
        let size = measure(instruments, folder.path(), flags, &kinds);
        sizes.push(size.with_context(|| format!("with {millions} million instruments"))?);
    }
    report::print(flags, &kinds, &sizes);
    Ok(())
}

fn measure(
    instruments: u64,
    folder: &Path,
    flags: &ScaleFlags,
    kinds: &[Kind],
) -> anyhow::Result<Size> {
    let built = universe::build(instruments, folder)?;
    let manifest = Manifest::published(&built.index)?;
    // The catalogue is closed again before the cold start.
    let sample = Sample::of(&Catalogue::open(&built.index)?, kinds)?;
    // The first kind is a mapping, whose requests are made without a server.
    let first = Questions::new(&kinds[0].ask, 1, &sample, ([127, 0, 0, 1], 0).into())?.requests;
    eprintln!("starting the server");
    let (unstamped, _) = open(&built.index, &first[0], remove_stamps)?;
    // The last start has stamped the index.
    let (stamped, server) = open(&built.index, &first[0], |_| Ok(()))?;
    let mut measured = Vec::new();
    for kind in kinds {
        eprintln!("measuring: {}", kind.name);
        let figures = measure_kind(kind, flags, &sample, &server);
        measured.push(figures.with_context(|| format!("scale {:?}", kind.name))?);
    }
    Ok(Size {
        instruments: manifest.instruments,
        build_s: built.time.as_secs_f64(),
        bytes: manifest.bytes(),
        unstamped,
        stamped,
        memory: Memory::of(server.id())?,
        kinds: measured,
    })
}

/// Starts a server on files that were dropped from memory, then one on files in memory. The second
/// one continues to run. `prepare` is called before each start.
fn open(
    index: &Path,
    first: &[u8],
    prepare: fn(&Path) -> std::io::Result<()>,
) -> anyhow::Result<(Opening, Running)> {
    prepare(index)?;
    let is_dropped = drop_from_memory(index).is_ok();
    let cold = Running::start(index, first)?;
    let cold = Cold {
        to_first_answer_s: cold.to_first_answer.as_secs_f64(),
        is_dropped,
        from_disk: bytes_from_disk(cold.id()),
    };
    prepare(index)?;
    let warm = Running::start(index, first)?;
    Ok((Opening { cold, warm_s: warm.to_first_answer.as_secs_f64() }, warm))
}

fn remove_stamps(index: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(index)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "verified") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Measures a kind of request at the fixed rate, and then at full load: at a fixed rate, most of
/// the processor time of a small answer is spent on falling asleep and waking up.
fn measure_kind(
    kind: &Kind,
    flags: &ScaleFlags,
    sample: &Sample,
    server: &Running,
) -> anyhow::Result<Measured> {
    let at_rate = (flags.rate as f64 * flags.seconds.as_secs_f64()).ceil() as usize;
    let count = if kind.ask.is_varied() { at_rate + VARIED_AT_FULL_LOAD } else { kind.requests };
    let questions = Questions::new(&kind.ask, count, sample, server.address)?;
    questions.check(server.address)?;
    let mut load = questions.load(server.address, CONNECTIONS);
    let turn = open_loop(&load, flags.rate, flags.seconds)?;
    if kind.ask.is_varied() {
        load.requests = load.requests[at_rate..].into();
    }
    load.connections = CONNECTIONS_AT_FULL_LOAD;
    let process = server.id().to_string();
    let cpu = Cpu::of(&process)?;
    let full = closed_loop(&load, flags.seconds)?;
    let worked = Cpu::of(&process)?.since(&cpu);
    Ok(Measured {
        p50_ms: turn.percentile_ms(50),
        p99_ms: turn.percentile_ms(99),
        answers_per_second: turn.answers_per_second,
        work_us: worked.as_secs_f64() * 1e6 / full.answers() as f64,
    })
}
