//! The progress of a build on standard error: bars on a terminal, a line every few seconds in a
//! file or a pipe, nothing with `--quiet`. The library passes the numbers to a callback. The report
//! at the end is printed elsewhere.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use figdex_ingest::Progress;
use figdex_io::{escaped, grouped, terminal};
use indicatif::{ProgressBar, ProgressStyle};

/// The shortest time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Templates of `indicatif`: for a known end, and for an unknown end. The bar takes the space that
/// the other texts leave in 80 columns.
const BAR: &str = "{prefix:>10} [{wide_bar}] {percent:>3} %  {msg}  {eta} left";
const OPEN: &str = "{prefix:>10} {spinner}  {wide_msg}";

/// Shows the progress of a build on standard error.
pub(crate) enum ProgressDisplay {
    /// On a terminal: a bar for each phase. The bars of finished phases stay.
    Bars(Option<(Phase, ProgressBar)>),
    /// In a file or a pipe: a line now and then. Holds the time of the last line.
    Lines(Instant),
    /// With `--quiet`: no output.
    Nothing,
}

/// A phase of the build. Each has its own bar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Reading,
    Joining,
    Indexing,
    Publishing,
}

/// The current state of a phase, as a bar shows it.
struct Step {
    phase: Phase,
    done: u64,
    of: Option<u64>,
    /// Rows or instruments.
    count: u64,
    unit: &'static str,
}

impl ProgressDisplay {
    pub(crate) fn new(quiet: bool) -> Self {
        match (quiet, io::stderr().is_terminal()) {
            (true, _) => Self::Nothing,
            (false, true) => Self::Bars(None),
            // A build that ends within the interval prints no line.
            (false, false) => Self::Lines(Instant::now()),
        }
    }

    /// Shows how far the build has come.
    pub(crate) fn show(&mut self, progress: Progress<'_>) {
        match self {
            Self::Bars(current) => {
                let step = Step::of(progress);
                if current.as_ref().is_none_or(|(phase, _)| *phase != step.phase) {
                    if let Some((_, finished)) = current.take() {
                        finish(&finished);
                    }
                    *current = Some((step.phase, step.bar()));
                }
                if let Some((_, bar)) = current {
                    step.show(bar);
                }
            }
            Self::Lines(last) if last.elapsed() >= LINE_INTERVAL => {
                *last = Instant::now();
                terminal::note(&line(progress));
            }
            Self::Lines(_) | Self::Nothing => {}
        }
    }

    /// Finishes the last bar, when the build has ended or failed.
    pub(crate) fn end(self) {
        if let Self::Bars(Some((_, bar))) = self {
            finish(&bar);
            terminal::note(&"");
        }
    }
}

impl Step {
    fn of(progress: Progress<'_>) -> Self {
        match progress {
            Progress::Reading { rows, bytes, bytes_total, .. } => Self {
                phase: Phase::Reading,
                done: bytes,
                of: bytes_total,
                count: rows,
                unit: "rows",
            },
            Progress::Joining { instruments, instruments_max } => {
                Self::instruments(Phase::Joining, instruments, instruments_max)
            }
            Progress::Indexing { instruments, instruments_max } => {
                Self::instruments(Phase::Indexing, instruments, instruments_max)
            }
            Progress::Publishing => {
                Self { phase: Phase::Publishing, done: 0, of: None, count: 0, unit: "" }
            }
        }
    }

    fn instruments(phase: Phase, done: u64, of: u64) -> Self {
        Self { phase, done, of: Some(of), count: done, unit: "instruments" }
    }

    fn bar(&self) -> ProgressBar {
        let (bar, template) = match self.of {
            Some(length) => (ProgressBar::new(length), BAR),
            None => (ProgressBar::new_spinner(), OPEN),
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(self.phase.name());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    fn show(&self, bar: &ProgressBar) {
        if self.phase == Phase::Publishing {
            return bar.set_message("verifying what was written");
        }
        let mut counted = format!("{} {}", grouped(self.count), self.unit);
        // A rate over less time would mean little.
        let seconds = bar.elapsed().as_secs_f64();
        if seconds > 0.2 {
            let rate = (self.count as f64 / seconds) as u64;
            counted.push_str(&format!(", {} /s", grouped(rate)));
        }
        bar.set_message(match self.phase {
            Phase::Reading => format!("{} MB, {counted}", grouped(self.done / 1_000_000)),
            _ => counted,
        });
        bar.set_position(self.done);
    }
}

impl Phase {
    const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Joining => "joining",
            Self::Indexing => "indexing",
            Self::Publishing => "publishing",
        }
    }
}

/// Stops the bar at its position, and adds the time of its phase.
fn finish(bar: &ProgressBar) {
    let message = format!("{}, {:.1} s", bar.message(), bar.elapsed().as_secs_f64());
    let style = ProgressStyle::with_template("{prefix:>10}  {msg}");
    bar.set_style(style.expect("the template is valid"));
    bar.abandon_with_message(message);
}

/// The line that a log shows instead of a bar.
fn line(progress: Progress<'_>) -> String {
    match progress {
        Progress::Reading { input, rows, bytes, bytes_total } => {
            let megabytes = bytes / 1_000_000;
            let of = match bytes_total {
                Some(total) => format!("{} %", bytes * 100 / total.max(1)),
                None => format!("{megabytes} MB"),
            };
            format!("reading {}: {} rows so far, {of}", escaped(input), grouped(rows))
        }
        Progress::Joining { instruments, instruments_max }
        | Progress::Indexing { instruments, instruments_max } => format!(
            "{}: {} of {} instruments so far",
            Step::of(progress).phase.name(),
            grouped(instruments),
            grouped(instruments_max)
        ),
        Progress::Publishing => "verifying and publishing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_what_a_bar_would() {
        let reading = |bytes_total| Progress::Reading {
            input: "dump.csv",
            rows: 1_234_567,
            bytes: 250_000_000,
            bytes_total,
        };
        for (progress, expected) in [
            (reading(Some(1_000_000_000)), "reading dump.csv: 1,234,567 rows so far, 25 %"),
            (reading(None), "reading dump.csv: 1,234,567 rows so far, 250 MB"),
            (
                Progress::Indexing { instruments: 1_000, instruments_max: 2_000 },
                "indexing: 1,000 of 2,000 instruments so far",
            ),
            (Progress::Publishing, "verifying and publishing"),
        ] {
            assert_eq!(line(progress), expected);
        }
    }
}
