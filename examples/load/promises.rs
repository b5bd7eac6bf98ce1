//! The promises: each case has two sides that take turns, and a ratio.
//!
//! Before a case is measured, each of its requests is asked once and its answer looked at;
//! that also warms both sides. Then each round gives both sides a turn, the other side
//! first in one round and second in the next, so that a machine that gets slower favours
//! neither. A ratio is made of the two turns of a round, and the median round counts.

use std::net::SocketAddr;

use anyhow::Context as _;
use figdex_index::{Catalogue, Manifest};

use crate::PromisesFlags;
use crate::drive::{Background, Load, Turn, closed_loop};
use crate::mixes::{Against, Case, Ratio};
use crate::process::{Cpu, Others};
use crate::questions::Questions;
use crate::sample::Sample;
use crate::server::{self, Host};
use crate::tell::{Conditions, Outcome, Side, Table};
use crate::universe;

/// The part of a turn that each side is driven before the first round.
const WARM_UP: f64 = 0.5;

/// Measures every case and tells of each.
pub(crate) fn run(flags: &PromisesFlags) -> anyhow::Result<()> {
    let mut mixes = flags.common.mixes()?;
    mixes.kinds.clear();
    if !flags.case.is_empty() {
        mixes.cases.retain(|case| flags.case.iter().any(|asked| case.name.contains(asked)));
    }
    anyhow::ensure!(!mixes.cases.is_empty(), "there is no such case");
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
    let figdex = hosts.figdex.serve(server::figdex(catalogue)?)?;
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
    let looked = questions.look(figdex)?;
    let ours = questions.load(figdex, connections);
    // The floor stops when this is dropped.
    let mut floor = None;
    let other = match case.other() {
        Some(ask) => {
            let questions = Questions::new(&ask, case.requests, sample, figdex)?;
            questions.look(figdex)?;
            questions.load(figdex, connections)
        }
        None => {
            let begins = questions.begins();
            let service = server::floor(begins, looked.body_bytes, &looked.headers)?;
            let served = floor.insert(hosts.floor.serve(service)?);
            questions.load(served.address, connections)
        }
    };
    let beside = match &case.beside {
        Some(beside) => {
            let questions = Questions::new(&beside.ask, case.requests, sample, figdex)?;
            questions.look(figdex).context("the load beside")?;
            Some(Background::start(&questions.load(figdex, beside.connections))?)
        }
        None => None,
    };
    for load in [&other, &ours] {
        closed_loop(load, flags.seconds.mul_f64(WARM_UP))?;
    }
    let mut rounds = Vec::with_capacity(flags.rounds);
    for number in 0..flags.rounds {
        let turn = |load| take_turn(load, flags, beside.as_ref());
        rounds.push(if number % 2 == 0 {
            let other = turn(&other)?;
            [other, turn(&ours)?]
        } else {
            let ours = turn(&ours)?;
            [turn(&other)?, ours]
        });
    }
    if let Some(beside) = beside {
        beside.stop()?;
    }
    Ok(outcome(case, connections, ours.requests.len(), looked.body_bytes, &rounds))
}

/// A turn, and what else was seen meanwhile.
struct Seen {
    turn: Turn,
    /// Work of all other threads than the driver's, for each answer, in microseconds.
    server_cpu_us: f64,
    beside_per_second: Option<f64>,
}

fn take_turn(
    load: &Load,
    flags: &PromisesFlags,
    beside: Option<&Background>,
) -> anyhow::Result<Seen> {
    let answers_beside = || beside.map_or(0, Background::answers);
    let (cpu, before) = (Cpu::of("self")?, answers_beside());
    let turn = closed_loop(load, flags.seconds)?;
    let beside_per_second = (answers_beside() - before) as f64 / flags.seconds.as_secs_f64();
    // The driver's thread has ended: what is left is the servers'.
    let worked = Cpu::of("self")?.since(&cpu);
    anyhow::ensure!(turn.answers() > 0, "no answer came within a turn: make turns longer");
    Ok(Seen {
        server_cpu_us: worked.as_secs_f64() * 1e6 / turn.answers() as f64,
        beside_per_second: beside.map(|_| beside_per_second),
        turn,
    })
}

fn outcome(
    case: &Case,
    connections: usize,
    requests: usize,
    body_bytes: usize,
    rounds: &[[Seen; 2]],
) -> Outcome {
    let p50 = |seen: &Seen| seen.turn.percentile(50).as_secs_f64();
    let per_second = |seen: &Seen| seen.turn.answers_per_second;
    let ratios = rounds.iter().map(|[other, figdex]| match case.ratio {
        Ratio::Throughput => per_second(figdex) / per_second(other),
        Ratio::Cost => per_second(other) / per_second(figdex),
        Ratio::P50 => p50(figdex) / p50(other),
    });
    let mut ratios: Vec<f64> = ratios.collect();
    let side = |place: usize| {
        let of = |figure: &dyn Fn(&Seen) -> f64| {
            median(&mut rounds.iter().map(|seen| figure(&seen[place])).collect::<Vec<_>>())
        };
        Side {
            answers_per_second: of(&|seen| seen.turn.answers_per_second),
            p50_ms: of(&|seen| seen.turn.percentile(50).as_secs_f64() * 1e3),
            p99_ms: of(&|seen| seen.turn.percentile(99).as_secs_f64() * 1e3),
            // A load beside works on the same threads: what is whose is not known.
            server_cpu_us: case.beside.is_none().then(|| of(&|seen| seen.server_cpu_us)),
            driver_cpu_us: of(&|seen| seen.turn.driver_cpu.as_secs_f64() * 1e6),
            beside_per_second: case
                .beside
                .as_ref()
                .map(|_| of(&|seen| seen.beside_per_second.unwrap_or_default())),
        }
    };
    let ratio = median(&mut ratios);
    Outcome {
        case: case.name.clone(),
        against: match case.against {
            Against::Floor => "floor",
            Against::WithoutFilter => "without it",
            Against::FirstPage => "page 1",
            Against::Itself => "the same again",
        },
        connections,
        requests,
        body_bytes,
        other: side(0),
        figdex: side(1),
        compared: case.ratio,
        ratio,
        // Sorted by the median.
        ratio_least: ratios[0],
        ratio_most: ratios[ratios.len() - 1],
        promise: case.promise,
        bound: case.bound(),
    }
}

/// The middle one; sorts.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
