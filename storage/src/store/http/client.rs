//! The HTTP client of a storage. The storage is not trusted. A redirect is not followed, since the
//! request contains the session token of the keys. An answer that the library would keep as a whole
//! is bounded.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use object_store::client::{
    HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::header::LOCATION;

/// The most bytes of the text of an error. The rest is cut off.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// The most bytes of any answer except an object. A page of a list has a thousand names.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The most characters of a redirect's address that a message repeats.
const LOCATION_CHARS_MAX: usize = 200;

/// The client. The inner client must not follow redirects.
#[derive(Debug)]
pub(super) struct Bounded(pub(super) reqwest::Client);

type Answering<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Bounded {
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> Answering<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        // The bytes of an object are bounded by its reader.
        let is_list = request.uri().query().is_some_and(|query| query.contains("list-type="));
        let is_object = request.method().as_str() == "GET" && !is_list;
        Box::pin(async move {
            let response = self.0.call(request).await?;
            let status = response.status();
            if status.is_redirection() && status.as_u16() != 304 {
                return Err(redirected(&response));
            }
            if is_object && status.is_success() {
                return Ok(response);
            }
            let (head, body) = response.into_parts();
            let body = match status.is_success() {
                true => gathered(body, ANSWER_BYTES_MAX, false).await?,
                false => gathered(body, ERROR_BYTES_MAX, true).await?,
            };
            Ok(HttpResponse::from_parts(head, body.into()))
        })
    }
}

/// The bytes of an answer, at most `bytes_max`. A longer answer is an error, unless it
/// `may_be_cut`.
async fn gathered(
    body: HttpResponseBody,
    bytes_max: usize,
    may_be_cut: bool,
) -> Result<Bytes, HttpError> {
    let (mut stream, mut found) = (body.bytes_stream(), BytesMut::new());
    while let Some(piece) = stream.try_next().await? {
        let room = bytes_max - found.len();
        found.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            if may_be_cut {
                break;
            }
            let what = format!("the answer has more than {bytes_max} bytes");
            return Err(HttpError::new(HttpErrorKind::Decode, Refused(what)));
        }
    }
    Ok(found.freeze())
}

fn redirected(response: &HttpResponse) -> HttpError {
    let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
    let to: String = to.chars().take(LOCATION_CHARS_MAX).collect();
    // The query is left out: it may contain a signature.
    let to = to.split('?').next().unwrap_or_default();
    HttpError::new(
        HttpErrorKind::Decode,
        Refused(format!(
            "the storage answers {} with a redirect to {to:?}, which is not followed, since requests \
             carry keys: set --storage-endpoint and --storage-region",
            response.status().as_u16()
        )),
    )
}

/// The reason why an answer is refused.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use figdex_io::{Address, StorageAddress};
    use parking_lot::Mutex;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use crate::{Error, StorageSettings, Store, overview};

    /// A server on this machine that answers each request with these bytes, then with zeros for as
    /// long as somebody reads. Returns its address and the heads of the requests.
    async fn server(answer: String, zeros: u64) -> (String, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let (answer, seen) = (answer.clone(), seen.clone());
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") && socket.read_buf(&mut head).await? > 0 {}
                    seen.lock().push(String::from_utf8_lossy(&head).into_owned());
                    socket.write_all(answer.as_bytes()).await?;
                    let piece = vec![b'0'; 1 << 16];
                    for _ in 0..zeros >> 16 {
                        socket.write_all(&piece).await?;
                    }
                    std::io::Result::Ok(())
                });
            }
        });
        (address, heads)
    }

    fn address() -> StorageAddress {
        let Ok(Address::Storage(address)) = "s3://bucket/figdex".parse() else { panic!() };
        address
    }

    fn store(endpoint: &str, keys: &std::path::Path) -> Store {
        let text = "access_key_id = \"a\"\nsecret_access_key = \"b\"\nsession_token = \"TOKEN\"\n";
        std::fs::write(keys, text).unwrap();
        let settings = StorageSettings {
            endpoint: Some(endpoint.to_owned()),
            region: Some("here".to_owned()),
            ca_file: None,
            keys_file: Some(keys.to_owned()),
        };
        Store::open(&address(), &settings).unwrap()
    }

    /// The session token goes to the storage, and to nobody whom it names.
    #[tokio::test]
    async fn redirects_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        for status in ["301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"] {
            let (other, stolen) =
                server("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n".into(), 0).await;
            let redirect = format!(
                "HTTP/1.1 {status}\r\nLocation: {other}/bucket/figdex/CURRENT?secret\r\n\
                 Content-Length: 0\r\n\r\n"
            );
            let (endpoint, asked) = server(redirect, 0).await;
            let store = store(&endpoint, &folder.path().join("keys"));
            let error = overview(&store).await.unwrap_err().to_string();
            assert!(error.contains("redirect to") && error.contains(&other), "{error}");
            assert!(error.contains("--storage-endpoint") && !error.contains("?secret"), "{error}");
            assert!(asked.lock()[0].to_lowercase().contains("x-amz-security-token: token"));
            assert!(stolen.lock().is_empty(), "{:?}", stolen.lock());
        }
    }

    /// The text of an error is cut off, an answer that is too large is refused, and neither is read
    /// to its end.
    #[tokio::test]
    async fn answers_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let huge = 1_u64 << 40;
        let head = |status| format!("HTTP/1.1 {status}\r\nContent-Length: {huge}\r\n\r\n");
        for (status, expected) in [("403 No", "refused the key"), ("200 OK", "are expected")] {
            let (endpoint, _) = server(head(status), huge).await;
            let store = store(&endpoint, &folder.path().join("keys"));
            let error = overview(&store).await.unwrap_err().to_string();
            assert!(error.contains(expected) && error.len() < 1_000, "{error}");
        }
        let (endpoint, _) = server(head("200 OK"), huge).await;
        let error = store(&endpoint, &folder.path().join("keys")).list().await.unwrap_err();
        assert!(error.to_string().contains("more than 16777216 bytes"), "{error}");
    }

    /// Only a storage that says that an object is missing is believed. Any other fault has its words.
    #[tokio::test]
    async fn the_true_reason_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (status, code, expected) in [
            ("404 Not Found", "NoSuchKey", "nothing is published at s3://bucket/figdex"),
            ("404 Not Found", "NoSuchBucket", "there is no such bucket"),
            ("404 Not Found", "InvalidAccessKeyId", "does not know the access key"),
            ("403 Forbidden", "InvalidAccessKeyId", "does not know the access key"),
            ("404 Not Found", "XAdminUserNotFound", "XAdminUserNotFound"),
            ("403 Forbidden", "SignatureDoesNotMatch", "secret of the access key is wrong"),
            ("403 Forbidden", "AccessDenied", "the key that it was asked with has no right"),
            ("403 Forbidden", "RequestTimeTooSkewed", "RequestTimeTooSkewed"),
        ] {
            let body = format!("<Error><Code>{code}</Code></Error>");
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
            let (endpoint, _) = server(answer, 0).await;
            let error = overview(&store(&endpoint, &folder.path().join("keys"))).await.unwrap_err();
            assert_eq!(matches!(error, Error::Nothing(_)), code == "NoSuchKey", "{error}");
            assert!(error.to_string().contains(expected), "{code}: {error}");
        }
    }
}
