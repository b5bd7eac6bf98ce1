//! The targets of engine 13: each case has two sides that take turns, and a ratio.
//!
//! Before a case is measured, its requests to Figdex are sent once and the answers are checked.
//! Then both sides warm up, and have a turn in each round. The order alternates, so that a machine
//! that slows down favours neither side. Each round has a ratio of its two turns, and the result is
//! that of the median round.

use std::net::SocketAddr;

use anyhow::Context as _;
use figdex_index::Catalogue;

use crate::RatiosFlags;
use crate::drive::{BackgroundLoad, Load, closed_loop};
use crate::mixes::{Kind, Mixes, named};
use crate::process::{Cpu, Others};
use crate::questions::Questions;
use crate::report::{self, Measured, Round};
use crate::sample::Sample;
use crate::server::{self, Host};

/// The length of each side's warm-up before the first round, as a part of a turn.
const WARM_UP: f64 = 0.5;

/// Measures the cases that the flags select, all by default, and prints the result of each.
pub(crate) fn run(flags: &RatiosFlags) -> anyhow::Result<()> {
    let cases = named(Mixes::read()?.cases, &flags.case)?;
    let folder = flags.index.folder.make()?;
    let catalogue =
        Catalogue::open(&flags.index.path(folder.path())?).context("opening the index")?;
    let instruments = catalogue.manifest().instruments;
    let sample = Sample::of(&catalogue, &cases)?;
    let (host, host_of_floor) = (Host::new()?, Host::new()?);
    let figdex = host.serve(server::figdex(catalogue))?;
    report::begin(flags, instruments);
    let others = Others::now()?;
    let mut kept = Vec::new();
    for case in &cases {
        let rounds = measure(case, flags, &sample, &host_of_floor, figdex.address);
        let rounds = rounds.with_context(|| format!("case {:?}", case.name))?;
        kept.extend(report::add(case, &rounds));
    }
    report::end(others.cores_since()?, &kept);
    Ok(())
}

fn measure(
    case: &Kind,
    flags: &RatiosFlags,
    sample: &Sample,
    host_of_floor: &Host,
    figdex: SocketAddr,
) -> anyhow::Result<Vec<Round>> {
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
            let served = floor.insert(host_of_floor.serve(service)?);
            questions.load(served.address, connections)
        }
    };
    let background = match &case.background {
        Some(ask) => {
            let questions = Questions::new(ask, case.requests, sample, figdex)?;
            questions.check(figdex).context("the background load")?;
            Some(BackgroundLoad::start(&questions.load(figdex, connections))?)
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
    background.map_or(Ok(()), BackgroundLoad::stop)?;
    Ok(rounds)
}

fn take_turn(
    load: &Load,
    flags: &RatiosFlags,
    background: Option<&BackgroundLoad>,
) -> anyhow::Result<Measured> {
    let background_answers = || background.map_or(0, BackgroundLoad::answers);
    let (cpu, before) = (Cpu::of("self")?, background_answers());
    let turn = closed_loop(load, flags.seconds)?;
    let answers = background_answers() - before;
    // The driver's thread has ended. All other threads are the servers', or drive the background
    // load.
    let worked = Cpu::of("self")?.since(&cpu);
    Ok(Measured {
        server_cpu_us: worked.as_secs_f64() * 1e6 / turn.answers() as f64,
        background_per_second: answers as f64 / flags.seconds.as_secs_f64(),
        turn,
    })
}
