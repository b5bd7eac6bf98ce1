//! The instructions of an answer without a socket: routes, gate, engine and JSON, without hyper and
//! the system.
//!
//! `reply` answers the requests of a file in this process. `count` runs `reply` under callgrind
//! twice, the second time with twice as many requests. The difference contains neither the start
//! nor the opening of the index. It is the same to a thousandth in each run, whatever else the
//! machine does.
//!
//! Instructions do not show how long an answer waits for memory, nor that the reads of a batch
//! overlap (engine 4). So `--time` measures the processor time too. It depends on the machine and on
//! its other work, and has no bound.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use clap::ValueEnum as _;
use figdex::{Log, LogFormat, Observer, Peer};
use figdex_index::Catalogue;
use figdex_io::grouped;
use warp::http::{HeaderMap, Method, Response};
use warp::test::RequestBuilder;

use crate::mixes::{Mixes, named};
use crate::process::Cpu;
use crate::questions::Questions;
use crate::report::verdict;
use crate::sample::Sample;
use crate::server::{self, Host};
use crate::{AnswerFlags, ReplyFlags, With};

/// The runs of which the least time counts.
const TIMED_RUNS: usize = 5;

/// The fewest answers of such a run, half of which are timed: the system adds up the time of a thread
/// a few hundred times a second.
const TIMED_MIN: usize = 2_000;

/// Counts and prints the instructions of each kind of request that the flags select, or of the
/// requests in the file that they name.
pub(crate) fn count(flags: &AnswerFlags) -> anyhow::Result<()> {
    let folder = flags.index.folder.make()?;
    let index = flags.index.path(folder.path())?;
    let of_time = if flags.time { " microseconds per nanosecond" } else { "" };
    println!("{:>47}{of_time}", "instructions");
    if let Some(requests) = &flags.requests {
        let nanoseconds = flags.time.then(|| nanoseconds(&index, requests, flags)).transpose()?;
        let counted = instructions(&index, requests, flags)?;
        print(&requests.display().to_string(), (counted, nanoseconds), None);
        return Ok(());
    }
    let kinds = named(Mixes::read()?.answer, &flags.case)?;
    let catalogue = Catalogue::open(&index).context("opening the index")?;
    let sample = Sample::of(&catalogue, &kinds)?;
    // This server gives the cursors, and answers each request once so that the answer can be
    // checked.
    let host = Host::new()?;
    let served = host.serve(server::figdex(catalogue))?;
    let file = folder.path().join("requests");
    for kind in kinds {
        let count = kind.requests.min(2 * flags.times);
        let questions = Questions::new(&kind.ask, count, &sample, served.address)?;
        questions.check(served.address).with_context(|| format!("answer {:?}", kind.name))?;
        let lines = questions.requests.iter().map(|request| line(request));
        std::fs::write(&file, lines.collect::<anyhow::Result<String>>()?)?;
        let counted = instructions(&index, &file, flags)?;
        let nanoseconds = match flags.time {
            true => {
                let questions = Questions::new(&kind.ask, kind.requests, &sample, served.address)?;
                let lines = questions.requests.iter().map(|request| line(request));
                std::fs::write(&file, lines.collect::<anyhow::Result<String>>()?)?;
                Some(nanoseconds(&index, &file, flags)?)
            }
            false => None,
        };
        // The bounds are for an answer of Figdex alone.
        let bound = kind.bound.filter(|_| flags.with.is_none() && !flags.floor);
        let verdict = bound.map(|bound| verdict(kind.clause, bound, counted as f64));
        print(&kind.name, (counted, nanoseconds), verdict);
    }
    Ok(())
}

fn print(name: &str, (instructions, nanoseconds): (u64, Option<f64>), verdict: Option<String>) {
    print!("{name:<37} {:>9}", grouped(instructions));
    if let Some(nanoseconds) = nanoseconds {
        print!(" {:>12.1} {:>14.2}", nanoseconds / 1e3, instructions as f64 / nanoseconds);
    }
    match verdict {
        Some(verdict) => println!(" {verdict}"),
        None => println!(),
    }
}

/// A request as a line of a file, without its headers.
fn line(request: &[u8]) -> anyhow::Result<String> {
    let (head, body) = str::from_utf8(request)?.split_once("\r\n\r\n").context("no head")?;
    let (asked, _) = head.split_once(" HTTP/1.1").context("no request line")?;
    Ok(format!("{asked} {body}\n"))
}

/// Adds the arguments of `reply`.
fn reply_of(
    command: &mut Command,
    (index, requests): (&Path, &Path),
    times: usize,
    flags: &AnswerFlags,
) {
    command.args(["reply", "--times", &times.to_string()]);
    command.arg("--index").arg(index).arg("--requests").arg(requests);
    if let Some(with) = flags.with.and_then(|with| with.to_possible_value()) {
        command.args(["--with", with.get_name()]);
    }
    if flags.floor {
        command.arg("--floor");
    }
}

/// The processor time of an answer to the requests of a file, in nanoseconds: the least of some runs.
fn nanoseconds(index: &Path, requests: &Path, flags: &AnswerFlags) -> anyhow::Result<f64> {
    let lines = std::fs::read_to_string(requests)?.lines().count();
    let mut least = f64::INFINITY;
    for _ in 0..TIMED_RUNS {
        let mut command = Command::new(std::env::current_exe()?);
        reply_of(&mut command, (index, requests), lines.max(TIMED_MIN), flags);
        let ran = command.arg("--time").output()?;
        let messages = String::from_utf8_lossy(&ran.stderr);
        ensure!(ran.status.success(), "{messages}");
        let printed: f64 = String::from_utf8_lossy(&ran.stdout).trim().parse()?;
        least = least.min(printed);
    }
    Ok(least)
}

/// The mean number of instructions of an answer to the requests of a file.
fn instructions(index: &Path, requests: &Path, flags: &AnswerFlags) -> anyhow::Result<u64> {
    let collected = |times: usize| -> anyhow::Result<u64> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.arg(std::env::current_exe()?);
        reply_of(&mut valgrind, (index, requests), times, flags);
        let ran = valgrind.output().context("running valgrind, which must be installed")?;
        let messages = String::from_utf8_lossy(&ran.stderr);
        ensure!(ran.status.success(), "{messages}");
        let collected = messages.rsplit_once("Collected : ").map(|(_, rest)| rest);
        let number = collected.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.with_context(|| format!("callgrind has not counted: {messages}"))
    };
    Ok(collected(2 * flags.times)?.saturating_sub(collected(flags.times)?) / flags.times as u64)
}

/// Answers the requests of a file.
pub(crate) fn reply(flags: &ReplyFlags) -> anyhow::Result<()> {
    let (service, observer) = server::figdex(Catalogue::open(&flags.index)?);
    let observer = if flags.with.is_some() { observer } else { Observer::none() };
    let has_log = flags.with == Some(With::Log);
    let _log = has_log.then(|| Log::begin(LogFormat::Human)).transpose()?;
    let text = std::fs::read_to_string(&flags.requests).context("reading the requests")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let service = match text.lines().next().filter(|_| flags.floor) {
        Some(first) => {
            let (_, request) = request_of(first)?;
            let answer = runtime.block_on(request.reply(&service));
            ensure_is_ok(first, &answer)?;
            server::constant(answer)
        }
        None => service,
    };
    let headers = HeaderMap::new();
    let untimed = flags.times / 2;
    let mut start = Cpu::of("self")?;
    for (number, line) in text.lines().cycle().take(flags.times).enumerate() {
        if number == untimed {
            start = Cpu::of("self")?;
        }
        let (method, request) = request_of(line)?;
        let observed = observer.begin(Peer::Socket, &method, &headers);
        let answer = runtime.block_on(observed.answering(request.reply(&service)));
        ensure_is_ok(line, &answer)?;
    }
    if flags.time {
        let worked = Cpu::of("self")?.since(&start);
        println!("{}", worked.as_nanos() as f64 / (flags.times - untimed) as f64);
    }
    Ok(())
}

/// Fails unless the answer to the request of a line has status 200.
fn ensure_is_ok(line: &str, answer: &Response<Bytes>) -> anyhow::Result<()> {
    ensure!(answer.status() == 200, "{line}: {}: {:?}", answer.status(), answer.body());
    Ok(())
}

/// The request of a line of a file, and its method.
fn request_of(line: &str) -> anyhow::Result<(Method, RequestBuilder)> {
    let (method, rest) = line.split_once(' ').context("a line has a method and a path")?;
    let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
    let method: Method = method.parse()?;
    let request = warp::test::request().method(method.as_str()).path(path);
    Ok((method, request.header("content-type", "application/json").body(body)))
}
