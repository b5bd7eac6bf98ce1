//! Hostile servers: none holds the command for longer than its patience. Answers about the past, as
//! a server writes them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use figdex_index::{Basis, Date, Field, Figi, ListField, Status, Vocabulary};
use serde_json::Value;

use super::client::{Client, Reply};
use super::patience::Bounds;
use super::shapes::{AnswerOptions, ListRequest, RemoteRow, answers, coverage};
use crate::commands::map::answerer::{Answer, Asked, AskedAs, Narrowing, RowPast};
use crate::config::map::Url;

/// The bounds of these tests, which would not end with those of the command.
const BOUNDS: Bounds = Bounds {
    without_progress: Duration::from_millis(1_500),
    per_identifier: Duration::ZERO,
    silence: Duration::from_millis(200),
    bytes_min: 100,
};

/// A server that answers each request by writing to its connection, and counts the requests. With
/// an error it closes the connection.
fn server(
    answer: impl Fn(usize, &mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> (Client, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url(format!("http://{}", listener.local_addr().unwrap()));
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while is_asked(&mut stream) {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                if answer(number, stream.get_mut()).is_err() {
                    break;
                }
            }
        }
    });
    (Client::new(&url, None, None, BOUNDS).unwrap(), requests)
}

/// Reads a request with a body of two bytes. `false` at the end of the connection.
fn is_asked(stream: &mut BufReader<TcpStream>) -> bool {
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        if line.trim().is_empty() {
            return stream.read_exact(&mut [0; 2]).is_ok();
        }
        line.clear();
    }
    false
}

/// Writes a byte now and then, until nobody reads.
fn trickle(stream: &mut TcpStream, byte: u8) -> std::io::Result<()> {
    loop {
        stream.write_all(&[byte])?;
        thread::sleep(Duration::from_millis(20));
    }
}

fn error(client: &mut Client) -> String {
    let reply = client.post("/resolve", b"{}");
    reply.err().expect("the server never answers").to_string()
}

#[test]
fn a_server_that_only_asks_to_wait_is_given_up() {
    let (mut client, requests) = server(|_, stream| {
        stream.write_all(b"HTTP/1.1 429 Wait\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n")
    });
    let error = error(&mut client);
    assert!(error.contains("it is too slow: 0 identifiers were answered in "), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

/// A wait that would not end within the patience is not begun.
#[test]
fn an_answer_may_not_block_the_next_request_for_long() {
    let (mut client, requests) = server(|_, stream| {
        stream.write_all(
            b"HTTP/1.1 200 OK\r\nratelimit-limit: 1\r\nratelimit-remaining: 0\r\n\
              ratelimit-reset: 18446744073709551615\r\ncontent-length: 2\r\n\r\n{}",
        )
    });
    assert!(matches!(client.post("/resolve", b"{}").unwrap(), Reply::Answer { .. }));
    let error = error(&mut client);
    assert!(error.contains("it is too slow: "), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

/// A byte now and then keeps no part of an answer open.
#[test]
fn an_answer_has_a_least_rate() {
    const CASES: [(&[u8], &str); 3] = [
        (b"HTTP/1.1 200 OK\r\nx: ", "nothing came for "),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", "its answer is too slow: "),
        // The extension of a chunk never ends, and brings no byte of the answer.
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;", "it is too slow: "),
    ];
    for (head, expected) in CASES {
        let (mut client, _) = server(move |_, stream| {
            stream.write_all(head)?;
            trickle(stream, b'x')
        });
        let error = error(&mut client);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// After one answer a server is asked again when it fails, within the same patience.
#[test]
fn asking_again_takes_patience_too() {
    let (mut client, requests) = server(|number, stream| match number {
        0 => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        _ => stream.write_all(b"HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n"),
    });
    assert!(matches!(client.post("/resolve", b"{}").unwrap(), Reply::Answer { .. }));
    client.answered(7);
    let error = error(&mut client);
    assert!(error.contains("it is too slow: 7 identifiers were answered in "), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 3);
}

/// The answers to these results. `FIELDS` are those that were asked for.
fn read(results: &str, keeps_all: bool, is_as_of: bool) -> Vec<Answer<RemoteRow>> {
    const FIELDS: [ListField; 1] = [ListField::Row(Field::Ticker)];
    let jobs = serde_json::from_str::<Vec<Value>>(results).unwrap().len();
    let wanted = AnswerOptions {
        prefer: &[],
        fields: &FIELDS,
        keeps_all,
        accepts_historical: true,
        has_past: true,
        is_as_of,
    };
    let body = format!("{{\"generation\":3,\"results\":{results}}}");
    answers(body.as_bytes(), jobs, wanted).unwrap().answers
}

fn date(text: &str) -> Option<Date> {
    Some(Date::parse(text).unwrap())
}

const META: &str = "BBG000MM2P62";
const TWX: &str = "BBG000BPH459";

#[test]
fn former_rows_are_read() {
    let found = read(
        r#"[
            {"status":"historical","idType":"TICKER","former":{"ticker":"FB","figi":"BBG000MM2P62"},
             "today":{"ticker":"META","figi":"BBG000MM2P62"},"validFrom":"2022-06-08",
             "validTo":"2022-06-08","basis":"observed"},
            {"status":"gone","idType":"TICKER","former":{"ticker":"TWX","figi":"BBG000BPH459"},
             "today":null,"validFrom":"2022-06-08","validTo":"2022-06-09","basis":"assumed"},
            {"status":"gone","idType":"TICKER","former":{"ticker":"TW","figi":"BBG000BPH459"},
             "today":null,"validFrom":null,"validTo":null,"basis":"stated",
             "successor":"BBG000MM2P62"},
            {"status":"ambiguous","idType":"TICKER","matches":2,"former":[
             {"ticker":"OLD","figi":"BBG000MM2P62","today":null,"validFrom":"2022-06-08",
              "validTo":null,"basis":"observed"}]},
            {"status":"unknown"}
        ]"#,
        false,
        false,
    );
    let [historical, gone, stated, ambiguous, unknown] = &found[..] else { panic!("five results") };
    let figi = Figi::parse(META).unwrap();
    let past = RowPast {
        figi,
        today: Some(figi),
        valid_from: date("2022-06-08"),
        valid_to: date("2022-06-08"),
        basis: Some(Basis::Observed),
        successor: None,
    };
    assert_eq!(historical.resolution.status, Status::Historical);
    assert!(historical.is_accepted && historical.is_former);
    assert_eq!(historical.past, [past]);
    assert_eq!(historical.rows[0].field(0), Some("META"));
    let reason = "it was of BBG000MM2P62 until 2022-06-08";
    assert_eq!(historical.resolution.reason(), reason);
    let past = RowPast {
        figi: Figi::parse(TWX).unwrap(),
        today: None,
        valid_to: date("2022-06-09"),
        basis: Some(Basis::Assumed),
        ..past
    };
    assert_eq!((&gone.resolution.status, &gone.past[..]), (&Status::Gone, &[past][..]));
    assert!(!gone.is_accepted && gone.rows.is_empty());
    let past = RowPast {
        valid_from: None,
        valid_to: None,
        basis: Some(Basis::Stated),
        successor: Some(figi),
        ..past
    };
    assert_eq!((&stated.resolution.status, &stated.past[..]), (&Status::Gone, &[past][..]));
    let past = RowPast { valid_from: date("2022-06-08"), successor: None, ..past };
    let past = RowPast { figi, valid_to: None, basis: Some(Basis::Observed), ..past };
    assert_eq!(ambiguous.past, [past]);
    assert!(ambiguous.is_former && ambiguous.rows.is_empty());
    assert!(!unknown.is_former && unknown.past.is_empty());
}

#[test]
fn rows_as_of_a_day_are_read() {
    let results = r#"[
        {"status":"resolved","idType":"TICKER","by":"only","asOf":"2022-06-08",
         "data":[{"ticker":"FB","figi":"BBG000MM2P62"}],"today":{"ticker":"META",
         "figi":"BBG000MM2P62"},"validFrom":"2022-06-08","validTo":"2022-06-08","basis":"observed"},
        {"status":"uncertain","idType":"TICKER","asOf":"2022-06-15","former":[{"ticker":"TWX",
         "figi":"BBG000BPH459","today":null,"validFrom":"2022-06-08","validTo":"2022-06-09",
         "basis":"observed"}]},
        {"status":"outOfCoverage","asOf":"2022-06-01",
         "coverage":{"since":"2022-06-08","until":"2022-06-21"}}
    ]"#;
    for keeps_all in [false, true] {
        let found = read(results, keeps_all, true);
        let [resolved, uncertain, out] = &found[..] else { panic!("three results") };
        assert_eq!(resolved.rows[0].field(0), Some("FB"));
        let [past] = resolved.past[..] else { panic!("one row") };
        assert_eq!(past.today.map(|figi| figi.to_string()).as_deref(), Some(META));
        assert_eq!((past.valid_from, past.valid_to), (date("2022-06-08"), date("2022-06-08")));
        assert!(!resolved.is_former);
        assert_eq!(uncertain.resolution.status, Status::Uncertain);
        assert_eq!(
            (uncertain.rows.len(), uncertain.past.len()),
            (keeps_all.into(), keeps_all.into())
        );
        assert_eq!(
            out.resolution.reason(),
            "the past that could answer is from 2022-06-08 to 2022-06-21"
        );
    }
}

/// One day for all is an option of the list; other days are members of their jobs.
#[test]
fn days_are_sent() {
    let asked = |day| Asked {
        text: "FB".into(),
        reading: AskedAs::Text,
        narrowing: Narrowing::default(),
        day,
    };
    let vocabulary = Vocabulary::new([]);
    let sent = |as_of, jobs: &[Asked<'_>]| -> Value {
        let request = ListRequest {
            jobs,
            vocabulary: &vocabulary,
            prefer: &[],
            fields: &[ListField::Row(Field::Figi)],
            include_unlisted_equities: false,
            as_of,
        };
        serde_json::from_slice(&request.to_json()).unwrap()
    };
    let day = date("2022-06-08");
    let expected = serde_json::json!({"jobs": ["FB"], "fields": ["figi"], "asOf": "2022-06-08"});
    assert_eq!(sent(day, &[asked(day)]), expected);
    let job = serde_json::json!({"text": "FB", "asOf": "2022-06-08"});
    let expected = serde_json::json!({"jobs": [job], "fields": ["figi"]});
    assert_eq!(sent(None, &[asked(day)]), expected);
    let expected = serde_json::json!({"jobs": ["FB"], "fields": ["figi"]});
    assert_eq!(sent(None, &[asked(None)]), expected);
}

#[test]
fn a_server_says_what_its_past_covers() {
    let covered =
        coverage(br#"{"generation":3,"coverage":{"since":"2022-06-08","until":"2022-06-21"}}"#);
    assert_eq!(covered.map(|it| Some(it.since)), Some(date("2022-06-08")));
    for body in [&br#"{"generation":3}"#[..], b"<h1>404</h1>", b""] {
        assert_eq!(coverage(body), None);
    }
}
