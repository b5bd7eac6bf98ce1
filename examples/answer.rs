//! Answers requests without a socket, for profiling an answer (`valgrind --tool=callgrind`,
//! `perf record`).
//!
//! ```text
//! cargo run --profile dist --example answer -- INDEX /v3/mapping BODY.json 10000
//! cargo run --profile dist --example answer -- INDEX '/suggest?query=' --questions FILE 200
//! ```
//!
//! The first posts one body many times. The second gets the path with a line of the file at its
//! end, one line after the other, as many as the number says. With distinct lines, the cache of
//! suggestions answers none of them.
//!
//! A last argument `metrics` adds the metrics of each answer, and `log` adds the metrics and a log
//! line on standard error, as in the server. `answers` writes the answers to standard output, to
//! compare those of two builds.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use figdex::config::Settings;
use figdex::{Log, LogFormat};
use figdex::{Observer, Peer, State, service};
use figdex_index::Catalogue;
use mimalloc::MiMalloc;
use warp::http::{HeaderMap, Method};

// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const USAGE: &str =
    "usage: answer INDEX PATH BODY.json|--questions FILE TIMES [metrics|log|answers]";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (index, times, extra, requests) = match &arguments[..] {
        [index, path, "--questions", file, times, extra @ ..] => {
            let lines = read(file)?;
            (index, times, extra, lines.lines().map(|line| get(path, line)).collect())
        }
        [index, path, body, times, extra @ ..] => {
            (index, times, extra, vec![post(path, read(body)?)])
        }
        _ => bail!(USAGE),
    };
    let times: usize = times.parse().context("TIMES must be a number")?;
    let settings = Settings { rates: None, jobs_per_request: 100, ..Settings::default() };
    let state = Arc::new(State::new(Catalogue::open(Path::new(index))?, settings));
    let (observer, has_log, is_written) = match extra {
        [] => (Observer::none(), false, false),
        ["metrics"] => (state.observer(), false, false),
        ["log"] => (state.observer(), true, false),
        ["answers"] => (Observer::none(), false, true),
        _ => bail!(USAGE),
    };
    let _log = has_log.then(|| Log::begin(LogFormat::Human)).transpose()?;
    let service = service(state);
    let headers = HeaderMap::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut bytes = 0;
    for Request { method, path, body } in requests.iter().cycle().take(times) {
        let request = warp::test::request().method(method.as_str()).path(path);
        let request = request.header("content-type", "application/json").body(body);
        let observed = observer.begin(Peer::Socket, method, &headers);
        let reply = runtime.block_on(observed.answering(request.reply(&service)));
        ensure!(reply.status() == 200, "{path}: {}: {:?}", reply.status(), reply.body());
        bytes += reply.body().len();
        if is_written {
            println!("{}", str::from_utf8(reply.body())?);
        }
    }
    eprintln!("{times} answers, {} bytes each", bytes / times.max(1));
    Ok(())
}

struct Request {
    method: Method,
    path: String,
    body: String,
}

fn post(path: &str, body: String) -> Request {
    Request { method: Method::POST, path: path.to_owned(), body }
}

fn get(path: &str, question: &str) -> Request {
    let question: String = form_urlencoded::byte_serialize(question.as_bytes()).collect();
    Request { method: Method::GET, path: format!("{path}{question}"), body: String::new() }
}

fn read(file: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("reading {file}"))
}
