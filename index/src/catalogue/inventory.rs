//! The contents of an index in numbers: how many instruments have each field, and how often each
//! value of an enum-like property occurs.

use std::collections::BTreeMap;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::instrument::attribute::Attribute;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::Property;
use crate::part::rows::{Field, Row};

/// The counts of a generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The number of instruments that have each value of each property.
    pub values: BTreeMap<Property, BTreeMap<String, u64>>,
    /// For the FIGI, each attribute, each property and each idType: its name in a request, and the
    /// number of instruments that have it.
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
        // An attribute that is a field of a result row is counted in the row: the extras lack it.
        let in_row = Attribute::ALL.iter().map(|attribute| Field::from_name(attribute.name()));
        let attributes: Vec<_> = Attribute::ALL.iter().copied().zip(in_row).collect();
        let mut of_attributes = [0; Attribute::ALL.len()];
        let mut of_id_types = [0; IdType::ALL.len()];
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let path = entry.path(&self.generation.path);
            part.for_each_apart(
                &path,
                |_| true,
                |_, row, extras| {
                    for (count, (attribute, in_row)) in of_attributes.iter_mut().zip(&attributes) {
                        *count += u64::from(match in_row {
                            Some(field) => row.value(*field).is_some(),
                            None => extras.value(*attribute).is_some(),
                        });
                    }
                    let mut has_identifier = identifiers_in_row(row);
                    for identifier in &extras.identifiers {
                        has_identifier[identifier.id_type() as usize] = true;
                    }
                    for (count, has) in of_id_types.iter_mut().zip(has_identifier) {
                        *count += u64::from(has);
                    }
                    Ok::<_, Error>(())
                },
            )?;
        }
        let of_attributes = Attribute::ALL.iter().map(|one| one.name()).zip(of_attributes);
        let properties =
            values.iter().map(|(property, values)| (property.name(), values.values().sum()));
        let id_types = IdType::ALL.map(IdType::name).into_iter().zip(of_id_types);
        let figi = std::iter::once(("figi", self.manifest().instruments));
        let filled = figi.chain(of_attributes).chain(properties).chain(id_types).collect();
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

/// For each idType: whether the row shows that a mapping job of this idType finds the instrument.
fn identifiers_in_row(row: Row<'_>) -> [bool; IdType::ALL.len()] {
    let mut has = [false; IdType::ALL.len()];
    has[IdType::BbGlobal as usize] = true;
    has[IdType::CompositeBbGlobal as usize] = row.composite_figi().is_some();
    has[IdType::ShareClassBbGlobal as usize] = row.share_class_figi().is_some();
    has[IdType::Ticker as usize] = row.ticker().is_some();
    has
}
