//! An accepted socket in two parts: the [`Stream`] that hyper or TLS reads and writes, and
//! the [`Handle`], which notices a reset by the client and can end the connection.
//!
//! hyper does not read while it answers, because a client may shut down its writing side and still
//! wait for its answer. So hyper notices a reset only at the next write; the handle notices it at
//! once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::Shutdown;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream, tcp, unix};

/// A socket of either kind.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(super) fn split(self) -> (Stream, Handle) {
        match self {
            Self::Tcp(socket) => {
                let (read, write) = socket.into_split();
                (Stream::Tcp(read), Handle::Tcp(Some(write)))
            }
            Self::Unix(socket) => {
                let (read, write) = socket.into_split();
                (Stream::Unix(read), Handle::Unix(Some(write)))
            }
        }
    }
}

/// The part of a socket that reads and writes bytes. Both directions use tokio's read half,
/// because the write half belongs to the handle.
pub(super) enum Stream {
    Tcp(tcp::OwnedReadHalf),
    Unix(unix::OwnedReadHalf),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Unix(socket) => Pin::new(socket).poll_read(context, buffer),
        }
    }
}

impl Stream {
    fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(socket) => socket.as_ref().poll_write_ready(context),
            Self::Unix(socket) => socket.as_ref().poll_write_ready(context),
        }
    }

    /// Repeats `write` until it does not return `WouldBlock`.
    fn poll_until_written(
        &self,
        context: &mut Context<'_>,
        write: impl Fn(&Self) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_write_ready(context))?;
            match write(self) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_until_written(context, |stream| match stream {
            Self::Tcp(socket) => socket.as_ref().try_write(bytes),
            Self::Unix(socket) => socket.as_ref().try_write(bytes),
        })
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_until_written(context, |stream| match stream {
            Self::Tcp(socket) => socket.as_ref().try_write_vectored(slices),
            Self::Unix(socket) => socket.as_ref().try_write_vectored(slices),
        })
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Every write goes to the kernel at once, so there is nothing to flush.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = match &*self {
            Self::Tcp(socket) => rustix::net::shutdown(socket.as_ref(), Shutdown::Write),
            Self::Unix(socket) => rustix::net::shutdown(socket.as_ref(), Shutdown::Write),
        };
        Poll::Ready(done.map_err(io::Error::from))
    }
}

/// The part of a socket that watches and ends the connection. `None` only during the drop.
pub(super) enum Handle {
    Tcp(Option<tcp::OwnedWriteHalf>),
    Unix(Option<unix::OwnedWriteHalf>),
}

impl Handle {
    /// Waits until the client has reset the connection or the kernel has dropped it, and returns
    /// the kind of error. A client that only closes its socket looks like one that shuts down its
    /// writing side, until something is written to it (contract 2.16).
    pub(super) async fn disconnected(&self) -> io::ErrorKind {
        let error = match self {
            Self::Tcp(Some(socket)) => {
                socket.ready(Interest::ERROR).await.and_then(|_| socket.as_ref().take_error())
            }
            Self::Unix(Some(socket)) => {
                socket.ready(Interest::ERROR).await.and_then(|_| socket.as_ref().take_error())
            }
            Self::Tcp(None) | Self::Unix(None) => Ok(None),
        };
        let error = error.unwrap_or_else(Some);
        error.map_or(io::ErrorKind::ConnectionReset, |error| error.kind())
    }

    /// Shuts down the server's writing side, and waits until the client has shut down its own.
    pub(super) async fn close(&self) {
        // Over a Unix socket no bytes are in transit, and the client sees the end at once.
        let Self::Tcp(Some(socket)) = self else { return };
        let socket = socket.as_ref();
        let mut unread = [0; 1 << 10];
        rustix::net::shutdown(socket, Shutdown::Write).ok();
        while socket.readable().await.is_ok() {
            match socket.try_read(&mut unread) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                Ok(0) => return,
                _ => {}
            }
        }
    }

    /// Ends this connection with a reset, so that the kernel discards the bytes that the client has
    /// not read. Over a Unix socket the client owns those bytes.
    pub(super) fn reset(&self) {
        if let Self::Tcp(Some(socket)) = self
            && let Err(error) = socket.as_ref().set_zero_linger()
        {
            tracing::debug!(%error, "the client disconnected before its connection was reset");
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A dropped write half shuts down its direction. That would be one more system call for
        // each connection, and closing the socket makes it unnecessary.
        match self {
            Self::Tcp(socket) => drop(socket.take().map(tcp::OwnedWriteHalf::forget)),
            Self::Unix(socket) => drop(socket.take().map(unix::OwnedWriteHalf::forget)),
        }
    }
}
