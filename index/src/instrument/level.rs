//! The level of an instrument in its family of share class, composites and venues.

use super::figi::Figi;

/// The level of an instrument, which follows from its own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Its FIGI is its composite FIGI: it represents all venues of a market.
    Composite,
    /// It has another composite FIGI: it is traded at one venue.
    Venue,
    /// It has a share class and no composite.
    Listing,
    /// It has neither a composite nor a share class.
    Single,
}

impl Level {
    /// The number of levels.
    pub const COUNT: usize = 4;

    /// All levels, in the order of their discriminants.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Composite, Self::Venue, Self::Listing, Self::Single];

    /// The level of an instrument with these FIGIs.
    pub(crate) fn of(figi: Figi, composite: Option<Figi>, share_class: Option<Figi>) -> Self {
        match (composite, share_class) {
            (Some(composite), _) if composite == figi => Self::Composite,
            (Some(_), _) => Self::Venue,
            (None, Some(_)) => Self::Listing,
            (None, None) => Self::Single,
        }
    }

    /// The name of the level in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Composite => "composite",
            Self::Venue => "venue",
            Self::Listing => "listing",
            Self::Single => "single",
        }
    }

    /// The level with this name in a request; letter case counts.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A set of levels. As a filter, an empty set allows every level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Levels(u8);

impl Levels {
    /// Adds a level.
    pub fn insert(&mut self, level: Level) {
        self.0 |= 1 << level as u8;
    }

    /// Whether there is no level.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The levels, each once, in the order of [`Level::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(move |level| self.0 & 1 << *level as u8 != 0)
    }
}
