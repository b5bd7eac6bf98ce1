//! Questions, as types: they can be built, printed and compared without an index.
//! What may be asked is settled here; how it is answered is the catalogue's affair.

mod filters;
mod keywords;
mod lookup;
mod search;

pub use filters::{Filters, KnownValues, OneOf};
pub(crate) use keywords::Word;
pub use keywords::{Keywords, QUERY_BYTES_MAX, QueryTooLong};
pub use lookup::Lookup;
pub use search::{Place, Search};
