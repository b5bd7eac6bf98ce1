//! The lease of an index that is being filled: a document that its program changes again and again,
//! and removes before the index is complete. Clocks of machines are never compared: a program that
//! finds such an index watches whether the document changes.
//!
//! Each change has a larger version, and the removal the largest: a change that the cluster carries
//! out late, after the removal, is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::client::{Client, Request};
use crate::error::Result;
use crate::schema::field;

/// The id of the document. It is not a FIGI.
const ID: &str = "lease";

/// The time between two changes, and the time in which one must be seen.
const PERIOD: Duration = Duration::from_secs(3);
const WATCHED: Duration = Duration::from_secs(15);

/// The lease of an index that this program fills.
pub(super) struct Lease {
    client: Arc<Client>,
    index: String,
    version: Arc<AtomicU64>,
    renewing: JoinHandle<()>,
}

impl Lease {
    /// Takes the lease, and renews it until it is given up or dropped.
    pub(super) fn take(client: Arc<Client>, index: &str) -> Self {
        let version = Arc::new(AtomicU64::new(1));
        let (asked, of, next) = (client.clone(), index.to_owned(), version.clone());
        let renewing = tokio::spawn(async move {
            loop {
                let request = Request::put(&[&of, "_doc", ID]).json(&json!({field::FIGI: 0}));
                let request = versioned(request, &next).within(PERIOD);
                // If it cannot be renewed, the cluster cannot be filled either, which says why.
                drop(asked.ask::<serde_json::Value>(&request).await);
                tokio::time::sleep(PERIOD).await;
            }
        });
        Self { client, index: index.to_owned(), version, renewing }
    }

    /// Removes the document.
    pub(super) async fn give_up(mut self) -> Result<()> {
        self.renewing.abort();
        // It has ended, so that none has a larger version than the removal.
        drop((&mut self.renewing).await);
        let request = versioned(Request::delete(&[&self.index, "_doc", ID]), &self.version);
        match self.client.ask::<serde_json::Value>(&request).await {
            Err(error) if error.is_absent() => Ok(()),
            removed => Ok(removed.map(drop)?),
        }
    }
}

/// The request with the next version.
fn versioned<'a>(request: Request<'a>, version: &AtomicU64) -> Request<'a> {
    let version = version.fetch_add(1, Ordering::Relaxed);
    request.with("version", version).with("version_type", "external")
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

/// Whether a program fills an index now. One change may be the last call of a program that was
/// killed.
pub(super) async fn is_alive(client: &Client, index: &str) -> Result<bool> {
    let (mut last, mut changes) = (version(client, index).await?, 0);
    let deadline = tokio::time::Instant::now() + WATCHED;
    while changes < 2 && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(PERIOD / 3).await;
        let now = version(client, index).await?;
        changes += u32::from(now != last);
        last = now;
    }
    Ok(changes >= 2)
}

/// The number of changes of the lease of an index.
async fn version(client: &Client, index: &str) -> Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Found {
        #[serde(rename = "_version")]
        version: Option<u64>,
    }
    let request = Request::get(&[index, "_doc", ID]).with("stored_fields", "_none_");
    match client.ask::<Found>(&request).await {
        Ok(found) => Ok(found.version),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
