//! Where connections come from: a TCP port or a Unix socket, with TLS or without.

use std::fmt;
use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::{TcpListener, UnixListener};

use super::socket::Socket;
use super::tls::Tls;
use crate::caller::Peer;

/// Its owner and its group may connect to a Unix socket: the operator puts the proxy
/// into the group.
const SOCKET_MODE: u32 = 0o660;

/// Bytes of answers that the kernel keeps for a client that has not taken them, and bytes
/// of requests that it keeps until they are read; for its own use it takes as much again.
/// Left to itself it would go up to several megabytes each, for any client that reads
/// slowly. This is more than a page of a search or the answer to a hundred jobs.
const KERNEL_BUFFER_BYTES: usize = 128 << 10;

/// What `--listen` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An address and port.
    Tcp(SocketAddr),
    /// `unix:` and a path.
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.strip_prefix("unix:") {
            Some("") => Err(()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Tcp).map_err(|_| ()),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Listen {
    /// Whether only programs of this machine reach it. A Unix socket is a proxy's, which
    /// may be asked from anywhere.
    pub(crate) fn is_loopback(&self) -> bool {
        matches!(self, Self::Tcp(address) if address.ip().to_canonical().is_loopback())
    }

    /// Whether the system chooses the port.
    pub(crate) fn is_any_port(&self) -> bool {
        matches!(self, Self::Tcp(address) if address.port() == 0)
    }

    /// Listens there. A socket that a server left behind when it was killed is
    /// replaced.
    ///
    /// # Errors
    /// When somebody listens there already, or the system does not let it happen.
    pub async fn bind(&self) -> io::Result<Listener> {
        match self {
            Self::Tcp(address) => Ok(TcpListener::bind(address).await?.into()),
            Self::Unix(path) => {
                let (listener, file) = SocketFile::bind(path)?;
                Ok(Listener { source: Source::Unix(listener, file), tls: None })
            }
        }
    }
}

/// Where connections come from.
pub struct Listener {
    source: Source,
    tls: Option<Arc<Tls>>,
}

enum Source {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        // Connections inherit them, so that none costs a call of the system.
        let bounded = sockopt::set_socket_send_buffer_size(&listener, KERNEL_BUFFER_BYTES)
            .and_then(|()| sockopt::set_socket_recv_buffer_size(&listener, KERNEL_BUFFER_BYTES));
        if let Err(error) = bounded {
            tracing::warn!(%error, "the kernel's buffers have no bound but the system's");
        }
        Self { source: Source::Tcp(listener), tls: None }
    }
}

impl Listener {
    /// The same, with TLS on each connection.
    #[must_use]
    pub fn with_tls(self, tls: Arc<Tls>) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// What a client types, or its proxy.
    ///
    /// # Errors
    /// When the system does not tell the port.
    pub fn place(&self) -> io::Result<String> {
        Ok(match &self.source {
            Source::Tcp(listener) => {
                let scheme = if self.tls.is_some() { "https" } else { "http" };
                format!("{scheme}://{}", listener.local_addr()?)
            }
            Source::Unix(_, file) => format!("unix:{}", file.path.display()),
        })
    }

    /// Lets the kernel give up a connection whose client takes nothing for this time, or
    /// does not answer at all: also one that was closed here, with an answer on its way.
    pub(super) fn give_up_after(&self, wait: Duration) {
        #[cfg(target_os = "linux")]
        if let Source::Tcp(listener) = &self.source {
            let millis = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
            if let Err(error) = sockopt::set_tcp_user_timeout(listener, millis) {
                tracing::warn!(%error, "the kernel gives connections up as the system says");
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
            Source::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection was gone before it began");
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

/// The file of a Unix socket, which goes when the listener does, unless another
/// server's has taken its place meanwhile.
struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl SocketFile {
    fn bind(path: &Path) -> io::Result<(UnixListener, Self)> {
        if let Ok(metadata) = fs::symlink_metadata(path) {
            if !metadata.file_type().is_socket() {
                let what = "there is a file of that name, which is no socket";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
            match std::os::unix::net::UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path)?;
                }
                Err(error) => return Err(error),
                Ok(_) => {
                    let what = "another server listens there";
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, what));
                }
            }
        }
        let listener = UnixListener::bind(path).inspect_err(|error| {
            // The name was free: a socket that is there now was made in vain.
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
            tracing::warn!(%error, "the socket's file is left behind");
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}
