//! Connecting to the storage of an address: S3 over HTTP, with the certificates and keys of the
//! settings, or a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use figdex_io::{Storage, StorageAddress, escaped_path};
use figdex_trust::RootCertStore;
use object_store::aws::{AmazonS3, AmazonS3Builder, Checksum};
use object_store::client::{HttpClient, HttpConnector};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use reqwest::redirect::Policy;
use serde::Deserialize;

use super::Located;
use super::client::Bounded;
use crate::error::{Error, Result};
use crate::store::{Objects, StorageSettings};

/// The time limit for making a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The longest time without a byte of an answer.
const READ_TIME: Duration = Duration::from_secs(20);

/// The number of retries of a request that failed without an answer, or because the storage is
/// busy. `REPEAT_TIME` is the time for them.
const REPEATS_MAX: usize = 4;
const REPEAT_TIME: Duration = Duration::from_secs(30);

/// The most bytes of a file with keys.
const KEYS_BYTES_MAX: u64 = 64 << 10;

/// The content of a file with keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
}

/// The storage at an address. Nothing is asked yet.
///
/// # Errors
/// When a setting cannot be used, or the folder of the address cannot be made.
pub(crate) fn connect(
    address: &StorageAddress,
    settings: &StorageSettings,
) -> Result<Arc<dyn Objects>> {
    let (objects, prefix): (Arc<dyn ObjectStore>, _) = match &address.storage {
        Storage::S3 { bucket } => {
            (Arc::new(s3(bucket, settings)?), address.prefix.iter().cloned().collect())
        }
        Storage::Folder => {
            let folder = PathBuf::from(format!("/{}", address.prefix.join("/")));
            let fault =
                |what: String| Error::Settings(format!("{}: {what}", escaped_path(&folder)));
            fs::create_dir_all(&folder).map_err(|error| fault(error.to_string()))?;
            let files = LocalFileSystem::new_with_prefix(&folder);
            let files = files.map_err(|error| fault(figdex_index::chain(&error)))?;
            // The folder itself is the root.
            (Arc::new(files.with_automatic_cleanup(true).with_fsync(true)), ObjectPath::default())
        }
    };
    Ok(Arc::new(Located { objects, prefix }))
}

fn s3(bucket: &str, settings: &StorageSettings) -> Result<AmazonS3> {
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        // The storage compares the received bytes with the checksum.
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
    builder.build().map_err(|error| Error::Settings(figdex_index::chain(&error)))
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
    // The parser's message would repeat the line with the secret.
    toml::from_str(&text).map_err(|_| {
        fault(
            "expected TOML with access_key_id = \"…\" and secret_access_key = \"…\", and perhaps \
             session_token",
        )
    })
}

/// Creates the HTTP client: the options of the library would need another provider of TLS.
#[derive(Debug)]
struct Connector(Option<PathBuf>);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |source| object_store::Error::Generic { store: "S3", source };
        // Without certificates of the system, connections over TLS fail, and others do not need them.
        let roots = match figdex_trust::roots(self.0.as_deref()) {
            Err(_) if self.0.is_none() => RootCertStore::empty(),
            roots => roots.map_err(|reason| failed(reason.into()))?,
        };
        let client = reqwest::Client::builder()
            .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIME)
            .read_timeout(READ_TIME)
            .tls_backend_preconfigured(figdex_trust::tls(roots))
            .redirect(Policy::none())
            .build();
        Ok(HttpClient::new(Bounded(client.map_err(|error| failed(error.into()))?)))
    }
}
