//! Search, filter and mapping answer byte for byte as they did (contract 16.16), but for the text of
//! cursors.
//!
//! `unmoved.golden` holds a digest for each ten of 2,000 questions over generated instruments and
//! `people.csv`, and of as many over the real instruments on a machine that has them. On other
//! machines the part of the real instruments stays unchanged. The file was recorded before
//! instruments had other names, and no change of names, suggestions or lists may alter it.
//! `FIGDEX_BLESS=1 cargo test --test it unmoved` writes it.

use std::fmt::Write as _;
use std::path::PathBuf;

use figdex_index::{IdType, Instrument, Property};
use figdex_ingest::{Build, Input, MaxRejects};
use figdex_io::Layout;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::Golden;
use crate::support::{Server, build_of, cluster, generated, real_data};

/// Instruments with names as people use them, aliases, umlauts, and texts without spaces.
const PEOPLE: &str = include_str!("people.csv");

/// Other names of these instruments.
const NAMES: &str = include_str!("names.csv");

const QUESTIONS: usize = 2_000;
const GROUP: usize = 10;

/// The number of generated instruments.
const GENERATED: u64 = 12_000;

/// Texts that people type, and that no change of names may answer in a search.
const TEXTS: [&str; 40] = [
    "facebook",
    "google",
    "vw",
    "p&g",
    "procter and gamble",
    "procter & gamble",
    "b of a",
    "jp morgan chase",
    "jpmorgan chase",
    "munich re",
    "muenchener rueck",
    "münchener rück",
    "berkshire class b",
    "berkshire hathaway cl b",
    "BRK/B",
    "トヨタ",
    "トヨタ自動車株式会社",
    "삼성전자",
    "腾讯",
    "腾讯控股",
    "tsmc",
    "twitter",
    "big blue",
    "bank of america",
    "volkswagen",
    "volkswagen ag",
    "société générale",
    "societe generale",
    "alphabet",
    "alphabet class a",
    "meta platforms",
    "blue queen",
    "international",
    "intl",
    "holdings",
    "ооо",
    "株式会社",
    "corp us",
    "bank",
    "a",
];

/// Numbers that look random and are the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// The digests of all answers of a server, with a title.
fn digests(title: &str, server: &Server) -> String {
    let mut instruments = Vec::new();
    let all = server.catalogue().instruments(|instrument| {
        instruments.push(instrument.clone());
        Ok::<_, figdex_index::Error>(())
    });
    all.unwrap();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut text = format!("# {title}\n");
    for group in 0..QUESTIONS / GROUP {
        let mut digest = Sha256::new();
        for question in 0..GROUP {
            let instrument = &instruments[numbers.below(instruments.len())];
            let (path, body) = match group % 10 {
                0..4 => search(instrument, group * GROUP + question, &mut numbers),
                4..7 => filter(instrument, &mut numbers),
                _ => mapping(instrument, &mut numbers),
            };
            let answer = server.post(path, &body.to_string());
            assert!(answer.status == 200, "{path} {body}: {} {}", answer.status, answer.body);
            digest.update(without_cursor(&answer.body));
        }
        let digest = digest.finalize();
        let short: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{group:03} {short}").unwrap();
    }
    text
}

/// An answer without the text of its cursor, whose layout may change (contract 11.4).
fn without_cursor(answer: &str) -> String {
    const NEXT: &str = "\"next\":\"";
    let Some((before, cursor)) = answer.split_once(NEXT) else { return answer.to_owned() };
    let (_, after) = cursor.split_once('"').expect("a cursor ends");
    [before, NEXT, after].concat()
}

/// A search for a text of an instrument, or for one of [`TEXTS`].
fn search(instrument: &Instrument, number: usize, numbers: &mut Numbers) -> (&'static str, Value) {
    let name = instrument.name.as_deref().unwrap_or("bank");
    let words: Vec<&str> = name.split_whitespace().collect();
    let some = numbers.below(words.len().max(1)) + 1;
    let mut query = match number % 10 {
        0 | 1 => TEXTS[numbers.below(TEXTS.len())].to_owned(),
        2 => name.to_owned(),
        3 => name.to_lowercase(),
        4 => words[..some.min(words.len())].join(" "),
        5 => words[words.len().saturating_sub(some)..].join(" "),
        6 => instrument.ticker.clone().unwrap_or_default(),
        7 => instrument.alias.first().cloned().unwrap_or_else(|| name.to_owned()),
        8 => {
            let exch_code = instrument.property(Property::ExchCode).unwrap_or_default();
            format!("{} {exch_code}", words[..some.min(words.len())].join(" "))
        }
        _ => {
            let id = instrument.identifiers.first().map(|id| id.as_str().to_owned());
            id.unwrap_or_else(|| instrument.figi.to_string())
        }
    };
    while query.len() > 200 {
        query.pop();
    }
    let mut body = Map::new();
    body.insert("query".into(), json!(query));
    if numbers.below(4) == 0 {
        narrow(&mut body, instrument, numbers);
    }
    ("/v3/search", Value::Object(body))
}

fn filter(instrument: &Instrument, numbers: &mut Numbers) -> (&'static str, Value) {
    let mut body = Map::new();
    if numbers.below(3) == 0 {
        let name = instrument.name.as_deref().unwrap_or_default();
        if let Some(word) = name.split_whitespace().next() {
            body.insert("query".into(), json!(word));
        }
    }
    narrow(&mut body, instrument, numbers);
    body.insert("includeUnlistedEquities".into(), json!(numbers.below(2) == 0));
    ("/v3/filter", Value::Object(body))
}

fn mapping(instrument: &Instrument, numbers: &mut Numbers) -> (&'static str, Value) {
    let mut jobs = vec![json!({"idType": "ID_BB_GLOBAL", "idValue": instrument.figi.to_string()})];
    for id in instrument.identifiers.iter().take(3) {
        jobs.push(json!({"idType": id.id_type().name(), "idValue": id.as_str()}));
    }
    let ticker = instrument.ticker.as_deref();
    if let Some(ticker) = ticker.filter(|ticker| IdType::Ticker.admit(ticker).is_ok()) {
        let mut job = Map::new();
        job.insert("idType".into(), json!("TICKER"));
        job.insert("idValue".into(), json!(ticker));
        if numbers.below(2) == 0 {
            narrow(&mut job, instrument, numbers);
        }
        jobs.push(Value::Object(job));
    }
    ("/v3/mapping", Value::Array(jobs))
}

/// Adds some of the properties of an instrument.
fn narrow(body: &mut Map<String, Value>, instrument: &Instrument, numbers: &mut Numbers) {
    // A question has a market in only one way.
    let property =
        [Property::ExchCode, Property::SecurityType2, Property::MarketSecDes][numbers.below(3)];
    if let Some(value) = instrument.property(property) {
        body.insert(property.name().into(), json!(value));
    }
    if let Some(strike) = instrument.strike {
        body.insert("strike".into(), json!([strike, strike]));
    }
}

/// Names for the instruments of a server: words of other instruments' names, so that they would
/// find many more rows if a search read them.
fn names_of(server: &Server) -> String {
    let mut names = "figi,name,kind\n".to_owned();
    let mut words: Vec<String> = Vec::new();
    let all = server.catalogue().instruments(|instrument| {
        let name = instrument.name.as_deref().unwrap_or_default();
        let kind = ["brand", "former", "short", "transliteration"][words.len() % 4];
        if let [.., first, second] = &words[..]
            && words.len().is_multiple_of(3)
        {
            writeln!(names, "{},{first} {second},{kind}", instrument.figi).unwrap();
        }
        let plain = |word: &&str| word.chars().all(char::is_alphanumeric);
        words.extend(name.split_whitespace().find(plain).map(str::to_owned));
        Ok::<_, figdex_index::Error>(())
    });
    all.unwrap();
    names
}

/// contract 16.16: search, filter and mapping do not move by a byte.
#[test]
fn answers_are_as_recorded() {
    compare_answers(false);
}

/// contract 16.16: other names do not move them either.
#[test]
fn answers_with_other_names_are_as_recorded() {
    compare_answers(true);
}

fn compare_answers(is_named: bool) {
    if cluster::is_asked() {
        // A cluster is compared with a folder by other tests, and its cursors are its own.
        return;
    }
    let golden = Golden::new("unmoved.golden");
    let inputs = vec![
        Input::Memory("generated", generated(GENERATED, Layout::Csv).into()),
        Input::Memory("people", PEOPLE.as_bytes().into()),
    ];
    let server = Server::build(|index| build_of(inputs.clone(), index));
    let server = if is_named { with_names(&server, inputs, None) } else { server };
    let mut text = digests("generated instruments", &server);
    if let Some(folder) = real_data() {
        let inputs = vec![Input::File(folder.join("real/instruments.csv.gz"))];
        let values = Some(folder.join("enums"));
        let server = Server::of_real_instruments().unwrap();
        let server = if is_named { with_names(&server, inputs, values) } else { server };
        text += &format!("\n{}", digests("real instruments", &server));
    } else if let Some((_, real)) = golden.text().split_once("\n# real instruments") {
        text += &format!("\n# real instruments{real}");
    }
    golden.compare(&text);
}

/// A server over the same inputs, with other names.
fn with_names(server: &Server, inputs: Vec<Input>, values: Option<PathBuf>) -> Server {
    let names = names_of(server);
    assert!(names.lines().count() > 1_000, "{}", names.lines().count());
    let names = vec![
        Input::Memory("names of people", NAMES.as_bytes().into()),
        Input::Memory("names", names.into_bytes().into()),
    ];
    let max_rejects = MaxRejects::default();
    Server::build(|index| Build { values, names, max_rejects, ..build_of(inputs, index) })
}
