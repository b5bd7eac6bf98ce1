//! Whether a server that runs for long stays as it is: its memory, its latencies, its
//! statuses.
//!
//! The program itself is started (`program.rs`), as an operator starts it, and gets mixed
//! traffic at a fixed rate (`traffic.rs`). Meanwhile the index is published anew, so that
//! generations come and go, and SIGHUP is sent. Every few seconds memory and latencies are
//! noted, and beside them those of the floor (`server.rs`), a server that is in nobody's way
//! and answers the same bytes for ever: when the machine gets slower, so does it.
//! `judge.rs` says at the end what holds, and `tell.rs` and `plot.rs` write it down.

mod judge;
mod plot;
mod program;
mod tell;
mod traffic;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figdex_index::Catalogue;

use self::program::{Log, Program};
use self::traffic::{Seen, Stream, Windows};
use crate::SoakFlags;
use crate::process::Memory;
use crate::sample::Sample;
use crate::server::{self, Host, Served};
use crate::{client, universe};

/// How often memory and latencies are noted.
const MOMENT: Duration = Duration::from_secs(5);

/// Bytes of the floor's answers, as those of a small one.
const FLOOR_BYTES: usize = 300;

/// Requests a second that the floor gets: enough for a p99 at each moment.
const FLOOR_RATE: usize = 50;

/// How long the server may take, after the traffic, to take up what was published last.
const TAKE_UP_TIMEOUT: Duration = Duration::from_secs(30);

/// What was noted at one moment: memory as it was then, and the answers since the moment
/// before.
struct Moment {
    seconds: f64,
    memory: Memory,
    /// By the place of the stream.
    seen: Vec<Seen>,
    floor: Seen,
}

/// All that was noted.
struct Run {
    instruments: u64,
    rate: usize,
    /// Names of the streams, and the status that each answer should have.
    streams: Vec<(String, u16)>,
    moments: Vec<Moment>,
    /// When generations were published, in seconds.
    published: Vec<f64>,
    /// What the server said, and whether it ended well when it was told to.
    log: Log,
    ended_well: bool,
}

/// Sends the traffic, and tells what came of it.
///
/// # Errors
/// Also when something does not hold.
pub(crate) fn run(flags: &SoakFlags) -> anyhow::Result<()> {
    let mut mixes = flags.common.mixes()?;
    mixes.cases.clear();
    mixes.kinds.clear();
    ensure!(!mixes.streams.is_empty(), "the mixes file has no [[soak]]");
    let folder = flags.common.temporary()?;
    let dump = universe::dump(flags.instruments, folder.path())?;
    let index = folder.path().join("index");
    universe::publish(&dump, &index)?;
    eprintln!("taking identifiers and words from the index");
    let sample = Sample::of(&Catalogue::open(&index)?, mixes.asks())?;

    let program = Program::start(&flags.server, &index)?;
    let streams = mixes.streams.iter().map(|stream| {
        Stream::new(stream, &sample, program.address)
            .with_context(|| format!("soak {:?}", stream.name))
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
        // Asked first, so that what came last is noted too.
        let is_over = traffic.is_finished();
        if !is_over {
            std::thread::sleep(MOMENT);
        }
        moments.push(Moment {
            seconds: started.elapsed().as_secs_f64(),
            memory: Memory::of(program.id()).context("the server has ended")?,
            seen: windows.take(),
            floor: floor.take(),
        });
        if is_over {
            break;
        }
    }
    traffic.join().expect("the traffic does not panic")?;
    floor.stop()?;
    let published = publisher.stop()?;
    program.await_generations(published.len(), TAKE_UP_TIMEOUT);
    let (ended_well, log) = program.stop()?;
    let run = Run {
        instruments: flags.instruments,
        rate: flags.rate,
        streams: mixes.streams.into_iter().map(|stream| (stream.name, stream.status)).collect(),
        moments,
        published,
        log,
        ended_well,
    };
    write(flags.csv.as_deref(), || tell::csv(&run))?;
    write(flags.svg.as_deref(), || plot::svg(&run))?;
    let verdicts = judge::judge(&run);
    write(flags.common.json.as_deref(), || tell::json(&run, &verdicts))?;
    print!("{}", tell::text(&run, &verdicts));
    let broken = verdicts.iter().filter(|verdict| !verdict.holds).count();
    ensure!(broken == 0, "{broken} of {} does not hold", verdicts.len());
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

    /// What it was like since this was last asked.
    fn take(&self) -> Seen {
        self.windows.take().swap_remove(0)
    }

    fn stop(self) -> anyhow::Result<()> {
        self.traffic.join().expect("the traffic does not panic")
    }
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()).with_context(|| format!("writing {}", path.display()))
}

/// A thread that publishes the index anew, and sends SIGHUP in between.
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

    /// Ends it, and tells when it published.
    fn stop(self) -> anyhow::Result<Vec<f64>> {
        drop(self.stop);
        self.thread.join().expect("the publisher does not panic")
    }
}

/// Waits so long; whether nobody said to stop meanwhile.
fn is_time_left(stopped: &Receiver<()>, time: Duration) -> bool {
    stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}
