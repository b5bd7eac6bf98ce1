//! The routes that the tools ask: those of this program, or those of another server over HTTP.

/// Routes of a Figdex server, wherever it is. They read, check, limit and answer every question of a
/// tool as they do for any other client.
pub(crate) trait Routes: Clone + Send + Sync + 'static {
    /// Asks a route.
    ///
    /// # Errors
    /// The reason why there is no answer, as a sentence.
    fn ask(&self, asked: RouteRequest) -> impl Future<Output = Result<RouteReply, String>> + Send;

    /// Does work that takes processor time, where no connection waits for it.
    ///
    /// # Errors
    /// The reason why it is not done, as a sentence.
    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, String>> + Send;
}

/// A request for a route.
#[derive(Debug)]
pub(crate) struct RouteRequest {
    /// The path, which needs no encoding.
    pub(crate) path: String,
    /// The body, in JSON; `None` for a GET request.
    pub(crate) body: Option<Vec<u8>>,
}

impl RouteRequest {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self { path: path.into(), body: None }
    }

    pub(super) fn post(path: impl Into<String>, body: &serde_json::Value) -> Self {
        Self { path: path.into(), body: Some(body.to_string().into_bytes()) }
    }
}

/// The reply of a route.
#[derive(Debug)]
pub(crate) struct RouteReply {
    pub(crate) status: u16,
    /// The seconds after which the request may be sent again, if the reply says so.
    pub(crate) retry_after: Option<u64>,
    /// The values of steps that the index does not know, as its header has them.
    pub(crate) unknown_values: Option<String>,
    /// The fields that were asked for and may not be shown, as its header has them.
    pub(crate) not_shown: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// The most bytes of a reply that a tool reads. The largest is a list of 100 texts with ten rows
/// each and all fields: less than a megabyte.
pub(crate) const REPLY_BYTES_MAX: usize = 8 << 20;

/// The fault of a longer reply.
pub(crate) const REPLY_TOO_LONG: &str =
    "The answer is too long. Ask for fewer texts or fields in one call.";
