//! A thread that receives instruments, so that the independent writers of a part run in
//! parallel.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::error::Result;
use crate::instrument::Instrument;

/// The most batches that may wait for one thread: enough to keep it busy in little memory.
const SENDS_WAITING_MAX: usize = 8;

/// Instruments in FIGI order.
pub(crate) type Instruments = Arc<Vec<Instrument>>;

/// A thread that adds the instruments it is sent to a `T`.
pub(crate) struct Worker<T> {
    sender: Option<SyncSender<Instruments>>,
    thread: Option<JoinHandle<Result<T>>>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts the thread. `add` adds one instrument to `state`.
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

    /// Sends instruments. Returns `false` when the thread has failed: then [`Worker::finish`]
    /// returns its error.
    #[must_use]
    pub(crate) fn send(&self, instruments: Instruments) -> bool {
        self.sender.as_ref().is_some_and(|sender| sender.send(instruments).is_ok())
    }

    /// Waits until everything that was sent is added.
    ///
    /// # Errors
    /// The first error of `add`.
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
    /// Waits for the thread, so that the caller can remove the folder that it writes to.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // The caller has another error already, or no longer needs the result.
            let _ = thread.join();
        }
    }
}
