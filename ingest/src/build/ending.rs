//! The outcome of a build, in its report and in the records of its index. It is written however the
//! build ends.
//!
//! Both first say that the build is running, and are replaced when it ends. So after a killed
//! build, neither shows the outcome of an earlier build.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::time::Instant;

use figdex_index::{BuildRecord, BuildResult, Differences, Error as IndexError, chain};
use figdex_io::Output;
use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::report::comparison::Comparison;
use crate::report::{Outcome, Report};

/// A build that has not ended. If it is dropped before [`Ending::end`] or [`Ending::fail`], the
/// build was interrupted.
pub(super) struct Ending {
    /// The file of `--report`.
    file: Option<Output>,
    index: PathBuf,
    started: Instant,
    started_at: String,
    is_over: bool,
}

impl Ending {
    /// Notes in the report that the build is running, unless the report goes to a stream. If that
    /// fails, tries to remove the earlier report, which would look like that of this build. The
    /// build continues, because an index matters more than its report. At the end, the report is
    /// written in any case.
    pub(super) fn begin(file: Option<Output>, index: &Path) -> Self {
        let (index, started) = (index.to_owned(), Instant::now());
        let ending = Self { file, index, started, started_at: now(), is_over: false };
        let running = Report { outcome: ending.outcome(BuildResult::Running), ..Report::default() };
        // A report that was written to a stream cannot be replaced.
        if let Some(file) = ending.file.as_ref().filter(|file| file.folder().is_some())
            && let Err(error) = ending.write(&running)
        {
            tracing::warn!("the report is not written: {}", chain(&error));
            let _ = file.remove();
        }
        ending
    }

    /// Notes in the records of the index that the build is running. Called when the lock is held.
    pub(super) fn lock_is_held(&self) {
        let record = self.record(BuildResult::Running);
        if let Err(error) = record.begin(&self.index) {
            unrecorded(&error);
        }
    }

    /// Notes the end.
    ///
    /// # Errors
    /// The errors of the build, and [`Error::Unreported`] when the build published but its report
    /// cannot be written.
    pub(super) fn end(mut self, built: Result<Report>) -> Result<Report> {
        self.is_over = true;
        match built {
            Ok(mut report) => {
                report.outcome = self.outcome(BuildResult::Published);
                report.elapsed = self.started.elapsed();
                self.keep_record(&report.outcome, Some(&report));
                match (self.write(&report), &report.published) {
                    (Err(error), Some(published)) => {
                        let generation = published.generation;
                        Err(Error::Unreported { generation, source: Box::new(error) })
                    }
                    (written, _) => written.map(|()| report),
                }
            }
            Err(error) => {
                let known = error.report();
                let mut outcome = self.outcome(error.result());
                outcome.reason = Some(chain(&error));
                if !matches!(error, Error::Index(IndexError::Locked(_))) {
                    self.keep_record(&outcome, known);
                }
                self.write_failure(known.cloned().unwrap_or_default(), outcome);
                Err(error)
            }
        }
    }

    /// Records a failure in a step outside of [`Build::run`](super::Build::run).
    pub(super) fn fail(mut self, error: &(dyn StdError + 'static)) {
        self.is_over = true;
        self.note_failure(chain(error));
    }

    fn note_failure(&self, reason: String) {
        let outcome = Outcome { reason: Some(reason), ..self.outcome(BuildResult::Failed) };
        self.keep_record(&outcome, None);
        self.write_failure(Report::default(), outcome);
    }

    fn outcome(&self, result: BuildResult) -> Outcome {
        let ended_at = (result != BuildResult::Running).then(now);
        Outcome { result, reason: None, started_at: self.started_at.clone(), ended_at }
    }

    fn write(&self, report: &Report) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let written = file.write(report.to_json().as_bytes());
        written.map_err(Error::file(&file.name().to_string_lossy()))
    }

    /// Writes the report of a failed build. A failure to write it is only a warning: the error of
    /// the build matters more.
    fn write_failure(&self, mut report: Report, outcome: Outcome) {
        report.outcome = outcome;
        report.elapsed = self.started.elapsed();
        if let Err(error) = self.write(&report) {
            tracing::warn!("the report is not written: {}", chain(&error));
        }
    }

    fn record(&self, result: BuildResult) -> BuildRecord {
        BuildRecord { started_at: self.started_at.clone(), result, ..BuildRecord::default() }
    }

    /// Notes the end in the records of the index. If no build has created the folder, nothing is
    /// recorded.
    fn keep_record(&self, outcome: &Outcome, report: Option<&Report>) {
        if !self.index.is_dir() {
            return;
        }
        let Outcome { result, reason, ended_at, .. } = outcome.clone();
        let published = report.and_then(|report| report.published.as_ref());
        let record = BuildRecord {
            ended_at,
            reason,
            generation: published.map(|published| published.generation),
            differences: report.and_then(|report| report.comparison.as_ref()).map(differences),
            ..self.record(result)
        };
        if let Err(error) = record.end(&self.index) {
            unrecorded(&error);
        }
    }
}

/// Notes an interruption if no end was noted. The build is then unwinding, after a panic or an
/// interruption.
impl Drop for Ending {
    fn drop(&mut self) {
        if !self.is_over {
            self.note_failure("it was interrupted".to_owned());
        }
    }
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn differences(comparison: &Comparison) -> Differences {
    let Comparison { instruments, removed, expired, changed, .. } = *comparison;
    Differences { instruments, removed, expired, changed }
}

fn unrecorded(error: &IndexError) {
    tracing::warn!("the build is not noted among those of the index: {}", chain(error));
}
