//! An instrument as a byte string in a document; result rows and the whole instrument are read from
//! it. It holds the rank as `u64`, the importance as the bits of a number ([`NO_IMPORTANCE`] for
//! none), the standing of the listing in a byte, the packed row (`part::rows::packed`), and the
//! fields that the row lacks. Numbers are little-endian.

use std::borrow::Cow;
use std::fmt;

use crate::error::Result;
use crate::instrument::Instrument;
use crate::instrument::importance::Importance;
use crate::instrument::vocabulary::Property;
use crate::mapped::u64_at;
use crate::part::other_names::KnownAs;
use crate::part::ranks::Standing;
use crate::part::ranks::rank::Rank;
use crate::part::rows::{Field, Row, packed};
use crate::resolve::crosswalk::{Crosswalk, ListColumns};
use crate::search::{Hit, RowSource};

const IMPORTANCE: usize = 8;
const STANDING: usize = IMPORTANCE + 8;
const ROW: usize = STANDING + 1;

/// The bits that stand for no importance.
const NO_IMPORTANCE: u64 = u64::MAX;

/// An instrument from a document. Every byte was checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored {
    bytes: Vec<u8>,
    /// The end of the packed row.
    row_end: usize,
}

impl Stored {
    /// The bytes of an instrument with a rank and a standing.
    pub(super) fn pack(instrument: &Instrument, rank: Rank, standing: Standing) -> Result<Vec<u8>> {
        let mut bytes = rank.sort_key(0).to_le_bytes().to_vec();
        let importance = instrument.importance.map_or(NO_IMPORTANCE, Importance::to_bits);
        bytes.extend_from_slice(&importance.to_le_bytes());
        bytes.push(standing.to_bits());
        packed::pack(instrument, &mut bytes)?;
        instrument.encode_extras(&mut bytes);
        Ok(bytes)
    }

    /// Reads an instrument from these bytes; `None` when they are invalid.
    pub fn read(bytes: Vec<u8>) -> Option<Self> {
        let row = bytes.get(ROW..)?;
        let is_rank = Rank::is_sort_key(u64_at(&bytes, 0));
        let row_end = ROW + packed::check(row)?;
        let stored = Self { bytes, row_end };
        (is_rank && stored.decoded().is_some()).then_some(stored)
    }

    /// The size of the instrument in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The result row of the instrument.
    pub fn row(&self) -> Row<'_> {
        packed::row(&self.bytes[ROW..])
    }

    /// The whole instrument, as it was added to the index.
    pub fn instrument(&self) -> Instrument {
        self.decoded().expect("the bytes were checked")
    }

    /// The other names and then the aliases of the instrument.
    pub(crate) fn known_as(&self) -> Vec<KnownAs> {
        KnownAs::of(&self.instrument()).collect()
    }

    /// The rank of the instrument as a number ([`Document::rank`](super::Document::rank)).
    pub fn rank_number(&self) -> u64 {
        u64_at(&self.bytes, 0)
    }

    /// The rank of the instrument.
    pub(crate) fn rank(&self) -> Rank {
        Rank::of_sort_key(u64_at(&self.bytes, 0))
    }

    /// Whether the instrument is the best listing of its security, and a home listing.
    pub(crate) fn standing(&self) -> Standing {
        Standing::from_bits(self.bytes[STANDING])
    }

    /// The instrument's value of a property.
    pub fn property(&self, property: Property) -> Option<String> {
        match Field::from_name(property.field_name()) {
            Some(field) => self.row().value(field).map(|value| value.to_string()),
            None => self.instrument().properties[property as usize].take(),
        }
    }

    fn decoded(&self) -> Option<Instrument> {
        let mut instrument = Instrument::decode(&self.bytes[self.row_end..])?;
        let row = self.row();
        instrument.complete(&row);
        instrument.importance = match u64_at(&self.bytes, IMPORTANCE) {
            NO_IMPORTANCE => None,
            bits => Some(Importance::from_bits(bits)?),
        };
        (instrument.figi == row.figi()).then_some(instrument)
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored({})", self.row().figi())
    }
}

/// The instruments of an answer, in any order. A [`Hit`] of the answer is the place of one of them.
#[derive(Clone, Debug, Default)]
pub struct Fetched(Vec<Stored>);

impl Fetched {
    /// Adds an instrument, and returns its hit.
    pub fn add(&mut self, stored: Stored) -> Hit {
        self.0.push(stored);
        Hit { part: 0, doc: self.0.len() as u32 - 1 }
    }

    /// The identifiers of rows, for the columns of a list's answer. Columns of symbols stay empty:
    /// a symbol is read back before it is shown, which needs the index.
    ///
    /// # Panics
    /// When another answer returned a hit.
    pub fn crosswalk(&self, hits: &[Hit], columns: ListColumns<'_>) -> Crosswalk {
        let (mut crosswalk, mut sorted) = (Crosswalk::default(), hits.to_vec());
        sorted.sort_unstable();
        sorted.dedup();
        for hit in sorted {
            let instrument = self.stored(hit).instrument();
            let identifiers = instrument.identifiers.iter();
            let identifiers = identifiers.map(|one| (one.id_type(), one.as_str()));
            crosswalk.add(hit, |field| instrument.field(field), identifiers, columns);
        }
        crosswalk
    }

    /// The instrument of a hit.
    ///
    /// # Panics
    /// When another answer returned the hit.
    pub fn stored(&self, hit: Hit) -> &Stored {
        &self.0[hit.doc as usize]
    }
}

impl RowSource for Fetched {
    fn row(&self, hit: Hit) -> Row<'_> {
        self.stored(hit).row()
    }

    fn mic_code(&self, hit: Hit) -> Option<Cow<'_, str>> {
        self.stored(hit).property(Property::MicCode).map(Cow::Owned)
    }

    fn is_best_listing(&self, hit: Hit) -> bool {
        self.stored(hit).standing().is_best
    }
}
