//! What a larger index costs: promise 12 and the table of sizes.
//!
//! Each size is generated, built, measured and deleted before the next. It is served in a
//! process of its own, first over files that the system was asked to forget, then over
//! files in memory; there each kind of request is asked at a fixed rate, in an open loop, so
//! that a slow answer makes the requests behind it late and is counted for each of them, and
//! then at full load, for what an answer costs.

pub(crate) mod child;
mod tell;

use std::path::Path;

use anyhow::{Context as _, ensure};
use figdex_index::{Catalogue, Manifest};

use self::child::Running;
use crate::ScaleFlags;
use crate::drive::{closed_loop, open_loop};
use crate::mixes::{Ask, Kind, Mixes};
use crate::process::{Cpu, Memory, bytes_from_disk, forget_files};
use crate::questions::{Questions, mappings};
use crate::sample::Sample;
use crate::universe;

/// Connections of the open loop: as many requests may be on their way at a time.
const CONNECTIONS: usize = 64;

/// Connections that ask as fast as they are answered.
const CONNECTIONS_AT_FULL_LOAD: usize = 16;

/// Requests that must be new to the server there.
const VARIED_AT_FULL_LOAD: usize = 50_000;

/// The largest size: beyond it the generator has no FIGIs.
const MILLIONS_MAX: f64 = 1_000.0;

/// What came of a size.
struct Size {
    instruments: u64,
    build_s: f64,
    bytes: u64,
    cold: Cold,
    warm_s: f64,
    memory: Memory,
    kinds: Vec<Asked>,
}

/// A start over files that the system was asked to forget.
struct Cold {
    to_first_answer_s: f64,
    /// Whether the system took the request.
    is_forgotten: bool,
    /// What was read from the disk again; `None` where the system does not tell.
    from_disk: Option<u64>,
}

/// What came of a kind of request.
struct Asked {
    p50_ms: f64,
    p99_ms: f64,
    answers_per_second: f64,
    /// Of the server for an answer, at full load.
    work_us: f64,
    /// Answers a second, at full load.
    full_per_second: f64,
}

/// Measures every size and tells of all.
pub(crate) fn run(flags: &ScaleFlags) -> anyhow::Result<()> {
    let mut mixes = flags.common.mixes()?;
    mixes.cases.clear();
    ensure!(!mixes.kinds.is_empty(), "the mixes file has no [[scale]]");
    ensure!(flags.sizes.is_sorted() && !flags.sizes.is_empty(), "sizes must ascend");
    ensure!(flags.sizes[0] > 0.0, "sizes must be above 0");
    let are_possible = flags.sizes.iter().all(|millions| *millions <= MILLIONS_MAX);
    ensure!(are_possible, "sizes are in millions, of which there are {MILLIONS_MAX} at most");
    let folder = flags.common.temporary()?;
    let mut sizes = Vec::new();
    for millions in &flags.sizes {
        let instruments = (millions * 1e6).round() as u64;
        let folder = tempfile::tempdir_in(folder.path())?;
        let size = measure(instruments, folder.path(), flags, &mixes);
        sizes.push(size.with_context(|| format!("with {millions} million instruments"))?);
    }
    tell::tell(flags, &mixes.kinds, &sizes)
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
    // It must be closed again before the start that is to be cold.
    let sample = Sample::of(&Catalogue::open(&built.index)?, mixes.asks())?;
    let first = first_request(mixes, &sample)?;
    eprintln!("starting the server");
    let is_forgotten = forget_files(&built.index).is_ok();
    let cold = Running::start(&built.index, &first)?;
    let cold = Cold {
        to_first_answer_s: cold.to_first_answer.as_secs_f64(),
        is_forgotten,
        from_disk: bytes_from_disk(cold.id()),
    };
    let server = Running::start(&built.index, &first)?;
    let mut kinds = Vec::new();
    for kind in &mixes.kinds {
        eprintln!("asking: {}", kind.name);
        let asked = ask(kind, flags, &sample, &server);
        kinds.push(asked.with_context(|| format!("scale {:?}", kind.name))?);
    }
    Ok(Size {
        instruments: manifest.instruments,
        build_s: built.time.as_secs_f64(),
        bytes: manifest.bytes(),
        cold,
        warm_s: server.to_first_answer.as_secs_f64(),
        memory: Memory::of(server.id())?,
        kinds,
    })
}

/// Asks a kind at the fixed rate, and then as fast as answers come: at a fixed rate most of
/// what a server works for a small answer is going to sleep and waking up.
fn ask(
    kind: &Kind,
    flags: &ScaleFlags,
    sample: &Sample,
    server: &Running,
) -> anyhow::Result<Asked> {
    let asked = (flags.rate as f64 * flags.seconds.as_secs_f64()).ceil() as usize;
    let count = if kind.ask.is_varied() { asked + VARIED_AT_FULL_LOAD } else { kind.requests };
    let questions = Questions::new(&kind.ask, count, sample, server.address)?;
    questions.look(server.address)?;
    let mut load = questions.load(server.address, CONNECTIONS);
    let turn = open_loop(&load, flags.rate, flags.seconds)?;
    if kind.ask.is_varied() {
        load.requests = load.requests[asked..].into();
    }
    load.connections = CONNECTIONS_AT_FULL_LOAD;
    let process = server.id().to_string();
    let cpu = Cpu::of(&process)?;
    let full = closed_loop(&load, flags.seconds)?;
    let worked = Cpu::of(&process)?.since(&cpu);
    ensure!(full.answers() > 0, "no answer came in time: ask for more seconds");
    Ok(Asked {
        p50_ms: turn.percentile(50).as_secs_f64() * 1e3,
        p99_ms: turn.percentile(99).as_secs_f64() * 1e3,
        answers_per_second: turn.answers_per_second,
        work_us: worked.as_secs_f64() * 1e6 / full.answers() as f64,
        full_per_second: full.answers_per_second,
    })
}

/// What a server that was just started is asked: a mapping, which needs no cursor.
fn first_request(mixes: &Mixes, sample: &Sample) -> anyhow::Result<Vec<u8>> {
    let mapping = mixes.kinds.iter().find_map(|kind| match &kind.ask {
        Ask::Mapping(mapping) => Some(mapping),
        Ask::Filter(_) | Ask::Search(_) | Ask::Suggest(_) => None,
    });
    let mapping = mapping.context("one [[scale]] of the mixes file must be a mapping")?;
    let first = mappings(mapping, 1, sample)?.into_iter().next();
    first.context("a mapping has at least one request")
}
