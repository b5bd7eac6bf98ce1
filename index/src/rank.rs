//! Which of two rows that match equally well a person would want first.
//!
//! A rank is given to a row when it is written, from its own properties, so that
//! ranking a match is one look into a fast field.

use crate::instrument::Instrument;
use crate::vocabulary::Property;
use crate::words::words;

/// One more than the greatest rank.
pub(crate) const RANK_END: u64 = 1 << 16;

/// The greatest count of words that the rank tells apart.
const WORDS_MAX: usize = 255;

/// The kind of row, in the order in which people mean them.
enum Kind {
    /// The composite of a market.
    Composite,
    /// A listing at one venue, or a share class without a composite.
    Listing,
    /// A bond, an index, a currency …
    Other,
    /// An option, a warrant, a future: there are many of them to one share.
    Derivative,
}

/// The rank of an instrument, below [`RANK_END`]: first its kind, then the text
/// score, which is the share of its name that any one word makes up.
pub(crate) fn rank(instrument: &Instrument) -> u64 {
    let name = instrument.name.as_deref().or(instrument.ticker.as_deref());
    let words = name.map_or(WORDS_MAX, |name| words(name).count().min(WORDS_MAX));
    let rank = (kind(instrument) as u64) << 8 | words as u64;
    debug_assert!(rank < RANK_END);
    rank
}

fn kind(instrument: &Instrument) -> Kind {
    let security_type2 = instrument.property(Property::SecurityType2);
    let derivative = matches!(security_type2, Some("Option" | "Warrant" | "Future"))
        || instrument.property(Property::OptionType).is_some();
    if derivative {
        Kind::Derivative
    } else if instrument.composite_figi == Some(instrument.figi) {
        Kind::Composite
    } else if instrument.composite_figi.is_some() || instrument.share_class_figi.is_some() {
        Kind::Listing
    } else {
        Kind::Other
    }
}
