//! The helpers that tests share: servers in this process (here and in `listening`), the programs as
//! processes, and clients.

pub(crate) mod certificate;
pub(crate) mod cluster;
pub(crate) mod listening;
pub(crate) mod openapi;
pub(crate) mod process;

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock, mpsc};

use figdex::callers::auth::{KeyRing, file};
use figdex::config::Settings;
use figdex::{Engine, Observer, Peer, State, service};
use figdex_index::{Catalogue, check_digit};
use figdex_ingest::{Build, Input, MaxRejects, Report};
use figdex_io::Layout;
use figdex_universe::Universe;
use flate2::read::GzDecoder;
use serde_json::Value;
use warp::filters::BoxedFilter;
use warp::http::HeaderMap;
use warp::reply::Response as Reply;
use warp::test::RequestBuilder;

use self::cluster::InCluster;

pub(crate) type Service = BoxedFilter<(Reply,)>;

/// A server over a separate index, which is asked without a socket. The index is in a folder, and
/// served from there or from a cluster ([`cluster`]).
pub(crate) struct Server {
    pub(crate) service: Service,
    pub(crate) observer: Observer,
    pub(crate) report: Report,
    folder: tempfile::TempDir,
    cluster: Option<InCluster>,
}

/// A response as the caller gets it.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) allow: Option<String>,
    pub(crate) headers: HeaderMap,
    /// The text, unpacked if it was sent with gzip.
    pub(crate) body: String,
}

impl Answer {
    /// The header of that name, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// The files of the page for people: the path of each below `/page/`, and where it is.
pub(crate) fn page_files() -> Vec<(String, PathBuf)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/site/page");
    let (mut folders, mut files) = (vec![page.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.strip_prefix(&page).unwrap().to_str().unwrap().to_owned(), path));
            }
        }
    }
    files
}

/// A build that allows no rejects, since a test's dump has no faults.
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
        Self::build_with(build, |engine| State::new(engine, Settings::default()))
    }

    /// As [`Self::of_dump`], with a state that the test makes.
    pub(crate) fn with(dump: &str, state: impl FnOnce(Engine) -> State) -> Self {
        let input = Input::Memory("dump", dump.as_bytes().into());
        Self::build_with(|index| build_of(vec![input], index), state)
    }

    fn build_with(build: impl FnOnce(&Path) -> Build, state: impl FnOnce(Engine) -> State) -> Self {
        Self::serve(|index| build(index).run(&mut |_| {}).unwrap(), state)
    }

    /// Serves the bundled sample.
    pub(crate) fn of_sample() -> Self {
        Self::serve(
            |index| figdex_ingest::sample::build(index).unwrap(),
            |engine| State::new(engine, Settings::default()),
        )
    }

    /// Serves the real instruments, if this machine has them. All tests of a process share one build of
    /// their index, which takes half a minute; each server has a copy.
    pub(crate) fn of_real_instruments() -> Option<Self> {
        static REPORT: OnceLock<Report> = OnceLock::new();
        let data = real_data()?;
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-instruments");
        let report = REPORT.get_or_init(|| {
            if built.exists() {
                fs::remove_dir_all(&built).unwrap();
            }
            let dump = Input::File(data.join("real/instruments.csv.gz"));
            let values = Some(data.join("enums"));
            Build { values, ..build_of(vec![dump], &built) }.run(&mut |_| {}).unwrap()
        });
        let copied = |index: &Path| {
            copy_folder(&built, index);
            report.clone()
        };
        Some(Self::serve(copied, |engine| State::new(engine, Settings::default())))
    }

    fn serve(build: impl FnOnce(&Path) -> Report, state: impl FnOnce(Engine) -> State) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        let report = build(&index);
        let (engine, cluster) = cluster::engine(&index);
        let state = Arc::new(state(engine));
        let (service, observer) = (service(state.clone()), state.observer());
        Self { service, observer, report, folder, cluster }
    }

    /// A server with a state whose index the test keeps. `report` is that of a build of it.
    pub(crate) fn over(state: &Arc<State>, report: Report) -> Self {
        let (service, observer) = (service(state.clone()), state.observer());
        let folder = tempfile::tempdir().unwrap();
        Self { service, observer, report, folder, cluster: None }
    }

    /// Whether it is served from a cluster.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// Its index, opened again.
    pub(crate) fn catalogue(&self) -> Catalogue {
        Catalogue::open(&self.folder.path().join("index")).unwrap()
    }

    /// The same index, served as an operator chose.
    pub(crate) fn with_settings(self, settings: Settings) -> Self {
        let engine: Engine = match &self.cluster {
            None => self.catalogue().into(),
            Some(cluster) => cluster.open().into(),
        };
        let state = Arc::new(State::new(engine, settings));
        Self { service: service(state.clone()), observer: state.observer(), ..self }
    }

    /// Overwrites bytes of a file of the index's only part, as a failing disk does under a
    /// server that has opened it.
    pub(crate) fn damage(&self, file: &str, bytes: Range<u64>) {
        let part = self.folder.path().join("index/generation-000001/part-000");
        let file = File::options().write(true).open(part.join(file)).unwrap();
        let damage = vec![0x7E; (bytes.end - bytes.start) as usize];
        file.write_all_at(&damage, bytes.start).unwrap();
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
        let request = warp::test::request().method(method).path(path).body(body);
        self.send(request, headers)
    }

    /// As [`Self::request`], from an address.
    pub(crate) fn request_from(
        &self,
        peer: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let peer = Peer::Address(peer.parse().unwrap());
        let request = warp::test::request().method(method).path(path).body(body);
        self.send(request.extension(peer), headers)
    }

    fn send(&self, mut request: RequestBuilder, headers: &[(&str, &str)]) -> Answer {
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
            body: match header("content-encoding").as_deref() {
                None => String::from_utf8(reply.body().to_vec()).unwrap(),
                Some(encoding) => {
                    assert_eq!(encoding, "gzip");
                    std::io::read_to_string(GzDecoder::new(&reply.body()[..])).unwrap()
                }
            },
            headers: reply.headers().clone(),
        }
    }

    /// The answers to jobs of a v3 mapping request that must succeed.
    pub(crate) fn map(&self, jobs: &Value) -> Vec<Value> {
        let answer = self.post("/v3/mapping", &jobs.to_string());
        assert_eq!(answer.status, 200, "{jobs} {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }
}

/// Runs `test` with a stopped clock, while the only thread for heavy work is occupied until the test
/// drops the sender that it gets: a request that has its turn keeps it, and the others wait.
pub(crate) fn while_heavy_work_waits(test: impl AsyncFnOnce(mpsc::Sender<()>)) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (release, released) = mpsc::channel();
        let occupied = tokio::task::spawn_blocking(move || released.recv());
        test(release).await;
        assert!(occupied.await.unwrap().is_err(), "the test lets go");
    });
}

/// Runs all tasks until they wait for something.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// `figdex-ingest`, which cargo puts next to the test's own program.
pub(crate) fn program() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let folder = deps.parent().and_then(Path::parent).unwrap();
    let program = folder.join("figdex-ingest");
    assert!(program.exists(), "run plain `cargo test`, which builds {}", program.display());
    program
}

/// Runs `figdex-ingest` in a folder. Returns exit code, standard output and standard error.
pub(crate) fn ingest(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(program()).current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A generated universe as a canonical dump.
pub(crate) fn generated(count: u64, layout: Layout) -> Vec<u8> {
    let mut dump = Vec::new();
    Universe::new(count, 5).write(layout, &mut dump).unwrap();
    dump
}

/// The FIGIs of an answer, or none when it has no `data`.
pub(crate) fn figis(answer: &Value) -> Vec<String> {
    let rows = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| row["figi"].as_str().unwrap().to_owned()).collect()
}

/// The folder of the real data, if this machine has them.
pub(crate) fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("FIGDEX_REAL_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: FIGDEX_REAL_DATA names no folder of real data");
    }
    folder
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A key ring with one key, and that key.
pub(crate) fn one_key() -> (Arc<KeyRing>, String) {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.toml");
    let key = file::add(&keys, "desk").unwrap();
    (Arc::new(KeyRing::open(&keys).unwrap()), key)
}

/// A FIGI with a right check digit.
pub(crate) fn figi(number: u32) -> String {
    let body = format!("BBG{number:08}");
    format!("{body}{}", check_digit::double_add_double(body.as_bytes()).unwrap())
}

/// Changes a byte of the file that is checked last of a generation.
pub(crate) fn decay(index: &Path, generation: u64) {
    let folder = index.join(format!("generation-{generation:06}"));
    let manifest = figdex_index::Manifest::published(index).unwrap();
    let (name, _) = manifest.files().filter(|(_, file)| file.bytes > 0).last().unwrap();
    let path = folder.join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
}
