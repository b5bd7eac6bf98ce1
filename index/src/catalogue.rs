//! Reading: a question goes in, hits come out, and a hit becomes a row.

use std::path::Path;

use crate::error::Result;
use crate::figi::Figi;
use crate::generation::Generation;
use crate::id_type::IdType;
use crate::manifest::Manifest;
use crate::part::Part;
use crate::query::Lookup;
use crate::rows::Row;
use crate::vocabulary::Vocabulary;

/// One generation of an index, ready to answer. Answers of one catalogue agree
/// with each other; after a rebuild another one is opened beside it.
pub struct Catalogue {
    generation: Generation,
}

/// A row that answers a question: its part and its DocId there.
///
/// Hits ascend as their FIGIs do. A hit means nothing to another catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    part: u32,
    doc: u32,
}

/// More rows match than the caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {hits_max} instruments match")]
pub struct TooManyHits {
    /// The line that was crossed.
    pub hits_max: usize,
}

impl Catalogue {
    /// Opens what is published in an index folder, and checks every file.
    pub fn open(index: &Path) -> Result<Self> {
        Ok(Self { generation: Generation::open_current(index)? })
    }

    /// The values that the enum-like properties may have.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.generation.vocabulary
    }

    /// What the generation says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.generation.manifest
    }

    /// The rows that carry an identifier and pass the filters, in FIGI order.
    ///
    /// # Errors
    /// [`TooManyHits`] when there are more than `hits_max`.
    pub fn lookup(&self, lookup: &Lookup, hits_max: usize) -> Result<Vec<Hit>, TooManyHits> {
        let mut hits = Vec::new();
        for (number, part) in (0..).zip(&self.generation.parts) {
            let mut collect = |docs: &mut dyn ExactSizeIterator<Item = u32>| {
                for doc in docs {
                    if part.columns.pass(&lookup.filters, doc) {
                        if hits.len() == hits_max {
                            return Err(TooManyHits { hits_max });
                        }
                        hits.push(Hit { part: number, doc });
                    }
                }
                Ok(())
            };
            match lookup.id_type {
                IdType::BbGlobal => collect(&mut own_figi(part, lookup).into_iter())?,
                id_type => {
                    collect(&mut part.identifiers.find(id_type, &lookup.id_value))?;
                }
            }
        }
        Ok(hits)
    }

    /// The row of a hit.
    ///
    /// # Panics
    /// When the hit is of another catalogue.
    pub fn row(&self, hit: Hit) -> Row<'_> {
        self.generation.parts[hit.part as usize].rows.get(hit.doc)
    }
}

/// A row's own FIGI needs no directory: the rows are in its order.
fn own_figi(part: &Part, lookup: &Lookup) -> Option<u32> {
    part.rows.find(Figi::parse(lookup.id_value.as_str()).ok()?)
}
