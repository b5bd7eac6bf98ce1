//! Calls that wait for a cluster, for commands. A server does not wait: its client tries again.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::client::Pauses;
use crate::error::{Error, Result};

/// The number of pauses before a call is given up. Together they take two to three minutes.
const PAUSES: u32 = 16;

/// Makes a call, and repeats it after at most [`PAUSES`] pauses while the cluster cannot answer.
pub(crate) async fn patiently<T>(mut call: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let mut pauses = Pauses::new(PAUSES);
    loop {
        match call().await {
            Err(error) if error.is_temporary() && pauses.wait().await => {}
            ended => return ended,
        }
    }
}

/// The patience of a publication. A large index takes days, so the total time has no limit. The
/// publication is given up after a time without progress.
pub(crate) struct Patience {
    limit: Duration,
    progressed: Mutex<Instant>,
}

impl Patience {
    /// Patience that ends `limit` after the last progress.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, progressed: Mutex::new(Instant::now()) }
    }

    /// Records progress.
    pub(crate) fn progress(&self) {
        *self.progressed.lock() = Instant::now();
    }

    /// Checks that there was progress recently.
    ///
    /// # Errors
    /// [`Error::Stalled`] with the reason.
    pub(crate) fn check(&self, reason: impl FnOnce() -> String) -> Result<()> {
        let waited = self.progressed.lock().elapsed();
        match waited < self.limit {
            true => Ok(()),
            false => Err(Error::Stalled { waited, reason: reason() }),
        }
    }

    /// Makes a call, and repeats it after pauses while the cluster cannot answer. An answer counts
    /// as progress.
    pub(crate) async fn with<T, F>(&self, call: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let answer = self.unless_over(call).await?;
        self.progress();
        Ok(answer)
    }

    /// As [`Patience::with`], for calls whose answer does not count as progress.
    pub(crate) async fn unless_over<T, F>(&self, mut call: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut pauses = Pauses::new(u32::MAX);
        loop {
            match call().await {
                Err(error) if error.is_temporary() => {
                    self.check(|| error.to_string())?;
                    pauses.wait().await;
                }
                ended => return ended,
            }
        }
    }
}
