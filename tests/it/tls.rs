//! `--tls-cert` and `--tls-key`: what is served, and what becomes of a certificate that
//! is renewed, well or badly.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::CertifiedKey;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, StreamOwned, version,
};

use crate::process::{PATIENCE, Process, REQUEST, read_to_close};

/// A certificate that vouches for itself, in PEM with its key, and as clients know it.
pub(crate) struct Certificate {
    certificate: String,
    key: String,
    known: CertificateDer<'static>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["figdex.test".to_owned()]).unwrap();
        let CertifiedKey { cert, signing_key } = made;
        let key = signing_key.serialize_pem();
        Self { certificate: cert.pem(), key, known: cert.der().clone() }
    }

    /// Writes it into a folder; the flags with which a server shows it.
    pub(crate) fn write_into(&self, folder: &Path) -> [String; 4] {
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        self.write(&certificate, &key);
        let [certificate, key] = [certificate, key].map(|file| file.to_str().unwrap().to_owned());
        ["--tls-cert".to_owned(), certificate, "--tls-key".to_owned(), key]
    }

    /// Whether a server answers, and shows this certificate.
    pub(crate) fn is_served_by(&self, figdex: &Process) -> bool {
        is_answer(&self.ask(figdex))
    }

    /// A client of TLS over a connection, which trusts this certificate alone.
    pub(crate) fn connect_over(
        &self,
        stream: TcpStream,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let versions = &[&version::TLS13, &version::TLS12];
        self.connect(stream, &[b"http/1.1"], versions)
    }

    fn write(&self, certificate: &Path, key: &Path) {
        // As a renewal does: each file in one step.
        for (file, text) in [(key, &self.key), (certificate, &self.certificate)] {
            let beside = file.with_extension("new");
            fs::write(&beside, text).unwrap();
            fs::rename(beside, file).unwrap();
        }
    }

    /// An answer over TLS by a client that trusts this certificate alone.
    fn ask(&self, figdex: &Process) -> Result<String, String> {
        self.ask_with(figdex, &[b"http/1.1"]).map(|(answer, _)| answer)
    }

    fn ask_with(
        &self,
        figdex: &Process,
        protocols: &[&[u8]],
    ) -> Result<(String, Option<Vec<u8>>), String> {
        let versions = &[&version::TLS13, &version::TLS12];
        let mut stream = self.connect(figdex.connect(), protocols, versions);
        stream.write_all(REQUEST.as_bytes()).map_err(|error| error.to_string())?;
        let answer = read_to_close(&mut stream);
        Ok((answer, stream.conn.alpn_protocol().map(<[u8]>::to_vec)))
    }

    fn connect(
        &self,
        stream: TcpStream,
        protocols: &[&[u8]],
        versions: &[&'static tokio_rustls::rustls::SupportedProtocolVersion],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.known.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from("figdex.test").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(connection, stream)
    }
}

fn is_answer(answer: &Result<String, String>) -> bool {
    answer
        .as_ref()
        .is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ") && answer.contains("BBG000BLNNH6"))
}

#[test]
fn a_certificate_and_its_renewal() {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let (first, second, third) = (Certificate::new(), Certificate::new(), Certificate::new());
    first.write(&cert, &key);
    let [cert_text, key_text] = [&cert, &key].map(|file| file.to_str().unwrap());
    let figdex = Process::of_one(&["--tls-cert", cert_text, "--tls-key", key_text]);
    assert!(figdex.place.starts_with("https://127.0.0.1:"), "{}", figdex.place);
    assert!(is_answer(&first.ask(&figdex)));
    assert!(second.ask(&figdex).unwrap_err().contains("certificate"), "it is not yet shown");

    // HTTP/1.1, whoever else is offered or nobody; nothing but HTTP/2 is no way.
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
    // Without TLS there is no answer, and no harm.
    let plain = figdex.exchange(REQUEST);
    assert!(!plain.contains("HTTP/1.1"), "{plain:?}");

    let before = figdex.count("certificate reloaded");
    second.write(&cert, &key);
    figdex.wait_for("certificate reloaded", before + 1);
    assert!(is_answer(&second.ask(&figdex)));
    assert!(first.ask(&figdex).is_err());

    // A key of another certificate, no certificate, no file: the one before stays.
    let before = figdex.count("certificate not reloaded");
    fs::write(&key, &third.key).unwrap();
    figdex.wait_for("certificate not reloaded", before + 1);
    assert!(is_answer(&second.ask(&figdex)));
    fs::write(&cert, "no certificate").unwrap();
    figdex.wait_for("does not hold a certificate in PEM", 1);
    fs::remove_file(&key).unwrap();
    figdex.signal("-HUP");
    figdex.wait_for("certificate not reloaded", before + 3);
    assert!(is_answer(&second.ask(&figdex)));
    third.write(&cert, &key);
    figdex.signal("-HUP");
    let start = Instant::now();
    while !is_answer(&third.ask(&figdex)) {
        assert!(start.elapsed() < PATIENCE, "the third is not reloaded");
        std::thread::sleep(Duration::from_millis(50));
    }
    figdex.stop();
}

/// Who is silent in the handshake, or slow, is given up after the time of a head.
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
        assert!(is_answer(&certificate.ask(&figdex)));
    }
    figdex.stop();
}

/// What is wrong is told at the start, with the file's name and all of it together.
#[test]
fn certificates_that_are_none() {
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
        (&["--tls-cert", "cert.pem"][..], "tls_cert: it needs its key: tls_key"),
        (&["--tls-key", "key.pem"], "tls_key: it needs its certificate: tls_cert"),
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
        let told = start(arguments);
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
}
