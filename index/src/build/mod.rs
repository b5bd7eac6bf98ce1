//! Building an index: instruments in FIGI order become a generation, which is then published.

pub(crate) mod filled;
#[cfg(test)]
mod format_before;
pub(crate) mod parquet;
pub(crate) mod part_writer;
pub(crate) mod past;
pub(crate) mod published_past;
mod values;
pub(crate) mod worker;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::filled::Filled;
use self::parquet::ParquetWriter;
use self::part_writer::PartWriter;
use self::past::{PastOptions, PastReport};
use self::values::PropertyValues;
use crate::error::{Error, Result, chain};
use crate::generation::Generation;
use crate::generation::folder::{BuildLock, Publication, sync};
use crate::generation::id::GenerationId;
use crate::generation::manifest::{
    FORMAT, Manifest, PartEntry, PastEntry, SourceEntry, is_before_the_past,
};
use crate::generation::names::PartFolder;
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::markets::Countries;
use crate::instrument::vocabulary::Property;

/// The options of a build. None of them changes an answer of the index.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The number of threads that write the segment of a part, at least 1. The companions have
    /// separate threads. With one thread and enough memory, the segment is written in one piece and
    /// in order, without a merge (engine 1).
    pub threads: usize,
    /// The memory of the segment writer in bytes, over all threads. tantivy accepts 15 MB to
    /// 4 GiB for each thread.
    pub segment_memory_bytes: usize,
    /// The most instruments of a part.
    pub part_instruments_max: u32,
    /// The seed of the identifier directory's hash.
    pub hash_seed: u64,
    /// The number of earlier generations that stay when this one is published.
    pub generations_kept: usize,
    /// The name and version of the program that builds, for the manifest.
    pub program: String,
    /// The day that the instruments describe.
    pub date: Date,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            threads: 1,
            segment_memory_bytes: 512 << 20,
            part_instruments_max: 16_000_000,
            hash_seed: 0,
            generations_kept: 1,
            program: String::new(),
            date: Date::today(),
        }
    }
}

/// The name of the folder [`Builder::scratch`], inside the folder of the generation.
const SCRATCH: &str = "scratch";

/// Builds one generation. A builder that is dropped before the generation is published removes the
/// files of the generation.
pub struct Builder {
    lock: BuildLock,
    number: u64,
    id: GenerationId,
    parent: Option<GenerationId>,
    path: PathBuf,
    options: BuildOptions,
    part: Option<PartWriter>,
    parts: Vec<PartEntry>,
    values: PropertyValues,
    exchanges: BTreeMap<String, String>,
    countries: BTreeMap<String, String>,
    filled: Filled,
    past: Option<PastOptions>,
    parquet: Option<ParquetWriter>,
    last: Option<Figi>,
    finished: bool,
}

impl Builder {
    /// Begins a generation in the folder `index`, which is created if needed.
    ///
    /// # Errors
    /// The errors of [`BuildLock::acquire`], such as [`Error::Locked`] while another build is
    /// running, and of [`Builder::begin`].
    pub fn create(index: &Path, options: BuildOptions) -> Result<Self> {
        Self::begin(BuildLock::acquire(index)?, options)
    }

    /// Begins a generation under a lock that the caller took before, for example to keep other
    /// builds out while it reads its inputs.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder of the index cannot be read, or the folder of the generation
    /// cannot be created.
    pub fn begin(lock: BuildLock, options: BuildOptions) -> Result<Self> {
        // Files of changes that a killed build began are useless.
        if let Err(error) = lock.remove_changes(|_, _| true) {
            tracing::warn!("unfinished change files were not removed: {}", chain(&error));
        }
        let (number, path) = lock.next_generation()?;
        // The parent of another format, or a broken one, has no id that anybody could compare.
        let parent = Manifest::published(lock.index()).ok().map(|parent| parent.id);
        Ok(Self {
            lock,
            number,
            id: GenerationId::random(),
            parent,
            path,
            options,
            part: None,
            parts: Vec::new(),
            values: PropertyValues::default(),
            exchanges: BTreeMap::new(),
            countries: BTreeMap::new(),
            filled: Filled::default(),
            past: None,
            parquet: None,
            last: None,
            finished: false,
        })
    }

    /// The path of a folder that the caller may create for temporary files. The end of the build
    /// removes it.
    pub fn scratch(&self) -> PathBuf {
        self.path.join(SCRATCH)
    }

    /// Sets the seed of the identifier directory's hash. Call it before the first instrument.
    pub fn set_hash_seed(&mut self, seed: u64) {
        debug_assert!(self.last.is_none());
        self.options.hash_seed = seed;
    }

    /// Allows a value of an enum-like property even if no instrument has it.
    pub fn allow(&mut self, property: Property, value: &str) {
        self.values.add(property, value);
    }

    /// Sets the names of exchanges by their codes. The manifest keeps them for people.
    pub fn name_exchanges(&mut self, names: BTreeMap<String, String>) {
        self.exchanges = names;
    }

    /// Sets the countries of exchanges by their codes, where they differ from those of the bundled
    /// table ([`country_of_exchange`](crate::country_of_exchange)). They decide best listings.
    pub fn set_countries(&mut self, countries: BTreeMap<String, String>) {
        self.countries = countries;
    }

    /// Keeps the past: goes on from that of the published generation.
    pub fn keep_past(&mut self, options: PastOptions) {
        self.past = Some(options);
    }

    /// Has a Parquet file of all instruments written when they are added.
    pub fn write_parquet(&mut self, writer: ParquetWriter) {
        self.parquet = Some(writer);
    }

    /// Adds the next instrument.
    ///
    /// # Errors
    /// [`Error::Order`] when the FIGI is not larger than that of the last instrument,
    /// [`Error::TooManyValues`], and the errors of writing a part.
    pub fn add(&mut self, instrument: Instrument) -> Result<()> {
        if let Some(last) = self.last
            && last >= instrument.figi
        {
            return Err(Error::Order { last, next: instrument.figi });
        }
        self.last = Some(instrument.figi);
        for property in Property::ALL {
            if let Some(value) = instrument.property(property) {
                self.allow(property, value);
            }
        }
        self.values.check()?;
        self.filled.add(&instrument);
        let path = self.part_path();
        let part = match &mut self.part {
            Some(part) => part,
            none => none.insert(PartWriter::create(&path, &self.options)?),
        };
        let is_running = part.add(instrument)?;
        if !is_running || part.count() >= self.options.part_instruments_max {
            self.finish_part()?;
        }
        Ok(())
    }

    /// For each column, by its name in a dump: the number of instruments added so far that have a
    /// value in this column. Empty columns are left out.
    pub fn filled(&self) -> BTreeMap<String, u64> {
        self.filled.counts()
    }

    /// Finishes the generation and publishes it: [`Builder::finish`], then [`Built::publish`].
    ///
    /// # Errors
    /// The errors of both.
    pub fn publish(self, sources: Vec<SourceEntry>) -> Result<Manifest> {
        self.finish(sources)?.publish()
    }

    /// Finishes the generation, opens it as a reader would, and verifies it. `sources` are the
    /// dumps, for the manifest.
    ///
    /// # Errors
    /// [`Error::Empty`] when no instrument was added, [`Error::HashSeed`], and the errors of
    /// writing and verifying.
    pub fn finish(mut self, sources: Vec<SourceEntry>) -> Result<Built> {
        self.finish_part()?;
        if self.parts.is_empty() {
            return Err(Error::Empty);
        }
        let importance_bits = part_writer::complete(
            &self.path,
            &mut self.parts,
            Countries::new(self.countries.clone()),
        )?;
        let mut manifest = Manifest {
            format: FORMAT,
            library: env!("CARGO_PKG_VERSION").to_owned(),
            program: std::mem::take(&mut self.options.program),
            generation: self.number,
            id: self.id,
            parent: self.parent,
            date: self.options.date,
            built_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            published_at: None,
            instruments: self.parts.iter().map(|part| u64::from(part.instruments)).sum(),
            importance_bits,
            hash_seed: format!("{:016x}", self.options.hash_seed),
            sources,
            values: self.values.lists(),
            exchanges: std::mem::take(&mut self.exchanges),
            countries: std::mem::take(&mut self.countries),
            filled: self.filled(),
            past: None,
            parquet: None,
            parts: std::mem::take(&mut self.parts),
        };
        match fs::remove_dir_all(self.scratch()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io(&self.scratch())(error));
            }
            _ => {}
        }
        let past = self.past.take().map(|options| self.carry_past(&manifest, &options));
        let (entry, past) = past.transpose()?.unzip();
        manifest.past = entry;
        if let Some(writer) = self.parquet.take() {
            manifest.parquet = Some(writer.write_for(&self.path, &manifest)?);
        }
        manifest.write(&self.path).map_err(|error| self.values.blamed(error))?;
        self.lock.give_access(&self.path)?;
        Generation::open_new(&self.path)?.verify()?;
        sync(&self.path)?;
        Ok(Built { builder: self, manifest, past })
    }

    fn carry_past(
        &self,
        manifest: &Manifest,
        options: &PastOptions,
    ) -> Result<(PastEntry, PastReport)> {
        let published = match Publication::of(self.lock.index()) {
            Ok(publication) => match Generation::open(&publication.path(self.lock.index())) {
                Ok(published) => Some(published),
                Err(error) if is_before_the_past(&error) => None,
                Err(error) => return Err(error),
            },
            Err(Error::NotAnIndex(_)) => None,
            Err(error) => return Err(error),
        };
        let after = Generation::of(&self.path, manifest.clone())?;
        past::write(&after, published.as_ref(), self.options.date, options)
    }

    fn part_path(&self) -> PathBuf {
        self.path.join(self.part_folder().to_string())
    }

    fn part_folder(&self) -> PartFolder {
        PartFolder::of(self.parts.len())
    }

    fn finish_part(&mut self) -> Result<()> {
        if let Some(part) = self.part.take() {
            let entry = part.finish(self.part_folder())?;
            self.parts.push(entry);
        }
        Ok(())
    }
}

/// A finished generation that is not yet published. When it is dropped, it removes its files.
pub struct Built {
    builder: Builder,
    manifest: Manifest,
    past: Option<PastReport>,
}

impl Built {
    /// The folder of the generation until it is published, for
    /// [`Catalogue::open_unpublished`](crate::Catalogue::open_unpublished).
    pub fn folder(&self) -> &Path {
        &self.builder.path
    }

    /// The manifest of the generation.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The report of the build about the past, if it is kept.
    pub fn past(&self) -> Option<&PastReport> {
        self.past.as_ref()
    }

    /// The lock of the index folder.
    pub fn lock(&self) -> &BuildLock {
        &self.builder.lock
    }

    /// Publishes the generation by one rename. Returns its manifest.
    ///
    /// # Errors
    /// After an error the previous generation stays published, except after [`Error::Unconfirmed`]
    /// and perhaps [`Error::Unknown`].
    pub fn publish(mut self) -> Result<Manifest> {
        let Builder { lock, number, options, finished, .. } = &mut self.builder;
        lock.publish(*number, options.generations_kept)?;
        *finished = true;
        Ok(self.manifest)
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        if !self.finished {
            // The part's threads write into the folder until they have ended.
            self.part = None;
            self.lock.remove_stamp(self.number);
            match fs::remove_dir_all(&self.path) {
                // Nothing was written, or publishing has renamed the folder to a complete
                // generation.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => tracing::warn!(
                    "an unfinished generation is left behind, for the next build to remove: {}: \
                     {error}",
                    self.path.display()
                ),
                // It is not published, so nobody asks what it changed.
                Ok(()) => _ = self.lock.remove_changes(|id, _| id != self.id),
            }
        }
    }
}
