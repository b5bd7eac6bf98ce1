//! What narrows an answer, in mapping, search and filter alike.

use std::{iter, mem};

use super::interval::{DateInterval, NumberInterval};
use crate::instrument::vocabulary::{Known, Property};

/// Conditions on a row's own values; every one that is there must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// Values of which the row's own enum-like properties must have one.
    pub known: KnownValues,
    /// `strike`: a row without one does not match.
    pub strike: Option<NumberInterval>,
    /// `contractSize`, likewise.
    pub contract_size: Option<NumberInterval>,
    /// `coupon`, likewise.
    pub coupon: Option<NumberInterval>,
    /// `expiration`, likewise; a row that has only a maturity answers with it.
    pub expiration: Option<DateInterval>,
    /// `maturity`, likewise; a row that has only an expiration answers with it.
    pub maturity: Option<DateInterval>,
    /// `includeUnlistedEquities`: without it unlisted equities do not match.
    pub include_unlisted_equities: bool,
}

/// The values of each enum-like property of which the row must have one.
///
/// Whoever asks the same has the same: neither the order nor repeats of values count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KnownValues {
    /// The least value that is asked for of each property.
    least: [Option<Known>; Property::COUNT],
    /// The others, ascending. Most questions have none, and then this allocates nothing.
    others: Vec<Known>,
}

/// The values of one property of which the row must have one.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'a> {
    least: Known,
    others: &'a [Known],
}

/// Units of looking up what filters ask of a part, for each value and each interval.
const VALUE_UNITS: u64 = 5;
const INTERVAL_UNITS: u64 = 40;

impl Filters {
    /// The units of looking up in a part what these filters ask of its rows.
    pub(crate) fn units(&self) -> u64 {
        let numbers = [self.strike, self.contract_size, self.coupon].into_iter().flatten();
        let dates = [self.expiration, self.maturity].into_iter().flatten();
        let intervals = (numbers.count() + dates.count()) as u64;
        1 + VALUE_UNITS * self.known.len() as u64 + INTERVAL_UNITS * intervals
    }
}

impl KnownValues {
    /// Demands that the row's own value of the property is just this one, whatever was
    /// demanded of the property before.
    pub fn require(&mut self, known: Known) {
        self.least[known.property() as usize] = Some(known);
        self.others.retain(|other| other.property() != known.property());
    }

    /// Lets the row's own value of the property be this one too. Where nothing was
    /// demanded of the property yet, this is.
    pub fn allow(&mut self, known: Known) {
        let least = &mut self.least[known.property() as usize];
        let other = match least {
            None => {
                *least = Some(known);
                return;
            }
            Some(least) if *least == known => return,
            Some(least) if known < *least => mem::replace(least, known),
            Some(_) => known,
        };
        if let Err(place) = self.others.binary_search(&other) {
            self.others.insert(place, other);
        }
    }

    /// Whether the row's own value of the property may be this one.
    pub fn allows(&self, known: Known) -> bool {
        self.of(known.property()).is_none_or(|asked| asked.values().any(|value| value == known))
    }

    /// What is asked of each property of which something is asked.
    pub fn iter(&self) -> impl Iterator<Item = OneOf<'_>> {
        Property::ALL.into_iter().filter_map(|property| self.of(property))
    }

    /// What is asked of one property.
    pub fn of(&self, property: Property) -> Option<OneOf<'_>> {
        let least = self.least[property as usize]?;
        let first = self.others.partition_point(|other| other.property() < property);
        let others = &self.others[first..];
        let count = others.partition_point(|other| other.property() == property);
        Some(OneOf { least, others: &others[..count] })
    }

    /// The number of values, of all properties.
    pub(crate) fn len(&self) -> usize {
        self.least.iter().flatten().count() + self.others.len()
    }
}

impl<'a> OneOf<'a> {
    /// The property whose values these are.
    pub fn property(self) -> Property {
        self.least.property()
    }

    /// The values, ascending, each once, at least one.
    pub fn values(self) -> impl Iterator<Item = Known> + 'a {
        iter::once(self.least).chain(self.others.iter().copied())
    }

    /// Whether there is but one.
    pub fn is_alone(self) -> bool {
        self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::vocabulary::Vocabulary;

    const CODES: [&str; 5] = ["A", "B", "C", "D", "E"];

    fn known(property: Property, place: usize) -> Known {
        let values = CODES.map(|code| (Property::ExchCode, code.to_owned()));
        let more = CODES.map(|code| (Property::SecurityType, code.to_owned()));
        Vocabulary::new(values.into_iter().chain(more)).admit(property, CODES[place]).unwrap()
    }

    proptest! {
        /// As a set of values for each property, in whatever order they came.
        #[test]
        fn they_are_sets(asked in proptest::collection::vec((any::<bool>(), 0_usize..5), 0..12)) {
            let property = |first: bool| match first {
                true => Property::ExchCode,
                false => Property::SecurityType,
            };
            let of = |asked: &[(bool, usize)]| {
                let mut values = KnownValues::default();
                asked.iter().for_each(|(first, place)| values.allow(known(property(*first), *place)));
                values
            };
            let values = of(&asked);
            let mut sorted = asked.clone();
            sorted.sort_unstable();
            prop_assert_eq!(&values, &of(&sorted));
            sorted.dedup();
            for first in [false, true] {
                let places = sorted.iter().filter(|asked| asked.0 == first);
                let expected: Vec<_> =
                    places.map(|(_, place)| known(property(first), *place)).collect();
                let found = values.of(property(first));
                let found: Vec<_> = found.into_iter().flat_map(OneOf::values).collect();
                prop_assert_eq!(&found, &expected);
                for place in 0..CODES.len() {
                    let known = known(property(first), place);
                    let allowed = expected.is_empty() || expected.contains(&known);
                    prop_assert_eq!(values.allows(known), allowed);
                }
            }
            prop_assert!(values.of(Property::Currency).is_none());
        }
    }

    #[test]
    fn one_takes_the_place_of_several() {
        let mut values = KnownValues::default();
        (0..5).for_each(|place| values.allow(known(Property::ExchCode, place)));
        values.allow(known(Property::SecurityType, 1));
        values.allow(known(Property::SecurityType, 0));
        values.require(known(Property::ExchCode, 3));
        let asked: Vec<_> = values.iter().map(|asked| asked.values().count()).collect();
        assert_eq!((asked, values.len()), (vec![1, 2], 3));
        assert!(values.of(Property::ExchCode).is_some_and(OneOf::is_alone));
    }
}
