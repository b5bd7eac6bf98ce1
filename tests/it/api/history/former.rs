//! The former rows of identifiers that no row has now, and that nothing else changes.

use serde_json::{Value, json};

use super::{CSV, DAYS, ask, numbers, result, server, without_past};
use crate::support::{Server, figi};

/// contract 20.2: the row that an identifier was of, and that row today.
#[test]
fn former_rows_of_unknown_identifiers() {
    let server = server();
    let body = json!({"jobs": ["OLD", "GONE", "NEVER"], "fields": ["figi", "ticker", "uniqueID"]});
    let [one, four, twelve] = [1, 4, 12].map(figi);
    let expected = format!(
        r#"{{"generation":4,"results":[{{"status":"historical","idType":"TICKER","former":{{"figi":"{one}","ticker":"OLD","uniqueID":null}},"today":{{"figi":"{one}","ticker":"NEW","uniqueID":null}},"validFrom":"2024-01-02","validTo":"2024-01-02","basis":"observed"}},{{"status":"gone","idType":"TICKER","former":{{"figi":"{four}","ticker":"GONE","uniqueID":null}},"today":null,"validFrom":"2024-01-02","validTo":"2024-03-02","basis":"observed","successor":"{twelve}"}},{{"status":"unknown","idType":"TICKER"}}]}}"#
    );
    assert_eq!(ask(&server, &body).body, expected);
    // Its own FIGI, and a typed job.
    let figi_of_gone = result(&server, figi(4), json!({}));
    assert_eq!(
        (&figi_of_gone["status"], &figi_of_gone["idType"]),
        (&json!("gone"), &json!("ID_BB_GLOBAL"))
    );
    let job = json!({"idType": "TICKER", "idValue": "OLD", "exchCode": "US"});
    assert_eq!(result(&server, job, json!({}))["status"], "historical");
    let job = json!({"idType": "TICKER", "idValue": "OLD", "exchCode": "LN"});
    assert_eq!(result(&server, job, json!({}))["status"], "unknown", "it was on another exchange");
    // Without fields, the members are still an object.
    let empty = result(&server, "OLD", json!({"fields": []}));
    assert_eq!((&empty["former"], &empty["today"]), (&json!({}), &json!({})));
}

/// contract 20.3: an identifier of several securities in the past is none of them.
#[test]
fn several_securities_are_ambiguous() {
    let server = server();
    for options in [json!({}), json!({"many": "all"})] {
        let twin = result(&server, "TWIN", options);
        assert_eq!((&twin["status"], &twin["matches"]), (&json!("ambiguous"), &json!(2)));
        assert!(twin.get("data").is_none() && twin.get("today").is_none());
        assert_eq!(numbers(&twin["former"]), [7, 8]);
        let first = &twin["former"][0];
        assert_eq!(first["today"], json!({"figi": figi(7), "ticker": "SEVEN"}));
        assert_eq!((&first["validFrom"], &first["validTo"]), (&json!(DAYS[0]), &json!(DAYS[1])));
        assert_eq!(first["basis"], "observed");
    }
    let fields = result(&server, "TWIN", json!({"fields": []}));
    assert_eq!(fields["former"][0]["today"], json!({}), "also without fields");
}

/// contract 20.4: the further columns of CSV.
#[test]
fn csv() {
    let server = server();
    let post = |server: &Server, query: &str, body: &str| {
        let answer = server.request("POST", &format!("/resolve{query}"), &[CSV], body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    };
    let [one, four, seven, eight, twelve] = [1, 4, 7, 8, 12].map(figi);
    let body = "OLD\nGONE\nTWIN\nNEVER\nSTAYS\n";
    assert_eq!(
        post(&server, "?fields=figi,ticker", body),
        format!(
            "row,input,match,idType,matches,by,reason,figi,ticker,formerFigi,todayFigi,validFrom,validTo,basis,successorFigi\n\
             1,OLD,historical,TICKER,0,,it was of {one} until 2024-01-02,,,{one},{one},2024-01-02,2024-01-02,observed,\n\
             2,GONE,gone,TICKER,0,,\"it was of {four} until 2024-03-02, which is not there any more\",,,{four},,2024-01-02,2024-03-02,observed,{twelve}\n\
             3,TWIN,ambiguous,TICKER,2,,2 rows may be meant,,,{seven}|{eight},{seven}|{eight},,,,\n\
             4,NEVER,unknown,TICKER,0,,not found,,,,,,,,\n\
             5,STAYS,resolved,TICKER,1,only,,{twelve},STAYS,,,,,,\n"
        )
    );
    let heading = |query: &str| post(&server, query, "OLD\n").lines().next().unwrap().to_owned();
    let past = "formerFigi,todayFigi,validFrom,validTo,basis,successorFigi";
    assert!(
        heading("?candidates=true&formerly=true").ends_with(&format!("{past},formerly,candidates"))
    );
    assert!(
        post(&without_past(), "?fields=figi", "OLD\n")
            .starts_with("row,input,match,idType,matches,by,reason,figi\n")
    );
    // As of a day the fields are those of the row as it was.
    let of_day = post(&server, "?fields=ticker&asOf=2024-01-02", "OLD\n");
    assert_eq!(
        of_day.lines().nth(1).unwrap(),
        format!("1,OLD,resolved,TICKER,1,only,,OLD,{one},{one},2024-01-02,2024-01-02,observed,")
    );
    let many = post(&server, "?fields=ticker&asOf=2024-01-02&many=all", "TWIN\n");
    let lines: Vec<&str> = many.lines().skip(1).collect();
    assert_eq!(
        lines,
        [&seven, &eight].map(|figi| format!(
            "1,TWIN,ambiguous,TICKER,2,,2 rows may be meant,TWIN,{figi},{figi},2024-01-02,2024-03-01,observed,"
        ))
    );
    // A column of days, of which a blank one is not today.
    let table = "idValue,asOf\nOLD,2024-01-02\nOLD,2.1.2024\nOLD,\nNEW,2024-06-03\n";
    let statuses = |query: &str| -> Vec<String> {
        let answer = post(&server, query, table);
        answer.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(statuses(""), ["resolved", "invalid", "invalid", "resolved"]);
    assert_eq!(statuses("?asOf=2024-01-02"), ["resolved", "invalid", "resolved", "resolved"]);
}

/// contract 20.1: without a past, and for what is known today, nothing changes by a byte; mapping and
/// search never show a row of the past.
#[test]
fn nothing_else_changes() {
    let (with, without) = (server(), without_past());
    let known = json!({"jobs": ["STAYS", "NEW", "RECY", "STEP", "US0378331013", "NEVER", 7, {"idType": "X"}],
        "prefer": ["composite", "exchCode=XO|LN"], "many": "all"});
    let all = json!({"jobs": ["OLD", "GONE", "TWIN"]});
    assert_eq!(ask(&with, &known).body, ask(&without, &known).body);
    let unknown: Value = serde_json::from_str(&ask(&without, &all).body).unwrap();
    for result in unknown["results"].as_array().unwrap() {
        assert_eq!(*result, json!({"status": "unknown", "idType": "TICKER"}));
    }
    let dated = result(&without, json!({"text": "OLD", "asOf": "2024-01-02"}), json!({}));
    assert_eq!(dated["error"], "this index keeps no past (build it with --history)");
    for body in [json!({"jobs": ["RECY"], "formerly": true}), json!({"jobs": ["RECY"]})] {
        let answer = ask(&without, &body).body;
        assert_eq!(answer, ask(&without, &json!({"jobs": ["RECY"]})).body);
    }
    for ticker in ["OLD", "GONE", "TWIN", "RECY", "MOVED"] {
        let job = json!([{"idType": "TICKER", "idValue": ticker}]);
        assert_eq!(with.map(&job), without.map(&job));
        for path in ["/v3/search", "/v3/filter"] {
            let body = json!({"query": ticker}).to_string();
            assert_eq!(with.post(path, &body).body, without.post(path, &body).body, "{ticker}");
        }
        let path = format!("/suggest?query={ticker}");
        let get = |server: &Server| server.request("GET", &path, &[], "").body;
        assert_eq!(get(&with), get(&without), "{ticker}");
    }
    let values =
        |server: &Server| server.request("GET", "/v3/mapping/values/exchCode", &[], "").body;
    assert_eq!(values(&with), values(&without));
}
