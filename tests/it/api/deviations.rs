//! Contract 18: where Figdex differs from the public service, a test for each row of the table that
//! no other test holds.

use figdex::config::{SearchEnvelope, Settings, UnknownEnum};
use serde_json::{Value, json};

use crate::support::{Answer, Server, figi};

/// Two shares and a bond, as a dump.
fn server(settings: Settings) -> Server {
    let dump = format!(
        "figi,compositeFIGI,ticker,name,exchCode,marketSector,listed,ID_ISIN,alias\n\
         {0},{0},AAA,ALPHA CORP,US,Equity,true,US4592001014,firstborn\n\
         {1},{1},BBB,BETA CORP,LN,Equity,true,,\n\
         {2},,CCC 5,GAMMA CORP,,Corp,,,\n",
        figi(1),
        figi(2),
        figi(3)
    );
    Server::of_dump(&dump).with_settings(settings)
}

fn json_of(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// contract 18.1, 18.2, 18.5, 18.6: four settings choose between two ways.
#[test]
fn settings_choose_the_other_way() {
    let filter = |settings: &Settings, body: &Value| {
        server(settings.clone()).post("/v3/filter", &body.to_string())
    };
    let default = Settings::default();
    let unknown = json!({"exchCode": "NOWHERE"});
    assert_eq!(filter(&default, &unknown).body, "Invalid enum field.");
    let no_match = Settings { unknown_enum: UnknownEnum::NoMatch, ..Settings::default() };
    assert_eq!(json_of(&filter(&no_match, &unknown)), json!({"data": [], "total": 0}));

    let one = json!({"query": "alpha"});
    assert!(json_of(&filter(&default, &one)).is_object());
    let array = Settings { search_envelope: SearchEnvelope::Array, ..Settings::default() };
    assert_eq!(json_of(&filter(&array, &one))[0]["total"], 1);

    let strict = Settings { strict_contract: true, ..Settings::default() };
    let several = json!({"exchCode": ["US", "LN"]});
    assert_eq!(json_of(&filter(&default, &several))["total"], 2);
    assert_eq!(filter(&strict, &several).body, "Invalid enum field.");
    let level = json!({"level": "composite"});
    assert_eq!(json_of(&filter(&default, &level))["total"], 2);
    assert_eq!(json_of(&filter(&strict, &level)), json!({"error": "Invalid key 'level'."}));
}

/// contract 18.9, 18.12: words of the fields that 9.1 names, identifiers and a last exchange code;
/// and the values of the index.
#[test]
fn words_and_values_are_those_of_the_index() {
    let server = server(Settings::default());
    for (query, found) in [
        ("alpha", 1),
        ("AAA", 1),
        ("firstborn", 1),
        ("US4592001014", 1),
        ("corp us", 1),
        ("corp", 3),
        ("equity", 0),
    ] {
        let answer = server.post("/v3/filter", &json!({"query": query}).to_string());
        assert_eq!(json_of(&answer)["total"], found, "{query}");
    }
    let answer = server.request("GET", "/v3/mapping/values/exchCode", &[], "");
    assert_eq!(json_of(&answer), json!({"values": ["LN", "US"]}));
}
