//! The question of a mapping job.

use super::Filters;
use crate::instrument::id_type::IdValue;

/// Which rows carry this identifier and pass these filters?
///
/// A request carries a hundred of them, so a lookup is small and owns nothing that it
/// can borrow.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup<'a> {
    /// The identifier, of the kind that it knows.
    pub id_value: IdValue<'a>,
    /// Most jobs have none.
    filters: Option<Box<Filters>>,
}

impl<'a> Lookup<'a> {
    /// The question; no filters are [`Filters::default`].
    pub fn new(id_value: IdValue<'a>, filters: impl Into<Option<Filters>>) -> Self {
        Self { id_value, filters: filters.into().map(Box::new) }
    }

    /// The same question, independent of the text that it was borrowed from.
    pub fn into_owned(self) -> Lookup<'static> {
        let Self { id_value, filters } = self;
        Lookup { id_value: id_value.into_owned(), filters }
    }

    /// What narrows the answer; `None` stands for [`Filters::default`].
    pub fn filters(&self) -> Option<&Filters> {
        self.filters.as_deref()
    }
}
