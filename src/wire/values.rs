//! The answer of the values endpoint (contract 7).

use super::json::{array, string};

/// Writes the object with the list of values (contract 7.3).
pub(crate) fn values<'a>(values: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let values: Vec<_> = values.collect();
    let mut out = b"{\"values\":".to_vec();
    array(&mut out, &values, |out, value| string(out, value));
    out.push(b'}');
    out
}
