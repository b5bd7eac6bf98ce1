//! The metrics of an index that is a copy of one in object storage.

use figdex_storage::Following;
use prometheus_client::registry::{Registry, Unit};

use super::family::{counters, gauges};

/// Adds the metrics of a copy.
pub(super) fn register(page: &mut Registry, status: &Following) {
    let one = |value: u64| counters::<String, 0>([([], value)]);
    let now = |value: u64| gauges::<String, 0>([([], value)]);
    if let Some(published) = status.published {
        let help = "Number of the generation that is published in object storage";
        page.register("storage_published_generation", help, now(published));
    }
    let help = "Time since the copy was last known to be what is published; 0 while it is";
    let behind = now(status.behind().as_secs());
    page.register_with_unit("storage_behind", help, Unit::Seconds, behind);
    let help = "Number of looks at object storage that failed, or found what is refused";
    page.register("storage_failures", help, one(status.failures));
    let help = "Bytes that were fetched from object storage";
    page.register_with_unit("storage_fetched", help, Unit::Bytes, one(status.fetched_bytes));
    let help = "Bytes of the published generation that are still to be fetched";
    page.register_with_unit("storage_missing", help, Unit::Bytes, now(status.missing_bytes));
    let help = "Bytes of new generations that the copy had already";
    page.register_with_unit("storage_reused", help, Unit::Bytes, one(status.reused_bytes));
}
