//! TLS: the server's certificate and its key. Both are reloaded when their files change, as at a
//! renewal, and on SIGHUP.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::RwLock;
use tokio::signal::unix::Signal;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{self, CertificateError, RootCertStore, ServerConfig};

use crate::seen::Seen;

/// The interval at which the files are checked for a change.
const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// The time before the end of a certificate in which each load warns of the end.
const WARNED_BEFORE: Duration = Duration::from_hours(14 * 24);

/// A time, in seconds since 1970, at which no certificate is valid: the times in certificates have
/// years of four digits.
const AFTER_ALL: Duration = Duration::from_secs(1 << 40);

/// The only protocol over TLS (ALPN); a client that offers only others is refused.
const PROTOCOL: &[u8] = b"http/1.1";

/// A certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// The file has no PEM text of the expected kind.
    #[error("{0} does not hold a {1} in PEM: {2}")]
    Pem(PathBuf, &'static str, pem::Error),
    /// The key does not belong to the certificate, or is of an unknown kind.
    #[error("{0} with the key {1}: {2}")]
    Pair(PathBuf, PathBuf, rustls::Error),
}

/// The server's certificate and key, as last loaded.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    loaded: RwLock<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    config: Arc<ServerConfig>,
    end: Option<Timestamp>,
    /// Both files as they were at the last check, even if the files could not be used.
    seen: [Option<Seen>; 2],
}

impl Tls {
    /// Loads the certificate chain and the key from these PEM files.
    ///
    /// # Errors
    /// When a file cannot be read or has nothing of its kind, or when the key does not belong to
    /// the certificate.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let seen = [certificate, key].map(Seen::of);
        let (config, end) = config(certificate, key)?;
        let loaded = RwLock::new(Loaded { config, end, seen });
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), loaded })
    }

    /// The end of the certificate's validity; `None` if it is not known.
    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.loaded.read().end
    }

    /// Warns of a certificate that has expired or soon will. It is served anyway: some clients do
    /// not check.
    pub(crate) fn warn_of_end(&self) {
        let Some(end) = self.end() else { return };
        let left = end.duration_since(Timestamp::now());
        if left.is_negative() {
            tracing::warn!(%end, "the certificate has expired: clients refuse it; renew it");
        } else if left.unsigned_abs() < WARNED_BEFORE {
            tracing::warn!(%end, "the certificate expires soon: renew it");
        }
    }

    /// The acceptor for the next connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.loaded.read().config.clone().into()
    }

    /// Reloads the files if they changed, or always if `is_forced`. While the two do not match, as
    /// in the middle of a renewal, the loaded certificate stays in use.
    fn refresh(&self, is_forced: bool) {
        let seen = [&self.certificate, &self.key].map(|file| Seen::of(file));
        if self.loaded.read().seen == seen && !is_forced {
            return;
        }
        match config(&self.certificate, &self.key) {
            Ok((config, end)) => {
                *self.loaded.write() = Loaded { config, end, seen };
                // Only now: who reads this line may connect at once.
                tracing::info!("certificate reloaded");
                self.warn_of_end();
            }
            Err(error) => {
                tracing::warn!(%error, "certificate not reloaded: the previous one stays in use");
                self.loaded.write().seen = seen;
            }
        }
    }

    /// Checks the files about every second, and reloads them if they changed. Also reloads them on
    /// each `hangup`. Never returns.
    pub async fn watch(self: Arc<Self>, mut hangup: Signal) {
        loop {
            let is_forced = tokio::select! {
                () = tokio::time::sleep(WATCH_PERIOD) => false,
                Some(()) = hangup.recv() => true,
            };
            let tls = self.clone();
            // The files may be on a slow network disk. No connection should wait for it.
            if tokio::task::spawn_blocking(move || tls.refresh(is_forced)).await.is_err() {
                tracing::error!("checking the certificate failed");
            }
        }
    }
}

/// The end of a certificate's validity. rustls reports it in the error of a check at a later time.
/// `None` for a kind of certificate that rustls does not check.
fn end_of(certificate: &CertificateDer<'_>) -> Option<Timestamp> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let (nobody, after_all) = (RootCertStore::empty(), UnixTime::since_unix_epoch(AFTER_ALL));
    // rustls compares times before issuers, so this needs no trusted issuer.
    match verify_server_cert_signed_by_trust_anchor(&parsed, &nobody, &[], after_all, &[]) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
            not_after,
            ..
        })) => Timestamp::from_second(i64::try_from(not_after.as_secs()).ok()?).ok(),
        _ => None,
    }
}

/// The configuration with a certificate chain and its key, and the end of the certificate.
fn config(
    certificate: &Path,
    key: &Path,
) -> Result<(Arc<ServerConfig>, Option<Timestamp>), TlsError> {
    let fault = |file: &Path, what| {
        let file = file.to_owned();
        move |error| match error {
            pem::Error::Io(error) => TlsError::File(file, error),
            error => TlsError::Pem(file, what, error),
        }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(fault(certificate, "certificate"))?;
    if chain.is_empty() {
        return Err(fault(certificate, "certificate")(pem::Error::NoItemsFound));
    }
    let end = chain.first().and_then(end_of);
    let private = PrivateKeyDer::from_pem_file(key).map_err(fault(key, "private key"))?;
    let pair = |error| TlsError::Pair(certificate.to_owned(), key.to_owned(), error);
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(pair)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok((Arc::new(config), end))
}
