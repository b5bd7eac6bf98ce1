//! Contract, chapter 22: the index as one Parquet file. The server only gives the bytes of the file,
//! so these tests let builds write any bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use figdex::callers::limits::{Rate, Rates, Span};
use figdex::config::Settings;
use figdex::{Engine, State};
use figdex_index::{Catalogue, IdType, Manifest, ParquetWriter};
use figdex_ingest::{Build, Input, Report};

use crate::support::openapi::Document;
use crate::support::{Answer, Server, build_of, figi, one_key};

/// An index whose builds write files, and a server over it.
struct Files {
    folder: tempfile::TempDir,
    state: Arc<State>,
    server: Server,
}

/// Builds a generation whose file has these bytes; without them it has no file.
fn built(index: &Path, file: Option<&[u8]>, identifiers: &[IdType], kept: usize) -> Report {
    let dump = format!("figi,ticker\n{},A\n", figi(1));
    let input = Input::Memory("dump", dump.into_bytes().into());
    let writer = file.map(|bytes| {
        let bytes = bytes.to_vec();
        ParquetWriter::new(identifiers.to_vec(), move |_, path| Ok(fs::write(path, &bytes)?))
    });
    let build = build_of(vec![input], index);
    let build = Build { parquet: writer, generations_kept: kept, ..build };
    build.run(&mut |_| {}).unwrap()
}

impl Files {
    fn new(file: Option<&[u8]>, identifiers: &[IdType], settings: Settings) -> Self {
        Self::with(file, identifiers, |engine| State::new(engine, settings))
    }

    fn with(
        file: Option<&[u8]>,
        identifiers: &[IdType],
        state: impl FnOnce(Engine) -> State,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let report = built(&folder.path().join("index"), file, identifiers, 1);
        let catalogue = Catalogue::open(&folder.path().join("index")).unwrap();
        let state = Arc::new(state(catalogue.into()));
        let server = Server::over(&state, report);
        Self { folder, state, server }
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Builds and serves the next generation.
    fn next(&self, file: &[u8], kept: usize) {
        built(&self.index(), Some(file), &[], kept);
        self.state.publish(Catalogue::open(&self.index()).unwrap());
    }

    fn ask(&self, method: &str, generation: &str, headers: &[(&str, &str)]) -> Answer {
        let path = format!("/generations/{generation}/instruments.parquet");
        self.server.request(method, &path, headers, "")
    }

    fn get(&self, generation: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", generation, headers)
    }
}

fn settings() -> Settings {
    Settings { parquet: true, ..Settings::default() }
}

/// Bytes that are longer than several pieces.
fn long() -> Vec<u8> {
    (0..1_000_003_u32).map(|place| b'a' + (place % 23) as u8).collect()
}

/// contract 22.1, 22.3: the bytes of the file, with its size and its checksum; HEAD has the same
/// headers and no bytes.
#[test]
fn the_whole_file() {
    let long = long();
    let files = Files::new(Some(&long), &[], settings());
    let manifest = Manifest::published(&files.index()).unwrap();
    let tag = format!("\"{}\"", manifest.parquet.unwrap().file().sha256);
    let answer = files.get("1", &[]);
    assert_eq!((answer.status, answer.body.as_bytes() == long), (200, true));
    let head = files.ask("HEAD", "1", &[]);
    assert_eq!((head.status, &*head.body), (200, ""));
    for answer in [&answer, &head] {
        assert_eq!(answer.content_type, "application/vnd.apache.parquet");
        for (name, value) in [
            ("content-length", "1000003"),
            ("etag", &tag),
            ("accept-ranges", "bytes"),
            ("cache-control", "no-cache"),
            ("figdex-generation", "1"),
            ("content-encoding", ""),
        ] {
            assert_eq!(answer.header(name), value, "{name}");
        }
    }
    let refused = files.ask("POST", "1", &[]);
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD"));
}

/// contract 22.4: a range of bytes, wherever it begins and ends.
#[test]
fn a_part_of_the_file() {
    let long = long();
    let files = Files::new(Some(&long), &[], settings());
    for (range, start, end) in [
        ("bytes=0-0", 0, 1),
        ("bytes=262143-262144", 262_143, 262_145),
        ("bytes=5-", 5, long.len()),
        ("bytes=-8", long.len() - 8, long.len()),
        ("bytes=1000000-2000000", 1_000_000, long.len()),
    ] {
        let answer = files.get("1", &[("range", range)]);
        assert_eq!((answer.status, answer.body.as_bytes() == &long[start..end]), (206, true));
        assert_eq!(answer.header("content-length"), (end - start).to_string());
        let part = format!("bytes {start}-{}/{}", end - 1, long.len());
        assert_eq!(answer.header("content-range"), part);
        let head = files.ask("HEAD", "1", &[("range", range)]);
        assert_eq!((head.status, head.header("content-length")), (200, "1000003"));
    }
    let beyond = files.get("1", &[("range", "bytes=1000003-")]);
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */1000003"));
    assert_eq!(
        beyond.body,
        "{\"error\":\"The file has 1000003 bytes, and the range begins after them.\"}"
    );
    // Several ranges are ignored.
    assert_eq!(files.get("1", &[("range", "bytes=0-1,4-5")]).status, 200);
}

/// contract 22.5: conditions on the bytes.
#[test]
fn conditions() {
    let files = Files::new(Some(b"first"), &[], settings());
    let tag = files.get("1", &[]).header("etag").to_owned();
    let unchanged = files.get("1", &[("if-none-match", &tag)]);
    assert_eq!((unchanged.status, &*unchanged.body), (304, ""));
    assert_eq!(unchanged.header("etag"), tag);
    let other = files.get("1", &[("if-match", "\"x\"")]);
    assert_eq!(other.status, 412);
    assert!(other.body.starts_with("{\"error\":\"The file at this"), "{}", other.body);
    let range = ("range", "bytes=1-2");
    let same = files.get("1", &[range, ("if-range", &tag), ("if-match", &tag)]);
    assert_eq!((same.status, &*same.body), (206, "ir"));
    let other = files.get("1", &[range, ("if-range", "\"x\"")]);
    assert_eq!((other.status, &*other.body), (200, "first"));
}

/// contract 22.6: the newest generation leads to its own address, and gives no ranges.
#[test]
fn the_newest() {
    let files = Files::new(Some(b"first"), &[], settings());
    files.next(b"second", 1);
    for method in ["GET", "HEAD"] {
        let answer = files.ask(method, "latest", &[]);
        assert_eq!((answer.status, &*answer.body), (307, ""));
        assert_eq!(answer.header("location"), "../2/instruments.parquet");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let range = files.get("latest", &[("range", "bytes=0-1")]);
    assert_eq!(range.status, 400);
    assert!(range.body.contains("ask for ../2/instruments.parquet"), "{}", range.body);
}

/// contract 22.7: an earlier generation is there as long as the index keeps it, and then 404. A
/// download that has begun is whole.
#[test]
fn generations_come_and_go() {
    let files = Files::new(Some(b"first"), &[], settings());
    let engine = files.state.engine();
    let held = engine.local().unwrap().parquet_of(1).unwrap().unwrap();
    files.next(b"second", 1);
    assert_eq!(&*files.get("1", &[]).body, "first");
    assert_eq!(&*files.get("2", &[]).body, "second");
    files.next(b"third", 0);
    for gone in ["1", "2", "4", "0", "18446744073709551615"] {
        let answer = files.get(gone, &[]);
        assert_eq!(answer.status, 404, "{gone}");
        assert!(answer.body.contains("The newest is at /generations/latest/"), "{}", answer.body);
    }
    let mut bytes = [0; 5];
    held.read_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"first");
    for wrong in ["-1", "03", "+3", "3.0", "x", "18446744073709551616"] {
        let answer = files.get(wrong, &[]);
        assert_eq!(answer.status, 404, "{wrong}");
        assert!(answer.body.contains("A generation has a number"), "{}", answer.body);
    }
}

/// contract 22.8: off without the setting; nothing where there is no file; a key where there are
/// keys.
#[test]
fn the_route_is_refused() {
    let off = Files::new(Some(b"first"), &[], Settings::default()).get("1", &[]);
    assert_eq!(off.status, 404);
    assert!(off.body.contains("turns it on with --parquet"), "{}", off.body);
    let none = Files::new(None, &[], settings());
    assert_eq!(none.get("1", &[]).status, 404);
    let latest = none.get("latest", &[]);
    assert_eq!(latest.status, 404);
    assert!(latest.body.contains("it is built with --parquet"), "{}", latest.body);
    let (keys, key) = one_key();
    let keyed =
        Files::with(Some(b"first"), &[], |engine| State::new(engine, settings()).with_keys(keys));
    assert_eq!(keyed.get("1", &[]).status, 401);
    assert_eq!(keyed.get("1", &[("x-openfigi-apikey", "wrong")]).status, 401);
    assert_eq!(&*keyed.get("1", &[("x-openfigi-apikey", &key)]).body, "first");
}

/// contract 22.8: a server that hides identifiers gives only a file without them.
#[test]
fn hidden_identifiers_stay_hidden() {
    let hides = Settings { hide_identifiers: true, ..settings() };
    let stricter = Files::new(Some(b"first"), &[IdType::Isin], hides.clone());
    for method in ["GET", "HEAD"] {
        let answer = stricter.ask(method, "1", &[]);
        assert_eq!((answer.status, answer.header("etag")), (409, ""));
    }
    assert!(stricter.get("1", &[]).body.contains("may not see: ID_ISIN."));
    assert_eq!(Files::new(Some(b"first"), &[], hides).get("1", &[]).status, 200);
    assert_eq!(Files::new(Some(b"first"), &[IdType::Isin], settings()).get("1", &[]).status, 200);
}

/// contract 22.9: requests count in a separate window of their caller.
#[test]
fn requests_have_a_window() {
    let mut rates = Rates::default();
    for line in rates.lines_mut().iter_mut().filter(|line| line.span == Span::Parquet) {
        line.without_key = Some(Rate::new(2, 60));
    }
    let files = Files::new(Some(b"first"), &[], Settings { rates: Some(rates), ..settings() });
    for left in ["1", "0"] {
        let answer = files.ask("HEAD", "1", &[]);
        assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, left));
    }
    assert_eq!(files.get("1", &[]).status, 429);
    assert_eq!(files.server.request("GET", "/suggest?query=a", &[], "").status, 200);
}

/// contract 22.3: a damaged file is found as those of the index are.
#[test]
fn a_damaged_file_is_refused() {
    let files = Files::new(Some(b"first"), &[], settings());
    let path = files.index().join("generation-000001/parquet/instruments.parquet");
    fs::write(&path, b"fIrst").unwrap();
    let error = Catalogue::open_checked(&files.index()).err().unwrap().to_string();
    assert!(error.contains("instruments.parquet is damaged: its checksum"), "{error}");
    fs::write(&path, b"longer").unwrap();
    let error = Catalogue::open(&files.index()).err().unwrap().to_string();
    assert!(error.contains("it has 6 bytes instead of 5"), "{error}");
}

/// contract 22.1: only a server that answers the route describes it.
#[test]
fn the_document_has_it() {
    let described = |settings| {
        let files = Files::new(Some(b"first"), &[], settings);
        let schema = files.server.request("GET", "/schema", &[], "");
        let document = Document(serde_json::from_str(&schema.body).unwrap());
        document.operations().iter().any(|(path, ..)| path.ends_with("/instruments.parquet"))
    };
    assert!(described(settings()));
    assert!(!described(Settings::default()));
}
