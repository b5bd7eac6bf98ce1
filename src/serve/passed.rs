//! Listening sockets that systemd passes to the server (socket activation, sd_listen_fds(3)).
//! systemd keeps them open while the server restarts, and connections wait for the next process.

use std::io;
use std::mem;
use std::os::fd::OwnedFd;

use figdex_io::escaped;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, getsockname, sockopt};
use tokio::net::{TcpListener, UnixListener};

use super::listener::Listener;

/// The name of a socket when `LISTEN_FDNAMES` is not set, as in sd_listen_fds_with_names(3).
const UNNAMED: &str = "unknown";

/// The passed sockets that are not yet listened on, with their names.
pub(crate) struct PassedSockets(Vec<(String, OwnedFd)>);

impl PassedSockets {
    /// Takes the sockets that were passed to this process; none if systemd did not start it by a
    /// socket unit. Must be called once, before this program opens anything.
    ///
    /// # Errors
    /// When `LISTEN_PID` or `LISTEN_FDS` is not a number, or a passed descriptor is not open.
    pub(crate) fn take() -> Result<Self, String> {
        let passed = sd_listen_fds::get().map_err(
            |_| "LISTEN_PID and LISTEN_FDS, which systemd sets for passed sockets, are not numbers",
        )?;
        let passed: Vec<_> = passed
            .into_iter()
            .map(|(name, socket)| (name.unwrap_or_else(|| UNNAMED.into()), socket.into_std()))
            .collect();
        for (name, socket) in &passed {
            // Otherwise a program that this one starts would keep the socket open.
            if fcntl_setfd(socket, FdFlags::CLOEXEC) == Err(Errno::BADF) {
                let name = escaped(name).to_string();
                // The descriptor is not open, and closing it would be a fault.
                mem::forget(passed);
                return Err(format!(
                    "the socket `{name}`, which LISTEN_FDS counts, was not passed"
                ));
            }
        }
        Ok(Self(passed))
    }

    /// Listens on the socket of that name or, without a name, on the only one.
    ///
    /// # Errors
    /// When there is no such socket or more than one, or it is not a listening socket.
    pub(crate) fn listen(&mut self, name: Option<&str>) -> Result<Listener, String> {
        let is_meant = |(found, _): &(String, OwnedFd)| name.is_none_or(|name| found == name);
        let meant: Vec<_> = (0..self.0.len()).filter(|at| is_meant(&self.0[*at])).collect();
        match meant[..] {
            [at] => {
                let (name, socket) = self.0.remove(at);
                listener(socket).map_err(|reason| {
                    format!("systemd passed the socket `{}`, which {reason}", escaped(&name))
                })
            }
            [] if self.0.is_empty() => {
                Err("systemd passed no socket: start the server by a socket \
                                            unit, such as figdex.socket, or name an address"
                    .into())
            }
            [] => Err(format!(
                "systemd passed no socket of that name, but {}: name one of them, or set \
                 FileDescriptorName= in the socket unit",
                self.names()
            )),
            _ if name.is_some() => Err(format!(
                "systemd passed {} sockets of that name: give each its own socket unit and \
                 FileDescriptorName=",
                meant.len()
            )),
            _ => Err(format!(
                "systemd passed {}: name one of them, such as `systemd:{}`",
                self.names(),
                escaped(&self.0[0].0)
            )),
        }
    }

    /// Refuses sockets that nothing would listen on: their clients would wait without an answer.
    ///
    /// # Errors
    /// When more than `count` sockets were passed.
    pub(crate) fn refuse_more_than(&self, count: usize) -> Result<(), String> {
        if self.0.len() <= count {
            return Ok(());
        }
        Err(format!(
            "systemd passed {}, which --listen and --admin-listen do not all take: set --listen to \
             `systemd` or, with several sockets, each to `systemd:` and a name; or stop the socket \
             unit",
            self.names()
        ))
    }

    /// The names of the sockets, for a message.
    fn names(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|(name, _)| format!("`{}`", escaped(name))).collect();
        names.join(", ")
    }
}

/// A listener on a passed socket. The text of an error continues "the socket, which …".
fn listener(socket: OwnedFd) -> Result<Listener, String> {
    let failed = |error: io::Error| format!("cannot be used: {error}");
    let kind = sockopt::socket_type(&socket).map_err(|error| failed(error.into()))?;
    let family = getsockname(&socket).map_err(|error| failed(error.into()))?.address_family();
    let is_listening = sockopt::socket_acceptconn(&socket);
    if kind != SocketType::STREAM || !is_listening.map_err(|error| failed(error.into()))? {
        return Err("does not listen for connections: the socket unit needs ListenStream= and \
                    Accept=no"
            .into());
    }
    match family {
        AddressFamily::INET | AddressFamily::INET6 => {
            let listener = std::net::TcpListener::from(socket);
            listener.set_nonblocking(true).map_err(failed)?;
            Ok(TcpListener::from_std(listener).map_err(failed)?.into())
        }
        AddressFamily::UNIX => {
            let listener = std::os::unix::net::UnixListener::from(socket);
            listener.set_nonblocking(true).map_err(failed)?;
            Ok(UnixListener::from_std(listener).map_err(failed)?.into())
        }
        _ => Err("is neither a TCP nor a Unix socket".into()),
    }
}
