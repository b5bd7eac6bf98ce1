//! Known answers: `figdex-ingest build --expect FILE`.

use std::fs;
use std::path::Path;

use figdex_index::Catalogue;

use crate::support::{figi, ingest};

/// A valid ISIN for each number.
fn isin(number: u32) -> String {
    let body = format!("XS{number:09}");
    let check = figdex_index::check_digit::isin(body.as_bytes()).unwrap();
    format!("{body}{check}")
}

/// Writes a dump of 70 instruments, each with an ISIN.
fn dump(folder: &Path, isin_of: impl Fn(u32) -> u32) {
    let row = |number| {
        let option = if number == 1 { "Option,2035-01-01,5" } else { "Common Stock,," };
        format!("{},US,{},{option}\n", figi(number), isin(isin_of(number)))
    };
    let rows: String = (0..70).map(row).collect();
    let text = format!("figi,exchCode,ID_ISIN,securityType2,expiration,strike\n{rows}");
    fs::write(folder.join("dump.csv"), text).unwrap();
}

fn build(folder: &Path, known: &str) -> (i32, String) {
    fs::write(folder.join("known.jsonl"), known).unwrap();
    let arguments = ["build", "dump.csv", "--index", "index", "--quiet", "--expect", "known.jsonl"];
    let (code, _, error) = ingest(folder, &arguments);
    (code, error)
}

/// The ISINs of a neighbour in every seventh row are published without known answers; with them, the
/// first failure names its line, and every failing line is counted.
#[test]
fn rows_with_the_isin_of_a_neighbour_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = |number| {
        let (isin, figi) = (isin(number), figi(number));
        format!(r#"{{"idType":"ID_ISIN","idValue":"{isin}","exchCode":"US","figi":"{figi}"}}"#)
    };
    let known = (0..70).map(|number| line(number) + "\n").collect::<String>();
    dump(folder, |number| number);
    assert_eq!(build(folder, &known), (0, String::new()));
    dump(folder, |number| if number % 7 == 3 { number + 1 } else { number });
    let (code, error) = build(folder, &known);
    assert_eq!(code, 1, "{error}");
    let expected = format!(
        "figdex-ingest: known.jsonl, line 4: ID_ISIN {} must find {}, and finds nothing\n  \
         20 of 70 known answers are wrong, in line 4, 5, 11, 12, 18, 19, 25, 26, 32, 33, …: nothing \
         is published\n",
        isin(3),
        figi(3)
    );
    assert_eq!(error, expected);
    assert_eq!(Catalogue::open(&folder.join("index")).unwrap().manifest().generation, 1);
    let names: Vec<_> = fs::read_dir(folder.join("index")).unwrap().collect();
    assert!(
        names.iter().all(|name| {
            !name.as_ref().unwrap().file_name().to_string_lossy().ends_with(".new")
        })
    );
}

/// A job has all filters of the contract, and may find several FIGIs or none.
#[test]
fn a_job_is_one_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    dump(folder, |number| number / 2 * 2);
    let [zero, one, two] = [0, 1, 2].map(figi);
    let isin = isin(0);
    let good = [
        format!(r#"{{"idType":"ID_ISIN","idValue":"{isin}","figi":["{one}","{zero}","{one}"]}}"#),
        format!(
            r#"{{"idType":"ID_ISIN","idValue":"{isin}","securityType2":"Option","expiration":["2034-06-01",null],"strike":[null,5],"figi":"{one}"}}"#
        ),
        format!(r#"{{"idType":"ID_ISIN","idValue":"{isin}","strike":[6,null],"figi":[]}}"#),
        format!(r#"{{"idType":"ID_BB_GLOBAL","idValue":"{two}","currency":null,"figi":"{two}"}}"#),
    ];
    assert_eq!(build(folder, &(good.join("\n") + "\n\n")), (0, String::new()));
    for (line, expected) in [
        (
            format!(r#"{{"idType":"ID_ISIN","idValue":"{isin}","figi":"{zero}"}}"#),
            format!("must find {zero}, and finds {zero} {one}\n"),
        ),
        (
            format!(r#"{{"idType":"ID_ISIN","idValue":"{isin}","exchCode":"XX","figi":"{zero}"}}"#),
            "exchCode \"XX\" is not one of its values in the new index\n".to_owned(),
        ),
        ("[]".to_owned(), "line 1: not a JSON object: ".to_owned()),
        (
            format!(r#"{{"idType":"BASE_TICKER","idValue":"IBM","figi":"{zero}"}}"#),
            "line 1: securityType2 or marketSecDes is required when idType is BASE_TICKER"
                .to_owned(),
        ),
        (
            format!(
                r#"{{"idType":"TICKER","idValue":"A","securityType2":"Option","figi":"{zero}"}}"#
            ),
            "line 1: expiration is required when securityType2 is Option".to_owned(),
        ),
        (
            r#"{"idType":"ID_ISIN","idValue":"US4592001014"}"#.to_owned(),
            "line 1: figi is required: a FIGI, or an array of them".to_owned(),
        ),
        (
            format!(r#"{{"idType":"ID_ISIN","idValue":"US4592001015","figi":"{zero}"}}"#),
            "line 1: idValue is not of the form of ID_ISIN".to_owned(),
        ),
        (
            format!(r#"{{"idType":"ISIN","idValue":"US4592001014","figi":"{zero}"}}"#),
            "line 1: idType: \"ISIN\" is not an idType".to_owned(),
        ),
        (
            format!(r#"{{"idType":"TICKER","idValue":"A","exchcode":"US","figi":"{zero}"}}"#),
            "line 1: unknown member \"exchcode\"".to_owned(),
        ),
        (
            r#"{"idType":"TICKER","idValue":"A","figi":"BBG"}"#.to_owned(),
            "line 1: figi: \"BBG\" is not a FIGI".to_owned(),
        ),
        (
            format!(r#"{{"idType":"TICKER","idValue":"A","strike":[2,1],"figi":"{zero}"}}"#),
            "line 1: strike: the first entry must not be greater than the second".to_owned(),
        ),
        (
            format!(r#"{{"idType":"TICKER","idValue":"A","maturity":["x",null],"figi":"{zero}"}}"#),
            "line 1: maturity must be an array of two dates".to_owned(),
        ),
        (
            "\n".to_owned(),
            "known.jsonl: it has no known answers: expected a line for each".to_owned(),
        ),
        ("x".repeat(70_000), "line 1: it has more than 65536 bytes".to_owned()),
    ] {
        let (code, error) = build(folder, &line);
        assert_eq!(code, 1, "{line}");
        assert!(error.contains(&expected), "{expected}\n{error}");
        assert!(
            error.ends_with("nothing is published\n") || error.contains("nothing is published: "),
            "{error}"
        );
    }
}
