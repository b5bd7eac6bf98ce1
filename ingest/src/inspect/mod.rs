//! Shows what an index contains, as text and as JSON: counts, sizes, sources, and how full each
//! field is. `export` writes the index back as a dump, and
//! `parquet` writes Parquet files.

pub mod diff;
pub mod export;
pub mod parquet;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use figdex_index::{Catalogue, Date, GenerationId, Manifest, Property, SourceEntry};
use figdex_io::{ClusterAddress, Size, escaped, grouped};
use figdex_opensearch::{Extent, Generation};
use serde::Serialize;

use crate::row::Column;
use crate::row::cells::columns;

/// The properties whose values are listed in the text.
const COUNTED: [Property; 3] = [Property::MarketSecDes, Property::SecurityType, Property::ExchCode];

/// The most values of one property in the text.
const VALUES_SHOWN: usize = 10;

/// The width of the text, in characters.
const COLUMNS_OF_TERMINAL: usize = 80;

/// The contents of the published generation of an index.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The address as given.
    pub index: String,
    /// The number of the published generation.
    pub generation: u64,
    /// The numbers of the other generations at the address. `rollback` can publish the earlier
    /// ones.
    pub others: Vec<u64>,
    /// The token of the published generation, by which readers ask what has changed since.
    pub token: GenerationId,
    /// The day that its dumps describe.
    pub date: Date,
    /// The time of the build (RFC 3339, UTC).
    pub built_at: String,
    /// The version of the library that built it.
    pub library: String,
    /// The program that built it, with its version and commit; empty if unknown.
    pub program: String,
    /// The version of the index format.
    pub format: u32,
    /// Number of instruments.
    pub instruments: u64,
    /// The past of the instruments, if it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past: Option<InspectedPast>,
    /// The Parquet file of all instruments, if the build wrote one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parquet: Option<InspectedParquet>,
    /// Number of parts; none in a cluster.
    pub parts: usize,
    /// The shards in a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<Shards>,
    /// Total size of the files, in bytes; in a cluster, without copies.
    pub bytes: u64,
    /// Size by component, in bytes; empty for a cluster. The segment is divided by the endings of
    /// its files.
    pub components: BTreeMap<String, u64>,
    /// The dumps that it was built from.
    pub sources: Vec<SourceEntry>,
    /// The number of instruments with each value of each enum-like property, by the name of the
    /// column; the most frequent value comes first.
    pub values: BTreeMap<&'static str, Vec<Counted>>,
    /// The number of instruments with a value in each column of the canonical dump, in the order of
    /// the columns. A cluster does not count these instruments, but `export` has all values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<Vec<Filled>>,
}

/// The past of an index.
#[derive(Debug, Serialize)]
pub struct InspectedPast {
    /// The first day of the past.
    pub since: Date,
    /// The last day of the past.
    pub until: Date,
    /// Number of days on which the rows were observed.
    pub days: u64,
    /// Number of versions that have ended.
    pub versions: u64,
    /// Size of its files, in bytes.
    pub bytes: u64,
}

/// The Parquet file of an index.
#[derive(Debug, Serialize)]
pub struct InspectedParquet {
    /// The idTypes of which it has columns.
    pub identifiers: Vec<String>,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The shards of an index in a cluster.
#[derive(Debug, Serialize)]
pub struct Shards {
    /// The number of shards.
    pub number: u32,
    /// The number of copies of each shard, besides the first.
    pub replicas: u32,
}

/// A value and the number of instruments that have it.
#[derive(Debug, Serialize)]
pub struct Counted {
    /// The value.
    pub value: String,
    /// Number of instruments.
    pub instruments: u64,
}

/// A column and the number of instruments that have a value in it.
#[derive(Debug, Serialize)]
pub struct Filled {
    /// The column's name.
    pub column: &'static str,
    /// Number of instruments.
    pub instruments: u64,
}

impl Inspection {
    /// Reads the whole published generation of an index folder.
    ///
    /// # Errors
    /// When the index cannot be opened or read.
    pub fn of(index: &Path) -> figdex_index::Result<Self> {
        let catalogue = Catalogue::open(index)?;
        let mut others = figdex_index::generations(index)?;
        others.retain(|number| *number != catalogue.manifest().generation);
        let (manifest, inventory) = (catalogue.manifest(), catalogue.inventory()?);
        let mut components = BTreeMap::new();
        for file in manifest.parts.iter().flat_map(|part| &part.files) {
            *components.entry(component(file.name.as_str())).or_default() += file.bytes;
        }
        for file in manifest.past.iter().flat_map(|past| &past.files) {
            *components.entry("past".to_owned()).or_default() += file.bytes;
        }
        if let Some(parquet) = &manifest.parquet {
            components.insert("parquet".to_owned(), parquet.file().bytes);
        }
        let filled: BTreeMap<_, _> = inventory.filled.into_iter().collect();
        let count = |column: Column| {
            let name = match column {
                Column::Property(property) => property.name(),
                column => column.name(),
            };
            Filled { column: column.name(), instruments: filled.get(name).copied().unwrap_or(0) }
        };
        Ok(Self {
            others,
            parts: manifest.parts.len(),
            bytes: manifest.bytes(),
            components,
            filled: Some(columns().map(count).collect()),
            ..Self::of_manifest(index.display().to_string(), manifest, inventory.values)
        })
    }

    /// Asks a cluster about a generation.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn of_cluster(
        address: &ClusterAddress,
        generation: &Generation,
    ) -> figdex_opensearch::Result<Self> {
        let Extent { shards, replicas, bytes, others } = generation.extent().await?;
        let values = generation.values().await?;
        Ok(Self {
            others,
            shards: Some(Shards { number: shards, replicas }),
            bytes,
            ..Self::of_manifest(address.to_string(), generation.manifest(), values)
        })
    }

    /// The contents of a manifest, with the numbers of instruments that have each value of the
    /// properties.
    fn of_manifest(
        index: String,
        manifest: &Manifest,
        values: BTreeMap<Property, BTreeMap<String, u64>>,
    ) -> Self {
        let values = values.into_iter().map(|(property, values)| {
            let counted = |(value, instruments)| Counted { value, instruments };
            let mut counts: Vec<_> = values.into_iter().map(counted).collect();
            counts.sort_by_key(|counted| std::cmp::Reverse(counted.instruments));
            (Column::Property(property).name(), counts)
        });
        Self {
            index,
            generation: manifest.generation,
            others: Vec::new(),
            token: manifest.id,
            date: manifest.date,
            built_at: manifest.built_at.clone(),
            library: manifest.library.clone(),
            program: manifest.program.clone(),
            format: manifest.format,
            instruments: manifest.instruments,
            past: manifest.past.as_ref().map(|past| InspectedPast {
                since: past.since,
                until: past.until,
                days: past.days,
                versions: past.versions,
                bytes: past.files.iter().map(|file| file.bytes).sum(),
            }),
            parquet: manifest.parquet.as_ref().map(|parquet| InspectedParquet {
                identifiers: parquet.identifiers.clone(),
                bytes: parquet.file().bytes,
            }),
            parts: 0,
            shards: None,
            bytes: 0,
            components: BTreeMap::new(),
            sources: manifest.sources.clone(),
            values: values.collect(),
            filled: None,
        }
    }
}

/// The component that a file belongs to: `rows` for `rows.figis`, `segment/fast` for
/// `segment/a1b2.fast`.
fn component(file: &str) -> String {
    match file.strip_prefix("segment/").map(|name| name.rsplit_once('.')) {
        Some(Some((_, "json"))) => "segment/meta".to_owned(),
        Some(Some((_, ending))) => format!("segment/{ending}"),
        Some(None) => "segment".to_owned(),
        None => file.split('.').next().unwrap_or(file).to_owned(),
    }
}

/// The contents as text, at most 80 columns wide except for long values.
impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, built_at) = (escaped(&self.index), escaped(&self.built_at));
        let instruments = grouped(self.instruments);
        let date = self.date;
        writeln!(f, "{index}: {instruments} instruments of {date}, built at {built_at}")?;
        for property in COUNTED.map(|property| Column::Property(property).name()) {
            self.write_values(f, property)?;
        }
        if let Some(filled) = &self.filled {
            self.write_filled(f, filled)?;
        }
        self.write_origin(f)
    }
}

impl Inspection {
    /// The sizes of the index by component, as text.
    pub fn sizes(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            writeln!(f, "\n{:>15} {:>9}  component", "bytes", "each")?;
            for (name, bytes) in &self.components {
                let each = *bytes as f64 / self.instruments.max(1) as f64;
                writeln!(f, "{:>15} {each:>9.1}  {}", grouped(*bytes), escaped(name))?;
            }
            Ok(())
        })
    }

    /// The most frequent values of a property.
    fn write_values(&self, f: &mut fmt::Formatter<'_>, property: &str) -> fmt::Result {
        let values = self.values.get(property).map_or(&[][..], Vec::as_slice);
        writeln!(f, "\n{:>15} {:>9}  {property}", "instruments", "share")?;
        for Counted { value, instruments } in values.iter().take(VALUES_SHOWN) {
            self.write_count(f, *instruments, &escaped(value))?;
        }
        let rest = &values[values.len().min(VALUES_SHOWN)..];
        let more: u64 = rest.iter().map(|counted| counted.instruments).sum();
        if !rest.is_empty() {
            self.write_count(f, more, &format_args!("in {} more (--json lists all)", rest.len()))?;
        }
        let all: u64 = values.iter().map(|counted| counted.instruments).sum();
        if all < self.instruments {
            self.write_count(f, self.instruments - all, &"without a value")?;
        }
        Ok(())
    }

    /// The share of the instruments that have a value, for each column.
    fn write_filled(&self, f: &mut fmt::Formatter<'_>, filled: &[Filled]) -> fmt::Result {
        writeln!(f, "\n{:>15} {:>9}  column", "filled", "share")?;
        for Filled { column, instruments } in filled.iter().filter(|c| c.instruments > 0) {
            self.write_count(f, *instruments, column)?;
        }
        let empty = filled.iter().filter(|filled| filled.instruments == 0);
        let mut line = "empty:".to_owned();
        for Filled { column, .. } in empty.clone() {
            if line.len() + 1 + column.len() > COLUMNS_OF_TERMINAL {
                writeln!(f, "{line}")?;
                line = " ".to_owned();
            }
            line = format!("{line} {column}");
        }
        if empty.count() > 0 { writeln!(f, "{line}") } else { Ok(()) }
    }

    /// The origin and the size of the index, and the other generations at its address.
    fn write_origin(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = match (&self.shards, self.parts) {
            (Some(Shards { number, replicas }), _) => {
                let shards = if *number == 1 { "shard" } else { "shards" };
                format!("{number} {shards}, each copied {replicas} times")
            }
            (None, 1) => "one part".to_owned(),
            (None, parts) => format!("{parts} parts"),
        };
        let each = self.bytes / self.instruments.max(1);
        let (number, size) = (self.generation, Size(self.bytes));
        writeln!(
            f,
            "\ngeneration {number}, format {}, in {parts}; {size}, {each} bytes each",
            self.format
        )?;
        writeln!(f, "token {}", self.token)?;
        if let Some(InspectedPast { since, until, days, versions, bytes }) = &self.past {
            let ([days, versions], size) = ([*days, *versions].map(grouped), Size(*bytes));
            writeln!(
                f,
                "past: {since} to {until} (days: {days}, earlier versions: {versions}), {size}"
            )?;
        }
        if let Some(InspectedParquet { identifiers, bytes }) = &self.parquet {
            let identifiers = match &identifiers[..] {
                [] => "without identifiers".to_owned(),
                named => format!("with {}", named.join(", ")),
            };
            writeln!(f, "parquet file: {}, {identifiers}", Size(*bytes))?;
        }
        match &*self.program {
            "" => writeln!(f, "built by Figdex {}", escaped(&self.library))?,
            program => {
                // The commit is on a separate line.
                let program = escaped(program).to_string().replacen(" (", "\n  (", 1);
                writeln!(f, "built by {program}")?;
            }
        }
        if !self.others.is_empty() {
            let others: Vec<_> = self.others.iter().map(u64::to_string).collect();
            writeln!(f, "also there: generation {}", others.join(", "))?;
        }
        writeln!(f, "\n{:>15} {:>12}  source, and SHA-256 of its bytes", "bytes", "rows")?;
        for SourceEntry { name, bytes, rows, sha256 } in &self.sources {
            let [bytes, rows] = [*bytes, *rows].map(grouped);
            writeln!(f, "{bytes:>15} {rows:>12}  {}", escaped(name))?;
            writeln!(f, "{:>15} {}", "", escaped(sha256))?;
        }
        Ok(())
    }

    /// A line of a table: a number of instruments, their share, and their common feature.
    fn write_count(
        &self,
        f: &mut fmt::Formatter<'_>,
        instruments: u64,
        what: &dyn fmt::Display,
    ) -> fmt::Result {
        let share = 100.0 * instruments as f64 / self.instruments.max(1) as f64;
        writeln!(f, "{:>15} {share:>7.2} %  {what}", grouped(instruments))
    }
}
