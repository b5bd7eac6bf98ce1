//! Contract 17.4 to 17.8: lists as a column of CSV, and columns of jobs.

use serde_json::json;

use super::{CSV, JSON, NDJSON, ask, server};
use crate::support::{Answer, figi};

pub(super) fn csv_rows(answer: &Answer) -> Vec<Vec<String>> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader(answer.body.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// contract 17.4, 17.7: a column of texts as CSV, answered as CSV; each line is a row.
#[test]
fn a_column() {
    let server = server();
    let path = "/resolve?fields=figi,name&prefer=composite&prefer=exchCode%3DUS";
    let body = "\u{feff}ISIN\r\nUS4592001014\r\n\r\n\"US0378331005\"\nAAPL\n";
    let rows = csv_rows(&server.request("POST", path, &[CSV], body));
    let [ibm, apple] = [1, 5].map(figi);
    let expected = [
        "row,input,match,idType,matches,by,reason,figi,name",
        &format!("1,US4592001014,resolved,ID_ISIN,1,exchCode=US,,{ibm},IBM, \"Big\" Blue"),
        "2,,invalid,,0,,it is blank,,",
        &format!("3,US0378331005,resolved,ID_ISIN,1,only,,{apple},APPLE"),
        "4,AAPL,invalid,ID_ISIN,0,,ID_ISIN: expected two letters, nine letters or digits, and a check digit,,",
    ];
    let joined: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    assert_eq!(joined, expected);
    // Without a heading that names a type, and with other texts, each is read by itself.
    let rows = csv_rows(&server.request("POST", path, &[CSV], "IBM UN\nUS0378331005\n851399\n"));
    let matches: Vec<&str> = rows.iter().map(|row| &*row[2]).collect();
    assert_eq!(matches, ["match", "resolved", "resolved", "ambiguous"]);
    assert_eq!(rows[3][3], "ID_WERTPAPIER|TICKER");
    assert_eq!(rows[3][6], "different securities as ID_WERTPAPIER and TICKER");
}

/// contract 17.4, 17.7: columns of jobs; every match with `many=all`.
#[test]
fn columns_of_jobs() {
    let server = server();
    let body = "idType;idValue;exchCode;expiration\nID_ISIN;US4592001014;GY;\n;IBM UN;;\nTICKER;AAPL;;\n\
                TICKER;IBM;XX;\nID_ISIN;US0378331005;;;;\n";
    let rows = csv_rows(&server.request("POST", "/resolve?fields=figi", &[CSV], body));
    let found: Vec<(&str, &str)> = rows.iter().skip(1).map(|row| (&*row[2], &*row[7])).collect();
    let [ibm, new_york, apple] = [4, 2, 5].map(figi);
    let expected = [
        ("resolved", &*ibm),
        ("resolved", &*new_york),
        ("resolved", &*apple),
        ("invalid", ""),
        ("invalid", ""),
    ];
    assert_eq!(found, expected);
    let path = "/resolve?fields=figi&many=all";
    let rows = csv_rows(&server.request("POST", path, &[CSV], "US4592001014\nZZZZ\nAAPL\n"));
    let places: Vec<&str> = rows.iter().skip(1).map(|row| &*row[0]).collect();
    assert_eq!(places, ["1", "1", "1", "1", "2", "3"]);
}

/// contract 17.4: every line of a column is a job, whatever its quotes are. A quote opens a cell
/// only at its beginning.
#[test]
fn quotes_and_line_ends_in_a_column() {
    let server = server();
    let body =
        "US\"4592001014\nAAPL\r\"I\"\"BM\"\r\n\"two\nlines\"\n\"a\",\"b\",,\n =x,\"y\"\n\"\"\n";
    let rows = csv_rows(&server.request("POST", "/resolve?fields=figi", &[CSV], body));
    let inputs: Vec<&str> = rows.iter().skip(1).map(|row| &*row[1]).collect();
    assert_eq!(inputs, ["US\"4592001014", "AAPL", "I\"BM", "two\nlines", "a,b", " =x,\"y\"", ""]);
    assert_eq!((&*rows[2][2], &*rows[7][6]), ("resolved", "it is blank"));
}

/// contract 17.4: empty cells after a column are left out, with any delimiter; one that is filled is
/// part of the text, which is then refused.
#[test]
fn empty_cells_after_a_column() {
    let server = server();
    let ask = |body: &str| server.request("POST", "/resolve?fields=figi", &[CSV], body);
    for delimiter in [",", ";", "\t"] {
        let body = "ISIN,\nUS0378331005,\nUS4592001014,,\n\"US0378331005\",\nUS0378331005\n,\nUS4592001,5\n";
        let rows = csv_rows(&ask(&body.replace(',', delimiter)));
        let statuses: Vec<&str> = rows.iter().skip(1).map(|row| &*row[2]).collect();
        let expected = ["resolved", "ambiguous", "resolved", "resolved", "invalid", "invalid"];
        assert_eq!(statuses, expected, "{delimiter:?}");
        assert_eq!((&*rows[1][1], &*rows[1][7]), ("US0378331005", &*figi(5)));
        assert_eq!(*rows[6][1], format!("US4592001{delimiter}5"));
    }
    assert_eq!(csv_rows(&ask("US0378331005,,\n"))[1][2], "resolved");
    let answer = ask("ISIN,,Qty\nUS0378331005,,5\n");
    assert_eq!(
        (answer.status, &*answer.body),
        (
            400,
            r#"{"error":"A CSV body must be one column of texts, or name the column of identifiers idValue; the first row has 3 cells, and none is idValue."}"#
        )
    );
}

/// contract 17.4, 17.13: a text of a column of a type, in each form; conditions narrow a text.
#[test]
fn texts_of_a_column() {
    let server = server();
    let lines = "{\"text\":\"BRK.B\",\"as\":\"TICKER\"}\n{\"text\":\"BRK.B\",\"as\":\"ID_ISIN\"}\n\
                 {\"text\":\"851399\",\"as\":\"TICKER\"}\n{\"text\":\"IBM\",\"as\":null,\"exchCode\":\"GY\"}\n\
                 {\"text\":\"IBM\",\"as\":\"NONE\"}\n{\"text\":\"IBM\",\"as\":5}\n";
    let table = "idValue,as,exchCode\nBRK.B,TICKER,\nBRK.B,ID_ISIN,\n851399,TICKER,\nIBM,,GY\nIBM,NONE,\n\
                 IBM,5,\n";
    let [berkshire, another, ibm] = [7, 6, 4].map(figi);
    let expected = [
        ("resolved", "TICKER", &*berkshire, ""),
        ("invalid", "ID_ISIN", "", "ID_ISIN: expected two letters"),
        ("resolved", "TICKER", &*another, ""),
        ("resolved", "TICKER", &*ibm, ""),
        ("invalid", "", "", "Invalid value for as"),
        ("invalid", "", "", "Invalid value for as"),
    ];
    for (form, body) in [(NDJSON, lines), (CSV, table)] {
        let headers = [form, ("accept", "text/csv")];
        let rows = csv_rows(&server.request("POST", "/resolve?fields=figi", &headers, body));
        assert_eq!(rows.len(), expected.len() + 1);
        for (row, (status, id_type, figi, reason)) in rows[1..].iter().zip(expected) {
            assert_eq!((&*row[2], &*row[3], &*row[7]), (status, id_type, figi), "{row:?}");
            assert!(row[6].starts_with(reason), "{row:?}");
        }
    }
}

/// contract 17.1: a byte order mark is not part of a body.
#[test]
fn byte_order_marks() {
    let server = server();
    for (form, body) in [(JSON, r#"{"jobs":["AAPL"]}"#), (NDJSON, "\"AAPL\""), (CSV, "AAPL")] {
        let headers = [form, ("accept", "application/x-ndjson")];
        let [plain, marked] = ["", "\u{feff}"].map(|mark| {
            let body = mark.to_owned() + body;
            server.request("POST", "/resolve?fields=figi", &headers, body)
        });
        assert_eq!((marked.status, &marked.body), (200, &plain.body), "{form:?}");
    }
}

/// contract 17.12: the types of columns.
#[test]
fn columns() {
    let server = server();
    let body = json!({
        "columns": [["US4592001014", "US0378331005", ""], ["IBM", "AAPL"], ["IBM", "AAPL"], []],
        "headings": ["x", "Name", "Ticker"],
    });
    let expected = json!({"generation": 1, "columns": [
        {"idType": "ID_ISIN", "share": 1.0}, {}, {"idType": "TICKER", "share": 1.0}, {},
    ]});
    assert_eq!(ask(&server, &body), expected);
    let many = json!({"columns": [vec!["x"; 10_000], vec!["x"]]});
    assert_eq!(server.post("/resolve", &many.to_string()).status, 400);
}
