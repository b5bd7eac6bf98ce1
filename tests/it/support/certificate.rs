//! Certificates, and clients that trust them.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertificateParams, CertifiedKey, KeyPair, date_time_ymd};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion, version,
};

use super::process::{Process, REQUEST, read_to_close};

/// A self-signed certificate with its key, in PEM, and in DER as clients trust it.
pub(crate) struct Certificate {
    certificate: String,
    pub(crate) key: String,
    known: CertificateDer<'static>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let made =
            rcgen::generate_simple_self_signed(["figdex.test", "localhost"].map(str::to_owned))
                .unwrap();
        let CertifiedKey { cert, signing_key } = made;
        let key = signing_key.serialize_pem();
        Self { certificate: cert.pem(), key, known: cert.der().clone() }
    }

    /// A certificate that is valid until the beginning of a day.
    pub(crate) fn until(year: i32, month: u8, day: u8) -> Self {
        let mut parameters = CertificateParams::new(["figdex.test".to_owned()]).unwrap();
        parameters.not_after = date_time_ymd(year, month, day);
        let key = KeyPair::generate().unwrap();
        let made = parameters.self_signed(&key).unwrap();
        Self { certificate: made.pem(), key: key.serialize_pem(), known: made.der().clone() }
    }

    /// Writes it into a folder. Returns the flags with which a server uses it.
    pub(crate) fn write_into(&self, folder: &Path) -> [String; 4] {
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        self.write(&certificate, &key);
        let [certificate, key] = [certificate, key].map(|file| file.to_str().unwrap().to_owned());
        ["--tls-cert".to_owned(), certificate, "--tls-key".to_owned(), key]
    }

    /// Whether a server answers and shows this certificate.
    pub(crate) fn is_served_by(&self, figdex: &Process) -> bool {
        is_answer(&self.ask(figdex))
    }

    /// A TLS client over a connection; it trusts only this certificate.
    pub(crate) fn connect_over(
        &self,
        stream: TcpStream,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let versions = &[&version::TLS13, &version::TLS12];
        self.connect(stream, &[b"http/1.1"], versions)
    }

    pub(crate) fn write(&self, certificate: &Path, key: &Path) {
        // As in a renewal, each file is replaced in one step.
        for (file, text) in [(key, &self.key), (certificate, &self.certificate)] {
            let new = file.with_extension("new");
            fs::write(&new, text).unwrap();
            fs::rename(new, file).unwrap();
        }
    }

    /// The answer to a TLS client that trusts only this certificate.
    pub(crate) fn ask(&self, figdex: &Process) -> Result<String, String> {
        self.ask_with(figdex, &[b"http/1.1"]).map(|(answer, _)| answer)
    }

    pub(crate) fn ask_with(
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

    pub(crate) fn connect(
        &self,
        stream: TcpStream,
        protocols: &[&[u8]],
        versions: &[&'static SupportedProtocolVersion],
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
