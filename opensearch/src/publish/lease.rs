//! The lease of an index that is being filled. It is a document that the filling program changes
//! again and again, and removes before the index is complete. Clocks of different machines are
//! never compared: a program that finds such an index watches whether the document changes.
//!
//! Each change has a larger version, and the removal has the largest. So a change that the cluster
//! executes after the removal is refused. All changes go to the alias of an index that is being
//! filled, so none of them creates an index again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::client::{Client, Request};
use crate::error::Result;
use crate::patience::Patience;
use crate::schema::field;

/// The id of the document. It is not a FIGI.
const ID: &str = "lease";

/// OpenSearch's name for the error when a document has changed in the meantime.
const CONFLICT: &str = "version_conflict_engine_exception";

/// The time between two changes. `WATCHED` is the time in which two changes must be seen.
const PERIOD: Duration = Duration::from_secs(3);
const WATCHED: Duration = Duration::from_secs(15);

/// The lease of an index that this program fills.
pub(super) struct Lease {
    client: Arc<Client>,
    /// The alias of the index.
    filling: String,
    version: Arc<AtomicU64>,
    renewing: JoinHandle<()>,
}

impl Lease {
    /// Takes the lease of the index that is filled through an alias. Renews it until it is given up
    /// or dropped.
    pub(super) fn take(client: Arc<Client>, filling: &str) -> Self {
        let version = Arc::new(AtomicU64::new(1));
        let (asked, of, next) = (client.clone(), filling.to_owned(), version.clone());
        let renewing = tokio::spawn(async move {
            loop {
                // If the lease cannot be renewed, the cluster cannot be filled either. The error of
                // filling explains why.
                drop(renew(&asked, &of, &next).await);
                tokio::time::sleep(PERIOD).await;
            }
        });
        Self { client, filling: filling.to_owned(), version, renewing }
    }

    /// Stops the renewals and removes the document.
    pub(super) async fn give_up(mut self, patience: &Patience) -> Result<()> {
        self.renewing.abort();
        // The renewals have ended, so the change below has the largest version so far.
        drop((&mut self.renewing).await);
        let (client, filling) = (&self.client, &*self.filling);
        let last = patience.with(|| renew(client, filling, &self.version)).await?;
        patience
            .with(|| async {
                // Unlike a request with a chosen version, this one does not create a missing index.
                // It gets the version after that of the last change.
                let request = Request::delete(&[filling, "_doc", ID])
                    .with("if_seq_no", last.number)
                    .with("if_primary_term", last.term);
                match client.ask::<serde_json::Value>(&request).await {
                    // An earlier attempt succeeded, but its answer was lost.
                    Err(error) if error.is_kind(CONFLICT) || error.is_absent() => {
                        match version(client, filling).await? {
                            None => Ok(()),
                            Some(_) => Err(error.into()),
                        }
                    }
                    removed => Ok(removed.map(drop)?),
                }
            })
            .await
    }
}

/// A change of the lease, with the cluster's numbers for it.
#[derive(Deserialize)]
struct Change {
    #[serde(rename = "_seq_no")]
    number: u64,
    #[serde(rename = "_primary_term")]
    term: u64,
}

/// Changes the lease, with the next version.
async fn renew(client: &Client, filling: &str, version: &AtomicU64) -> Result<Change> {
    let version = version.fetch_add(1, Ordering::Relaxed);
    let request = Request::put(&[filling, "_doc", ID])
        .json(&json!({field::FIGI: 0}))
        .with("version", version)
        .with("version_type", "external")
        .with("require_alias", true)
        .within(PERIOD);
    Ok(client.ask(&request).await?)
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

/// Whether a program fills an index now. A single change is not enough: it may be the last call of
/// a killed program.
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

/// The version of the lease of an index; `None` without a lease.
async fn version(client: &Client, index: &str) -> Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Versioned {
        #[serde(rename = "_version")]
        version: Option<u64>,
    }
    let request = Request::get(&[index, "_doc", ID]).with("stored_fields", "_none_");
    match client.ask::<Versioned>(&request).await {
        Ok(found) => Ok(found.version),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
