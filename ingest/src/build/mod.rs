//! `figdex-ingest build`: reads the rows of all inputs, merges them by FIGI, and builds and
//! publishes a generation. If a step fails, nothing is published, except after the errors that
//! [`Build::run`] names.

mod changes;
mod day;
mod derive;
mod ending;
mod enrich;
mod exchanges;
mod expect;
mod guard;
mod history;
mod max_rejects;
mod merge;
mod mistaken;
mod names;
mod progress;
mod reading;
mod rejects;
mod retired;
mod space;
mod usual;
pub(crate) mod value_lists;
mod written;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use figdex_index::{
    BuildLock, BuildOptions, Builder, Catalogue, Date, Manifest, ParquetWriter, Property,
    SourceEntry, is_index,
};
use figdex_io::{Files, Output};

use self::derive::derive;
use self::ending::Ending;
use self::exchanges::Exchanges;
use self::expect::KnownAnswers;
use self::guard::{Guard, losses, shorter};
pub use self::history::{History, MEND_DAYS};
pub use self::max_rejects::MaxRejects;
use self::merge::{Merge, Merged};
use self::progress::Clock;
pub use self::progress::Progress;
use self::reading::ReadInputs;
use self::rejects::Rejects;
use self::retired::RetiredRows;
use self::usual::unusual;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::report::comparison::{GUARD_FLAGS, GuardLimits};
use crate::report::conflicts::Conflicts;
use crate::report::past::KeptPast;
use crate::report::{Published, Report};
use crate::source::{DumpReader, Input};

/// The inputs, outputs and limits of a build.
#[derive(Clone, Debug)]
pub struct Build {
    /// The dumps. Where two dumps differ, the values of the later one win.
    pub inputs: Vec<Input>,
    /// Dumps that only add fields to the instruments of `inputs`.
    pub enrich: Vec<Input>,
    /// Files of other names, which are added to those of the instruments.
    pub names: Vec<Input>,
    /// The folder of the index.
    pub index: PathBuf,
    /// The format of the inputs; `None` recognises the format of each.
    pub format: Option<Format>,
    /// The format of the `enrich` inputs; `None` recognises the format of each.
    pub enrich_format: Option<Format>,
    /// A table of exchanges (CSV with the columns `mic` and `exchCode`). It fills one of the two
    /// from the other, and may say the names and the countries of exchanges.
    pub exchanges: Option<Input>,
    /// A folder of lists of allowed values.
    pub values: Option<PathBuf>,
    /// The rejects file; `None` is `DIR.rejects.csv`, next to the index folder `DIR`.
    pub rejects: Option<PathBuf>,
    /// The file for the report as JSON. A build replaces the file when it begins and when it ends,
    /// whatever the outcome. A stream is written only at the end.
    pub report: Option<PathBuf>,
    /// A file of known answers. The new index must give them before it is published.
    pub expect: Option<PathBuf>,
    /// Other files that are read, and folders whose files are all inputs. No output may be one of
    /// these files or lie in one of these folders.
    pub also_read: Vec<PathBuf>,
    /// The most rows that may be rejected.
    pub max_rejects: MaxRejects,
    /// The limits on the differences from the published generation.
    pub guard: GuardLimits,
    /// Approximate memory limit of the build, in bytes; at least [`MEMORY_BYTES_MIN`].
    pub memory_bytes: usize,
    /// The most instruments in a part of the index; `None` derives it from the memory.
    pub part_instruments_max: Option<u32>,
    /// Number of previous generations to keep.
    pub generations_kept: usize,
    /// The day that the dumps describe; `None` is the day of the build, in UTC.
    pub date: Option<Date>,
    /// The time for which the files of changes are kept; `None` keeps no changes.
    pub changes_kept: Option<Duration>,
    /// The decision about the past of the instruments.
    pub history: History,
    /// Files of retired identifiers, for a past that is kept.
    pub retired: Vec<Input>,
    /// The writer of a Parquet file of all instruments, if the generation gets one.
    pub parquet: Option<ParquetWriter>,
    /// Whether to fail before reading anything if the disk seems too small.
    pub checks_space: bool,
}

/// The default memory limit, in bytes.
pub const MEMORY_BYTES: usize = 2 << 30;

/// The smallest memory limit, in bytes. Threads and buffers alone need nearly as much.
pub const MEMORY_BYTES_MIN: usize = 256 << 20;

/// Sorting gets a quarter of the memory, and may keep this share while the index is written.
const SORTING_SHARE: usize = 4;

/// The segment writer gets a quarter, but at most 3 GiB per thread: tantivy refuses 4 GiB.
const SEGMENT_SHARE: usize = 4;

/// The companions of a part get a half.
const PART_SHARE: usize = 2;

/// The memory that the companions take per instrument, measured with 5 and 10 million instruments.
/// It consists of texts and lines that are stored once, the tables to find them again, tantivy's
/// memory beyond its share while it writes a segment, and the allocator's reserve for the next
/// part.
const PART_BYTES_PER_INSTRUMENT: usize = 256;

/// The most instruments in a part, however much memory there is.
const PART_INSTRUMENTS_MAX: usize = 16_000_000;

impl Build {
    /// A build of these inputs into that folder, with the defaults for everything else.
    pub fn new(inputs: Vec<Input>, index: impl Into<PathBuf>) -> Self {
        Self {
            inputs,
            enrich: Vec::new(),
            names: Vec::new(),
            index: index.into(),
            format: None,
            enrich_format: None,
            exchanges: None,
            values: None,
            rejects: None,
            report: None,
            expect: None,
            also_read: Vec::new(),
            max_rejects: MaxRejects::default(),
            guard: GuardLimits::default(),
            memory_bytes: MEMORY_BYTES,
            part_instruments_max: None,
            generations_kept: BuildOptions::default().generations_kept,
            date: None,
            changes_kept: None,
            history: History::None,
            retired: Vec::new(),
            parquet: None,
            checks_space: true,
        }
    }

    /// Reads, merges, indexes, verifies and publishes. Reports the progress through a callback.
    ///
    /// # Errors
    /// After an error nothing is published and an earlier index is unchanged. The exceptions are
    /// [`Error::Unreported`] and the index's
    /// [`Unconfirmed`](figdex_index::Error::Unconfirmed) and
    /// [`Unknown`](figdex_index::Error::Unknown), whose messages say so.
    pub fn run(&self, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Report> {
        let (rejects, report) = self.outputs()?;
        let ending = Ending::begin(report, &self.index);
        let built = self.publish(rejects, &ending, progress);
        ending.end(built)
    }

    /// Records, in the report and among the builds of the index, that this build failed before or
    /// after [`Build::run`]. If an output must not be written, records nothing.
    pub fn fail(&self, error: &(dyn std::error::Error + 'static)) {
        if let Ok((_, report)) = self.outputs() {
            Ending::begin(report, &self.index).fail(error);
        }
    }

    /// The files for rejects and for the report. Fails if the build must not write one of them, for
    /// example because it also reads the file.
    fn outputs(&self) -> Result<(Output, Option<Output>)> {
        let mut files = Files::new(is_index);
        for input in self.inputs.iter().chain(&self.enrich).chain(&self.names).chain(&self.retired)
        {
            match input {
                Input::File(path) => files.read("the input", path),
                Input::Stdin => files.read_standard_input(),
                Input::Memory(..) => {}
            }
        }
        for path in &self.also_read {
            files.read("the file", path);
        }
        if let Some(Input::File(path)) = &self.exchanges {
            files.read("--exchanges", path);
        }
        if let Some(path) = &self.expect {
            files.read("--expect", path);
        }
        if let Some(path) = self.history.file() {
            files.read("--history-from", path);
        }
        if let Some(folder) = &self.values {
            for property in Property::ALL {
                files.read("--values", &value_lists::list(folder, property));
            }
        }
        files.index(&self.index)?;
        let default = || self.index.with_added_extension("rejects.csv");
        let rejects = self.rejects.clone().unwrap_or_else(default);
        let rejects = files.output("--rejects", &rejects)?;
        let report = self.report.as_ref().map(|path| files.output("--report", path)).transpose()?;
        files.standard_output()?;
        Ok((rejects, report))
    }

    fn publish(
        &self,
        rejects: Output,
        ending: &Ending,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Report> {
        let expected = self.expect.as_deref().map(KnownAnswers::read).transpose()?;
        let allowed = match &self.values {
            Some(folder) => value_lists::read(folder)?,
            None => Vec::new(),
        };
        let exchanges = match &self.exchanges {
            Some(table) => Exchanges::read(table)?,
            None => Exchanges::default(),
        };
        let retired = RetiredRows::read(&self.retired)?;
        self.check_inputs()?;
        let lock = BuildLock::acquire(&self.index)?;
        ending.lock_is_held();
        let options = self.options();
        let day = options.date;
        day::check(&self.index, day)?;
        self.history.check(&self.index, day)?;
        if self.checks_space {
            let sorting = self.memory_bytes / SORTING_SHARE;
            space::check(&self.index, &self.inputs, sorting, &rejects, self.max_rejects)?;
        }
        let mut report = Report::default();
        let mut clock = Clock::new(progress);
        let mut builder = Builder::begin(lock, options)?;
        for (property, value) in &allowed {
            builder.allow(*property, value);
        }
        builder.name_exchanges(exchanges.names().clone());
        builder.set_countries(exchanges.countries().clone());
        report.lacking_in_exchanges = exchanges.lacking().to_vec();
        if let Some(options) = self.history.options(&retired) {
            builder.keep_past(options);
        }
        if let Some(writer) = &self.parquet {
            builder.write_parquet(writer.clone());
        }
        let merge = Merge::start(builder.scratch(), self.memory_bytes / SORTING_SHARE);
        let ReadInputs {
            sorted,
            mut enrichment,
            mut other_names,
            mut rejects,
            mut written,
            sources,
        } = self.read(merge, Rejects::new(rejects), &mut report, &mut clock)?;
        report.warnings.extend(shorter(&self.index, &sources));
        report.warnings.extend(day::warnings(&self.index, day, &sources));
        let (rejected, read) = report.rejected_of_read();
        let total = report.total();
        let instruments_max = total.read - total.rejected - total.skipped;
        if !self.max_rejects.allows(rejected, read) {
            let limit = self.max_rejects.to_string();
            report.rejects_file = rejects.path();
            rejects.finish()?;
            return Err(Error::TooManyRejects { report: Box::new(report), limit });
        }
        if instruments_max == 0 {
            report.rejects_file = rejects.path();
            rejects.finish()?;
            return Err(Error::Nothing { report: Box::new(report) });
        }

        builder.set_hash_seed(published_seed(&self.index).unwrap_or_else(|| hash_seed(&sources)));
        let names: Vec<_> = report.inputs.iter().map(|input| input.name.clone()).collect();
        if !enrichment.is_empty() || !other_names.is_empty() {
            let mut joined = 0;
            // Conflicts are counted in the second pass, so those of this pass are discarded.
            sorted.for_each(&names, &mut Conflicts::default(), |instrument, _| {
                joined += 1;
                clock.tick(joined, || Progress::Joining { instruments: joined, instruments_max });
                enrichment.observe(&instrument);
                other_names.observe(&instrument);
                Ok(())
            })?;
            enrichment.settle();
            other_names.settle();
        }
        let guard = Guard::open(self.guard, &self.index)?;
        if guard.is_none() && self.guard != GuardLimits::default() {
            report.warnings.push(format!(
                "nothing is published in this format yet, so {GUARD_FLAGS} have nothing to compare with"
            ));
        }
        let mut conflicts = Conflicts::default();
        let mut from_exchanges = BTreeMap::new();
        let mut indexed = 0;
        let mut merged = sorted.for_each(&names, &mut conflicts, |mut instrument, conflicts| {
            indexed += 1;
            clock.tick(indexed, || Progress::Indexing { instruments: indexed, instruments_max });
            if let Some((column, bytes)) = exchanges.fill(&mut instrument) {
                *from_exchanges.entry(column).or_default() += 1;
                written.fill(bytes)?;
            }
            written.fill(enrichment.apply(&mut instrument, conflicts))?;
            written.fill(other_names.apply(&mut instrument))?;
            derive(&mut instrument);
            Ok(builder.add(instrument)?)
        })?;
        merged.resize(report.inputs.len(), Merged::default());
        drop(sorted);
        (clock.progress)(Progress::Indexing { instruments: indexed, instruments_max });
        for (input, merged) in report.inputs.iter_mut().zip(merged) {
            input.counts.instruments = merged.instruments;
            input.counts.merged = merged.merged;
        }
        report.is_merged = true;
        report.from_exchanges = from_exchanges;
        report.conflicts = conflicts.finish();
        enrichment.keep_not_joined(&mut rejects, &mut written, &mut report.not_joined)?;
        (report.enrich, report.filled) = enrichment.finish();
        other_names.keep_not_named(&mut rejects, &mut written, &mut report.not_named)?;
        let left_out;
        (report.names, report.named_instruments, left_out) = other_names.finish();
        report.warnings.extend(left_out);
        report.rejects_file = rejects.path();
        rejects.flush()?;
        assert!(report.adds_up(), "every row read is accounted for: {report}");
        let filled = builder.filled();
        report.less_filled = losses(&self.index, indexed, &filled);
        report.warnings.extend(report.less_filled.iter().map(ToString::to_string));
        (clock.progress)(Progress::Publishing);
        let built = builder.finish(sources)?;
        if let Some(guard) = guard {
            let new = Catalogue::open_unpublished(built.folder())?;
            let (comparison, refusal) = guard.compare(&new, &report.less_filled)?;
            report.warnings.extend(unusual(&self.index, &comparison));
            report.comparison = Some(comparison);
            if let Some(refusal) = refusal {
                rejects.finish()?;
                return Err(Error::Guarded { refusal, report: Box::new(report) });
            }
        }
        if let Some(expected) = expected {
            let catalogue = Catalogue::open_unpublished(built.folder())?;
            if let Some(wrong) = expected.wrong(&catalogue) {
                rejects.finish()?;
                return Err(Error::Unexpected { wrong, report: Box::new(report) });
            }
        }
        let past = built.past().zip(built.manifest().past.as_ref());
        let past = past.map(|(report, entry)| KeptPast::new(report, entry));
        report.warnings.extend(past.iter().flat_map(KeptPast::warnings));
        if let Some(report_of_past) = built.past() {
            report.warnings.extend(retired.warnings(report_of_past, &self.index));
        }
        let changes = match self.changes_kept {
            Some(kept) => changes::write(&built, &self.index, kept, &mut report.warnings)?,
            None => None,
        };
        report
            .warnings
            .extend(self.changes_kept.is_none().then(|| changes::ended(&self.index)).flatten());
        let manifest = built.publish()?;
        report.warnings.extend(manifest.importance_bits.map(fewer_importances));
        rejects.finish().map_err(unreported(manifest.generation))?;
        report.published = Some(Published {
            generation: manifest.generation,
            instruments: manifest.instruments,
            bytes: manifest.bytes(),
            token: manifest.id,
            date: manifest.date,
            changes,
            past,
        });
        Ok(report)
    }

    /// Reads the beginning of every input, except pipes and Parquet files. So unreadable inputs are
    /// reported together, before the first one is read in full.
    fn check_inputs(&self) -> Result<()> {
        let inputs = self.inputs.iter().map(|input| (input, &self.format, false));
        let enrich = self.enrich.iter().map(|input| (input, &self.enrich_format, true));
        let checks = inputs.chain(enrich).map(|(input, format, is_enrichment)| {
            DumpReader::check(input, format.as_ref(), is_enrichment)
        });
        let format = Format::other_names();
        let names = self.names.iter();
        let names = names.map(|input| DumpReader::check(input, Some(&format), true));
        let faults = checks.chain(names).filter_map(Result::err).collect();
        let count = self.inputs.len() + self.enrich.len() + self.names.len();
        Error::of_inputs(faults, count).map_or(Ok(()), Err)
    }

    fn options(&self) -> BuildOptions {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.saturating_sub(3).clamp(1, 4);
        let by_memory = self.memory_bytes / PART_SHARE / PART_BYTES_PER_INSTRUMENT;
        let part_instruments_max = by_memory.min(PART_INSTRUMENTS_MAX) as u32;
        BuildOptions {
            threads,
            segment_memory_bytes: (self.memory_bytes / SEGMENT_SHARE).min(threads * (3 << 30)),
            part_instruments_max: self.part_instruments_max.unwrap_or(part_instruments_max),
            generations_kept: self.generations_kept,
            program: format!("figdex-ingest {}", figdex_build_info::BRIEF),
            date: self.date.unwrap_or_else(Date::today),
            ..BuildOptions::default()
        }
    }
}

/// For `map_err`: a file of the build could not be written after the index was published.
fn unreported(generation: u64) -> impl FnOnce(Error) -> Error {
    move |source| Error::Unreported { generation, source: Box::new(source) }
}

/// A warning that the index keeps no more than `bits` significant bits of each importance.
fn fewer_importances(bits: u32) -> String {
    let digits = f64::from(bits) * std::f64::consts::LOG10_2;
    format!(
        "there are more than 65,535 different importances: each is kept to about {} \
         significant digits",
        digits.floor().max(1.0)
    )
}

/// The seed of the published generation, if there is one in this format. A night then leaves the
/// entries of all identifiers that stay as they were, so that copies do not fetch them again.
fn published_seed(index: &Path) -> Option<u64> {
    let manifest = Manifest::published(index).ok()?;
    u64::from_str_radix(&manifest.hash_seed, 16).ok()
}

/// A seed that depends only on the dumps, so that the same dumps give the same first index.
fn hash_seed(sources: &[SourceEntry]) -> u64 {
    sources.iter().fold(0, |seed, source| {
        let digest = u64::from_str_radix(&source.sha256[..16], 16);
        digest.expect("a SHA-256 is 64 hexadecimal digits") ^ seed.rotate_left(1)
    })
}
