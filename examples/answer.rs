//! Answers one request many times, without a socket: what to put under a profiler
//! (`valgrind --tool=callgrind`, `perf record`) to see where an answer's time goes.
//!
//! ```text
//! cargo run --release --example answer -- INDEX /v3/mapping BODY.json 10000
//! ```

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use figdex::config::Settings;
use figdex::{State, service};
use figdex_index::Catalogue;
use mimalloc::MiMalloc;

// As the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, path, body, times] = &arguments[..] else {
        anyhow::bail!("answer INDEX PATH BODY.json TIMES");
    };
    let body = std::fs::read_to_string(body).context("the body")?;
    let times: usize = times.parse().context("how many times")?;
    let settings = Settings { rates: None, jobs_per_request: 100, ..Settings::default() };
    let state = State::new(Catalogue::open(Path::new(index))?, settings);
    let service = service(Arc::new(state));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut bytes = 0;
    for _ in 0..times {
        let request = warp::test::request()
            .method("POST")
            .path(path)
            .header("content-type", "application/json")
            .body(&body);
        let reply = runtime.block_on(request.reply(&service));
        ensure!(reply.status() == 200, "{}: {:?}", reply.status(), reply.body());
        bytes += reply.body().len();
    }
    println!("{times} answers, {} bytes each", bytes / times.max(1));
    Ok(())
}
