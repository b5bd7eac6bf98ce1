//! The filters of a question, which are the same in mapping, search and filter (chapter 6 of the
//! contract).

use std::{iter, mem};

use super::interval::{DateInterval, NumberInterval};
use crate::instrument::Instrument;
use crate::instrument::attribute::Attribute;
use crate::instrument::level::Levels;
use crate::instrument::vocabulary::{Known, Property};

/// Conditions on the values of a row. A row must pass all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// The allowed values of each enum-like property.
    pub known: KnownValues,
    /// The allowed levels. The empty set allows every row.
    pub levels: Levels,
    /// An interval for each of [`Attribute::NUMBERS`]; `None` does not restrict the rows. If an
    /// interval is given, a row without the number does not match (contract 6.12).
    pub numbers: [Option<NumberInterval>; Attribute::NUMBERS.len()],
    /// An interval for each of [`Attribute::DATES`], by the same rule. It is compared with
    /// [`Instrument::filter_dates`](crate::Instrument::filter_dates) (contract 6.18).
    pub dates: [Option<DateInterval>; Attribute::DATES.len()],
    /// `includeUnlistedEquities`. Unless it is set, unlisted equities do not match (contract 6.9).
    pub include_unlisted_equities: bool,
}

/// The allowed values of each enum-like property. A property without allowed values does not
/// restrict the rows.
///
/// Two `KnownValues` are equal when they allow the same values: the order in which the values were
/// given does not count, nor does a repeated value (contract 8.14).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KnownValues {
    /// The smallest allowed value of each property, if there is one.
    least: [Option<Known>; Property::COUNT],
    /// The other allowed values, ascending. Most questions have none, so that nothing is allocated.
    others: Vec<Known>,
}

/// The allowed values of one property. A row must have one of them.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'a> {
    least: Known,
    others: &'a [Known],
}

/// The units of work of looking up each value and each interval of the filters in a part.
const VALUE_UNITS: u64 = 5;
const INTERVAL_UNITS: u64 = 40;

impl Filters {
    /// Whether an interval is asked for.
    pub(crate) fn has_intervals(&self) -> bool {
        self.numbers.iter().any(Option::is_some) || self.dates.iter().any(Option::is_some)
    }

    /// Whether an instrument passes, of which the numbers are given apart. `text` is the text of a
    /// value.
    pub(crate) fn admit<'a>(
        &self,
        row: &Instrument,
        numbers: [Option<f64>; Attribute::NUMBERS.len()],
        text: impl Fn(Known) -> &'a str,
    ) -> bool {
        let has = |asked: OneOf<'_>| {
            let value = row.property(asked.property());
            value.is_some_and(|value| asked.values().any(|known| text(known) == value))
        };
        let in_numbers = self.numbers.iter().zip(numbers).all(|(asked, number)| {
            asked.is_none_or(|asked| number.is_some_and(|number| asked.contains(number)))
        });
        let in_dates = self.dates.iter().zip(row.filter_dates()).all(|(asked, day)| {
            asked.is_none_or(|asked| day.is_some_and(|day| asked.contains(day)))
        });
        let is_of_level =
            self.levels.is_empty() || self.levels.iter().any(|level| level == row.level());
        self.known.iter().all(has)
            && is_of_level
            && in_numbers
            && in_dates
            && (self.include_unlisted_equities || !row.is_unlisted_equity())
    }

    /// The names of the intervals that are asked for.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = &'static str> {
        let numbers = self.numbers.iter().map(Option::is_some);
        let given = numbers.chain(self.dates.iter().map(Option::is_some));
        let given = Attribute::compared().zip(given).filter(|(_, is_given)| *is_given);
        given.map(|(attribute, _)| attribute.name())
    }

    /// The units of work of looking up these filters in a part.
    pub(crate) fn units(&self) -> u64 {
        let intervals = self.intervals().count() as u64;
        let values = (self.known.len() + self.levels.iter().count()) as u64;
        1 + VALUE_UNITS * values + INTERVAL_UNITS * intervals
    }
}

impl KnownValues {
    /// Allows only this value of its property. Replaces the values that were allowed before.
    pub fn require(&mut self, known: Known) {
        self.least[known.property() as usize] = Some(known);
        self.others.retain(|other| other.property() != known.property());
    }

    /// Allows this value of its property, in addition to the values that were allowed before.
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

    /// Whether a row with this value passes: the value is allowed, or its property is not
    /// restricted.
    pub fn allows(&self, known: Known) -> bool {
        self.of(known.property()).is_none_or(|one_of| one_of.values().any(|value| value == known))
    }

    /// The allowed values of each restricted property.
    pub fn iter(&self) -> impl Iterator<Item = OneOf<'_>> {
        Property::ALL.into_iter().filter_map(|property| self.of(property))
    }

    /// The allowed values of a property; `None` when it is not restricted.
    pub fn of(&self, property: Property) -> Option<OneOf<'_>> {
        let least = self.least[property as usize]?;
        let first = self.others.partition_point(|other| other.property() < property);
        let others = &self.others[first..];
        let count = others.partition_point(|other| other.property() == property);
        Some(OneOf { least, others: &others[..count] })
    }

    /// The restrictions of `self` and `other` together; `None` when they leave some property
    /// without an allowed value.
    pub fn and(&self, other: &Self) -> Option<Self> {
        let mut both = self.clone();
        for asked in other.iter() {
            let Some(own) = self.of(asked.property()) else {
                asked.values().for_each(|value| both.allow(value));
                continue;
            };
            let mut shared = asked.values().filter(|value| own.values().any(|own| own == *value));
            both.require(shared.next()?);
            shared.for_each(|value| both.allow(value));
        }
        Some(both)
    }

    /// The number of allowed values, over all properties.
    pub(crate) fn len(&self) -> usize {
        self.least.iter().flatten().count() + self.others.len()
    }
}

impl<'a> OneOf<'a> {
    /// The property of the values.
    pub fn property(self) -> Property {
        self.least.property()
    }

    /// The values, ascending, each once. There is at least one.
    pub fn values(self) -> impl Iterator<Item = Known> + 'a {
        iter::once(self.least).chain(self.others.iter().copied())
    }

    /// Whether there is only one value.
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
        #[test]
        fn values_of_a_property_are_a_set(asked in proptest::collection::vec((any::<bool>(), 0_usize..5), 0..12)) {
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
    fn require_replaces_several_values() {
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
