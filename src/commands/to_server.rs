//! Requests of commands to a server: the client, which follows no redirect, and the key.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use ureq::Agent;

use super::trust;

/// The header of the API key (contract 3.2).
pub(super) const KEY_HEADER: &str = "x-service-apikey";

/// The longest time to resolve the name of a server, and the longest time to connect to it.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client that trusts the certificates of `ca_file`; without such a file, those of the system. A
/// server may be silent for as long as `silence`.
///
/// # Errors
/// When the file cannot be used, or there are no certificates to trust.
pub(super) fn agent(
    address: &str,
    ca_file: Option<&Path>,
    silence: Duration,
) -> anyhow::Result<Agent> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        // Following a redirect would send the key to another server.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .tls_config(trust::tls(address, ca_file)?)
        .timeout_resolve(Some(CONNECT_TIMEOUT))
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_per_read(Some(silence))
        .timeout_per_write(Some(silence))
        .timeout_send_request(Some(silence))
        .timeout_recv_response(Some(silence))
        .user_agent(concat!("figdex/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(Agent::new_with_config(config))
}

/// The API key in a file.
///
/// # Errors
/// When the file cannot be read, or holds anything else.
pub(super) fn key(path: &Path) -> anyhow::Result<String> {
    let name = figdex_io::escaped_path(path);
    let text = std::fs::read_to_string(path).with_context(|| format!("--key-file {name}"))?;
    let key = text.trim();
    ensure!(
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()),
        "--key-file {name}: expected the API key and nothing else"
    );
    Ok(key.to_owned())
}
