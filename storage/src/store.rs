//! The storage as the rest of this crate sees it: small objects that are read, written, listed and
//! removed whole. Each call has a deadline, each answer a largest size. Conditional requests are
//! not used: some storages ignore their conditions.

mod client;
mod connect;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use figdex_io::StorageAddress;
use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt as _};
use tokio::time::timeout;

pub use self::connect::StorageSettings;
use crate::error::{Error, Result};

/// The longest time of one call, with its repetitions. A piece of 16 MiB takes it at 1 Mbit/s.
const CALL_TIME: Duration = Duration::from_secs(150);

/// The most objects below an address that are listed: some thousand pieces for each of some dozen
/// generations.
const LISTED_MAX: usize = 5_000_000;

/// The place of an index in object storage.
#[derive(Clone)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    address: String,
}

/// An object as a list shows it.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// Its name below the address.
    pub(crate) key: String,
    pub(crate) bytes: u64,
    /// The time of its last change by the clock of the storage, in seconds since 1970.
    pub(crate) changed: i64,
}

impl Store {
    /// The storage at an address. Nothing is asked yet.
    ///
    /// # Errors
    /// When a setting cannot be used, or the folder of the address cannot be made.
    pub fn open(address: &StorageAddress, settings: &StorageSettings) -> Result<Self> {
        let objects = connect::open(address, settings)?;
        let prefix = match address.storage {
            figdex_io::Storage::S3 { .. } => Path::from_iter(address.prefix.iter().cloned()),
            // The folder is the root.
            figdex_io::Storage::Folder => Path::default(),
        };
        Ok(Self { objects, prefix, address: address.to_string() })
    }

    #[cfg(test)]
    pub(crate) fn of(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, prefix: Path::from("a/b"), address: "s3://test/a/b".to_owned() }
    }

    /// An object as messages name it.
    pub(crate) fn place(&self, key: &str) -> String {
        format!("{}/{key}", self.address)
    }

    fn path(&self, key: &str) -> Path {
        self.prefix.parts().chain(Path::from(key).parts()).collect()
    }

    /// Reads an object of at most `bytes_max` bytes; `None` when there is none.
    pub(crate) async fn read(&self, key: &str, bytes_max: u64) -> Result<Option<Bytes>> {
        let damaged = |what| Error::Damaged { place: self.place(key), what };
        let reading = async {
            let found = match self.objects.get(&self.path(key)).await {
                Err(error @ StoreError::NotFound { .. }) => {
                    // A storage may also answer 404 when it does not know the bucket or the key.
                    return match code(&error).is_none_or(|code| code == "NoSuchKey") {
                        true => Ok(None),
                        false => Err(self.unavailable(key, &error)),
                    };
                }
                found => found.map_err(|error| self.unavailable(key, &error))?,
            };
            let expected = found.meta.size;
            if expected > bytes_max {
                let what = format!("it has {expected} bytes, and at most {bytes_max} are expected");
                return Err(damaged(what));
            }
            let mut body = BytesMut::with_capacity(expected as usize);
            let mut stream = found.into_stream();
            while let Some(piece) =
                stream.try_next().await.map_err(|error| self.unavailable(key, &error))?
            {
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
        let path = self.path(key);
        let writing = async {
            let written = self.objects.put(&path, body.into()).await;
            written.map(drop).map_err(|error| self.unavailable(key, &error))
        };
        self.in_time(key, writing).await
    }

    /// Removes an object; one that is gone already is not an error.
    pub(crate) async fn remove(&self, key: &str) -> Result<()> {
        let path = self.path(key);
        let removing = async {
            match self.objects.delete(&path).await {
                Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
                Err(error) => Err(self.unavailable(key, &error)),
            }
        };
        self.in_time(key, removing).await
    }

    /// All objects below the address.
    pub(crate) async fn list(&self) -> Result<Vec<Listed>> {
        let mut found = Vec::new();
        let mut objects = self.objects.list(Some(&self.prefix));
        // The deadline is for each page: many objects take many.
        while let Some(object) = self
            .in_time("", async {
                objects.try_next().await.map_err(|error| self.unavailable("", &error))
            })
            .await?
        {
            let Some(below) = object.location.prefix_match(&self.prefix) else { continue };
            let key = below.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            let changed = object.last_modified.timestamp();
            found.push(Listed { key, bytes: object.size, changed });
            if found.len() > LISTED_MAX {
                let what = format!("there are more than {LISTED_MAX} objects");
                return Err(Error::Damaged { place: self.place(""), what });
            }
        }
        Ok(found)
    }

    async fn in_time<T>(&self, key: &str, call: impl Future<Output = Result<T>>) -> Result<T> {
        timeout(CALL_TIME, call).await.unwrap_or_else(|_| {
            let what = format!("no answer within {CALL_TIME:?}");
            Err(Error::Unavailable { place: self.place(key), what })
        })
    }

    fn unavailable(&self, key: &str, error: &StoreError) -> Error {
        let (cause, code) = (cause(error), code(error));
        let what = match (code.as_deref(), error) {
            (Some("InvalidAccessKeyId"), _) => {
                format!("the storage does not know the access key that it was asked with ({cause})")
            }
            (Some("SignatureDoesNotMatch"), _) => {
                format!(
                    "the secret of the access key is wrong, or a proxy changes requests ({cause})"
                )
            }
            (Some("AccessDenied"), _) => {
                format!("the key that it was asked with has no right to this ({cause})")
            }
            (None | Some("NoSuchBucket"), StoreError::NotFound { .. }) => {
                "there is no such bucket or folder".to_owned()
            }
            (None, StoreError::PermissionDenied { .. }) => {
                format!("the storage refused the key that it was asked with ({cause})")
            }
            (_, StoreError::Unauthenticated { .. }) => {
                format!("the storage does not know the key that it was asked with ({cause})")
            }
            _ => cause,
        };
        Error::Unavailable { place: self.place(key), what }
    }
}

/// The code of an error in the answer of S3.
fn code(error: &StoreError) -> Option<String> {
    const CODE_CHARS_MAX: usize = 100;
    let text = error.to_string();
    let (code, _) = text.split_once("<Code>")?.1.split_once("</Code>")?;
    (code.len() <= CODE_CHARS_MAX).then(|| code.to_owned())
}

/// The message of an error, which repeats those of its causes except for the last, and that one. It
/// is one line and bounded: a storage answers with whole documents.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    const CHARS_MAX: usize = 500;
    let mut text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let last = std::iter::successors(Some(error), |error| error.source()).last();
    let last = last.map(ToString::to_string).unwrap_or_default();
    if !text.contains(&last) {
        text += &format!(": {last}");
    }
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}
