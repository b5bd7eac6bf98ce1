//! The number of instruments of a generation that have a value in each column, for its manifest: a
//! column that a dump has lost is noticed without reading the generation before.

use std::collections::BTreeMap;

use crate::instrument::Instrument;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::Property;

/// The name of a column that is neither a property nor an identifier, and a test whether an
/// instrument has a value in it.
type HasField = (&'static str, fn(&Instrument) -> bool);

const FIELDS: [HasField; 14] = [
    ("compositeFIGI", |one| one.composite_figi.is_some()),
    ("shareClassFIGI", |one| one.share_class_figi.is_some()),
    ("ticker", |one| one.ticker.is_some()),
    ("name", |one| one.name.is_some()),
    ("securityDescription", |one| one.security_description.is_some()),
    ("metadata", |one| one.metadata.is_some()),
    ("uniqueID", |one| one.unique_id.is_some()),
    ("uniqueIDFutOpt", |one| one.unique_id_fut_opt.is_some()),
    ("strike", |one| one.strike.is_some()),
    ("contractSize", |one| one.contract_size.is_some()),
    ("coupon", |one| one.coupon.is_some()),
    ("expiration", |one| one.expiration.is_some()),
    ("maturity", |one| one.maturity.is_some()),
    ("listed", |one| one.listed.is_some()),
];

/// Counts the instruments that have each column.
#[derive(Default)]
pub(super) struct Filled {
    fields: [u64; FIELDS.len()],
    properties: [u64; Property::COUNT],
    id_types: [u64; IdType::ALL.len()],
}

impl Filled {
    pub(super) fn add(&mut self, instrument: &Instrument) {
        for (count, (_, has)) in self.fields.iter_mut().zip(FIELDS) {
            *count += u64::from(has(instrument));
        }
        for property in Property::ALL {
            let has = instrument.property(property).is_some();
            self.properties[property as usize] += u64::from(has);
        }
        let mut has_identifier = [false; IdType::ALL.len()];
        for identifier in &instrument.identifiers {
            has_identifier[identifier.id_type() as usize] = true;
        }
        for (count, has) in self.id_types.iter_mut().zip(has_identifier) {
            *count += u64::from(has);
        }
    }

    /// The counts by the name that the column has in a dump, without empty columns.
    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        let fields = FIELDS.map(|(name, _)| name).into_iter().zip(self.fields);
        let properties = Property::ALL
            .into_iter()
            .map(|property| (property.field_name(), self.properties[property as usize]));
        let id_types = IdType::ALL
            .into_iter()
            .map(|id_type| (id_type.name(), self.id_types[id_type as usize]));
        let all = fields.chain(properties).chain(id_types).filter(|(_, count)| *count > 0);
        all.map(|(name, count)| (name.to_owned(), count)).collect()
    }
}
