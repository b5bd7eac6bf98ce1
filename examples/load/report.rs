//! The results of the cases: a table, printed line by line as they are measured, and JSON.

use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use figdex_io::grouped;
use serde::Serialize;
use serde_json::json;

use crate::mixes::{Bound, Ratio};

/// The conditions of a run.
#[derive(Serialize)]
pub(crate) struct Conditions {
    pub(crate) instruments: u64,
    /// The seed of the generated instruments; `None` when an existing index was measured.
    pub(crate) seed: Option<u64>,
    pub(crate) cores: usize,
    pub(crate) connections: usize,
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
}

/// The result of a case.
#[derive(Serialize)]
pub(crate) struct Outcome {
    pub(crate) case: String,
    pub(crate) against: &'static str,
    pub(crate) connections: usize,
    /// The number of different requests.
    pub(crate) requests: usize,
    /// The mean length of Figdex's answers.
    pub(crate) body_bytes: usize,
    pub(crate) other: Side,
    pub(crate) figdex: Side,
    pub(crate) compared: Ratio,
    /// The ratio of the median round, then the smallest and the largest.
    pub(crate) ratio: f64,
    pub(crate) ratio_least: f64,
    pub(crate) ratio_most: f64,
    pub(crate) promise: Option<u8>,
    pub(crate) bound: Option<Bound>,
    pub(crate) is_kept: Option<bool>,
}

/// The figures of one side of a case: medians over the rounds.
#[derive(Serialize)]
pub(crate) struct Side {
    pub(crate) answers_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the server for an answer.
    pub(crate) server_cpu_us: Option<f64>,
    /// Processor time of the driver for an answer.
    pub(crate) driver_cpu_us: f64,
    /// Answers a second of the background load.
    pub(crate) background_per_second: Option<f64>,
}

/// The table so far.
pub(crate) struct Table {
    conditions: Conditions,
    outcomes: Vec<Outcome>,
}

impl Table {
    /// Prints the heading.
    pub(crate) fn begin(conditions: Conditions) -> Self {
        println!("{conditions}\n");
        println!(
            "{:<45} {:>15} {:>15} {:>15} {:>13}  ratio",
            "", "answers/s", "p50 ms", "p99 ms", "server µs"
        );
        print!("{:<45}", "case / other side");
        for width in [7, 7, 7, 6] {
            print!(" {:>width$} {:>width$}", "other", "Figdex");
        }
        println!("  median (range)     bound");
        Self { conditions, outcomes: Vec::new() }
    }

    /// Prints a line.
    pub(crate) fn add(&mut self, outcome: Outcome) {
        println!("{outcome}");
        self.outcomes.push(outcome);
    }

    /// Prints the meaning of the columns, and writes the JSON. `cores_of_others` is the mean number
    /// of cores that other programs kept busy.
    pub(crate) fn end(self, cores_of_others: f64, json: Option<&Path>) -> anyhow::Result<()> {
        println!("{LEGEND}");
        for outcome in &self.outcomes {
            let [other, figdex] = [&outcome.other, &outcome.figdex];
            if let Some((other, figdex)) =
                other.background_per_second.zip(figdex.background_per_second)
            {
                println!(
                    "{}: the background load got {other:.0} answers a second during the other \
                     side's turns, {figdex:.0} during Figdex's.",
                    outcome.case
                );
            }
        }
        let cores = self.conditions.cores;
        print!("Meanwhile other programs kept {cores_of_others:.1} of {cores} cores busy");
        let is_busy = cores_of_others > BUSY * cores as f64;
        if is_busy {
            print!(
                ": a single ratio is unreliable, compare the control and server µs.\nMore and shorter \
                 turns help, such as --rounds 41 --seconds 0.25"
            );
        }
        println!(".");
        let kept = self.outcomes.iter().filter_map(|outcome| outcome.is_kept);
        let kept: Vec<bool> = kept.collect();
        let count = kept.iter().filter(|is_kept| **is_kept).count();
        println!("{count} of {} bounds kept.", kept.len());
        let Some(path) = json else { return Ok(()) };
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "conditions": self.conditions,
            "cores_of_other_programs": cores_of_others,
            "cases": self.outcomes,
        });
        std::fs::write(path, format!("{report:#}\n")).with_context(|| path.display().to_string())
    }
}

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

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.seed {
            Some(seed) => format!("generated with seed {seed}"),
            None => "in an existing index".to_owned(),
        };
        write!(
            f,
            "Figdex {}: {} instruments {origin}; {} cores for all sides; {} connections; {} rounds \
             of {} s a side, in turns",
            env!("CARGO_PKG_VERSION"),
            grouped(self.instruments),
            self.cores,
            self.connections,
            self.rounds,
            self.seconds
        )
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{} / {}", self.case, self.against);
        write!(f, "{name:<45}")?;
        for side in [&self.other, &self.figdex] {
            write!(f, " {:>7}", grouped(side.answers_per_second.round() as u64))?;
        }
        for (other, figdex) in
            [(self.other.p50_ms, self.figdex.p50_ms), (self.other.p99_ms, self.figdex.p99_ms)]
        {
            write!(f, " {other:>7.3} {figdex:>7.3}")?;
        }
        for side in [&self.other, &self.figdex] {
            match side.server_cpu_us {
                Some(cpu) => write!(f, " {cpu:>6.0}")?,
                None => write!(f, " {:>6}", "-")?,
            }
        }
        let spread = format!("({:.2}-{:.2})", self.ratio_least, self.ratio_most);
        write!(f, "  {:<6.3} {spread:<11}", self.ratio)?;
        let compared = self.compared;
        let (Some(bound), Some(is_kept)) = (self.bound, self.is_kept) else {
            return write!(f, " no bound ({compared})");
        };
        let promise =
            self.promise.map(|number| format!("engine 13.{number}: ")).unwrap_or_default();
        let verdict = if is_kept { "kept" } else { "MISSED" };
        write!(f, " {promise}{compared} {bound} {verdict}")
    }
}
