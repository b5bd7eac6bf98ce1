//! Reading: a question goes in, hits come out, and a hit becomes a row.

use std::collections::BinaryHeap;
use std::path::Path;

use crate::conditions::Conditions;
use crate::error::Result;
use crate::figi::Figi;
use crate::folder::Publication;
use crate::generation::Generation;
use crate::id_type::IdType;
use crate::identifiers::KeyKind;
use crate::manifest::Manifest;
use crate::matches::Matches;
use crate::part::Part;
use crate::plan::{self, Plan};
use crate::query::{Lookup, Place, Search};
use crate::rank::RANK_END;
use crate::rows::Row;
use crate::totals::Totals;
use crate::vocabulary::Vocabulary;

/// One generation of an index, ready to answer. Answers of one catalogue agree
/// with each other; after a rebuild another one is opened beside it.
pub struct Catalogue {
    pub(crate) generation: Generation,
    publication: Publication,
    totals: Totals,
}

/// A row that answers a question: its part and its DocId there.
///
/// Hits ascend as their FIGIs do. A hit means nothing to another catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    pub(crate) part: u32,
    pub(crate) doc: u32,
}

/// A page of hits in the order of the question, and the place of the last one if
/// more follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<P> {
    /// The hits, at most as many as were asked for.
    pub hits: Vec<Hit>,
    /// Where the next page begins: after this.
    pub next: Option<P>,
}

/// How much work an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// So little that it may be done on a thread that serves everyone: a few tenths of a
    /// millisecond.
    Little,
    /// Whatever it takes.
    Any,
}

/// Blocks of 4,096 rows that are looked into with little effort, each in a tenth of a
/// microsecond for a bitmap, and one for an interval.
const LITTLE_BLOCKS: u32 = 512;

/// Rows that are walked to with little effort, each in some twenty nanoseconds.
const LITTLE_ROWS: u64 = 4096;

impl Effort {
    fn blocks_max(self) -> u32 {
        match self {
            Self::Little => LITTLE_BLOCKS,
            Self::Any => u32::MAX,
        }
    }

    fn allows(self, plan: &Plan) -> bool {
        self == Self::Any || plan.walked_max() <= LITTLE_ROWS
    }
}

/// More rows match than the caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {hits_max} instruments match")]
pub struct TooManyHits {
    /// The line that was crossed.
    pub hits_max: usize,
}

impl Catalogue {
    /// Opens what is published in an index folder, and checks every file. That reads
    /// each of them through, so that the first questions find them in memory.
    ///
    /// # Errors
    /// When nothing is published there, or anything of it is not what it must be.
    pub fn open(index: &Path) -> Result<Self> {
        let publication = Publication::of(index)?;
        let generation = Generation::open(&publication.path(index))?;
        Ok(Self { generation, publication, totals: Totals::default() })
    }

    /// What it was opened from: another one in its folder means that a new generation
    /// was published since.
    pub fn publication(&self) -> &Publication {
        &self.publication
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
            let conditions = Conditions::new(part, &lookup.filters);
            let mut collect = |docs: &mut dyn ExactSizeIterator<Item = u32>| {
                for doc in docs {
                    if conditions.pass(doc) {
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
                    let key = KeyKind::Id(id_type);
                    collect(&mut part.identifiers.find(key, lookup.id_value.as_str()))?;
                }
            }
        }
        Ok(hits)
    }

    /// Touches what answering these lookups will look at, so that the memory is asked for
    /// many of them at a time (engine, decision 4). Worth it for several lookups; it changes
    /// no answer.
    pub fn look_ahead<'q>(&self, lookups: impl Iterator<Item = &'q Lookup> + Clone) {
        let own = lookups.clone().filter(|lookup| lookup.id_type == IdType::BbGlobal);
        let own: Vec<Figi> =
            own.filter_map(|lookup| Figi::parse(lookup.id_value.as_str()).ok()).collect();
        for part in &self.generation.parts {
            part.rows.find_ahead(&own);
            let others = lookups.clone().filter(|lookup| lookup.id_type != IdType::BbGlobal);
            part.identifiers.read_ahead(
                others.map(|lookup| (KeyKind::Id(lookup.id_type), lookup.id_value.as_str())),
            );
        }
    }

    /// The same for reading the rows of these hits.
    pub fn read_ahead<'h>(&self, hits: impl Iterator<Item = &'h Hit> + Clone) {
        for (number, part) in (0..).zip(&self.generation.parts) {
            part.rows.read_ahead(hits.clone().filter(|hit| hit.part == number).map(|hit| hit.doc));
        }
    }

    /// The next rows that answer a search after `after`, in FIGI order; `None` when that
    /// takes more than `effort`.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn filter(
        &self,
        search: &Search,
        after: Option<Figi>,
        hits_max: usize,
        effort: Effort,
    ) -> Result<Option<Page<Figi>>> {
        let mut hits = Vec::with_capacity(hits_max);
        let mut blocks_left = effort.blocks_max();
        for (number, part) in (0..).zip(&self.generation.parts) {
            let first = after.map_or(0, |after| part.rows.first_after(after));
            if first == part.rows.len() as u32 {
                continue;
            }
            let plan = self.plan(part, search)?;
            if !effort.allows(&plan) {
                return Ok(None);
            }
            let mut matches = Matches::new(part, plan, blocks_left)?;
            matches.seek(first);
            for doc in matches.by_ref() {
                if hits.len() == hits_max {
                    let next = hits.last().map(|last| self.figi(*last));
                    return Ok(Some(Page { hits, next }));
                }
                hits.push(Hit { part: number, doc });
            }
            match matches.blocks_left() {
                Some(left) => blocks_left = left,
                None => return Ok(None),
            }
        }
        Ok(Some(Page { hits, next: None }))
    }

    /// How many rows answer a search; `None` when counting takes more than `effort`.
    /// What was counted once is remembered.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn count(&self, search: &Search, effort: Effort) -> Result<Option<u64>> {
        if let Some(total) = self.totals.get(search) {
            return Ok(Some(total));
        }
        let total = self.count_anew(search, effort)?;
        if let Some(total) = total {
            self.totals.remember(search, total);
        }
        Ok(total)
    }

    /// The same, whether or not it was counted before: for who measures.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn count_anew(&self, search: &Search, effort: Effort) -> Result<Option<u64>> {
        let mut total = 0;
        let mut blocks_left = effort.blocks_max();
        for part in &self.generation.parts {
            let plan = self.plan(part, search)?;
            if !effort.allows(&plan) {
                return Ok(None);
            }
            let mut matches = Matches::new(part, plan, blocks_left)?;
            total += matches.count_all();
            match matches.blocks_left() {
                Some(left) => blocks_left = left,
                None => return Ok(None),
            }
        }
        Ok(Some(total))
    }

    /// The next rows that answer a search after `after`, those first that a person would
    /// want first; `None` when that takes more than `effort`.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn search(
        &self,
        search: &Search,
        after: Option<Place>,
        hits_max: usize,
        effort: Effort,
    ) -> Result<Option<Page<Place>>> {
        // The greatest is on top; one more than asked for tells whether more follow.
        let mut best: BinaryHeap<(u32, Hit)> = BinaryHeap::with_capacity(hits_max + 2);
        let mut blocks_left = effort.blocks_max();
        for (number, part) in (0..).zip(&self.generation.parts) {
            let plan = self.plan(part, search)?;
            if !effort.allows(&plan) {
                return Ok(None);
            }
            let mut matches = Matches::new(part, plan, blocks_left)?;
            while let Some(doc) = matches.next() {
                let rank = part.columns.rank(doc).expect("verified: every row has a rank");
                let standing = matches.tier(doc) as u32 * RANK_END as u32 + rank as u32;
                // Of equal standing the earlier FIGI comes first, and it came first.
                let late =
                    best.len() > hits_max && best.peek().is_some_and(|top| standing >= top.0);
                let seen = || {
                    after.is_some_and(|after| {
                        standing < after.standing
                            || standing == after.standing && part.rows.figi(doc) <= after.figi
                    })
                };
                if late || seen() {
                    continue;
                }
                best.push((standing, Hit { part: number, doc }));
                if best.len() > hits_max + 1 {
                    best.pop();
                }
            }
            match matches.blocks_left() {
                Some(left) => blocks_left = left,
                None => return Ok(None),
            }
        }
        let mut best = best.into_sorted_vec();
        let more = best.len() > hits_max;
        best.truncate(hits_max);
        let last = best.last().filter(|_| more);
        let next = last.map(|&(standing, hit)| Place { standing, figi: self.figi(hit) });
        Ok(Some(Page { hits: best.into_iter().map(|(_, hit)| hit).collect(), next }))
    }

    /// How each part answers a search, for people.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn explain(&self, search: &Search) -> Result<String> {
        let mut told = String::new();
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let plan = self.plan(part, search)?;
            told += &format!(
                "{}: {} rows\n{}",
                entry.folder,
                part.rows.len(),
                plan.told(self.vocabulary())
            );
        }
        Ok(told)
    }

    /// How each part answers a mapping job, for people.
    pub fn explain_lookup(&self, lookup: &Lookup) -> String {
        let mut told = String::new();
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            told += &format!("{}: {} rows\n", entry.folder, part.rows.len());
            told += &match lookup.id_type {
                IdType::BbGlobal => {
                    format!(
                        "  drives: order of FIGIs ({} rows)\n",
                        own_figi(part, lookup).iter().len()
                    )
                }
                id_type => {
                    let rows =
                        part.identifiers.find(KeyKind::Id(id_type), lookup.id_value.as_str());
                    format!("  drives: identifier directory ({} rows)\n", rows.len())
                }
            };
            told += &plan::told_verified(&lookup.filters, self.vocabulary()).to_string();
        }
        told
    }

    fn plan(&self, part: &Part, search: &Search) -> Result<Plan> {
        Plan::new(part, search, self.vocabulary())
    }

    /// The FIGI of a hit.
    ///
    /// # Panics
    /// When the hit is of another catalogue.
    pub fn figi(&self, hit: Hit) -> Figi {
        self.generation.parts[hit.part as usize].rows.figi(hit.doc)
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
