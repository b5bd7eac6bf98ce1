//! Contract 21.10 to 21.14: `GET /resolve`.

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::config::Settings;
use serde_json::{Value, json};

use super::{JSON, dump, limited, server};
use crate::support::{Answer, Server, figi, one_key};

fn get(server: &Server, query: &str, headers: &[(&str, &str)]) -> Answer {
    server.request("GET", &format!("/resolve?{query}"), headers, "")
}

/// contract 21.10, 21.11: CSV or JSON, the same as that of a POST.
#[test]
fn the_answer_is_that_of_a_post() {
    let server = server();
    let [german, apple] = [3, 5].map(figi);
    let query =
        "text=US0378331005&text=IBM&prefer=composite&prefer=exchCode%3DGR&fields=figi,ID_ISIN";
    let csv = get(&server, query, &[]);
    assert_eq!((csv.status, &*csv.content_type), (200, "text/csv; charset=utf-8"));
    assert_eq!(csv.header("cache-control"), "no-store");
    assert_eq!(csv.header("figdex-generation"), "1");
    assert_eq!(
        csv.body,
        format!(
            "row,input,match,idType,matches,by,reason,figi,ID_ISIN\n\
             1,US0378331005,resolved,ID_ISIN,1,only,,{apple},US0378331005\n\
             2,IBM,resolved,TICKER,1,exchCode=GR,,{german},US4592001014\n"
        )
    );
    let body = json!({"jobs": ["US0378331005", "IBM"], "prefer": ["composite", "exchCode=GR"],
        "fields": ["figi", "ID_ISIN"]});
    let posted = server.post("/resolve", &body.to_string()).body;
    let accept = [("accept", "application/json")];
    for (query, headers) in [
        (query.to_owned(), &accept[..]),
        (format!("{query}&format=json"), &[]),
        (format!("format=json&{query}"), &[("accept", "text/csv")]),
    ] {
        let answer = get(&server, &query, headers);
        assert_eq!((answer.status, &answer.body), (200, &posted), "{query}");
        assert_eq!(answer.content_type, "application/json; charset=utf-8");
    }
    let csv = get(&server, &format!("{query}&format=csv"), &accept);
    assert_eq!(csv.content_type, "text/csv; charset=utf-8");
    let lines = get(&server, "text=AAPL", &[("accept", "application/x-ndjson")]);
    assert!(lines.body.starts_with("{\"status\":\"resolved\""), "{}", lines.body);
    let head = server.request("HEAD", "/resolve?text=AAPL", &[], "");
    assert_eq!((head.status, head.header("cache-control")), (200, "no-store"));
    assert_eq!(get(&server, "text=AAPL", &[("accept", "image/png")]).status, 406);
}

/// contract 21.10: `as` holds for all texts.
#[test]
fn texts_of_one_type() {
    let server = server();
    let found =
        get(&server, "text=BRK-B&text=IBM&as=symbol:yahoo&fields=figi&prefer=composite", &[]);
    assert!(found.body.contains(&figi(7)) && found.body.contains(&figi(1)), "{}", found.body);
    let typed = get(&server, "text=851399&as=TICKER&fields=figi&format=json", &[]);
    let typed: Value = serde_json::from_str(&typed.body).unwrap();
    assert_eq!(typed["results"][0]["data"], json!([{"figi": figi(6)}]));
}

/// contract 21.13: a clear sentence for each fault of the URL.
#[test]
fn faults() {
    let server = server();
    for (query, expected) in [
        ("", "text is required: an identifier, as in /resolve?text=US0378331005."),
        ("fields=figi", "text is required"),
        ("text=A&text=B&txt=C", "Invalid key 'txt'."),
        ("text=A&fields=figi&fields=name", "fields is given twice."),
        ("text=A&as=TICKER&as=TICKER", "as is given twice."),
        ("text=A&format=csv&format=csv", "format is given twice."),
        ("text=A&format=xml", "format must be csv or json."),
        ("text=A&fields=nonsense", "is not a field"),
        ("text=A&many=some", "many must be none or all."),
        ("text=A&jobs=A", "Invalid key 'jobs'."),
    ] {
        let answer = get(&server, query, &[]);
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.body.contains(expected), "{query}: {}", answer.body);
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let none = server.request("GET", "/resolve", &[], "");
    assert!(none.status == 400 && none.body.contains("text is required"), "{}", none.body);
    let room = 8_192 - "/resolve?text=".len();
    assert_eq!(get(&server, &format!("text={}", "A".repeat(room)), &[]).status, 200);
    let long = get(&server, &format!("text={}", "A".repeat(room + 1)), &[]);
    assert_eq!(long.status, 414);
    let expected = "The URL has 8193 bytes; at most 8192 are read. Send a longer list as the body";
    assert!(long.body.contains(expected), "{}", long.body);
    let posted = server.request("PUT", "/resolve?text=A", &[JSON], "");
    assert_eq!((posted.status, posted.allow.as_deref()), (405, Some("GET, HEAD, POST")));
}

/// contract 21.13: a key in the URL is refused, and never repeated.
#[test]
fn keys_stay_out_of_urls() {
    let (server, key) = limited();
    for name in ["key", "apikey", "X-SERVICE-APIKEY", "x-openfigi-apikey", "token"] {
        let answer = get(&server, &format!("text=AAPL&{name}={key}"), &[]);
        assert_eq!(answer.status, 400, "{name}");
        assert!(answer.body.contains("A key is not read from a URL"), "{}", answer.body);
        assert!(!answer.body.contains(&key));
    }
    assert_eq!(get(&server, "text=AAPL", &[("x-service-apikey", &key)]).status, 200);
    assert_eq!(get(&server, "text=AAPL", &[("x-service-apikey", "wrong")]).status, 401);
}

/// contract 21.11: the price is that of a POST.
#[test]
fn limits() {
    let (server, _) = limited();
    let texts = |count: usize| vec!["text=AAPL"; count].join("&");
    let counted = |answer: &Answer| answer.header("ratelimit-remaining").parse::<u32>().unwrap();
    let first = get(&server, &texts(1), &[]);
    assert_eq!(first.header("figdex-jobs-per-request"), "10");
    let second = get(&server, &texts(11), &[]);
    assert_eq!(counted(&first) - counted(&second), 2, "11 texts count as two requests");
    let posted = server.post("/resolve", r#"{"jobs":["AAPL"]}"#);
    assert_eq!(counted(&second) - counted(&posted), 1, "both count in one window");
    let (keys, _) = one_key();
    let settings = Settings { rates: Some(Rates::default()), ..Settings::default() };
    let server = Server::with(&dump(), |engine| State::new(engine, settings).with_keys(keys));
    let most = get(&server, &texts(251), &[]);
    assert_eq!((most.status, most.header("figdex-jobs-per-list")), (413, "250"), "{}", most.body);
}

/// contract 21.12: a spreadsheet runs no cell of the answer. A POST's answer is exact.
#[test]
fn formulas_are_guarded() {
    let server = Server::of_dump(&format!(
        "figi,ticker,name,exchCode\n{},\"=1+2\",@SUM(A1),US\n{},PLAIN,-x,US\n",
        figi(1),
        figi(2)
    ));
    let csv = get(&server, "text=%3D1%2B2&text=PLAIN&fields=ticker,name", &[]).body;
    let expected = "1,'=1+2,resolved,TICKER,1,only,,'=1+2,'@SUM(A1)\n\
                    2,PLAIN,resolved,TICKER,1,only,,PLAIN,'-x\n";
    assert!(csv.ends_with(expected), "{csv}");
    let posted = [("content-type", "text/csv")];
    let csv = server.request("POST", "/resolve?fields=name", &posted, "PLAIN\n").body;
    assert!(csv.ends_with(",-x\n"), "{csv}");
}
