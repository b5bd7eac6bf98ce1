pub mod check_digit;
mod date;
mod error;
mod figi;
mod id_type;
mod instrument;
mod interval;
mod query;
mod vocabulary;

pub use date::{Date, DateError};
pub use error::{Error, Result};
pub use figi::{FIGI_CHARS, Figi, FigiError};
pub use id_type::{FormError, ID_VALUE_BYTES_MAX, IdType, IdValue};
pub use instrument::{EQUITY, Instrument};
pub use interval::{DateInterval, IntervalError, NumberInterval};
pub use query::{Filters, Lookup};
pub use vocabulary::{Known, Property, Vocabulary};
