//! The page: each metric with its words, in the text form of OpenMetrics.
//!
//! It is put together anew for each reader, a few times a minute, so that what others
//! count needs no second home. `docs/metrics.md` describes the same names.

use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use figdex_build_info::{COMMIT, VERSION};
use jiff::Timestamp;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use super::process;
use crate::capacity::budget::Use;
use crate::limits::Span;
use crate::observe::metrics::Metrics;
use crate::state::State;
use crate::version::Version;

/// All that the server tells of itself now.
pub(crate) fn text(state: &State) -> String {
    let mut page = Registry::with_prefix("figdex");
    let build = [("version", VERSION.to_owned()), ("commit", COMMIT.to_owned())];
    page.register("build_info", "The program", info(build));
    requests(&mut page, state.metrics());
    limits(&mut page, state);
    turns(&mut page, state);
    budgets(&mut page, state);
    index(&mut page, state);
    connections(&mut page, state);
    let mut of_process = Registry::with_prefix("process");
    process::register(&mut of_process);
    let mut text = String::new();
    encode_registry(&mut text, &page)
        .and_then(|()| encode_registry(&mut text, &of_process))
        .and_then(|()| encode_eof(&mut text))
        .expect("writing into memory does not fail, and no count is beyond 63 bits");
    text
}

fn requests(page: &mut Registry, metrics: &Metrics) {
    let Metrics { requests, request_seconds, rows, requests_in_flight, .. } = metrics;
    page.register("requests", "Requests, by route, version and status", requests.clone());
    page.register_with_unit(
        "request_duration",
        "Time from a request's head to its answer, by route and version",
        Unit::Seconds,
        request_seconds.clone(),
    );
    page.register("rows", "Instruments in answers, by route and version", rows.clone());
    let help = "Requests that are being answered";
    page.register("requests_in_flight", help, requests_in_flight.clone());
}

fn limits(page: &mut Registry, state: &State) {
    let refusals = state.limiter().map(|limiter| limiter.refusals()).unwrap_or_default();
    let refusals = refusals.into_iter().map(|(version, span, count)| {
        // The window of suggestions is no version's.
        let version = if span == Span::Suggest { "" } else { Version::name(version) };
        ([("version", version), ("window", span.name())], count)
    });
    page.register(
        "rate_limit_refusals",
        "Requests refused with 429, by the window that was full",
        counters(refusals),
    );
}

fn turns(page: &mut Registry, state: &State) {
    let pools = [
        ("answers", state.turns().load()),
        ("packing", state.packers().load()),
        ("schema", state.describers().load()),
        ("instruments", state.readers().load()),
    ];
    let each = |value: fn(&crate::capacity::pool::Load) -> u64| {
        pools.iter().map(move |(pool, load)| ([("pool", *pool)], value(load)))
    };
    let help = "Pieces of heavy work that may run at a time";
    page.register("pool_turns", help, gauges(each(|load| load.turns)));
    let help = "Pieces of heavy work that run";
    page.register("pool_running", help, gauges(each(|load| load.running)));
    let help = "Pieces of heavy work that wait for their turn";
    page.register("pool_queued", help, gauges(each(|load| load.queued)));
    let help = "Pieces of heavy work whose turn did not come in time";
    page.register("pool_refusals", help, counters(each(|load| load.refused)));
}

fn budgets(page: &mut Registry, state: &State) {
    let budgets = [("bodies", state.bodies().in_use()), ("answers", state.answers().in_use())];
    let each = |value: fn(&Use) -> u64| {
        budgets.iter().map(move |(budget, used)| ([("budget", *budget)], value(used)))
    };
    let help = "What bodies, and answers that wait for their readers, may have together";
    page.register_with_unit("budget", help, Unit::Bytes, gauges(each(|used| used.bytes)));
    let help = "What bodies, and answers that wait for their readers, have together";
    page.register_with_unit("budget_used", help, Unit::Bytes, gauges(each(|used| used.used)));
    let help = "Requests refused since there was no more for their body or answer";
    page.register("budget_refusals", help, counters(each(|used| used.refused)));
}

fn index(page: &mut Registry, state: &State) {
    let catalogue = state.catalogue();
    let manifest = catalogue.manifest();
    let generation = info([("generation", manifest.generation.to_string())]);
    page.register("index_info", "The generation that is served", generation);
    let help = "Instruments of the generation that is served";
    page.register("index_instruments", help, ConstGauge::new(manifest.instruments));
    if let Ok(built_at) = manifest.built_at.parse::<Timestamp>() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let age = now.as_secs_f64() - built_at.as_second() as f64;
        let help = "Time since the generation that is served was built";
        page.register_with_unit("index_age", help, Unit::Seconds, ConstGauge::new(age));
    }
    let metrics = state.metrics();
    let reloads = [
        ([("result", "taken_up")], metrics.reloads_taken_up.get()),
        ([("result", "refused")], metrics.reloads_refused.get()),
    ];
    let help = "New generations that were found, by what became of them";
    page.register("index_reloads", help, counters(reloads));
    page.register(
        "index_publication_refused",
        "1 while the index folder publishes nothing that can be served",
        metrics.publication_refused.clone(),
    );
    let caches = [("totals", catalogue.totals_uses()), ("suggestions", catalogue.suggest_uses())];
    let help = "Answers that were remembered, since the generation was taken up";
    page.register(
        "cache_hits",
        help,
        counters(caches.map(|(cache, uses)| ([("cache", cache)], uses.hits))),
    );
    let help = "Answers that were worked out and remembered, since the generation was taken up";
    page.register(
        "cache_misses",
        help,
        counters(caches.map(|(cache, uses)| ([("cache", cache)], uses.misses))),
    );
}

fn connections(page: &mut Registry, state: &State) {
    let connections = &state.metrics().connections;
    page.register("connections_open", "Connections", connections.open.clone());
    let max = state.settings().connections.max as u64;
    let help = "Connections that there may be; who comes then waits";
    page.register("connections_max", help, ConstGauge::new(max));
    let help = "Connections that were accepted";
    page.register("connections_accepted", help, connections.accepted.clone());
    let help = "Connections refused: its address has as many as it may, or no descriptor was left";
    page.register("connections_refused", help, connections.refused.clone());
    let help = "Connections closed because they were idle, or a head or taking an answer was slow";
    page.register("connections_timed_out", help, connections.timed_out.clone());
    let help = "Connections closed because what came was no request, or had too great a head";
    page.register("connections_malformed", help, connections.malformed.clone());
}

/// Texts, as the labels of a 1. It is a gauge, since those who read the older text form
/// of Prometheus refuse a page with a kind that they do not know.
fn info<const N: usize>(
    labels: [(&'static str, String); N],
) -> Family<[(&'static str, String); N], Gauge> {
    let family = Family::<[(&'static str, String); N], Gauge>::default();
    family.get_or_create(&labels).set(1);
    family
}

/// Labels, known when the program was written.
type Labels<const N: usize> = [(&'static str, &'static str); N];

fn counters<const N: usize>(
    counts: impl IntoIterator<Item = (Labels<N>, u64)>,
) -> Family<Labels<N>, Counter> {
    let family = Family::<Labels<N>, Counter>::default();
    for (labels, count) in counts {
        family.get_or_create(&labels).inc_by(count);
    }
    family
}

fn gauges<const N: usize>(
    values: impl IntoIterator<Item = (Labels<N>, u64)>,
) -> Family<Labels<N>, Gauge<u64, AtomicU64>> {
    let family = Family::<Labels<N>, Gauge<u64, AtomicU64>>::default();
    for (labels, value) in values {
        family.get_or_create(&labels).set(value);
    }
    family
}
