//! The keys that match an `--enrich` row to instruments, and the fields that each kind of key
//! may fill.
//!
//! A FIGI, or an exchange code with a ticker, identifies a **listing**. The row may fill any field
//! of it. A share class identifies a **security** over all countries, with an instrument for each
//! listing. A row that matches only by its share class fills the fields that all these listings are
//! sure to share. Any row with a share class gives its importance to all listings of the security.
//! An ISIN or a CUSIP identifies an **issue**, which trades on many venues, with an instrument for
//! each. A row that matches by one of these must not fill fields that differ between venues, such
//! as the ticker, the currency or the SEDOL. The level of each column is in `row/meaning.rs`.

use figdex_index::{Figi, IdType, Instrument, Property};

use crate::row::Column;
pub(super) use crate::row::meaning::Level;

/// A key by which a row is matched to instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::build) enum Key<'a> {
    Figi(Figi),
    Isin(&'a str),
    Cusip(&'a str),
    ShareClass(Figi),
    Listing { exch_code: &'a str, ticker: &'a str },
}

impl Key<'_> {
    /// The level of the instruments that the key identifies.
    pub(super) fn level(self) -> Level {
        match self {
            Key::ShareClass(_) => Level::Security,
            Key::Isin(_) | Key::Cusip(_) => Level::Issue,
            Key::Figi(_) | Key::Listing { .. } => Level::Listing,
        }
    }

    /// The key as bytes. No two keys have the same bytes.
    pub(in crate::build) fn bytes(self) -> Vec<u8> {
        match self {
            Key::Figi(figi) => [b"f", &figi.to_u64().to_le_bytes()[..]].concat(),
            Key::Isin(isin) => [b"i", isin.as_bytes()].concat(),
            Key::Cusip(cusip) => [b"c", cusip.as_bytes()].concat(),
            Key::ShareClass(figi) => [b"s", &figi.to_u64().to_le_bytes()[..]].concat(),
            Key::Listing { exch_code, ticker } => {
                let length = (exch_code.len() as u64).to_le_bytes();
                [b"l", &length[..], exch_code.as_bytes(), ticker.as_bytes()].concat()
            }
        }
    }
}

/// The keys of an instrument, except its FIGI.
pub(in crate::build) fn keys(instrument: &Instrument) -> impl Iterator<Item = Key<'_>> {
    let issue = instrument.identifiers.iter().filter_map(|value| match value.id_type() {
        IdType::Isin => Some(Key::Isin(value.as_str())),
        IdType::Cusip => Some(Key::Cusip(value.as_str())),
        _ => None,
    });
    let exch_code = instrument.property(Property::ExchCode);
    let listing = exch_code.zip(instrument.ticker.as_deref());
    let listing = listing.map(|(exch_code, ticker)| Key::Listing { exch_code, ticker });
    issue.chain(instrument.share_class_figi.map(Key::ShareClass)).chain(listing)
}

/// The security that an instrument belongs to: its share class, else its composite, else the
/// instrument itself.
pub(super) fn security(instrument: &Instrument) -> Figi {
    instrument.share_class_figi.or(instrument.composite_figi).unwrap_or(instrument.figi)
}

/// Whether a key that identifies this level may fill the column.
pub(super) fn gives(level: Level, column: Column) -> bool {
    column.about().level <= level
}
