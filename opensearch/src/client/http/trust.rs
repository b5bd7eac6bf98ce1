//! The files of the settings: the header that names a user, and the certificates to trust.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use figdex_index::escaped_path;
use reqwest::header::HeaderValue;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::client::{Error, Result};

/// The most bytes of a file with a header.
const AUTHORIZATION_BYTES_MAX: u64 = 16 << 10;

/// The value of the `Authorization` header that a file holds.
///
/// # Errors
/// When the file cannot be read, or does not hold one line of printable text.
pub(super) fn authorization(path: &Path) -> Result<HeaderValue> {
    let fault = |what: String| {
        Error::settings(format!("the Authorization file {}: {what}", escaped_path(path)))
    };
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| fault(error.to_string()))?;
    file.take(AUTHORIZATION_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| fault(error.to_string()))?;
    let mut value = HeaderValue::from_str(text.trim()).map_err(|_| {
        fault("it must hold one line, the value of the header, such as `Basic …`".to_owned())
    })?;
    if value.is_empty() {
        return Err(fault("it is empty".to_owned()));
    }
    value.set_sensitive(true);
    Ok(value)
}

/// The certificates of a file, or those of the system.
///
/// # Errors
/// When there are no certificates to trust.
pub(super) fn roots(ca_file: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(path) => {
            let fault = |what: String| {
                Error::settings(format!("the CA file {}: {what}", escaped_path(path)))
            };
            let found = CertificateDer::pem_file_iter(path);
            for certificate in found.map_err(|error| fault(error.to_string()))? {
                let certificate = certificate.map_err(|error| fault(error.to_string()))?;
                roots.add(certificate).map_err(|error| fault(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(fault("it holds no certificate in PEM".to_owned()));
            }
        }
        None => {
            // Of the certificates of a system, a few may be unusable.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(Error::settings(
                    "the system has no certificates to trust; name a CA file",
                ));
            }
        }
    }
    Ok(roots)
}

/// TLS that trusts these certificates.
pub(super) fn tls(roots: RootCertStore) -> ClientConfig {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of TLS");
    config.with_root_certificates(roots).with_no_client_auth()
}
