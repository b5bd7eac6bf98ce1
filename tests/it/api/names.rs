//! Contract 16.16: names that people use, in suggestions.

use figdex_ingest::{Build, Input};
use serde_json::{Value, json};

use crate::support::{Server, build_of};

const PEOPLE: &str = include_str!("../golden/people.csv");
const NAMES: &str = include_str!("../golden/names.csv");

fn served(parts_of: Option<u32>) -> Server {
    let dump = Input::Memory("people", PEOPLE.as_bytes().into());
    let names = vec![Input::Memory("names", NAMES.as_bytes().into())];
    Server::build(|index| Build {
        names,
        part_instruments_max: parts_of,
        ..build_of(vec![dump], index)
    })
}

fn suggest(server: &Server, text: &str) -> Vec<Value> {
    let encoded = form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let answer = server.request("GET", &format!("/suggest?query={encoded}"), &[], "");
    assert_eq!(answer.status, 200, "{text} {}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    answer["data"].as_array().unwrap().clone()
}

/// The text, the tickers of the first suggestion, and the name by which it is found.
type Meant = (&'static str, &'static [&'static str], Option<(&'static str, &'static str)>);

const MEANT: [Meant; 47] = [
    ("facebook", &["META"], Some(("brand", "Facebook"))),
    ("facebook inc", &["META"], Some(("brand", "Facebook"))),
    ("faceb", &["META", "FBLF"], None),
    ("facebok", &["META", "FBLF"], None),
    ("google", &["GOOGL", "GOOG"], Some(("brand", "Google"))),
    ("googl", &["GOOGL"], None),
    ("goo", &["GOOG", "GOOGL"], None),
    ("gogle", &["GOOGL", "GOOG"], Some(("brand", "Google"))),
    ("google us", &["GOOGL", "GOOG"], Some(("brand", "Google"))),
    ("vw", &["VOW"], Some(("short", "VW"))),
    ("VW AG", &["VOW"], None),
    ("volkswagen pref", &["VOW3"], None),
    ("volkswagen ag preferred", &["VOW3"], None),
    ("p&g", &["PG"], Some(("short", "P&G"))),
    ("p and g", &["PG"], Some(("short", "P&G"))),
    ("procter and gamble", &["PG"], None),
    ("procter und gamble", &["PG"], None),
    ("procter & gamble", &["PG"], None),
    ("procter and gam", &["PG"], None),
    ("b of a", &["BAC"], Some(("short", "B of A"))),
    ("bofa", &["BOFA", "BAC"], None),
    ("jp morgan chase", &["JPM"], None),
    ("jpmorgan chase", &["JPM"], None),
    ("munich re", &["MUV2", "MURGY"], Some(("brand", "Munich Re"))),
    ("muenchener rueck", &["MUV2", "MURGY"], None),
    ("munchener ruck", &["MUV2", "MURGY"], None),
    ("Münchener Rück", &["MUV2", "MURGY"], None),
    ("berkshire class b", &["BRK/B"], None),
    ("berkshire hathaway class b", &["BRK/B"], None),
    ("berkshire hathaway cl a", &["BRK/A"], None),
    ("berkshire class a", &["BRK/A"], None),
    ("alphabet class a", &["GOOGL"], None),
    ("alphabet class c", &["GOOG"], None),
    ("volkswagen vorzugsaktien", &["VOW3"], None),
    ("procter & gamble public limited company", &["PG"], None),
    ("toyota motor kabushiki kaisha", &["7203"], None),
    ("berkshire hathaway-a", &["BRK/A"], None),
    ("international business machines", &["IBM"], None),
    ("big blue", &["IBM"], Some(("alias", "Big Blue"))),
    ("twitter", &["XHLD"], Some(("former", "TWITTER INC"))),
    ("tsmc", &["2330"], Some(("short", "TSMC"))),
    ("johnson electric", &["179"], None),
    ("トヨタ", &["7203"], None),
    ("自動車", &["7203"], None),
    ("삼성전자", &["005930"], None),
    ("삼성", &["005930"], None),
    ("腾讯", &["700"], None),
];

/// contract 16.16: names as people use them come first, and the answer says by which name a row is
/// found.
#[test]
fn names_that_people_use() {
    let mut wrong = Vec::new();
    for parts_of in [None, Some(7)] {
        let server = served(parts_of);
        for (text, tickers, name) in MEANT {
            let rows = suggest(&server, text);
            let ticker = rows.first().and_then(|row| row["ticker"].as_str());
            if !ticker.is_some_and(|ticker| tickers.contains(&ticker)) {
                wrong.push(format!("{parts_of:?} {text}: {ticker:?}"));
                continue;
            }
            if let Some((kind, name)) = name
                && rows[0]["matchedName"] != json!({"kind": kind, "name": name})
            {
                wrong.push(format!("{parts_of:?} {text}: {}", rows[0]["matchedName"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// contract 16.16: a row that is found by its own name has no `matchedName`.
#[test]
fn a_name_of_today_is_not_repeated() {
    let server = served(None);
    for text in ["meta", "meta platforms", "alphabet inc-cl a", "blue queen", "ibm"] {
        let rows = suggest(&server, text);
        assert_eq!(rows[0].get("matchedName"), None, "{text} {}", rows[0]);
    }
}

/// contract 16.16: a former name comes after an equal name of today.
#[test]
fn former_names_come_after_names_of_today() {
    let dump = "figi,ticker,name,exchCode,securityType2,marketSector,names\n\
        BBG000BLNNH6,AAA,ZENITH CORP,US,Common Stock,Equity,\
        \"[{\"\"name\"\":\"\"ORION CORP\"\",\"\"kind\"\":\"\"former\"\"}]\"\n\
        BBG000BLNQ16,BBB,ORION CORP,US,Common Stock,Equity,\n";
    let rows = suggest(&Server::of_dump(dump), "orion");
    let tickers: Vec<&str> = rows.iter().map(|row| row["ticker"].as_str().unwrap()).collect();
    assert_eq!(tickers, ["BBB", "AAA"]);
    assert_eq!(rows[1]["matchedName"], json!({"kind": "former", "name": "ORION CORP"}));
    assert_eq!(rows[1]["matched"], json!(["name"]));
}

/// contract 16.16: a search does not find rows by other names, and an instrument shows them.
#[test]
fn searches_do_not_read_other_names() {
    let server = served(None);
    for text in ["google", "munich re", "tsmc", "トヨタ"] {
        let answer = server.post("/v3/search", &json!({"query": text}).to_string());
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(answer["data"], json!([]), "{text}");
    }
    let figi = suggest(&server, "facebook")[0]["figi"].as_str().unwrap().to_owned();
    let answer = server.request("GET", &format!("/instruments/{figi}"), &[], "");
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(
        answer["instrument"]["names"],
        json!([
            {"name": "FACEBOOK INC", "kind": "former", "from": "2012-05-18", "to": "2022-06-08"},
            {"name": "Facebook", "kind": "brand"},
        ])
    );
}
