//! Contract, chapter 5: the forms of identifiers, and those that follow from others. Which
//! rows each idType finds is tested with the mapping jobs.

use std::slice;

use figdex_index::check_digit;
use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Server, figis};

/// contract 5.1, 5.2, 5.4 to 5.12: a value of the form of its idType is looked up, and any
/// other is a fault of its job.
#[test]
fn the_forms_of_identifiers() {
    let server = Server::of_dump(&format!("figi\n{}\n", figi(1)));
    let (longest, too_long) = ("é".repeat(32), "é".repeat(32) + "x");
    for (id_type, right, wrong) in [
        (
            "ID_ISIN",
            &["US4592001014", " us4592001014 "][..],
            &["US4592001015", "US459200101", "4592001014US", "US45920010 14"][..],
        ),
        (
            "ID_CUSIP",
            &["459200101", "G0177J108", "000000000", " 459200101 "],
            &["45920010", "459200102", "ZZZZZZZZZ", "4592001 01"],
        ),
        ("ID_CINS", &["G0177J108", "g0177j108"], &["459200101", "G0177J109"]),
        ("ID_CUSIP_8_CHR", &["45920010", "G0177J10", "*@#00000"], &["459200101", "4592001"]),
        ("ID_SEDOL", &["0263494", "b0ybkj7"], &["0263495", "A263494", "263494"]),
        ("ID_BB_GLOBAL", &["BBG000BLNNH6", "bbg000blnnh6"], &["BBG000BLNNH5", "BBG000BLNNH"]),
        ("COMPOSITE_ID_BB_GLOBAL", &["BBG000BLNNH6"], &["BBA000BLNNH6", "US4592001014"]),
        ("ID_BB_GLOBAL_SHARE_CLASS_LEVEL", &["BBG001S5S399"], &["BBG001S5S398"]),
        (
            "OCC_SYMBOL",
            &["AAPL  251219C00200000", "aapl  251219p00200000", "A     000229C00200000"],
            &[
                "AAPL 251219C00200000",
                "AAPL  251319C00200000",
                "AAPL  250229C00200000",
                "AAPL  251219X00200000",
                "AAPL  251219C0020000",
                "      251219C00200000",
                "AA PL 251219C00200000",
            ],
        ),
        ("ID_COMMON", &["012345678"], &["12345678", "01234567A"]),
        ("ID_WERTPAPIER", &["851399", "a0b1c2"], &["85139", "8513999", "85-399"]),
        ("ID_ITALY", &["12345", "123456"], &["1234", "1234567", "12a45"]),
        ("ID_BB", &["TSLA:US", "x", "TSLA US Equity", &longest], &["", "  ", &too_long]),
        ("TICKER", &["AAPL 01/17/25 C155", &longest], &["", &too_long]),
    ] {
        for (values, answer) in [
            (right, json!({"warning": "No identifier found."})),
            (wrong, json!({"error": "Invalid idValue format."})),
        ] {
            for value in values {
                let answers = server.map(&json!([{"idType": id_type, "idValue": value}]));
                assert_eq!(answers, slice::from_ref(&answer), "{id_type} {value:?}");
            }
        }
    }
}

/// contract 5.2, 5.3: an integer gets the zeros back that its idType had, however it is
/// written; a string does not.
#[test]
fn integers_get_their_leading_zeros_back() {
    let [one, ticker] = [1, 2].map(figi);
    let server = Server::of_dump(&format!(
        "figi,ID_SEDOL,ID_CUSIP,ID_COMMON,ID_WERTPAPIER,ID_ITALY,ticker\n\
         {one},0263494,037833100,012345678,001399,12345,\n{ticker},,,,,,700\n"
    ));
    let ask = |id_type: &str, id_value: &str| {
        let job = format!(r#"[{{"idType":"{id_type}","idValue":{id_value}}}]"#);
        let answer = server.post("/v3/mapping", &job);
        serde_json::from_str::<Vec<Value>>(&answer.body).unwrap().remove(0)
    };
    for (id_type, integers, found) in [
        ("ID_SEDOL", &["263494", "263494.0", "263494.00"][..], &one),
        ("ID_CUSIP", &["37833100", "37833100.0", "378331e2", "3.78331e7"], &one),
        ("ID_CUSIP_8_CHR", &["3783310", "378331e1"], &one),
        ("ID_COMMON", &["12345678"], &one),
        ("ID_WERTPAPIER", &["1399"], &one),
        ("ID_ITALY", &["12345"], &one),
        ("TICKER", &["700", "7e2"], &ticker),
    ] {
        for integer in integers {
            let answer = ask(id_type, integer);
            assert_eq!(figis(&answer), [found.as_str()], "{id_type} {integer} {answer}");
        }
    }
    let wrong_form = json!({"error": "Invalid idValue format."});
    for (id_type, id_value) in [
        ("ID_SEDOL", "\"263494\""),
        ("ID_CUSIP", "\"37833100\""),
        ("ID_COMMON", "\"12345678\""),
        ("ID_WERTPAPIER", "\"1399\""),
        ("ID_ITALY", "1234"),
        ("ID_CUSIP", "-37833100"),
    ] {
        assert_eq!(ask(id_type, id_value), wrong_form, "{id_type} {id_value}");
    }
    let no_integer = json!({"error": "idValue must be a string or an integer."});
    for id_value in ["700.5", "7e-1", "1e999", "9007199254740993e1"] {
        assert_eq!(ask("TICKER", id_value), no_integer, "{id_value}");
    }
}

/// contract 5.9: a FIGI whose first two letters the standard reserves, since they look like
/// the code of a country, is accepted: in the data, and by each idType of a FIGI.
#[test]
fn a_figi_with_a_reserved_prefix_is_accepted() {
    let figis_of = ["BS", "BM", "GG", "GB", "GH", "KY", "VG"].map(|prefix| {
        let body = format!("{prefix}G000BLNNH");
        format!("{body}{}", check_digit::double_add_double(body.as_bytes()).unwrap())
    });
    let rows = figis_of.iter().map(|figi| format!("{figi},{figi},{figi}\n"));
    let dump = format!("figi,compositeFIGI,shareClassFIGI\n{}", rows.collect::<String>());
    let server = Server::of_dump(&dump);
    for figi in &figis_of {
        for id_type in ["ID_BB_GLOBAL", "COMPOSITE_ID_BB_GLOBAL", "ID_BB_GLOBAL_SHARE_CLASS_LEVEL"]
        {
            let answers = server.map(&json!([{"idType": id_type, "idValue": figi}]));
            assert_eq!(figis(&answers[0]), [figi.as_str()], "{id_type} {}", answers[0]);
        }
    }
}

/// contract 5.15: CUSIP and SEDOL are not taken out of an ISIN, although it holds them.
#[test]
fn an_isin_gives_no_cusip_and_no_sedol() {
    let [american, british] = [1, 2].map(figi);
    let server = Server::of_dump(&format!(
        "figi,ID_ISIN\n{american},US4592001014\n{british},GB0002634946\n"
    ));
    for (id_type, id_value, found) in [
        ("ID_ISIN", "US4592001014", Some(&american)),
        ("ID_CUSIP", "459200101", None),
        ("ID_CUSIP_8_CHR", "45920010", None),
        ("ID_ISIN", "GB0002634946", Some(&british)),
        ("ID_SEDOL", "0263494", None),
    ] {
        let answers = server.map(&json!([{"idType": id_type, "idValue": id_value}]));
        assert_eq!(figis(&answers[0]).first(), found, "{id_type} {id_value}");
        assert!(answers[0].get("error").is_none(), "{}", answers[0]);
    }
}
