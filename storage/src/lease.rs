//! The lease of a publisher: an object that it changes every few seconds. Another publisher that
//! sees a change leaves the index alone. If it sees no change for a while, it takes over. Only
//! durations on one machine count, not the times of clocks, and no conditional requests are needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use figdex_io::hex;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::error::{Error, Result};
use crate::layout::{Pointer, SMALL_BYTES_MAX};
use crate::names::{CURRENT, LEASE};
use crate::store::Store;

/// The time between two changes of the lease.
const BEAT: Duration = Duration::from_secs(3);

/// The time without a change after which a publisher counts as dead.
const DEAD: Duration = Duration::from_secs(20);

/// The time after which a publisher gives up if it cannot change its lease. It is well before
/// another publisher takes over.
const GIVEN_UP: Duration = Duration::from_secs(12);

/// The time between writing the lease and reading it again. By then, another publisher that also
/// found no lease has written its own.
const SETTLED: Duration = Duration::from_secs(2);

/// The content of the lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LeaseText {
    /// The random number of the publisher.
    publisher: String,
    /// The machine and the process, for people.
    who: String,
    /// The number of changes so far.
    beat: u64,
}

/// The right to publish. [`Lease::release`] gives it back; otherwise it expires.
pub(crate) struct Lease {
    store: Store,
    publisher: String,
    is_lost: Arc<AtomicBool>,
    beating: JoinHandle<()>,
}

impl Lease {
    /// Takes the lease. If another publisher holds it, watches whether that publisher is alive.
    ///
    /// # Errors
    /// [`Error::Busy`] when the other publisher is alive, [`Error::LeaseLost`] when the new lease
    /// was removed, and errors of reading and writing.
    pub(crate) async fn take(store: &Store) -> Result<Self> {
        await_end_of_others(store).await?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).expect("the system has random numbers");
        let mut body = LeaseText { publisher: hex(&random), who: who(), beat: 0 };
        write(store, &body).await?;
        sleep(SETTLED).await;
        match read(store).await? {
            Some(found) if found.publisher == body.publisher => {}
            Some(other) => return Err(Error::Busy(other.who)),
            None => return Err(Error::LeaseLost),
        }
        let is_lost = Arc::new(AtomicBool::new(false));
        let publisher = body.publisher.clone();
        let beating = tokio::spawn({
            let (store, is_lost) = (store.clone(), is_lost.clone());
            async move {
                let mut renewed = Instant::now();
                while renewed.elapsed() < GIVEN_UP {
                    sleep(BEAT).await;
                    let begun = Instant::now();
                    match read(&store).await {
                        Ok(Some(found)) if found.publisher == body.publisher => {}
                        Ok(_) => break,
                        // Another attempt follows.
                        Err(_) => continue,
                    }
                    body.beat += 1;
                    if write(&store, &body).await.is_ok() {
                        renewed = begun;
                    }
                }
                is_lost.store(true, Ordering::Relaxed);
            }
        });
        Ok(Self { store: store.clone(), publisher, is_lost, beating })
    }

    /// # Errors
    /// [`Error::LeaseLost`] when this publisher could not renew the lease, or no longer holds it.
    pub(crate) fn check(&self) -> Result<()> {
        match self.is_lost.load(Ordering::Relaxed) {
            true => Err(Error::LeaseLost),
            false => Ok(()),
        }
    }

    /// As [`Lease::check`], but also reads whether another publisher has taken over.
    ///
    /// # Errors
    /// [`Error::LeaseLost`], and errors of reading.
    pub(crate) async fn check_there(&self) -> Result<()> {
        self.check()?;
        match read(&self.store).await? {
            Some(found) if found.publisher == self.publisher => Ok(()),
            _ => Err(Error::LeaseLost),
        }
    }

    /// Writes the pointer, if this publisher still has the lease.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another publisher holds the lease or wrote another pointer, and
    /// errors of reading and writing.
    pub(crate) async fn point(&self, pointer: &Pointer) -> Result<()> {
        let Self { store, .. } = self;
        self.check_there().await?;
        let written = store.write(CURRENT, pointer.text().into()).await;
        // A failed write may have been carried out anyway.
        match Pointer::read(store).await {
            Ok(Some(found)) if found == *pointer => Ok(()),
            Ok(_) => Err(written.err().unwrap_or(Error::LeaseLost)),
            Err(error) => {
                let what = format!(
                    "generation {} may be published or not: {}",
                    pointer.generation,
                    figdex_index::chain(&error)
                );
                Err(Error::Unavailable { place: store.place(CURRENT), what })
            }
        }
    }

    /// Gives the lease back if this publisher still holds it.
    pub(crate) async fn release(self) {
        self.beating.abort();
        if self.check_there().await.is_ok()
            && let Err(error) = self.store.remove(LEASE).await
        {
            tracing::debug!(%error, "the lease ends by itself");
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Waits until no publisher holds the lease, or its holder is dead. [`Error::Busy`] if the holder
/// changes the lease meanwhile.
async fn await_end_of_others(store: &Store) -> Result<()> {
    let Some(first) = read(store).await? else { return Ok(()) };
    let start = Instant::now();
    while start.elapsed() < DEAD {
        sleep(BEAT / 2).await;
        match read(store).await? {
            Some(now) if now == first => {}
            Some(now) => return Err(Error::Busy(now.who)),
            None => return Ok(()),
        }
    }
    Ok(())
}

async fn read(store: &Store) -> Result<Option<LeaseText>> {
    let Some(text) = store.read(LEASE, SMALL_BYTES_MAX).await? else { return Ok(None) };
    // An unreadable lease counts as one that nobody renews.
    let unknown = LeaseText { publisher: String::new(), who: "unknown".to_owned(), beat: 0 };
    Ok(Some(serde_json::from_slice(&text).unwrap_or(unknown)))
}

async fn write(store: &Store, body: &LeaseText) -> Result<()> {
    let text = serde_json::to_vec(body).expect("its fields are texts and a number");
    store.write(LEASE, text.into()).await
}

/// The machine and the process of this program.
fn who() -> String {
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("process {} on {machine}", std::process::id())
}
