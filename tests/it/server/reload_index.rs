//! New generations under load, over real TCP: no request fails, no answer mixes two generations, and
//! no old one stays in memory. Then broken generations, SIGHUP and rollback, with the program.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use figdex::config::Settings;
use figdex::reload;
use figdex::{ConnectionBounds, State, serve, service};
use figdex_index::{Catalogue, check_digit};
use figdex_ingest::Input;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::support::process::{PATIENCE, Process, figdex};
use crate::support::{build_of, copy_folder, ingest};

const INSTRUMENTS: u32 = 250;
const GENERATIONS: u64 = 10;

/// A dump whose names, and one of whose exchange codes, name the generation.
fn dump(generation: u64) -> String {
    let rows = (0..INSTRUMENTS).map(|number| {
        let body = format!("BBG{number:08}");
        let digit = check_digit::double_add_double(body.as_bytes()).unwrap();
        let exch_code = if number == 0 { format!("G{generation}") } else { "US".to_owned() };
        format!("{body}{digit},T,MARK {generation},{exch_code}\n")
    });
    format!("figi,ticker,name,exchCode\n{}", rows.collect::<String>())
}

fn publish(index: &Path, generation: u64) {
    let input = Input::Memory("dump", dump(generation).into_bytes().into());
    let report = build_of(vec![input], index).run(&mut |_| {}).unwrap();
    assert_eq!(report.published.unwrap().generation, generation);
}

/// A client that keeps its connection.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    /// The body of the answer; any status but 200 fails the test.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> Value {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let line = head.len();
            assert!(self.0.read_line(&mut head).unwrap() > 0, "cut off: {head}");
            if let Some(value) = head[line..].to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        let text = String::from_utf8(body).unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{method} {path}: {head}{text}");
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, &body.to_string())
    }
}

/// The generation of all rows of an answer.
fn mark(rows: &Value) -> u64 {
    let rows = rows["data"].as_array().unwrap_or_else(|| panic!("{rows}"));
    let names: BTreeSet<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 1, "one answer of two generations: {names:?}");
    names.first().unwrap().strip_prefix("MARK ").unwrap().parse().unwrap()
}

/// Maps two jobs in one request, which must be answered from one generation too.
fn map(client: &mut Client) -> u64 {
    let job = json!({"idType": "TICKER", "idValue": "T"});
    let answers = client.post("/v3/mapping", &json!([job, job]));
    let rows = |answer: usize| answers[answer]["data"].as_array().unwrap().len();
    assert_eq!((rows(0), rows(1)), (INSTRUMENTS as usize, INSTRUMENTS as usize));
    assert_eq!(mark(&answers[0]), mark(&answers[1]));
    mark(&answers[0])
}

/// Reads all pages. Cursors survive a reload, so the pages make up the whole although a new
/// generation may come between any two.
fn page(client: &mut Client, path: &str) -> u64 {
    let mut body = json!({"query": "mark"});
    let mut figis = Vec::new();
    loop {
        let answer = client.post(path, &body);
        assert!(answer.get("error").is_none(), "{answer}");
        if path.ends_with("filter") {
            assert_eq!(answer["total"], INSTRUMENTS);
        }
        let rows = answer["data"].as_array().unwrap();
        figis.extend(rows.iter().map(|row| row["figi"].as_str().unwrap().to_owned()));
        let generation = mark(&answer);
        match answer.get("next") {
            Some(next) => body["start"] = next.clone(),
            None => {
                assert_eq!(figis.len(), INSTRUMENTS as usize);
                // In a search the one row of the smaller market is the last.
                let of_one_rank = figis.iter().filter(|figi| !figi.starts_with("BBG00000000"));
                assert!(of_one_rank.is_sorted(), "rows of one rank are in FIGI order");
                return generation;
            }
        }
    }
}

/// Reads the values, which follow the generation, while the server stays ready.
fn values(client: &mut Client) -> u64 {
    let marks = |list: &Value| {
        let values = list.as_array().unwrap().iter().map(|value| value.as_str().unwrap());
        let marks: Vec<u64> =
            values.filter_map(|value| value.strip_prefix('G')?.parse().ok()).collect();
        assert_eq!(marks.len(), 1, "{list}");
        marks[0]
    };
    let served = client.ask("GET", "/v3/mapping/values/exchCode", "");
    assert_eq!(client.ask("GET", "/readyz", "")["status"], "ready");
    marks(&served["values"])
}

/// contract 11.3, 11.7, 12.7: no request fails while generations are published, every answer is of
/// one generation, and pages join to the whole over several.
#[test]
fn ten_generations_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    publish(&index, 1);
    let settings = Settings {
        reload_period: Duration::from_millis(20),
        pool_threads: Some(2),
        ..Settings::default()
    };
    let state = Arc::new(State::new(Catalogue::open(&index).unwrap(), settings));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (service, observer) = (service(state.clone()), state.observer());
    let serving =
        runtime.spawn(serve(listener, service, observer, ConnectionBounds::default(), async {
            stopped.await.ok();
        }));
    let hangup = runtime.block_on(async { signal(SignalKind::hangup()) }).unwrap();
    runtime.spawn(reload::index::follow(state.clone(), index.clone(), hangup));

    let old = Mutex::new(Vec::<Weak<Catalogue>>::new());
    let (asked, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let clients: [fn(&mut Client) -> u64; 4] =
        [map, |client| page(client, "/v3/filter"), |client| page(client, "/v3/search"), values];
    let last = clients.map(|_| AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (ask, last) in clients.iter().zip(&last) {
            let (asked, done) = (&asked, &done);
            scope.spawn(move || {
                let mut client = Client::connect(address);
                while !done.load(Ordering::Relaxed) {
                    let generation = ask(&mut client);
                    let before = last.swap(generation, Ordering::Relaxed);
                    assert!(generation >= before, "{generation} after {before}");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let publisher = scope.spawn(|| {
            for generation in 2..=GENERATIONS + 1 {
                let engine = state.engine();
                old.lock().push(Arc::downgrade(engine.local().unwrap()));
                publish(&index, generation);
                // Every client sees a generation before the next one is published.
                let start = Instant::now();
                while last.iter().any(|last| last.load(Ordering::Relaxed) != generation) {
                    assert!(start.elapsed() < PATIENCE, "generation {generation}: {last:?}");
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        });
        let published = publisher.join();
        done.store(true, Ordering::Relaxed);
        published.unwrap();
    });
    eprintln!("{} answers while {GENERATIONS} generations came", asked.load(Ordering::Relaxed));

    let start = Instant::now();
    while old.lock().iter().any(|catalogue| catalogue.strong_count() > 0) {
        assert!(start.elapsed() < PATIENCE, "an old generation is still in memory");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The system's list of mapped files, where it has one: no old generation is mapped.
    if let Ok(maps) = fs::read_to_string("/proc/self/maps") {
        let index = index.to_str().unwrap();
        let current = format!("generation-{:06}/", GENERATIONS + 1);
        let mapped: Vec<_> = maps.lines().filter(|line| line.contains(index)).collect();
        assert!(mapped.iter().any(|line| line.contains(&current)));
        let rest: Vec<_> = mapped.iter().filter(|line| !line.contains(&current)).collect();
        assert!(rest.is_empty(), "{rest:#?}");
    }
    stop.send(()).unwrap();
    runtime.block_on(serving).unwrap();
}

/// The generation that the program serves.
fn generation(program: &Process) -> u64 {
    let mut client = Client::connect(program.address());
    assert_eq!(values(&mut client), map(&mut client));
    map(&mut client)
}

/// The reload figures of `/metrics`: whether a generation is refused now, and the count of each
/// result.
fn reloads(program: &Process) -> [u64; 3] {
    let page = Client::connect(program.address()).ask("GET", "/metrics", "");
    let page = page.as_str().unwrap();
    let value = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}: {page}")).trim().parse().unwrap()
    };
    [
        value("figdex_index_publication_refused "),
        value("figdex_index_reloads_total{result=\"refused\"} "),
        value("figdex_index_reloads_total{result=\"taken_up\"} "),
    ]
}

#[test]
fn whole_generations_are_served_and_broken_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [index, staging] = ["index", "staging"].map(|name| folder.path().join(name));
    publish(&index, 1);
    let mut command = figdex();
    command.args(["--listen", "127.0.0.1:0", "--no-limits", "--index"]).arg(&index);
    let program = Process::start(&mut command);
    assert_eq!(generation(&program), 1);
    publish(&index, 2);
    program.wait_for("loaded a new generation", 1);
    assert_eq!(generation(&program), 2);

    // The third generation is built elsewhere, damaged on the way, and published as a copy.
    copy_folder(&index, &staging);
    publish(&staging, 3);
    let third = Path::new("generation-000003");
    let names = Path::new("part-000/rows.figis");
    let good = fs::read(staging.join(third).join(names)).unwrap();
    copy_folder(&staging.join(third), &index.join(third));
    fs::write(index.join(third).join(names), &good[1..]).unwrap();
    fs::rename(staging.join("CURRENT"), index.join("CURRENT")).unwrap();
    let refusal = "the new generation is refused";
    let line = program.wait_for(refusal, 1);
    assert!(line.contains("rows.figis is damaged: it has "), "{line}");
    assert_eq!(generation(&program), 2);
    program.signal("-HUP");
    program.wait_for(refusal, 2);
    // The refusal is logged once for each SIGHUP, and not at every check.
    std::thread::sleep(Duration::from_millis(2_300));
    assert_eq!(program.count(refusal), 2);
    assert_eq!(reloads(&program), [1, 2, 1]);

    fs::write(index.join(third).join(names), good).unwrap();
    program.signal("-HUP");
    program.wait_for("loaded a new generation", 2);
    assert_eq!(generation(&program), 3);
    program.signal("-HUP");
    program.wait_for("the published generation is already served", 1);
    let start = Instant::now();
    while reloads(&program) != [0, 2, 2] {
        assert!(start.elapsed() < PATIENCE, "{:?}", reloads(&program));
        std::thread::sleep(Duration::from_millis(10));
    }

    let (code, _, error) = ingest(folder.path(), &["rollback", "index"]);
    assert_eq!(code, 0, "{error}");
    program.wait_for("loaded a new generation", 3);
    assert_eq!(generation(&program), 2);

    // After its folder is emptied the server still serves; an index built there again is a new one.
    fs::rename(index.join("CURRENT"), index.join("away")).unwrap();
    program.wait_for("no published generation is found", 1);
    assert_eq!(generation(&program), 2);
    fs::rename(index.join("away"), index.join("CURRENT")).unwrap();
    program.wait_for("the published generation is found again, and already served", 1);
    fs::remove_dir_all(&index).unwrap();
    publish(&index, 1);
    program.wait_for("loaded a new generation", 4);
    assert_eq!(generation(&program), 1);
    program.stop();
}
