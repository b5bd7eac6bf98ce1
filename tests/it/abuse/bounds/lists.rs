//! Lists that are made to take memory or work, in each form of their bodies and answers.

use std::fmt::Write as _;

use figdex_index::ListField;

use super::hostile::{Form, Hostile};

/// The most jobs of a list.
const JOBS_MAX: usize = 10_000;

/// An ISIN with a wrong check digit, a different one for each number.
fn wrong_isin(number: usize) -> String {
    format!("US{:09}x", number * 7_919 % 1_000_000_000).replace('x', "0")
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0..count {
        writeln!(text, "{}", line(number)).unwrap();
    }
    text
}

fn jobs(count: usize, job: impl Fn(usize) -> String) -> String {
    let jobs: Vec<_> = (0..count).map(job).collect();
    format!("{{\"jobs\":[{}]}}", jobs.join(","))
}

/// A body of one array, filled with a piece up to a size.
fn filled(begin: &str, piece: &str, end: &str, bytes: usize) -> String {
    let count = (bytes - begin.len() - end.len()) / (piece.len() + 1);
    format!("{begin}{}{end}", vec![piece; count].join(","))
}

/// Lists of every form. `bytes` is the largest body.
pub(super) fn lists(bytes: usize) -> Vec<Hostile> {
    let small = 60_000;
    let members: Vec<_> = (0..bytes / 11).map(|number| format!("\"a{number}\":1")).collect();
    let of_job: Vec<_> = (0..small / 11).map(|number| format!("\"a{number}\":1")).collect();
    let csv = [
        ("wrong identifiers", lines(JOBS_MAX, wrong_isin)),
        ("a hundred wrong identifiers", lines(100, wrong_isin)),
        ("tickers with exchanges", lines(JOBS_MAX, |number| format!("AB-{number} US"))),
        ("a thousand tickers", lines(1_000, |number| format!("AB-{number} US"))),
        ("a table", format!("idValue,idType\n{}", lines(1_000, |n| format!("AB{n},TICKER")))),
        ("a long table", format!("idValue\n{}", lines(JOBS_MAX, |n| format!("A{}", n % 1_000)))),
        ("a wide table", wide_table()),
        ("a long heading", format!("idValue,{}\n{}", "x".repeat(60_000), "A,b\n".repeat(JOBS_MAX))),
        ("blank rows", "\n".repeat(JOBS_MAX)),
        ("a quoted cell", format!("\"{}\"\n", "a".repeat(bytes - 3))),
        ("quotes in a quoted cell", format!("A\n\"{}\"\n", "\"\"".repeat(bytes / 2 - 3))),
        ("a quoted cell that grows", format!("A\n\"{}\"\n", "\u{fdfa}".repeat(bytes / 3 - 3))),
        ("a heading that grows", format!("\"{}\"\nA\n", "\u{390}".repeat(bytes / 2 - 4))),
        ("a cell of a table", format!("idValue,a\nA,\"{}\"\n", "a".repeat(bytes - 20))),
        ("a cell that never ends", format!("A\n\"{}", "a".repeat(bytes - 3))),
    ];
    let json = [
        ("wrong identifiers", jobs(JOBS_MAX, |number| format!("\"{}\"", wrong_isin(number)))),
        ("empty texts", jobs(JOBS_MAX, |_| "\"\"".to_owned())),
        ("empty jobs", jobs(JOBS_MAX, |_| "{}".to_owned())),
        (
            "jobs of a property",
            jobs(JOBS_MAX, |_| r#"{"idType":"TICKER","idValue":"A","exchCode":"US"}"#.to_owned()),
        ),
        (
            "jobs of intervals",
            jobs(JOBS_MAX, |_| {
                r#"{"idType":"TICKER","idValue":"A","strike":[1,2],"coupon":[1,2]}"#.to_owned()
            }),
        ),
        ("jobs of a text", jobs(JOBS_MAX, |_| r#"{"text":"MANY"}"#.to_owned())),
        (
            "jobs with a day",
            jobs(JOBS_MAX, |_| r#"{"text":"MANY","asOf":"2024-01-02"}"#.to_owned()),
        ),
        (
            "jobs with a day and without",
            jobs(JOBS_MAX, |number| match number % 2 {
                0 => r#"{"text":"MANY","asOf":"2024-01-02"}"#.to_owned(),
                _ => r#"{"text":"NONE"}"#.to_owned(),
            }),
        ),
        (
            "a day that is long",
            format!(
                "{{\"jobs\":[{{\"text\":\"A\",\"asOf\":\"{}\"}}]}}",
                "\\u0001".repeat(bytes / 6 - 9)
            ),
        ),
        ("members that nobody knows", format!("{{\"jobs\":[],{}}}", members.join(","))),
        ("members that come again", filled("{", "\"jobs\":null", "}", bytes)),
        ("members of a job", format!("{{\"jobs\":[{{{}}}]}}", of_job.join(","))),
        (
            "a key that is long",
            format!("{{\"jobs\":[],\"{}\":1}}", "\\u0001".repeat(bytes / 6 - 5)),
        ),
        ("texts of a column", filled("{\"columns\":[[", "\"é\"", "]]}", small)),
        ("identifiers of a column", filled("{\"columns\":[[", "\"US0378331005\"", "]]}", small)),
        (
            "a text of a column",
            format!("{{\"columns\":[[\"{}\"]]}}", "\u{fdfa}".repeat(bytes / 3 - 9)),
        ),
        ("steps without end", filled("{\"jobs\":[],\"prefer\":[", "\"composite\"", "]}", bytes)),
        ("too many jobs", filled("{\"jobs\":[", "0", "]}", bytes)),
        ("depth", format!("{{\"jobs\":{}", "[".repeat(bytes - 9))),
    ];
    let ndjson = [
        ("wrong identifiers", lines(JOBS_MAX, |number| format!("\"{}\"", wrong_isin(number)))),
        ("a thousand tickers", lines(1_000, |number| format!("\"AB-{number} US\""))),
        ("a long text", format!("\"{}\"\n", "a".repeat(bytes - 3))),
        ("empty jobs", "{}\n".repeat(JOBS_MAX)),
        ("blank lines", "\n".repeat(bytes)),
    ];
    let of = |form: Form, bodies: Vec<(&str, String)>| {
        let new = move |(name, body): (&str, String)| Hostile::post("/resolve", form, name, body);
        bodies.into_iter().map(new).collect::<Vec<_>>()
    };
    let mut all = of(Form::Csv, csv.to_vec());
    all.extend(of(Form::Json, json.to_vec()));
    all.extend(of(Form::Ndjson, ndjson.to_vec()));
    let padded = format!("MANY{}\n", " ".repeat(110));
    for (name, list, count) in [
        ("all rows", "MANY\n", 13),
        ("all rows and their texts", &*padded, 13),
        ("some rows", "SOME\n", 30),
    ] {
        for accept in ["text/csv", "application/x-ndjson", "application/json"] {
            let body = list.repeat(count);
            let hostile = Hostile::post("/resolve", Form::Csv, &format!("{name}, {accept}"), body);
            all.push(hostile.at("/resolve?many=all").with(&format!("Accept: {accept}\r\n")));
        }
    }
    for query in ["asOf=2024-01-02", "formerly=true", "asOf=2024-01-02&many=all"] {
        let hostile = Hostile::post("/resolve", Form::Csv, query, "MANY\n".repeat(1_000));
        all.push(hostile.at(&format!("/resolve?{query}")));
    }
    let fields: Vec<_> = ListField::names().collect();
    let fields = fields.join(",");
    for (name, count) in [("MANY", 13), ("SOME", 30)] {
        let every = format!("every field of {name}");
        let hostile =
            Hostile::post("/resolve", Form::Csv, &every, format!("{name}\n").repeat(count));
        all.push(hostile.at(&format!("/resolve?many=all&fields={fields}")));
    }
    let room = 8_100 - fields.len();
    for (text, options) in [
        ("MANY", format!("many=all&fields={fields}")),
        ("Nestle", format!("candidates=true&fields={fields}")),
        ("%F0%90%80", String::new()),
        ("A", "as=symbol:yahoo".to_owned()),
    ] {
        let texts = format!("&text={text}").repeat(room / (text.len() + 6));
        all.push(Hostile::get("/resolve", &format!("/resolve?{options}{texts}")));
    }
    all.push(Hostile::get("/resolve", &format!("/resolve?text={}", "A".repeat(60_000))));
    for (name, rows) in [("N190", 190), ("N400", 400), ("N500", 500)] {
        let many = format!("{name} of {rows} rows");
        let hostile = Hostile::post("/resolve", Form::Csv, &many, format!("{name}\n"));
        all.push(hostile.at("/resolve?many=all").with("Accept-Encoding: gzip\r\n"));
    }
    all
}

/// A table with every property, and more columns.
fn wide_table() -> String {
    let names: Vec<_> = (0..60).map(|number| format!("a{number}")).collect();
    let heading = format!("idValue,{}", names.join(","));
    format!("{heading}\n{}", format!("A{}\n", ",x".repeat(60)).repeat(6_000))
}
