//! Connecting to the storage of an address: S3 over HTTP, with the certificates and keys of the
//! settings, or a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use figdex_io::{Storage, StorageAddress, escaped_path};
use object_store::aws::{AmazonS3Builder, Checksum};
use object_store::client::{HttpClient, HttpConnector};
use object_store::local::LocalFileSystem;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use reqwest::redirect::Policy;
use serde::Deserialize;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::client::Bounded;
use crate::error::{Error, Result};

/// The time in which a connection must be made.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The time for which an answer may be silent.
const READ_TIME: Duration = Duration::from_secs(20);

/// The number and the time of repetitions of a request that failed without an answer, or with one that
/// says that the storage is busy.
const REPEATS_MAX: usize = 4;
const REPEAT_TIME: Duration = Duration::from_secs(30);

/// The most bytes of a file with keys.
const KEYS_BYTES_MAX: u64 = 64 << 10;

/// The way to a storage. Everything that is not set is as the environment has it: `AWS_ACCESS_KEY_ID`,
/// `AWS_WEB_IDENTITY_TOKEN_FILE` and the others, or the role of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageSettings {
    /// The root of the interface, such as `https://storage.example.com`.
    pub endpoint: Option<String>,
    /// The region of the bucket.
    pub region: Option<String>,
    /// The certificates to trust, in PEM, instead of those of the system.
    pub ca_file: Option<PathBuf>,
    /// The file with the keys, in TOML.
    pub keys_file: Option<PathBuf>,
}

/// The content of a file with keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
}

pub(super) fn open(
    address: &StorageAddress,
    settings: &StorageSettings,
) -> Result<Arc<dyn ObjectStore>> {
    match &address.storage {
        Storage::S3 { bucket } => s3(bucket, settings),
        Storage::Folder => {
            let folder = PathBuf::from(format!("/{}", address.prefix.join("/")));
            let fault =
                |what: String| Error::Settings(format!("{}: {what}", escaped_path(&folder)));
            fs::create_dir_all(&folder).map_err(|error| fault(error.to_string()))?;
            let files = LocalFileSystem::new_with_prefix(&folder);
            let files = files.map_err(|error| fault(figdex_index::chain(&error)))?;
            Ok(Arc::new(files.with_automatic_cleanup(true).with_fsync(true)))
        }
    }
}

fn s3(bucket: &str, settings: &StorageSettings) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        // The storage compares what it received with it.
        .with_checksum_algorithm(Checksum::SHA256)
        .with_retry(RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(200),
                max_backoff: Duration::from_secs(5),
                base: 2.0,
            },
            max_retries: REPEATS_MAX,
            retry_timeout: REPEAT_TIME,
        })
        .with_client_options(ClientOptions::new().with_allow_http(true))
        .with_http_connector(Connector(settings.ca_file.clone()));
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = &settings.region {
        builder = builder.with_region(region);
    }
    if let Some(path) = &settings.keys_file {
        let Keys { access_key_id, secret_access_key, session_token } = keys(path)?;
        builder =
            builder.with_access_key_id(access_key_id).with_secret_access_key(secret_access_key);
        if let Some(token) = session_token {
            builder = builder.with_token(token);
        }
    }
    let s3 = builder.build().map_err(|error| Error::Settings(figdex_index::chain(&error)))?;
    Ok(Arc::new(s3))
}

fn keys(path: &Path) -> Result<Keys> {
    let fault = |what: &str| {
        Error::Settings(format!("the file of the storage's keys {}: {what}", escaped_path(path)))
    };
    let metadata = fs::metadata(path).map_err(|error| fault(&error.to_string()))?;
    if metadata.len() > KEYS_BYTES_MAX {
        return Err(fault("it has more than 64 KiB"));
    }
    let text = fs::read_to_string(path).map_err(|error| fault(&error.to_string()))?;
    // The parser's message would repeat the line, with the secret.
    toml::from_str(&text).map_err(|_| {
        fault(
            "expected TOML with access_key_id = \"…\" and secret_access_key = \"…\", and perhaps \
             session_token",
        )
    })
}

/// Makes the HTTP client: the options of the library would need another provider of TLS.
#[derive(Debug)]
struct Connector(Option<PathBuf>);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |source| object_store::Error::Generic { store: "S3", source };
        let tls = tls(self.0.as_deref()).map_err(|error| failed(error.into()))?;
        let client = reqwest::Client::builder()
            .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIME)
            .read_timeout(READ_TIME)
            .tls_backend_preconfigured(tls)
            .redirect(Policy::none())
            .build();
        Ok(HttpClient::new(Bounded(client.map_err(|error| failed(error.into()))?)))
    }
}

/// TLS that trusts the certificates of a file, or those of the system.
fn tls(ca_file: Option<&Path>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(path) => {
            let fault =
                |what: &str| Error::Settings(format!("the CA file {}: {what}", escaped_path(path)));
            let found = CertificateDer::pem_file_iter(path);
            for certificate in found.map_err(|error| fault(&error.to_string()))? {
                let certificate = certificate.map_err(|error| fault(&error.to_string()))?;
                roots.add(certificate).map_err(|error| fault(&error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(fault("it holds no certificate in PEM"));
            }
        }
        // Without any, connections over TLS fail, and others do not need them.
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of TLS");
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
