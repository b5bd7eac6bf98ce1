//! The data for the peers: two CSV files made from a Figdex index, so that all engines have the same
//! instruments and the same given and derived identifiers.
//!
//! The files have the order that a peer loads fastest: instruments by FIGI, identifiers by kind and
//! value. The time of writing them is not counted for the peers.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Result;
use figdex_index::{Catalogue, Instrument, Property};

/// A column of the table `instrument`. The first column is `id`, the place in FIGI order, from 0.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) is_number: bool,
    value: fn(&Instrument) -> Option<Cow<'_, str>>,
}

macro_rules! texts {
    ($($name:literal: $value:expr;)*) => {
        [$(Column { name: $name, is_number: false, value: $value },)*]
    };
}

/// The ten fields of a result row, in the order of an answer.
pub(crate) const RESULT: [Column; 10] = texts! {
    "figi": |i| Some(i.figi.to_string().into());
    "name": |i| i.name.as_deref().map(Into::into);
    "ticker": |i| i.ticker.as_deref().map(Into::into);
    "exch_code": |i| i.property(Property::ExchCode).map(Into::into);
    "composite_figi": |i| i.composite_figi.map(|figi| figi.to_string().into());
    "security_type": |i| i.property(Property::SecurityType).map(Into::into);
    "market_sector": |i| i.property(Property::MarketSecDes).map(Into::into);
    "share_class_figi": |i| i.share_class_figi.map(|figi| figi.to_string().into());
    "security_type2": |i| i.property(Property::SecurityType2).map(Into::into);
    "security_description": |i| i.security_description.as_deref().map(Into::into);
};

/// Further texts of an instrument.
pub(crate) const FURTHER: [Column; 10] = texts! {
    "mic_code": |i| i.property(Property::MicCode).map(Into::into);
    "currency": |i| i.property(Property::Currency).map(Into::into);
    "option_type": |i| i.property(Property::OptionType).map(Into::into);
    "state_code": |i| i.property(Property::StateCode).map(Into::into);
    "expiration": |i| i.expiration.map(|date| date.to_string().into());
    "maturity": |i| i.maturity.map(|date| date.to_string().into());
    "listed": |i| i.listed.map(|listed| listed.to_string().into());
    "unique_id": |i| i.unique_id.as_deref().map(Into::into);
    "unique_id_fut_opt": |i| i.unique_id_fut_opt.as_deref().map(Into::into);
    "words": |i| Some(i.words().collect::<Vec<_>>().join(" ").into());
};

/// The numbers of an instrument.
pub(crate) const NUMBERS: [Column; 3] = [
    Column { name: "strike", is_number: true, value: |i| number(i.strike) },
    Column { name: "contract_size", is_number: true, value: |i| number(i.contract_size) },
    Column { name: "coupon", is_number: true, value: |i| number(i.coupon) },
];

fn number(value: Option<f64>) -> Option<Cow<'static, str>> {
    value.map(|number| number.to_string().into())
}

/// All columns except `id`.
pub(crate) fn columns() -> impl Iterator<Item = &'static Column> {
    RESULT.iter().chain(&FURTHER).chain(&NUMBERS)
}

/// The column of a property.
pub(crate) const fn column_of(property: Property) -> &'static str {
    match property {
        Property::ExchCode => "exch_code",
        Property::MicCode => "mic_code",
        Property::Currency => "currency",
        Property::MarketSecDes => "market_sector",
        Property::SecurityType => "security_type",
        Property::SecurityType2 => "security_type2",
        Property::OptionType => "option_type",
        Property::StateCode => "state_code",
    }
}

/// The two files. They have no header, and an empty cell is an unknown value.
pub(crate) struct Files {
    /// `id` and then [`columns`].
    pub(crate) instruments: PathBuf,
    /// The code of the idType, the value, and the `id` of the instrument.
    pub(crate) identifiers: PathBuf,
}

impl Files {
    pub(crate) fn write(catalogue: &Catalogue, folder: &Path) -> Result<Self> {
        let instruments = folder.join("instruments.csv");
        let identifiers = folder.join("identifiers.csv");
        let mut out = csv::WriterBuilder::new().has_headers(false).from_path(&instruments)?;
        let mut keys: Vec<(u8, Box<str>, u32)> = Vec::new();
        let mut id = 0;
        catalogue.instruments(|instrument| {
            out.write_field(id.to_string())?;
            for column in columns() {
                // The peers load an empty field as NULL.
                out.write_field((column.value)(instrument).unwrap_or_default().as_bytes())?;
            }
            out.write_record(None::<&[u8]>)?;
            keys.extend(
                instrument.keys().map(|key| (key.id_type() as u8, key.as_str().into(), id)),
            );
            id += 1;
            anyhow::Ok(())
        })?;
        out.flush()?;
        keys.sort_unstable();
        keys.dedup();
        let mut out = csv::WriterBuilder::new().has_headers(false).from_path(&identifiers)?;
        for (kind, value, id) in keys {
            out.write_record([&kind.to_string(), &*value, &id.to_string()])?;
        }
        out.flush()?;
        Ok(Self { instruments, identifiers })
    }
}
