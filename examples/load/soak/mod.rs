//! Checks that the memory, latencies and statuses of a long-running server stay stable.
//!
//! The server program is started as an operator starts it (`program.rs`), and gets mixed traffic at a
//! fixed rate (`traffic.rs`). Meanwhile new generations are published and SIGHUP is sent. Every few
//! seconds the server's memory and latencies are recorded. For comparison, so are the latencies of
//! the floor (`server.rs`), which always answers the same bytes: when the machine slows down, so
//! does the floor. At the end, `verdicts.rs` checks the measurements, and `plot.rs` draws them if a
//! flag asks for it.

mod plot;
mod program;
mod traffic;
mod verdicts;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figdex_index::Catalogue;
use figdex_io::grouped;

use self::program::{Log, Program};
use self::traffic::{Answers, Stream, Windows};
use self::verdicts::{Verdict, totals};
use crate::SoakFlags;
use crate::mixes::Mixes;
use crate::process::Memory;
use crate::sample::Sample;
use crate::server::{self, Host, Served};
use crate::{client, universe};

/// The interval of the measurements.
const MOMENT: Duration = Duration::from_secs(5);

/// The size of the floor's answers, that of a small answer of Figdex.
const FLOOR_BYTES: usize = 300;

/// Requests a second to the floor: enough for a p99 at each moment.
const FLOOR_RATE: usize = 50;

/// The time that the server has after the traffic to reload the last published generation.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The measurements of one moment: the memory, and the answers since the previous moment.
struct Moment {
    seconds: f64,
    memory: Memory,
    /// The answers of each stream.
    answers: Vec<Answers>,
    floor: Answers,
}

/// All measurements of a run.
struct Run {
    instruments: u64,
    rate: usize,
    /// Names of the streams, and the status that each answer should have.
    streams: Vec<(String, u16)>,
    moments: Vec<Moment>,
    /// The times when generations were published, in seconds.
    published: Vec<f64>,
    log: Log,
    /// Whether the server ended with code 0 after SIGTERM.
    ended_well: bool,
}

/// Sends the traffic, and writes the results.
///
/// # Errors
/// When the run fails, or a verdict does not hold.
pub(crate) fn run(flags: &SoakFlags) -> anyhow::Result<()> {
    let kinds = Mixes::read()?.soak;
    let folder = flags.folder.make()?;
    let dump = universe::dump(flags.instruments, folder.path())?;
    let index = folder.path().join("index");
    universe::publish(&dump, &index)?;
    let sample = Sample::of(&Catalogue::open(&index)?, &kinds)?;

    let program = Program::start(&flags.server, &index)?;
    let streams = kinds.iter().map(|kind| {
        Stream::new(kind, &sample, program.address).with_context(|| format!("soak {:?}", kind.name))
    });
    let streams = streams.collect::<anyhow::Result<Arc<[_]>>>()?;
    drop(sample);

    eprintln!("sending traffic for {:.0} s", flags.minutes.as_secs_f64());
    let started = Instant::now();
    let windows = Windows::of(&streams);
    let traffic = traffic::drive(
        program.address,
        streams.clone(),
        windows.clone(),
        flags.rate,
        started..started + flags.minutes,
    )?;
    let floor = Floor::start(started..started + flags.minutes)?;
    let publisher = Publisher::start(dump, index, program.id(), started, flags)?;
    let mut moments = Vec::new();
    loop {
        // Checked first, so that the last answers are also recorded.
        let is_over = traffic.is_finished();
        if !is_over {
            std::thread::sleep(MOMENT);
        }
        moments.push(Moment {
            seconds: started.elapsed().as_secs_f64(),
            memory: Memory::of(program.id()).context("the server has ended")?,
            answers: windows.take(),
            floor: floor.take(),
        });
        if is_over {
            break;
        }
    }
    traffic.join().expect("the traffic does not panic")?;
    floor.stop()?;
    let published = publisher.stop()?;
    program.await_generations(published.len(), RELOAD_TIMEOUT);
    let (ended_well, log) = program.stop()?;
    let run = Run {
        instruments: flags.instruments,
        rate: flags.rate,
        streams: kinds.into_iter().map(|kind| (kind.name, kind.status)).collect(),
        moments,
        published,
        log,
        ended_well,
    };
    if let Some(path) = &flags.svg {
        std::fs::write(path, plot::svg(&run)).with_context(|| path.display().to_string())?;
    }
    let verdicts = verdicts::of(&run);
    print(&run, &verdicts);
    let broken = verdicts.iter().filter(|verdict| !verdict.holds).count();
    ensure!(broken == 0, "{broken} of {} verdicts do not hold", verdicts.len());
    Ok(())
}

/// The floor and its traffic.
struct Floor {
    windows: Windows,
    traffic: JoinHandle<anyhow::Result<()>>,
    _served: (Served, Host),
}

impl Floor {
    fn start(time: Range<Instant>) -> anyhow::Result<Self> {
        let host = Host::new()?;
        let served =
            host.serve(server::floor(b"{", FLOOR_BYTES, "content-type: text/plain\r\n")?)?;
        let request = client::get("/");
        let streams: Arc<[Stream]> = vec![Stream::constant(request)].into();
        let windows = Windows::of(&streams);
        let traffic = traffic::drive(served.address, streams, windows.clone(), FLOOR_RATE, time)?;
        Ok(Self { windows, traffic, _served: (served, host) })
    }

    /// The answers since the last call.
    fn take(&self) -> Answers {
        self.windows.take().swap_remove(0)
    }

    fn stop(self) -> anyhow::Result<()> {
        self.traffic.join().expect("the traffic does not panic")
    }
}

fn print(run: &Run, verdicts: &[Verdict]) {
    println!(
        "{} instruments, {} requests a second, {} generations published",
        grouped(run.instruments),
        run.rate,
        run.published.len()
    );
    for (stream, (name, _)) in run.streams.iter().enumerate() {
        let statuses = totals(run, stream).map(|(status, count)| format!("{count} × {status}"));
        println!("  {name}: {}", statuses.collect::<Vec<_>>().join(", "));
    }
    for Verdict { found, holds } in verdicts {
        println!("{} {found}", if *holds { "holds: " } else { "FAILS: " });
    }
}

/// A thread that publishes new generations of the index, and sends SIGHUP in between.
struct Publisher {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<anyhow::Result<Vec<f64>>>,
}

impl Publisher {
    fn start(
        dump: PathBuf,
        index: PathBuf,
        server: u32,
        started: Instant,
        flags: &SoakFlags,
    ) -> anyhow::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let half = flags.publish / 2;
        let publish = move || {
            let mut published = Vec::new();
            while is_time_left(&stopped, half) {
                program::signal("-HUP", server)?;
                if !is_time_left(&stopped, half) {
                    break;
                }
                universe::publish(&dump, &index)?;
                published.push(started.elapsed().as_secs_f64());
            }
            anyhow::Ok(published)
        };
        let thread = std::thread::Builder::new().name("publisher".to_owned()).spawn(publish)?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread, and returns the times when it published, in seconds.
    fn stop(self) -> anyhow::Result<Vec<f64>> {
        drop(self.stop);
        self.thread.join().expect("the publisher does not panic")
    }
}

/// Waits for this time. Returns `false` if the thread must stop.
fn is_time_left(stopped: &Receiver<()>, time: Duration) -> bool {
    stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}
