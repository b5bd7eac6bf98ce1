//! The types of questions: what may be asked of an index. They are built, printed and compared
//! without one; `catalogue` and `search` answer them.

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
