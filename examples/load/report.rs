//! The results of the cases: a table, printed line by line as they are measured.

use std::fmt;

use figdex_io::grouped;

use crate::RatiosFlags;
use crate::drive::{Turn, median};
use crate::mixes::{Against, Bound, Kind, Ratio};

/// The share of the cores above which other programs make a ratio unreliable.
const BUSY: f64 = 0.1;

const LEGEND: &str = "
A ratio is Figdex's figure divided by the other side's, in the two turns of a round: throughput
is answers a second, cost is time for an answer at full load, p50 is median latency. The ratio
is that of the median round; all other figures are medians over the rounds too.
floor: a server on the same stack that reads the same requests and answers a constant body of
the mean length of Figdex's answers, with the same headers.
server µs: processor time of the server's threads for an answer. One more thread drives both
sides from this process, on the same cores; its time affects answers/s, but not server µs.
";

/// The turns of a round: the other side's, and Figdex's.
pub(crate) type Round = [Measured; 2];

/// The figures of a turn.
pub(crate) struct Measured {
    pub(crate) turn: Turn,
    /// Processor time for each answer, of all threads except the driver's, in microseconds.
    pub(crate) server_cpu_us: f64,
    pub(crate) background_per_second: f64,
}

/// Prints the conditions and the heading.
pub(crate) fn begin(flags: &RatiosFlags, instruments: u64) {
    println!(
        "Figdex {}: {} instruments; {} cores for all sides; {} connections; {} rounds of {} s a side, \
         in turns\n",
        env!("CARGO_PKG_VERSION"),
        grouped(instruments),
        cores(),
        flags.connections,
        flags.rounds,
        flags.seconds.as_secs_f64()
    );
    println!(
        "{:<45} {:>15} {:>15} {:>15} {:>13}  ratio",
        "", "answers/s", "p50 ms", "p99 ms", "server µs"
    );
    print!("{:<45}", "case / other side");
    for width in [7, 7, 7, 6] {
        print!(" {:>width$} {:>width$}", "other", "Figdex");
    }
    println!("  median (range)     bound");
}

/// Prints the line of a case, and returns whether its bound is kept; `None` without a bound.
pub(crate) fn add(case: &Kind, rounds: &[Round]) -> Option<bool> {
    let against = match case.against {
        Against::Floor => "floor",
        Against::WithoutFilter => "without filter",
        Against::WithoutFields => "without fields",
        Against::FirstPage => "page 1",
        Against::Itself => "itself",
    };
    // The figures of both sides: medians over the rounds.
    let sides = |figure: &dyn Fn(&Measured) -> f64| {
        [0, 1]
            .map(|side| median(rounds.iter().map(|round| figure(&round[side]))).unwrap_or_default())
    };
    print!("{:<45}", format!("{} / {against}", case.name));
    for rate in sides(&|side| side.turn.answers_per_second) {
        print!(" {:>7}", grouped(rate.round() as u64));
    }
    for percent in [50, 99] {
        let [other, figdex] = sides(&|side| side.turn.percentile_ms(percent));
        print!(" {other:>7.3} {figdex:>7.3}");
    }
    for cpu in sides(&|side| side.server_cpu_us) {
        match &case.background {
            None => print!(" {cpu:>6.0}"),
            // A background load runs on the same threads, so only their common time is known.
            Some(_) => print!(" {:>6}", "-"),
        }
    }
    let ratio = |[other, figdex]: &Round| {
        let [rate, rate_of_other] = [figdex, other].map(|side| side.turn.answers_per_second);
        match case.ratio {
            Ratio::Throughput => rate / rate_of_other,
            Ratio::Cost => rate_of_other / rate,
            Ratio::P50 => figdex.turn.percentile_ms(50) / other.turn.percentile_ms(50),
        }
    };
    let least = rounds.iter().map(ratio).fold(f64::INFINITY, f64::min);
    let most = rounds.iter().map(ratio).fold(0.0, f64::max);
    let ratio = median(rounds.iter().map(ratio)).unwrap_or_default();
    print!("  {ratio:<6.3} {:<11} ", format!("({least:.2}-{most:.2})"));
    let kept = case.bound.map(|bound| bound.holds(ratio));
    match case.bound {
        Some(bound) => println!("{} {}", case.ratio, verdict(case.clause, bound, ratio)),
        None => println!("no bound ({})", case.ratio),
    }
    if case.background.is_some() {
        let [other, figdex] = sides(&|side| side.background_per_second);
        println!(
            "    The background load got {other:.0} answers a second during the other side's turns, \
             {figdex:.0} during Figdex's."
        );
    }
    kept
}

/// Prints the meaning of the columns, the work of other programs, and the number of kept bounds.
/// `cores_of_others` is the mean number of cores that other programs kept busy.
pub(crate) fn end(cores_of_others: f64, kept: &[bool]) {
    let cores = cores();
    println!("{LEGEND}\nMeanwhile other programs kept {cores_of_others:.1} of {cores} cores busy.");
    if cores_of_others > BUSY * cores as f64 {
        println!(
            "A single ratio is unreliable then, compare the control and server µs. More and shorter \
             turns help,\nsuch as --rounds 41 --seconds 0.25."
        );
    }
    let count = kept.iter().filter(|is_kept| **is_kept).count();
    println!("{count} of {} bounds kept.", kept.len());
}

/// Whether a ratio is within its bound, as text.
pub(crate) fn verdict(clause: Option<u8>, bound: Bound, ratio: f64) -> String {
    let clause = clause.map(|number| format!("engine 13.{number}, ")).unwrap_or_default();
    let verdict = if bound.holds(ratio) { "kept" } else { "MISSED" };
    format!("({clause}{bound}) {verdict}")
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Throughput => "throughput",
            Self::Cost => "cost",
            Self::P50 => "p50",
        })
    }
}
