//! Contract, chapter 19: the changes between two generations.

mod chains;
mod classes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use figdex::callers::limits::{Rate, Rates, Span};
use figdex::config::Settings;
use figdex::{Engine, State};
use figdex_index::{
    BuildLock, Catalogue, ChangeWriter, GenerationId, Manifest, change_file, export_columns,
    rollback,
};
use figdex_ingest::inspect::export;
use figdex_ingest::{Build, Input, Report};
use figdex_io::RowLayout;
use serde_json::{Value, json};

use crate::support::openapi::Document;
use crate::support::{Answer, Server, build_of, figi, one_key};

const NDJSON: &str = "application/x-ndjson; charset=utf-8";

const EXPORT_AGAIN: &str =
    " Export the whole index again (`figdex-ingest export`), and go on from its token.\"}";

/// An index whose builds keep their changes, and a server over it.
struct Feed {
    folder: tempfile::TempDir,
    state: Arc<State>,
    server: Server,
}

/// The pages of a feed, joined.
struct Pages {
    lines: Vec<String>,
    token: String,
    pages: usize,
}

/// The instruments of a dump: a number, a ticker and a name each.
fn dump(rows: &[(u32, &str, &str)]) -> String {
    let rows = rows
        .iter()
        .map(|(number, ticker, name)| format!("{},{ticker},{name},US0378331005\n", figi(*number)));
    format!("figi,ticker,name,ID_ISIN\n{}", rows.collect::<String>())
}

fn built(index: &Path, dump: &str) -> Report {
    let input = Input::Memory("dump", dump.as_bytes().into());
    let build = Build { generations_kept: 9, ..build_of(vec![input], index) };
    build.run(&mut |_| {}).unwrap()
}

impl Feed {
    fn new(dump: &str, state: impl FnOnce(Engine) -> State) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let report = built(&folder.path().join("index"), dump);
        let catalogue = Catalogue::open(&folder.path().join("index")).unwrap();
        let state = Arc::new(state(catalogue.into()));
        let server = Server::over(&state, report);
        Self { folder, state, server }
    }

    /// A server that only answers `/changes` differently from one with default settings.
    fn of(dump: &str) -> Self {
        Self::new(dump, |engine| State::new(engine, settings()))
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn manifest(&self) -> Manifest {
        Manifest::published(&self.index()).unwrap()
    }

    fn token(&self) -> String {
        self.manifest().id.to_string()
    }

    /// Serves the published generation.
    fn reload(&self) {
        self.state.publish(Catalogue::open(&self.index()).unwrap());
    }

    /// Builds a generation and its changes, and serves it. Returns its token.
    fn build(&self, dump: &str) -> String {
        self.build_as(dump, |writer, parent, id| {
            writer.finish(parent, id).unwrap();
        })
    }

    fn build_as(
        &self,
        dump: &str,
        end: impl FnOnce(ChangeWriter, GenerationId, GenerationId),
    ) -> String {
        let before = Catalogue::open(&self.index()).unwrap();
        built(&self.index(), dump);
        let after = Catalogue::open(&self.index()).unwrap();
        let lock = BuildLock::acquire(&self.index()).unwrap();
        let (parent, id) = (before.manifest().id, after.manifest().id);
        assert_eq!(after.manifest().parent, Some(parent));
        let mut writer = ChangeWriter::create(lock.new_changes().unwrap()).unwrap();
        after.differences(&before, |changed| writer.add(&changed)).unwrap();
        end(writer, parent, id);
        lock.keep_changes(id).unwrap();
        self.reload();
        id.to_string()
    }

    fn ask(&self, query: &str, headers: &[(&str, &str)]) -> Answer {
        self.server.request("GET", &format!("/changes?{query}"), headers, "")
    }

    /// The refusal of a query, as JSON.
    fn refusal(&self, query: &str) -> (u16, String) {
        let answer = self.ask(query, &[]);
        assert_eq!(answer.content_type, "application/json; charset=utf-8", "{}", answer.body);
        (answer.status, answer.body)
    }

    /// All pages since a token, in NDJSON.
    fn since(&self, token: &str, limit: usize) -> Pages {
        let (mut query, mut lines, mut pages) = (format!("since={token}"), Vec::new(), 0);
        loop {
            let answer = self.ask(&format!("{query}&limit={limit}"), &[]);
            assert_eq!((answer.status, &*answer.content_type), (200, NDJSON), "{}", answer.body);
            lines.extend(answer.body.lines().map(str::to_owned));
            pages += 1;
            let (cursor, token) = (answer.header("figdex-cursor"), answer.header("figdex-token"));
            assert_eq!(cursor.is_empty(), !token.is_empty());
            if !token.is_empty() {
                return Pages { lines, token: token.to_owned(), pages };
            }
            query = format!("cursor={cursor}");
        }
    }

    /// The lines of an export of the published generation, by their FIGIs.
    fn exported(&self) -> BTreeMap<String, String> {
        let mut out = Vec::new();
        let catalogue = Catalogue::open(&self.index()).unwrap();
        export::write(&catalogue, RowLayout::JsonLines, &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        lines.lines().map(|line| (figi_of(line), line.to_owned())).collect()
    }
}

fn settings() -> Settings {
    Settings { changes: true, ..Settings::default() }
}

fn figi_of(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    value["figi"].as_str().unwrap().to_owned()
}

/// The type of a change and the line of an export in it.
fn parts(line: &str) -> (String, String) {
    let value: Value = serde_json::from_str(line).unwrap();
    let kind = value["_change_type"].as_str().unwrap().to_owned();
    let (_, rest) = line.split_once(&format!("{},", value["_cosmetic"])).unwrap();
    (kind, format!("{{{rest}"))
}

/// Applies changes to the rows of an export.
fn applied(mut rows: BTreeMap<String, String>, lines: &[String]) -> BTreeMap<String, String> {
    let mut last = String::new();
    for line in lines {
        let ((kind, row), figi) = (parts(line), figi_of(line));
        assert!(figi > last || figi == last && kind == "update_postimage", "{line}");
        let before = match &*kind {
            "insert" => rows.insert(figi.clone(), row),
            "update_preimage" | "delete" => {
                assert_eq!(rows.remove(&figi), Some(row));
                None
            }
            "update_postimage" => rows.insert(figi.clone(), row),
            other => panic!("{other}"),
        };
        assert_eq!(before, None, "{line}");
        last = figi;
    }
    rows
}

const OLD: [(u32, &str, &str); 3] = [(1, "A", "ALPHA"), (2, "B", "BETA"), (3, "C", "GAMMA")];
const NEW: [(u32, &str, &str); 3] = [(1, "A", "Alpha"), (3, "CC", "GAMMA"), (4, "D", "DELTA")];

/// contract 19.3, 19.4, 19.5, 19.7: each changed instrument as it was and as it is, in each form.
#[test]
fn each_form() {
    let feed = Feed::of(&dump(&OLD));
    let (first, old) = (feed.token(), feed.exported());
    let second = feed.build(&dump(&NEW));
    let built = feed.manifest().built_at;
    let Pages { lines, token, pages } = feed.since(&first, 1_000);
    assert_eq!((token, pages), (second.clone(), 1));
    let head = |kind: &str, is_cosmetic: bool| {
        format!(
            "{{\"_change_type\":\"{kind}\",\"_commit_version\":2,\"_commit_timestamp\":\
             \"{built}\",\"_cosmetic\":{is_cosmetic},"
        )
    };
    let new = feed.exported();
    let row = |rows: &BTreeMap<String, String>, number: u32| rows[&figi(number)][1..].to_owned();
    let expected = [
        head("update_preimage", true) + &row(&old, 1),
        head("update_postimage", true) + &row(&new, 1),
        head("delete", false) + &row(&old, 2),
        head("update_preimage", false) + &row(&old, 3),
        head("update_postimage", false) + &row(&new, 3),
        head("insert", false) + &row(&new, 4),
    ];
    assert_eq!(lines, expected);
    assert_eq!(applied(old, &lines), new);

    let answer = feed.ask(&format!("since={first}"), &[("accept", "application/json")]);
    let page: Value = serde_json::from_str(&answer.body).unwrap();
    let changes: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(page, json!({"generation": 2, "changes": changes, "token": second}));
    assert_eq!(answer.header("figdex-generation"), "2");
    let answer = feed.ask(&format!("since={first}&limit=1"), &[("accept", "text/json")]);
    let page: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(page["cursor"], answer.header("figdex-cursor"));
    assert_eq!((&page["token"], answer.header("figdex-token")), (&Value::Null, ""));

    let answer = feed.ask(&format!("since={first}"), &[("accept", "text/csv")]);
    assert_eq!(answer.content_type, "text/csv; charset=utf-8");
    let mut out = Vec::new();
    let catalogue = Catalogue::open(&feed.index()).unwrap();
    export::write(&catalogue, RowLayout::Csv, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let mut rows = out.lines();
    let heading = format!(
        "_change_type,_commit_version,_commit_timestamp,_cosmetic,{}",
        rows.next().unwrap()
    );
    let lines: Vec<_> = answer.body.lines().collect();
    assert_eq!(lines[0], heading);
    assert_eq!(lines.len(), 7);
    assert_eq!(lines[6], format!("insert,2,{built},false,{}", rows.next_back().unwrap()));
    assert_eq!(export_columns().count() + 4, heading.split(',').count());

    let none = feed.ask(&format!("since={first}"), &[("accept", "text/html")]);
    assert_eq!((none.status, &*none.body), (406, "Unsupported 'Accept' type."));
}

/// contract 19.8: CSV is refused when a value of the page would be read as two; other forms and
/// other pages are not.
#[test]
fn csv_refuses_a_separator() {
    let with_alias = |alias: &str| {
        format!("{{\"figi\":\"{}\",\"alias\":[{alias}]}}\n{{\"figi\":\"{}\"}}\n", figi(2), figi(3))
    };
    let feed = Feed::of(&with_alias("\"a\""));
    let first = feed.token();
    feed.build(&format!("{}{{\"figi\":\"{}\"}}\n", with_alias("\"a;b\",\"c\""), figi(1)));
    let csv = [("accept", "text/csv")];
    let refused = feed.ask(&format!("since={first}"), &csv);
    let text = format!(
        "{{\"error\":\"A value of alias of {} contains \\\";\\\", which separates values in CSV: \
         accept application/x-ndjson or application/json.\"}}",
        figi(2)
    );
    assert_eq!((refused.status, refused.body), (406, text));
    assert_eq!(feed.ask(&format!("since={first}&limit=1"), &csv).status, 200);
    assert_eq!(feed.since(&first, 1_000).lines.len(), 3);
}

/// contract 19.2: the token of the served data is in each answer that it matters for.
#[test]
fn where_tokens_are() {
    let feed = Feed::of(&dump(&OLD));
    let token = feed.token();
    let list = feed.server.post("/resolve", r#"{"jobs":[]}"#);
    assert_eq!(list.header("figdex-token"), token);
    let about: Value =
        serde_json::from_str(&feed.server.request("GET", "/about", &[], "").body).unwrap();
    assert_eq!(
        (&about["token"], &about["date"]),
        (&json!(token), &json!(feed.manifest().date.to_string()))
    );
    // Nothing has changed since.
    let Pages { lines, token: next, pages } = feed.since(&token, 1);
    assert_eq!((lines, next, pages), (Vec::new(), token, 1));
}

/// contract 19.9: parameters that are wrong.
#[test]
fn wrong_parameters() {
    let feed = Feed::of(&dump(&OLD));
    let first = feed.token();
    feed.build(&dump(&NEW));
    let cursor =
        feed.ask(&format!("since={first}&limit=1"), &[]).header("figdex-cursor").to_owned();
    let long = "x".repeat(8_000);
    for (query, error) in [
        (
            String::new(),
            "since is missing: give the token of the data that you have, which \
          `figdex-ingest export`, GET /about, and the header figdex-token of /resolve and /changes name.",
        ),
        (
            "since=".to_owned(),
            "Invalid since: it is not a token: 32 hexadecimal digits in lower case are expected.",
        ),
        (
            format!("since={}", first.to_uppercase()),
            "Invalid since: it is not a token: 32 hexadecimal digits in lower case are expected.",
        ),
        (
            format!("since={long}"),
            "Invalid since: it is not a token: 32 hexadecimal digits in lower case are expected.",
        ),
        (format!("since={first}&since={first}"), "since must not be repeated."),
        (format!("since={first}&limit=0"), "limit must be a number from 1 to 10000."),
        (format!("since={first}&limit=10001"), "limit must be a number from 1 to 10000."),
        (format!("since={first}&limit=x"), "limit must be a number from 1 to 10000."),
        (format!("since={first}&limit=1&limit=1"), "limit must not be repeated."),
        (format!("since={first}&from=1"), "Invalid key 'from'."),
        (format!("since={first}&cursor="), "Invalid cursor value."),
        (format!("cursor={long}"), "Invalid cursor value."),
        (format!("cursor={}", cursor.replace('a', "b").replace('c', "d")), "Invalid cursor value."),
        (format!("cursor={cursor}0"), "Invalid cursor value."),
        (format!("cursor={cursor}&cursor={cursor}"), "cursor must not be repeated."),
        (format!("since={}&cursor={cursor}", feed.token()), "since is not that of the cursor."),
    ] {
        assert_eq!(feed.refusal(&query), (400, json!({"error": error}).to_string()), "{query}");
    }
    for query in [format!("since={first}&limit=10000"), format!("since={first}&cursor={cursor}")] {
        assert_eq!(feed.ask(&query, &[]).status, 200);
    }
    assert_eq!(
        feed.server.request("HEAD", &format!("/changes?since={first}"), &[], "").status,
        200
    );
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let answer = feed.server.request(method, "/changes", &[], "");
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET, HEAD")));
    }
}

/// contract 19.1: the route is off without the setting; where there are keys it needs one.
#[test]
fn who_may_ask() {
    let off = Server::of_dump(&dump(&OLD)).request("GET", "/changes?since=x", &[], "");
    let text = "This server does not answer /changes. Its operator turns it on with --changes.";
    assert_eq!((off.status, off.body), (404, json!({"error": text}).to_string()));

    let (ring, key) = one_key();
    let feed = Feed::new(&dump(&OLD), |engine| State::new(engine, settings()).with_keys(ring));
    let query = format!("since={}", feed.token());
    for headers in [&[][..], &[("x-openfigi-apikey", "wrong")], &[("x-service-apikey", " ")]] {
        let answer = feed.ask(&query, headers);
        assert_eq!((answer.status, &*answer.body), (401, "Invalid API key."));
    }
    assert_eq!(feed.ask(&query, &[("x-openfigi-apikey", &key)]).status, 200);
}

/// contract 19.12: pages count in a separate window of the caller.
#[test]
fn pages_have_a_window() {
    let mut rates = Rates::default();
    for line in rates.lines_mut().iter_mut().filter(|line| line.span == Span::Changes) {
        line.without_key = Some(Rate::new(2, 60));
    }
    let limited = Settings { rates: Some(rates), ..settings() };
    let feed = Feed::new(&dump(&OLD), |engine| State::new(engine, limited));
    let query = format!("since={}", feed.token());
    let left = |expected| {
        let answer = feed.ask(&query, &[]);
        let found = (answer.status, answer.header("ratelimit-remaining").to_owned());
        assert_eq!(found, expected);
        assert_eq!(answer.header("ratelimit-policy"), "2;w=60");
    };
    left((200, "1".to_owned()));
    left((200, "0".to_owned()));
    left((429, "0".to_owned()));
    assert_eq!(feed.server.request("GET", "/suggest?query=a", &[], "").status, 200);
}

/// contract 19.6: the pages of a feed go to one target, whatever is served meanwhile.
#[test]
fn a_reload_between_two_pages() {
    let feed = Feed::of(&dump(&OLD));
    let (first, old) = (feed.token(), feed.exported());
    let second = feed.build(&dump(&NEW));
    let new = feed.exported();
    let page = feed.ask(&format!("since={first}&limit=2"), &[]);
    let cursor = page.header("figdex-cursor").to_owned();
    let third = feed.build(&dump(&[(3, "X", "OTHER"), (9, "Y", "LATE")]));
    let rest = feed.ask(&format!("cursor={cursor}"), &[]);
    let tokens = [&rest, &page].map(|answer| answer.header("figdex-token").to_owned());
    assert_eq!(tokens, [second.clone(), String::new()]);
    assert_eq!(rest.header("figdex-generation"), "2");
    let lines: Vec<_> = page.body.lines().chain(rest.body.lines()).map(str::to_owned).collect();
    assert_eq!(applied(old.clone(), &lines), new);
    let Pages { lines, token, .. } = feed.since(&second, 1);
    assert_eq!((applied(new, &lines), &token), (feed.exported(), &third));
    // Both nights at once.
    assert_eq!(applied(old, &feed.since(&first, 1).lines), feed.exported());
}

/// contract 19.4: a rollback needs no rule: the changes lead back, and on from there.
#[test]
fn a_rollback_between() {
    let feed = Feed::of(&dump(&OLD));
    let first = feed.exported();
    feed.build(&dump(&NEW));
    let (second, rows) = (feed.token(), feed.exported());
    rollback(&feed.index()).unwrap();
    feed.reload();
    assert_eq!(applied(rows.clone(), &feed.since(&second, 2).lines), first);
    feed.build(&dump(&[(1, "A", "ALPHA"), (4, "D", "DELTA")]));
    let Pages { lines, token, .. } = feed.since(&second, 1);
    assert_eq!((applied(rows, &lines), token), (feed.exported(), feed.token()));
    // It came with the generation that was taken back, and with the one after that.
    assert!(!lines.iter().any(|line| figi_of(line) == figi(4)), "{lines:?}");
}

/// contract 19.10: the changes since a token are not there, for each reason.
#[test]
fn changes_that_are_gone() {
    let feed = Feed::of(&dump(&OLD));
    let first = feed.token();
    let unknown =
        "{\"error\":\"This token is unknown here, or the changes since then are not kept any more."
            .to_owned()
            + EXPORT_AGAIN;
    let gone = |feed: &Feed, token: &str| feed.refusal(&format!("since={token}"));
    assert_eq!(gone(&feed, &"0".repeat(32)), (410, unknown.clone()));
    // A night that changed most of the instruments.
    let second = feed.build_as(&dump(&NEW), |writer, parent, id| {
        writer.mark(parent, id).unwrap();
    });
    let too_much = "{\"error\":\"Too much has changed since this token.".to_owned() + EXPORT_AGAIN;
    assert_eq!(gone(&feed, &first), (410, too_much.clone()));
    feed.build(&dump(&OLD));
    assert_eq!((gone(&feed, &first), feed.since(&second, 9).pages), ((410, too_much), 1));
    // A file that is not kept any more.
    std::fs::remove_file(change_file(&feed.index(), feed.manifest().id)).unwrap();
    assert_eq!(gone(&feed, &second), (410, unknown.clone()));
    // An index that was removed and built again.
    let cursor = {
        let (old, _) = (feed.build(&dump(&NEW)), feed.build(&dump(&OLD)));
        feed.ask(&format!("since={old}&limit=1"), &[]).header("figdex-cursor").to_owned()
    };
    let token = feed.token();
    std::fs::remove_dir_all(feed.index()).unwrap();
    built(&feed.index(), &dump(&NEW));
    feed.reload();
    assert_eq!(gone(&feed, &token), (410, unknown.clone()));
    assert_eq!(feed.refusal(&format!("cursor={cursor}")), (410, unknown));
}

/// contract 19.10: a way of more generations than may be read at once.
#[test]
fn too_many_generations() {
    let feed = Feed::of(&dump(&OLD));
    let first = feed.token();
    // Only the change files are needed, and the target is one of a cursor.
    let lock = BuildLock::acquire(&feed.index()).unwrap();
    let mut parent: GenerationId = first.parse().unwrap();
    let served = parent;
    for _ in 0..=figdex_index::FILES_MAX {
        let id = GenerationId::random();
        let writer = ChangeWriter::create(lock.new_changes().unwrap()).unwrap();
        // Turned round: the served generation is the oldest one.
        writer.finish(parent, id).unwrap();
        lock.keep_changes(id).unwrap();
        parent = id;
    }
    assert_ne!(parent, served);
    let text = "{\"error\":\"There were too many builds since this token.".to_owned();
    assert_eq!(feed.refusal(&format!("since={parent}")), (410, text + EXPORT_AGAIN));
}

/// contract 19.11: a damaged file of changes is a 500, and the next request is answered.
#[test]
fn a_damaged_file() {
    let feed = Feed::of(&dump(&OLD));
    let first = feed.token();
    feed.build(&dump(&NEW));
    let path = change_file(&feed.index(), feed.manifest().id);
    let whole = std::fs::read(&path).unwrap();
    for place in [0, 20, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x40;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(feed.ask(&format!("since={first}"), &[]).status, 500, "{place}");
    }
    std::fs::write(&path, whole).unwrap();
    assert_eq!(feed.ask(&format!("since={first}"), &[]).status, 200);
}

/// contract 1.9: a server with changes describes them.
#[test]
fn the_description() {
    let feed = Feed::of(&dump(&OLD));
    let first = feed.token();
    feed.build(&dump(&NEW));
    let schema = feed.server.request("GET", "/schema", &[], "");
    let document = Document(serde_json::from_str(&schema.body).unwrap());
    let operations = document.operations();
    let (_, method, operation) = operations.iter().find(|(path, ..)| *path == "/changes").unwrap();
    assert_eq!(method, "GET");
    let fault = document.component("ResolveFault");
    let ask = |query: &str, accept| feed.ask(query, &[("accept", accept)]);
    for (status, query, accept) in [
        (200, format!("since={first}"), "application/json"),
        (200, format!("since={first}&limit=1"), "application/json"),
        (200, format!("since={first}"), "application/x-ndjson"),
        (200, format!("since={first}"), "text/csv"),
        (400, "since=x".to_owned(), "*/*"),
        (406, format!("since={first}"), "text/html"),
        (409, format!("since={first}-0000001"), "*/*"),
        (410, format!("since={}", "0".repeat(32)), "*/*"),
    ] {
        let answer = ask(&query, accept);
        assert_eq!(answer.status, status, "{}", answer.body);
        let response = document.response(operation, status);
        let media_type = match status {
            406 => "text/html; charset=utf-8",
            _ => answer.content_type.split(';').next().unwrap(),
        };
        let schema = &response["content"][media_type]["schema"];
        match (status, media_type) {
            (200, "application/json") => {
                document.assert_valid(schema, &serde_json::from_str(&answer.body).unwrap());
            }
            (200 | 406, _) => assert_eq!(schema["type"], "string"),
            _ => document.assert_valid(fault, &serde_json::from_str(&answer.body).unwrap()),
        }
        for name in ["figdex-generation", "figdex-token", "figdex-cursor"] {
            let is_named = !response["headers"][name].is_null();
            assert!(is_named || answer.header(name).is_empty(), "{name}");
        }
    }
    for status in [401, 405, 429, 500, 503] {
        document.response(operation, status);
    }
}
