//! Contract 16.8: `GET /metrics`, over a socket. The counts are those of the requests, no client
//! chooses a label, and every number is documented: the table of `docs/metrics.md`, the dashboard
//! and the alerts name what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use figdex::callers::limits::Rates;
use figdex::config::Settings;

use crate::support::cluster;
use crate::support::listening::{exchange, serving_with};

/// The time in which the server must notice that a client has gone.
const PATIENCE: Duration = Duration::from_secs(20);

fn get(address: SocketAddr, path: &str) -> String {
    exchange(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
}

fn post(address: SocketAddr, path: &str, body: &str) -> String {
    let head = "Host: x\r\nConnection: close\r\nContent-Type: application/json";
    let length = body.len();
    exchange(
        address,
        &format!("POST {path} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}"),
    )
}

/// The page as it was read.
struct Page {
    text: String,
}

impl Page {
    fn read(address: SocketAddr) -> Self {
        let answer = get(address, "/metrics");
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert!(head.contains(kind), "{head}");
        assert!(text.ends_with("\n# EOF\n"), "{text}");
        Self { text: text.to_owned() }
    }

    /// The name of each sample, its labels as written, and its value.
    fn samples(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        let lines = self.text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = name.split_once('{').unwrap_or((name, ""));
            (name, labels.trim_end_matches('}'), value.parse().unwrap())
        })
    }

    /// The sum of the samples of a name that have all these labels.
    fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        let of_name = self.samples().filter(|(sample, _, _)| *sample == name);
        let matching = of_name
            .filter(|(_, of_sample, _)| labels.iter().all(|label| of_sample.contains(label)));
        matching.map(|(_, _, value)| value).sum()
    }

    /// The names of the metrics, as the table of `docs/metrics.md` has them: those of counters with
    /// `_total`, those of histograms without the suffixes of their samples.
    fn names(&self) -> BTreeSet<String> {
        let kinds = self.text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let names = kinds.map(|kind| match kind.split_once(' ').unwrap() {
            (name, "info" | "stateset" | "unknown") => panic!("{name} is of no old kind"),
            (name, "counter") => format!("{name}_total"),
            (name, _) => name.to_owned(),
        });
        names.collect()
    }
}

const IBM: &str = r#"{"idType":"TICKER","idValue":"IBM"}"#;

fn with_rates() -> Settings {
    Settings { rates: Some(Rates::default()), pool_threads: Some(3), ..Settings::default() }
}

/// Sends a few requests of every kind; `counts_add_up` has the expected counts.
fn traffic(address: SocketAddr) {
    for body in [format!("[{IBM}]"), format!("[{IBM},{IBM}]"), "[]".into(), "{}".into()] {
        post(address, "/v3/mapping", &body);
    }
    for _ in 0..7 {
        post(address, "/v2/mapping", &format!("[{IBM}]"));
    }
    for _ in 0..3 {
        post(address, "/v3/filter", r#"{"query":"ibm"}"#);
        get(address, "/suggest?query=ib");
    }
    for path in ["/v3/mapping/values/currency", "/v3/mapping/values/idType", "/schema", "/"] {
        get(address, path);
    }
    for path in ["/instruments/BBG000BLNNH6", "/instruments/nonsense", "/healthz", "/readyz"] {
        get(address, path);
    }
    get(address, "/v3/mapping");
}

#[test]
fn counts_add_up() {
    serving_with(with_rates(), |address, _stop| {
        traffic(address);
        let page = Page::read(address);
        let requests = |labels: &[&str]| page.sum("figdex_requests_total", labels);
        for (route, version, status, count) in [
            ("/mapping", "v3", "200", 3.0),
            ("/mapping", "v3", "400", 1.0),
            ("/mapping", "v3", "405", 1.0),
            ("/mapping", "v2", "200", 5.0),
            ("/mapping", "v2", "429", 2.0),
            ("/filter", "v3", "200", 3.0),
            ("/mapping/values/{key}", "v3", "200", 2.0),
            ("/schema", "v3", "200", 1.0),
            ("/suggest", "", "200", 3.0),
            ("/page/{file}", "", "200", 1.0),
            ("/instruments/{figi}", "", "200", 1.0),
            ("/instruments/{figi}", "", "400", 1.0),
            ("/healthz", "", "200", 1.0),
            ("/readyz", "", "200", 1.0),
        ] {
            let labels = [("route", route), ("version", version), ("status", status)];
            let labels = labels.map(|(name, value)| format!("{name}=\"{value}\""));
            let labels = labels.each_ref().map(String::as_str);
            assert_eq!(requests(&labels), count, "{labels:?}\n{}", page.text);
        }
        assert_eq!(requests(&[]), 26.0, "{}", page.text);

        let mapping = [r#"route="/mapping""#, r#"version="v3""#];
        assert_eq!(page.sum("figdex_rows_total", &mapping), 3.0);
        assert_eq!(page.sum("figdex_rows_total", &[]), 3.0 + 5.0 + 3.0 + 3.0 + 1.0);
        let seconds = |end: &str, labels: &[&str]| {
            page.sum(&format!("figdex_request_duration_seconds_{end}"), labels)
        };
        assert_eq!(seconds("count", &mapping), 5.0);
        assert_eq!(seconds("count", &[]), 26.0);
        assert!(seconds("sum", &mapping) > 0.0 && seconds("sum", &mapping) < 60.0);
        for bound in ["0.00002", "0.001", "10.0", "+Inf"] {
            let buckets = page.samples().filter(|(name, labels, _)| {
                name.ends_with("_bucket") && labels.contains(&format!("le=\"{bound}\""))
            });
            assert!(buckets.count() > 0, "{bound}\n{}", page.text);
        }
        assert_eq!(seconds("bucket", &[r#"le="+Inf""#]), 26.0);

        let refusals = |labels: &[&str]| page.sum("figdex_rate_limit_refusals_total", labels);
        assert_eq!(refusals(&[r#"version="v2""#, r#"window="total""#]), 2.0, "{}", page.text);
        assert_eq!(refusals(&[]), 2.0);
        if cluster::is_asked() {
            assert!(page.sum("figdex_opensearch_call_duration_seconds_count", &[]) > 10.0);
            assert!(page.sum("figdex_opensearch_call_duration_seconds_sum", &[]) > 0.0);
            assert_eq!(page.sum("figdex_opensearch_host_failing", &[]), 0.0);
            assert_eq!(page.sum("figdex_opensearch_failures_total", &[]), 0.0);
        } else {
            for cache in [r#"cache="totals""#, r#"cache="suggestions""#] {
                assert_eq!(page.sum("figdex_cache_misses_total", &[cache]), 1.0, "{cache}");
                assert_eq!(page.sum("figdex_cache_hits_total", &[cache]), 2.0, "{cache}");
            }
        }
        assert_eq!(page.sum("figdex_pool_turns", &[r#"pool="answers""#]), 3.0);
        assert_eq!(page.sum("figdex_pool_running", &[]), 0.0);
        let bodies = &[r#"budget="bodies""#];
        assert_eq!(page.sum("figdex_budget_bytes", bodies), f64::from(256 << 20));
        assert_eq!(page.sum("figdex_budget_used_bytes", &[]), 0.0);
        assert_eq!(page.sum("figdex_budget_refusals_total", &[]), 0.0);
        assert_eq!(page.sum("figdex_requests_in_flight", &[]), 1.0, "the page's own request");
        assert_eq!(page.sum("figdex_connections_accepted_total", &[]), 27.0);
        assert_eq!(page.sum("figdex_index_info", &[r#"generation="1""#]), 1.0);
        assert_eq!(page.sum("figdex_index_instruments", &[]), 1.0);
        let age = page.sum("figdex_index_age_seconds", &[]);
        assert!((0.0..600.0).contains(&age), "{age}");
        let started = page.sum("process_start_time_seconds", &[]);
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
        assert!((now - 86_400.0..now + 1.0).contains(&started), "{started}");
        for name in ["resident_memory_bytes", "anonymous_memory_bytes", "threads", "open_fds"] {
            assert!(page.sum(&format!("process_{name}"), &[]) >= 1.0, "{name}\n{}", page.text);
        }
    });
}

/// The jobs of mapping are counted by idType and result, in all versions, and those of lists by
/// status; a client chooses no idType.
#[test]
fn jobs_are_counted_by_what_they_find() {
    serving_with(Settings::default(), |address, _stop| {
        let job = |id_type: &str, id_value: &str| {
            format!(r#"{{"idType":"{id_type}","idValue":"{id_value}"}}"#)
        };
        let (isin, unlisted) = (job("ID_ISIN", "US4592001014"), job("ID_TRACE", "T1"));
        let (malformed, stranger) = (job("ID_ISIN", "US45920010"), job("STRANGER", "IBM"));
        let impossible = IBM.replace('}', r#","currency":"STRANGER"}"#);
        let jobs = [IBM, &isin, IBM, &stranger, &malformed, "7"];
        for version in ["v3", "v2", "v1"] {
            post(address, &format!("/{version}/mapping"), &format!("[{}]", jobs.join(",")));
        }
        post(address, "/v3/mapping", &format!("[{unlisted}]"));
        // Refused as a whole: none of its jobs is answered.
        post(address, "/v3/mapping", &format!("[{IBM},{impossible}]"));
        post(address, "/v3/mapping", &format!("[{IBM}"));
        let list = r#"{"jobs":["IBM","US4592001014","US4592001015"]}"#;
        let answer = post(address, "/resolve", list);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

        let page = Page::read(address);
        let series: BTreeMap<(&str, &str), f64> = page
            .samples()
            .filter(|(name, ..)| name.ends_with("_jobs_total"))
            .map(|(name, labels, count)| ((name, labels), count))
            .collect();
        let mut expected = BTreeMap::new();
        for (id_type, counts) in [
            ("ID_ISIN", [0.0, 3.0, 3.0]),
            ("ID_TRACE", [0.0, 1.0, 0.0]),
            ("TICKER", [6.0, 0.0, 0.0]),
            ("other", [0.0, 0.0, 6.0]),
        ] {
            for (result, count) in ["found", "not_found", "invalid"].into_iter().zip(counts) {
                let labels = format!(r#"id_type="{id_type}",result="{result}""#);
                expected.insert(("figdex_mapping_jobs_total", labels), count);
            }
        }
        for (status, count) in [
            ("resolved", 1.0),
            ("ambiguous", 0.0),
            ("unknown", 1.0),
            ("invalid", 1.0),
            ("historical", 0.0),
            ("gone", 0.0),
            ("uncertain", 0.0),
            ("outOfCoverage", 0.0),
        ] {
            expected.insert(("figdex_list_jobs_total", format!(r#"status="{status}""#)), count);
        }
        let series = series.into_iter().map(|((name, labels), n)| ((name, labels.to_owned()), n));
        assert_eq!(series.collect::<BTreeMap<_, _>>(), expected, "{}", page.text);
    });
}

/// A connection whose client has gone is not counted as open.
#[test]
fn connections_end() {
    serving_with(Settings::default(), |address, _stop| {
        let stays = std::net::TcpStream::connect(address).unwrap();
        let becomes = |open: f64| {
            let start = Instant::now();
            while Page::read(address).sum("figdex_connections_open", &[]) != open {
                assert!(start.elapsed() < PATIENCE, "{open}");
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        becomes(2.0);
        drop(stays);
        becomes(1.0);
    });
}

/// Clients choose no label, neither by paths, methods, values keys nor FIGIs.
#[test]
fn clients_choose_no_label() {
    serving_with(Settings::default(), |address, _stop| {
        for number in 0..40 {
            get(address, &format!("/stranger-{number}"));
            get(address, &format!("/v3/stranger-{number}?stranger=1"));
            get(address, &format!("/v{number}/search/stranger"));
            get(address, &format!("/instruments/stranger-{number}"));
            get(address, &format!("/page/stranger-{number}"));
            get(address, &format!("/v3/mapping/values/stranger-{number}"));
            exchange(
                address,
                &format!("STRANGER{number} /v1/mapping HTTP/1.1\r\nConnection: close\r\n\r\n"),
            );
        }
        let page = Page::read(address);
        assert!(!page.text.to_lowercase().contains("stranger"), "{}", page.text);
        assert_eq!(page.sum("figdex_requests_total", &[r#"route="other""#]), 160.0);
        let mut counts = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (name, labels, _) in page.samples() {
            counts.entry(name).or_default().insert(labels);
        }
        let series = counts["figdex_requests_total"].len();
        assert_eq!(series, 4, "other, instruments, values and mapping: {}", page.text);
    });
}

/// contract 16.8: the metrics check neither Accept nor key.
#[test]
fn anyone_may_read_the_metrics() {
    let server = crate::support::Server::of_dump("figi\nBBG000BLNNH6\n");
    for method in ["GET", "HEAD"] {
        let answer = server.request(method, "/metrics", &[("accept", "image/png")], "");
        assert_eq!(answer.status, 200, "no gate of the contract: {method}");
    }
    let answer = server.request("POST", "/metrics", &[], "");
    assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET, HEAD")));
}

const ADDRESS_SPACE: &str = "process_virtual_memory_bytes";

/// Every metric has its line in the table and is on the dashboard, and the table, the dashboard and
/// the alerts name only metrics that exist.
#[test]
fn names_are_described_and_used() {
    serving_with(with_rates(), |address, _stop| {
        traffic(address);
        let page = Page::read(address);
        let table = include_str!("../../../docs/metrics.md");
        let of_other_engine =
            if cluster::is_asked() { "figdex_cache_" } else { "figdex_opensearch_" };
        // Those of a copy of an index in object storage are tested in `storage`, those of keys, of
        // their file and of a certificate in `server`, and those of the last build in
        // `server::builds`.
        let absent = [
            of_other_engine,
            "figdex_storage_",
            "figdex_key_",
            "figdex_keys_",
            "figdex_tls_",
            "figdex_last_build_",
        ];
        let is_absent = |name: &str| absent.iter().any(|prefix| name.starts_with(prefix));
        let names = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let all: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
        let described = all.iter().filter(|name| !is_absent(name)).cloned().collect();
        assert_eq!(page.names(), described);

        let served: BTreeSet<&str> = page.samples().map(|(name, _, _)| name).collect();
        for (file, text, at_least) in [
            ("figdex.json", include_str!("../../../packaging/grafana/figdex.json"), 25),
            ("alerts.yaml", include_str!("../../../packaging/prometheus/alerts.yaml"), 10),
        ] {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let used: BTreeSet<&str> = words
                .filter(|word| word.starts_with("figdex_") || word.starts_with("process_"))
                .collect();
            assert!(used.len() >= at_least, "{file}: {used:?}");
            let unknown = used.difference(&served);
            let unknown: Vec<_> = unknown.filter(|name| !is_absent(name)).collect();
            assert!(unknown.is_empty(), "{file}: {unknown:?}");
        }
        let dashboard = include_str!("../../../packaging/grafana/figdex.json");
        // The address space holds all mapped files, which says nothing.
        let shown = |name: &&String| dashboard.contains(&***name) || *name == ADDRESS_SPACE;
        let not_shown: Vec<_> = all.iter().filter(|name| !shown(name)).collect();
        assert!(not_shown.is_empty(), "figdex.json: {not_shown:?}");
        let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        assert!(dashboard["panels"].as_array().unwrap().len() > 20);
    });
}
