//! A server whose memory and processor time are measured as it is installed: without a setting of
//! the allocator, in a fresh process, after one warm-up request.

use std::env;
use std::fs;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use figdex::callers::auth::file;
use flate2::read::GzDecoder;

use super::MB;
use super::hostile::{Hostile, post};
use crate::support::process::{self, Process, figdex, skip_memory};

/// The variable that names the program to measure. Without it the program of the tests is measured,
/// which is not optimized: then memory is judged by one run, and processor time by a wider bound.
const PROGRAM: &str = "FIGDEX_BOUNDS_PROGRAM";

/// Runs of which the median is the memory of a request that takes nearly as much as it may, and the
/// part of that from which it is so judged.
const MEMORY_RUNS: usize = 3;
const NEARLY: f64 = 0.75;

/// Runs in a row of which the least is the processor time of a request.
const TIME_RUNS: usize = 20;

/// The rounds of such runs. A machine that is busy with other work for a second is not the fault of
/// a request, which is measured again after all others.
const TIME_ROUNDS: usize = 8;

/// The time before each further round.
const ROUND_WAIT: Duration = Duration::from_secs(5);

/// The program to measure, if one is named.
pub(super) fn named_program() -> Option<PathBuf> {
    env::var_os(PROGRAM).map(PathBuf::from)
}

fn program() -> Command {
    let Some(named) = named_program() else { return figdex() };
    let mut command = Command::new(named);
    command.env_clear();
    command
}

/// The time in which the machine that the bounds were set on checks the text of [`slowness`].
const YARDSTICK_TIME: Duration = Duration::from_micros(235);

/// The number of times that this machine is slower than that one, at least 1: by work of the same
/// kind in the same run.
fn slowness() -> f64 {
    let text = "aé€𝄞".repeat(1 << 15);
    let once = |_| {
        let begun = Instant::now();
        assert!(str::from_utf8(black_box(text.as_bytes())).is_ok());
        begun.elapsed()
    };
    let least = (0..50).map(once).min().unwrap();
    least.div_duration_f64(YARDSTICK_TIME).max(1.0)
}

/// The server to measure: its index, its key, and its settings.
pub(super) struct Subject<'a> {
    folder: &'a Path,
    arguments: &'a [&'a str],
    key: String,
}

/// The effect of a request.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) status: u16,
    /// The bytes of the answer's body, unpacked.
    pub(super) answer_bytes: usize,
    /// The bytes of the answer as it was sent.
    pub(super) sent_bytes: usize,
    /// The time until the answer was read to its end.
    pub(super) elapsed: Duration,
}

/// The memory of a process, in bytes.
struct Status {
    anonymous: u64,
    /// Memory that files back: the mapped index, and the program itself.
    files: u64,
    /// The peak of the sum of both since it was last reset.
    most: u64,
}

impl Status {
    fn of(process: &Process) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{}/status", process.child.id()));
        let Ok(status) = status else {
            skip_memory();
            return None;
        };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let kilobytes: u64 = line.trim().strip_suffix(" kB").unwrap().parse().unwrap();
            kilobytes << 10
        };
        let files = field("RssFile:") + field("RssShmem:");
        Some(Self { anonymous: field("RssAnon:"), files, most: field("VmHWM:") })
    }
}

impl<'a> Subject<'a> {
    /// A server over the index in that folder.
    pub(super) fn new(folder: &'a Path, arguments: &'a [&'a str]) -> Self {
        let key = file::add(&folder.join("keys.toml"), "desk").unwrap().as_str().to_owned();
        Self { folder, arguments, key }
    }

    /// Starts a fresh process, and sends it one request, so that its threads run and the program is
    /// in memory.
    fn start(&self, serving_threads: Option<&str>) -> Process {
        let mut command = program();
        if let Some(count) = serving_threads {
            command.env("TOKIO_WORKER_THREADS", count);
        }
        command.args(["--listen", "127.0.0.1:0", "--no-limits", "--keys"]);
        command.arg(self.folder.join("keys.toml")).arg("--index").arg(self.folder.join("index"));
        let process = Process::start(command.args(self.arguments));
        let job = br#"[{"idType":"TICKER","idValue":"IBM"}]"#;
        let headers = "Content-Type: application/json\r\n";
        let warm = exchange(&process, &post("/v3/mapping", headers, job, false));
        assert_eq!(warm.status, 200);
        process
    }

    /// The anonymous memory that a request adds, and its effect; `None` where the system does not
    /// report it. `most` is what the request may take.
    pub(super) fn memory(
        &self,
        hostile: &Hostile,
        most: impl Fn(&Effect) -> u64,
    ) -> Option<(u64, Effect)> {
        let request = hostile.bytes(&self.key);
        let runs = if named_program().is_some() { MEMORY_RUNS } else { 1 };
        let mut added: Vec<u64> = Vec::new();
        let mut effect = None;
        while added.len() < runs {
            let process = self.start(None);
            fs::write(format!("/proc/{}/clear_refs", process.child.id()), "5").ok();
            let before = Status::of(&process)?;
            effect = Some(exchange(&process, &request));
            let after = Status::of(&process)?;
            // Pages of files that are mapped meanwhile are not the request's memory.
            let mapped = after.files.saturating_sub(before.files);
            let bytes = after.most.saturating_sub(before.files + before.anonymous);
            let bytes = bytes.saturating_sub(mapped);
            added.push(bytes);
            process.stop();
            if (bytes as f64) < NEARLY * effect.as_ref().map_or(0, &most) as f64 {
                break;
            }
        }
        added.sort_unstable();
        Some((added[added.len() / 2], effect?))
    }

    /// The processor time that each request takes of the only serving thread, least of many runs: no
    /// more of them than it takes to be within `most`. `None` where the system does not report it.
    pub(super) fn processor_times(
        &self,
        requests: &[Hostile],
        most: impl Fn(&Hostile, &Effect) -> Duration,
    ) -> Option<Vec<Taken>> {
        let process = self.start(Some("1"));
        let thread = serving_thread(&process)?;
        let mut all: Vec<Option<Taken>> = vec![None; requests.len()];
        for round in 0..TIME_ROUNDS {
            if round > 0 && all.iter().flatten().all(Taken::is_within) {
                break;
            }
            std::thread::sleep(ROUND_WAIT * u32::from(round > 0));
            let slowness = slowness();
            eprintln!("this machine is {slowness:.2} times as slow as the one of the bounds");
            for (hostile, least) in requests.iter().zip(&mut all) {
                let request = hostile.bytes(&self.key);
                for _ in 0..TIME_RUNS {
                    if least.as_ref().is_some_and(Taken::is_within) {
                        break;
                    }
                    let before = time_of(&process, thread)?;
                    let effect = exchange(&process, &request);
                    // The thread still closes the connection.
                    std::thread::sleep(Duration::from_millis(2));
                    let time = time_of(&process, thread)?.saturating_sub(before);
                    let taken = Taken { time, most: most(hostile, &effect).mul_f64(slowness) };
                    let is_less = |known: &Taken| taken.beyond() < known.beyond();
                    if least.as_ref().is_none_or(is_less) {
                        *least = Some(taken);
                    }
                }
            }
        }
        process.stop();
        all.into_iter().collect()
    }
}

/// The processor time that a request took of the serving thread, and the most that it may take.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub(super) time: Duration,
    pub(super) most: Duration,
}

impl Taken {
    pub(super) fn is_within(&self) -> bool {
        self.time <= self.most
    }

    fn beyond(&self) -> f64 {
        self.time.div_duration_f64(self.most)
    }
}

/// The thread that serves all connections: the first of its kind. Those of heavy work come later.
fn serving_thread(process: &Process) -> Option<u32> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.child.id())).ok()?;
    let serving = tasks.filter_map(|task| {
        let task = task.ok()?;
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        name.starts_with("tokio").then(|| task.file_name().to_str()?.parse().ok()).flatten()
    });
    serving.min()
}

/// The processor time that a thread has taken.
fn time_of(process: &Process, thread: u32) -> Option<Duration> {
    let id = process.child.id();
    let facts = fs::read_to_string(format!("/proc/{id}/task/{thread}/sched")).ok()?;
    let line = facts.lines().find(|line| line.starts_with("se.sum_exec_runtime"))?;
    let millis: f64 = line.rsplit(':').next()?.trim().parse().ok()?;
    Some(Duration::from_secs_f64(millis / 1_000.0))
}

/// Sends a request and reads its answer to the end.
fn exchange(process: &Process, request: &[u8]) -> Effect {
    let begun = Instant::now();
    let mut stream = process.connect();
    // A server may answer and close before it has read everything.
    stream.write_all(request).ok();
    // A client that reads in small pieces would wake the serving thread for each.
    let mut answer = Vec::with_capacity(MB as usize);
    stream.read_to_end(&mut answer).ok();
    let elapsed = begun.elapsed();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer: {:?}", process.child.id()));
    let head = str::from_utf8(&answer[..end]).unwrap();
    let body = &answer[end + 4..];
    let answer_bytes = match head.contains("content-encoding: gzip") {
        true => std::io::copy(&mut GzDecoder::new(body), &mut std::io::sink()).unwrap() as usize,
        false => body.len(),
    };
    Effect { status: process::status(head), answer_bytes, sent_bytes: answer.len(), elapsed }
}
