//! The promises: each case has two sides that take turns, and a ratio.
//!
//! Before a case is measured, each of its requests is sent once and its answer checked, which also
//! warms both sides. Then both sides have a turn in each round. The order alternates, so that a
//! machine that slows down favours neither side. Each round has a ratio of its two turns, and the
//! result is that of the median round.

use std::net::SocketAddr;

use anyhow::Context as _;
use figdex_index::{Catalogue, Manifest};

use crate::PromisesFlags;
use crate::drive::{BackgroundLoad, Load, Turn, closed_loop};
use crate::mixes::{Against, Case, Ratio};
use crate::process::{Cpu, Others};
use crate::questions::Questions;
use crate::report::{Conditions, Outcome, Side, Table};
use crate::sample::Sample;
use crate::server::{self, Host};
use crate::universe;

/// The length of each side's warm-up before the first round, as a part of a turn.
const WARM_UP: f64 = 0.5;

/// Measures every case, and prints each result.
pub(crate) fn run(flags: &PromisesFlags) -> anyhow::Result<()> {
    let mut mixes = flags.common.mixes()?;
    mixes.kinds.clear();
    if !flags.case.is_empty() {
        mixes.cases.retain(|case| flags.case.iter().any(|text| case.name.contains(text)));
    }
    anyhow::ensure!(!mixes.cases.is_empty(), "no case has such a name");
    let folder = flags.common.temporary()?;
    let index = match &flags.index {
        Some(index) => index.clone(),
        None => universe::build(flags.instruments, folder.path())?.index,
    };
    let manifest = Manifest::published(&index).context("opening the index")?;
    let catalogue = Catalogue::open(&index).context("opening the index")?;
    eprintln!("taking identifiers and words from the index");
    let sample = Sample::of(&catalogue, mixes.asks())?;
    let hosts = Hosts { figdex: Host::new()?, floor: Host::new()? };
    let figdex = hosts.figdex.serve(server::figdex(catalogue))?;
    let mut table = Table::begin(Conditions {
        instruments: manifest.instruments,
        seed: flags.index.is_none().then_some(universe::SEED),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        connections: flags.connections,
        rounds: flags.rounds,
        seconds: flags.seconds.as_secs_f64(),
    });
    let others = Others::now()?;
    for case in &mixes.cases {
        let outcome = measure(case, flags, &sample, &hosts, figdex.address);
        table.add(outcome.with_context(|| format!("case {:?}", case.name))?);
    }
    table.end(others.cores_since()?, flags.common.json.as_deref())
}

struct Hosts {
    figdex: Host,
    floor: Host,
}

fn measure(
    case: &Case,
    flags: &PromisesFlags,
    sample: &Sample,
    hosts: &Hosts,
    figdex: SocketAddr,
) -> anyhow::Result<Outcome> {
    let connections = case.connections.unwrap_or(flags.connections);
    let questions = Questions::new(&case.ask, case.requests, sample, figdex)?;
    let checked = questions.check(figdex)?;
    let ours = questions.load(figdex, connections);
    // The floor stops when this is dropped.
    let mut floor = None;
    let other = match case.other() {
        Some(ask) => {
            let questions = Questions::new(&ask, case.requests, sample, figdex)?;
            questions.check(figdex)?;
            questions.load(figdex, connections)
        }
        None => {
            let prefix = questions.prefix();
            let service = server::floor(prefix, checked.body_bytes, &checked.headers)?;
            let served = floor.insert(hosts.floor.serve(service)?);
            questions.load(served.address, connections)
        }
    };
    let background = match &case.background {
        Some(background) => {
            let questions = Questions::new(&background.ask, case.requests, sample, figdex)?;
            questions.check(figdex).context("the background load")?;
            Some(BackgroundLoad::start(&questions.load(figdex, background.connections))?)
        }
        None => None,
    };
    for load in [&other, &ours] {
        closed_loop(load, flags.seconds.mul_f64(WARM_UP))?;
    }
    let mut rounds = Vec::with_capacity(flags.rounds);
    for number in 0..flags.rounds {
        let turn = |load| take_turn(load, flags, background.as_ref());
        rounds.push(if number % 2 == 0 {
            let other = turn(&other)?;
            [other, turn(&ours)?]
        } else {
            let ours = turn(&ours)?;
            [turn(&other)?, ours]
        });
    }
    if let Some(background) = background {
        background.stop()?;
    }
    Ok(outcome(case, connections, ours.requests.len(), checked.body_bytes, &rounds))
}

/// The figures of a turn.
struct Measured {
    turn: Turn,
    /// Processor time of all threads but the driver's for each answer, in microseconds.
    server_cpu_us: f64,
    background_per_second: Option<f64>,
}

fn take_turn(
    load: &Load,
    flags: &PromisesFlags,
    background: Option<&BackgroundLoad>,
) -> anyhow::Result<Measured> {
    let background_answers = || background.map_or(0, BackgroundLoad::answers);
    let (cpu, before) = (Cpu::of("self")?, background_answers());
    let turn = closed_loop(load, flags.seconds)?;
    let answers = background_answers() - before;
    // The driver's thread has ended: all other threads are the servers'.
    let worked = Cpu::of("self")?.since(&cpu);
    anyhow::ensure!(turn.answers() > 0, "no answer came within a turn: make turns longer");
    Ok(Measured {
        server_cpu_us: worked.as_secs_f64() * 1e6 / turn.answers() as f64,
        background_per_second: background.map(|_| answers as f64 / flags.seconds.as_secs_f64()),
        turn,
    })
}

fn outcome(
    case: &Case,
    connections: usize,
    requests: usize,
    body_bytes: usize,
    rounds: &[[Measured; 2]],
) -> Outcome {
    let p50 = |side: &Measured| side.turn.percentile(50).as_secs_f64();
    let per_second = |side: &Measured| side.turn.answers_per_second;
    let ratios = rounds.iter().map(|[other, figdex]| match case.ratio {
        Ratio::Throughput => per_second(figdex) / per_second(other),
        Ratio::Cost => per_second(other) / per_second(figdex),
        Ratio::P50 => p50(figdex) / p50(other),
    });
    let mut ratios: Vec<f64> = ratios.collect();
    let side = |place: usize| {
        let of = |figure: &dyn Fn(&Measured) -> f64| {
            median(&mut rounds.iter().map(|round| figure(&round[place])).collect::<Vec<_>>())
        };
        Side {
            answers_per_second: of(&per_second),
            p50_ms: of(&|side| p50(side) * 1e3),
            p99_ms: of(&|side| side.turn.percentile(99).as_secs_f64() * 1e3),
            // A background load runs on the same threads, which have one time together.
            server_cpu_us: case.background.is_none().then(|| of(&|side| side.server_cpu_us)),
            driver_cpu_us: of(&|side| side.turn.driver_cpu.as_secs_f64() * 1e6),
            background_per_second: case
                .background
                .as_ref()
                .map(|_| of(&|side| side.background_per_second.unwrap_or_default())),
        }
    };
    let ratio = median(&mut ratios);
    Outcome {
        case: case.name.clone(),
        against: match case.against {
            Against::Floor => "floor",
            Against::WithoutFilter => "without filter",
            Against::FirstPage => "page 1",
            Against::Itself => "itself",
        },
        connections,
        requests,
        body_bytes,
        other: side(0),
        figdex: side(1),
        compared: case.ratio,
        ratio,
        // `median` has sorted them.
        ratio_least: ratios[0],
        ratio_most: ratios[ratios.len() - 1],
        promise: case.promise,
        bound: case.bound(),
        is_kept: case.bound().map(|bound| bound.holds(ratio)),
    }
}

/// Sorts the figures and returns the middle one.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
