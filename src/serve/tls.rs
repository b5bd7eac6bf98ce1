//! TLS: the certificate that the server shows, and its key. Both are taken up again
//! when their files change, as a renewal does, and on SIGHUP.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::signal::unix::Signal;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::stamp::Stamp;

/// How often the files are looked at for a change.
const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// What the server speaks over TLS; a client that speaks nothing of it is refused.
const PROTOCOL: &[u8] = b"http/1.1";

/// What can be wrong with a certificate or its key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// The file holds no PEM text, or not of the kind that is asked for.
    #[error("{0} holds no {1} in PEM: {2}")]
    Pem(PathBuf, &'static str, pem::Error),
    /// The key is not the certificate's, or of a kind that is not known.
    #[error("{0} with the key {1}: {2}")]
    Pair(PathBuf, PathBuf, rustls::Error),
}

/// The certificate that is shown now.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    held: RwLock<Held>,
}

#[derive(Debug)]
struct Held {
    config: Arc<ServerConfig>,
    /// Of both files as they were last looked at, good or not.
    stamps: [Option<Stamp>; 2],
}

impl Tls {
    /// The certificate chain and the key of these files, as they are now and as they
    /// will be.
    ///
    /// # Errors
    /// When one cannot be read, or the key is not the certificate's.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let stamps = [certificate, key].map(Stamp::of);
        let config = config(certificate, key)?;
        let held = RwLock::new(Held { config, stamps });
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), held })
    }

    /// For the next connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.held.read().config.clone().into()
    }

    /// Takes the files up again when they changed, or when somebody asks. As long as
    /// they are no pair, as halfway through a renewal, the one before stays.
    fn refresh(&self, is_asked: bool) {
        let stamps = [&self.certificate, &self.key].map(|file| Stamp::of(file));
        if self.held.read().stamps == stamps && !is_asked {
            return;
        }
        match config(&self.certificate, &self.key) {
            Ok(config) => {
                tracing::info!("certificate taken up");
                *self.held.write() = Held { config, stamps };
            }
            Err(error) => {
                tracing::warn!(%error, "certificate not taken up: the one before stays");
                self.held.write().stamps = stamps;
            }
        }
    }

    /// Refreshes about every second, and whenever `hangup` says so, for as long as
    /// the server runs.
    pub async fn watch(self: Arc<Self>, mut hangup: Signal) {
        loop {
            let is_asked = tokio::select! {
                () = tokio::time::sleep(WATCH_PERIOD) => false,
                Some(()) = hangup.recv() => true,
            };
            let tls = self.clone();
            // A file may lie on a network; no connection waits for it.
            if tokio::task::spawn_blocking(move || tls.refresh(is_asked)).await.is_err() {
                tracing::error!("looking at the certificate failed");
            }
        }
    }
}

fn config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
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
    let private = PrivateKeyDer::from_pem_file(key).map_err(fault(key, "private key"))?;
    let pair = |error| TlsError::Pair(certificate.to_owned(), key.to_owned(), error);
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(pair)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}
