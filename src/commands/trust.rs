//! The certificates that the commands trust when they ask a server over HTTPS.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, ensure};
use figdex_index::escaped_path;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// TLS that trusts the certificates of `--ca-file`, or those of the system if the address needs
/// any.
///
/// # Errors
/// When there are no certificates to trust.
pub(super) fn tls(address: &str, ca_file: Option<&Path>) -> anyhow::Result<TlsConfig> {
    let certificates = match (ca_file, address.starts_with("https://")) {
        (Some(file), _) => of_file(file)?,
        (None, true) => of_system()?,
        (None, false) => Vec::new(),
    };
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&certificates))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build())
}

fn of_file(path: &Path) -> anyhow::Result<Vec<Certificate<'static>>> {
    let name = || format!("--ca-file {}", escaped_path(path));
    let found = CertificateDer::pem_file_iter(path).with_context(name)?;
    let found = found.map(|found| found.map(|der| certificate(&der)));
    let found = found.collect::<Result<Vec<_>, _>>().with_context(name)?;
    ensure!(!found.is_empty(), "{}: it holds no certificate in PEM", name());
    Ok(found)
}

fn of_system() -> anyhow::Result<Vec<Certificate<'static>>> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let missing = "the system has no certificates to trust; name a file with --ca-file";
        let first = found.errors.into_iter().next();
        return Err(first.map_or_else(|| anyhow!(missing), |error| anyhow!(error).context(missing)));
    }
    Ok(found.certs.iter().map(certificate).collect())
}

fn certificate(der: &CertificateDer<'_>) -> Certificate<'static> {
    Certificate::from_der(der).to_owned()
}
