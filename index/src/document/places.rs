//! The places of rows in the order of a search, for an engine that sorts documents by tier and
//! rank.

use crate::instrument::figi::Figi;
use crate::part::ranks::Importances;
use crate::part::ranks::rank::{RANK_BITS, Rank};
use crate::query::Place;
use crate::search::best::Tier;

/// The distinct importances of a generation, which convert ranks to places and back.
pub struct Places(Importances<Vec<u8>>);

/// The start of a page. Earlier pages have the documents of earlier tiers, those of this tier with
/// smaller ranks, and those of this tier and rank up to and including the FIGI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// The number of the tier in [`Tier::ALL`]. A forged cursor may have a larger number.
    pub tier: usize,
    /// The rank.
    pub rank: u64,
    /// The FIGI; without one, the page begins with the first document of the rank.
    pub figi: Option<Figi>,
}

impl Places {
    /// Reads the places of a generation from the bytes of [`Places::bytes`]; `None` when they are
    /// invalid.
    pub fn of_bytes(bytes: Vec<u8>) -> Option<Self> {
        Importances::of_bytes(bytes).map(Self)
    }

    /// The bytes of the importances.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The number of different importances.
    pub(crate) fn importances(&self) -> usize {
        self.0.count()
    }

    /// The place of a document.
    pub fn place(&self, tier: Tier, rank: u64, figi: Figi) -> Place {
        self.0.place(Rank::of_sort_key(rank).sort_key(tier as u64), figi)
    }

    /// The start of the page after a place.
    pub fn after(&self, place: Place) -> After {
        let (sort_key, figi) = self.0.after(place);
        let rank = Rank::of_sort_key(sort_key).sort_key(0);
        After { tier: (sort_key >> RANK_BITS) as usize, rank, figi }
    }
}
