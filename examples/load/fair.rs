//! One attacker next to eight quiet callers (engine 8). On many connections, the attacker sends the
//! most expensive lists, and reads large answers slowly. The quiet callers send a fifth of the
//! machine's capacity at a fixed rate, in alternating blocks with and without the attacker. All
//! callers are addresses of this machine, and in a second run keys.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figdex::callers::auth::{KeyRing, file};
use figdex_index::{Catalogue, IdType, Property, RowSource, check_digit};
use figdex_ingest::{Build, Input};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, JoinSet};

use crate::FairFlags;
use crate::client::{Connection, headed, post};
use crate::drive::{begin, gather, median, percentile_ms};
use crate::mixes::{Ask, Kind, Mixes};
use crate::questions::Questions;
use crate::sample::Sample;
use crate::server::{self, Host};
use crate::universe;

/// The quiet callers.
const QUIET: usize = 8;

/// The share of the machine's capacity that the quiet callers use together. `QUIET_RATE_MAX` is the
/// most requests a second that they send together: quiet callers are people, or programs that ask
/// now and then.
const QUIET_SHARE: f64 = 0.2;
const QUIET_RATE_MAX: f64 = 200.0;

/// The connections of the attacker that send lists. `SLOW_READERS` is the number that read slowly.
const LISTS: usize = 32;
const SLOW_READERS: usize = 8;

/// The time from the start of an attack to the first quiet request of its block.
const ATTACK_BEGINS: Duration = Duration::from_millis(500);

/// The bytes that a slow reader takes at a time, and its pause after them.
const SLOW_BYTES: usize = 4 << 10;
const SLOW_PAUSE: Duration = Duration::from_millis(200);

/// The number of values in the steps of a list. No row has any of them.
const STEP_VALUES: usize = 100;

/// The number of rows of the identifier in the attacker's lists.
const DEAR_ROWS: usize = 14_000;

/// The number of jobs in a list, with a key and without.
const JOBS: usize = 1_000;

/// The bound on the quiet callers' p99 under attack: this multiple of their p99 without attack, or
/// `P99_MS_MAX` if that is larger.
const RATIO_MAX: f64 = 4.0;
const P99_MS_MAX: f64 = 50.0;

/// The answers to the quiet callers in a block.
struct Block {
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
    let mixes = Mixes::read()?;
    let folder = flags.index.folder.make()?;
    let index = match &flags.index.index {
        Some(index) => index.clone(),
        None => build(flags.index.instruments, folder.path())?,
    };
    let keys = folder.path().join("keys.toml");
    let names = (0..=QUIET).map(|number| format!("caller-{number}"));
    let secrets: Vec<String> =
        names.map(|name| file::add(&keys, &name)).collect::<Result<_, _>>()?;
    let refused = measure("addresses", None, flags, &mixes, &index, &keys)?
        + measure("keys", Some(&secrets), flags, &mixes, &index, &keys)?;
    ensure!(refused == 0, "{refused} requests of quiet callers were answered with 503");
    Ok(())
}

/// Builds an index of generated instruments and one identifier with about as many rows as a list
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

/// Measures blocks without the attacker and with it, and returns the number of quiet requests that
/// were refused.
fn measure(
    callers: &str,
    secrets: Option<&[String]>,
    flags: &FairFlags,
    mixes: &Mixes,
    index: &Path,
    keys: &Path,
) -> anyhow::Result<usize> {
    let catalogue = Catalogue::open(index).context("opening the index")?;
    let sample = Sample::of(&catalogue, mixes.fair.iter().chain([&mixes.dear]))?;
    let list = dearest_list(&catalogue, &sample, &mixes.dear.ask)?;
    let host = Host::new()?;
    let ring = Arc::new(KeyRing::open(keys)?);
    let served = host.serve(server::figdex_with(catalogue, ring))?;
    let requests = requests(served.address, &mixes.fair, &sample, &list, secrets)?;
    let caller = |number: usize| Ipv4Addr::new(127, 0, 0, 10 + number as u8);
    let addresses: Vec<Ipv4Addr> = match secrets {
        None => (0..=QUIET).map(caller).collect(),
        Some(_) => vec![caller(0); QUIET + 1],
    };
    // The number of answers a second to all quiet callers together, when each asks as fast as it
    // can.
    let capacity = quiet_callers(&requests, &addresses, None, flags.seconds)?.len() as f64
        / flags.seconds.as_secs_f64();
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
        println!(
            "{:>6} {:>24} {:>32} {:>6}   {} lists of the attacker",
            number + 1,
            text(&quiet),
            text(&attacked),
            quiet.refusals + attacked.refusals,
            attacked.attacks,
        );
        pairs.push((quiet, attacked));
    }
    let of = |figure: fn(&(Block, Block)) -> f64| median(pairs.iter().map(figure)).unwrap_or(0.0);
    let p99 = of(|(_, attacked)| attacked.p99_ms);
    let bound = of(|(quiet, _)| (RATIO_MAX * quiet.p99_ms).max(P99_MS_MAX));
    let ratio = of(|(quiet, attacked)| attacked.p99_ms / quiet.p99_ms);
    let verdict = if p99 <= bound { "kept" } else { "missed" };
    let refusals = pairs.iter().map(|(quiet, attacked)| quiet.refusals + attacked.refusals).sum();
    println!(
        "p99 under attack {p99:.2} ms, {ratio:.1} times the quiet one; at most {bound:.1} ms: {verdict}; \
         {refusals} answers with 503\n"
    );
    Ok(refusals)
}

/// The body of the most expensive list: identifiers with many rows, and steps with values that no
/// row has.
fn dearest_list(catalogue: &Catalogue, sample: &Sample, dear: &Ask) -> anyhow::Result<String> {
    let Ask::Mapping(dear) = dear else { anyhow::bail!("`dear` asks for a mapping") };
    let mut values = Vec::new();
    for id_type in dear.id_types() {
        let of_kind = sample.values(id_type, &dear.hits(), &[]);
        values.extend(of_kind.into_iter().map(|value| (value.hits, id_type, &*value.text)));
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
fn requests(
    address: SocketAddr,
    quiet: &[Kind],
    sample: &Sample,
    list: &str,
    secrets: Option<&[String]>,
) -> anyhow::Result<Requests> {
    let mut kinds = Vec::new();
    for kind in quiet {
        kinds.push(Questions::new(&kind.ask, 2_000, sample, address)?.requests);
    }
    // Each caller asks the kinds in turn, and each question is asked only once.
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

fn take_block(
    requests: &Requests,
    addresses: &[Ipv4Addr],
    rate: f64,
    time: Duration,
    is_attacked: bool,
) -> anyhow::Result<Block> {
    let attack = is_attacked.then(|| Attack::start(requests, addresses[0])).transpose()?;
    std::thread::sleep(ATTACK_BEGINS);
    let answers = quiet_callers(requests, addresses, Some(rate / QUIET as f64), time)?;
    let attacks = attack.map_or(Ok(0), Attack::stop)?;
    let percentile = |percent| {
        percentile_ms(answers.iter().map(|(_, latency)| latency), percent)
            .context("no answer in a block: make it longer")
    };
    Ok(Block {
        p50_ms: percentile(50)?,
        p99_ms: percentile(99)?,
        most_ms: percentile(100)?,
        refusals: answers.iter().filter(|(status, _)| *status == 503).count(),
        attacks,
    })
}

/// The statuses and latencies of the quiet callers, at a fixed rate for each or as fast as answers
/// come. A latency begins when the request is sent; at a fixed rate, as [`begin`] determines.
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
                    let place = f64::from(count) + number as f64 / QUIET as f64;
                    let begun = match rate {
                        Some(rate) => begin(started + Duration::from_secs_f64(place / rate)).await,
                        None => Instant::now(),
                    };
                    if started.elapsed() > time {
                        break;
                    }
                    let status = connection.exchange(request).await?.status;
                    answers.push((status, begun.elapsed()));
                }
                anyhow::Ok(answers)
            });
        }
        let all = gather(tasks).await?;
        let wrong = all.iter().find(|(status, _)| !matches!(status, 200 | 503));
        ensure!(wrong.is_none(), "a quiet caller was answered {wrong:?}");
        Ok(all)
    })
}

/// The number of questions that were skipped, so that each block has different ones.
static SENT: AtomicUsize = AtomicUsize::new(0);

/// The attacker, at work until this is dropped.
struct Attack {
    runtime: Runtime,
    tasks: Vec<JoinHandle<anyhow::Result<()>>>,
    /// The number of its lists that were answered with 200.
    answered: Arc<AtomicUsize>,
}

impl Attack {
    fn start(requests: &Requests, from: Ipv4Addr) -> anyhow::Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build()?;
        let answered = Arc::default();
        let address = requests.address;
        let lists = (0..LISTS).map(|_| {
            let list = requests.list.clone();
            runtime.spawn(send_lists(from, address, list, Arc::clone(&answered)))
        });
        let slow_readers = (0..SLOW_READERS)
            .map(|_| runtime.spawn(read_slowly(from, address, requests.long_answer.clone())));
        let tasks = lists.chain(slow_readers).collect();
        Ok(Self { runtime, tasks, answered })
    }

    /// Ends the attack, and returns the number of answered lists.
    ///
    /// # Errors
    /// When a connection of the attacker has failed.
    fn stop(self) -> anyhow::Result<usize> {
        for task in self.tasks.into_iter().filter(JoinHandle::is_finished) {
            self.runtime.block_on(task)?.context("the attacker")?;
        }
        Ok(self.answered.load(Ordering::Relaxed))
    }
}

/// Sends lists one after the other, whatever the status of the answers.
async fn send_lists(
    from: Ipv4Addr,
    address: SocketAddr,
    list: Vec<u8>,
    answered: Arc<AtomicUsize>,
) -> anyhow::Result<()> {
    let mut connection = Connection::open_from(from, address).await?;
    loop {
        if connection.exchange(&list).await?.status == 200 {
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

async fn read_slowly(from: Ipv4Addr, address: SocketAddr, request: Vec<u8>) -> anyhow::Result<()> {
    loop {
        let mut stream = Connection::stream_from(from, address).await?;
        stream.write_all(&request).await?;
        let mut buffer = [0; SLOW_BYTES];
        while stream.read(&mut buffer).await.unwrap_or(0) > 0 {
            tokio::time::sleep(SLOW_PAUSE).await;
        }
    }
}
