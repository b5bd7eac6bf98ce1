//! What a person sees while a build runs: bars where standard error is a terminal,
//! a line every few seconds where it is a file or a pipe, nothing on request.
//! The library only calls back; the report is not this module's.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use figdex_index::escaped;
use figdex_ingest::{Progress, grouped, terminal};
use indicatif::{ProgressBar, ProgressStyle};

/// Between two lines of one phase.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// A bar that knows its end, one that does not, and a phase without numbers.
const BAR: &str = "{prefix:>10} [{bar:30}] {percent:>3} %  {msg}  {eta} left";
const OPEN: &str = "{prefix:>10} {spinner}  {msg}";

/// Who watches a build.
pub(crate) enum Watch {
    /// A person at a terminal: one bar a phase, the finished ones stay.
    Bars(Option<(Phase, ProgressBar)>),
    /// A log.
    Lines(Option<(Phase, Instant)>),
    /// Nobody.
    Nobody,
}

/// A phase of the build: each has a bar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Reading,
    Joining,
    Indexing,
    Publishing,
}

/// A step of the build in the words of a bar.
struct Step {
    phase: Phase,
    done: u64,
    of: Option<u64>,
    /// Rows or instruments.
    count: u64,
    unit: &'static str,
}

impl Watch {
    pub(crate) fn new(quiet: bool) -> Self {
        match (quiet, io::stderr().is_terminal()) {
            (true, _) => Self::Nobody,
            (false, true) => Self::Bars(None),
            (false, false) => Self::Lines(None),
        }
    }

    /// Shows how far the build has come.
    pub(crate) fn tell(&mut self, progress: Progress<'_>) {
        let step = Step::of(progress);
        match self {
            Self::Bars(current) => {
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
            Self::Lines(last) => {
                let now = Instant::now();
                let due = match last {
                    // A build that is over at once has no need of lines.
                    None => {
                        *last = Some((step.phase, now));
                        false
                    }
                    Some((phase, since)) if *phase == step.phase => {
                        now.duration_since(*since) >= LINE_INTERVAL
                    }
                    Some((_, since)) => {
                        let begun = *since;
                        *last = Some((step.phase, begun));
                        now.duration_since(begun) >= LINE_INTERVAL
                    }
                };
                if due {
                    *last = Some((step.phase, now));
                    terminal::note(&line(progress));
                }
            }
            Self::Nobody => {}
        }
    }

    /// The build is over, well or not.
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
        let style = ProgressStyle::with_template(template).expect("the template is of its form");
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
        // At the first moment nobody can tell.
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

/// Leaves the bar as it is, with the time that its phase took.
fn finish(bar: &ProgressBar) {
    let message = format!("{}, {:.1} s", bar.message(), bar.elapsed().as_secs_f64());
    let style = ProgressStyle::with_template("{prefix:>10}  {msg}");
    bar.set_style(style.expect("the template is of its form"));
    bar.abandon_with_message(message);
}

/// The same for a log.
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
        Progress::Joining { instruments, instruments_max } => format!(
            "joining: {} of {} instruments so far",
            grouped(instruments),
            grouped(instruments_max)
        ),
        Progress::Indexing { instruments, instruments_max } => format!(
            "indexing: {} of {} instruments so far",
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
    fn a_log_tells_what_a_bar_would_show() {
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
