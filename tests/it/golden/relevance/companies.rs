//! Relevance of one word that is the name of a large company and of smaller ones too.
//!
//! The truth is a market-capitalisation label of each share class, from Nano Cap to Mega Cap. The
//! questions are made from it: the first words of the names of large companies, and beginnings of
//! these words. The right answer is any row of the largest company with the word. Words that two
//! different large companies share are left out, since nobody can say which one is meant.
//!
//! `companies.golden` holds how often the first row was right, in an index that has the labels as
//! importances and in one that has none. `FIGDEX_BLESS=1 cargo test --test it companies` writes it.
//! `companies-cluster.golden` is that of an index in a cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use figdex_index::{Figi, Instrument, Property};
use figdex_ingest::{Build, Input};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use super::Golden;
use crate::support::{Server, build_of, real_data};

const LABELS: [&str; 6] =
    ["Nano Cap", "Micro Cap", "Small Cap", "Mid Cap", "Large Cap", "Mega Cap"];
const LARGE: usize = 5;

/// The kinds of companies' rows; funds, options and others are not asked for.
const COMPANIES: [&str; 5] = ["", "Common Stock", "Depositary Receipt", "REIT", "Preferred Stock"];

/// Words of names that do not tell companies apart.
const ENDINGS: &str = "inc corp co plc ltd sa ag nv se spa company group grp holdings holding hldg \
    hldgs limited corporation the and of cl class a b c ord reg regs shs adr sponsored sp inh pjsc \
    oao ojsc ab asa as oyj tbk pt persero public bhd berhad pcl kgaa kk n v s p dl eo ls sf hd rl yc \
    sk dk nk";

/// The steps by which questions are chosen: every second word, every eighth beginning.
const WORDS_STEP: usize = 2;
const BEGINNINGS_STEP: usize = 8;

/// The least shares of right first rows, with and without importances.
const SEARCH_MIN: [f64; 2] = [0.95, 0.88];
const SUGGEST_MIN: [f64; 2] = [0.93, 0.88];

#[derive(Default)]
struct Security {
    names: Vec<Vec<String>>,
    /// The place of its label from 1 on; 0 when it has none.
    label: usize,
    is_company: bool,
}

struct Question {
    text: String,
    right: HashSet<Figi>,
}

fn words(name: &str) -> Vec<String> {
    let name = name.to_lowercase().replace(['\'', '&'], "");
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    match words.split_first() {
        Some((first, rest)) if first == "the" => rest.to_vec(),
        _ => words,
    }
}

/// Whether two names are those of one company, perhaps cut and abbreviated.
fn are_same(one: &[String], other: &[String]) -> bool {
    let significant = |name: &[String]| -> Vec<String> {
        let is_ending = |word: &str| ENDINGS.split_whitespace().any(|ending| ending == word);
        let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
        name.iter().filter(|word| !is_ending(word) && !is_number(word)).take(2).cloned().collect()
    };
    let (own, others) = (significant(one), significant(other));
    if own.is_empty() || others.is_empty() {
        return one.first() == other.first();
    }
    let start = |word: &str| word.chars().take(4).collect::<String>();
    own.iter().zip(&others).all(|(a, b)| {
        start(a) == start(b) || a.starts_with(b.as_str()) || b.starts_with(a.as_str())
    })
}

/// The questions with these texts, each with the securities that have it.
fn questions(
    texts: &BTreeMap<String, BTreeSet<Figi>>,
    securities: &HashMap<Figi, Security>,
    anywhere: &HashMap<String, HashSet<Figi>>,
) -> Vec<Question> {
    let mut questions = Vec::new();
    for (text, found) in texts {
        let label = |figi: &Figi| securities[figi].label;
        let is_same = |a: &Figi, b: &Figi| {
            let (a, b) = (&securities[a].names, &securities[b].names);
            a.iter().any(|a| b.iter().any(|b| are_same(a, b)))
        };
        let largest: Vec<&Figi> = found.iter().filter(|figi| label(figi) >= LARGE).collect();
        let Some(top) = largest.iter().map(|figi| label(figi)).max() else { continue };
        if !largest.iter().all(|figi| is_same(largest[0], figi)) || found.len() == largest.len() {
            continue;
        }
        let right = found.iter().filter(|figi| largest.iter().any(|large| is_same(figi, large)));
        let right: HashSet<Figi> = right.copied().collect();
        let as_large = |figi: &&Figi| label(figi) >= top && !right.contains(*figi);
        if !anywhere.get(text).into_iter().flatten().any(|figi| as_large(&figi)) {
            questions.push(Question { text: text.clone(), right });
        }
    }
    questions
}

fn security_of(share_class: Option<Figi>, composite: Option<Figi>, figi: Figi) -> Figi {
    share_class.or(composite).unwrap_or(figi)
}

/// The words and the beginnings to ask for.
fn ask(server: &Server, labels: &HashMap<Figi, usize>) -> (Vec<Question>, Vec<Question>) {
    let mut securities: HashMap<Figi, Security> = HashMap::new();
    let all = server.catalogue().instruments(|instrument: &Instrument| {
        let own = instrument.figi;
        let key = security_of(instrument.share_class_figi, instrument.composite_figi, own);
        let fresh = Security { is_company: true, ..Security::default() };
        let security = securities.entry(key).or_insert(fresh);
        let label = [Some(own), instrument.share_class_figi].into_iter().flatten();
        let label = label.filter_map(|figi| labels.get(&figi)).max();
        security.label = security.label.max(label.copied().unwrap_or(0));
        let kind = instrument.property(Property::SecurityType2).unwrap_or_default();
        security.is_company &= COMPANIES.contains(&kind);
        let name = words(instrument.name.as_deref().unwrap_or_default());
        if !name.is_empty() && !security.names.contains(&name) {
            security.names.push(name);
        }
        Ok::<_, figdex_index::Error>(())
    });
    all.unwrap();
    securities.retain(|_, security| security.is_company);

    let mut firsts: BTreeMap<String, BTreeSet<Figi>> = BTreeMap::new();
    let mut anywhere: HashMap<String, HashSet<Figi>> = HashMap::new();
    for (figi, security) in &securities {
        for name in &security.names {
            let first = &name[0];
            if first.chars().count() >= 3 && !first.chars().all(char::is_numeric) {
                firsts.entry(first.clone()).or_default().insert(*figi);
            }
            for word in name {
                anywhere.entry(word.clone()).or_default().insert(*figi);
            }
        }
    }
    let mut beginnings: BTreeMap<String, BTreeSet<Figi>> = BTreeMap::new();
    for (word, found) in &firsts {
        for (end, _) in word.char_indices().skip(3).take(4) {
            let beginning = &word[..end];
            if !firsts.contains_key(beginning) {
                beginnings.entry(beginning.to_owned()).or_default().extend(found);
            }
        }
    }
    let each = |texts, step| {
        questions(texts, &securities, &anywhere).into_iter().step_by(step).collect::<Vec<_>>()
    };
    (each(&firsts, WORDS_STEP), each(&beginnings, BEGINNINGS_STEP))
}

/// The share of the questions whose first row is right.
fn first_right(server: &Server, questions: &[Question], is_search: bool) -> f64 {
    let is_right = |question: &&Question| {
        let text = &question.text;
        let answer = if is_search {
            server.post("/v3/search", &json!({"query": text}).to_string())
        } else {
            let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
            server.request("GET", &format!("/suggest?limit=1&query={text}"), &[], "")
        };
        assert_eq!(answer.status, 200, "{text} {}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let row = &answer["data"][0];
        let figi = |column: &str| row[column].as_str().map(|figi| Figi::parse(figi).unwrap());
        figi("figi").is_some_and(|own| {
            let security = security_of(figi("shareClassFIGI"), figi("compositeFIGI"), own);
            question.right.contains(&security)
        })
    };
    questions.iter().filter(is_right).count() as f64 / questions.len() as f64
}

/// The label of each share class as a number, and a file for `--enrich` that has them as importances.
pub(super) fn labels(folder: &Path) -> (HashMap<Figi, usize>, String) {
    let mut labels = HashMap::new();
    let mut numbers = "figi,shareClassFIGI,importance\n".to_owned();
    let file = File::open(folder.join("real/importance.csv.gz")).unwrap();
    for row in csv::Reader::from_reader(MultiGzDecoder::new(file)).records() {
        let row = row.unwrap();
        let label = 1 + LABELS.iter().position(|label| *label == &row[2]).unwrap();
        writeln!(numbers, "{},{},{label}", &row[0], &row[1]).unwrap();
        for figi in [&row[0], &row[1]].into_iter().filter(|figi| !figi.is_empty()) {
            let known = labels.entry(Figi::parse(figi).unwrap()).or_insert(label);
            *known = label.max(*known);
        }
    }
    (labels, numbers)
}

/// contract 10.8, 10.9: the large company comes first.
#[test]
fn the_large_company_comes_first() {
    let Some(folder) = real_data() else { return };
    let (labels, numbers) = labels(&folder);
    let with_importances = Server::build(|index| Build {
        enrich: vec![Input::Memory("labels.csv", numbers.into_bytes().into())],
        values: Some(folder.join("enums")),
        ..build_of(vec![Input::File(folder.join("real/instruments.csv.gz"))], index)
    });
    let servers = [with_importances, Server::of_real_instruments().unwrap()];
    let (words, beginnings) = ask(&servers[1], &labels);
    let mut table =
        format!("{:<24}{:>10}{:>16}{:>10}\n", "", "questions", "with importance", "without");
    let mut add = |what: &str, questions: &[Question], is_search| {
        let shares = [0, 1].map(|number| first_right(&servers[number], questions, is_search));
        let [with, without] = shares;
        writeln!(table, "{what:<24}{:>10}{with:>16.3}{without:>10.3}", questions.len()).unwrap();
        shares
    };
    let searched = add("word, search", &words, true);
    let suggested = add("word, suggestion", &words, false);
    let begun = add("beginning, suggestion", &beginnings, false);
    let both = [0, 1].map(|number| f64::midpoint(suggested[number], begun[number]));
    assert!(searched.iter().zip(SEARCH_MIN).all(|(share, min)| *share >= min), "{table}");
    assert!(both.iter().zip(SUGGEST_MIN).all(|(share, min)| *share >= min), "{table}");
    Golden::of_engine("relevance/companies").compare(&table);
}
