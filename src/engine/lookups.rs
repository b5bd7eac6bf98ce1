//! Lookups of identifiers, as mapping jobs ask for them (contract 4). A lookup that finds too much
//! has a fault, and so has one that panics in an index on this machine. The others are answered.

use std::borrow::Cow;
use std::ops::Range;
use std::slice;

use figdex_index::{Catalogue, Hit, Located, Lookup, Meter, TakesMore, TooManyHits};
use figdex_opensearch::LookupBounds;

use super::answer::{Ask, Cluster, FoundHere, FoundThere};
use crate::callers::limits::{JOB_ROWS_MAX, REQUEST_ROWS_MAX};
use crate::observe::contained::{UNEXPECTED, contained};

/// The lookups of one request.
pub(crate) struct Lookups<'a>(pub(crate) Vec<Lookup<'a>>);

/// The rows that lookups found.
pub(crate) struct LookedUp {
    /// For each lookup, in order, the place of its hits in `hits`, or the text of its fault.
    pub(crate) ranges: Vec<Result<Range<usize>, Cow<'static, str>>>,
    /// The hits of all lookups.
    pub(crate) hits: Vec<Hit>,
}

impl Lookups<'_> {
    /// The same lookups without a reference to the body.
    pub(crate) fn into_owned(self) -> Lookups<'static> {
        Lookups(self.0.into_iter().map(Lookup::into_owned).collect())
    }
}

impl Ask for Lookups<'_> {
    type Answer = LookedUp;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<LookedUp> {
        Ok(look_up(&self.0, index, meter).ok())
    }

    async fn there(&mut self, Cluster { index, id, .. }: Cluster<'_>) -> FoundThere<LookedUp> {
        let bounds = LookupBounds { each_max: JOB_ROWS_MAX, all_max: REQUEST_ROWS_MAX };
        let located = index.lookup(&self.0, bounds, id).await?;
        let fault = |count| match count > JOB_ROWS_MAX as u64 {
            true => too_many_of_job(),
            false => too_many_of_request(),
        };
        let ranges = located.ranges.into_iter().map(|range| range.map_err(fault)).collect();
        Ok((located.rows, LookedUp { ranges, hits: located.hits }))
    }
}

fn look_up(
    lookups: &[Lookup<'_>],
    index: &Catalogue,
    meter: &Meter,
) -> Result<LookedUp, TakesMore> {
    // If the steps that the lookups share panic, each lookup is located by itself.
    let mut located = contained(|| index.locate(lookups, meter)).ok().transpose()?;
    let mut hits = Vec::with_capacity(lookups.len());
    let mut ranges = Vec::with_capacity(lookups.len());
    for (place, lookup) in lookups.iter().enumerate() {
        let start = hits.len();
        let found = contained(|| match &mut located {
            Some(located) => find(located, place, &mut hits),
            None => find(&mut index.locate(slice::from_ref(lookup), meter)?, 0, &mut hits),
        });
        ranges.push(match found.unwrap_or(Ok(Err(UNEXPECTED.into())))? {
            Ok(()) => Ok(start..hits.len()),
            Err(fault) => {
                hits.truncate(start);
                Err(fault)
            }
        });
    }
    Ok(LookedUp { ranges, hits })
}

/// Appends the hits of one lookup.
fn find(
    located: &mut Located<'_>,
    place: usize,
    hits: &mut Vec<Hit>,
) -> Result<Result<(), Cow<'static, str>>, TakesMore> {
    Ok(match located.find(place, JOB_ROWS_MAX, hits)? {
        Err(TooManyHits { .. }) => Err(too_many_of_job()),
        Ok(()) if hits.len() > REQUEST_ROWS_MAX => Err(too_many_of_request()),
        Ok(()) => Ok(()),
    })
}

/// The fault of a job with more rows than contract 4.16 allows.
fn too_many_of_job() -> Cow<'static, str> {
    format!("A job may find {JOB_ROWS_MAX} FIGIs; this one finds more.").into()
}

/// The fault of a job whose rows bring its request beyond the rows of contract 4.17.
fn too_many_of_request() -> Cow<'static, str> {
    format!("The jobs of one request may find {REQUEST_ROWS_MAX} FIGIs in all.").into()
}
