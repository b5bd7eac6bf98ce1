//! The real instruments, and the answers that the public service gave over the
//! years: whatever the data hold must be found as it was.
//!
//! The recordings are of 2017 to 2026 and the data are a sample, so an answer
//! cannot be equal. Each difference has a reason that the data themselves show;
//! a row that the data say should be found and is not has none, and fails. The
//! reasons and their counts are in `recorded.golden`, which may only shrink:
//! `FIGDEX_BLESS=1 cargo test --test it recorded` writes it, and refuses more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use figdex_ingest::{Build, Input};
use serde_json::Value;

use crate::support::{Server, build_of, figis, real_data};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded.golden");

/// The result fields whose values the recordings may contradict.
const FIELDS: [&str; 9] = [
    "name",
    "ticker",
    "exchCode",
    "compositeFIGI",
    "securityType",
    "marketSector",
    "shareClassFIGI",
    "securityType2",
    "securityDescription",
];

type Instruments = HashMap<String, HashMap<String, String>>;

type Differences = BTreeMap<String, usize>;

/// A mapping job and what the public service answered.
struct Recording {
    version: String,
    job: Value,
    answer: Value,
}

#[test]
fn recorded_answers_are_found_again() {
    let Some(folder) = real_data() else { return };
    let dump = folder.join("real/instruments.csv.gz");
    let instruments = instruments(&dump);
    let server = Server::build(|index| Build {
        values: Some(folder.join("enums")),
        ..build_of(vec![Input::File(dump)], index)
    });
    let total = server.report.total();
    assert_eq!((total.read, total.instruments), (instruments.len() as u64, total.read));
    assert!(total.read > 131_000 && server.report.dropped.is_empty(), "{}", server.report);

    let mut differences = Differences::new();
    let recordings = recordings(&folder);
    let mut found_again = 0;
    for recording in &recordings {
        found_again += replay(&server, &instruments, recording, &mut differences);
    }
    assert!(recordings.len() > 60, "{}", recordings.len());
    assert!(found_again > 1_000, "{found_again}");
    compare(&differences);
}

/// Replays one job; counts what differs and returns how many recorded rows were
/// found again.
fn replay(
    server: &Server,
    instruments: &Instruments,
    recording: &Recording,
    differences: &mut Differences,
) -> usize {
    let Recording { version, job, answer: recorded } = recording;
    let mut differ = |what: String| *differences.entry(what).or_default() += 1;
    let body = Value::Array(vec![job.clone()]).to_string();
    let ours = server.post(&format!("/{version}/mapping"), &body);
    assert_eq!(ours.status, 200, "{job} {}", ours.body);
    let ours = &serde_json::from_str::<Value>(&ours.body).unwrap()[0];
    let Some(rows) = recorded["data"].as_array() else {
        if ours["data"].is_array() {
            differ("answer: the data hold what the service did not know".into());
        } else {
            assert_eq!(ours, recorded, "{job}");
        }
        return 0;
    };
    let found: BTreeSet<_> = figis(ours).into_iter().collect();
    let ours: HashMap<_, _> = ours["data"]
        .as_array()
        .map(|rows| rows.iter().map(|row| (row["figi"].as_str().unwrap(), row)).collect())
        .unwrap_or_default();
    let mut known = BTreeSet::new();
    let mut found_again = 0;
    for row in rows {
        let figi = row["figi"].as_str().unwrap();
        known.insert(figi.to_owned());
        let Some(instrument) = instruments.get(figi) else {
            differ("row: not in the data".into());
            continue;
        };
        if !found.contains(figi) {
            let reason = why_not(job, instrument);
            differ(
                reason.unwrap_or_else(|| panic!("{figi} is not found by {job}: {instrument:?}")),
            );
            continue;
        }
        found_again += 1;
        for field in FIELDS {
            if row[field] != ours[figi][field] {
                let blank = instrument[field].is_empty();
                let what = if blank { "not in the data" } else { "another value" };
                differ(format!("field {field}: {what}"));
            }
        }
    }
    for _ in found.difference(&known) {
        differ("row: found, and not in the recording".into());
    }
    found_again
}

/// Why the data do not let this job find this instrument, if they do not.
fn why_not(job: &Value, instrument: &HashMap<String, String>) -> Option<String> {
    let has = |column: &str, wanted: &str| {
        let value = instrument.get(column).map_or("", String::as_str);
        if value.is_empty() {
            return Err(format!("row: the data give it no {column}"));
        }
        let equal = value.split(';').any(|value| value.eq_ignore_ascii_case(wanted));
        equal.then_some(()).ok_or_else(|| format!("row: the data give it another {column}"))
    };
    let id_type = job["idType"].as_str().unwrap();
    let column = match id_type {
        "TICKER" => "ticker",
        "ID_BB_GLOBAL" => "figi",
        "COMPOSITE_ID_BB_GLOBAL" => "compositeFIGI",
        "ID_BB_GLOBAL_SHARE_CLASS_LEVEL" => "shareClassFIGI",
        "BASE_TICKER" => return None,
        id_type => id_type,
    };
    if let Err(reason) = has(column, job["idValue"].as_str().unwrap()) {
        return Some(reason);
    }
    for (filter, column) in [
        ("exchCode", "exchCode"),
        ("micCode", "micCode"),
        ("currency", "currency"),
        ("marketSecDes", "marketSector"),
        ("securityType", "securityType"),
        ("securityType2", "securityType2"),
        ("optionType", "optionType"),
    ] {
        if let Some(wanted) = job[filter].as_str()
            && let Err(reason) = has(column, wanted)
        {
            return Some(reason);
        }
    }
    (instrument["listed"] == "false").then(|| "row: the data call it unlisted".into())
}

fn instruments(dump: &Path) -> Instruments {
    let unpacked = flate2::read::MultiGzDecoder::new(fs::File::open(dump).unwrap());
    let mut reader = csv::Reader::from_reader(unpacked);
    let rows = reader.deserialize::<HashMap<String, String>>();
    rows.map(|row| row.unwrap()).map(|row| (row["figi"].clone(), row)).collect()
}

/// Every recorded mapping job that was answered with 200.
fn recordings(folder: &Path) -> Vec<Recording> {
    let read = |path: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.join(path)).unwrap()).unwrap()
    };
    let mut recordings = Vec::new();
    let mut add = |version: &str, request: &Value, response: &Value| {
        let (Some(jobs), Some(answers)) = (request.as_array(), response.as_array()) else { return };
        for (job, answer) in jobs.iter().zip(answers) {
            // A transient fault of the service is no answer.
            if answer["error"].as_str().is_none_or(|text| !text.starts_with("There was")) {
                let (version, job, answer) = (version.to_owned(), job.clone(), answer.clone());
                recordings.push(Recording { version, job, answer });
            }
        }
    };
    for pair in read(Path::new("real/recorded-pairs.json")).as_array().unwrap() {
        let path = pair["path"].as_str().unwrap_or_default();
        if path.ends_with("/mapping") && pair["status"] == 200 {
            add(pair["version"].as_str().unwrap(), &pair["request"], &pair["response"]);
        }
    }
    for entry in read(Path::new("real/recorded/index.json")).as_array().unwrap() {
        let file = entry["file"].as_str().unwrap();
        let Some(jobs) = entry["request"].as_str().unwrap().strip_prefix("POST /v3/mapping ")
        else {
            continue;
        };
        let jobs = jobs.trim_end_matches(", with status and headers");
        let Ok(jobs) = serde_json::from_str(jobs) else { continue };
        let content = read(&Path::new("real/recorded").join(file));
        match content.get("response") {
            Some(response) => add("v3", &jobs, &response["bodyJson"]),
            None => add("v3", &jobs, &content),
        }
    }
    recordings
}

/// Compares with the golden file; more of anything is a fault, less must be told.
fn compare(differences: &Differences) {
    let mut text = String::new();
    for (what, count) in differences {
        writeln!(text, "{count:>6}  {what}").unwrap();
    }
    let golden = fs::read_to_string(GOLDEN).unwrap_or_default();
    let allowed: BTreeMap<&str, usize> = golden
        .lines()
        .filter_map(|line| line.trim_start().split_once("  "))
        .map(|(count, what)| (what, count.parse().unwrap()))
        .collect();
    if !golden.is_empty() {
        for (what, count) in differences {
            let most = allowed.get(what.as_str()).copied().unwrap_or_default();
            assert!(*count <= most, "more than recorded.golden allows: {what}\n{text}");
        }
    }
    if std::env::var_os("FIGDEX_BLESS").is_some() {
        fs::write(GOLDEN, &text).unwrap();
    } else {
        assert_eq!(golden, text, "fewer differences: FIGDEX_BLESS=1 writes recorded.golden anew");
    }
}
