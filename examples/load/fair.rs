//! One attacker next to eight quiet callers (engine 8): the lists that take most work, and large
//! answers that it reads slowly, on many connections. The quiet callers send a fifth of what the machine can do,
//! at a fixed rate, in blocks with the attacker and without it in turns. All callers are addresses of
//! this machine, and in a second run keys.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figdex::callers::auth::{KeyRing, file};
use figdex_index::{Catalogue, IdType, Property, RowSource, check_digit};
use figdex_ingest::{Build, Input};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

use crate::FairFlags;
use crate::client::{Connection, headed, post};
use crate::mixes::{Ask, Mixes};
use crate::questions::Questions;
use crate::sample::Sample;
use crate::server::{self, Host};
use crate::universe;

/// The quiet callers.
const QUIET: usize = 8;

/// The part of the machine that they use together, and the most requests a second: people, or
/// programs that ask now and then.
const QUIET_SHARE: f64 = 0.2;
const QUIET_RATE_MAX: f64 = 200.0;

/// The connections of the attacker: those that send lists, and those that read slowly.
const LISTS: usize = 32;
const SLOW_READERS: usize = 8;

/// The time from the start of an attack to the first quiet request of its block.
const ATTACK_BEGINS: Duration = Duration::from_millis(500);

/// The bytes that a slow reader takes at a time, and its pause after them.
const SLOW_BYTES: usize = 4 << 10;
const SLOW_PAUSE: Duration = Duration::from_millis(200);

/// The steps of a list have this many values together, which no row has.
const STEP_VALUES: usize = 100;

/// The rows of the identifier that lists ask for.
const DEAR_ROWS: usize = 14_000;

/// The jobs of a list, with a key and without.
const JOBS: usize = 1_000;

/// The bound on the quiet callers' p99 under attack: this many times their p99 without it, or this
/// time if that is more.
const RATIO_MAX: f64 = 4.0;
const P99_MS_MAX: f64 = 50.0;

/// A run of all blocks, by addresses or by keys.
#[derive(Serialize)]
struct Run {
    callers: &'static str,
    quiet_per_second: f64,
    pairs: Vec<Pair>,
    /// The median of the pairs' p99 under attack, and of their bounds.
    p99_ms: f64,
    bound_ms: f64,
    ratio: f64,
    refusals: usize,
}

/// A block without the attacker, and one with it.
#[derive(Serialize)]
struct Pair {
    quiet: Block,
    attacked: Block,
}

/// The answers to the quiet callers in a block.
#[derive(Clone, Serialize)]
struct Block {
    answers: usize,
    p50_ms: f64,
    p99_ms: f64,
    most_ms: f64,
    /// The answers with 503.
    refusals: usize,
    /// The lists of the attacker that were answered with 200.
    attacks: usize,
}

/// The requests of a run.
struct Requests {
    address: SocketAddr,
    /// The requests of each quiet caller.
    quiet: Vec<Arc<[Vec<u8>]>>,
    list: Vec<u8>,
    long_answer: Vec<u8>,
}

/// Measures both runs.
pub(crate) fn run(flags: &FairFlags) -> anyhow::Result<()> {
    let mixes = flags.common.mixes()?;
    let folder = flags.common.temporary()?;
    let index = match &flags.index {
        Some(index) => index.clone(),
        None => build(flags.instruments, folder.path())?,
    };
    let keys = folder.path().join("keys.toml");
    let names = (0..=QUIET).map(|number| format!("caller-{number}"));
    let secrets: Vec<String> =
        names.map(|name| file::add(&keys, &name)).collect::<Result<_, _>>()?;
    let runs = [("addresses", None), ("keys", Some(&secrets[..]))];
    let mut measured = Vec::new();
    for (callers, secrets) in runs {
        measured.push(measure(callers, secrets, flags, &mixes, &index, &keys)?);
    }
    if let Some(path) = &flags.common.json {
        std::fs::write(path, serde_json::to_vec_pretty(&measured)?)
            .with_context(|| path.display().to_string())?;
    }
    let refused: usize = measured.iter().map(|run| run.refusals).sum();
    ensure!(refused == 0, "{refused} requests of quiet callers were answered with 503");
    Ok(())
}

/// Builds an index of generated instruments, and of an identifier with about as many rows as a list
/// may ask for.
fn build(instruments: u64, folder: &Path) -> anyhow::Result<PathBuf> {
    let dump = universe::dump(instruments, folder)?;
    let mut dear = "figi,exchCode,ID_ISIN\n".to_owned();
    for number in 0..DEAR_ROWS {
        let body = format!("BBGZZ{number:06}");
        let digit = check_digit::double_add_double(body.as_bytes()).context("a check digit")?;
        dear.push_str(&format!("{body}{digit},US,US4592001014\n"));
    }
    let inputs = vec![Input::File(dump.clone()), Input::Memory("dear", dear.into_bytes().into())];
    let index = folder.join("index");
    Build::new(inputs, &index).run(&mut |_| {}).context("building the index")?;
    std::fs::remove_file(&dump)?;
    Ok(index)
}

fn measure(
    callers: &'static str,
    secrets: Option<&[String]>,
    flags: &FairFlags,
    mixes: &Mixes,
    index: &Path,
    keys: &Path,
) -> anyhow::Result<Run> {
    let catalogue = Catalogue::open(index).context("opening the index")?;
    let asks = || mixes.fair.iter().map(|fair| &fair.ask);
    let sample = Sample::of(&catalogue, asks().chain(&mixes.dear))?;
    let dear = mixes.dear.as_ref().context("the mixes have no `dear`")?;
    let list = dearest_list(&catalogue, &sample, dear)?;
    let host = Host::new()?;
    let ring = Arc::new(KeyRing::open(keys)?);
    let served = host.serve(server::figdex_with(catalogue, ring))?;
    let requests = requests(served.address, asks(), &sample, &list, secrets)?;
    let caller = |number: usize| Ipv4Addr::new(127, 0, 0, 10 + number as u8);
    let addresses: Vec<Ipv4Addr> = match secrets {
        None => (0..=QUIET).map(caller).collect(),
        Some(_) => vec![caller(0); QUIET + 1],
    };
    let capacity = capacity(&requests, &addresses, flags.seconds)?;
    let rate = (capacity * QUIET_SHARE).min(QUIET_RATE_MAX);
    println!("callers are {callers}: {rate:.0} quiet requests a second of {capacity:.0} at most");
    println!(
        "{:>6} {:>24} {:>32} {:>6}",
        "", "quiet p50 p99 max ms", "attacked p50 p99 max ms", "503"
    );
    let mut pairs = Vec::new();
    for number in 0..flags.rounds {
        let block =
            |is_attacked| take_block(&requests, &addresses, rate, flags.seconds, is_attacked);
        // The order alternates, so that a machine that slows down favours neither side.
        let (quiet, attacked) = match number % 2 {
            0 => (block(false)?, block(true)?),
            _ => {
                let attacked = block(true)?;
                (block(false)?, attacked)
            }
        };
        let text = |block: &Block| {
            format!("{:7.2} {:7.2} {:7.1}", block.p50_ms, block.p99_ms, block.most_ms)
        };
        let refusals = quiet.refusals + attacked.refusals;
        println!(
            "{:>6} {:>24} {:>32} {refusals:>6}   {} lists of the attacker",
            number + 1,
            text(&quiet),
            text(&attacked),
            attacked.attacks,
        );
        pairs.push(Pair { quiet, attacked });
    }
    let of = |figure: fn(&Pair) -> f64| median(pairs.iter().map(figure).collect());
    let run = Run {
        callers,
        quiet_per_second: rate,
        p99_ms: of(|pair| pair.attacked.p99_ms),
        bound_ms: of(|pair| (RATIO_MAX * pair.quiet.p99_ms).max(P99_MS_MAX)),
        ratio: of(|pair| pair.attacked.p99_ms / pair.quiet.p99_ms),
        refusals: pairs.iter().map(|pair| pair.quiet.refusals + pair.attacked.refusals).sum(),
        pairs,
    };
    let verdict = if run.p99_ms <= run.bound_ms { "kept" } else { "missed" };
    println!(
        "p99 under attack {:.2} ms, {:.1} times the quiet one; at most {:.1} ms: {verdict}; \
         {} answers with 503\n",
        run.p99_ms, run.ratio, run.bound_ms, run.refusals
    );
    Ok(run)
}

/// The body of the list that takes most work: identifiers with many rows, and steps whose values no
/// row has.
fn dearest_list(catalogue: &Catalogue, sample: &Sample, dear: &Ask) -> anyhow::Result<String> {
    let Ask::Mapping(dear) = dear else { anyhow::bail!("`dear` asks for a mapping") };
    let mut values = Vec::new();
    for kind in &dear.id_types {
        let of_kind = sample.values(kind.0, &dear.hits(), &[]);
        values.extend(of_kind.into_iter().map(|value| (value.hits, kind.0, &*value.text)));
    }
    values.sort_unstable_by(|a, b| b.cmp(a));
    let most = values.first().map_or(0, |(hits, ..)| *hits);
    values.retain(|(hits, ..)| 2 * hits > most);
    ensure!(!values.is_empty(), "no identifier of `dear` has {:?} rows", dear.hits());
    let jobs = values
        .iter()
        .cycle()
        .take(JOBS)
        .map(|(_, kind, text)| json!({ "idType": kind.name(), "idValue": text }));
    let jobs: Vec<_> = jobs.collect();
    let rows = values.iter().flat_map(|(_, kind, text)| rows_of(catalogue, *kind, text));
    let used: BTreeSet<String> =
        rows.filter_map(|hit| Some(catalogue.row(hit).exch_code()?.to_string())).collect();
    let codes = catalogue.vocabulary().values(Property::ExchCode);
    let unused: Vec<&str> = codes.filter(|code| !used.contains(*code)).take(STEP_VALUES).collect();
    let step = format!("exchCode={}", unused.join("|"));
    Ok(json!({ "jobs": jobs, "prefer": [step] }).to_string())
}

fn rows_of(catalogue: &Catalogue, kind: IdType, text: &str) -> Vec<figdex_index::Hit> {
    let Ok(value) = kind.admit(text) else { return Vec::new() };
    let lookup = figdex_index::Lookup::new(value, None);
    catalogue.lookup(&lookup, usize::MAX).unwrap_or_default()
}

/// The requests of each caller; the first secret is the attacker's.
fn requests<'a>(
    address: SocketAddr,
    asks: impl Iterator<Item = &'a Ask>,
    sample: &Sample,
    list: &str,
    secrets: Option<&[String]>,
) -> anyhow::Result<Requests> {
    let mut kinds = Vec::new();
    for ask in asks {
        kinds.push(Questions::new(ask, 2_000, sample, address)?.requests);
    }
    ensure!(!kinds.is_empty(), "the mixes have no [[fair]]");
    // Each caller asks the kinds in turn, and each question is asked once.
    let each = kinds.iter().map(|kind| kind.len()).min().unwrap_or(0) / (QUIET + 1);
    let of_caller = |caller: usize| {
        let numbers = (0..each).map(move |number| number * (QUIET + 1) + caller);
        let kinds = &kinds;
        numbers.flat_map(move |number| kinds.iter().map(move |kind| kind[number].clone()))
    };
    let line_of = |caller: usize| match secrets {
        Some(secrets) => format!("x-openfigi-apikey: {}\r\n", secrets[caller]),
        None => String::new(),
    };
    let quiet = (1..=QUIET).map(|caller| {
        let line = line_of(caller);
        of_caller(caller).map(|request| headed(&request, &line)).collect()
    });
    let attacker = format!("sec-fetch-site: same-origin\r\n{}", line_of(0));
    Ok(Requests {
        address,
        quiet: quiet.collect(),
        list: headed(&post("/resolve", list), &attacker),
        long_answer: headed(&post("/resolve?many=all", list), &attacker),
    })
}

/// The requests a second that all quiet callers together have answered, each as fast as it can.
fn capacity(requests: &Requests, addresses: &[Ipv4Addr], time: Duration) -> anyhow::Result<f64> {
    let answers = quiet_callers(requests, addresses, None, time)?;
    Ok(answers.len() as f64 / time.as_secs_f64())
}

fn take_block(
    requests: &Requests,
    addresses: &[Ipv4Addr],
    rate: f64,
    time: Duration,
    is_attacked: bool,
) -> anyhow::Result<Block> {
    let attack = is_attacked.then(|| Attack::start(requests, addresses[0]));
    std::thread::sleep(ATTACK_BEGINS);
    let answers = quiet_callers(requests, addresses, Some(rate / QUIET as f64), time)?;
    let attacks = attack.map_or(Ok(0), Attack::stop)?;
    ensure!(!answers.is_empty(), "no answer in a block: make it longer");
    let mut latencies: Vec<f64> =
        answers.iter().map(|(_, latency)| latency.as_secs_f64() * 1e3).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let percentile =
        |percent: usize| latencies[(latencies.len() * percent).div_ceil(100).saturating_sub(1)];
    Ok(Block {
        answers: answers.len(),
        p50_ms: percentile(50),
        p99_ms: percentile(99),
        most_ms: percentile(100),
        refusals: answers.iter().filter(|(status, _)| *status == 503).count(),
        attacks,
    })
}

/// The statuses and latencies of the quiet callers: at a rate of each, or as fast as answers come. A
/// latency begins when the request was due.
fn quiet_callers(
    requests: &Requests,
    addresses: &[Ipv4Addr],
    rate: Option<f64>,
    time: Duration,
) -> anyhow::Result<Vec<(u16, Duration)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for (number, (questions, from)) in requests.quiet.iter().zip(&addresses[1..]).enumerate() {
            let mut connection = Connection::open_from(*from, requests.address).await?;
            let questions = questions.clone();
            // Blocks ask different questions, so that no cache answers them.
            let first = SENT.fetch_add(questions.len() / 7, Ordering::Relaxed);
            tasks.spawn(async move {
                let mut answers = Vec::new();
                let started = Instant::now();
                for (count, request) in
                    (0_u32..).zip(questions.iter().cycle().skip(first % questions.len()))
                {
                    let mut begun = Instant::now();
                    if let Some(rate) = rate {
                        let place = f64::from(count) + number as f64 / QUIET as f64;
                        let due = started + Duration::from_secs_f64(place / rate);
                        if due > begun {
                            tokio::time::sleep_until(due.into()).await;
                            begun = Instant::now();
                        } else {
                            begun = due;
                        }
                    }
                    if started.elapsed() > time {
                        break;
                    }
                    let status = connection.exchange(request).await?.status;
                    answers.push((status, begun.elapsed()));
                }
                anyhow::Ok(answers)
            });
        }
        let mut all = Vec::new();
        while let Some(task) = tasks.join_next().await {
            all.append(&mut task.expect("a task does not panic")?);
        }
        let wrong = all.iter().find(|(status, _)| !matches!(status, 200 | 503));
        ensure!(wrong.is_none(), "a quiet caller was answered {wrong:?}");
        Ok(all)
    })
}

/// The number of questions that were passed over, so that each block has its own.
static SENT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// The attacker, at work.
struct Attack {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<usize>>,
}

impl Attack {
    fn start(requests: &Requests, from: Ipv4Addr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let address = requests.address;
        let list: Arc<[u8]> = requests.list.clone().into();
        let long_answer = requests.long_answer.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let answered = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let work = async {
                let mut tasks = JoinSet::new();
                for _ in 0..LISTS {
                    let (list, answered) = (list.clone(), answered.clone());
                    tasks.spawn(async move {
                        let mut connection = Connection::open_from(from, address).await?;
                        loop {
                            // Whatever the answer is, the attacker asks again.
                            if connection.exchange(&list).await?.status == 200 {
                                answered.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
                for _ in 0..SLOW_READERS {
                    let request = long_answer.clone();
                    tasks.spawn(async move {
                        loop {
                            let mut stream = Connection::stream_from(from, address).await?;
                            stream.write_all(&request).await?;
                            let mut buffer = [0; SLOW_BYTES];
                            while stream.read(&mut buffer).await.unwrap_or(0) > 0 {
                                tokio::time::sleep(SLOW_PAUSE).await;
                            }
                        }
                    });
                }
                while let Some(ended) = tasks.join_next().await {
                    let ended: anyhow::Result<()> = ended.expect("a task does not panic");
                    ended?;
                }
                anyhow::Ok(())
            };
            let until_stopped = async {
                while !stopped.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            runtime.block_on(async {
                tokio::select! {
                    ended = work => ended.context("the attacker"),
                    () = until_stopped => Ok(()),
                }
            })?;
            Ok(answered.load(Ordering::Relaxed))
        });
        Self { stop, thread }
    }

    /// Stops it, and returns the number of its requests that were answered with 200.
    fn stop(self) -> anyhow::Result<usize> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the attacker does not panic")
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
