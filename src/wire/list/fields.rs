//! The row fields that a list asks for.

use figdex_index::{Field, Row};

use crate::callers::version::Version;
use crate::wire::{Fault, row};

/// Parses the names of fields.
pub(super) fn parse<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<Field>, Fault> {
    let mut fields: Vec<Field> = Vec::new();
    for name in names.map(str::trim) {
        let field = Field::from_name(name).ok_or_else(|| {
            let names: Vec<_> = Field::ALL.iter().map(|field| field.name()).collect();
            let name: String = name.chars().take(64).collect();
            format!("fields: {name:?} is not a field; the fields are {}.", names.join(", "))
        })?;
        if fields.contains(&field) {
            return Err(format!("fields: {name} is asked for twice.").into());
        }
        fields.push(field);
    }
    Ok(fields)
}

/// Writes a row as an object with these members, null where unknown.
pub(super) fn write_row(fields: &[Field], out: &mut Vec<u8>, row: Row<'_>) {
    // Most lists want the row of v3. Its members are written faster when they are known in advance.
    // But `row::write` would add the `metadata` of a row that has it.
    if fields == Field::of_every_row() && row.metadata().is_none() {
        return row::write(out, Version::V3, row);
    }
    row::object(out, fields, |field| row.value(field), |_| {});
}
