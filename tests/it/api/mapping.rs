//! Contract, chapter 4: mapping jobs; what an identifier finds (chapter 5) and how properties
//! narrow it (chapter 6).

use std::ops::Range;

use figdex::State;
use figdex::config::Settings;
use figdex_index::IdType;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Server, figis};

/// One instrument for each kind of question, named by the number that [`figi`] takes.
fn server() -> Server {
    let [a, b, c, d, e, f, g, h] = [1, 2, 3, 4, 5, 6, 7, 8].map(figi);
    Server::of_dump(&format!(
        "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,micCode,currency,marketSector,\
         securityType,securityType2,securityDescription,stateCode,optionType,strike,contractSize,\
         coupon,expiration,maturity,listed,metadata,uniqueID,ID_ISIN,ID_CUSIP,ID_EXCH_SYMBOL\n\
         {h},,,,,,,,,,,,,,,,,,,,Metadata N/A,,,,\n\
         {b},{a},BBG001S5S399,IBM,INTL BUSINESS MACHINES CORP,UN,XNYS,USD,Equity,Common Stock,\
         Common Stock,IBM,,,,,,,,,,EQ0010080100001000,US4592001014,459200101,IBM\n\
         {a},{a},BBG001S5S399,IBM,INTL BUSINESS MACHINES CORP,US,,USD,Equity,Common Stock,\
         Common Stock,IBM,,,,,,,,,,EQ0010080100001000,US4592001014,459200101,IBM\n\
         {c},,,IBM 03/20/26 P130,March 26 Puts on IBM US,US,,USD,Equity,Equity Option,Option,\
         IBM US 03/20/26 P130,,Put,130,100,,2026-03-20,,,,,,,\n\
         {d},,,IBM 3.5 05/15/29,IBM CORP,TRACE,,USD,Corp,GLOBAL,Corp,IBM 3 1/2 05/15/29,,,,,3.5,,\
         2029-05-15,,,,,,\n\
         {e},,,CT UNVHGR 5 02/15/2029,UNIV OF CT-A,,,USD,Muni,FIXED,Muni,,CT,,,,5,,2029-02-15,,,,,,\n\
         {f},,,SBA 502345,SBA 502345,,,USD,Mtge,SBA Pool,Pool,SBA 502345,,,,,,,2030-01-01,,,,,,\n\
         {g},,,HID,HIDDEN & \"CO\",,,USD,Equity,Common Stock,Common Stock,HID,,,,,,,,false,,,,,\n"
    ).replace("HIDDEN & \"CO\"", "\"HIDDEN & \"\"CO\"\"\""))
}

/// The answer to a job.
fn found(server: &Server, job: Value) -> Value {
    let mut answers = server.map(&json!([job]));
    answers.pop().unwrap()
}

fn check(server: &Server, job: Value, expected: &[u32]) {
    let expected: Vec<_> = expected.iter().copied().map(figi).collect();
    let answer = found(server, job.clone());
    assert_eq!(figis(&answer), expected, "{job} {answer}");
    if expected.is_empty() {
        assert_eq!(answer, json!({"warning": "No identifier found."}), "{job}");
    }
}

fn fault(server: &Server, job: Value, text: &str) {
    assert_eq!(found(server, job.clone()), json!({ "error": text }), "{job}");
}

/// contract 4.1, 4.3, 4.4, 4.6, 10.1, 12.2, 12.3, 12.6: element i answers job i; the rows are in
/// FIGI order, whatever the order of the dump, and have ten members in their order.
#[test]
fn the_whole_answer() {
    let (server, a, b) = (server(), figi(1), figi(2));
    let answer = server.post(
        "/v3/mapping",
        r#"[{"idType":"ID_ISIN","idValue":"US4592001014"},{"idType":"TICKER","idValue":"NONE"},7]"#,
    );
    assert_eq!(
        (answer.status, answer.content_type.as_str()),
        (200, "application/json; charset=utf-8")
    );
    let row = |figi: &str, exch_code: &str| {
        format!(
            r#"{{"figi":"{figi}","name":"INTL BUSINESS MACHINES CORP","ticker":"IBM","exchCode":"{exch_code}","compositeFIGI":"{a}","securityType":"Common Stock","marketSector":"Equity","shareClassFIGI":"BBG001S5S399","securityType2":"Common Stock","securityDescription":"IBM"}}"#
        )
    };
    let expected = format!(
        r#"[{{"data":[{},{}]}},{{"warning":"No identifier found."}},{{"error":"A mapping job must be an object."}}]"#,
        row(&a, "US"),
        row(&b, "UN")
    );
    assert_eq!(answer.body, expected);
}

/// contract 12.3, 12.4: the members of a row are null where unknown, and `metadata` comes last.
#[test]
fn a_row_whose_attributes_are_unavailable() {
    let answer = found(&server(), json!({"idType": "ID_BB_GLOBAL", "idValue": figi(8)}));
    let expected = json!({"data": [{
        "figi": figi(8), "name": null, "ticker": null, "exchCode": null, "compositeFIGI": null,
        "securityType": null, "marketSector": null, "shareClassFIGI": null, "securityType2": null,
        "securityDescription": null, "metadata": "Metadata N/A",
    }]});
    assert_eq!(answer, expected);
}

/// contract 4.1: the answer to no jobs is `[]`.
#[test]
fn no_jobs_have_no_answers() {
    assert_eq!(server().map(&json!([])), [] as [Value; 0]);
}

/// contract 5.1, 5.3, 5.12, 5.13, 5.14, 5.16, 5.18: each identifier finds its rows.
#[test]
fn identifiers() {
    let server = server();
    for (id_type, id_value, expected) in [
        ("ID_ISIN", json!("US4592001014"), &[1, 2][..]),
        ("ID_ISIN", json!(" us4592001014 "), &[1, 2]),
        ("ID_CUSIP", json!("459200101"), &[1, 2]),
        ("ID_CUSIP", json!(459200101), &[1, 2]),
        ("ID_CUSIP", json!(459200101.0), &[1, 2]),
        ("ID_CUSIP_8_CHR", json!("45920010"), &[1, 2]),
        ("ID_BB_UNIQUE", json!("EQ0010080100001000"), &[1, 2]),
        ("ID_BB_GLOBAL", json!(figi(2)), &[2]),
        ("COMPOSITE_ID_BB_GLOBAL", json!(figi(1)), &[1, 2]),
        ("COMPOSITE_ID_BB_GLOBAL", json!(figi(2)), &[]),
        ("ID_BB_GLOBAL_SHARE_CLASS_LEVEL", json!("bbg001s5s399"), &[1, 2]),
        ("TICKER", json!("ibm"), &[1, 2]),
        ("TICKER", json!("IBM 03/20/26 P130"), &[3]),
        ("TICKER", json!("IBM 03/20/26"), &[]),
        ("ID_ISIN", json!("US0378331005"), &[]),
        ("ID_BB", json!("TSLA:US"), &[]),
    ] {
        check(&server, json!({"idType": id_type, "idValue": id_value}), expected);
    }
}

/// contract 5.13, 5.14, 5.17: each idType finds the row that carries it, and no value of another
/// kind.
#[test]
fn every_id_type_finds_its_row() {
    let value = |id_type: IdType| match id_type {
        IdType::Isin => "US4592001014".into(),
        IdType::Cusip | IdType::Cins => "G0177J108".into(),
        IdType::Sedol => "0263494".into(),
        IdType::Common => "012345678".into(),
        IdType::Wertpapier => "851399".into(),
        IdType::Italy => "12345".into(),
        IdType::Cusip8 => "45920010".into(),
        IdType::Occ => "IBM   260320P00130000".into(),
        IdType::CompositeBbGlobal => figi(900),
        IdType::ShareClassBbGlobal => figi(901),
        IdType::BbGlobal => figi(IdType::BbGlobal as u32),
        id_type => format!("value of {}", id_type.name()),
    };
    let mut dump = String::new();
    for id_type in IdType::ALL {
        let row = json!({"figi": figi(id_type as u32), id_type.name(): [value(id_type)]});
        dump.push_str(&format!("{row}\n"));
    }
    let server = Server::of_dump(&dump);
    for id_type in IdType::ALL {
        // A CUSIP that starts with a letter is a CINS as well, and a ticker the
        // base ticker of nothing: these rows have no market sector.
        let expected = match id_type {
            IdType::Cins => vec![IdType::Cusip as u32, IdType::Cins as u32],
            id_type => vec![id_type as u32],
        };
        let mut job = json!({"idType": id_type.name(), "idValue": value(id_type)});
        if matches!(id_type, IdType::BaseTicker | IdType::ExchSymbol) {
            job["marketSecDes"] = json!("Equity");
            check(&server, job, &[]);
            continue;
        }
        check(&server, job, &expected);
    }
}

/// contract 2.9, 6.1, 6.6, 6.12, 6.17, 6.18: a property is compared with the row's own value, and
/// all that are given must match.
#[test]
fn filters() {
    let server = server();
    let isin = |key: &str, value: Value| json!({"idType": "ID_ISIN", "idValue": "US4592001014", key: value});
    let ticker = |ticker: &str, key: &str, value: Value| json!({"idType": "TICKER", "idValue": ticker, key: value});
    const PUT: &str = "IBM 03/20/26 P130";
    const BOND: &str = "IBM 3.5 05/15/29";
    const MUNI: &str = "CT UNVHGR 5 02/15/2029";
    for (job, expected) in [
        (isin("exchCode", json!("US")), &[1][..]),
        (isin("exchCode", json!("TRACE")), &[]),
        (isin("exchCode", Value::Null), &[1, 2]),
        (isin("micCode", json!("XNYS")), &[2]),
        (isin("currency", json!("USD")), &[1, 2]),
        (isin("currency", json!("EUR")), &[]),
        (isin("marketSecDes", json!("Equity")), &[1, 2]),
        (isin("marketSecDes", json!("Corp")), &[]),
        (isin("securityType", json!("Common Stock")), &[1, 2]),
        (isin("securityType2", json!("Corp")), &[]),
        (isin("optionType", json!("Put")), &[]),
        (isin("strike", json!([1, null])), &[]),
        (ticker(PUT, "optionType", json!("Put")), &[3]),
        (ticker(PUT, "optionType", json!("Call")), &[]),
        (ticker(PUT, "strike", json!([130, 130])), &[3]),
        (ticker(PUT, "strike", json!([130.5, null])), &[]),
        (ticker(PUT, "strike", json!([null, 129.99])), &[]),
        (ticker(PUT, "contractSize", json!([null, 100])), &[3]),
        (ticker(PUT, "contractSize", json!([101, null])), &[]),
        (ticker(PUT, "expiration", json!(["2026-03-20", "2026-03-20"])), &[3]),
        (ticker(PUT, "expiration", json!(["2025-03-20", null])), &[3]),
        (ticker(PUT, "expiration", json!(["2025-03-19", null])), &[]),
        (ticker(PUT, "expiration", json!([null, "2027-03-20"])), &[3]),
        (ticker(PUT, "expiration", json!([null, "2027-03-21"])), &[]),
        // A row with only one of the two dates answers both filters with it.
        (ticker(PUT, "maturity", json!(["2026-03-01", "2026-03-31"])), &[3]),
        (ticker(BOND, "expiration", json!(["2029-05-01", "2029-05-31"])), &[4]),
        (ticker(BOND, "coupon", json!([3, 4])), &[4]),
        (ticker(BOND, "coupon", json!([null, 3])), &[]),
        (ticker(MUNI, "stateCode", json!("CT")), &[5]),
        (ticker(MUNI, "stateCode", json!("NY")), &[]),
    ] {
        check(&server, job, expected);
    }
}

/// contract 6.8, 6.9: unlisted equities are found only when `includeUnlistedEquities` is true,
/// also by their own FIGI.
#[test]
fn unlisted_equities() {
    let server = server();
    let job = |include: Value| json!({"idType": "TICKER", "idValue": "HID", "includeUnlistedEquities": include});
    check(&server, job(json!(true)), &[7]);
    check(&server, job(json!(false)), &[]);
    check(&server, job(Value::Null), &[]);
    fault(&server, job(json!("yes")), "includeUnlistedEquities must be true or false.");
    let by_figi = json!({"idType": "ID_BB_GLOBAL", "idValue": figi(7)});
    check(&server, by_figi, &[]);
}

/// contract 4.6 to 4.11, 5.2, 5.4, 5.12, 13.13: a fault of idType or idValue is the `error` of its
/// job.
#[test]
fn faults_of_the_identifier() {
    let server = server();
    for (job, text) in [
        (json!({"idType": "INVALID", "idValue": "AAPL"}), "Invalid value for idType."),
        (json!({"idType": "id_isin", "idValue": "US4592001014"}), "Invalid value for idType."),
        (json!({"idType": "ID_ISIN", "idValue": "INVALID12345"}), "Invalid idValue format."),
        (json!({"idType": "ID_CUSIP", "idValue": "45920010"}), "Invalid idValue format."),
        (json!({"idType": "ID_CUSIP", "idValue": ""}), "Invalid idValue format."),
        (json!({"idType": "TICKER", "idValue": "x".repeat(65)}), "Invalid idValue format."),
        (json!({"idValue": "IBM"}), "idType is required."),
        (json!({"idType": null, "idValue": "IBM"}), "idType must be a string."),
        (json!({"idType": 5, "idValue": "IBM"}), "idType must be a string."),
        (json!({"idType": "TICKER"}), "idValue is required."),
        (json!({"idType": "TICKER", "idValue": null}), "idValue must be a string or an integer."),
        (json!({"idType": "TICKER", "idValue": 1.5}), "idValue must be a string or an integer."),
        (
            json!({"idType": "TICKER", "idValue": ["IBM"]}),
            "idValue must be a string or an integer.",
        ),
        (json!({"idType": "TICKER", "idValue": "IBM", "x": 1}), "Invalid key 'x'."),
        (json!({"idType": "TICKER", "idValue": "IBM", "query": "ibm"}), "Invalid key 'query'."),
        (json!({}), "idType is required."),
        (json!(null), "A mapping job must be an object."),
        (json!([]), "A mapping job must be an object."),
        (json!("TICKER"), "A mapping job must be an object."),
    ] {
        fault(&server, job, text);
    }
}

/// contract 6.7: `exchCode` and `micCode` exclude each other.
#[test]
fn exch_code_and_mic_code_conflict() {
    let job = json!({"idType": "TICKER", "idValue": "IBM", "exchCode": "US", "micCode": "XNYS"});
    fault(&server(), job, "Cannot have both exchCode and micCode");
}

/// contract 2.9, 6.11, 6.13 to 6.16: the rules of intervals, for each property that is one.
#[test]
fn interval_rules() {
    let server = server();
    let with = |key: &str, value: Value| json!({"idType": "TICKER", "idValue": "IBM", key: value});
    for key in ["strike", "contractSize", "coupon"] {
        let shape = format!("{key} must be an array of two entries, each a number or null.");
        for value in
            [json!(1), json!([1]), json!([1, 2, 3]), json!(["1", 2]), json!({}), json!([true, 1])]
        {
            fault(&server, with(key, value), &shape);
        }
        fault(
            &server,
            with(key, json!([null, null])),
            &format!("{key}: at least one entry must not be null."),
        );
        fault(
            &server,
            with(key, json!([2, 1])),
            &format!("{key}: the first entry must not be greater than the second."),
        );
        check(&server, with(key, Value::Null), &[1, 2]);
    }
    for key in ["expiration", "maturity"] {
        let shape =
            format!("{key} must be an array of two entries, each a date YYYY-MM-DD or null.");
        for value in [
            json!("2025-01-01"),
            json!(["2025-01-01"]),
            json!(["2025-02-30", null]),
            json!([20250101, null]),
        ] {
            fault(&server, with(key, value), &shape);
        }
        fault(
            &server,
            with(key, json!([null, null])),
            &format!("{key}: at least one entry must not be null."),
        );
        fault(
            &server,
            with(key, json!(["2025-01-02", "2025-01-01"])),
            &format!("{key}: the first entry must not be greater than the second."),
        );
        fault(
            &server,
            with(key, json!(["2024-01-01", "2025-01-02"])),
            &format!("{key}: the dates must be no more than one year apart."),
        );
        check(&server, with(key, Value::Null), &[1, 2]);
    }
}

/// contract 4.12 to 4.14, 5.19: the properties that depend on idType and securityType2 are
/// required.
#[test]
fn required_properties() {
    let server = server();
    for (id_type, id_value, expected) in
        [("BASE_TICKER", "IBM", &[1, 2][..]), ("ID_EXCH_SYMBOL", "IBM", &[1, 2])]
    {
        let job = json!({"idType": id_type, "idValue": id_value});
        fault(
            &server,
            job.clone(),
            &format!("securityType2 or marketSecDes is required when idType is {id_type}."),
        );
        for (key, value) in [("securityType2", "Common Stock"), ("marketSecDes", "Equity")] {
            let mut job = job.clone();
            job[key] = json!(value);
            check(&server, job, expected);
        }
    }
    let option = |expiration: Value| json!({"idType": "BASE_TICKER", "idValue": "IBM 3 P130", "securityType2": "Option", "expiration": expiration});
    fault(&server, option(Value::Null), "expiration is required when securityType2 is Option.");
    check(&server, option(json!(["2026-01-01", null])), &[3]);
    let pool = |maturity: Value| json!({"idType": "BASE_TICKER", "idValue": "SBA 502345", "securityType2": "Pool", "maturity": maturity});
    fault(&server, pool(Value::Null), "maturity is required when securityType2 is Pool.");
    check(&server, pool(json!(["2029-06-01", null])), &[6]);
    check(
        &server,
        json!({"idType": "BASE_TICKER", "idValue": "IBM", "marketSecDes": "Corp", "maturity": ["2028-11-01", null]}),
        &[4],
    );
}

/// contract 1.8, 4.13: the conditional properties are required in v3 and v2, and not in v1.
#[test]
fn required_properties_of_each_version() {
    let [share, option, warrant, pool] = [1, 2, 3, 4].map(figi);
    let server = Server::of_dump(&format!(
        "figi,ticker,marketSector,securityType2,expiration,maturity\n\
         {share},IBM,Equity,Common Stock,,\n\
         {option},IBM 03/20/26 P130,Equity,Option,2026-03-20,\n\
         {warrant},IBMW,Equity,Warrant,2027-01-15,\n\
         {pool},SBA 502345,Mtge,Pool,,2030-01-01\n"
    ));
    for (job, figi, missing, member, value) in [
        (
            json!({"idType": "BASE_TICKER", "idValue": "IBM"}),
            &share,
            "securityType2 or marketSecDes is required when idType is BASE_TICKER.",
            "marketSecDes",
            json!("Equity"),
        ),
        (
            json!({"idType": "BASE_TICKER", "idValue": "IBM 3 P130", "securityType2": "Option"}),
            &option,
            "expiration is required when securityType2 is Option.",
            "expiration",
            json!(["2026-03-01", null]),
        ),
        (
            json!({"idType": "TICKER", "idValue": "IBMW", "securityType2": "Warrant"}),
            &warrant,
            "expiration is required when securityType2 is Warrant.",
            "expiration",
            json!(["2027-01-01", null]),
        ),
        (
            json!({"idType": "BASE_TICKER", "idValue": "SBA 502345", "securityType2": "Pool"}),
            &pool,
            "maturity is required when securityType2 is Pool.",
            "maturity",
            json!(["2029-06-01", null]),
        ),
    ] {
        let mut whole = job.clone();
        whole[member] = value;
        for (version, job, is_refused) in [
            ("v3", &job, true),
            ("v3", &whole, false),
            ("v2", &job, true),
            ("v2", &whole, false),
            ("v1", &job, false),
        ] {
            let answer = server.post(&format!("/{version}/mapping"), &json!([job]).to_string());
            let answers: Vec<Value> = serde_json::from_str(&answer.body).unwrap();
            if is_refused {
                assert_eq!(answers, [json!({ "error": missing })], "{version} {job}");
            } else {
                assert_eq!(figis(&answers[0]), [figi.as_str()], "{version} {job}");
            }
        }
    }
}

/// contract 4.5: a job that finds nothing is a `warning` in v3, and an `error` in v2 and v1.
#[test]
fn nothing_found_in_each_version() {
    let server = server();
    let job = r#"[{"idType":"TICKER","idValue":"NONE"}]"#;
    for (version, member) in [("v3", "warning"), ("v2", "error"), ("v1", "error")] {
        let answer = server.post(&format!("/{version}/mapping"), job);
        let expected = format!(r#"[{{"{member}":"No identifier found."}}]"#);
        assert_eq!((answer.status, answer.body), (200, expected), "{version}");
    }
}

/// contract 4.15: of a job with every fault the first in the order is named; when that is
/// repaired, the next one.
#[test]
fn the_order_of_faults() {
    let server = server();
    let mut job = json!({
        "x": 1, "idType": "NONSENSE", "idValue": 1.5, "strike": [2, 1],
        "securityType2": "Option",
    });
    for (error, member, repaired) in [
        ("Invalid key 'x'.", "x", None),
        ("Invalid value for idType.", "idType", Some(json!("BASE_TICKER"))),
        ("idValue must be a string or an integer.", "idValue", Some(json!("IBM 3 P130"))),
        (
            "strike: the first entry must not be greater than the second.",
            "strike",
            Some(json!([1, 200])),
        ),
        (
            "expiration is required when securityType2 is Option.",
            "expiration",
            Some(json!(["2026-01-01", null])),
        ),
    ] {
        fault(&server, job.clone(), error);
        match repaired {
            Some(value) => job[member] = value,
            None => drop(job.as_object_mut().unwrap().remove(member)),
        }
    }
    check(&server, job, &[3]);
    // A fault of a property is named before that of 4.12 too.
    let job = json!({"idType": "BASE_TICKER", "idValue": "IBM", "coupon": 5});
    let text = "coupon must be an array of two entries, each a number or null.";
    fault(&server, job, text);
}

/// contract 4.17, 18.7: the jobs of a request find 200,000 rows together. A job that would go
/// beyond has an `error`, and later jobs that still fit are answered.
#[test]
fn the_rows_of_one_request() {
    let mut dump = String::from("figi,ticker\n");
    let rows = |ticker: &'static str, numbers: Range<u32>| {
        numbers.map(move |number| format!("{},{ticker}\n", figi(number)))
    };
    dump.extend(rows("MANY", 0..15_000));
    dump.extend(rows("REST", 15_000..20_000));
    dump.extend(rows("ONE", 20_000..20_001));
    let settings = Settings { jobs_per_request: 100, ..Settings::default() };
    let server = Server::with(&dump, |catalogue| State::new(catalogue, settings));
    let job = |ticker: &str| format!(r#"{{"idType":"TICKER","idValue":"{ticker}"}}"#);
    // 13 jobs find 195,000 rows; with the next one there would be 210,000.
    let many = [job("MANY").as_str(); 14].join(",");
    let beyond = r#"{"error":"The jobs of one request may find 200000 FIGIs in all."}"#;
    for (last, total, end) in [
        (job("ONE"), 195_001, format!(r#"]}},{beyond},{{"data":[{{"figi":"{}","#, figi(20_000))),
        (
            format!("{},{}", job("REST"), job("ONE")),
            200_000,
            format!(r#"]}},{beyond},{{"data":[{{"figi":"{}","#, figi(15_000)),
        ),
    ] {
        let answer = server.post("/v3/mapping", &format!("[{many},{last}]"));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body.matches(r#"{"figi":"#).count(), total, "{last}");
        assert_eq!(answer.body.matches(&end).count(), 1, "{last}");
        assert_eq!(answer.body.ends_with(&format!(",{beyond}]")), total == 200_000, "{last}");
    }
}

/// contract 4.18: a fault of the server in one job is that job's `error`, and the others are
/// answered. Here the disk returns other bytes for one row than those that were checked when the
/// index was opened.
#[test]
fn a_fault_of_the_server_stays_in_its_job() {
    let [broken, whole] = [1, 2].map(figi);
    let server = Server::of_dump(&format!("figi,ticker\n{broken},BROKEN\n{whole},WHOLE\n"));
    if server.is_in_cluster() {
        return eprintln!("skipped: the rows of a cluster are on its own disks");
    }
    server.damage("rows.records", RECORD_TEXTS);
    let job = |ticker: &str| json!({"idType": "TICKER", "idValue": ticker});
    let answers = server.map(&json!([job("WHOLE"), job("BROKEN"), job("NONE"), job("WHOLE"), 7]));
    assert_eq!(figis(&answers[0]), [whole.as_str()]);
    let expected = json!([
        {"error": "There was an error while processing this job."},
        {"warning": "No identifier found."},
        answers[0],
        {"error": "A mapping job must be an object."},
    ]);
    assert_eq!(json!(answers[1..]), expected);
}

/// The bytes of the first row's record that point to its line and its first text.
const RECORD_TEXTS: Range<u64> = 0..8;

/// contract 4.16: a job may find 15,000 rows, and one that finds more has no rows.
#[test]
fn a_job_may_find_15_000_rows() {
    let mut dump = String::from("figi,ticker\n");
    for number in 0..15_000 {
        dump.push_str(&format!("{},MANY\n", figi(number)));
    }
    let most = Server::of_dump(&dump);
    let job = json!({"idType": "TICKER", "idValue": "MANY"});
    let answer = &most.map(&json!([job]))[0];
    assert_eq!(figis(answer).len(), 15_000);
    dump.push_str(&format!("{},MANY\n", figi(15_000)));
    let more = Server::of_dump(&dump);
    fault(&more, job, "A job may find 15000 FIGIs; this one finds more.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// contract 13.15: any bytes get an answer of the contract, never a panic.
    #[test]
    fn any_body_is_answered(body in any::<Vec<u8>>()) {
        thread_local!(static SERVER: Server = server());
        SERVER.with(|server| {
            let answer = server.request("POST", "/v3/mapping", &[("content-type", "application/json")], &body);
            assert!(matches!(answer.status, 200 | 400 | 413), "{}", answer.status);
        });
    }

    /// contract 4.2: any job that is JSON gets one element with one of the three members, or the
    /// whole request is refused for an enum-like property.
    #[test]
    fn any_job_is_answered(fields in proptest::collection::vec((0_usize..18, 0_usize..14), 0..6)) {
        const KEYS: [&str; 18] = ["idType", "idValue", "exchCode", "micCode", "currency",
            "marketSecDes", "securityType", "securityType2", "includeUnlistedEquities",
            "optionType", "strike", "contractSize", "coupon", "expiration", "maturity",
            "stateCode", "", "x\u{1f600}"];
        const VALUES: [&str; 14] = ["null", "\"TICKER\"", "\"IBM\"", "1e999", "-0", "[null,1]",
            "[1,0]", "[\"2025-01-01\",null]", "[\"9999-12-31\",null]", "true", "\"\\ud800\"",
            "{\"a\":[[[[]]]]}", "\"US\"", "[[],[]]"];
        thread_local!(static SERVER: Server = server());
        let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{}:{}", json!(KEYS[*key]), VALUES[*value])).collect();
        let body = format!("[{{{}}}]", fields.join(","));
        SERVER.with(|server| {
            let answer = server.post("/v3/mapping", &body);
            if answer.status == 400 {
                assert_eq!(answer.body, "Invalid enum field.");
                return;
            }
            assert_eq!(answer.status, 200, "{body}");
            let answers: Vec<Value> = serde_json::from_str(&answer.body).unwrap();
            let keys = ["data", "warning", "error"].iter().filter(|key| answers[0].get(**key).is_some());
            assert_eq!((answers.len(), keys.count()), (1, 1), "{body} {}", answer.body);
        });
    }
}
