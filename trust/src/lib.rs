//! The certificates that are trusted when a server is asked over TLS: those of a PEM file, or those
//! of the system. Errors are texts for people.

#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::Arc;

use figdex_io::escaped_path;
pub use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{self, ClientConfig};

/// The certificates of a file, at least one.
///
/// # Errors
/// When the file cannot be read, or holds none.
pub fn of_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.map_err(|error| error.to_string())?;
    if found.is_empty() {
        return Err("it holds no certificate in PEM".to_owned());
    }
    Ok(found)
}

/// The certificates of the system, at least one. Some of them may be unusable.
///
/// # Errors
/// When there are none.
pub fn of_system() -> Result<Vec<CertificateDer<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let reason = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(format!("the system has no certificates to trust{reason}"));
    }
    Ok(found.certs)
}

/// The certificates of a file or, without a file, those of the system. All certificates of a file
/// must be usable; unusable ones of the system are left out.
///
/// # Errors
/// When there are no certificates to trust, or the file has an unusable one.
pub fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca_file else {
        let found = of_system().map_err(|reason| format!("{reason}; name a CA file"))?;
        roots.add_parsable_certificates(found);
        return Ok(roots);
    };
    let fault = |reason: String| format!("the CA file {}: {reason}", escaped_path(path));
    for certificate in of_file(path).map_err(fault)? {
        roots.add(certificate).map_err(|error: rustls::Error| fault(error.to_string()))?;
    }
    Ok(roots)
}

/// TLS that trusts these certificates.
///
/// # Panics
/// When the library of TLS lacks the versions that it has by default.
pub fn tls(roots: RootCertStore) -> ClientConfig {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of TLS");
    config.with_root_certificates(roots).with_no_client_auth()
}
