//! The calls over HTTP, by the library `reqwest`.

mod authorization;
#[cfg(test)]
mod hosts_of_tests;
#[cfg(test)]
mod tests;

use std::time::Duration;

use figdex_io::{ClusterAddress, ClusterHost};
use figdex_trust::RootCertStore;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, Url};

use super::{CallError, CallResult, ClientSettings, Failure, Reply, Request, Sending, Wire};

/// The most bytes that are read of an error answer.
const FAULT_BYTES_MAX: usize = 64 << 10;

/// The time limit for making a connection.
const CONNECT_TIME: Duration = Duration::from_secs(3);

/// The time after which an idle connection is closed.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Connections to the hosts of a cluster.
struct Connections {
    http: reqwest::Client,
    /// The root of each host.
    bases: Vec<Url>,
}

/// Connections to the hosts of an address, and the texts that no message repeats: the value of the
/// `Authorization` header, and its parts. Nothing is asked yet.
///
/// # Errors
/// When a file of the settings cannot be read or used.
pub(super) fn connect(
    address: &ClusterAddress,
    settings: &ClientSettings,
) -> CallResult<(Box<dyn Wire>, Vec<String>)> {
    let (mut headers, mut secrets) = (HeaderMap::new(), Vec::new());
    if let Some(path) = &settings.authorization_file {
        let value = authorization::read(path)?;
        secrets = authorization::secrets(&value);
        headers.insert(AUTHORIZATION, value);
    }
    let roots = match address.is_tls {
        true => figdex_trust::roots(settings.ca_file.as_deref()).map_err(CallError::settings)?,
        false => RootCertStore::empty(),
    };
    let http = reqwest::Client::builder()
        .default_headers(headers)
        .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
        // A redirect would send the header of the settings elsewhere.
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIME)
        .pool_idle_timeout(IDLE_TIME)
        .tls_backend_preconfigured(figdex_trust::tls(roots))
        .https_only(address.is_tls)
        .build()
        .map_err(|error| CallError::settings(figdex_index::chain(&error)))?;
    let scheme = if address.is_tls { "https" } else { "http" };
    let base = |host: &ClusterHost| {
        let base = Url::parse(&format!("{scheme}://{host}/"));
        base.map_err(|error| CallError::settings(format!("{host}: {error}")))
    };
    let bases = address.hosts.iter().map(base).collect::<CallResult<_>>()?;
    Ok((Box::new(Connections { http, bases }), secrets))
}

impl Wire for Connections {
    fn send<'a>(&'a self, host: usize, request: &'a Request<'a>) -> Sending<'a> {
        Box::pin(self.answer(&self.bases[host], request))
    }
}

impl Connections {
    async fn answer(&self, base: &Url, request: &Request<'_>) -> CallResult<Reply, Failure> {
        let mut call = self.http.request(method(request), url(request, base));
        if let Some((media_type, body)) = &request.body {
            let media_type = HeaderValue::from_static(media_type);
            call = call.header(CONTENT_TYPE, media_type).body(body.clone());
        }
        if let Some(id) = request.id {
            call = call.header("x-opaque-id", id);
        }
        let broken = |error: reqwest::Error| Failure::Connection {
            was_sent: !error.is_connect(),
            what: figdex_index::chain(&error.without_url()),
        };
        let mut answer = call.send().await.map_err(broken)?;
        let status = answer.status().as_u16();
        let is_fault = !answer.status().is_success();
        let bytes_max = if is_fault { FAULT_BYTES_MAX } else { request.answer_bytes_max };
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > bytes_max {
                if is_fault {
                    break;
                }
                return Err(Failure::too_long(request));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { status, body })
    }
}

fn method(request: &Request<'_>) -> Method {
    Method::from_bytes(request.method.as_bytes()).expect("the methods are those of HTTP")
}

/// The address of a request at a host.
fn url(request: &Request<'_>, base: &Url) -> Url {
    let mut url = base.clone();
    url.path_segments_mut().expect("a host has paths").clear().extend(&request.path);
    if !request.parameters.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.parameters);
    }
    url
}
