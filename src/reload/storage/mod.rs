//! An index in object storage: the copy on this machine, which is served, and following what is
//! published.

#[cfg(not(feature = "object-storage"))]
mod absent;
#[cfg(feature = "object-storage")]
mod present;

#[cfg(not(feature = "object-storage"))]
pub(crate) use self::absent::{Replica, follow, open};
#[cfg(feature = "object-storage")]
pub(crate) use self::present::{Replica, follow, open};
