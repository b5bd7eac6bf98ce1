//! The cost of a larger index (engine 13.12), and a table of sizes.
//!
//! Each size is generated, built, measured and deleted before the next. It is served in a separate
//! process, without a stamp and with one, which spares the opening reading all bytes (engine 10):
//! first over files that were dropped from memory, then over files in memory. The last of these
//! processes gets the requests. Each kind of request is first sent at a fixed rate, in an open loop,
//! so that a slow answer also counts as latency of the requests delayed by it. Then it is sent at
//! full load, to measure the cost of an answer.

pub(crate) mod child;
mod report;

use std::path::Path;

use anyhow::{Context as _, ensure};
use figdex_index::{Catalogue, Manifest};
use serde::Serialize;

use self::child::Running;
use crate::ScaleFlags;
use crate::drive::{closed_loop, open_loop};
use crate::mixes::{Ask, Kind, Mixes};
use crate::process::{Cpu, Memory, bytes_from_disk, drop_from_memory};
use crate::questions::{Questions, mappings};
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
#[derive(Serialize)]
struct Size {
    instruments: u64,
    build_s: f64,
    bytes: u64,
    unstamped: Opening,
    stamped: Opening,
    memory: Memory,
    kinds: Vec<Measured>,
}

/// The starts over an index, with or without a stamp.
#[derive(Serialize)]
struct Opening {
    cold: Cold,
    warm_s: f64,
}

/// A start over files that the system was asked to drop from memory.
#[derive(Serialize)]
struct Cold {
    to_first_answer_s: f64,
    /// Whether the system accepted the request.
    is_dropped: bool,
    /// The bytes read from the disk; `None` where the system does not report it.
    from_disk: Option<u64>,
}

/// The figures of a kind of request.
#[derive(Serialize)]
struct Measured {
    kind: String,
    p50_ms: f64,
    p99_ms: f64,
    answers_per_second: f64,
    /// Processor time of the server for an answer, at full load.
    work_us: f64,
    /// Answers a second, at full load.
    full_per_second: f64,
}

/// Measures every size, and prints the results.
pub(crate) fn run(flags: &ScaleFlags) -> anyhow::Result<()> {
    let mut mixes = flags.common.mixes()?;
    mixes.cases.clear();
    ensure!(!mixes.kinds.is_empty(), "the mixes file has no [[scale]]");
    ensure!(flags.sizes.is_sorted() && !flags.sizes.is_empty(), "sizes must ascend");
    ensure!(flags.sizes[0] > 0.0, "sizes must be above 0");
    let are_possible = flags.sizes.iter().all(|millions| *millions <= MILLIONS_MAX);
    ensure!(are_possible, "sizes are in millions, and at most {MILLIONS_MAX}");
    let folder = flags.common.temporary()?;
    let mut sizes = Vec::new();
    for millions in &flags.sizes {
        let instruments = (millions * 1e6).round() as u64;
        let folder = tempfile::tempdir_in(folder.path())?;
        let size = measure(instruments, folder.path(), flags, &mixes);
        sizes.push(size.with_context(|| format!("with {millions} million instruments"))?);
    }
    report::print(flags, &mixes.kinds, &sizes)
}

fn measure(
    instruments: u64,
    folder: &Path,
    flags: &ScaleFlags,
    mixes: &Mixes,
) -> anyhow::Result<Size> {
    let built = universe::build(instruments, folder)?;
    let manifest = Manifest::published(&built.index)?;
    eprintln!("taking identifiers and words from the index");
    // The catalogue is closed again before the cold start.
    let sample = Sample::of(&Catalogue::open(&built.index)?, mixes.asks())?;
    let first = first_request(mixes, &sample)?;
    eprintln!("starting the server");
    let (unstamped, _) = open(&built.index, &first, remove_stamps)?;
    // The last start has stamped the index.
    let (stamped, server) = open(&built.index, &first, |_| Ok(()))?;
    let mut kinds = Vec::new();
    for kind in &mixes.kinds {
        eprintln!("measuring: {}", kind.name);
        let measured = measure_kind(kind, flags, &sample, &server);
        kinds.push(measured.with_context(|| format!("scale {:?}", kind.name))?);
    }
    Ok(Size {
        instruments: manifest.instruments,
        build_s: built.time.as_secs_f64(),
        bytes: manifest.bytes(),
        unstamped,
        stamped,
        memory: Memory::of(server.id())?,
        kinds,
    })
}

/// Starts a server over files that were dropped from memory, and one over files in memory, which
/// goes on. `prepare` is called before each start.
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

/// Measures a kind at the fixed rate and then at full load: at a fixed rate, most of the processor
/// time for a small answer is falling asleep and waking up.
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
    ensure!(full.answers() > 0, "no answer came in time: increase --seconds");
    Ok(Measured {
        kind: kind.name.clone(),
        p50_ms: turn.percentile(50).as_secs_f64() * 1e3,
        p99_ms: turn.percentile(99).as_secs_f64() * 1e3,
        answers_per_second: turn.answers_per_second,
        work_us: worked.as_secs_f64() * 1e6 / full.answers() as f64,
        full_per_second: full.answers_per_second,
    })
}

/// The first request to a started server: a mapping, which needs no cursor.
fn first_request(mixes: &Mixes, sample: &Sample) -> anyhow::Result<Vec<u8>> {
    let mapping = mixes.kinds.iter().find_map(|kind| match &kind.ask {
        Ask::Mapping(mapping) => Some(mapping),
        Ask::Filter(_) | Ask::Search(_) | Ask::Suggest(_) => None,
    });
    let mapping = mapping.context("one [[scale]] of the mixes file must be a mapping")?;
    let first = mappings(mapping, 1, sample)?.into_iter().next();
    first.context("a mapping has at least one request")
}
