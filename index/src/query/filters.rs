//! What narrows an answer, in mapping, search and filter alike.

use crate::interval::{DateInterval, NumberInterval};
use crate::vocabulary::{Known, Property};

/// Conditions on a row's own values; every one that is there must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// Values that the row's own enum-like properties must have.
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

/// At most one demanded value for each enum-like property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KnownValues([Option<Known>; Property::COUNT]);

impl KnownValues {
    /// Demands that the row's own value of the property is just this one. A
    /// second value of the same property takes the place of the first.
    pub fn require(&mut self, known: Known) {
        self.0[known.property() as usize] = Some(known);
    }

    /// The demanded values.
    pub fn iter(&self) -> impl Iterator<Item = Known> {
        self.0.iter().copied().flatten()
    }

    /// The demanded value of one property.
    pub fn get(&self, property: Property) -> Option<Known> {
        self.0[property as usize]
    }
}
