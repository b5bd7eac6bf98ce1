//! The certificates that the commands trust for a server over HTTPS, and explanations of TLS
//! failures.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use figdex_io::{escaped, escaped_path};
use tokio_rustls::rustls;
use tokio_rustls::rustls::crypto::ring;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// TLS that trusts the certificates of `--ca-file`. Without this flag, it trusts those of the
/// system for an `https://` address, and none for any other address.
///
/// # Errors
/// When `--ca-file` cannot be used, or the system has no certificates.
pub(super) fn tls(address: &str, ca_file: Option<&Path>) -> anyhow::Result<TlsConfig> {
    let certificates = match (ca_file, address.starts_with("https://")) {
        (Some(file), _) => figdex_trust::of_file(file)
            .map_err(|reason| anyhow!("--ca-file {}: {reason}", escaped_path(file)))?,
        (None, true) => figdex_trust::of_system()
            .map_err(|reason| anyhow!("{reason}; name a file with --ca-file"))?,
        (None, false) => Vec::new(),
    };
    let certificates: Vec<_> =
        certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&certificates))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build())
}

/// The reason why a first request failed, if TLS may be the cause: the certificate of the server
/// cannot be trusted, or the address has the wrong scheme. `None` for any other cause.
pub(super) fn fault(address: &str, error: &ureq::Error) -> Option<String> {
    certificate_fault(error).or_else(|| other_scheme(address, error))
}

/// The reason of a failure that the other scheme may avoid, with the address to use instead.
fn other_scheme(address: &str, error: &ureq::Error) -> Option<String> {
    const CLOSED: &str = "the connection was closed without an answer";
    let closed = is_closed(error).then_some(CLOSED);
    if let Some(host) = address.strip_prefix("https://") {
        let reason = closed.or_else(|| is_other_than_tls(error).then_some("the answer is not TLS"));
        let host = escaped(host);
        return reason
            .map(|reason| format!("{reason}; if the server speaks HTTP, name http://{host}"));
    }
    let host = escaped(address.strip_prefix("http://")?);
    let is_other_than_http = matches!(error, ureq::Error::Protocol(_));
    let reason = closed.or_else(|| is_other_than_http.then_some("the answer is not HTTP"));
    reason.map(|reason| format!("{reason}; if the server speaks TLS, name https://{host}"))
}

fn is_closed(error: &ureq::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error, ureq::Error::Io(error)
        if matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe))
}

/// Whether the server answered a TLS greeting with something other than TLS.
fn is_other_than_tls(error: &ureq::Error) -> bool {
    matches!(of_tls(error), Some(rustls::Error::InvalidMessage(_)))
}

fn of_tls(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Io(error) => error.get_ref().and_then(|inner| inner.downcast_ref()),
        ureq::Error::Rustls(error) => Some(error),
        _ => None,
    }
}

/// The reason why the certificate of a server is not trusted.
fn certificate_fault(error: &ureq::Error) -> Option<String> {
    use rustls::CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext,
        NotValidYet, NotValidYetContext, UnknownIssuer,
    };
    let Some(rustls::Error::InvalidCertificate(fault)) = of_tls(error) else { return None };
    let reason = match fault {
        UnknownIssuer | BadSignature => {
            "its certificate is not signed by one that is trusted; name a file with --ca-file"
        }
        Expired | ExpiredContext { .. } => "its certificate has expired",
        NotValidYet | NotValidYetContext { .. } => "its certificate is not valid yet",
        NotValidForName | NotValidForNameContext { .. } => "its certificate is for another name",
        other => return Some(format!("its certificate is not valid: {other}")),
    };
    Some(reason.to_owned())
}
