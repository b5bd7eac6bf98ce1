//! Questions, as types: they can be built, printed and compared without an index.
//! What may be asked is settled here; how it is answered is the catalogue's affair.

mod filters;
mod lookup;

pub use filters::{Filters, KnownValues};
pub use lookup::Lookup;
