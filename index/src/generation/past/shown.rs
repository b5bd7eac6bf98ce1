//! The versions of an instrument as a caller sees them who may not see all identifiers (contract
//! 23.8).

use std::mem::take;

use super::column::PastColumn;
use super::{Version, VersionEnd, Versions};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::visible::Visible;

impl Versions {
    /// Removes the hidden identifiers, and the days on which they were learned. Two versions that
    /// differed only in them become one: else the day between them would say when one changed.
    pub fn hide(&mut self, visible: Visible) {
        if visible.is_all() {
            return;
        }
        let hide = |image: &mut Instrument, learned: &mut Vec<(PastColumn, Date)>| {
            image.hide(visible);
            learned.retain(|(column, _)| match column {
                PastColumn::Identifiers(id_type) => visible.has(*id_type),
                PastColumn::Attribute(_) | PastColumn::Property(_) => true,
            });
        };
        self.stated.retain(|retired| visible.has(retired.id_value.id_type()));
        let mut joined: Vec<Version> = Vec::with_capacity(self.closed.len());
        for mut version in take(&mut self.closed) {
            hide(&mut version.image, &mut version.learned);
            match joined.last_mut().filter(|last| is_followed(last, &version.image)) {
                Some(last) => (last.last, last.end) = (version.last, version.end),
                None => joined.push(version),
            }
        }
        if let Some(open) = &mut self.open {
            hide(&mut open.image, &mut open.learned);
            if let Some(last) = joined.pop_if(|last| is_followed(last, &open.image)) {
                (open.first, open.learned) = (last.first, last.learned);
            }
        }
        self.closed = joined;
    }
}

/// Whether the next version, with this image, only goes on with a version.
fn is_followed(version: &Version, next: &Instrument) -> bool {
    matches!(version.end, VersionEnd::Replaced | VersionEnd::Revised) && version.image == *next
}

#[cfg(test)]
mod tests {
    use super::super::OpenVersion;
    use super::*;
    use crate::instrument::figi::Figi;
    use crate::instrument::id_type::IdType;

    /// contract 23.8: a version that differs from the next one only in a hidden identifier is not there.
    #[test]
    fn versions_that_look_alike_are_one() {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        let image = |ticker: &str, sedol: &str| Instrument {
            ticker: Some(ticker.into()),
            identifiers: vec![IdType::Sedol.admit(sedol).unwrap().into_owned()],
            ..Instrument::new(figi)
        };
        let day = |day: u8| Date::new(2024, 1, day).unwrap();
        let closed = |first, last, end, image| {
            let learned = vec![(PastColumn::Identifiers(IdType::Sedol), day(9))];
            Version { first: day(first), last: day(last), end, learned, image }
        };
        let versions = Versions {
            closed: vec![
                closed(1, 2, VersionEnd::Gone, image("OLD", "2046251")),
                closed(4, 5, VersionEnd::Replaced, image("OLD", "2046251")),
                closed(6, 7, VersionEnd::Replaced, image("OLD", "0263494")),
                closed(8, 9, VersionEnd::Replaced, image("NEW", "0263494")),
            ],
            open: Some(OpenVersion {
                first: day(10),
                learned: Vec::new(),
                image: image("NEW", "2046251"),
            }),
            ..Versions::none(figi)
        };
        let mut all = versions.clone();
        all.hide(Visible::ALL);
        assert_eq!(all, versions);

        let mut shown = versions;
        shown.hide(Visible::without(|class| class == IdType::Sedol));
        let days: Vec<_> = shown.closed.iter().map(|one| (one.first, one.last)).collect();
        assert_eq!(days, [(day(1), day(2)), (day(4), day(7))]);
        assert_eq!(shown.open.as_ref().unwrap().first, day(8));
        let images = shown.closed.iter().map(|one| (&one.image, &one.learned));
        for (image, learned) in
            images.chain(shown.open.iter().map(|one| (&one.image, &one.learned)))
        {
            assert!(image.identifiers.is_empty() && learned.is_empty());
        }
    }
}
