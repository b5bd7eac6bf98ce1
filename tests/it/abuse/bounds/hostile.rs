//! A hostile request, and its bytes.

use std::io::Write as _;

/// The route of the Parquet file.
pub(super) const PARQUET_ROUTE: &str = "/generations/{generation}/instruments.parquet";

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// No body.
    None,
    Json,
    Csv,
    Ndjson,
}

impl Form {
    /// Its media type.
    pub(super) fn media_type(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Json => Some("application/json"),
            Self::Csv => Some("text/csv"),
            Self::Ndjson => Some("application/x-ndjson"),
        }
    }
}

/// A hostile request.
#[derive(Clone)]
pub(super) struct Hostile {
    /// The path with names in place of parameters, as the metrics have it.
    pub(super) route: String,
    pub(super) form: Form,
    pub(super) name: String,
    path: String,
    headers: String,
    body: String,
    /// Whether its body has no announced length.
    is_chunked: bool,
}

impl Hostile {
    /// A request with a body.
    pub(super) fn post(route: &str, form: Form, name: &str, body: String) -> Self {
        Self {
            route: route.to_owned(),
            form,
            name: format!("{route}, {form:?}, {name}"),
            path: route.to_owned(),
            headers: String::new(),
            body,
            is_chunked: false,
        }
    }

    /// A request without a body.
    pub(super) fn get(route: &str, path: &str) -> Self {
        let name: String = path.chars().take(60).collect();
        Self::post(route, Form::None, &name, String::new()).at(path)
    }

    /// The same request for another path of its route.
    pub(super) fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// The same request by another name.
    pub(super) fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// The same request with more headers.
    pub(super) fn with(self, headers: &str) -> Self {
        Self { headers: format!("{}{headers}", self.headers), ..self }
    }

    /// The same request, with or without an announced length.
    pub(super) fn chunked(self, is_chunked: bool) -> Self {
        Self { is_chunked, ..self }
    }

    /// The size of its body.
    pub(super) fn body_bytes(&self) -> usize {
        self.body.len()
    }

    /// Its bytes, with the key of a caller.
    pub(super) fn bytes(&self, key: &str) -> Vec<u8> {
        let Some(media_type) = self.form.media_type() else {
            // Of the routes without a body only these ask for a key.
            let headers = match &*self.route {
                "/changes" | PARQUET_ROUTE => {
                    format!("{}X-OPENFIGI-APIKEY: {key}\r\n", self.headers)
                }
                _ => self.headers.clone(),
            };
            return get(&self.path, &headers);
        };
        let headers =
            format!("{}X-OPENFIGI-APIKEY: {key}\r\nContent-Type: {media_type}\r\n", self.headers);
        post(&self.path, &headers, self.body.as_bytes(), self.is_chunked)
    }
}

/// A GET request.
fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n").into_bytes()
}

/// A POST request, whose body has an announced length or comes in chunks.
pub(super) fn post(path: &str, headers: &str, body: &[u8], is_chunked: bool) -> Vec<u8> {
    let length = match is_chunked {
        true => "Transfer-Encoding: chunked".to_owned(),
        false => format!("Content-Length: {}", body.len()),
    };
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}{length}\r\n\r\n"
    );
    let mut request = head.into_bytes();
    if !is_chunked {
        request.extend_from_slice(body);
        return request;
    }
    for chunk in body.chunks(50_000) {
        write!(request, "{:x}\r\n", chunk.len()).unwrap();
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    request
}
