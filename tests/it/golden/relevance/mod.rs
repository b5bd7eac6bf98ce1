//! Relevance: do people find the instrument that they mean?
//!
//! `queries.txt` holds texts that people type and the instrument that each means, chosen by common
//! knowledge and not by what the search finds. A row is right when it is the meant instrument,
//! another listing of its composite, or, unless the text names an exchange, another listing of its
//! share class. Texts that need guessing are sent to `/suggest`, all others to `/v3/search`.
//!
//! `relevance.golden` holds, for each kind of query, how often the first row was right, how often
//! one of the first ten, and the mean reciprocal rank (the mean of 1 / place of the first right
//! row): over the bundled sample, and over the real instruments on a machine that has them. On other
//! machines the part of the real instruments stays unchanged. `relevance-cluster.golden` holds the
//! same for an index in a cluster.
//! `FIGDEX_BLESS=1 cargo test --test it relevance` writes the file.

mod best_listings;
mod companies;
mod people;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use figdex_index::{Figi, Instrument, Property};
use serde_json::{Value, json};

use super::Golden;
use crate::support::Server;

const QUERIES: &str = include_str!("queries.txt");

/// The kinds of queries that only guessing can answer, and the least mean reciprocal rank of these
/// and of all other kinds.
const GUESSED: [&str; 2] = ["half a name", "typo"];
const GUESSED_MRR_MIN: f64 = 0.85;
const EXACT_MRR_MIN: f64 = 0.95;

const PLACES: usize = 10;

/// A typed text, and the instrument that it means.
struct Query<'a> {
    kind: &'a str,
    text: &'a str,
    meant: Vec<Vec<(&'a str, &'a str)>>,
}

/// The right answers to a query.
#[derive(Default)]
struct Right {
    figis: HashSet<Figi>,
    composites: HashSet<Figi>,
    share_classes: HashSet<Figi>,
}

fn queries() -> Vec<Query<'static>> {
    let lines = QUERIES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parsed = lines.map(|line| {
        let [kind, text, meant] =
            line.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let conditions = |one: &'static str| {
            one.split(',').map(|condition| condition.split_once('=').unwrap()).collect()
        };
        Query { kind, text, meant: meant.split(" or ").map(conditions).collect() }
    });
    parsed.collect()
}

fn holds(instrument: &Instrument, column: &str, value: &str) -> bool {
    match column {
        "figi" => instrument.figi.to_string() == value,
        "ticker" => instrument.ticker.as_deref() == Some(value),
        "exchCode" => instrument.property(Property::ExchCode) == Some(value),
        id_type => instrument
            .identifiers
            .iter()
            .any(|id| id.id_type().name() == id_type && id.as_str() == value),
    }
}

/// The right answers to each query, among the instruments of a server.
fn rights(server: &Server, queries: &[Query<'_>]) -> Vec<Right> {
    let mut rights: Vec<Right> = queries.iter().map(|_| Right::default()).collect();
    let all = server.catalogue().instruments(|instrument| {
        for (query, right) in queries.iter().zip(&mut rights) {
            let is_meant = query.meant.iter().any(|conditions| {
                conditions.iter().all(|(column, value)| holds(instrument, column, value))
            });
            if is_meant {
                right.figis.insert(instrument.figi);
                right.composites.extend(instrument.composite_figi);
                if !query.kind.contains("exchange") {
                    right.share_classes.extend(instrument.share_class_figi);
                }
            }
        }
        Ok::<_, figdex_index::Error>(())
    });
    all.unwrap();
    rights
}

/// The place of the first right row, starting at 1.
fn place(server: &Server, query: &Query<'_>, right: &Right) -> Option<usize> {
    let answer = if GUESSED.contains(&query.kind) {
        let encoded = form_urlencoded::byte_serialize(query.text.as_bytes()).collect::<String>();
        server.request("GET", &format!("/suggest?query={encoded}"), &[], "")
    } else {
        server.post("/v3/search", &json!({"query": query.text}).to_string())
    };
    assert_eq!(answer.status, 200, "{} {}", query.text, answer.body);
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    let rows = answer["data"].as_array().unwrap();
    let is_right = |row: &Value| {
        let is = |column: &str, figis: &HashSet<Figi>| {
            row[column].as_str().is_some_and(|figi| figis.contains(&Figi::parse(figi).unwrap()))
        };
        is("figi", &right.figis)
            || is("compositeFIGI", &right.composites)
            || is("shareClassFIGI", &right.share_classes)
    };
    rows.iter().take(PLACES).position(is_right).map(|place| place + 1)
}

/// The table of a universe, and the kinds of queries that miss their least rank.
fn measure(title: &str, server: &Server, queries: &[Query<'_>]) -> (String, Vec<String>) {
    let rights = rights(server, queries);
    let mut table =
        format!("# {title}\n{:<22}{:>8}{:>8}{:>8}{:>8}\n", "", "queries", "hit@1", "hit@10", "MRR");
    let mut short = Vec::new();
    let mut kinds: Vec<&str> = Vec::new();
    for query in queries {
        if !kinds.contains(&query.kind) {
            kinds.push(query.kind);
        }
    }
    for kind in kinds {
        let asked = queries.iter().zip(&rights);
        let asked = asked.filter(|(query, right)| query.kind == kind && !right.figis.is_empty());
        let mut places = Vec::new();
        for (query, right) in asked {
            let place = place(server, query, right);
            if place != Some(1) {
                eprintln!("{title}: {kind}: {}: {place:?}", query.text);
            }
            places.push(place);
        }
        if places.is_empty() {
            continue;
        }
        let mean = |value: &dyn Fn(usize) -> f64| {
            let sum = places.iter().flatten().fold(0.0, |sum, place| sum + value(*place));
            sum / places.len() as f64
        };
        let mrr = mean(&|place| 1.0 / place as f64);
        let hit1 = mean(&|place| f64::from(u8::from(place == 1)));
        writeln!(
            table,
            "{kind:<22}{:>8}{hit1:>8.3}{:>8.3}{mrr:>8.3}",
            places.len(),
            mean(&|_| 1.0)
        )
        .unwrap();
        let least = if GUESSED.contains(&kind) { GUESSED_MRR_MIN } else { EXACT_MRR_MIN };
        if mrr < least {
            short.push(format!("{title}: {kind}: {mrr:.3} < {least}"));
        }
    }
    (table, short)
}

/// contract 10.2: the recorded queries find the meant instruments as well as before.
#[test]
fn people_find_what_they_mean() {
    let queries = queries();
    let kinds: BTreeSet<&str> = queries.iter().map(|query| query.kind).collect();
    assert!(queries.len() >= 150 && kinds.len() == 12, "{} {kinds:?}", queries.len());
    let golden = Golden::of_engine("relevance/relevance");
    let (mut text, mut short) = measure("the bundled sample", &Server::of_sample(), &queries);
    if let Some(server) = Server::of_real_instruments() {
        let (table, more) = measure("the real instruments", &server, &queries);
        text += &format!("\n{table}");
        short.extend(more);
    } else if let Some((_, real)) = golden.text().split_once("\n# the real instruments") {
        text += &format!("\n# the real instruments{real}");
    }
    assert!(short.is_empty(), "{short:#?}\n{text}");
    golden.compare(&text);
}
