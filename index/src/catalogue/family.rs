//! One instrument with all of its fields, and its family: the share class, the composites of that
//! class, and the venues of each composite (contract 16.5).

use std::collections::{BTreeMap, BTreeSet};

use super::Catalogue;
use crate::error::Result;
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdValue;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::part::ranks::rank::Facts;
use crate::part::ranks::{BestBy, Securities};
use crate::query::Filters;
use crate::search::{Hit, RowSource};

/// The most rows of a family that are returned: more than a person reads, and few to write.
pub const FAMILY_ROWS_MAX: usize = 1_000;

/// The number of the best-ranked rows of a part in which an example is looked for.
const EXAMPLES_READ: u32 = 1_000;

/// The rows that have the share class or the composite of an instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The share class of the instrument that was asked for, if it has one.
    pub share_class_figi: Option<Figi>,
    /// The composites, ordered by exchange code, then by FIGI; the rows without a composite come
    /// last. People look for a code. An order by the number of venues, or by a guess at the home
    /// market, would change with the data from day to day.
    pub composites: Vec<Branch>,
    /// The best listing of the security of the instrument (contract 16.15), if it is one of these
    /// rows.
    pub best_listing: Option<Hit>,
    /// Whether rows are missing because there are more than [`FAMILY_ROWS_MAX`].
    pub is_truncated: bool,
}

/// A composite and its venues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The FIGI of the composite; `None` for the rows of a share class that have no composite.
    pub composite_figi: Option<Figi>,
    /// The row of the composite itself, if the index has it.
    pub composite: Option<Hit>,
    /// The rows of the venues, ordered by exchange code, then by FIGI.
    pub venues: Vec<Hit>,
}

impl Catalogue {
    /// The row with a FIGI.
    pub fn find(&self, figi: Figi) -> Option<Hit> {
        let mut parts = (0..).zip(&self.generation.parts);
        parts.find_map(|(part, of)| Some(Hit { part, doc: of.rows.find(figi)? }))
    }

    /// The first row, in FIGI order, whose share class has this FIGI. If there is none, the first
    /// row whose composite has this FIGI.
    pub fn find_kin(&self, figi: Figi) -> Option<Hit> {
        let values = [IdValue::share_class(figi), IdValue::composite(figi)];
        values.into_iter().find_map(|value| {
            let mut parts = (0..).zip(&self.generation.parts);
            parts.find_map(|(part, of)| {
                let kind = KeyKind::Id(value.id_type());
                let doc = of.identifiers.find(kind, value.as_str()).next()?;
                Some(Hit { part, doc })
            })
        })
    }

    /// A row that most people know, for examples: the best-ranked row with a ticker, a name and a
    /// share class, among the 1,000 best-ranked rows of each part.
    pub fn example(&self) -> Option<Hit> {
        let of_part = |(number, part): (u32, &Part)| {
            let docs = (0..part.ranks.len().min(EXAMPLES_READ)).map(|at| part.ranks.doc(at));
            let has_texts = |doc: &u32| {
                let row = part.rows.get(*doc);
                row.ticker().is_some() && row.name().is_some() && row.share_class_figi().is_some()
            };
            let doc = docs.into_iter().find(has_texts)?;
            Some((part.ranks.rank(doc), Hit { part: number, doc }))
        };
        let best = (0..).zip(&self.generation.parts).filter_map(of_part).min()?;
        Some(best.1)
    }

    /// The instrument of a row as it was added to the index, with its identifiers. Only its
    /// importance may be shortened
    /// ([`Manifest::importance_bits`](crate::Manifest::importance_bits)).
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when a file was changed after it was written.
    ///
    /// # Panics
    /// When another catalogue returned the hit.
    pub fn instrument(&self, hit: Hit) -> Result<Instrument> {
        let entry = &self.manifest().parts[hit.part as usize];
        self.part(hit).instrument(&entry.path(&self.generation.path), hit.doc)
    }

    /// The units of work of [`Self::instrument`].
    pub(crate) fn units_of_instrument(&self, hit: Hit) -> u64 {
        self.part(hit).extras.units()
    }

    /// The best listing of the security of a row, and the rule that chose it among the rows of the
    /// family, for people.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when a file was changed after it was written.
    ///
    /// # Panics
    /// When another catalogue returned the hit.
    pub fn best_by(&self, hit: Hit) -> Result<(Hit, BestBy)> {
        let all = Filters { include_unlisted_equities: true, ..Filters::default() };
        let best = self.best_listing(hit, &all, &Meter::unlimited())?;
        let facts = |hit: Hit| Ok((self.figi(hit), Facts::of(&self.instrument(hit)?)));
        let mut of_kin: Vec<(Figi, Facts)> =
            self.kin(best).0.into_iter().map(facts).collect::<Result<_>>()?;
        let of_best = facts(best)?;
        // A composite is not of the same security if it has another share class.
        of_kin.retain(|(_, of)| of.share_class == of_best.1.share_class);
        let securities = Securities::of(self.vocabulary().countries().clone(), |each| {
            of_kin.iter().for_each(|(figi, facts)| each(*figi, facts));
            Ok(())
        })?;
        Ok((best, securities.best_by(of_best.0, &of_best.1)))
    }

    /// The family of a row. The row itself is one of its rows.
    ///
    /// # Panics
    /// When another catalogue returned the hit.
    pub fn family(&self, hit: Hit) -> Family {
        let (kin, is_truncated) = self.kin(hit);
        Family::of(self, hit, kin, is_truncated)
    }

    /// The rows of the share class and the composite of a row, in FIGI order, and whether there are
    /// more than the [`FAMILY_ROWS_MAX`] that are returned. The row itself is always returned.
    fn kin(&self, hit: Hit) -> (Vec<Hit>, bool) {
        let row = self.row(hit);
        let composite = row.composite_figi().unwrap_or(row.figi());
        let mut kin: BTreeSet<Hit> = self.find(composite).into_iter().collect();
        kin.insert(hit);
        let must = kin.clone();
        let share_class = row.share_class_figi().map(IdValue::share_class);
        for value in [IdValue::composite(composite)].into_iter().chain(share_class) {
            let found = (0..).zip(&self.generation.parts).flat_map(|(part, of)| {
                let docs = of.identifiers.find(KeyKind::Id(value.id_type()), value.as_str());
                docs.map(move |doc| Hit { part, doc })
            });
            // One row more than the maximum shows whether there are more.
            kin.extend(found.take(FAMILY_ROWS_MAX + 1));
        }
        let is_truncated = kin.len() > FAMILY_ROWS_MAX;
        let mut room = FAMILY_ROWS_MAX - must.len();
        kin.retain(|kin| {
            must.contains(kin) || {
                let fits = room > 0;
                room = room.saturating_sub(1);
                fits
            }
        });
        (kin.into_iter().collect(), is_truncated)
    }

    pub(super) fn part(&self, hit: Hit) -> &Part {
        &self.generation.parts[hit.part as usize]
    }
}

impl Family {
    /// The family of a row. `kin` are the rows of its share class and of its composite, including
    /// the row itself, in FIGI order.
    pub fn of(rows: &impl RowSource, hit: Hit, kin: Vec<Hit>, is_truncated: bool) -> Self {
        // A row that names no composite is itself a composite if other rows name it as theirs.
        let named: BTreeSet<Figi> =
            kin.iter().filter_map(|kin| rows.row(*kin).composite_figi()).collect();
        let security = rows.row(hit).security();
        let is_best =
            |kin: &Hit| rows.is_best_listing(*kin) && rows.row(*kin).security() == security;
        let best_listing = kin.iter().copied().find(is_best);
        let mut branches: BTreeMap<Option<Figi>, Branch> = BTreeMap::new();
        for kin in kin {
            let row = rows.row(kin);
            let own = Some(row.figi()).filter(|figi| named.contains(figi));
            let composite_figi = row.composite_figi().or(own);
            let branch = branches.entry(composite_figi).or_insert(Branch {
                composite_figi,
                composite: None,
                venues: Vec::new(),
            });
            if composite_figi == Some(row.figi()) {
                branch.composite = Some(kin);
            } else {
                branch.venues.push(kin);
            }
        }
        let mut composites: Vec<Branch> = branches.into_values().collect();
        for branch in &mut composites {
            // The rows are in FIGI order, and the sort is stable.
            branch.venues.sort_by_cached_key(|venue| code(rows, *venue));
        }
        composites.sort_by_cached_key(|branch| {
            let first = branch.composite.or_else(|| branch.venues.first().copied());
            (branch.composite_figi.is_none(), first.map(|hit| code(rows, hit)))
        });
        let share_class_figi = rows.row(hit).share_class_figi();
        Self { share_class_figi, composites, best_listing, is_truncated }
    }
}

/// The sort key by exchange code. Rows without one come last.
fn code(rows: &impl RowSource, hit: Hit) -> (bool, Option<String>) {
    let code = rows.row(hit).exch_code();
    (code.is_none(), code.map(|code| code.to_string()))
}
