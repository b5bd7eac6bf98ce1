//! Counters and gauges with labels, built from counts that other modules keep.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelValue;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

/// The type of a label's value: a text that is fixed in the program, or one that is known only at
/// run time, such as the name of a key.
pub(super) trait LabelValue:
    EncodeLabelValue + Clone + Eq + Hash + Debug + Send + Sync + 'static
{
}

impl LabelValue for &'static str {}
impl LabelValue for String {}

/// The names and values of labels.
pub(super) type Labels<V, const N: usize> = [(&'static str, V); N];

pub(super) fn counters<V: LabelValue, const N: usize>(
    counts: impl IntoIterator<Item = (Labels<V, N>, u64)>,
) -> Family<Labels<V, N>, Counter> {
    let family = Family::<Labels<V, N>, Counter>::default();
    for (labels, count) in counts {
        family.get_or_create(&labels).inc_by(count);
    }
    family
}

pub(super) fn gauges<V: LabelValue, const N: usize>(
    values: impl IntoIterator<Item = (Labels<V, N>, u64)>,
) -> Family<Labels<V, N>, Gauge<u64, AtomicU64>> {
    let family = Family::<Labels<V, N>, Gauge<u64, AtomicU64>>::default();
    for (labels, value) in values {
        family.get_or_create(&labels).set(value);
    }
    family
}
