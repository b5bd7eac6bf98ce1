//! The storage for the rest of this crate: small objects that are read, written, listed and removed
//! as a whole. Each call has a deadline, and each answer a maximum size. Conditional requests are
//! not used: some storages ignore the conditions.

#[cfg(feature = "http")]
mod http;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use figdex_io::StorageAddress;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{TryFutureExt as _, TryStreamExt as _};
use tokio::time::timeout;

#[cfg(feature = "http")]
use self::http::connect;
use crate::error::{Error, Result};

/// The longest time of one call, including retries. A piece of 16 MiB needs this time at 1 Mbit/s.
const CALL_TIME: Duration = Duration::from_secs(150);

/// The most objects that are listed below an address: some thousand pieces for each of some dozen
/// generations.
const LISTED_MAX: usize = 5_000_000;

/// The settings of a storage. Settings that are missing here come from the environment
/// (`AWS_ACCESS_KEY_ID`, `AWS_WEB_IDENTITY_TOKEN_FILE` and others) or from the role of the machine.
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

/// The place of an index in object storage.
#[derive(Clone)]
pub struct Store {
    objects: Arc<dyn Objects>,
    address: String,
}

/// The calls to a storage, each with the name of an object below the address.
pub trait Objects: Send + Sync {
    /// The number of bytes of an object, and these bytes; `None` when there is no such object.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Answer<Option<(u64, Body)>>>;

    /// Writes an object, whole.
    fn put<'a>(&'a self, key: &'a str, body: Bytes) -> BoxFuture<'a, Answer<()>>;

    /// Removes an object; one that is gone already is not an error.
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Answer<()>>;

    /// All objects.
    fn list(&self) -> BoxStream<'_, Answer<Listed>>;
}

/// The answer of a storage, or the reason why there is none.
pub type Answer<T> = Result<T, String>;

/// The bytes of an object, piece by piece.
pub type Body = BoxStream<'static, Answer<Bytes>>;

/// An object as a list shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The name of the object below the address.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// The time of its last change by the clock of the storage, in seconds since 1970.
    pub changed: i64,
}

/// Programs without the feature refuse the address where they read it.
#[cfg(not(feature = "http"))]
fn connect(address: &StorageAddress, _settings: &StorageSettings) -> Result<Arc<dyn Objects>> {
    Err(Error::Settings(format!("{address}: this program was built without object storage")))
}

impl Store {
    /// The storage at an address. This does not ask the storage anything yet.
    ///
    /// # Errors
    /// When a setting cannot be used, or the folder of the address cannot be created.
    pub fn open(address: &StorageAddress, settings: &StorageSettings) -> Result<Self> {
        Ok(Self::over(connect(address, settings)?, address))
    }

    /// The storage whose objects these are. Messages name the address.
    pub fn over(objects: Arc<dyn Objects>, address: &StorageAddress) -> Self {
        Self { objects, address: address.to_string() }
    }

    /// The name of an object in messages.
    pub(crate) fn place(&self, key: &str) -> String {
        format!("{}/{key}", self.address)
    }

    /// Reads an object of at most `bytes_max` bytes; `None` when there is none.
    pub(crate) async fn read(&self, key: &str, bytes_max: u64) -> Result<Option<Bytes>> {
        let damaged = |what| Error::Damaged { place: self.place(key), what };
        let unavailable = |what| self.unavailable(key, what);
        let reading = async {
            let found = self.objects.get(key).await.map_err(unavailable)?;
            let Some((expected, mut pieces)) = found else { return Ok(None) };
            if expected > bytes_max {
                let what = format!("it has {expected} bytes, and at most {bytes_max} are expected");
                return Err(damaged(what));
            }
            let mut body = BytesMut::with_capacity(expected as usize);
            while let Some(piece) = pieces.try_next().await.map_err(unavailable)? {
                if (body.len() + piece.len()) as u64 > expected {
                    return Err(damaged(format!(
                        "more than the {expected} bytes that it has came"
                    )));
                }
                body.extend_from_slice(&piece);
            }
            if body.len() as u64 != expected {
                return Err(damaged(format!("{} of its {expected} bytes came", body.len())));
            }
            Ok(Some(body.freeze()))
        };
        self.in_time(key, reading).await
    }

    /// Writes an object, whole.
    pub(crate) async fn write(&self, key: &str, body: Bytes) -> Result<()> {
        let written = self.objects.put(key, body);
        self.in_time(key, written.map_err(|what| self.unavailable(key, what))).await
    }

    /// Removes an object; one that is gone already is not an error.
    pub(crate) async fn remove(&self, key: &str) -> Result<()> {
        let removed = self.objects.delete(key);
        self.in_time(key, removed.map_err(|what| self.unavailable(key, what))).await
    }

    /// All objects below the address.
    pub(crate) async fn list(&self) -> Result<Vec<Listed>> {
        let mut found = Vec::new();
        let mut objects = self.objects.list().map_err(|what| self.unavailable("", what));
        // The deadline is for each page: many objects need many pages.
        while let Some(object) = self.in_time("", objects.try_next()).await? {
            found.push(object);
            if found.len() > LISTED_MAX {
                let what = format!("there are more than {LISTED_MAX} objects");
                return Err(Error::Damaged { place: self.place(""), what });
            }
        }
        Ok(found)
    }

    async fn in_time<T>(&self, key: &str, call: impl Future<Output = Result<T>>) -> Result<T> {
        timeout(CALL_TIME, call).await.unwrap_or_else(|_| {
            Err(self.unavailable(key, format!("no answer within {CALL_TIME:?}")))
        })
    }

    fn unavailable(&self, key: &str, what: String) -> Error {
        Error::Unavailable { place: self.place(key), what }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}
