//! By what a row to enrich with finds its instruments, and what it may give them.
//!
//! A FIGI, or an exchange code with a ticker, names a **listing**: whatever else
//! the row says is said of that listing. An ISIN or a CUSIP names an **issue**,
//! which trades on many venues, each with a row of its own. So what belongs to a
//! venue must not be carried by an ISIN to the other venues: exchCode, micCode,
//! ticker and currency (each line is quoted in its own), the composite FIGI, the
//! description and the symbols that are made of the ticker, SEDOL (one for each
//! market), the vendor's uniqueID (one for each row), whether it is listed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use figdex_index::{Figi, IdType, Instrument, Property};

use crate::row::Column;

/// What an instrument is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    Figi(Figi),
    Isin(&'a str),
    Cusip(&'a str),
    Listing { exch_code: &'a str, ticker: &'a str },
}

/// What a key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Every row of a security that carries the identifier.
    Issue,
    /// A row.
    Listing,
}

impl Key<'_> {
    pub(super) fn level(self) -> Level {
        match self {
            Key::Isin(_) | Key::Cusip(_) => Level::Issue,
            Key::Figi(_) | Key::Listing { .. } => Level::Listing,
        }
    }

    /// The same for the same key, always.
    pub(super) fn hash64(self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// The keys of an instrument, except its FIGI.
pub(super) fn keys(instrument: &Instrument) -> impl Iterator<Item = Key<'_>> {
    let issue = instrument.identifiers.iter().filter_map(|value| match value.id_type() {
        IdType::Isin => Some(Key::Isin(value.as_str())),
        IdType::Cusip => Some(Key::Cusip(value.as_str())),
        _ => None,
    });
    let exch_code = instrument.property(Property::ExchCode);
    let listing = exch_code.zip(instrument.ticker.as_deref());
    issue.chain(listing.map(|(exch_code, ticker)| Key::Listing { exch_code, ticker }))
}

/// The security that an instrument is a row of: its share class, else its
/// composite, else itself.
pub(super) fn security(instrument: &Instrument) -> Figi {
    instrument.share_class_figi.or(instrument.composite_figi).unwrap_or(instrument.figi)
}

/// Whether a key of that level may give the column.
pub(super) fn gives(level: Level, column: Column) -> bool {
    level == Level::Listing || is_of_issue(column)
}

/// Whether all rows of a security have the same in the column.
fn is_of_issue(column: Column) -> bool {
    match column {
        Column::ShareClassFigi
        | Column::Name
        | Column::Strike
        | Column::ContractSize
        | Column::Coupon
        | Column::Expiration
        | Column::Maturity
        | Column::Alias => true,
        Column::Figi
        | Column::CompositeFigi
        | Column::Ticker
        | Column::SecurityDescription
        | Column::Listed
        | Column::Metadata
        | Column::UniqueId
        | Column::UniqueIdFutOpt => false,
        Column::Property(property) => match property {
            Property::MarketSecDes
            | Property::SecurityType
            | Property::SecurityType2
            | Property::OptionType
            | Property::StateCode => true,
            Property::ExchCode | Property::MicCode | Property::Currency => false,
        },
        Column::Identifier(id_type) => matches!(
            id_type,
            IdType::Isin
                | IdType::Cusip
                | IdType::Cusip8
                | IdType::Cins
                | IdType::Wertpapier
                | IdType::Common
                | IdType::Italy
                | IdType::Occ
                | IdType::Opra
                | IdType::VendorIndexCode
                | IdType::Trace
        ),
    }
}
