//! Answers one request many times, without a socket, for profiling an answer
//! (`valgrind --tool=callgrind`, `perf record`).
//!
//! ```text
//! cargo run --profile dist --example answer -- INDEX /v3/mapping BODY.json 10000
//! ```
//!
//! The fifth argument `metrics` adds the metrics of each answer, and `log` adds the metrics and a
//! log line on standard error, as in the server.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use figdex::config::Settings;
use figdex::{Log, LogFormat};
use figdex::{Observer, Peer, State, service};
use figdex_index::Catalogue;
use mimalloc::MiMalloc;
use warp::http::{HeaderMap, Method};

// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (arguments, observed) = arguments.split_at(arguments.len().min(4));
    let [index, path, body, times] = arguments else {
        anyhow::bail!("usage: answer INDEX PATH BODY.json TIMES [metrics|log]");
    };
    let body = std::fs::read_to_string(body).context("reading the body")?;
    let times: usize = times.parse().context("TIMES must be a number")?;
    let settings = Settings { rates: None, jobs_per_request: 100, ..Settings::default() };
    let state = Arc::new(State::new(Catalogue::open(Path::new(index))?, settings));
    let (observer, has_log) = match observed {
        [] => (Observer::none(), false),
        [word] if word == "metrics" => (state.observer(), false),
        [word] if word == "log" => (state.observer(), true),
        _ => anyhow::bail!("the fifth argument must be `metrics` or `log`"),
    };
    let _log = has_log.then(|| Log::begin(LogFormat::Human)).transpose()?;
    let service = service(state);
    let (method, headers) = (Method::POST, HeaderMap::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut bytes = 0;
    for _ in 0..times {
        let request = warp::test::request()
            .method("POST")
            .path(path)
            .header("content-type", "application/json")
            .body(&body);
        let observed = observer.begin(Peer::Socket, &method, &headers);
        let reply = runtime.block_on(observed.answering(request.reply(&service)));
        ensure!(reply.status() == 200, "{}: {:?}", reply.status(), reply.body());
        bytes += reply.body().len();
    }
    println!("{times} answers, {} bytes each", bytes / times.max(1));
    Ok(())
}
