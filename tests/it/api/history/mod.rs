//! Contract, chapter 20: the past.

mod as_of;
mod crosswalk;
mod former;
mod instruments;

use std::sync::Arc;

use figdex::config::Settings;
use figdex::{Engine, State};
use figdex_index::{
    BuildOptions, Builder, Catalogue, Date, Figi, IdType, Instrument, PastOptions, Property,
    Retired, RetiredKind, RetiredOf,
};
use serde_json::{Value, json};

use crate::support::{Answer, Server, figi};

const CSV: (&str, &str) = ("content-type", "text/csv");

const ISIN: &str = "US0378331005";

/// The days of the builds.
const DAYS: [&str; 4] = ["2024-01-02", "2024-03-01", "2024-03-02", "2024-06-03"];

/// A row of an index: its number, ticker, exchange code and share class.
fn row(number: u32, ticker: &str, code: &str, share_class: u32) -> Instrument {
    let parsed = |number: u32| Figi::parse(&figi(number)).unwrap();
    let mut row = Instrument {
        ticker: Some(ticker.to_owned()),
        name: Some(format!("COMPANY {number}")),
        share_class_figi: Some(parsed(share_class)),
        listed: Some(true),
        ..Instrument::new(parsed(number))
    };
    for (property, value) in [(Property::ExchCode, code), (Property::MarketSecDes, "Equity")] {
        row.properties[property as usize] = Some(value.to_owned());
    }
    row
}

/// The rows on a day, by the place of the day.
fn rows(day: usize) -> Vec<Instrument> {
    let mut rows = vec![
        // Renamed.
        Instrument { coupon: Some(4.5), ..row(1, if day == 0 { "OLD" } else { "NEW" }, "US", 901) },
        // A name of which the vendor learned the ISIN on the last day.
        row(5, "LEARN", "US", 905),
        // Two securities that had one ticker.
        row(7, if day < 2 { "TWIN" } else { "SEVEN" }, "US", 907),
        row(8, if day < 2 { "TWIN" } else { "EIGHT" }, "US", 908),
        // An exchange code that no row has any more.
        row(9, "MOVED", if day < 2 { "XO" } else { "US" }, 909),
        row(10, "STEP", if day < 2 { "XO" } else { "LN" }, 910),
        row(11, "STEP", "US", 910),
        Instrument {
            unique_id: Some("EQ12".to_owned()),
            metadata: Some("A note.".to_owned()),
            ..row(12, "STAYS", "US", 912)
        },
        row(13, if day == 0 { "AGAIN" } else { "OTHER" }, "US", 913),
    ];
    if day == 3 {
        let learned = IdType::Isin.admit(ISIN).unwrap().into_owned();
        rows[1].identifiers.push(learned);
        // The first row of its exchange.
        rows.push(row(6, "LATE", "ZZ", 906));
        rows.push(row(14, "AGAIN", "ZZ", 914));
    }
    if day == 0 {
        rows.push(row(2, "RECY", "US", 902));
    } else if day > 1 {
        rows.push(row(3, "RECY", "US", 903));
    }
    if day < 3 {
        rows.push(row(4, "GONE", "US", 904));
    }
    rows.sort_by_key(|row| row.figi);
    rows
}

/// Statements of an operator: two identifiers of an instrument that is gone on the last day.
fn stated() -> Vec<(RetiredOf, Retired)> {
    let of = |number| Figi::parse(&figi(number)).unwrap();
    let retired = |id_type: IdType, text, from: Option<&str>, successor| Retired {
        id_value: id_type.admit(text).unwrap().into_owned(),
        from: from.map(|day| Date::parse(day).unwrap()),
        to: Some(Date::parse("2020-01-31").unwrap()),
        kind: RetiredKind::Merger,
        successor,
    };
    vec![
        (RetiredOf::Figi(of(4)), retired(IdType::Ticker, "WENT", None, Some(of(12)))),
        (RetiredOf::Figi(of(4)), retired(IdType::Cusip, "037833100", Some("2019-02-01"), None)),
    ]
}

/// The state over an index with a build for each day. `past` has the statements, if it keeps a past.
fn state_of(
    nights: &[(&str, Vec<Instrument>)],
    past: Option<&[(RetiredOf, Retired)]>,
    settings: Settings,
) -> Arc<State> {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    for (day, rows) in nights {
        let date = Date::parse(day).unwrap();
        let segment_memory_bytes = 32 << 20;
        let options = BuildOptions { date, segment_memory_bytes, ..BuildOptions::default() };
        let mut builder = Builder::create(&index, options).unwrap();
        if let Some(stated) = past {
            builder.keep_past(PastOptions { stated: stated.to_vec(), ..PastOptions::default() });
        }
        for row in rows {
            builder.add(row.clone()).unwrap();
        }
        builder.publish(Vec::new()).unwrap();
    }
    let engine: Engine = Catalogue::open(&index).unwrap().into();
    Arc::new(State::new(engine, settings))
}

/// The state over an index with the rows of all days.
pub(super) fn state(keeps_past: bool, settings: Settings) -> Arc<State> {
    let nights: Vec<_> = DAYS.into_iter().zip((0..).map(rows)).collect();
    let stated = stated();
    state_of(&nights, keeps_past.then_some(&stated), settings)
}

fn server() -> Server {
    Server::over(&state(true, Settings::default()), Default::default())
}

fn without_past() -> Server {
    Server::over(&state(false, Settings::default()), Default::default())
}

fn ask(server: &Server, body: &Value) -> Answer {
    let answer = server.post("/resolve", &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// The results of jobs, with few fields.
fn results(server: &Server, jobs: Value, options: Value) -> Vec<Value> {
    let mut body = json!({"jobs": jobs, "fields": ["figi", "ticker"]});
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let answer: Value = serde_json::from_str(&ask(server, &body).body).unwrap();
    answer["results"].as_array().unwrap().clone()
}

/// The result of one job.
fn result(server: &Server, job: impl Into<Value>, options: Value) -> Value {
    results(server, json!([job.into()]), options).remove(0)
}

/// The result of a text as of a day.
fn on(server: &Server, text: &str, day: &str) -> Value {
    result(server, text, json!({"asOf": day}))
}

/// The number of the test's FIGI in a row.
fn number(row: &Value) -> u32 {
    let figi = row["figi"].as_str().unwrap();
    figi[3..11].parse().unwrap()
}

fn numbers(rows: &Value) -> Vec<u32> {
    rows.as_array().map(|rows| rows.iter().map(number).collect()).unwrap_or_default()
}
