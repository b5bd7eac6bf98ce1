//! The versions of a FIGI after a day with its row, or without one.

use super::column::{Difference, PastColumn, held, image_of};
use super::{OpenVersion, Version, VersionEnd, Versions};
use crate::instrument::Instrument;
use crate::instrument::date::Date;

/// A day on which all rows are observed.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// The day.
    pub(crate) day: Date,
    /// The day that was observed before it.
    pub(crate) before: Date,
    /// A gap of fewer days than this is closed, and a version of fewer days than this is revised
    /// when the row is as before again.
    pub(crate) mend_days: i64,
    /// The columns that are much less filled than the day before. They close nothing: a known value
    /// stays, whatever the row has in its place.
    pub(crate) unfilled: Vec<PastColumn>,
}

impl Observation {
    /// The versions after the day on which the FIGI has this row, or none.
    pub(crate) fn of(&self, versions: Versions, row: Option<&Instrument>) -> Versions {
        let Versions { figi, mut closed, open, stated } = versions;
        let open = match (open, row) {
            (None, None) => None,
            (Some(open), None) => {
                enter(&mut closed, open.close(self.before, self.end_of(&open.image)));
                None
            }
            (None, Some(row)) => match self.taken_back(&mut closed) {
                Some((open, last)) => Some(self.go_on(open, last, row, &mut closed)),
                None => {
                    let image = image_of(row);
                    Some(OpenVersion { first: self.day, learned: Vec::new(), image })
                }
            },
            (Some(open), Some(row)) => Some(self.go_on(open, self.before, row, &mut closed)),
        };
        Versions { figi, closed, open, stated }
    }

    /// The end of the version of a row that is not there any more.
    fn end_of(&self, image: &Instrument) -> VersionEnd {
        let ends = [image.expiration, image.maturity].into_iter().flatten().min();
        match ends.is_some_and(|end| end <= self.day) {
            true => VersionEnd::Expired,
            false => VersionEnd::Gone,
        }
    }

    /// Takes back that the row went, if that was only a few days ago. Returns the version that was
    /// its last one, and its last day.
    fn taken_back(&self, closed: &mut Vec<Version>) -> Option<(OpenVersion, Date)> {
        let place = closed.iter().rposition(|version| version.end != VersionEnd::Revised)?;
        let gone = matches!(closed[place].end, VersionEnd::Gone | VersionEnd::Expired);
        if !gone || !self.is_soon_after(closed[place].last) {
            return None;
        }
        let Version { first, last, learned, image, .. } = closed.remove(place);
        Some((OpenVersion { first, learned, image }, last))
    }

    fn is_soon_after(&self, day: Date) -> bool {
        self.day.to_days() - day.to_days() < self.mend_days
    }

    /// The open version after a row that follows it: the same one, or another.
    fn go_on(
        &self,
        open: OpenVersion,
        last: Date,
        row: &Instrument,
        closed: &mut Vec<Version>,
    ) -> OpenVersion {
        if !self.closes(&open.image, row) {
            return self.absorb(open, row);
        }
        let before = closed.iter().rposition(|version| version.end != VersionEnd::Revised);
        let before = before.filter(|place| {
            closed[*place].end == VersionEnd::Replaced
                && self.is_soon_after(open.first)
                && !self.closes(&closed[*place].image, row)
        });
        if let Some(place) = before {
            let Version { first, learned, image, .. } = closed.remove(place);
            enter(closed, open.close(last, VersionEnd::Revised));
            return self.absorb(OpenVersion { first, learned, image }, row);
        }
        let mut image = image_of(row);
        for column in &self.unfilled {
            if column.difference(&open.image, row).loses() {
                column.copy(&open.image, &mut image);
            }
        }
        enter(closed, open.close(last, VersionEnd::Replaced));
        OpenVersion { first: self.day, learned: Vec::new(), image }
    }

    fn closes(&self, image: &Instrument, row: &Instrument) -> bool {
        let mut columns = PastColumn::all().filter(|column| !self.unfilled.contains(column));
        columns.any(|column| column.difference(image, row) == Difference::Replaced)
    }

    /// The open version with what the row adds to it.
    fn absorb(&self, mut open: OpenVersion, row: &Instrument) -> OpenVersion {
        let differing: Vec<_> = held(&open.image, row).collect();
        for column in differing {
            let difference = column.difference(&open.image, row);
            // A replaced value would have closed the version, if its column were not unfilled.
            if difference.loses() {
                continue;
            }
            if difference == Difference::Learned {
                open.learned.retain(|(learned, _)| *learned != column);
                open.learned.push((column, self.day));
                open.learned.sort_unstable();
            }
            column.copy(row, &mut open.image);
        }
        open
    }
}

/// Adds a closed version at its place. Versions that were mistakes may have begun after it.
fn enter(closed: &mut Vec<Version>, version: Version) {
    let place = closed.partition_point(|other| other.first < version.first);
    closed.insert(place, version);
}

impl OpenVersion {
    fn close(&self, last: Date, end: VersionEnd) -> Version {
        let Self { first, learned, image } = self.clone();
        Version { first, last, end, learned, image }
    }
}
