//! What the tests have in common: an index built from a dump, and a server over it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use figdex::config::Settings;
use figdex::{State, service};
use figdex_index::Catalogue;
use figdex_ingest::{Build, Input, MaxRejects, Report};
use serde_json::Value;
use warp::filters::BoxedFilter;
use warp::reply::Response as Reply;

pub(crate) type Service = BoxedFilter<(Reply,)>;

/// A server over an index of its own.
pub(crate) struct Server {
    pub(crate) service: Service,
    pub(crate) report: Report,
    _folder: tempfile::TempDir,
}

/// A response as the caller gets it.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) allow: Option<String>,
    pub(crate) body: String,
}

/// A build that takes no rejects: a test's dump is as it should be.
pub(crate) fn build_of(inputs: Vec<Input>, index: &Path) -> Build {
    Build { max_rejects: MaxRejects::NONE, ..Build::new(inputs, index) }
}

impl Server {
    /// Builds an index from a dump in memory, and serves it.
    pub(crate) fn of_dump(dump: &str) -> Self {
        let input = Input::Memory("dump", dump.as_bytes().into());
        Self::build(|index| build_of(vec![input], index))
    }

    pub(crate) fn build(build: impl FnOnce(&Path) -> Build) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        let report = build(&index).run(&mut |_| {}).unwrap();
        let catalogue = Catalogue::open(&index).unwrap();
        let service = service(Arc::new(State::new(catalogue, Settings::default())));
        Self { service, report, _folder: folder }
    }

    /// Serves the bundled sample.
    pub(crate) fn of_sample() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        let report = figdex_ingest::sample::build(&index).unwrap();
        let catalogue = Catalogue::open(&index).unwrap();
        let service = service(Arc::new(State::new(catalogue, Settings::default())));
        Self { service, report, _folder: folder }
    }

    /// The same index, served as an operator chose.
    pub(crate) fn with_settings(self, settings: Settings) -> Self {
        let catalogue = Catalogue::open(&self._folder.path().join("index")).unwrap();
        Self { service: service(Arc::new(State::new(catalogue, settings))), ..self }
    }

    /// Sends a request as a well-behaved client would.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.request("POST", path, &[("content-type", "application/json")], body)
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let mut request = warp::test::request().method(method).path(path).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = runtime.block_on(request.reply(&self.service));
        let header =
            |name: &str| reply.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        Answer {
            status: reply.status().as_u16(),
            content_type: header("content-type").unwrap_or_default(),
            allow: header("allow"),
            body: String::from_utf8(reply.body().to_vec()).unwrap(),
        }
    }

    /// The answers to jobs of a v3 mapping request that must succeed.
    pub(crate) fn map(&self, jobs: &Value) -> Vec<Value> {
        let answer = self.post("/v3/mapping", &jobs.to_string());
        assert_eq!(answer.status, 200, "{jobs} {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }
}

/// The FIGIs of an answer, or none when it has no `data`.
pub(crate) fn figis(answer: &Value) -> Vec<String> {
    let rows = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| row["figi"].as_str().unwrap().to_owned()).collect()
}

/// Where the real data lie, if this machine has them.
pub(crate) fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("FIGDEX_REAL_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: FIGDEX_REAL_DATA names no folder of real data");
    }
    folder
}
