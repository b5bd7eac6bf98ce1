//! Recorded answers of the public service, replayed over real instruments: every recorded row that
//! the data hold must be found again.
//!
//! The recordings are from 2017 to 2026 and the data are a sample, so the answers cannot be equal.
//! Each difference needs a reason that the data themselves show; a row that should be found by the
//! data and is not has no such reason, and the test fails. `recorded.golden` holds the reasons and
//! their counts, which may only shrink: `FIGDEX_BLESS=1 cargo test --test it recorded` writes the
//! file, and refuses larger counts.

mod mapping;
mod search;
mod values;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Golden;
use crate::support::{Server, real_data};

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

/// A row of the data, by column.
pub(super) type Instrument = HashMap<String, String>;

/// The instruments by their FIGIs.
pub(super) type Instruments = HashMap<String, Instrument>;

/// The kinds of differences from the recordings, with their counts.
type Differences = BTreeMap<String, usize>;

#[test]
fn recorded_answers_are_found_again() {
    let Some(folder) = real_data() else { return };
    let dump = folder.join("real/instruments.csv.gz");
    let instruments = instruments(&dump);
    let server = Server::of_real_instruments().unwrap();
    let total = server.report.total();
    assert_eq!((total.read, total.instruments), (instruments.len() as u64, total.read));
    assert!(total.read > 131_000 && server.report.dropped.is_empty(), "{}", server.report);

    let mut differences = Differences::new();
    let mapped = mapping::replay_all(&server, &instruments, &folder, &mut differences);
    assert!(mapped > 1_000, "{mapped}");
    let searched = search::replay_all(&server, &instruments, &folder, &mut differences);
    assert!(searched > 1_000, "{searched}");
    values::replay_all(&server, &folder, &mut differences);
    compare(&differences);
}

/// A request with a body, and the answer of the public service.
struct Exchange {
    path: String,
    request: Value,
    answer: Value,
}

/// Every recorded POST that was answered with 200.
fn exchanges(folder: &Path) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    for pair in read(&folder.join("real/recorded-pairs.json")).as_array().unwrap() {
        if pair["method"] == "POST" && pair["status"] == 200 {
            let path = pair["path"].as_str().unwrap().to_owned();
            let (request, answer) = (pair["request"].clone(), pair["response"].clone());
            exchanges.push(Exchange { path, request, answer });
        }
    }
    for entry in read(&folder.join("real/recorded/index.json")).as_array().unwrap() {
        // A note such as `POST /v3/mapping [{…}], with status and headers`.
        let request = entry["request"].as_str().unwrap().strip_prefix("POST ");
        let Some((path, body)) = request.and_then(|request| request.split_once(' ')) else {
            continue;
        };
        let mut bodies = serde_json::Deserializer::from_str(body).into_iter();
        let Some(Ok(request)) = bodies.next() else { continue };
        let content = read(&folder.join("real/recorded").join(entry["file"].as_str().unwrap()));
        let answer = match content.get("response") {
            Some(response) => response["bodyJson"].clone(),
            None => content,
        };
        exchanges.push(Exchange { path: path.to_owned(), request, answer });
    }
    exchanges
}

/// Whether the answer reports a temporary fault of the service, and so says nothing about the data.
fn is_transient(answer: &Value) -> bool {
    answer["error"].as_str().is_some_and(|text| text.starts_with("There was"))
}

/// The result fields in which a recorded row differs from ours.
fn differing_fields(
    recorded: &Value,
    ours: &Value,
    instrument: &Instrument,
) -> impl Iterator<Item = String> {
    let differing = FIELDS.iter().filter(|field| recorded[**field] != ours[**field]);
    differing.map(|field| {
        let blank = instrument[*field].is_empty();
        let what = if blank { "not in the data" } else { "another value" };
        format!("field {field}: {what}")
    })
}

/// Whether the data give the instrument that value, or why not.
fn has(instrument: &Instrument, column: &str, wanted: &str) -> Result<(), String> {
    let value = instrument.get(column).map_or("", String::as_str);
    if value.is_empty() {
        return Err(format!("row: the data give it no {column}"));
    }
    let equal = value.split(';').any(|value| value.eq_ignore_ascii_case(wanted));
    equal.then_some(()).ok_or_else(|| format!("row: the data give it another {column}"))
}

/// Why the filters of a request do not let this instrument pass, if they do not.
fn why_filtered_out(request: &Value, instrument: &Instrument) -> Option<String> {
    for (filter, column) in [
        ("exchCode", "exchCode"),
        ("micCode", "micCode"),
        ("currency", "currency"),
        ("marketSecDes", "marketSector"),
        ("securityType", "securityType"),
        ("securityType2", "securityType2"),
        ("optionType", "optionType"),
    ] {
        if let Some(wanted) = request[filter].as_str()
            && let Err(reason) = has(instrument, column, wanted)
        {
            return Some(reason);
        }
    }
    for filter in ["strike", "expiration", "maturity"] {
        let columns =
            if filter == "strike" { &["strike"][..] } else { &["expiration", "maturity"] };
        let blank = columns.iter().all(|column| instrument[*column].is_empty());
        if request[filter].is_array() && blank {
            return Some(format!("row: the data give it no {filter}"));
        }
    }
    (instrument["listed"] == "false").then(|| "row: the data call it unlisted".into())
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

pub(super) fn instruments(dump: &Path) -> Instruments {
    let unpacked = flate2::read::MultiGzDecoder::new(fs::File::open(dump).unwrap());
    let mut reader = csv::Reader::from_reader(unpacked);
    let rows = reader.deserialize::<HashMap<String, String>>();
    rows.map(|row| row.unwrap()).map(|row| (row["figi"].clone(), row)).collect()
}

/// Compares the differences with the golden file. A larger count is a failure; a smaller one must be
/// written with `FIGDEX_BLESS=1`.
fn compare(differences: &Differences) {
    let mut text = String::new();
    for (what, count) in differences {
        writeln!(text, "{count:>6}  {what}").unwrap();
    }
    let file = Golden::new("recorded/recorded.golden");
    let golden = file.text();
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
    file.compare(&text);
}
