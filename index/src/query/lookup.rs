//! The question of a mapping job.

use std::sync::Arc;

use super::Filters;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::Property;

/// An identifier that rows must carry, and filters that they must pass.
///
/// A request has up to a hundred lookups, so a lookup is small and borrows what it can.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup<'a> {
    /// The identifier, with its idType.
    pub id_value: IdValue<'a>,
    /// `None` for most jobs. Shared, since all lookups of a list may have the same filters.
    filters: Option<Arc<Filters>>,
}

impl<'a> Lookup<'a> {
    /// A lookup. `None` for the filters means [`Filters::default`].
    pub fn new(id_value: IdValue<'a>, filters: impl Into<Option<Filters>>) -> Self {
        Self { id_value, filters: filters.into().map(Arc::new) }
    }

    /// A lookup with the filters of others. `None` means [`Filters::default`].
    pub fn sharing(id_value: IdValue<'a>, filters: Option<Arc<Filters>>) -> Self {
        Self { id_value, filters }
    }

    /// A lookup of another identifier with the same filters.
    pub(crate) fn with<'b>(&self, id_value: IdValue<'b>) -> Lookup<'b> {
        Lookup { id_value, filters: self.filters.clone() }
    }

    /// A lookup of the same identifier that every row passes.
    pub(crate) fn without_filters(&self) -> Lookup<'_> {
        let all = Filters { include_unlisted_equities: true, ..Filters::default() };
        Lookup::new(self.id_value.borrowed(), all)
    }

    /// The same lookup with its own copy of the identifier.
    pub fn into_owned(self) -> Lookup<'static> {
        let Self { id_value, filters } = self;
        Lookup { id_value: id_value.into_owned(), filters }
    }

    /// The filters; `None` means [`Filters::default`].
    pub fn filters(&self) -> Option<&Filters> {
        self.filters.as_deref()
    }
}

/// Checks that a mapping job has the properties that its idType and its `securityType2` require
/// (contract 4.12 to 4.14). `kind` is the `securityType2`. `has_dates` says whether the job has an
/// expiration, and whether it has a maturity.
///
/// # Errors
/// When a required property is missing: the message of the contract.
pub fn check_required(
    id_type: IdType,
    is_given: impl Fn(Property) -> bool,
    kind: Option<&str>,
    has_dates: [bool; 2],
) -> Result<(), String> {
    let is_indistinct = matches!(id_type, IdType::BaseTicker | IdType::ExchSymbol);
    if is_indistinct && !is_given(Property::SecurityType2) && !is_given(Property::MarketSecDes) {
        let name = id_type.name();
        return Err(format!("securityType2 or marketSecDes is required when idType is {name}."));
    }
    let [has_expiration, has_maturity] = has_dates;
    match kind {
        Some(kind @ ("Option" | "Warrant")) if !has_expiration => {
            Err(format!("expiration is required when securityType2 is {kind}."))
        }
        Some("Pool") if !has_maturity => {
            Err("maturity is required when securityType2 is Pool.".to_owned())
        }
        _ => Ok(()),
    }
}
