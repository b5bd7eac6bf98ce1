//! Contract, chapter 12: the members of a row that only some rows or versions have. Those of
//! all rows are tested with the mapping jobs, and gzip with the encodings.

use crate::support::figi;
use crate::support::{Answer, Server};

fn post(server: &Server, path: &str, ticker: &str) -> Answer {
    let body = if path.ends_with("mapping") {
        format!(r#"[{{"idType":"TICKER","idValue":"{ticker}"}}]"#)
    } else {
        format!(r#"{{"query":"{ticker}"}}"#)
    };
    server.post(path, &body)
}

const PATHS: [&str; 6] =
    ["/v3/mapping", "/v2/mapping", "/v1/mapping", "/v3/search", "/v3/filter", "/v2/search"];

/// contract 12.4: `metadata` is the last member of a row, with the text of the data, and
/// only where the data have one.
#[test]
fn metadata_is_the_text_of_the_data() {
    let [plain, public, other] = [1, 2, 3].map(figi);
    let server = Server::of_dump(&format!(
        "figi,ticker,metadata\n{plain},PLAIN,\n{public},PUBLIC,Metadata N/A\n\
         {other},OTHER,\"a \"\"text\"\" of ours\"\n"
    ));
    for path in PATHS {
        assert!(!post(&server, path, "PLAIN").body.contains("metadata"), "{path}");
        for (ticker, metadata) in
            [("PUBLIC", r#""Metadata N/A""#), ("OTHER", r#""a \"text\" of ours""#)]
        {
            let body = post(&server, path, ticker).body;
            let end = format!(r#""securityDescription":null,"metadata":{metadata}}}]"#);
            assert!(body.contains(&end), "{path} {body}");
        }
    }
}

/// contract 12.5: a row of v2 and v1 has `uniqueID` and `uniqueIDFutOpt` in their places,
/// as in the data or null; a row of v3 has neither.
#[test]
fn the_unique_ids_of_older_versions() {
    let [both, neither] = [1, 2].map(figi);
    let server = Server::of_dump(&format!(
        "figi,ticker,uniqueID,uniqueIDFutOpt\n{both},BOTH,EQ1,F2\n{neither},NEITHER,,\n"
    ));
    let row = |figi: &str, ticker: &str, unique_id: &str, fut_opt: &str| {
        format!(
            r#"{{"figi":"{figi}","name":null,"ticker":"{ticker}","exchCode":null,"compositeFIGI":null{unique_id},"securityType":null,"marketSector":null,"shareClassFIGI":null{fut_opt},"securityType2":null,"securityDescription":null}}"#
        )
    };
    for path in PATHS {
        for (figi, ticker, unique_id, fut_opt) in
            [(&both, "BOTH", r#""EQ1""#, r#""F2""#), (&neither, "NEITHER", "null", "null")]
        {
            let (unique_id, fut_opt) = if path.starts_with("/v3") {
                (String::new(), String::new())
            } else {
                (format!(r#","uniqueID":{unique_id}"#), format!(r#","uniqueIDFutOpt":{fut_opt}"#))
            };
            let expected = format!(r#"{{"data":[{}]"#, row(figi, ticker, &unique_id, &fut_opt));
            let body = post(&server, path, ticker).body;
            assert!(body.trim_start_matches('[').starts_with(&expected), "{path} {body}");
        }
    }
}
