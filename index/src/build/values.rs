//! The values of the enum-like properties that a generation allows. The manifest lists them all, so
//! it has room for some thousand. More values than that come from a column that is not the column
//! of a property.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::generation::manifest::{MANIFEST_BYTES_MAX, SIGNS_MAX, signs};
use crate::instrument::vocabulary::Property;

/// The signs around a value in a list of the manifest: two quotes, a comma and a blank.
const SIGNS_AROUND: usize = 4;

/// The values of each property.
#[derive(Default)]
pub(super) struct PropertyValues {
    of_properties: [BTreeSet<String>; Property::COUNT],
    /// The bytes that all values take in the manifest; `signs` counts their signs there.
    bytes: usize,
    signs: usize,
}

impl PropertyValues {
    pub(super) fn add(&mut self, property: Property, value: &str) {
        let values = &mut self.of_properties[property as usize];
        if !values.contains(value) {
            values.insert(value.to_owned());
            self.bytes += value.len() + SIGNS_AROUND;
            self.signs += signs(value) + SIGNS_AROUND;
        }
    }

    /// Checks that the values alone fit into a manifest.
    ///
    /// # Errors
    /// [`Error::TooManyValues`].
    pub(super) fn check(&self) -> Result<()> {
        match self.bytes <= MANIFEST_BYTES_MAX && self.signs <= SIGNS_MAX {
            true => Ok(()),
            false => Err(self.too_many()),
        }
    }

    /// If the manifest is too large and the values take more than half of its room, the error that
    /// there are too many values. Any other error stays as it is.
    pub(super) fn blamed(&self, error: Error) -> Error {
        let is_most = self.bytes > MANIFEST_BYTES_MAX / 2 || self.signs > SIGNS_MAX / 2;
        match error {
            Error::ManifestTooLarge(_) if is_most => self.too_many(),
            error => error,
        }
    }

    fn too_many(&self) -> Error {
        let counts =
            Property::ALL.map(|property| (self.of_properties[property as usize].len(), property));
        let values = counts.iter().map(|(count, _)| count).sum::<usize>();
        let most = counts.iter().max_by_key(|(count, _)| *count).expect("there are properties");
        let by_bytes = values * MANIFEST_BYTES_MAX / self.bytes.max(1);
        let by_signs = values * SIGNS_MAX / self.signs.max(1);
        Error::TooManyValues {
            values,
            room: by_bytes.min(by_signs),
            of_one: most.0,
            property: most.1.name(),
        }
    }

    /// All values, by the name of their property.
    pub(super) fn lists(&self) -> BTreeMap<String, Vec<String>> {
        let lists = Property::ALL.map(|property| {
            let values = &self.of_properties[property as usize];
            (property.name().to_owned(), values.iter().cloned().collect())
        });
        lists.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The room that values take is counted as a manifest writes them.
    #[test]
    fn values_are_counted_as_they_are_written() {
        let text = |values: &PropertyValues| toml::to_string(&values.lists()).unwrap();
        let mut values = PropertyValues::default();
        values.add(Property::SecurityType, "Common Stock");
        let (before, empty) = (text(&values), (values.bytes, values.signs));
        for number in 0..1_000 {
            values.add(Property::SecurityType, &format!("A-{number} b"));
            values.add(Property::SecurityType, "Common Stock");
        }
        let after = text(&values);
        assert_eq!(after.len() - before.len(), values.bytes - empty.0);
        assert_eq!(signs(&after) - signs(&before), values.signs - empty.1);
        values.check().unwrap();
        for number in 0..30_000 {
            values.add(Property::ExchCode, &number.to_string());
        }
        let error = values.check().unwrap_err().to_string();
        assert!(error.contains("31001 different values of properties, 30000 of them of exchCode"));
        assert!(error.contains("room for about 2"), "{error}");
    }
}
