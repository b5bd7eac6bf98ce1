//! Contract 16.16: `--names` on the command line, and the way of names through an export.

use std::fs;

use figdex_ingest::{Build, Input};
use serde_json::{Value, json};

use crate::support::{Server, build_of, ingest};

const DUMP: &str = "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,ID_ISIN\n\
    BBG000BLNNH6,BBG000BLNNH6,BBG001S5S399,IBM,INTL BUSINESS MACHINES CORP,US,US4592001014\n\
    BBG000BLNQ16,BBG000BLNNH6,BBG001S5S399,IBM,INTL BUSINESS MACHINES CORP,UN,\n\
    BBG000B9XRY4,BBG000B9XRY4,BBG001S5N8V8,AAPL,APPLE INC,US,US0378331005\n";

const NAMES: &str = "ID_ISIN,exchCode,ticker,name,kind,from,to\n\
    US4592001014,,,\"Big \"\"Blue\"\"; Inc\",brand,,\n\
    ,UN,IBM,国际商业机器,transliteration,,\n\
    ,US,AAPL,APPLE COMPUTER INC,former,1977-01-03,2007-01-09\n\
    US0378331005,UN,IBM,WRONG,brand,,\n\
    JP3633400001,,,TOYOTA,brand,,\n\
    US4592001014,,,Blue,nickname,,\n\
    US4592001014,,,Blue,former,9 January 2007,\n";

/// contract 16.16: every row of the file is accounted for, and a wrong one is reported clearly.
#[test]
fn rows_of_names_are_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dump.csv"), DUMP).unwrap();
    fs::write(folder.path().join("names.csv"), NAMES).unwrap();
    let arguments = ["build", "dump.csv", "--names", "names.csv", "--index", "index"];
    let (code, _, error) = ingest(folder.path(), &arguments);
    assert_ne!(code, 0, "2 of 10 rows are rejected");
    assert!(error.contains("the kind is none of brand, former"), "{error}");
    let more = ["--max-rejects", "2", "--report", "report.json"];
    let (code, text, error) = ingest(folder.path(), &[&arguments[..], &more].concat());
    assert_eq!(code, 0, "{error}");
    for line in ["names of", "3  instruments got a name", "rows that named nothing"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        report["names"],
        json!([{
            "name": "names.csv", "read": 7, "named": 3, "unmatched": 1, "ambiguous": 1,
            "rejected": 2, "skipped": 0, "format": "names", "unknown_columns": []
        }])
    );
    let rejects = fs::read_to_string(folder.path().join("index.rejects.csv")).unwrap();
    for reason in
        ["from and to must be dates", "several share classes", "unmatched: no instrument has"]
    {
        assert!(rejects.contains(reason), "{reason}\n{rejects}");
    }
}

/// contract 16.16: an export has the names, and an index of it is the same.
#[test]
fn names_survive_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec![Input::Memory("names", NAMES.as_bytes().into())];
    let inputs = vec![Input::Memory("dump", DUMP.as_bytes().into())];
    let build = Build {
        names,
        max_rejects: "2".parse().unwrap(),
        ..build_of(inputs, &folder.path().join("index"))
    };
    build.run(&mut |_| {}).unwrap();
    for layout in [&["--format", "jsonl"][..], &[]] {
        let (code, exported, error) =
            ingest(folder.path(), &[&["export", "index"][..], layout].concat());
        assert_eq!(code, 0, "{error}");
        let server = Server::of_dump(&exported);
        let answer = server.request("GET", "/instruments/BBG000BLNQ16", &[], "");
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(
            answer["instrument"]["names"],
            json!([
                {"name": "Big \"Blue\"; Inc", "kind": "brand"},
                {"name": "国际商业机器", "kind": "transliteration"},
            ]),
            "{exported}"
        );
        let again = folder.path().join(format!("again{}", layout.len()));
        let dump = Input::Memory("export", exported.clone().into_bytes().into());
        build_of(vec![dump], &again).run(&mut |_| {}).unwrap();
        let again = again.file_name().unwrap().to_str().unwrap();
        let (_, twice, _) = ingest(folder.path(), &[&["export", again][..], layout].concat());
        assert_eq!(twice, exported);
    }
}
