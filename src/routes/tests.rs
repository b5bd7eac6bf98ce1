//! The work that is done on the serving threads: at its bounds, and just beyond.

use std::pin::pin;
use std::sync::mpsc;
use std::time::Duration;

use figdex_index::{Catalogue, INLINE_UNITS_MAX};
use figdex_ingest::{Build, Input};
use futures_util::FutureExt as _;

use super::*;
use crate::callers::Caller;
use crate::callers::limits::{INLINE_BODY_BYTES_MAX, JOBS_MAX};
use crate::config::Settings;
use crate::gate::reply;

/// Instruments of one ticker, each of which takes more than 300 bytes of an answer.
const ROWS: u32 = 400;

/// The FIGI of an instrument.
fn figi(number: u32) -> String {
    let body = format!("BBG{number:08}");
    let digit = figdex_index::check_digit::double_add_double(body.as_bytes()).unwrap();
    format!("{body}{digit}")
}

/// A server with one turn for heavy work, and one for packing.
fn state() -> Arc<State> {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let mut dump = "figi,ticker,name\n".to_owned();
    for number in 0..ROWS {
        let ticker = if number < 3 { "FEW" } else { "MANY" };
        dump.push_str(&format!("{},{ticker},{number:0>80}\n", figi(number)));
    }
    let dump = Input::Memory("dump", dump.into_bytes().into());
    Build::new(vec![dump], &index).run(&mut |_| {}).unwrap();
    let settings = Settings {
        pool_threads: Some(1),
        pool_timeout: Duration::from_millis(50),
        ..Settings::default()
    };
    Arc::new(State::new(Catalogue::open(&index).unwrap(), settings))
}

/// Posts a body. Returns the status, and whether the answer is packed.
async fn post(state: &Arc<State>, path: &str, encoding: &str, body: &str) -> (u16, bool) {
    let request = warp::test::request().method("POST").path(path).body(body);
    let request = request.header("content-type", "text/json").header("accept-encoding", encoding);
    let reply = request.reply(&service(state.clone())).await;
    (reply.status().as_u16(), reply.headers().contains_key("content-encoding"))
}

/// A long body waits for a turn before it is parsed.
#[tokio::test]
async fn bodies_that_are_parsed_inline() {
    let state = state();
    let (release, released) = mpsc::channel::<()>();
    let mut searching = pin!(state.pools().answers.run(Caller::Socket, move || released.recv()));
    assert!(searching.as_mut().now_or_never().is_none());
    // The meter of a mapping request charges a unit for each three bytes, and the jobs it may have.
    let units = INLINE_UNITS_MAX - mapping::JOB_UNITS * JOBS_MAX as u64;
    let mapping_bytes_max = 3 * units as usize + 2;
    for (path, begins, ends, bytes_max) in [
        ("/v3/mapping", "[", "]", mapping_bytes_max),
        ("/v3/search", r#"{"query":"few""#, "}", INLINE_BODY_BYTES_MAX),
        ("/v3/filter", r#"{"query":"few""#, "}", INLINE_BODY_BYTES_MAX),
    ] {
        let blanks = " ".repeat(bytes_max - begins.len() - ends.len());
        let at_bound = format!("{begins}{blanks}{ends}");
        assert_eq!(post(&state, path, "", &at_bound).await.0, 200, "{path}");
        let beyond = format!("{begins}{blanks} {ends}");
        assert_eq!(post(&state, path, "", &beyond).await.0, 503, "{path}");
        assert_eq!(post(&state, path, "", &format!("{beyond} no JSON")).await.0, 503);
    }
    drop(release);
    assert!(searching.await.is_ok());
    let body = format!("[{}]", " ".repeat(mapping_bytes_max));
    assert_eq!(post(&state, "/v3/mapping", "", &body).await.0, 200);
}

/// contract 12.1: a long answer waits for a turn to be packed, and is sent unpacked without one.
#[tokio::test]
async fn answers_that_are_packed_inline() {
    let state = state();
    let (release, released) = mpsc::channel::<()>();
    let mut packing = pin!(state.pools().packing.run(Caller::Socket, move || released.recv()));
    assert!(packing.as_mut().now_or_never().is_none());
    let job = |ticker: &str| format!(r#"[{{"idType":"TICKER","idValue":"{ticker}"}}]"#);
    assert_eq!(post(&state, "/v3/mapping", "gzip", &job("FEW")).await, (200, true));
    assert_eq!(post(&state, "/v3/mapping", "gzip", &job("MANY")).await, (200, false));
    drop(release);
    assert!(packing.await.is_ok());
    assert_eq!(post(&state, "/v3/mapping", "gzip", &job("MANY")).await, (200, true));
    let answers = u64::from(ROWS) * 300;
    assert!(answers > reply::INLINE_BYTES_MAX as u64, "the answer of MANY is long enough");
}

/// No rate limits `/schema` and `/instruments`, so their pools are separate from that of searches:
/// neither waits for the other.
#[tokio::test]
async fn searches_have_a_separate_pool() {
    let state = state();
    let service = service(state.clone());
    let ask = async |path: &str| warp::test::request().path(path).reply(&service).await.status();
    let instrument = format!("/instruments/{}", figi(0));

    let (release, released) = mpsc::channel::<()>();
    let mut searching = pin!(state.pools().answers.run(Caller::Socket, move || released.recv()));
    assert!(searching.as_mut().now_or_never().is_none());
    assert_eq!(ask("/schema").await, 200);
    assert_eq!(ask(&instrument).await, 200);
    assert_eq!(
        state.pools().answers.run(Caller::Socket, || ()).await,
        Err(ApiError::Unavailable),
        "searches are busy"
    );
    drop(release);

    let (release, released) = mpsc::channel::<()>();
    let mut describing = pin!(state.pools().schema.run(Caller::Socket, move || released.recv()));
    assert!(describing.as_mut().now_or_never().is_none());
    assert_eq!(ask("/schema").await, 503);
    assert_eq!(ask(&instrument).await, 200);
    while state.pools().answers.run(Caller::Socket, || ()).await.is_err() {}
    drop(release);
}
