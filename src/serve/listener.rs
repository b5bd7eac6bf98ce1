//! The sources of connections: a TCP port or a Unix socket, with or without TLS.

use std::fmt;
use std::fs::{self, Permissions};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream, UnixListener};

use super::socket::Socket;
use super::tls::Tls;
use crate::callers::Peer;

/// The mode of a Unix socket's file: its owner and its group may connect. The operator adds the
/// proxy to the group.
const SOCKET_MODE: u32 = 0o660;

/// The size of the kernel's send buffer and receive buffer of a connection. The kernel takes the
/// same amount again for its own use. By default it lets each buffer grow to several megabytes for
/// any client that reads slowly. A page of a search and the answer to a hundred jobs fit into this
/// size.
const KERNEL_BUFFER_BYTES: usize = 128 << 10;

/// The most bytes of the name of a host (RFC 1035).
const NAME_BYTES_MAX: usize = 253;

/// The address to listen on, in the forms of `--listen`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An address and port.
    Tcp(SocketAddr),
    /// A name and port, and the addresses that the name had when the settings were read.
    Name(String, Vec<SocketAddr>),
    /// `unix:` and a path.
    Unix(PathBuf),
    /// `systemd`, the only socket that systemd passes, or `systemd:` and the name of one of
    /// several.
    Passed(Option<String>),
}

impl FromStr for Listen {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once(':') {
            Some(("unix" | "systemd", "")) => Err(()),
            Some(("unix", path)) => Ok(Self::Unix(path.into())),
            Some(("systemd", name)) => Ok(Self::Passed(Some(name.into()))),
            None if text == "systemd" => Ok(Self::Passed(None)),
            _ => text.parse().map(Self::Tcp).map_err(|_| ()),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Name(name, _) => f.write_str(name),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Passed(None) => f.write_str("systemd"),
            Self::Passed(Some(name)) => write!(f, "systemd:{name}"),
        }
    }
}

impl Listen {
    /// Whether only programs on this machine reach it. A Unix socket does not count: it serves a
    /// proxy, which may be reachable from anywhere. Nor does a passed socket: its address is
    /// unknown until the server has it.
    pub(crate) fn is_loopback(&self) -> bool {
        let is_loopback = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
        match self {
            Self::Tcp(address) => is_loopback(address),
            Self::Name(_, addresses) => addresses.iter().all(is_loopback),
            Self::Unix(_) | Self::Passed(_) => false,
        }
    }

    /// Whether the system chooses the port (port 0).
    pub(crate) fn is_any_port(&self) -> bool {
        match self {
            Self::Tcp(address) => address.port() == 0,
            Self::Name(_, addresses) => addresses.iter().any(|address| address.port() == 0),
            Self::Unix(_) | Self::Passed(_) => false,
        }
    }

    /// A name and port, such as `localhost:8080`, with the addresses that the name has now; `None`
    /// when the text is not a name and port.
    ///
    /// # Errors
    /// When the name has no address.
    pub(crate) fn named(text: &str) -> Option<io::Result<Self>> {
        let (name, port) = text.rsplit_once(':')?;
        let is_name = !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
            && name.chars().any(|c| c.is_ascii_alphabetic());
        let port: u16 = port.parse().ok().filter(|_| is_name)?;
        Some((name, port).to_socket_addrs().map(|found| {
            let mut addresses: Vec<_> = found.collect();
            addresses.sort_unstable();
            addresses.dedup();
            Self::Name(text.to_owned(), addresses)
        }))
    }
}

/// An open source of connections.
pub struct Listener {
    source: Source,
    tls: Option<Arc<Tls>>,
}

enum Source {
    /// A listener for each address, at least one; and the number of connections that were awaited.
    Tcp(Vec<TcpListener>, AtomicUsize),
    /// The listener and its file. A passed socket and a second listener have no file here, since
    /// they do not own it.
    Unix(UnixListener, Option<SocketFile>),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        bound_buffers(&listener);
        Self { source: Source::Tcp(vec![listener], AtomicUsize::default()), tls: None }
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self { source: Source::Unix(listener, None), tls: None }
    }
}

/// Bounds the kernel's buffers of connections. Connections inherit the sizes from the listener, so
/// no connection needs a system call.
fn bound_buffers(listener: &TcpListener) {
    let bounded = sockopt::set_socket_send_buffer_size(listener, KERNEL_BUFFER_BYTES)
        .and_then(|()| sockopt::set_socket_recv_buffer_size(listener, KERNEL_BUFFER_BYTES));
    if let Err(error) = bounded {
        tracing::warn!(%error, "could not bound the kernel's buffers: the system's sizes apply");
    }
}

impl Listener {
    /// Listens on an address and port.
    ///
    /// # Errors
    /// When another program listens there already, or the system refuses.
    pub async fn tcp(address: SocketAddr) -> io::Result<Self> {
        Ok(TcpListener::bind(address).await?.into())
    }

    /// Listens on all addresses of a name. An address that this machine does not have (such as an
    /// IPv6 address without IPv6) is left out with a warning.
    ///
    /// # Errors
    /// When another program already listens on one of the addresses, or none can be used.
    pub(crate) async fn named(name: &str, addresses: &[SocketAddr]) -> io::Result<Self> {
        let (mut listeners, mut fault) = (Vec::new(), None);
        for address in addresses {
            match TcpListener::bind(address).await {
                Ok(listener) => {
                    bound_buffers(&listener);
                    listeners.push(listener);
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, %address, name, "not listening at an address of the name");
                    fault = Some(error);
                }
            }
        }
        match fault {
            Some(error) if listeners.is_empty() => Err(error),
            _ => Ok(Self { source: Source::Tcp(listeners, AtomicUsize::default()), tls: None }),
        }
    }

    /// Listens on a Unix socket. Replaces a socket that a killed server left behind.
    ///
    /// # Errors
    /// When another program listens there already, or the system refuses.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let (listener, file) = SocketFile::bind(path)?;
        Ok(Self { source: Source::Unix(listener, Some(file)), tls: None })
    }

    /// A second listener on the same source. Each connection goes to either of the two. The file of
    /// a Unix socket stays with the first.
    ///
    /// # Errors
    /// When the system has no descriptor for it.
    pub(crate) fn shared(&self) -> io::Result<Self> {
        let source = match &self.source {
            Source::Tcp(listeners, _) => {
                let others = listeners.iter().map(|listener| {
                    TcpListener::from_std(listener.as_fd().try_clone_to_owned()?.into())
                });
                Source::Tcp(others.collect::<io::Result<_>>()?, AtomicUsize::new(0))
            }
            Source::Unix(listener, _) => {
                let other = listener.as_fd().try_clone_to_owned()?;
                Source::Unix(UnixListener::from_std(other.into())?, None)
            }
        };
        Ok(Self { source, tls: self.tls.clone() })
    }

    /// Adds TLS to each connection.
    #[must_use]
    pub fn with_tls(self, tls: Arc<Tls>) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// The address for a client or a proxy to connect to, such as `http://127.0.0.1:8080` or
    /// `unix:/run/figdex.sock`. For a name, all of its addresses.
    ///
    /// # Errors
    /// When the system does not report the port.
    pub fn place(&self) -> io::Result<String> {
        Ok(match &self.source {
            Source::Tcp(listeners, _) => {
                let scheme = if self.tls.is_some() { "https" } else { "http" };
                let place = |listener: &TcpListener| {
                    listener.local_addr().map(|address| format!("{scheme}://{address}"))
                };
                listeners.iter().map(place).collect::<io::Result<Vec<_>>>()?.join(" and ")
            }
            Source::Unix(_, Some(file)) => format!("unix:{}", file.path.display()),
            Source::Unix(listener, None) => match listener.local_addr()?.as_pathname() {
                Some(path) => format!("unix:{}", path.display()),
                None => "a Unix socket without a file".to_owned(),
            },
        })
    }

    /// On Linux, makes the kernel drop a TCP connection whose client reads nothing for this time or
    /// is unreachable. This includes connections that the server has closed while their answer is
    /// being sent.
    pub(super) fn drop_unread_after(&self, wait: Duration) {
        #[cfg(target_os = "linux")]
        if let Source::Tcp(listeners, _) = &self.source {
            let millis = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
            let set = |listener: &TcpListener| sockopt::set_tcp_user_timeout(listener, millis);
            if let Err(error) = listeners.iter().try_for_each(set) {
                tracing::warn!(%error, "could not bound the time to read an answer: the system's time applies");
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = wait;
    }

    pub(super) fn tls(&self) -> Option<&Arc<Tls>> {
        self.tls.as_ref()
    }

    pub(super) async fn accept(&self) -> io::Result<(Socket, Peer)> {
        match &self.source {
            Source::Tcp(listeners, asked) => {
                let first = asked.fetch_add(1, Ordering::Relaxed) % listeners.len();
                let next = poll_fn(|context| accepted(listeners, first, context));
                let (stream, peer) = next.await?;
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "the client disconnected before its first byte");
                }
                Ok((Socket::Tcp(stream), Peer::Address(peer.ip())))
            }
            Source::Unix(listener, _) => {
                let (stream, _unnamed) = listener.accept().await?;
                Ok((Socket::Unix(stream), Peer::Socket))
            }
        }
    }
}

/// The next connection of any of these listeners. `first` is the listener to ask first. It changes
/// each time, so that many connections to one address do not delay those to another.
fn accepted(
    listeners: &[TcpListener],
    first: usize,
    context: &mut Context<'_>,
) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
    let (before, from) = listeners.split_at(first);
    let mut polled = from.iter().chain(before).map(|listener| listener.poll_accept(context));
    // If none is ready, all of them were polled, so that each wakes this task.
    polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
}

/// The file of a Unix socket. It is removed when this is dropped, unless another server has
/// replaced it.
struct SocketFile {
    path: PathBuf,
    /// The device and the inode of the file.
    identity: (u64, u64),
}

impl SocketFile {
    fn bind(path: &Path) -> io::Result<(UnixListener, Self)> {
        if let Ok(metadata) = fs::symlink_metadata(path) {
            if !metadata.file_type().is_socket() {
                let message = "the path is taken by a file that is not a socket: remove it, or choose another path";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
            }
            match std::os::unix::net::UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path)?;
                }
                Err(error) => return Err(error),
                Ok(_) => {
                    let message = "another server listens there";
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
                }
            }
        }
        let listener = UnixListener::bind(path).inspect_err(|error| {
            // The name was free before, so a socket that exists now comes from the failed attempt.
            if error.kind() != io::ErrorKind::AddrInUse {
                let _ = fs::remove_file(path);
            }
        })?;
        let file = Self { path: path.to_owned(), identity: identity(path)? };
        fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))?;
        Ok((listener, file))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, "could not remove the socket's file");
        }
    }
}

/// The device and the inode of a file.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name is listened at with all of its addresses, but those that this machine does not have.
    /// A text that is not a name with a port is refused.
    #[tokio::test]
    async fn a_name_has_several_addresses() {
        let addresses =
            ["127.0.0.1:0", "127.0.0.2:0", "192.0.2.1:0"].map(|text| text.parse().unwrap());
        let listener = Listener::named("figdex.test:0", &addresses).await.unwrap();
        let place = listener.place().unwrap();
        let places: Vec<_> = place.split(" and ").collect();
        assert_eq!(places.len(), 2, "{place}");
        for place in places.iter().chain(&places) {
            let client = TcpStream::connect(place.strip_prefix("http://").unwrap()).await.unwrap();
            let (_, Peer::Address(peer)) = listener.accept().await.unwrap() else { panic!() };
            assert_eq!(peer, client.local_addr().unwrap().ip());
        }
        assert!(Listener::named("figdex.test:0", &addresses[2..]).await.is_err());

        let local = Listen::named("localhost:8080").unwrap().unwrap();
        assert!(local.is_loopback() && !local.is_any_port());
        assert_eq!(local.to_string(), "localhost:8080");
        assert!(Listen::named("no-such-name.invalid:8080").unwrap().is_err());
        for text in ["8080", "here", ":8080", "a b:8080", "127.0.0.1.1:8080", "x:99999", "a:b"] {
            assert!(Listen::named(text).is_none(), "{text}");
        }
    }
}
