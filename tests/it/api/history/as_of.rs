//! Lists as of a day.

use serde_json::{Value, json};

use super::{DAYS, ISIN, ask, number, numbers, on, result, results, server};
use crate::support::figi;

/// contract 20.6: a recycled ticker means the one and then the other row.
#[test]
fn a_recycled_ticker() {
    let server = server();
    let two = on(&server, "RECY", "2024-01-02");
    assert_eq!(
        two,
        json!({"status": "resolved", "idType": "TICKER", "by": "only", "asOf": "2024-01-02",
            "data": [{"figi": figi(2), "ticker": "RECY"}], "today": null,
            "validFrom": "2024-01-02", "validTo": "2024-01-02", "basis": "observed"})
    );
    let three = on(&server, "RECY", "2024-06-03");
    assert_eq!((number(&three["data"][0]), &three["validTo"]), (3, &Value::Null));
    assert_eq!(on(&server, "RECY", "2024-03-01")["status"], "unknown", "between both");
    let now = result(&server, "RECY", json!({}));
    assert_eq!(
        now,
        json!({"status": "resolved", "idType": "TICKER", "by": "only",
        "data": [{"figi": figi(3), "ticker": "RECY"}]})
    );
    // contract 20.11.
    let formerly = result(&server, "RECY", json!({"formerly": true}));
    assert_eq!(
        formerly["formerly"],
        json!([{"figi": figi(2), "name": "COMPANY 2", "ticker": "RECY", "exchCode": "US",
            "validFrom": "2024-01-02", "validTo": "2024-01-02"}])
    );
    for text in ["STAYS", "OLD", "NEVER", "NEW"] {
        assert!(
            result(&server, text, json!({"formerly": true})).get("formerly").is_none(),
            "{text}"
        );
    }
    let dated = result(&server, "RECY", json!({"formerly": true, "asOf": "2024-06-03"}));
    assert!(dated.get("formerly").is_none());
}

/// contract 20.6: a renamed row is found by the name of the day, and shown as it is today.
#[test]
fn a_renamed_row() {
    let server = server();
    let old = on(&server, "OLD", "2024-01-02");
    assert_eq!(old["data"], json!([{"figi": figi(1), "ticker": "OLD"}]));
    assert_eq!(old["today"], json!({"figi": figi(1), "ticker": "NEW"}));
    assert_eq!(on(&server, "OLD", "2024-03-01")["status"], "unknown");
    assert_eq!(on(&server, "NEW", "2024-01-02")["status"], "unknown");
    assert_eq!(on(&server, "NEW", "2024-06-03")["status"], "resolved");
    // A job's own day wins.
    let day = json!({"asOf": "2024-06-03"});
    let job = json!({"text": "OLD", "asOf": "2024-01-02"});
    assert_eq!(result(&server, job, day.clone())["status"], "resolved");
    let both =
        results(&server, json!(["STAYS", {"text": "OLD", "asOf": "2024-01-02"}, "OLD"]), json!({}));
    let statuses: Vec<_> = both.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["resolved", "resolved", "historical"]);
    assert!(both[0].get("asOf").is_none() && both[0].get("validFrom").is_none());
    let typed = json!({"asOf": "2024-01-02", "idType": "TICKER", "idValue": "OLD"});
    assert_eq!(result(&server, typed, json!({}))["status"], "resolved");
    // A row that never changed is from the first day of the past.
    let stays = on(&server, "STAYS", "2024-03-02");
    assert_eq!((&stays["validFrom"], &stays["validTo"]), (&json!(DAYS[0]), &Value::Null));
}

/// contract 20.8: a value that was learned later.
#[test]
fn learned_later() {
    let server = server();
    let early = on(&server, ISIN, "2024-01-02");
    assert_eq!((&early["status"], &early["basis"]), (&json!("resolved"), &json!("assumed")));
    assert_eq!(numbers(&early["data"]), [5]);
    assert_eq!(on(&server, ISIN, "2024-06-03")["basis"], "observed");
    assert_eq!(on(&server, "LEARN", "2024-01-02")["basis"], "observed", "by its ticker");
}

/// contract 20.7: a day on which nothing was observed.
#[test]
fn uncertain_days() {
    let server = server();
    let body = json!({"jobs": ["OLD", "GONE"], "fields": ["ticker"], "asOf": "2024-02-01"});
    let answer: Value = serde_json::from_str(&ask(&server, &body).body).unwrap();
    let old = &answer["results"][0];
    assert_eq!(
        *old,
        json!({"status": "uncertain", "idType": "TICKER", "asOf": "2024-02-01", "former": [
            {"ticker": "OLD", "today": {"ticker": "NEW"}, "validFrom": "2024-01-02",
             "validTo": "2024-01-02", "basis": "observed"}]})
    );
    assert_eq!(answer["results"][1]["status"], "resolved", "the same row on both sides");
    // Both sides name the same row, whose exchange differs.
    assert_eq!(on(&server, "MOVED", "2024-02-01")["status"], "resolved");
    let gone = on(&server, "GONE", "2024-04-01");
    assert_eq!((&gone["status"], numbers(&gone["former"])), (&json!("uncertain"), vec![4]));
    let gone = on(&server, "GONE", "2024-06-03");
    assert_eq!(gone["status"], "unknown");
}

/// contract 20.9: days that the past does not cover.
#[test]
fn out_of_coverage() {
    let server = server();
    for day in ["2024-01-01", "2024-06-04", "1900-01-01", "9999-12-31"] {
        let result = on(&server, "STAYS", day);
        assert_eq!(
            result,
            json!({"status": "outOfCoverage", "asOf": day,
                "coverage": {"since": "2024-01-02", "until": "2024-06-03"}})
        );
    }
    // The dumps had no rows of its exchange before.
    let late = on(&server, "LATE", "2024-03-01");
    assert_eq!(late["coverage"], json!({"since": "2024-06-03", "until": "2024-06-03"}));
    assert_eq!(on(&server, "LATE", "2024-06-03")["status"], "resolved");
    assert_eq!(on(&server, "NEVER", "2024-01-02")["status"], "unknown");
    // Nor of one of its exchanges, but another row had the ticker before.
    assert_eq!(on(&server, "AGAIN", "2024-03-02")["status"], "unknown");
}

/// contract 20.2: the past has no unique IDs and no metadata, also where the row is as today.
#[test]
fn columns_that_the_past_lacks() {
    let server = server();
    let fields = ["figi", "uniqueID", "metadata"];
    let stays = result(&server, "STAYS", json!({"asOf": "2024-03-02", "fields": fields}));
    let figi = figi(12);
    let note = "A note.";
    assert_eq!(stays["data"], json!([{"figi": figi, "uniqueID": null, "metadata": null}]));
    assert_eq!(stays["today"], json!({"figi": figi, "uniqueID": "EQ12", "metadata": note}));
    // The ten usual fields are written in another way.
    let usual = result(&server, "STAYS", json!({"asOf": "2024-03-02", "fields": null}));
    assert_eq!(usual["data"][0], usual["today"]);
    assert_eq!(usual["data"][0].as_object().unwrap().len(), 10);
    // contract 20.4: and in CSV.
    let body = json!({"jobs": ["STAYS"], "fields": fields, "asOf": "2024-03-02"}).to_string();
    let headers = [("content-type", "application/json"), ("accept", "text/csv")];
    let csv = server.request("POST", "/resolve", &headers, &body).body;
    assert!(csv.lines().nth(1).unwrap().contains(&format!(",{figi},,,")), "{csv}");
}

/// contract 20.10: filters and steps know the values that rows had.
#[test]
fn former_values() {
    let server = server();
    let job =
        |day: &str| json!({"idType": "TICKER", "idValue": "MOVED", "exchCode": "XO", "asOf": day});
    let then = result(&server, job("2024-01-02"), json!({"fields": ["figi", "exchCode"]}));
    assert_eq!(then["data"], json!([{"figi": figi(9), "exchCode": "XO"}]));
    assert_eq!(then["today"]["exchCode"], "US");
    assert_eq!(result(&server, job("2024-06-03"), json!({}))["status"], "unknown");
    let now = json!({"idType": "TICKER", "idValue": "MOVED", "exchCode": "XO"});
    let now = result(&server, now, json!({}));
    assert_eq!(now["error"], "exchCode: \"XO\" is not one of its values in this index");
    let text = result(&server, "MOVED XO", json!({"asOf": "2024-01-02"}));
    assert_eq!(numbers(&text["data"]), [9]);

    let prefer = json!(["exchCode=XO|US"]);
    for (day, number) in [("2024-03-01", 10), ("2024-03-02", 11)] {
        let step = result(&server, "STEP", json!({"asOf": day, "prefer": prefer}));
        assert_eq!((numbers(&step["data"]), &step["by"]), (vec![number], &json!("exchCode=XO|US")));
    }
    let several = on(&server, "STEP", "2024-01-02");
    assert_eq!((&several["status"], &several["matches"]), (&json!("ambiguous"), &json!(2)));
    assert_eq!(numbers(&several["data"]), [10, 11]);
    assert_eq!(several["data"][0]["validTo"], "2024-03-01");
    // A value of the past is unknown to a list without days.
    let unknown = |body: Value| ask(&server, &body).header("figdex-unknown-values").to_owned();
    assert_eq!(unknown(json!({"jobs": ["STEP"], "prefer": prefer})), "exchCode=XO");
    assert_eq!(unknown(json!({"jobs": ["STEP"], "prefer": prefer, "asOf": "2024-01-02"})), "");
}

/// contract 20.10: numbers are those of today.
#[test]
fn numbers_of_former_rows() {
    let server = server();
    let with = |coupon: Value| {
        let job = json!({"idType": "TICKER", "idValue": "OLD", "coupon": coupon});
        result(&server, job, json!({"asOf": "2024-01-02"}))["status"].clone()
    };
    assert_eq!(with(json!([4, 5])), "resolved");
    assert_eq!(with(json!([5, 6])), "unknown");
}

/// contract 20.5: days in another form, and values that are not days.
#[test]
fn bad_days() {
    let server = server();
    const FAULT: &str = "asOf must be a day from 1900-01-01 on, such as 2022-06-01";
    for day in [
        json!("01.06.2022"),
        json!("06/01/2022"),
        json!("2022-6-1"),
        json!("20220601"),
        json!("2022-06-01T00:00:00Z"),
        json!("2022-06-01 "),
        json!("2022-02-30"),
        json!("1899-12-31"),
        json!("today"),
        json!(""),
        json!(20220601),
        json!(["2022-06-01"]),
    ] {
        let job = json!({"text": "OLD", "asOf": day});
        let result = result(&server, job, json!({}));
        assert_eq!(result, json!({"status": "invalid", "error": FAULT}), "{day}");
        let body = json!({"jobs": ["OLD"], "asOf": day});
        let answer = server.post("/resolve", &body.to_string());
        assert_eq!((answer.status, answer.body), (400, format!("{{\"error\":\"{FAULT}.\"}}")));
        if let Some(text) = day.as_str() {
            let path = format!("/resolve?asOf={text}").replace(' ', "%20");
            assert_eq!(server.post(&path, r#"{"jobs":["OLD"]}"#).status, 400, "{text}");
        }
    }
    let null = result(&server, json!({"text": "STAYS", "asOf": null}), json!({}));
    assert_eq!(null["status"], "resolved");
    for (path, body, fault) in [
        ("/resolve?asOf=2024-01-02", r#"{"jobs":[],"asOf":"2024-01-02"}"#, "asOf is given twice."),
        ("/resolve?formerly=1", r#"{"jobs":[]}"#, "formerly must be true or false."),
    ] {
        let answer = server.post(path, body);
        assert_eq!((answer.status, answer.body), (400, format!("{{\"error\":\"{fault}\"}}")));
    }
    // Other members next to a day.
    for (job, key) in [
        (json!({"asOf": "2024-01-02", "idType": "TICKER", "idValue": "OLD", "x": 1}), "x"),
        (json!({"asOf": "2024-01-02", "idType": "TICKER", "idValue": "OLD", "as": "TICKER"}), "as"),
        (json!({"asOf": "2024-01-02", "text": "OLD", "x": 1}), "x"),
    ] {
        assert_eq!(result(&server, job, json!({}))["error"], format!("Invalid key '{key}'"));
    }
    // A mapping job has no day.
    let mapping = json!([{"idType": "TICKER", "idValue": "NEW", "asOf": "2024-01-02"}]);
    assert_eq!(server.map(&mapping)[0], json!({"error": "Invalid key 'asOf'."}));
}
