//! The way of a request to a host, and of its answer back. Deadlines, other hosts and the meaning of
//! an answer are left to the client.

use std::pin::Pin;

use super::Request;

/// Carries requests to the hosts of a cluster.
pub trait Wire: Send + Sync {
    /// Sends a request to the host with that place in the address, and reads the answer within the
    /// bound of the request.
    fn send<'a>(&'a self, host: usize, request: &'a Request<'a>) -> Sending<'a>;
}

/// A call on its way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send + 'a>>;

/// The answer of a host.
#[derive(Debug)]
pub struct Reply {
    /// Its HTTP status.
    pub status: u16,
    /// Its body. If the status is that of an error, this may be only the beginning of the body.
    pub body: Vec<u8>,
}

/// The failure of a call without a whole answer.
#[derive(Debug)]
pub enum Failure {
    /// The connection could not be made, or broke.
    Connection {
        /// The reason.
        what: String,
        /// Whether the host may have received the request.
        was_sent: bool,
    },
    /// The answer exceeds its bound.
    Answer(String),
}

impl Failure {
    /// An answer with more bytes than the request allows.
    pub fn too_long(request: &Request<'_>) -> Self {
        let bytes_max = request.answer_bytes_max;
        Self::Answer(format!("longer than the {bytes_max} bytes that {request} may give"))
    }
}
