//! The question of a mapping job.

use super::Filters;
use crate::id_type::{IdType, IdValue};

/// Which rows carry this identifier and pass these filters?
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The kind of identifier.
    pub id_type: IdType,
    /// A value that `id_type` admitted.
    pub id_value: IdValue,
    /// What narrows the answer.
    pub filters: Filters,
}
