//! The running attempts of one call: the same request, sent to several hosts.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use super::{Failure, Reply, Sending};

/// The attempts, each with its host and its start time. Dropping an attempt ends it.
#[derive(Default)]
pub(super) struct Running<'a>(Vec<Attempt<'a>>);

struct Attempt<'a> {
    host: usize,
    start: Instant,
    sending: Sending<'a>,
}

impl<'a> Running<'a> {
    pub(super) fn add(&mut self, host: usize, sending: Sending<'a>) {
        self.0.push(Attempt { host, start: Instant::now(), sending });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits until the first attempt ends, and removes it. Returns the attempt's host, time and
    /// result.
    pub(super) async fn first_to_end(&mut self) -> (usize, Duration, Result<Reply, Failure>) {
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

    /// The hosts of the unfinished attempts, and their times so far.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, Duration)> {
        self.0.iter().map(|attempt| (attempt.host, attempt.start.elapsed()))
    }
}
