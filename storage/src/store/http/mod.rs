//! The calls to a storage, made by the library `object_store`: to S3 over HTTP, or to a folder.

mod client;
mod connect;

use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt as _};

pub(super) use self::connect::connect;
use super::{Answer, Body, Listed, Objects};

/// The objects below an address.
struct Located {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl Located {
    fn path(&self, key: &str) -> Path {
        self.prefix.parts().chain(Path::from(key).parts()).collect()
    }

    /// An object as a list shows it; `None` when it is not below the address.
    fn listed(&self, object: &ObjectMeta) -> Option<Listed> {
        let below = object.location.prefix_match(&self.prefix)?;
        let key = below.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
        Some(Listed { key, bytes: object.size, changed: object.last_modified.timestamp() })
    }
}

impl Objects for Located {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Answer<Option<(u64, Body)>>> {
        Box::pin(async move {
            match self.objects.get(&self.path(key)).await {
                Ok(found) => {
                    let bytes = found.meta.size;
                    let pieces = found.into_stream().map_err(|error| reason(&error));
                    Ok(Some((bytes, pieces.boxed())))
                }
                // A storage may also answer 404 when it does not know the bucket or the access key.
                Err(error @ Error::NotFound { .. })
                    if code(&error).is_none_or(|code| code == "NoSuchKey") =>
                {
                    Ok(None)
                }
                Err(error) => Err(reason(&error)),
            }
        })
    }

    fn put<'a>(&'a self, key: &'a str, body: Bytes) -> BoxFuture<'a, Answer<()>> {
        Box::pin(async move {
            let written = self.objects.put(&self.path(key), body.into()).await;
            written.map(drop).map_err(|error| reason(&error))
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Answer<()>> {
        Box::pin(async move {
            match self.objects.delete(&self.path(key)).await {
                Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(reason(&error)),
            }
        })
    }

    fn list(&self) -> BoxStream<'_, Answer<Listed>> {
        let objects = self.objects.list(Some(&self.prefix)).map_err(|error| reason(&error));
        objects.try_filter_map(|object| ready(Ok(self.listed(&object)))).boxed()
    }
}

/// The reason why a storage did not answer, or refused.
fn reason(error: &Error) -> String {
    let (cause, code) = (cause(error), code(error));
    match (code.as_deref(), error) {
        (Some("InvalidAccessKeyId"), _) => {
            format!("the storage does not know the access key that it was asked with ({cause})")
        }
        (Some("SignatureDoesNotMatch"), _) => {
            format!("the secret of the access key is wrong, or a proxy changes requests ({cause})")
        }
        (Some("AccessDenied"), _) => {
            format!("the key that it was asked with has no right to this ({cause})")
        }
        (None | Some("NoSuchBucket"), Error::NotFound { .. }) => {
            "there is no such bucket or folder".to_owned()
        }
        (None, Error::PermissionDenied { .. }) => {
            format!("the storage refused the key that it was asked with ({cause})")
        }
        (_, Error::Unauthenticated { .. }) => {
            format!("the storage does not know the key that it was asked with ({cause})")
        }
        _ => cause,
    }
}

/// The code of an error in the answer of S3.
fn code(error: &Error) -> Option<String> {
    const CODE_CHARS_MAX: usize = 100;
    let text = error.to_string();
    let (code, _) = text.split_once("<Code>")?.1.split_once("</Code>")?;
    (code.len() <= CODE_CHARS_MAX).then(|| code.to_owned())
}

/// The message of an error. It repeats those of its causes except the last, whose message is
/// appended. It is one line and bounded: a storage answers with whole documents.
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
