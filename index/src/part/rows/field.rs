//! The fields of a result row by their names, for callers that choose among them.

use super::json_text::escape;
use super::{Row, Text};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Property;

macro_rules! fields {
    ($($variant:ident = $name:literal, $doc:literal;)*) => {
        /// A field of a result row (contract 12.3 to 12.5), in the order of a row of v3. Fields
        /// that only some rows or versions have come last.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = $doc] $variant,)*
        }

        impl Field {
            /// All fields.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name of the field in a row's JSON object.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name as a member of a JSON object: in quotes, with a colon.
            pub const fn json_key(self) -> &'static str {
                match self { $(Self::$variant => concat!("\"", $name, "\":"),)* }
            }
        }
    };
}

fields! {
    Figi = "figi", "The FIGI of the row itself.";
    Name = "name", "The name of the security.";
    Ticker = "ticker", "The ticker.";
    ExchCode = "exchCode", "The exchange code.";
    CompositeFigi = "compositeFIGI", "The composite FIGI.";
    SecurityType = "securityType", "The security type.";
    MarketSector = "marketSector", "The market sector.";
    ShareClassFigi = "shareClassFIGI", "The share class FIGI.";
    SecurityType2 = "securityType2", "The alternative security type.";
    SecurityDescription = "securityDescription", "The description of the security.";
    UniqueId = "uniqueID", "The unique ID of v2 and v1.";
    UniqueIdFutOpt = "uniqueIDFutOpt", "The unique ID of a future or option of v2 and v1.";
    Metadata = "metadata", "The note on a row whose attributes are not available.";
}

/// The value of a field.
#[derive(Clone, Copy)]
pub enum FieldValue<'a> {
    /// A FIGI, whose characters need no escape.
    Figi(Figi),
    /// A text of a row of the index.
    Text(Text<'a>),
    /// A text of a row that is not in the index.
    Plain(&'a str),
}

impl Field {
    /// The field with this name; letter case counts.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.name() == name)
    }

    /// Whether the past has the field (contract 20.2).
    pub(crate) fn has_past(self) -> bool {
        !matches!(self, Self::UniqueId | Self::UniqueIdFutOpt | Self::Metadata)
    }

    /// The ten members of every row of v3, in their order (contract 12.3).
    pub fn of_every_row() -> &'static [Self] {
        &Self::ALL[..10]
    }
}

impl<'a> Row<'a> {
    /// The value of a field; `None` where unknown.
    pub fn value(self, field: Field) -> Option<FieldValue<'a>> {
        match field {
            Field::Figi => Some(FieldValue::Figi(self.figi())),
            Field::CompositeFigi => self.composite_figi().map(FieldValue::Figi),
            Field::ShareClassFigi => self.share_class_figi().map(FieldValue::Figi),
            Field::Name => self.name().map(FieldValue::Text),
            Field::Ticker => self.ticker().map(FieldValue::Text),
            Field::ExchCode => self.exch_code().map(FieldValue::Text),
            Field::SecurityType => self.security_type().map(FieldValue::Text),
            Field::MarketSector => self.market_sector().map(FieldValue::Text),
            Field::SecurityType2 => self.security_type2().map(FieldValue::Text),
            Field::SecurityDescription => self.security_description().map(FieldValue::Text),
            Field::UniqueId => self.unique_id().map(FieldValue::Text),
            Field::UniqueIdFutOpt => self.unique_id_fut_opt().map(FieldValue::Text),
            Field::Metadata => self.metadata().map(FieldValue::Text),
        }
    }
}

impl Instrument {
    /// The value of a field of its row; `None` where unknown.
    pub fn field(&self, field: Field) -> Option<FieldValue<'_>> {
        let text = match field {
            Field::Figi => return Some(FieldValue::Figi(self.figi)),
            Field::CompositeFigi => return self.composite_figi.map(FieldValue::Figi),
            Field::ShareClassFigi => return self.share_class_figi.map(FieldValue::Figi),
            Field::Name => self.name.as_deref(),
            Field::Ticker => self.ticker.as_deref(),
            Field::ExchCode => self.property(Property::ExchCode),
            Field::SecurityType => self.property(Property::SecurityType),
            Field::MarketSector => self.property(Property::MarketSecDes),
            Field::SecurityType2 => self.property(Property::SecurityType2),
            Field::SecurityDescription => self.security_description.as_deref(),
            Field::UniqueId => self.unique_id.as_deref(),
            Field::UniqueIdFutOpt => self.unique_id_fut_opt.as_deref(),
            Field::Metadata => self.metadata.as_deref(),
        };
        text.map(FieldValue::Plain)
    }
}

impl FieldValue<'_> {
    /// Appends the value in the form that it has inside a JSON string.
    pub fn write_json(self, out: &mut Vec<u8>) {
        match self {
            Self::Figi(figi) => out.extend_from_slice(&figi.to_chars()),
            Self::Text(text) => text.json_pieces().for_each(|piece| out.extend_from_slice(piece)),
            Self::Plain(text) => escape(text, out),
        }
    }
}

impl std::fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Figi(figi) => figi.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Plain(text) => text.fmt(f),
        }
    }
}
