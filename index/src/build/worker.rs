//! A thread that takes instruments in, batch by batch: the parts of a build that
//! do not need each other run beside each other.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::error::Result;
use crate::instrument::Instrument;

/// Batches that may wait for one thread: enough that none starves, few enough that
/// memory does not notice.
const SENDS_WAITING_MAX: usize = 8;

/// Instruments in FIGI order.
pub(crate) type Instruments = Arc<Vec<Instrument>>;

/// A thread that makes a `T` of the instruments that it is sent.
pub(crate) struct Worker<T> {
    sender: Option<SyncSender<Instruments>>,
    thread: Option<JoinHandle<Result<T>>>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts the thread: `add` takes one instrument into `state`.
    pub(crate) fn start(
        mut state: T,
        mut add: impl FnMut(&mut T, &Instrument) -> Result<()> + Send + 'static,
    ) -> Self {
        let (sender, receiver) = sync_channel::<Instruments>(SENDS_WAITING_MAX);
        let thread = std::thread::spawn(move || {
            for instruments in receiver {
                for instrument in instruments.iter() {
                    add(&mut state, instrument)?;
                }
            }
            Ok(state)
        });
        Self { sender: Some(sender), thread: Some(thread) }
    }

    /// Sends a batch. A thread that has failed takes none, and `false` says so:
    /// [`Worker::finish`] tells why.
    #[must_use]
    pub(crate) fn send(&self, instruments: Instruments) -> bool {
        self.sender.as_ref().is_some_and(|sender| sender.send(instruments).is_ok())
    }

    /// Waits for all that was sent to be taken in.
    ///
    /// # Errors
    /// The first that `add` made.
    pub(crate) fn finish(mut self) -> Result<T> {
        self.sender = None;
        let thread = self.thread.take().expect("a worker is finished once");
        match thread.join() {
            Ok(state) => state,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl<T> Drop for Worker<T> {
    /// A worker that is given up ends before its folder is removed, not after.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // Nobody asks any more what became of it.
            let _ = thread.join();
        }
    }
}
