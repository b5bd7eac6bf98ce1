//! The metrics page: each metric with its help text, in the OpenMetrics text format.
//!
//! Each scrape, a few times a minute, renders the page from the current counts of the other
//! modules, so no count is kept twice. `docs/metrics.md` describes the same metrics.

use std::time::{SystemTime, UNIX_EPOCH};

use figdex_build_info::{COMMIT, VERSION};
use figdex_index::{BuildRecord, BuildResult, Uses};
use figdex_storage::Following;
use jiff::Timestamp;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use super::family::{Labels, counters, gauges};
use super::{cluster, process, storage};
use crate::callers::version::Version;
use crate::capacity::budget::Use;
use crate::observe::metrics::Metrics;
use crate::serve::tls::Tls;
use crate::state::State;

/// Renders the current metrics.
pub(crate) fn render(state: &State) -> String {
    let mut page = Registry::with_prefix("figdex");
    build(&mut page);
    requests(&mut page, state.metrics());
    jobs(&mut page, state.metrics());
    limits(&mut page, state);
    keys(&mut page, state);
    certificate(&mut page, state);
    pools(&mut page, state);
    budgets(&mut page, state);
    index(&mut page, state);
    if let Some(status) = state.copy_status() {
        storage::register(&mut page, &status);
    }
    connections(&mut page, state);
    written(&page)
}

/// Renders the metrics of a server that has no index yet.
pub(crate) fn render_starting(status: &Following) -> String {
    let mut page = Registry::with_prefix("figdex");
    build(&mut page);
    storage::register(&mut page, status);
    written(&page)
}

fn build(page: &mut Registry) {
    let build = [("version", VERSION.to_owned()), ("commit", COMMIT.to_owned())];
    page.register("build_info", "Version of the program; the value is 1", info(build));
}

/// The text of the page, with the metrics of the process.
fn written(page: &Registry) -> String {
    let mut of_process = Registry::with_prefix("process");
    process::register(&mut of_process);
    let mut text = String::new();
    encode_registry(&mut text, page)
        .and_then(|()| encode_registry(&mut text, &of_process))
        .and_then(|()| encode_eof(&mut text))
        .expect("writing into memory does not fail, and no count is beyond 63 bits");
    text
}

fn requests(page: &mut Registry, metrics: &Metrics) {
    let Metrics { requests, request_seconds, rows, requests_in_flight, .. } = metrics;
    page.register("requests", "Number of requests, by route, version and status", requests.clone());
    let help = "Time from a request's head to its answer, by route and version";
    page.register_with_unit("request_duration", help, Unit::Seconds, request_seconds.clone());
    page.register("rows", "Number of instruments in answers, by route and version", rows.clone());
    let help = "Number of requests that are being answered";
    page.register("requests_in_flight", help, requests_in_flight.clone());
}

/// The counts of the results of identifiers. They name idTypes but no identifiers, so that
/// strangers may read them.
fn jobs(page: &mut Registry, metrics: &Metrics) {
    let jobs = metrics.mapping_jobs.counts();
    let jobs = jobs.map(|(id_type, result, n)| ([("id_type", id_type), ("result", result)], n));
    let help = "Number of answered mapping jobs, by idType and result";
    page.register("mapping_jobs", help, counters(jobs));
    let jobs = metrics.list_jobs.counts().map(|(status, n)| ([("status", status)], n));
    page.register("list_jobs", "Number of answered jobs of lists, by status", counters(jobs));
}

fn limits(page: &mut Registry, state: &State) {
    let refusals = state.limiter().map(|limiter| limiter.refusals()).unwrap_or_default();
    let refusals = refusals.into_iter().map(|(version, span, count)| {
        let version = if span.is_unversioned() { "" } else { Version::name(version) };
        ([("version", version), ("window", span.name())], count)
    });
    let help = "Number of requests refused with 429, by the window that was full";
    page.register("rate_limit_refusals", help, counters(refusals));
}

/// The end of the certificate, in seconds since 1970, if clients are served over TLS and the end is
/// known.
fn certificate(page: &mut Registry, state: &State) {
    let Some(end) = state.tls().and_then(Tls::end) else { return };
    let help = "Time at which the certificate expires, or has expired";
    let end = ConstGauge::new(end.as_second());
    page.register("tls_certificate_end_timestamp_seconds", help, end);
}

/// Whether the keys file is refused, if there is one. If only operators read the metrics, also the
/// use of each key, by the name of the key.
fn keys(page: &mut Registry, state: &State) {
    if let Some(is_refused) = state.keys().is_refused() {
        let help = "1 while the keys file cannot be used and the keys before its change stay valid, else 0";
        page.register("keys_refused", help, ConstGauge::new(u64::from(is_refused)));
    }
    if !state.settings().metrics_name_keys {
        return;
    }
    let uses = state.keys().uses();
    let requests = uses.iter().map(|key| ([("key", key.name.clone())], key.requests));
    page.register("key_requests", "Number of requests with a key, by its name", counters(requests));
    let last_used =
        uses.iter().filter_map(|key| Some(([("key", key.name.clone())], key.last_used?)));
    let help = "Time of the last request with a key since the server started, by its name";
    page.register("key_last_used_timestamp_seconds", help, gauges(last_used));
}

fn pools(page: &mut Registry, state: &State) {
    let pools = state.pools();
    let pools = [
        ("answers", pools.answers.load()),
        ("packing", pools.packing.load()),
        ("schema", pools.schema.load()),
        ("instruments", pools.instruments.load()),
        ("parquet", pools.parquet.load()),
    ];
    let each = |value: fn(&crate::capacity::pool::Load) -> u64| {
        pools.iter().map(move |(pool, load)| ([("pool", *pool)], value(load)))
    };
    let help = "Maximum number of heavy tasks of a pool that run at a time";
    page.register("pool_turns", help, gauges(each(|load| load.threads)));
    let help = "Number of running heavy tasks";
    page.register("pool_running", help, gauges(each(|load| load.running)));
    let help = "Number of heavy tasks that have begun and gave their turn to another caller";
    page.register("pool_paused", help, gauges(each(|load| load.paused)));
    let help = "Number of heavy tasks that wait for their first turn";
    page.register("pool_queued", help, gauges(each(|load| load.queued)));
    let help = "Number of heavy tasks that got no first turn in time";
    page.register("pool_refusals", help, counters(each(|load| load.refused)));
}

fn budgets(page: &mut Registry, state: &State) {
    let budgets = [("bodies", state.bodies().in_use()), ("answers", state.answers().in_use())];
    let each = |value: fn(&Use) -> u64| {
        budgets.iter().map(move |(budget, used)| ([("budget", *budget)], value(used)))
    };
    let help = "Memory budget shared by all request bodies / all unsent answers";
    page.register_with_unit("budget", help, Unit::Bytes, gauges(each(|used| used.bytes)));
    let help = "Memory in use by all request bodies / all unsent answers";
    page.register_with_unit("budget_used", help, Unit::Bytes, gauges(each(|used| used.used)));
    let help = "Number of requests refused with 503 because the memory budget was used up";
    page.register("budget_refusals", help, counters(each(|used| used.refused)));
}

fn index(page: &mut Registry, state: &State) {
    let engine = state.engine();
    let manifest = engine.manifest();
    let generation = info([("generation", manifest.generation.to_string())]);
    page.register("index_info", "The served generation of the index; the value is 1", generation);
    let help = "Number of instruments of the served generation";
    page.register("index_instruments", help, ConstGauge::new(manifest.instruments));
    if let Ok(built_at) = manifest.built_at.parse::<Timestamp>() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let age = now.as_secs_f64() - built_at.as_second() as f64;
        let help = "Time since the served generation was built";
        page.register_with_unit("index_age", help, Unit::Seconds, ConstGauge::new(age));
    }
    let metrics = state.metrics();
    let reloads = [
        ([("result", "taken_up")], metrics.reloads_taken_up.get()),
        ([("result", "refused")], metrics.reloads_refused.get()),
    ];
    let help = "Number of new generations that were found, by result";
    page.register("index_reloads", help, counters(reloads));
    let help = "1 while the server refuses the published generation, else 0";
    page.register("index_publication_refused", help, metrics.publication_refused.clone());
    let help = "Bytes of the served files that were read again from the disk";
    let scrubbed = counters::<String, 0>([([], metrics.scrubbed_bytes.get())]);
    page.register_with_unit("index_scrubbed", help, Unit::Bytes, scrubbed);
    let help = "Number of times that all served files were read again";
    page.register("index_scrub_passes", help, metrics.scrub_passes.clone());
    let help = "Number of generations that were found damaged while they were served";
    page.register("index_scrub_damaged", help, metrics.scrub_damaged.clone());
    if let Some(build) = state.last_build() {
        last_build(page, &build);
    }
    if let Some(uses) = engine.caches() {
        caches(page, uses);
    }
    if let Some(client) = engine.client() {
        cluster::register(page, engine.answers(), client);
    }
}

/// The last build of the index, whether it published or not.
fn last_build(page: &mut Registry, build: &BuildRecord) {
    let results = BuildResult::ALL
        .map(|result| ([("result", result.name())], u64::from(result == build.result)));
    let help = "1 for the result of the last build of the index, 0 for the others";
    page.register("last_build_result", help, gauges(results));
    let at = build.ended_at.as_ref().unwrap_or(&build.started_at);
    if let Ok(at) = at.parse::<Timestamp>() {
        let at = u64::try_from(at.as_second()).unwrap_or_default();
        let help = "Time when the last build of the index ended, or began if it has not ended";
        page.register("last_build_timestamp_seconds", help, ConstGauge::new(at));
    }
}

/// The caches of an index on this machine.
fn caches(page: &mut Registry, caches: [(&'static str, Uses); 3]) {
    let help = "Number of results found in the cache of the served generation";
    let hits = caches.map(|(cache, uses)| ([("cache", cache)], uses.hits));
    page.register("cache_hits", help, counters(hits));
    let help = "Number of results computed and put into the cache of the served generation";
    let misses = caches.map(|(cache, uses)| ([("cache", cache)], uses.misses));
    page.register("cache_misses", help, counters(misses));
}

fn connections(page: &mut Registry, state: &State) {
    let connections = &state.metrics().connections;
    page.register("connections_open", "Number of open connections", connections.open.clone());
    let max = state.settings().connections.max as u64;
    let help = "Maximum number of open connections; further clients wait";
    page.register("connections_max", help, ConstGauge::new(max));
    let help = "Number of accepted connections";
    page.register("connections_accepted", help, connections.accepted.clone());
    let help = "Number of connections refused: too many from the address, or no descriptor left";
    page.register("connections_refused", help, connections.refused.clone());
    let help =
        "Number of connections closed because the client was idle, or sent or read too slowly";
    page.register("connections_timed_out", help, connections.timed_out.clone());
    let help = "Number of connections closed because of an invalid request or too large a head";
    page.register("connections_malformed", help, connections.malformed.clone());
}

/// A metric with the value 1, whose labels are the information. It is a gauge, because readers
/// of the older Prometheus format reject a page with the kind `info`.
fn info<const N: usize>(labels: Labels<String, N>) -> Family<Labels<String, N>, Gauge> {
    let family = Family::<Labels<String, N>, Gauge>::default();
    family.get_or_create(&labels).set(1);
    family
}
