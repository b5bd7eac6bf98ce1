//! Contract 16.1 to 16.4: suggestions for a person who is still typing.

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::config::{Settings, UnknownEnum};
use serde_json::Value;

use super::search::dump;
use crate::support::figi;
use crate::support::one_key;
use crate::support::{Answer, Server, figis};

fn server() -> Server {
    Server::of_dump(&dump())
}

fn get(server: &Server, query: &str) -> Answer {
    server.request("GET", &format!("/suggest{query}"), &[], "")
}

/// The rows of an answer with status 200.
fn suggest(server: &Server, query: &str) -> Value {
    let answer = get(server, query);
    assert_eq!(
        (answer.status, &*answer.content_type),
        (200, "application/json; charset=utf-8"),
        "{query} {}",
        answer.body
    );
    serde_json::from_str(&answer.body).unwrap()
}

fn check(server: &Server, query: &str, expected: &[u32]) {
    let found = figis(&suggest(server, query));
    let expected: Vec<String> = expected.iter().copied().map(figi).collect();
    assert_eq!(found, expected, "{query}");
}

/// contract 16.1: a row of v3, the number of its listings, and what matched.
#[test]
fn the_shape_of_an_answer() {
    let server = server();
    let body = get(&server, "?query=deutsche+ba").body;
    let row = format!(
        r#"{{"figi":"{}","name":"DEUTSCHE BANK AG-REGISTERED","ticker":"DBK","exchCode":"GR","compositeFIGI":"{}","securityType":"Common Stock","marketSector":"Equity","shareClassFIGI":"{}","securityType2":"Common Stock","securityDescription":null,"listings":3,"matched":["name"]}}"#,
        figi(6),
        figi(6),
        figi(902)
    );
    assert_eq!(body, format!(r#"{{"data":[{row}]}}"#));
    assert_eq!(get(&server, "?query=zzzzzz").body, r#"{"data":[]}"#);
    assert_eq!(get(&server, "?query=%26").body, r#"{"data":[]}"#);
    for (method, body) in [("HEAD", ""), ("POST", "Invalid HTTP method.")] {
        let answer = server.request(method, "/suggest?query=ibm", &[], "");
        assert_eq!(answer.status, if method == "HEAD" { 200 } else { 405 });
        assert!(method == "HEAD" || answer.body == body, "{}", answer.body);
        assert!(method == "HEAD" || answer.allow.as_deref() == Some("GET, HEAD"));
    }
}

/// contract 16.1: one row for each security: beginnings, one typo, words joined, split, in any
/// order, and identifiers.
#[test]
fn the_suggested_securities() {
    let server = server();
    for (query, expected) in [
        ("?query=app", &[1, 14, 3][..]),
        ("?query=a", &[1, 12, 14]),
        ("?query=berk", &[5]),
        ("?query=hath+berkshire", &[5]),
        ("?query=hathaway+berk", &[5]),
        ("?query=berkshier", &[5]),
        ("?query=bekshire+hathaway", &[5]),
        ("?query=berkshire+hathwaay", &[5]),
        ("?query=societe+gen", &[9]),
        ("?query=Soci%C3%A9t%C3%A9", &[9]),
        ("?query=at%26t", &[12]),
        ("?query=att", &[12]),
        ("?query=at+t", &[12]),
        ("?query=deut+sche", &[6]),
        ("?query=deutschebank", &[6]),
        ("?query=deutsche+bank+gf", &[7]),
        ("?query=brkb", &[5]),
        ("?query=US0378331005", &[1]),
        ("?query=us037833", &[]),
        ("?query=AAPL+01/17/25+C155", &[4]),
        ("?query=%E3%83%88%E3%83%A8", &[13]),
        ("?query=toyo", &[13]),
        ("?query=hidden", &[]),
        ("?query=hidden&includeUnlistedEquities=true", &[11]),
    ] {
        check(&server, query, expected);
    }
    for (query, matched) in [
        ("?query=aapl", r#"["ticker"]"#),
        ("?query=apple", r#"["name"]"#),
        ("?query=US0378331005", r#"["identifier"]"#),
        ("?query=toyota", r#"["description"]"#),
        ("?query=berkshier", r#"["name","guess"]"#),
    ] {
        assert_eq!(suggest(&server, query)["data"][0]["matched"].to_string(), matched, "{query}");
    }
}

/// contract 16.1: two typos in a word of eight letters or more that no row has, only when one typo
/// finds fewer than three rows, and in suggestions only.
#[test]
fn two_typos_in_a_long_word() {
    let names = [
        "VODAFONE GROUP PLC",
        "SCHLUMBERGER LTD",
        "VOLKSWAGEN AG",
        "STARBUCKS CORP",
        "STARBACKS ONE",
        "STARBACKS TWO",
        "STARBACKS THREE",
        "NESTLE SA",
    ];
    let row = |(number, name)| format!("{{\"figi\":\"{}\",\"name\":\"{name}\"}}\n", figi(number));
    let server = Server::of_dump(&(1..).zip(names).map(row).collect::<String>());
    for (query, expected) in [
        ("vodaphone", &[1][..]),
        ("vodaphone+group", &[1]),
        ("group+vodaphone", &[1]),
        ("Schlumbreger", &[2]),
        ("shclumbegrer", &[2]),
        ("wolkswagon", &[3]),
        ("wolkzwag", &[3]),
        // Seven letters.
        ("wolkzwa", &[]),
        ("nstele", &[]),
        // Three typos.
        ("wolksvagon", &[]),
        // Three rows with one typo are enough.
        ("strabacks", &[5, 6, 7]),
        // A number is never another number.
        ("vodaphone1", &[]),
    ] {
        let mut found = figis(&suggest(&server, &format!("?query={query}")));
        found.sort();
        let expected: Vec<String> = expected.iter().copied().map(figi).collect();
        assert_eq!(found, expected, "{query}");
    }
    let found = suggest(&server, "?query=vodaphone");
    assert_eq!(found["data"][0]["matched"].to_string(), r#"["name","guess"]"#);
    let search = server.post("/v3/search", r#"{"query":"vodaphone"}"#);
    assert_eq!(search.body, r#"{"data":[]}"#);
}

/// contract 16.1: the forms in which lists say a ticker: with an exchange and a market sector, with
/// a MIC, and with another sign before a class letter.
#[test]
fn tickers_as_lists_have_them() {
    let server = server();
    for (query, expected) in [
        ("?query=AAPL+US+Equity", &[1][..]),
        ("?query=aapl+uw+equity", &[2]),
        ("?query=AAPL:UW", &[2]),
        ("?query=DBK+GR+Equity", &[6]),
        ("?query=NASDAQ:AAPL", &[2]),
        ("?query=nyse:+t", &[12]),
        ("?query=ETR:DBK", &[6]),
        ("?query=isin+us0378331005", &[1]),
        ("?query=CUSIP:+037833100", &[1]),
        ("?query=wkn+514000", &[6]),
        ("?query=BRK-B", &[5]),
        ("?query=BRK.B+US+Equity", &[5]),
        ("?query=AAPL+UW+Equity&exchCode=US", &[]),
    ] {
        let found = figis(&suggest(&server, query));
        let expected: Vec<String> = expected.iter().copied().map(figi).collect();
        assert_eq!(found.iter().take(1).cloned().collect::<Vec<_>>(), expected, "{query}");
    }
    // A suffix of data vendors, for an exchange code that the dump of this test has.
    let london = Server::of_dump(&format!(
        "{}{{\"figi\":\"{}\",\"ticker\":\"AAPL\",\"exchCode\":\"LN\",\"name\":\"APPLE INC\",\"securityType2\":\"Common Stock\"}}\n",
        dump(),
        figi(950)
    ));
    assert_eq!(figis(&suggest(&london, "?query=AAPL.L"))[0], figi(950));
    let found = &suggest(&server, "?query=AAPL+UW+Equity")["data"][0];
    assert_eq!(found["matched"].to_string(), r#"["ticker"]"#);
}

/// contract 16.1: a text with a wrong check digit is answered with the right one.
#[test]
fn a_wrong_check_digit() {
    let server = server();
    for query in ["?query=+us0378331004", "?query=%22US0378331004%22", "?query=%27US0378331004"] {
        assert_eq!(
            get(&server, query).body,
            r#"{"data":[],"finding":"ID_ISIN: the check digit should be 5","correction":"US0378331005"}"#,
            "{query}"
        );
    }
    for query in ["?query=US0378331005", "?query=apple", "?query=AAPL", "?query=037833"] {
        let found = suggest(&server, query);
        assert!(found.get("finding").is_none() && found.get("correction").is_none(), "{query}");
    }
}

/// contract 16.2, 16.3: properties by their names, with several values; and the number of rows.
#[test]
fn parameters_narrow_the_suggestions() {
    let server = server();
    for (query, expected) in [
        ("?query=deutsche&exchCode=US", &[8][..]),
        ("?query=deutsche&exchCode=US&exchCode=GF", &[8]),
        ("?query=deutsche&exchCode=GF", &[7]),
        ("?query=apple&marketSecDes=Muni", &[3]),
        ("?query=a&marketSecDes=Muni&marketSecDes=Index", &[3]),
        ("?query=app&securityType2=Common+Stock&exchCode=UW", &[2]),
        ("?query=app&limit=1", &[1]),
        ("?query=app&limit=2", &[1, 14]),
        ("?query=app&limit=50", &[1, 14, 3]),
    ] {
        check(&server, query, expected);
    }
    // As many values of a property as a search or a filter may have.
    check(&server, &format!("?query=app{}", "&exchCode=UW".repeat(100)), &[2]);
    let settings = Settings { unknown_enum: UnknownEnum::NoMatch, ..Settings::default() };
    let server = server.with_settings(settings);
    check(&server, "?query=app&exchCode=??", &[]);
    // The other values match theirs (contract 8.16).
    check(&server, "?query=app&exchCode=??&exchCode=UW", &[2]);
    check(&server, "?query=app&exchCode=UW&securityType2=??", &[]);
}

/// contract 16.3: a fault of the parameters is a 400 with its text.
#[test]
fn faults_of_the_parameters() {
    let server = server();
    for (query, sentence) in [
        ("", "query must be a non-empty string."),
        ("?query=", "query must be a non-empty string."),
        ("?query=%20", "query must be a non-empty string."),
        ("?query=a&query=b", "query must not be repeated."),
        ("?query=a&limit=0", "limit must be a number from 1 to 50."),
        ("?query=a&limit=51", "limit must be a number from 1 to 50."),
        ("?query=a&limit=x", "limit must be a number from 1 to 50."),
        ("?query=a&limit=1&limit=2", "limit must not be repeated."),
        ("?query=a&exchcode=US", "Invalid key 'exchcode'."),
        ("?query=a&exchCode=us", "Invalid value for exchCode."),
        ("?query=a&includeUnlistedEquities=1", "includeUnlistedEquities must be true or false."),
        (
            &format!("?query=a{}", "&exchCode=US".repeat(101)),
            "exchCode must have at most 100 values.",
        ),
        (&format!("?query={}", "x".repeat(1025)), "query must not be longer than 1024 bytes."),
    ] {
        let answer = get(&server, query);
        let body = serde_json::json!({"error": sentence}).to_string();
        assert_eq!((answer.status, answer.body), (400, body), "{query}");
    }
    // As many values of a property as a filter may have.
    let values = |count| format!("?query=app{}", "&marketSecDes=Equity".repeat(count));
    assert_eq!(get(&server, &values(100)).status, 200);
    let answer = get(&server, &values(101));
    let sentence = "marketSecDes must have at most 100 values.";
    let body = serde_json::json!({"error": sentence}).to_string();
    assert_eq!((answer.status, answer.body), (400, body));
    // Any bytes get an answer.
    for query in ["?query=%FF%FE", "?query=%", "?%00=%00", "?query=%F0%9F%98%80", "?=&&&"] {
        assert!(matches!(get(&server, query).status, 200 | 400), "{query}");
    }
}

/// contract 16.4: an address has a separate window, and those of the contract are not affected.
#[test]
fn a_separate_window() {
    let mut rates = Rates::default();
    let line = rates.lines_mut().iter_mut().find(|line| line.span.name() == "suggest").unwrap();
    assert_eq!(line.without_key.unwrap().to_string(), "600/60s");
    line.without_key = Some("2/60s".parse().unwrap());
    let settings = Settings { rates: Some(rates), ..Settings::default() };
    let server = Server::with(&dump(), |catalogue| State::new(catalogue, settings));
    let ask = |peer| server.request_from(peer, "GET", "/suggest?query=app", &[], "");
    for remaining in ["1", "0"] {
        let answer = ask("192.0.2.1");
        assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, remaining));
        assert_eq!(answer.header("ratelimit-policy"), "2;w=60");
    }
    let refused = ask("192.0.2.1");
    assert_eq!((refused.status, refused.header("ratelimit-limit")), (429, "2"));
    assert_eq!(refused.header("retry-after"), refused.header("ratelimit-reset"));
    assert_eq!(ask("192.0.2.2").status, 200);
    let json = [("content-type", "application/json")];
    let search = r#"{"query":"app"}"#;
    let answer = server.request_from("192.0.2.1", "POST", "/v3/search", &json, search);
    assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, "4"));
}

/// contract 16.4: a key makes no difference, whether it is valid or not: the window is the
/// address's.
#[test]
fn a_key_makes_no_difference() {
    let (keys, key) = one_key();
    let settings = Settings { rates: Some(Rates::default()), ..Settings::default() };
    let server = Server::with(&dump(), |catalogue| State::new(catalogue, settings).with_keys(keys));
    let path = "/suggest?query=app";
    for (value, remaining) in [(&*key, "599"), ("unknown", "598"), ("", "597"), (&key, "596")] {
        let headers = [("x-service-apikey", value)];
        let answer = server.request_from("192.0.2.1", "GET", path, &headers, "");
        assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, remaining));
        assert_eq!(answer.header("ratelimit-policy"), "600;w=60");
    }
    let headers = [("x-service-apikey", &*key)];
    let answer = server.request_from("192.0.2.2", "GET", path, &headers, "");
    assert_eq!(answer.header("ratelimit-remaining"), "599", "another address");
}

/// Many rows hold the first word; the only row that also has a word with the second as its beginning
/// is found, although its rank is low.
#[test]
fn a_short_beginning_of_a_rare_word() {
    let row = |number: u32, name: &str, kind: &str| {
        let figi = figi(number);
        format!("{{\"figi\":\"{figi}\",\"name\":\"{name}\",\"securityType2\":\"{kind}\"}}\n")
    };
    let shares = (1..300).map(|number| row(number, &format!("ELECON {number}"), "Common Stock"));
    let dump: String = shares.chain([row(300, "GASOLINE ELECON Spr", "Future")]).collect();
    check(&Server::of_dump(&dump), "?query=elecon+spr", &[300]);
    check(&Server::of_dump(&dump), "?query=elecon+sp", &[300]);
}
