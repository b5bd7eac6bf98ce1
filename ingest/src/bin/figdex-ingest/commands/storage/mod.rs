//! The commands over an index in object storage.

#[cfg(not(feature = "object-storage"))]
mod absent;
#[cfg(feature = "object-storage")]
mod present;

#[cfg(not(feature = "object-storage"))]
pub(super) use self::absent::{inspect, publish, rollback, verify};
#[cfg(feature = "object-storage")]
pub(super) use self::present::{inspect, publish, rollback, verify};
