//! Contract, chapters 2 and 14, over real TCP: chunked bodies, the trailing slash, odd and slow
//! clients, the peer's address; and a clean stop.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use figdex::ConnectionBounds;
use figdex::callers::limits::Rates;
use figdex::config::Settings;
use warp::Filter as _;
use warp::reply::Response;

use crate::support::listening::{
    exchange, serving, serving_dump, serving_keys, serving_on, serving_with,
};
use crate::support::process;
use crate::support::{Server, figi, one_key};

const HEAD: &str = "POST /v3/mapping HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\
                    Content-Type: application/json\r\n";

const JOB: &str = r#"[{"idType":"TICKER","idValue":"IBM"}]"#;

/// contract 2.2, 2.11: chunks, a trailing slash, a foreign `Host` and `Upgrade: h2c`, as existing
/// clients send them.
#[test]
fn odd_clients_are_answered_as_usual() {
    serving(|address| {
        let length = JOB.len();
        let plain = format!("{HEAD}Content-Length: {length}\r\n\r\n{JOB}");
        let (first, second) = JOB.split_at(9);
        let chunked = format!(
            "{HEAD}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            first.len(),
            second.len()
        );
        let slash = plain.replace("/mapping ", "/mapping/ ");
        let upgrade = plain.replace("\r\n\r\n", "\r\nUpgrade: h2c\r\n\r\n");
        for request in [&plain, &chunked, &slash, &upgrade] {
            let answer = exchange(address, request);
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{request}\n{answer}");
            assert!(answer.contains("BBG000BLNNH6"), "{answer}");
            assert!(answer.contains("application/json; charset=utf-8"), "{answer}");
        }
    });
}

/// contract 2.15: with two `Host` headers, equal or not, a request is refused and its connection
/// ends; without one it is answered.
#[test]
fn a_request_has_one_host_or_none() {
    serving(|address| {
        let keep = HEAD.replace("Connection: close\r\n", "");
        for host in ["elsewhere.example", "other.example", ""] {
            let head = keep.replacen("Host: ", &format!("Host: {host}\r\nHost: "), 1);
            assert_eq!(head.matches("Host: ").count(), 2);
            let one = format!("{head}Content-Length: 2\r\n\r\n[]");
            let answer = exchange(address, &format!("{one}{one}"));
            assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
            assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
            assert!(answer.ends_with("\r\n\r\nBad request."), "{answer}");
        }
        let none = HEAD.replace("Host: elsewhere.example\r\n", "");
        assert!(!none.contains("Host"));
        let answer = exchange(address, &format!("{none}Content-Length: 2\r\n\r\n[]"));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    });
}

/// contract 2.13: after a body that breaks off, other clients are answered as usual.
#[test]
fn a_body_that_breaks_off_hurts_nobody() {
    serving(|address| {
        let mut half = TcpStream::connect(address).unwrap();
        half.write_all(format!("{HEAD}Content-Length: 100\r\n\r\n[").as_bytes()).unwrap();
        drop(half);
        let garbage = exchange(address, "\u{1}\u{2}\r\n\r\n");
        assert!(garbage.starts_with("HTTP/1.1 400"), "{garbage}");
        let length = JOB.len();
        let answer = exchange(address, &format!("{HEAD}Content-Length: {length}\r\n\r\n{JOB}"));
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    });
}

/// A connection stays open, and requests that are sent at once are answered in order.
#[test]
fn pipelined_requests() {
    serving(|address| {
        let keep = HEAD.replace("Connection: close\r\n", "");
        let length = JOB.len();
        let first = format!("{keep}Content-Length: {length}\r\n\r\n{JOB}");
        let second = format!("{keep}Content-Length: 2\r\n\r\n[]");
        let last = format!("{HEAD}Content-Length: 2\r\n\r\n{{}}");
        let answer = exchange(address, &format!("{first}{second}{last}"));
        let places = ["BBG000BLNNH6", "\r\n\r\n[]", "HTTP/1.1 400", "Bad request."]
            .map(|text| answer.find(text).unwrap_or_else(|| panic!("{text}\n{answer}")));
        assert!(places.is_sorted(), "{answer}");
    });
}

/// contract 2.12: reading stops at the bound, also when no length was declared.
#[test]
fn a_body_without_end() {
    let settings = Settings { body_bytes_max: 1_000, ..Settings::default() };
    serving_with(settings, |address, _stop| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "{HEAD}Transfer-Encoding: chunked\r\n\r\n").unwrap();
        let mut sent = 0;
        // The server answers and closes while this goes on.
        while sent < 1_100 {
            write!(stream, "64\r\n{}\r\n", " ".repeat(100)).unwrap();
            sent += 100;
        }
        let mut status = String::new();
        BufReader::new(stream).read_line(&mut status).unwrap();
        assert_eq!(status, "HTTP/1.1 413 Payload Too Large\r\n");
    });
}

/// contract 13.10: a panic in any route is 500, also outside the contract, with its id, its line
/// in the log and its count, and the connection goes on.
#[test]
fn a_panic_is_an_answer() {
    let server = Server::of_dump("figi,ticker\nBBG000BLNNH6,IBM\n");
    let at_once = warp::path("at-once").map(|| -> Response { panic!("a test's") });
    let later = warp::path("later").then(|| async {
        tokio::task::yield_now().await;
        if true {
            panic!("a test's");
        }
        Response::default()
    });
    let service = at_once.or(later).unify().or(server.service.clone()).unify().boxed();
    let observer = server.observer.clone();
    serving_on(service, observer, ConnectionBounds::default(), |address, _stop| {
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: 7\r\n\r\n");
        let body = "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
        let last = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let requests = format!("{}{}{body}{last}", get("/at-once"), get("/later"));
        let answers = exchange(address, &requests);
        assert_eq!(
            answers.matches("HTTP/1.1 500 Internal Server Error\r\n").count(),
            3,
            "{answers}"
        );
        assert_eq!(
            answers.matches("\r\n\r\nInternal server error.HTTP/1.1 ").count(),
            3,
            "{answers}"
        );
        assert_eq!(answers.matches("\r\nx-request-id: 7\r\n").count(), 2, "{answers}");
        let counted = "figdex_requests_total{route=\"other\",version=\"\",status=\"500\"} 3\n";
        assert!(answers.contains(counted), "{answers}");
    });
}

/// contract 13.14, 14.18: the memory of answers that nobody reads is bounded. A large answer
/// beyond it is a 503; small ones, other addresses and keys are answered.
#[test]
fn answers_that_nobody_reads() {
    let rows = (0..12_000).map(|number| format!("{},MANY\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    // One answer fits into the eighth that an address may have, and is larger than the system's own
    // buffers; two do not fit.
    let settings =
        Settings { answers_bytes_max: 320 << 20, trust_proxy: true, ..Settings::default() };
    let many = [r#"{"idType":"TICKER","idValue":"MANY"}"#; 10].join(",");
    let many = format!("{HEAD}Content-Length: {}\r\n\r\n[{many}]", many.len() + 2);
    let small = format!("{HEAD}Content-Length: 2\r\n\r\n[]");
    let (keys, key) = one_key();
    serving_keys(&dump, settings, keys, |address, _stop| {
        let mut first = BufReader::new(TcpStream::connect(address).unwrap());
        first.get_mut().write_all(many.as_bytes()).unwrap();
        let mut status = String::new();
        first.read_line(&mut status).unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK\r\n");
        let answer = exchange(address, &many);
        assert!(answer.starts_with("HTTP/1.1 503 "), "{}", &answer[..100]);
        assert!(answer.ends_with("Service Unavailable."));
        assert!(exchange(address, &small).starts_with("HTTP/1.1 200 "));
        let other = many.replacen("\r\n", "\r\nX-Forwarded-For: 192.0.2.1\r\n", 1);
        assert_ne!(other, many);
        assert!(exchange(address, &other).starts_with("HTTP/1.1 200 "), "there is room for others");
        let with_key = many.replacen("\r\n", &format!("\r\nX-SERVICE-APIKEY: {key}\r\n"), 1);
        assert!(exchange(address, &with_key).starts_with("HTTP/1.1 200 "), "and for a key");

        let mut rest = Vec::new();
        first.read_to_end(&mut rest).unwrap();
        assert!(rest.len() > 20 << 20, "{} bytes", rest.len());
        assert!(rest.ends_with(b"}]}]"), "it is whole, however late it was read");
        assert!(exchange(address, &many).starts_with("HTTP/1.1 200 "), "there is room again");
    });
}

/// contract 14.18: one address may have an eighth of the memory for bodies, and a caller with
/// a key has no such bound, although its address has.
#[test]
fn a_key_has_no_memory_bound() {
    const BODY_BYTES: usize = 60_000;
    let (keys, key) = one_key();
    // One body fits into an eighth, and two do not.
    let settings = Settings { bodies_bytes_max: 8 * 100_000, ..Settings::default() };
    let dump = "figi,ticker\nBBG000BLNNH6,IBM\n";
    serving_keys(dump, settings, keys, |address, _stop| {
        let used_bytes = || {
            let get = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            let page = exchange(address, get);
            let name = "figdex_budget_used_bytes{budget=\"bodies\"} ";
            let (_, rest) = page.split_once(name).unwrap_or_else(|| panic!("{page}"));
            rest.lines().next().unwrap().parse::<usize>().unwrap()
        };
        let with_key = format!("X-SERVICE-APIKEY: {key}\r\n");
        let body = format!("[]{}", " ".repeat(BODY_BYTES - 2));
        for (header, status) in [("", "HTTP/1.1 503 "), (&*with_key, "HTTP/1.1 200 ")] {
            let head = format!("{HEAD}{header}");
            // A body that lacks its last byte holds its memory.
            let mut held = TcpStream::connect(address).unwrap();
            let length = BODY_BYTES + 1;
            write!(held, "{head}Content-Length: {length}\r\n\r\n").unwrap();
            // However it arrives, it counts as its `Content-Length` at most.
            let (first, rest) = body.split_at(BODY_BYTES / 2);
            for (part, bytes) in [(first, BODY_BYTES / 2), (rest, BODY_BYTES)] {
                held.write_all(part.as_bytes()).unwrap();
                let started = Instant::now();
                while used_bytes() < bytes {
                    assert!(started.elapsed() < Duration::from_secs(20), "the body is not read");
                }
            }
            let length = body.len();
            let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
            // The answer comes while the body is still being sent, and a reset may follow it.
            let answer = process::exchange(address, request);
            assert!(answer.starts_with(status), "{header} {answer}");
            held.write_all(b" ").unwrap();
            let mut answer = String::new();
            held.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        }
    });
}

/// contract 14.20: a client that takes an answer too slowly loses the connection, although it is
/// never silent.
#[test]
fn slow_readers_are_cut_off() {
    let rows = (0..12_000).map(|number| format!("{},MANY\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    let connections = ConnectionBounds {
        idle_timeout: Duration::from_secs(2),
        // The answer of some 30 MB may take three seconds more.
        answer_bytes_per_second: 10 << 20,
        ..ConnectionBounds::default()
    };
    let many = [r#"{"idType":"TICKER","idValue":"MANY"}"#; 10].join(",");
    let many = format!("{HEAD}Content-Length: {}\r\n\r\n[{many}]", many.len() + 2);
    serving_dump(&dump, Settings { connections, ..Settings::default() }, |address, _stop| {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(many.as_bytes()).unwrap();
        let started = Instant::now();
        let mut bite = vec![0; 32 << 10];
        // Reads for half a minute, if the server lets it go on.
        while client.read(&mut bite).is_ok_and(|bytes| bytes > 0) {
            assert!(started.elapsed() < Duration::from_secs(15), "it still gets its bites");
            std::thread::sleep(Duration::from_millis(33));
        }
        let mut brisk = Vec::new();
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(many.as_bytes()).unwrap();
        client.read_to_end(&mut brisk).unwrap();
        assert!(brisk.ends_with(b"}]}]"), "a fast reader gets the whole answer");
    });
}

/// contract 2.13: a body that comes too slowly is 400, and the connection ends; one that is slow,
/// but not too slow, is answered.
#[test]
fn slow_bodies_are_refused() {
    let settings = Settings { body_timeout: Duration::from_millis(500), ..Settings::default() };
    serving_with(settings, |address, _stop| {
        let keep = HEAD.replace("Connection: close\r\n", "");
        let answer = exchange(address, &format!("{keep}Content-Length: 100\r\n\r\n["));
        assert!(answer.starts_with("HTTP/1.1 400") && answer.ends_with("Bad request."), "{answer}");

        let request = format!("{HEAD}Content-Length: {}\r\n\r\n{JOB}", JOB.len());
        let mut stream = TcpStream::connect(address).unwrap();
        for bytes in request.as_bytes().chunks(request.len() / 10) {
            stream.write_all(bytes).unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    });
}

/// After SIGTERM or SIGINT nothing is accepted any more, and a request whose second half comes
/// later is answered.
#[test]
fn a_stop_in_the_middle_of_a_request() {
    serving_with(Settings::default(), |address, stop| {
        let (begin, end) = JOB.split_at(9);
        let mut stream = TcpStream::connect(address).unwrap();
        // With `Expect` the server says when it has the head and waits for the body.
        let head = format!("{HEAD}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", JOB.len());
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
        stream.write_all(begin.as_bytes()).unwrap();
        stop.send(()).unwrap();
        let start = Instant::now();
        while TcpStream::connect(address).is_ok() {
            assert!(start.elapsed() < Duration::from_secs(10), "it still accepts");
        }
        stream.write_all(end.as_bytes()).unwrap();
        let mut answer = String::new();
        reader.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("HTTP/1.1 200 OK") && answer.contains("BBG000BLNNH6"), "{answer}");
    });
}

/// Half a head, or a connection that is silent, holds up neither other clients nor the stop, since
/// it has no request in flight.
#[test]
fn half_a_request_delays_nobody() {
    let (mut silent, mut idle, mut half) = (None, None, None);
    let mut stopped = Instant::now();
    serving(|address| {
        silent = Some(TcpStream::connect(address).unwrap());
        let idle = idle.insert(BufReader::new(TcpStream::connect(address).unwrap()));
        let keep = HEAD.replace("Connection: close\r\n", "");
        write!(idle.get_mut(), "{keep}Content-Length: 2\r\n\r\n[]").unwrap();
        let mut line = String::new();
        idle.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
        let half = half.insert(TcpStream::connect(address).unwrap());
        half.write_all(&HEAD.as_bytes()[..20]).unwrap();
        let answer = exchange(address, &format!("{HEAD}Content-Length: 2\r\n\r\n[]"));
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        stopped = Instant::now();
    });
    assert!(stopped.elapsed() < Duration::from_secs(10), "{:?}", stopped.elapsed());
}

/// contract 14.2, 14.3: the caller is the peer, whatever the client claims, or the address that a
/// trusted proxy appends.
#[test]
fn the_caller_is_the_peer_or_the_client_of_the_proxy() {
    for trust_proxy in [false, true] {
        let rates = Some(Rates::default());
        let settings = Settings { rates, trust_proxy, ..Settings::default() };
        serving_with(settings, |address, _stop| {
            let remaining = ["203.0.113.1", "203.0.113.2", "203.0.113.1"].map(|forwarded| {
                let head = format!("{HEAD}X-Forwarded-For: 198.51.100.7, {forwarded}\r\n");
                let answer = exchange(address, &format!("{head}Content-Length: 2\r\n\r\n[]"));
                let (_, rest) = answer.split_once("ratelimit-remaining: ").unwrap();
                rest.split("\r\n").next().unwrap().to_owned()
            });
            assert_eq!(
                remaining,
                if trust_proxy { ["24", "24", "23"] } else { ["24", "23", "22"] }
            );
        });
    }
}

/// A timeout that a test waits for, and one that it does not wait for: far enough apart that a busy
/// machine does not confuse them.
const SHORT_WAIT: Duration = Duration::from_millis(300);
const LONG_WAIT: Duration = Duration::from_secs(20);

/// contract 14.20: a slow head has a timeout, separate from the timeout of an idle connection.
#[test]
fn slow_heads_are_cut_off() {
    let connections = ConnectionBounds {
        head_timeout: SHORT_WAIT,
        idle_timeout: LONG_WAIT,
        ..ConnectionBounds::default()
    };
    serving_with(Settings { connections, ..Settings::default() }, |address, _stop| {
        for head in ["", "POST /v3/mapping HTTP/1.1\r\n"] {
            let started = Instant::now();
            assert_eq!(exchange(address, head), "");
            let lived = started.elapsed();
            assert!((SHORT_WAIT..LONG_WAIT).contains(&lived), "{head:?} lived {lived:?}");
        }
    });
}

/// contract 14.19, 14.20: a connection that is idle after an answer is closed; a connection beyond
/// the bound of all waits until another ends.
#[test]
fn idle_connections_are_closed() {
    let connections = ConnectionBounds {
        max: 1,
        head_timeout: LONG_WAIT,
        idle_timeout: SHORT_WAIT,
        ..ConnectionBounds::default()
    };
    serving_with(Settings { connections, ..Settings::default() }, |address, _stop| {
        let get = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
        let started = Instant::now();
        let mut first = TcpStream::connect(address).unwrap();
        first.write_all(get.as_bytes()).unwrap();
        let mut first = BufReader::new(first);
        let mut status = String::new();
        first.read_line(&mut status).unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK\r\n");
        // The first connection has the only place until its timeout; then the next is served, and is
        // idle for too long itself.
        let answer = exchange(address, get);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let waited = started.elapsed();
        assert!((2 * SHORT_WAIT..LONG_WAIT).contains(&waited), "{waited:?}");
        first.read_to_string(&mut status).unwrap();
    });
}
