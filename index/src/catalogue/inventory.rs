//! The contents of an index in numbers: how many instruments have each field, and how often each
//! value of an enum-like property occurs.

use std::collections::BTreeMap;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::Property;

/// The counts of a generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The number of instruments that have each value of each property.
    pub values: BTreeMap<Property, BTreeMap<String, u64>>,
    /// The number of instruments that have each field. The fields of the contract come first, by
    /// their names there; the others have the names of the fields of [`Instrument`].
    ///
    /// [`Instrument`]: crate::Instrument
    pub filled: Vec<(&'static str, u64)>,
}

impl Catalogue {
    /// Counts the instruments of the generation.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn inventory(&self) -> Result<Inventory> {
        let mut inventory = Inventory::default();
        for property in Property::ALL {
            inventory.values.insert(property, BTreeMap::new());
        }
        let mut filled: BTreeMap<&'static str, u64> = BTreeMap::new();
        self.instruments(|instrument| {
            let mut fill = |name, has: bool| {
                if has {
                    *filled.entry(name).or_default() += 1;
                }
            };
            for (name, has) in FIELDS {
                fill(name, has(instrument));
            }
            for id_type in IdType::ALL {
                fill(id_type.name(), has_identifier(instrument, id_type));
            }
            for property in Property::ALL {
                let value = instrument.property(property);
                fill(property.name(), value.is_some());
                let values = inventory.values.get_mut(&property).expect("all were put in above");
                match value.map(|value| (value, values.get_mut(value))) {
                    Some((_, Some(count))) => *count += 1,
                    Some((value, None)) => _ = values.insert(value.to_owned(), 1),
                    None => {}
                }
            }
            Ok::<_, Error>(())
        })?;
        let fields = FIELDS.into_iter().map(|(name, _)| name);
        let properties = Property::ALL.map(Property::name);
        let names = fields.chain(properties).chain(IdType::ALL.map(IdType::name));
        let count = |name| (name, filled.get(name).copied().unwrap_or(0));
        inventory.filled = names.map(count).collect();
        Ok(inventory)
    }
}

/// The name of a field that is neither a property nor an identifier, and a test whether an
/// instrument has it.
type HasField = (&'static str, fn(&Instrument) -> bool);

const FIELDS: [HasField; 17] = [
    ("figi", |_| true),
    ("compositeFIGI", |instrument| instrument.composite_figi.is_some()),
    ("shareClassFIGI", |instrument| instrument.share_class_figi.is_some()),
    ("ticker", |instrument| instrument.ticker.is_some()),
    ("name", |instrument| instrument.name.is_some()),
    ("securityDescription", |instrument| instrument.security_description.is_some()),
    ("metadata", |instrument| instrument.metadata.is_some()),
    ("uniqueID", |instrument| instrument.unique_id.is_some()),
    ("uniqueIDFutOpt", |instrument| instrument.unique_id_fut_opt.is_some()),
    ("strike", |instrument| instrument.strike.is_some()),
    ("contractSize", |instrument| instrument.contract_size.is_some()),
    ("coupon", |instrument| instrument.coupon.is_some()),
    ("expiration", |instrument| instrument.expiration.is_some()),
    ("maturity", |instrument| instrument.maturity.is_some()),
    ("listed", |instrument| instrument.listed.is_some()),
    ("importance", |instrument| instrument.importance.is_some()),
    ("alias", |instrument| !instrument.alias.is_empty()),
];

/// Whether some mapping job with that idType finds the instrument.
fn has_identifier(instrument: &Instrument, id_type: IdType) -> bool {
    match id_type {
        IdType::BbGlobal => true,
        IdType::CompositeBbGlobal => instrument.composite_figi.is_some(),
        IdType::ShareClassBbGlobal => instrument.share_class_figi.is_some(),
        IdType::Ticker => instrument.ticker.is_some(),
        id_type => instrument.identifiers_of(id_type).next().is_some(),
    }
}
