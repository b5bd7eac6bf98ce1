//! The client against servers that answer wrongly, without end, slowly or not at all.

use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use figdex_io::ClusterAddress;
use serde_json::{Value, json};

use super::hosts_of_tests::{Host, client, client_with, read_request, with_status};
use crate::client::{CallError, Client, ClientSettings, Request};

/// A question that must be answered within a second.
fn question() -> Request<'static> {
    Request::search(&["name", "_search"]).json(&json!({})).within(Duration::from_secs(1))
}

/// Asks, which must end soon.
fn ask(client: &Client, request: &Request<'_>) -> Result<Value, CallError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = Instant::now();
    let answer = runtime.block_on(client.ask(request));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    answer
}

#[test]
fn invalid_answers() {
    let endless = Host::new(|mut stream| {
        read_request(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").ok();
        while stream.write_all(b"8000\r\n").and_then(|()| stream.write_all(&[b' '; 0x8000])).is_ok()
        {
            stream.write_all(b"\r\n").ok();
        }
    });
    let endless_head = Host::new(|mut stream| {
        read_request(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\n").ok();
        while stream.write_all(b"x-filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").is_ok() {}
    });
    let drip = Host::new(|mut stream| {
        read_request(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").ok();
        while stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let silent = Host::new(|mut stream| {
        read_request(&mut stream);
        thread::sleep(Duration::from_secs(10));
    });
    for (host, expected) in [
        (Host::answering("SSH-2.0-OpenSSH_9.9\r\n"), "does not answer: "),
        (Host::answering(with_status(200, "<html>")), "is it OpenSearch?"),
        (Host::answering(with_status(200, "[]")), "is it OpenSearch?"),
        (Host::answering(""), "does not answer: "),
        (Host::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"), "does not answer: "),
        (endless, "longer than the 1048576 bytes"),
        (endless_head, "does not answer: "),
        (drip, "no answer within 1s"),
        (silent, "no answer within 1s"),
        (Host::absent(), "does not answer: "),
        (Host::answering(with_status(503, "")), "status 503"),
        (Host::answering(with_status(429, "")), "status 429"),
        (Host::answering(with_status(401, "no")), "give the Authorization header in a file"),
        (Host::answering(with_status(403, "no")), "lacks a right"),
        (Host::answering(with_status(500, &"x".repeat(1 << 20))), "with status 500"),
    ] {
        let client = client(&[&host]);
        let error = ask_object(&client).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected), "{text}, not {expected}");
        assert!(text.contains(&host.address.to_string()) && text.len() < 600, "{text}");
    }
}

/// As [`ask`], of which an object is expected.
fn ask_object(client: &Client) -> Result<(), CallError> {
    #[derive(Debug, serde::Deserialize)]
    struct Expected {
        #[serde(rename = "hits")]
        _hits: Value,
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = Instant::now();
    let answer = runtime.block_on(client.ask::<Expected>(&question()));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    answer.map(drop)
}

/// The words of a server cannot change the terminal or the log.
#[test]
fn the_words_of_a_server_are_escaped() {
    let body = json!({"error": {"type": "a\u{1b}[31m", "reason": "x\ny".repeat(500)}}).to_string();
    let error = ask(&client(&[&Host::answering(with_status(400, &body))]), &question());
    let text = error.unwrap_err().to_string();
    assert!(!text.contains(['\u{1b}', '\n']) && text.len() < 1_500, "{text}");
    assert!(text.contains("\\u001b[31m x\\ny"), "{text}");
}

/// A client that sends a user and a password.
fn client_of_user(host: &Host, value: &str) -> Client {
    let folder = tempfile::tempdir().unwrap();
    let user = folder.path().join("user.txt");
    std::fs::write(&user, value).unwrap();
    let address = ClusterAddress {
        is_tls: false,
        hosts: vec![host.address.to_string().parse().unwrap()],
        name: "name".to_owned(),
    };
    let settings = ClientSettings { ca_file: None, authorization_file: Some(user), calls_max: 8 };
    Client::new(&address, &settings).unwrap()
}

/// Some proxies repeat a request in the page that says what is wrong with it.
#[test]
fn an_echoed_header_is_not_repeated() {
    // The user `figdex` with the password `s3cr3t`.
    let value = "Basic ZmlnZGV4OnMzY3IzdA==";
    let in_object = json!({"error": {
        "type": format!("got {value}"),
        "reason": format!("{}ZmlnZGV4OnMzY3IzdA== is figdex:s3cr3t", "x".repeat(290)),
    }});
    let in_text = json!({"error": format!("the password s3cr3t of {value}")});
    for (status, body) in [
        (400, in_object.to_string()),
        (503, in_object.to_string()),
        (401, in_text.to_string()),
        (200, json!(value).to_string()),
    ] {
        let host = Host::answering(with_status(status, &body));
        let client = client_of_user(&host, value);
        let error = match ask_object(&client) {
            Err(error) => format!("{error} {error:?}"),
            Ok(()) => panic!("{status}"),
        };
        for secret in ["s3cr3t", "ZmlnZ"] {
            assert!(!error.contains(secret), "{error}");
        }
        assert!(error.contains('…'), "{error}");
    }
}

/// A header in place of the file that holds it is not repeated.
#[test]
fn a_header_is_not_a_file() {
    let address = ClusterAddress { is_tls: false, hosts: Vec::new(), name: "name".to_owned() };
    let value = Some("Basic ZmlnZGV4OnMzY3IzdA==".into());
    let settings = ClientSettings { ca_file: None, authorization_file: value, calls_max: 8 };
    let Err(error) = Client::new(&address, &settings) else { panic!() };
    assert!(error.to_string().contains("the name of a file"), "{error}");
    assert!(!format!("{error:?}").contains("ZmlnZ"), "{error:?}");
}

/// The header with the password goes to the hosts of the address only.
#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Host::answering(with_status(200, "{}"));
    let answer = format!(
        "HTTP/1.1 307 X\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n",
        elsewhere.address
    );
    let error = ask(&client(&[&Host::answering(answer)]), &question()).unwrap_err();
    assert!(error.to_string().contains("with status 307"), "{error}");
    assert_eq!(elsewhere.connections(), 0);
}

/// A host that fails is skipped, left alone for a while, and asked again.
#[test]
fn another_host_is_asked() {
    let (absent, cut) =
        (Host::absent(), Host::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"));
    let whole = Host::answering(with_status(200, "{}"));
    let client = client(&[&absent, &cut, &whole]);
    for _ in 0..9 {
        assert_eq!(ask(&client, &question()).unwrap(), json!({}));
    }
    let states = client.hosts();
    let failing: Vec<bool> = states.iter().map(|state| state.is_failing).collect();
    assert_eq!(failing, [true, true, false]);
    let failed: Vec<u64> = states.iter().map(|state| state.failed).collect();
    assert_eq!(failed, [1, 1, 0], "they are left alone");
    assert_eq!(client.repeated(), 2);
    assert_eq!(states[2].latency.iter().sum::<u64>(), 9);
    thread::sleep(Duration::from_millis(1_100));
    for _ in 0..3 {
        ask(&client, &question()).unwrap();
    }
    assert_eq!(client.hosts()[1].failed, 2, "it is asked again after a second");
}

/// A host that takes a request and says nothing does not keep the answer of another one.
#[test]
fn a_host_that_hangs_is_overtaken() {
    let hangs = Host::new(|mut stream| {
        read_request(&mut stream);
        thread::sleep(Duration::from_secs(60));
    });
    let whole = Host::answering(with_status(200, "{}"));
    let client = client(&[&hangs, &whole]);
    let question = question().within(Duration::from_secs(30));
    assert_eq!(ask(&client, &question).unwrap(), json!({}));
    assert_eq!((hangs.connections(), client.repeated()), (1, 1));
    let failing: Vec<bool> = client.hosts().iter().map(|state| state.is_failing).collect();
    assert_eq!(failing, [true, false]);
    // Now it is left alone, and then only one call at a time tries it again.
    for _ in 0..4 {
        ask(&client, &question).unwrap();
    }
    assert_eq!(hangs.connections(), 1);
    thread::sleep(Duration::from_millis(1_100));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let asked = || client.ask::<Value>(&question);
        let (first, second, third) = tokio::join!(asked(), asked(), asked());
        assert!(first.is_ok() && second.is_ok() && third.is_ok());
    });
    assert_eq!(hangs.connections(), 2);
    // A change may have been received, and goes to no other host.
    let change = Request::post(&["_aliases"]).json(&json!({})).within(Duration::from_secs(4));
    let client = client_with(&[&hangs, &whole], 8);
    let error = ask(&client, &change).unwrap_err();
    assert!(error.to_string().contains("no answer within 4s"), "{error}");
}

/// A change is sent again only when nothing can have received it.
#[test]
fn a_change_is_not_sent_twice() {
    let cut = Host::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
    let whole = Host::answering(with_status(200, "{}"));
    let change = Request::post(&["_aliases"]).json(&json!({})).within(Duration::from_secs(1));
    let first = client(&[&cut, &whole]);
    let error = ask(&first, &change).unwrap_err();
    assert!(matches!(error, CallError::Unavailable { .. }), "{error}");
    assert_eq!((cut.connections(), whole.connections()), (1, 0));
    let absent = client(&[&Host::absent(), &whole]);
    assert_eq!(ask(&absent, &change).unwrap(), json!({}));
}

/// When there are more calls than places, the last ones wait, and give up in time.
#[test]
fn calls_in_flight_are_bounded() {
    let silent = Host::new(|mut stream| {
        read_request(&mut stream);
        thread::sleep(Duration::from_secs(10));
    });
    let client = client_with(&[&silent], 2);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let long = question().within(Duration::from_secs(3));
    let short = question().within(Duration::from_millis(300));
    let (_, _, refused) = runtime.block_on(async {
        let waits = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let refused = client.ask::<Value>(&short).await;
            assert_eq!(silent.connections(), 2, "it was not sent");
            refused
        };
        tokio::join!(client.ask::<Value>(&long), client.ask::<Value>(&long), waits)
    });
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("too many other calls"), "{text}");
}

/// The path cannot leave the index, and the headers are those that are wanted.
#[test]
fn what_is_sent() {
    let (sender, sent) = std::sync::mpsc::channel();
    let host = Host::new(move |mut stream| {
        sender.send(read_request(&mut stream)).ok();
        stream.write_all(with_status(200, "{}").as_bytes()).ok();
    });
    let folder = tempfile::tempdir().unwrap();
    let user = folder.path().join("user.txt");
    std::fs::write(&user, "Basic YTpi\n").unwrap();
    let address = ClusterAddress {
        is_tls: false,
        hosts: vec![host.address.to_string().parse().unwrap()],
        name: "name".to_owned(),
    };
    let settings = ClientSettings { ca_file: None, authorization_file: Some(user), calls_max: 1 };
    let client = Client::new(&address, &settings).unwrap();
    let request = Request::get(&["a/../b", "_doc"]).with("x", "1&y=2").on_behalf_of("id-7");
    ask(&client, &request).unwrap();
    let sent = sent.recv().unwrap().to_lowercase();
    assert!(sent.starts_with("get /a%2f..%2fb/_doc?x=1%26y%3d2 http/1.1\r\n"), "{sent}");
    for header in ["authorization: basic ytpi", "x-opaque-id: id-7", "user-agent: figdex/"] {
        assert!(sent.contains(header), "{sent}");
    }
}
