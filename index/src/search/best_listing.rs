//! The best listing of the security of a row (contract 16.15), among the rows of all parts.

use super::Hit;
use super::conditions::Conditions;
use crate::error::Result;
use crate::instrument::id_type::IdValue;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::part::ranks::rank::Rank;
use crate::query::Filters;

/// The units of work of looking up a security in a part, and of seeing whether a row is the best
/// listing.
const SECURITY_UNITS: u64 = 12;
const SEEN_UNITS: u64 = 1;

/// The best listing of the row's security, if it passes the filters; else the row itself. The
/// security is the rows with its share class or, without one, with its composite. If several rows
/// are best listings, as when rows of one composite have different share classes, the first in the
/// order of ranks counts.
pub(crate) fn best_listing(
    parts: &[Part],
    hit: Hit,
    filters: &Filters,
    meter: &Meter,
) -> Result<Hit> {
    let part = &parts[hit.part as usize];
    if part.ranks.standing(hit.doc).is_best {
        return Ok(hit);
    }
    let row = part.rows.get(hit.doc);
    let share_class = row.share_class_figi().map(IdValue::share_class);
    let Some(value) = share_class.or(row.composite_figi().map(IdValue::composite)) else {
        return Ok(hit);
    };
    let kind = KeyKind::Id(value.id_type());
    let mut best: Option<(Rank, Hit)> = None;
    for (number, part) in (0..).zip(parts) {
        let found = part.identifiers.find(kind, value.as_str());
        meter.charge(SECURITY_UNITS + SEEN_UNITS * found.len() as u64)?;
        for doc in found.filter(|doc| part.ranks.standing(*doc).is_best) {
            meter.charge(filters.units())?;
            if Conditions::new(part, filters).pass(doc) {
                let one = (part.ranks.rank(doc), Hit { part: number, doc });
                best = Some(best.map_or(one, |best| best.min(one)));
            }
        }
    }
    Ok(best.map_or(hit, |(_, best)| best))
}
