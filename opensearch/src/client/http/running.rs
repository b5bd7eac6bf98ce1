//! The attempts at one call that are running: the same request to several hosts.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

/// The attempts, each with its host and its beginning. Those that are dropped end.
pub(super) struct Running<'a, T>(Vec<Attempt<'a, T>>);

struct Attempt<'a, T> {
    host: usize,
    start: Instant,
    sending: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
}

impl<T> Default for Running<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, T> Running<'a, T> {
    pub(super) fn add(&mut self, host: usize, sending: impl Future<Output = T> + Send + 'a) {
        self.0.push(Attempt { host, start: Instant::now(), sending: Box::pin(sending) });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits for the first attempt to end, and removes it. Returns its host, its time and its
    /// result.
    pub(super) async fn first_to_end(&mut self) -> (usize, Duration, T) {
        poll_fn(|context| {
            for (place, attempt) in self.0.iter_mut().enumerate() {
                if let Poll::Ready(sent) = attempt.sending.as_mut().poll(context) {
                    let Attempt { host, start, .. } = self.0.remove(place);
                    return Poll::Ready((host, start.elapsed(), sent));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The hosts of the attempts that have not ended, and their times until now.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, Duration)> {
        self.0.iter().map(|attempt| (attempt.host, attempt.start.elapsed()))
    }
}
