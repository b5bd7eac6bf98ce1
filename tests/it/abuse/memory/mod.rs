//! The memory that one request takes: at default settings 96 MB at most, its answer
//! included, and 16 MB where the answer is under 1 MB; and three times its size for a body
//! that an operator allows beyond 1 MB.
//!
//! The tests judge the peak of the anonymous memory of a server process, less its level before the
//! request. The kernel records the peak; nothing is sampled, and no clock is read.

mod bodies;
mod measured;
mod random;

use std::fmt::Write as _;
use std::path::Path;

use figdex_ingest::Input;

use self::bodies::{adversaries, jobs, paths, queries};
use self::measured::{Kind, LEVEL_SLACK, Measured, get, post};
use self::random::Random;
use crate::support::build_of;
use crate::support::process::build_index;

const MB: u64 = 1 << 20;

/// The memory that a request with a long answer may add.
const LONG_MAX: u64 = 96 * MB;

/// The memory that any other request may add.
const SHORT_MAX: u64 = 16 * MB;

/// The memory that reading a body may add at default settings, whatever the body holds.
const BODY_MAX: u64 = 8 * MB;

/// The length from which an answer counts as long.
const LONG_BYTES: usize = 1 << 20;

/// The largest body that default settings allow.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Instruments that a job may find.
const JOB_ROWS_MAX: u32 = 15_000;

/// Rows that a request may find.
const ROWS_MAX: usize = 200_000;

/// Tickers, and the number of instruments that share each: as many as a job may find, the rest of
/// what a request may find, and one more than a job may find.
const TICKERS: [(&str, u32); 3] =
    [("MANY", JOB_ROWS_MAX), ("SOME", 5_000), ("TOOMANY", JOB_ROWS_MAX + 1)];

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
    build_of(vec![Input::Memory("dump", dump.into_bytes().into())], index)
        .run(&mut |_| {})
        .unwrap();
}

/// At default settings: every endpoint, with the largest possible requests and answers.
#[test]
fn a_request_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    build(&folder.path().join("index"));
    let Some(mut figdex) = Measured::start(folder.path(), &[]) else { return };
    let key = format!("X-OPENFIGI-APIKEY: {}\r\n", figdex.key);
    for path in paths() {
        for headers in ["", "Accept-Encoding: gzip\r\n"] {
            figdex.judge(&path, &get(&path, headers));
        }
    }
    for body in &adversaries(BODY_BYTES_MAX) {
        let bytes = body.2.len();
        assert!((BODY_BYTES_MAX - 200..=BODY_BYTES_MAX).contains(&bytes), "{}: {bytes}", body.0);
        for kind in [Kind::Announced, Kind::Chunked] {
            figdex.judge_body(body, &key, kind, BODY_MAX - LEVEL_SLACK);
        }
    }
    for seed in 1..=40 {
        let (path, body) = Random::new(seed).request(BODY_BYTES_MAX);
        figdex.judge(&format!("{path}, random, seed {seed}"), &post(path, &key, body.as_bytes()));
    }
    figdex.questions(&key);
    figdex.long_answers(&key);
    eprintln!("at most {} MB", figdex.most / MB);
    figdex.process.stop();
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
    let Some(mut figdex) = Measured::start(folder.path(), &settings) else { return };
    let key = format!("X-OPENFIGI-APIKEY: {}\r\n", figdex.key);
    let most = |body: &str| BODY_MAX.max(3 * body.len() as u64);
    for body in &adversaries(3 << 20) {
        figdex.judge_body(body, &key, Kind::Chunked, most(&body.2));
    }
    for body in &adversaries(BYTES_MAX) {
        if ["zeros", "empty arrays", "texts without end"].contains(&body.0) {
            figdex.judge_body(body, &key, Kind::Announced, most(&body.2));
        }
    }
    let full = r#"{"idType":"TICKER","idValue":"nobody","exchCode":"US","currency":"USD",
        "marketSecDes":"Equity","securityType":"Common Stock","strike":[1,2],"coupon":[1,2],
        "contractSize":[1,2],"expiration":["2024-01-01",null],"maturity":["2024-01-01",null]}"#;
    for (name, job) in [
        ("empty jobs", "{}"),
        ("jobs of a property", r#"{"exchCode":"US"}"#),
        ("plain jobs", r#"{"idType":"TICKER","idValue":"nobody"}"#),
        ("full jobs", full),
    ] {
        let body = (name, "/v3/mapping", jobs(job, JOBS_MAX));
        figdex.judge_body(&body, &key, Kind::Announced, most(&body.2));
    }
    figdex.process.stop();
}

impl Measured {
    /// Judges questions that make work for the index.
    fn questions(&mut self, key: &str) {
        let wide = r#"{"idType":"TICKER","idValue":"TOOMANY"}"#;
        let none = r#"{"idType":"TICKER","idValue":"TOOMANY","strike":[1,2]}"#;
        for (name, body) in [
            ("jobs that find too much", jobs(wide, 100)),
            ("wide jobs that find nothing", jobs(none, 100)),
        ] {
            self.judge(name, &post("/v3/mapping", key, body.as_bytes()));
        }
        for (name, query) in queries() {
            for path in ["/v2/search", "/v3/search", "/v3/filter"] {
                let body = format!("{{\"query\":\"{query}\"}}");
                self.judge(&format!("{path}, {name}"), &post(path, key, body.as_bytes()));
            }
        }
        let mut next = String::new();
        for page in 0..150 {
            let start =
                if next.is_empty() { String::new() } else { format!(",\"start\":\"{next}\"") };
            let body = format!("{{\"query\":\"common\"{start}}}");
            let request = post("/v3/search", key, body.as_bytes());
            let answer = self.process.exchange(&request);
            if page == 149 {
                self.judge("the last page", &request);
            } else {
                let (_, rest) = answer.split_once("\"next\":\"").unwrap();
                next = rest.split_once('"').unwrap().0.to_owned();
            }
        }
    }

    /// Judges the longest answers, plain and packed.
    fn long_answers(&mut self, key: &str) {
        let job = |ticker: &str| format!(r#"{{"idType":"TICKER","idValue":"{ticker}"}}"#);
        let many = vec![job("MANY"); ROWS_MAX / JOB_ROWS_MAX as usize].join(",");
        let jobs = format!("[{many},{}]", job("SOME"));
        let packed = "Accept-Encoding: gzip\r\n";
        for (version, headers) in [("v1", ""), ("v2", packed), ("v3", ""), ("v3", packed)] {
            let path = format!("/{version}/mapping");
            let name = format!("{path}, {ROWS_MAX} rows, {headers:?}");
            let request = post(&path, &format!("{key}{headers}"), jobs.as_bytes());
            let added = self.judge(&name, &request);
            assert!(added.answer_bytes > ROWS_MAX * 320, "{name}: {}", added.answer_bytes);
            // The measurement sees the memory that it judges.
            let seen = added.bytes > added.answer_bytes as u64 * 9 / 10;
            assert!(seen, "{name}: {} bytes are seen", added.bytes);
        }
    }
}

/// Hostile texts in `GET /suggest`.
#[test]
fn a_suggestion_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    build(&folder.path().join("index"));
    let Some(mut figdex) = Measured::start(folder.path(), &[]) else { return };
    let filters: String = (0..99).map(|_| "&exchCode=US").collect();
    for (name, query) in queries() {
        for filters in ["", &filters, "&limit=50"] {
            let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let request = get(&format!("/suggest?query={query}{filters}"), "");
            figdex
                .judge(&format!("/suggest, {name}{}", &filters[..filters.len().min(9)]), &request);
        }
    }
    figdex.process.stop();
}
