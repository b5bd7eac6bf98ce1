//! The instructions of an answer without a socket: routes, gate, engine and JSON, without hyper and
//! the system.
//!
//! `reply` answers the requests of a file in this process. `count` runs `reply` under callgrind
//! twice, the second time with twice as many requests. The difference contains neither the start
//! nor the opening of the index. It is the same to a thousandth in each run, whatever else the
//! machine does.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use clap::ValueEnum as _;
use figdex::{Log, LogFormat, Observer, Peer};
use figdex_index::Catalogue;
use figdex_io::grouped;
use warp::http::{HeaderMap, Method};

use crate::mixes::{Mixes, named};
use crate::questions::Questions;
use crate::sample::Sample;
use crate::server::{self, Host};
use crate::{AnswerFlags, ReplyFlags, With};

/// Counts and prints the instructions of each kind of request that the flags select, or of the
/// requests in the file that they name.
pub(crate) fn count(flags: &AnswerFlags) -> anyhow::Result<()> {
    let folder = flags.index.folder.make()?;
    let index = flags.index.path(folder.path())?;
    if let Some(requests) = &flags.requests {
        print(&requests.display().to_string(), instructions(&index, requests, flags)?);
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
        print(&kind.name, instructions(&index, &file, flags)?);
    }
    Ok(())
}

fn print(name: &str, instructions: u64) {
    println!("{name:<40} {:>12} instructions an answer", grouped(instructions));
}

/// A request as a line of a file, without its headers.
fn line(request: &[u8]) -> anyhow::Result<String> {
    let (head, body) = str::from_utf8(request)?.split_once("\r\n\r\n").context("no head")?;
    let (asked, _) = head.split_once(" HTTP/1.1").context("no request line")?;
    Ok(format!("{asked} {body}\n"))
}

/// The mean number of instructions of an answer to the requests of a file.
fn instructions(index: &Path, requests: &Path, flags: &AnswerFlags) -> anyhow::Result<u64> {
    let collected = |times: usize| -> anyhow::Result<u64> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.arg(std::env::current_exe()?).args(["reply", "--times", &times.to_string()]);
        valgrind.arg("--index").arg(index).arg("--requests").arg(requests);
        if let Some(with) = flags.with.and_then(|with| with.to_possible_value()) {
            valgrind.args(["--with", with.get_name()]);
        }
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
    let headers = HeaderMap::new();
    for line in text.lines().cycle().take(flags.times) {
        let (method, rest) = line.split_once(' ').context("a line has a method and a path")?;
        let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
        let method: Method = method.parse()?;
        let request = warp::test::request().method(method.as_str()).path(path);
        let request = request.header("content-type", "application/json").body(body);
        let observed = observer.begin(Peer::Socket, &method, &headers);
        let answer = runtime.block_on(observed.answering(request.reply(&service)));
        ensure!(answer.status() == 200, "{line}: {}: {:?}", answer.status(), answer.body());
    }
    Ok(())
}
