//! Relevance of what people type: is the first security the one that is meant, and is it shown by its
//! best listing?
//!
//! `people/written.txt` and `people/drawn.txt` hold the questions; the former explains their columns.
//! Rules may be tuned on the questions `tuned` only: of the others nothing but counts is ever printed.
//!
//! `people.golden` holds how many of the first securities of `/find` are right, by kind and in all,
//! with the lower bound of the 95 % Wilson interval: over the real instruments with importances,
//! without and with other names.
//! `FIGDEX_BLESS=1 cargo test --test it people` writes it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use figdex_index::{Figi, Instrument, Property};
use figdex_ingest::{Build, Input};
use serde_json::Value;

use super::companies::labels;
use super::{Golden, holds};
use crate::support::{Server, build_of, real_data};

const QUESTIONS: [&str; 2] = [include_str!("people/written.txt"), include_str!("people/drawn.txt")];

/// Other names from public lists. None was picked for a question.
const NAMES: &str = include_str!("names.csv");

/// The quantile of the 95 % interval.
const Z: f64 = 1.96;

/// The least numbers of questions of each set.
const LEAST: [(&str, usize); 2] = [("tuned", 150), ("frozen", 400)];

/// A typed text, the security that it means, and the exchange codes of its best listing.
struct Question {
    set: &'static str,
    kind: &'static str,
    text: &'static str,
    meant: Vec<Vec<(&'static str, &'static str)>>,
    listing: Vec<&'static str>,
}

/// The rows of the meant security, and those of them that are its best listing.
#[derive(Default)]
struct Right {
    security: HashSet<Figi>,
    listing: HashSet<Figi>,
}

/// A count of the questions that were asked, and of the right first rows.
#[derive(Clone, Copy, Default)]
struct Count {
    asked: usize,
    right: usize,
}

impl Count {
    fn add(&mut self, is_right: bool) {
        self.asked += 1;
        self.right += usize::from(is_right);
    }

    /// The share of right rows, and the lower bound of its Wilson interval.
    fn shares(self) -> [f64; 2] {
        let number = self.asked as f64;
        let share = self.right as f64 / number;
        let center = share + Z * Z / (2.0 * number);
        let spread = Z * (share * (1.0 - share) / number + Z * Z / (4.0 * number * number)).sqrt();
        [share, ((center - spread) / (1.0 + Z * Z / number)).max(0.0)]
    }
}

fn questions() -> Vec<Question> {
    let lines = QUESTIONS.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parsed = lines.map(|line| {
        let [set, kind, text, meant, listing] =
            line.split(" | ").map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let conditions = |one: &'static str| {
            one.split(',').map(|condition| condition.split_once('=').unwrap()).collect()
        };
        let codes = listing.split(" or ").filter(|code| *code != "-");
        Question {
            set,
            kind,
            text,
            meant: meant.split(" or ").map(conditions).collect(),
            listing: codes.map(|code| code.strip_prefix("exchCode=").unwrap()).collect(),
        }
    });
    parsed.collect()
}

fn isin(instrument: &Instrument) -> Option<String> {
    let mut identifiers = instrument.identifiers.iter();
    let isin = identifiers.find(|id| id.id_type().name() == "ID_ISIN");
    isin.map(|id| id.as_str().to_owned())
}

fn each_instrument(server: &Server, mut action: impl FnMut(&Instrument)) {
    let all = server.catalogue().instruments(|instrument: &Instrument| {
        action(instrument);
        Ok::<_, figdex_index::Error>(())
    });
    all.unwrap();
}

/// The right answers to each question, among the instruments of a server.
fn rights(server: &Server, questions: &[Question]) -> Vec<Right> {
    let mut by_value: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (number, question) in questions.iter().enumerate() {
        for (way, conditions) in question.meant.iter().enumerate() {
            by_value.entry(conditions[0].1).or_default().push((number, way));
        }
    }
    // Listings of one security share a share class, a composite or an ISIN.
    let mut sameness: HashMap<String, HashSet<usize>> = HashMap::new();
    let keys = |instrument: &Instrument| {
        let figis = [Some(instrument.figi), instrument.composite_figi, instrument.share_class_figi];
        let figis = figis.into_iter().flatten().map(|figi| figi.to_string());
        figis.chain(isin(instrument)).collect::<Vec<_>>()
    };
    each_instrument(server, |instrument| {
        let values =
            [Some(instrument.figi.to_string()), instrument.ticker.clone(), isin(instrument)];
        for value in values.iter().flatten() {
            for (number, way) in by_value.get(value.as_str()).into_iter().flatten() {
                let conditions = &questions[*number].meant[*way];
                if conditions.iter().all(|(column, value)| holds(instrument, column, value)) {
                    for key in keys(instrument) {
                        sameness.entry(key).or_default().insert(*number);
                    }
                }
            }
        }
    });
    let mut rights: Vec<Right> = questions.iter().map(|_| Right::default()).collect();
    each_instrument(server, |instrument| {
        let code = instrument.property(Property::ExchCode).unwrap_or_default();
        for number in keys(instrument).iter().flat_map(|key| sameness.get(key)).flatten() {
            rights[*number].security.insert(instrument.figi);
            if questions[*number].listing.contains(&code) {
                rights[*number].listing.insert(instrument.figi);
            }
        }
    });
    rights
}

/// The first security that `/find` answers. It is also the first one of `/suggest` (contract 16.19).
fn first(server: &Server, text: &str) -> Option<Figi> {
    let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let path = format!("/find?query={encoded}");
    let answer = server.request("GET", &path, &[], "");
    assert_eq!(answer.status, 200, "{text} {}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    answer["securities"][0]["figi"].as_str().map(|figi| Figi::parse(figi).unwrap())
}

/// The table of a server.
fn measure(title: &str, server: &Server, questions: &[Question]) -> String {
    let mut counts: Vec<((&str, &str), [Count; 2])> = Vec::new();
    for (question, right) in questions.iter().zip(rights(server, questions)) {
        assert!(!right.security.is_empty(), "no such security: {}", question.text);
        let found = first(server, question.text);
        let is_in = |figis: &HashSet<Figi>| found.is_some_and(|found| figis.contains(&found));
        let results = [is_in(&right.security), is_in(&right.listing)];
        let is_listing_asked = !question.listing.is_empty();
        if question.set == "tuned" && (!results[0] || is_listing_asked && !results[1]) {
            eprintln!("{title}: {}: {}: {found:?}", question.kind, question.text);
        }
        for key in [(question.set, "all"), (question.set, question.kind)] {
            let place = counts.iter().position(|(known, _)| *known == key);
            let place = place.unwrap_or_else(|| {
                counts.push((key, [Count::default(); 2]));
                counts.len() - 1
            });
            let [security, listing] = &mut counts[place].1;
            security.add(results[0]);
            if is_listing_asked {
                listing.add(results[1]);
            }
        }
    }
    counts.sort_by_key(|((set, kind), _)| (*set, *kind != "all"));
    let mut table = format!(
        "# {title}\n{:<8}{:<24}{:>6}{:>7}{:>7}{:>9}{:>7}{:>7}\n",
        "set", "kind", "asked", "right", "bound", "listings", "right", "bound"
    );
    for ((set, kind), [security, listing]) in counts {
        write!(table, "{set:<8}{kind:<24}").unwrap();
        for (count, width) in [(security, 6), (listing, 9)] {
            let [share, bound] = count.shares();
            match count.asked {
                0 => write!(table, "{:>width$}{:>7}{:>7}", 0, "-", "-").unwrap(),
                asked => write!(table, "{asked:>width$}{share:>7.3}{bound:>7.3}").unwrap(),
            }
        }
        table.push('\n');
    }
    table
}

/// contract 10.2: people find the security that they mean, by its best listing.
#[test]
fn people_find_the_best_listing() {
    let questions = questions();
    for (set, least) in LEAST {
        assert!(questions.iter().filter(|question| question.set == set).count() >= least, "{set}");
    }
    let Some(folder) = real_data() else { return };
    let (_, numbers) = labels(&folder);
    let mut tables = Vec::new();
    for (title, names) in [("with importances", None), ("with importances and names", Some(NAMES))]
    {
        let names = names.map(|names| Input::Memory("names.csv", names.as_bytes().into()));
        let server = Server::build(|index| Build {
            enrich: vec![Input::Memory("labels.csv", numbers.clone().into_bytes().into())],
            names: names.into_iter().collect(),
            values: Some(folder.join("enums")),
            ..build_of(vec![Input::File(folder.join("real/instruments.csv.gz"))], index)
        });
        tables.push(measure(title, &server, &questions));
    }
    Golden::of_engine("relevance/people").compare(&tables.join("\n"));
}
