//! The contents of an index in numbers: how many instruments have each field, and how often each
//! value of an enum-like property occurs.

use std::collections::BTreeMap;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::Property;
use crate::part::rows::Row;

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
    /// Counts the instruments of the generation. The values of properties are counted by their
    /// bitmaps, the rest in one pass that copies no text of the rows.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn inventory(&self) -> Result<Inventory> {
        let values = Property::ALL.map(|property| (property, self.counted_values(property)));
        let mut of_fields = [0; FIELDS.len()];
        let mut of_id_types = [0; IdType::ALL.len()];
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let path = entry.path(&self.generation.path);
            part.for_each_apart(&path, |_, row, extras| {
                for (count, (_, has)) in of_fields.iter_mut().zip(FIELDS) {
                    *count += u64::from(has(row, &extras));
                }
                let mut has_identifier = identifiers_in_row(row);
                for identifier in &extras.identifiers {
                    has_identifier[identifier.id_type() as usize] = true;
                }
                for (count, has) in of_id_types.iter_mut().zip(has_identifier) {
                    *count += u64::from(has);
                }
                Ok::<_, Error>(())
            })?;
        }
        let fields = FIELDS.map(|(name, _)| name).into_iter().zip(of_fields);
        let properties =
            values.iter().map(|(property, values)| (property.name(), values.values().sum()));
        let id_types = IdType::ALL.map(IdType::name).into_iter().zip(of_id_types);
        let filled = fields.chain(properties).chain(id_types).collect();
        Ok(Inventory { values: values.into(), filled })
    }

    /// The number of instruments that have each value of a property.
    fn counted_values(&self, property: Property) -> BTreeMap<String, u64> {
        let vocabulary = self.vocabulary();
        let count = |value: &str| {
            let known = vocabulary.admit(property, value)?;
            let bitmaps = self.generation.parts.iter().filter_map(|part| part.bitmaps.of(known));
            let instruments = bitmaps.map(|bitmap| u64::from(bitmap.rows())).sum();
            (instruments > 0).then(|| (value.to_owned(), instruments))
        };
        vocabulary.values(property).filter_map(count).collect()
    }
}

/// The name of a field that is neither a property nor an identifier, and a test whether an
/// instrument has it, by its row and its extras.
type HasField = (&'static str, fn(Row<'_>, &Instrument) -> bool);

const FIELDS: [HasField; 17] = [
    ("figi", |_, _| true),
    ("compositeFIGI", |row, _| row.composite_figi().is_some()),
    ("shareClassFIGI", |row, _| row.share_class_figi().is_some()),
    ("ticker", |row, _| row.ticker().is_some()),
    ("name", |row, _| row.name().is_some()),
    ("securityDescription", |row, _| row.security_description().is_some()),
    ("metadata", |row, _| row.metadata().is_some()),
    ("uniqueID", |row, _| row.unique_id().is_some()),
    ("uniqueIDFutOpt", |row, _| row.unique_id_fut_opt().is_some()),
    ("strike", |_, extras| extras.strike.is_some()),
    ("contractSize", |_, extras| extras.contract_size.is_some()),
    ("coupon", |_, extras| extras.coupon.is_some()),
    ("expiration", |_, extras| extras.expiration.is_some()),
    ("maturity", |_, extras| extras.maturity.is_some()),
    ("listed", |_, extras| extras.listed.is_some()),
    ("importance", |_, extras| extras.importance.is_some()),
    ("alias", |_, extras| !extras.alias.is_empty()),
];

/// For each idType that the row answers, whether some mapping job with it finds the instrument.
fn identifiers_in_row(row: Row<'_>) -> [bool; IdType::ALL.len()] {
    let mut has = [false; IdType::ALL.len()];
    has[IdType::BbGlobal as usize] = true;
    has[IdType::CompositeBbGlobal as usize] = row.composite_figi().is_some();
    has[IdType::ShareClassBbGlobal as usize] = row.share_class_figi().is_some();
    has[IdType::Ticker as usize] = row.ticker().is_some();
    has
}
