//! The metrics of the calls to a cluster.

use std::fmt::Error;

use figdex_opensearch::client::{Client, HostState, LATENCY_BUCKETS};
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use super::family::{counters, gauges};

/// Registers the metrics of a cluster: whether it answers, and the calls to its hosts.
pub(super) fn register(page: &mut Registry, answers: bool, client: &Client) {
    let (answers, hosts) = (u64::from(answers), client.hosts());
    let help = "1 while the cluster answers for the whole served index, else 0";
    page.register("opensearch_index_answers", help, gauges::<String, 0>([([], answers)]));
    let of = |name: &str| [("host", name.to_owned())];
    let failing = hosts.iter().map(|host| (of(&host.name), u64::from(host.is_failing)));
    let help = "1 since a host of the cluster gave no answer until it gives one, else 0";
    page.register("opensearch_host_failing", help, gauges(failing));
    let failed = hosts.iter().map(|host| (of(&host.name), host.failed));
    let help = "Number of calls to a host of the cluster that got no answer";
    page.register("opensearch_failures", help, counters(failed));
    let help = "Number of calls that were made again with another host of the cluster";
    page.register("opensearch_repeats", help, counters::<String, 0>([([], client.repeated())]));
    let help = "Time of calls to a host of the cluster";
    page.register_with_unit("opensearch_call_duration", help, Unit::Seconds, Durations(hosts));
}

/// The histograms of the times of calls, one for each host.
#[derive(Debug)]
struct Durations(Vec<HostState>);

impl EncodeMetric for Durations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), Error> {
        for host in &self.0 {
            let bounds = LATENCY_BUCKETS.into_iter().chain([f64::MAX]);
            let buckets: Vec<(f64, u64)> = bounds.zip(host.latency).collect();
            let labels = [("host", &*host.name)];
            let mut of_host = encoder.encode_family(&labels)?;
            let count = host.latency.iter().sum();
            of_host.encode_histogram::<NoLabelSet>(host.seconds, count, &buckets, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
