//! The types of the questions to an index. A question can be built, printed and compared without an
//! index; `catalogue` and `search` answer questions.

mod filters;
pub(crate) mod interval;
mod keywords;
mod lookup;
mod search;

pub use self::filters::{Filters, KnownValues, OneOf};
pub(crate) use self::keywords::Word;
pub use self::keywords::{Keywords, QUERY_BYTES_MAX, QueryTooLong};
pub use self::lookup::{Lookup, check_required};
pub use self::search::{Place, Search};
