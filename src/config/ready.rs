//! The server that `figdex ready` asks.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use super::map::Url;
use crate::serve::Listen;

/// The place of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerPlace {
    /// The root of a URL.
    Address(String),
    /// The file of a Unix socket.
    Socket(PathBuf),
}

impl FromStr for ServerPlace {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() => Ok(Self::Socket(path.into())),
            _ => match text.parse() {
                Ok(Url(address)) => Ok(Self::Address(address)),
                Err(_) => Err("expected the root of a server, such as http://127.0.0.1:8081, \
                               https://figdex.example.com or unix:/run/figdex.sock"),
            },
        }
    }
}

impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => f.write_str(address),
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl ServerPlace {
    /// The server on this machine that listens at this place. `None` when the settings do not
    /// determine the address: the system chooses the port, or systemd passes the socket.
    pub(super) fn of(listen: Listen, has_tls: bool) -> Option<Self> {
        let scheme = if has_tls { "https" } else { "http" };
        match listen {
            Listen::Passed(_) => None,
            Listen::Tcp(address) if address.port() == 0 => None,
            // The client tries all addresses of the name.
            Listen::Name(..) if listen.is_any_port() => None,
            Listen::Name(name, _) => Some(Self::Address(format!("{scheme}://{name}"))),
            Listen::Tcp(address) => Some(Self::Address(format!("{scheme}://{}", own(address)))),
            Listen::Unix(path) => Some(Self::Socket(path)),
        }
    }
}

/// The address by which a program on the same machine reaches a listener.
fn own(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
