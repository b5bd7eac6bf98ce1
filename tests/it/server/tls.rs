//! `--tls-cert` and `--tls-key`: protocols and versions, renewed certificates, and invalid ones.

use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use tokio_rustls::rustls::{ProtocolVersion, version};

use crate::support::certificate::Certificate;
use crate::support::process::{PATIENCE, Process, REQUEST, metric, read_to_close};

#[test]
fn a_certificate_and_its_renewal() {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let (first, second, third) = (Certificate::new(), Certificate::new(), Certificate::new());
    first.write(&cert, &key);
    let [cert_text, key_text] = [&cert, &key].map(|file| file.to_str().unwrap());
    let figdex = Process::of_one(&["--tls-cert", cert_text, "--tls-key", key_text]);
    assert!(figdex.place.starts_with("https://127.0.0.1:"), "{}", figdex.place);
    assert!(first.is_served_by(&figdex));
    assert!(second.ask(&figdex).unwrap_err().contains("certificate"), "it is not yet shown");

    // The protocol is HTTP/1.1, whatever else a client offers; an offer of only HTTP/2 is refused.
    let (answer, protocol) = first.ask_with(&figdex, &[b"h2", b"http/1.1"]).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "));
    assert_eq!(protocol.as_deref(), Some(b"http/1.1".as_slice()));
    assert!(first.ask_with(&figdex, &[]).is_ok());
    assert!(first.ask_with(&figdex, &[b"h2"]).is_err());
    for (version, expected) in
        [(&version::TLS12, ProtocolVersion::TLSv1_2), (&version::TLS13, ProtocolVersion::TLSv1_3)]
    {
        let mut stream = first.connect(figdex.connect(), &[b"http/1.1"], &[version]);
        stream.write_all(REQUEST.as_bytes()).unwrap();
        assert!(read_to_close(&mut stream).contains("BBG000BLNNH6"));
        assert_eq!(stream.conn.protocol_version(), Some(expected));
    }
    // A client without TLS gets no answer, and does no harm.
    let plain = figdex.exchange(REQUEST);
    assert!(!plain.contains("HTTP/1.1"), "{plain:?}");

    let before = figdex.count("certificate reloaded");
    second.write(&cert, &key);
    figdex.wait_for("certificate reloaded", before + 1);
    assert!(second.is_served_by(&figdex));
    assert!(first.ask(&figdex).is_err());

    // The key of another certificate, an invalid certificate, a missing file: the old pair stays.
    let before = figdex.count("certificate not reloaded");
    fs::write(&key, &third.key).unwrap();
    figdex.wait_for("certificate not reloaded", before + 1);
    assert!(second.is_served_by(&figdex));
    fs::write(&cert, "no certificate").unwrap();
    figdex.wait_for("does not hold a certificate in PEM", 1);
    fs::remove_file(&key).unwrap();
    figdex.signal("-HUP");
    figdex.wait_for("certificate not reloaded", before + 3);
    assert!(second.is_served_by(&figdex));
    third.write(&cert, &key);
    figdex.signal("-HUP");
    let start = Instant::now();
    while !third.is_served_by(&figdex) {
        assert!(start.elapsed() < PATIENCE, "the third is not reloaded");
        std::thread::sleep(Duration::from_millis(50));
    }
    figdex.stop();
}

/// A certificate that has expired, or soon will, is named in the log, at the start and when it is
/// loaded again. The metrics have its end.
#[test]
fn the_end_of_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let mut flags = Certificate::until(2001, 2, 3).write_into(folder.path()).to_vec();
    flags.extend(["--admin-listen".to_owned(), "127.0.0.1:0".to_owned()]);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let figdex = Process::of_one(&flags);
    let end = || metric(figdex.operators(), "figdex_tls_certificate_end_timestamp_seconds");
    figdex.wait_for("the certificate has expired: clients refuse it; renew it", 1);
    assert_eq!(end(), 981_158_400.0);

    let soon = Timestamp::now().to_zoned(TimeZone::UTC).date() + 5.days();
    let certificate = Certificate::until(
        soon.year().into(),
        soon.month().unsigned_abs(),
        soon.day().unsigned_abs(),
    );
    certificate.write_into(folder.path());
    figdex.wait_for("the certificate expires soon: renew it", 1);
    assert_eq!(end(), soon.to_zoned(TimeZone::UTC).unwrap().timestamp().as_second() as f64);

    Certificate::until(2199, 1, 1).write_into(folder.path());
    figdex.wait_for("certificate reloaded", 2);
    assert_eq!(end(), 7_226_582_400.0);
    let log = figdex.stop();
    assert_eq!(log.matches("renew it").count(), 2, "{log}");
}

/// A client that is silent or slow in the handshake is cut off after `--head-timeout`.
#[test]
fn a_slow_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let certificate = Certificate::new();
    certificate.write(&cert, &key);
    let [cert_text, key_text] = [&cert, &key].map(|file| file.to_str().unwrap());
    let figdex =
        Process::of_one(&["--tls-cert", cert_text, "--tls-key", key_text, "--head-timeout", "1s"]);
    for begin in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let start = Instant::now();
        let mut client = figdex.connect();
        client.write_all(begin).unwrap();
        assert_eq!(read_to_close(&mut client), "");
        let lived = start.elapsed();
        assert!(lived >= Duration::from_millis(900) && lived < PATIENCE / 2, "{lived:?}");
        assert!(certificate.is_served_by(&figdex));
    }
    figdex.stop();
}

/// All faults of certificate and key are reported at the start, with the names of the files.
#[test]
fn invalid_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key, other] =
        ["cert.pem", "key.pem", "other.pem"].map(|name| folder.path().join(name));
    let certificate = Certificate::new();
    certificate.write(&cert, &key);
    Certificate::new().write(&folder.path().join("third.pem"), &other);
    let start = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
        let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, expected) in [
        (&["--tls-cert", "cert.pem"][..], "tls_cert: its private key, tls_key, is not set"),
        (&["--tls-key", "key.pem"], "tls_key: its certificate, tls_cert, is not set"),
        (&["--tls-cert", "gone.pem", "--tls-key", "key.pem"], "tls_cert: gone.pem: No such file"),
        (
            &["--tls-cert", "key.pem", "--tls-key", "key.pem"],
            "key.pem does not hold a certificate in PEM",
        ),
        (
            &["--tls-cert", "cert.pem", "--tls-key", "cert.pem"],
            "cert.pem does not hold a private key",
        ),
        (&["--tls-cert", "cert.pem", "--tls-key", "other.pem"], "cert.pem with the key other.pem"),
    ] {
        let errors = start(arguments);
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
}
