//! The bounds of one request, by one table of hostile requests for every route: its memory, at
//! default settings 96 MB at most, its answer included, and 16 MB where the answer is under 1 MB;
//! and the processor time of the serving thread, which others wait for.
//!
//! Memory is the peak of the anonymous memory of a fresh process, less its level before the request.
//! The kernel records the peak; nothing is sampled, and no clock is read. `tests/tools/bounds` runs
//! these tests with the program as it is installed, and judges processor time too.

mod assistants;
mod bodies;
mod changes;
mod hostile;
mod lists;
mod measured;
mod parquet;
mod random;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use figdex_ingest::{Build, Input};

use self::bodies::{adversaries, jobs};
use self::hostile::{Form, Hostile, PARQUET_ROUTE};
use self::measured::{Effect, Subject, Taken, named_program};
use self::random::Random;
use self::table::table;
use crate::support::openapi::Document;
use crate::support::process::build_index;
use crate::support::{Server, build_of};

const MB: u64 = 1 << 20;

/// The memory that a request with a long answer may add.
const LONG_MAX: u64 = 96 * MB;

/// The memory that any other request may add.
const SHORT_MAX: u64 = 16 * MB;

/// The memory that a file may add, however long it is: it is sent in pieces.
const FILE_MAX: u64 = 6 * MB;

/// The memory of which the measurement does not know whether a request took it: a fresh process also
/// starts threads. The bounds of a request at default settings are judged with this much less, those
/// that grow with a body with this much more.
const SLACK: u64 = 3 * MB;

/// The memory that a body beyond 1 MB may add at least, whatever it holds.
const BODY_MAX: u64 = 8 * MB;

/// The length from which an answer counts as long.
const LONG_BYTES: usize = 1 << 20;

/// The largest body that default settings allow.
const BODY_BYTES_MAX: usize = 1 << 20;

/// The processor time that a request may take of a serving thread, besides moving its bytes.
const SERVING_TIME_MAX: Duration = Duration::from_millis(1);

/// The time to move a megabyte between the process and its kernel.
const MOVING_TIME: Duration = Duration::from_micros(600);

/// The part of a request's whole time that the serving thread may take besides: it wakes up a few
/// times while other threads work, and they have filled the processor's caches. A request that the
/// serving thread answers alone gains one part in a hundred by it.
const SERVING_PART: f64 = 0.01;

/// The step between the requests that are sent to the program of the tests, which is slow, besides the
/// first one of each route and form. Parts of the table repeat after 2, 3 or 10 requests: 7 meets all.
const SHORT_STEP: usize = 7;

/// The number of times that the program of the tests may be slower than an optimized one. Heavy work
/// on the serving thread is far beyond it.
const UNOPTIMIZED_SLOWNESS: f64 = 20.0;

/// Tickers, and the number of instruments that share each: as many as a job may find, the rest of
/// what a request may find, one more than a job may find, and answers that a serving thread may
/// write.
const TICKERS: [(&str, u32); 7] = [
    ("IBM", 1),
    ("MANY", 15_000),
    ("SOME", 5_000),
    ("TOOMANY", 15_001),
    ("N190", 190),
    ("N400", 400),
    ("N500", 500),
];

/// The settings of the server that is measured: all routes are on.
#[cfg(feature = "mcp")]
const SERVED: &[&str] = &["--changes", "--parquet", "--mcp"];
#[cfg(not(feature = "mcp"))]
const SERVED: &[&str] = &["--changes", "--parquet"];

/// Builds an index whose answers are as long as possible.
fn build(index: &Path) {
    let mut dump = String::from(
        "figi,ticker,name,exchCode,compositeFIGI,shareClassFIGI,securityType,marketSector,\
         securityType2,securityDescription,currency,micCode\n",
    );
    let mut random = Random::new(1);
    let tickers = TICKERS.map(|(ticker, count)| std::iter::repeat_n(ticker, count as usize));
    for (number, ticker) in tickers.into_iter().flatten().enumerate() {
        let figi = crate::support::figi(number as u32);
        let exchange = ["US", "LN", "GR", "JP"][number % 4];
        let (name, kind) = (random.word(16), random.word(14));
        writeln!(
            dump,
            "{figi},{ticker},COMMON {name} {kind} HOLDINGS INCORPORATED,{exchange},{figi},{figi},\
             Common Stock,Equity,Common Stock,{ticker} {} ORDINARY SHARES,USD,XNYS",
            random.word(4)
        )
        .unwrap();
    }
    let build = build_of(vec![Input::Memory("dump", dump.into_bytes().into())], index);
    let build = Build { parquet: Some(parquet::writer()), ..build };
    build.run(&mut |_| {}).unwrap();
    changes::keep(index);
}

/// The requests to measure: all, of an optimized program; of the program of the tests only some, with
/// every route and form among them.
fn requests() -> Vec<Hostile> {
    let mut all = table(BODY_BYTES_MAX);
    if named_program().is_some() {
        return all;
    }
    let mut seen = BTreeSet::new();
    let mut number = 0;
    all.retain(|hostile| {
        number += 1;
        let is_first = seen.insert((hostile.route.clone(), hostile.form.media_type()));
        is_first || number % SHORT_STEP == 0
    });
    all
}

/// contract 14.18: every route, with the largest possible requests and answers.
#[test]
fn a_request_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    build(&folder.path().join("index"));
    let subject = Subject::new(folder.path(), SERVED);
    let mut faults = Vec::new();
    for hostile in requests() {
        assert!(hostile.body_bytes() <= BODY_BYTES_MAX, "{}", hostile.name);
        let most = |effect: &Effect| match effect.answer_bytes > LONG_BYTES {
            _ if hostile.route == PARQUET_ROUTE => FILE_MAX - SLACK,
            true => LONG_MAX - SLACK,
            false => SHORT_MAX - SLACK,
        };
        let Some((bytes, effect)) = subject.memory(&hostile, most) else { return };
        judge(&hostile, bytes, &effect, most(&effect), &mut faults);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// contract 14.18, 24.11: the messages of assistants, in a separate run: a program with all
/// features is not measured by all requests again.
#[cfg(feature = "mcp")]
#[test]
fn a_message_of_an_assistant_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    build(&folder.path().join("index"));
    let subject = Subject::new(folder.path(), SERVED);
    let mut faults = Vec::new();
    for hostile in assistants::hostile() {
        let most = SHORT_MAX - SLACK;
        let Some((bytes, effect)) = subject.memory(&hostile, |_| most) else { return };
        assert_ne!(effect.status, 404, "{}", hostile.name);
        judge(&hostile, bytes, &effect, most, &mut faults);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Bodies beyond 1 MB, with as many jobs as an operator may allow: a body may take three times its
/// size, or what a default body may take where that is more.
#[test]
fn a_large_body_takes_three_times_its_size() {
    const BYTES_MAX: usize = 32 << 20;
    const JOBS_MAX: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let bytes_max = BYTES_MAX.to_string();
    let jobs_max = JOBS_MAX.to_string();
    let settings = ["--body-bytes-max", &bytes_max, "--jobs-per-request-with-key", &jobs_max];
    build_index(&folder.path().join("index"));
    let subject = Subject::new(folder.path(), &settings);
    let mut all = Vec::new();
    let mut add = |(name, route, body): (&str, &str, String), is_chunked| {
        all.push(Hostile::post(route, Form::Json, name, body).chunked(is_chunked));
    };
    adversaries(3 << 20).into_iter().for_each(|body| add(body, true));
    let largest = adversaries(BYTES_MAX).into_iter();
    largest
        .filter(|body| ["zeros", "empty arrays", "texts without end"].contains(&body.0))
        .for_each(|body| add(body, false));
    let full = r#"{"idType":"TICKER","idValue":"nobody","exchCode":"US","currency":"USD",
        "marketSecDes":"Equity","securityType":"Common Stock","strike":[1,2],"coupon":[1,2],
        "contractSize":[1,2],"expiration":["2024-01-01",null],"maturity":["2024-01-01",null]}"#;
    for (name, job) in [
        ("empty jobs", "{}"),
        ("jobs of a property", r#"{"exchCode":"US"}"#),
        ("plain jobs", r#"{"idType":"TICKER","idValue":"nobody"}"#),
        ("full jobs", full),
    ] {
        add((name, "/v3/mapping", jobs(job, JOBS_MAX)), false);
    }
    let mut faults = Vec::new();
    for hostile in all {
        let most = SLACK + BODY_MAX.max(3 * hostile.body_bytes() as u64);
        let Some((bytes, effect)) = subject.memory(&hostile, |_| most) else { return };
        judge(&hostile, bytes, &effect, most, &mut faults);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Judges the memory of a request.
fn judge(hostile: &Hostile, bytes: u64, effect: &Effect, most: u64, faults: &mut Vec<String>) {
    let Effect { status, answer_bytes, .. } = effect;
    let name = &hostile.name;
    if bytes > 2 * MB {
        eprintln!("{name}: {} kB, {status}, an answer of {answer_bytes} bytes", bytes >> 10);
    }
    if bytes > most {
        faults.push(format!("{name}: {bytes} bytes of memory, at most {most}"));
    }
    if *status >= 500 {
        faults.push(format!("{name}: {status}"));
    }
    // The measurement sees the memory that it judges.
    let is_plain = effect.sent_bytes > *answer_bytes;
    if *answer_bytes > 20 * LONG_BYTES && is_plain && bytes < *answer_bytes as u64 * 8 / 10 {
        faults.push(format!("{name}: only {bytes} bytes are seen"));
    }
}

/// engine 8: work that is heavy does not hold up the thread that serves all connections.
#[test]
fn a_request_takes_little_time_of_the_serving_thread() {
    let folder = tempfile::tempdir().unwrap();
    build(&folder.path().join("index"));
    let subject = Subject::new(folder.path(), SERVED);
    let requests = requests();
    let slowness = if named_program().is_some() { 1.0 } else { UNOPTIMIZED_SLOWNESS };
    let most = |hostile: &Hostile, effect: &Effect| {
        let moved = (hostile.body_bytes() + effect.sent_bytes) as f64 / MB as f64;
        let own = SERVING_TIME_MAX + MOVING_TIME.mul_f64(moved);
        own.mul_f64(slowness) + effect.elapsed.mul_f64(SERVING_PART)
    };
    let Some(times) = subject.processor_times(&requests, most) else {
        return eprintln!("skipped: the system does not report the processor time of a thread");
    };
    let mut faults = Vec::new();
    for (hostile, taken) in requests.iter().zip(times) {
        let Taken { time, most } = taken;
        if time > most / 2 {
            eprintln!("{}: {time:?} of {most:?}", hostile.name);
        }
        if !taken.is_within() {
            faults.push(format!("{}: {time:?}, at most {most:?}", hostile.name));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Every route, and every form of a body that the document names, is in the table.
#[test]
fn every_route_is_in_the_table() {
    let table = table(100_000);
    let listed: BTreeSet<_> = table.iter().map(|hostile| hostile.route.as_str()).collect();
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/request/route.rs"));
    let source = source.unwrap();
    let routes = source.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next());
    let routes: BTreeSet<_> = routes.filter(|route| route.starts_with('/')).collect();
    assert!(routes.len() > 15, "{routes:?}");
    // No version has these.
    let absent = ["/v1/search", "/v1/filter", "/v2/filter"];
    let missing: Vec<_> = routes
        .iter()
        .filter(|route| !listed.contains(**route) && !absent.contains(route))
        .collect();
    assert!(missing.is_empty(), "add hostile requests to these routes: {missing:?}");

    let server = Server::of_dump("figi,ticker\nBBG000BLNNH6,IBM\n");
    for version in ["v1", "v2", "v3"] {
        let answer = server.request("GET", &format!("/{version}/schema"), &[], "");
        let document = Document(serde_json::from_str(&answer.body).unwrap());
        for (path, method, operation) in document.operations() {
            let versioned = format!("/{version}{path}");
            let route = if listed.contains(path) { path } else { &versioned };
            let forms = operation["requestBody"]["content"].as_object();
            let forms: Vec<_> = forms.into_iter().flat_map(serde_json::Map::keys).collect();
            assert_eq!(forms.is_empty(), method == "GET", "{path}");
            for form in forms.iter().map(|form| Some(form.as_str())).chain([None]) {
                if form.is_none() && method != "GET" {
                    continue;
                }
                let is_listed = |hostile: &Hostile| {
                    hostile.route == *route && hostile.form.media_type() == form
                };
                // Two names of JSON are read alike.
                let is_json = form == Some("text/json");
                assert!(is_json || table.iter().any(is_listed), "{method} {route} {form:?}");
            }
        }
    }
}
