//! The answer of the values endpoint.

use super::json;
use crate::wire::array;

/// "Values response": the object with its list.
pub(crate) fn values<'a>(values: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let values: Vec<_> = values.collect();
    let mut out = b"{\"values\":".to_vec();
    array(&mut out, &values, |out, value| json::string(out, value));
    out.push(b'}');
    out
}
