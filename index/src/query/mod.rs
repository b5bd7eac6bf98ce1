//! Questions, as types: they can be built, printed and compared without an index.
//! What may be asked is settled here; how it is answered is the catalogue's affair.

mod filters;
pub(crate) mod interval;
mod keywords;
mod lookup;
mod search;

pub use self::filters::{Filters, KnownValues, OneOf};
pub(crate) use self::keywords::Word;
pub use self::keywords::{Keywords, QUERY_BYTES_MAX, QueryTooLong};
pub use self::lookup::Lookup;
pub use self::search::{Place, Search};
