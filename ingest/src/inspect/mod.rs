//! Shows what an index contains, as text and as JSON: counts, sizes, sources, and how full each
//! field is. `export` writes the index back as a dump.

pub mod export;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use figdex_index::{Catalogue, Property, SourceEntry, escaped};
use serde::Serialize;

use crate::report::size::Size;
use crate::row::Column;
use crate::row::cells::columns;

/// The properties whose values are listed in the text.
const COUNTED: [Property; 3] = [Property::MarketSecDes, Property::SecurityType, Property::ExchCode];

/// The most values of one property in the text.
const VALUES_SHOWN: usize = 20;

/// The contents of the published generation of an index.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The folder as given.
    pub index: String,
    /// The number of the published generation.
    pub generation: u64,
    /// The numbers of the other generations in the folder, of which `rollback` can publish the
    /// earlier ones.
    pub others: Vec<u64>,
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
    /// Number of parts.
    pub parts: usize,
    /// Total size of the files, in bytes.
    pub bytes: u64,
    /// Size by component, in bytes; the segment is divided by the endings of its files.
    pub components: BTreeMap<String, u64>,
    /// The dumps that it was built from.
    pub sources: Vec<SourceEntry>,
    /// The number of instruments with each value of each enum-like property, by the name of the
    /// column; the most frequent value comes first.
    pub values: BTreeMap<&'static str, Vec<Counted>>,
    /// The number of instruments with a value in each column of the canonical dump, in its
    /// order.
    pub filled: Vec<Filled>,
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
            *components.entry(component(&file.name)).or_default() += file.bytes;
        }
        let filled: BTreeMap<_, _> = inventory.filled.into_iter().collect();
        let count = |column: Column| {
            let name = match column {
                Column::Property(property) => property.name(),
                column => column.name(),
            };
            Filled { column: column.name(), instruments: filled.get(name).copied().unwrap_or(0) }
        };
        let values = inventory.values.into_iter().map(|(property, values)| {
            let counted = |(value, instruments)| Counted { value, instruments };
            let mut counts: Vec<_> = values.into_iter().map(counted).collect();
            counts.sort_by_key(|counted| std::cmp::Reverse(counted.instruments));
            (Column::Property(property).name(), counts)
        });
        Ok(Self {
            index: index.display().to_string(),
            generation: manifest.generation,
            others,
            built_at: manifest.built_at.clone(),
            library: manifest.library.clone(),
            program: manifest.program.clone(),
            format: manifest.format,
            instruments: manifest.instruments,
            parts: manifest.parts.len(),
            bytes: manifest.bytes(),
            components,
            sources: manifest.sources.clone(),
            values: values.collect(),
            filled: columns().map(count).collect(),
        })
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

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, generation, built_at, library, instruments, parts, .. } = self;
        let [index, built_at, library] = [index, built_at, library].map(escaped);
        writeln!(f, "{index}: generation {generation}, built at {built_at} by Figdex {library}")?;
        if !self.program.is_empty() {
            writeln!(f, "built by {}", escaped(&self.program))?;
        }
        let each = self.bytes / instruments.max(&1);
        let size = Size(self.bytes);
        let parts = if *parts == 1 { "one part".into() } else { format!("{parts} parts") };
        writeln!(f, "{instruments} instruments in {parts}; {size}, {each} bytes each")?;
        if !self.others.is_empty() {
            let others: Vec<_> = self.others.iter().map(u64::to_string).collect();
            writeln!(f, "also in the folder: generation {}", others.join(", "))?;
        }

        writeln!(f, "\n{:>14} {:>12}  source (SHA-256 of its bytes)", "bytes", "rows")?;
        for SourceEntry { name, bytes, rows, sha256 } in &self.sources {
            writeln!(f, "{bytes:>14} {rows:>12}  {} ({})", escaped(name), escaped(sha256))?;
        }
        writeln!(f, "\n{:>14} {:>12}  component", "bytes", "each")?;
        for (name, bytes) in &self.components {
            let each = *bytes as f64 / *instruments as f64;
            writeln!(f, "{bytes:>14} {each:>12.1}  {}", escaped(name))?;
        }
        for property in COUNTED.map(|property| Column::Property(property).name()) {
            let values = self.values.get(property).map_or(&[][..], Vec::as_slice);
            writeln!(f, "\n{:>14} {:>12}  {property}", "instruments", "share")?;
            for Counted { value, instruments } in values.iter().take(VALUES_SHOWN) {
                let (share, value) = (self.share(*instruments), escaped(value));
                writeln!(f, "{instruments:>14} {share:>12}  {value}")?;
            }
            let rest = &values[values.len().min(VALUES_SHOWN)..];
            let more: u64 = rest.iter().map(|counted| counted.instruments).sum();
            if !rest.is_empty() {
                let (share, rest) = (self.share(more), rest.len());
                writeln!(f, "{more:>14} {share:>12}  in {rest} more (--json lists all)")?;
            }
            let all: u64 = values.iter().map(|counted| counted.instruments).sum();
            if all < *instruments {
                let none = instruments - all;
                writeln!(f, "{none:>14} {:>12}  without a value", self.share(none))?;
            }
        }
        writeln!(f, "\n{:>14} {:>12}  column", "filled", "share")?;
        for Filled { column, instruments } in self.filled.iter().filter(|c| c.instruments > 0) {
            writeln!(f, "{instruments:>14} {:>12}  {column}", self.share(*instruments))?;
        }
        let empty: Vec<_> = self.filled.iter().filter(|c| c.instruments == 0).collect();
        if !empty.is_empty() {
            let names: Vec<_> = empty.iter().map(|filled| filled.column).collect();
            writeln!(f, "\nempty columns: {}", names.join(", "))?;
        }
        Ok(())
    }
}

impl Inspection {
    fn share(&self, instruments: u64) -> String {
        format!("{:.2} %", 100.0 * instruments as f64 / self.instruments as f64)
    }
}
