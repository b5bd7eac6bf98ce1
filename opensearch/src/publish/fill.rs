//! Filling an index with the documents of a catalogue, and comparing what it holds afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use figdex_index::{Catalogue, Document, Instrument, Stored};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::client::{Client, Error as ClientError, Pauses, Request};
use crate::error::{Error, Result};
use crate::question::{Found, one_by_figi};
use crate::schema;

/// The bytes of a call, about, and the calls at the same time.
const CALL_BYTES: usize = 4 << 20;
const CALLS: usize = 4;

/// The time in which a call must be answered, and the most bytes of its answer.
const CALL_TIME: Duration = Duration::from_secs(120);
const ANSWER_BYTES: usize = 64 << 20;

/// The pauses of a call before the cluster is given up: about ten minutes.
const PAUSES: u32 = 36;

/// Some documents, ready to be sent: two lines for each.
struct Batch {
    lines: Vec<u8>,
    /// The end of the lines of each document.
    ends: Vec<usize>,
}

/// Fills an index with all documents of a catalogue. Returns the number of calls and documents that
/// were sent again.
pub(super) async fn fill(
    client: &Arc<Client>,
    index: &str,
    catalogue: Catalogue,
    mut progress: impl FnMut(u64),
) -> Result<u64> {
    // Reading stops when the receiver is gone, and waits when it is full.
    let (sender, mut batches) = mpsc::channel::<Batch>(1);
    let reading = tokio::task::spawn_blocking(move || read(&catalogue, &sender));
    let (mut calls, mut sent, mut repeated) = (JoinSet::new(), 0, 0);
    let mut ended = async |calls: &mut JoinSet<Result<(u64, u64)>>| match calls.join_next().await {
        None => Ok(false),
        Some(done) => {
            let (documents, again) = done.expect("a call does not panic")?;
            sent += documents;
            repeated += again;
            progress(sent);
            Ok::<_, Error>(true)
        }
    };
    while let Some(batch) = batches.recv().await {
        if calls.len() == CALLS {
            ended(&mut calls).await?;
        }
        let (client, index) = (client.clone(), index.to_owned());
        calls.spawn(async move { send(&client, &index, batch).await });
    }
    while ended(&mut calls).await? {}
    drop(batches);
    reading.await.expect("reading does not panic")?;
    Ok(repeated)
}

/// Reads all documents into batches.
fn read(catalogue: &Catalogue, sender: &mpsc::Sender<Batch>) -> Result<()> {
    let empty = || Batch { lines: Vec::with_capacity(CALL_BYTES + (1 << 16)), ends: Vec::new() };
    let mut batch = empty();
    let mut is_wanted = true;
    catalogue.documents(|instrument: &Instrument, document: Document| {
        if is_wanted {
            schema::add_lines(&mut batch.lines, instrument, &document);
            batch.ends.push(batch.lines.len());
            if batch.lines.len() >= CALL_BYTES {
                let full = std::mem::replace(&mut batch, empty());
                is_wanted = sender.blocking_send(full).is_ok();
            }
        }
        Ok::<_, figdex_index::Error>(())
    })?;
    if !batch.ends.is_empty() {
        // Without a receiver, the error of a call is on its way.
        _ = sender.blocking_send(batch);
    }
    Ok(())
}

/// Sends a batch until every document of it is there. Returns their number, and that of the
/// documents that were sent again.
async fn send(client: &Client, index: &str, mut batch: Batch) -> Result<(u64, u64)> {
    #[derive(Deserialize)]
    struct Answer {
        items: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        create: Created,
    }
    #[derive(Deserialize)]
    struct Created {
        #[serde(rename = "_id")]
        id: String,
        status: u16,
        #[serde(default)]
        error: Option<Fault>,
    }
    #[derive(Deserialize)]
    struct Fault {
        #[serde(default)]
        r#type: String,
        #[serde(default)]
        reason: String,
    }
    let documents = batch.ends.len() as u64;
    let (mut repeated, mut pauses) = (0, Pauses::new(PAUSES));
    loop {
        let request = Request::post(&[index, "_bulk"])
            .lines(batch.lines.clone())
            .within(CALL_TIME)
            .up_to(ANSWER_BYTES);
        let answer = match client.ask::<Answer>(&request).await {
            Ok(answer) => answer,
            Err(error @ ClientError::Unavailable { .. }) => {
                if !pauses.wait().await {
                    return Err(error.into());
                }
                repeated += batch.ends.len() as u64;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if answer.items.len() != batch.ends.len() {
            let what = format!("{} of {} documents", answer.items.len(), batch.ends.len());
            return Err(Error::Different { what });
        }
        let mut again = Batch { lines: Vec::new(), ends: Vec::new() };
        let mut start = 0;
        for (Item { create: created }, end) in answer.items.into_iter().zip(&batch.ends) {
            match created.status {
                200 | 201 => {}
                // A call whose answer was lost had added it.
                409 => {}
                429 | 503 => {
                    again.lines.extend_from_slice(&batch.lines[start..*end]);
                    again.ends.push(again.lines.len());
                }
                status => {
                    let fault = created.error.unwrap_or(Fault {
                        r#type: format!("status {status}"),
                        reason: String::new(),
                    });
                    let reason = client.quoted(&format!("{} {}", fault.r#type, fault.reason));
                    return Err(Error::Document { figi: client.quoted(&created.id), reason });
                }
            }
            start = *end;
        }
        if again.ends.is_empty() {
            return Ok((documents, repeated));
        }
        repeated += again.ends.len() as u64;
        if !pauses.wait().await {
            let what = "the cluster has had no room for documents for ten minutes".to_owned();
            return Err(ClientError::Unavailable { host: index.to_owned(), what }.into());
        }
        batch = again;
    }
}

/// Checks that an index has that many documents, and compares some of them with the local index.
pub(super) async fn check(
    client: &Arc<Client>,
    index: &str,
    documents: u64,
    local: &Path,
    compared: u64,
) -> Result<()> {
    #[derive(Deserialize)]
    struct Count {
        count: u64,
        #[serde(rename = "_shards")]
        shards: Shards,
    }
    #[derive(Deserialize)]
    struct Shards {
        total: u32,
        successful: u32,
    }
    let Count { count, shards } = client.ask(&Request::get(&[index, "_count"])).await?;
    if shards.successful != shards.total {
        let what = format!("{} of {} shards answer", shards.successful, shards.total);
        return Err(Error::Different { what });
    }
    if count != documents {
        let what = format!("{count} documents instead of {documents}");
        return Err(Error::Different { what });
    }
    let (sender, samples) = oneshot::channel();
    let local = local.to_owned();
    tokio::task::spawn_blocking(move || {
        let samples = samples_of(&local, documents, compared);
        drop(sender.send(samples));
    });
    let samples = samples.await.expect("reading does not panic")?;
    for (figi, bytes) in samples {
        let found: Found = client.ask(&one_by_figi(index, figi)).await?;
        let found = found.hits.hits.first().map(|document| document.stored(index)).transpose()?;
        if found != Stored::read(bytes) {
            return Err(Error::Different { what: format!("another document of {figi}") });
        }
    }
    Ok(())
}

/// Some instruments of a local index, evenly spread.
fn samples_of(
    local: &Path,
    documents: u64,
    compared: u64,
) -> Result<Vec<(figdex_index::Figi, Vec<u8>)>> {
    let step = (documents / compared).max(1);
    let (mut place, mut samples) = (0_u64, Vec::new());
    Catalogue::open(local)?.documents(|instrument, document| {
        if place.is_multiple_of(step) {
            samples.push((instrument.figi, document.stored));
        }
        place += 1;
        Ok::<_, figdex_index::Error>(())
    })?;
    Ok(samples)
}

#[cfg(test)]
#[cfg(feature = "http")]
mod tests {
    use super::*;
    use crate::client::hosts_of_tests::{Host, client, with_status};

    fn items(statuses: &[u16]) -> String {
        let items: Vec<String> = statuses
            .iter()
            .map(|status| format!(r#"{{"create":{{"_id":"X","status":{status}}}}}"#))
            .collect();
        with_status(200, &format!(r#"{{"items":[{}]}}"#, items.join(",")))
    }

    /// The result of sending three documents to a host that answers so, one time after the other.
    fn sent(answers: Vec<String>) -> Result<(u64, u64)> {
        let host = Host::answering_in_turn(answers);
        let batch = Batch { lines: b"{}\n{}\n".repeat(3), ends: vec![6, 12, 18] };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(send(&client(&[&host]), "index", batch))
    }

    #[test]
    fn what_the_cluster_has_no_room_for_is_sent_again() {
        assert_eq!(sent(vec![items(&[201, 201, 201])]).unwrap(), (3, 0));
        // Documents that are there already came with a call whose answer was lost.
        assert_eq!(sent(vec![items(&[409, 201, 409])]).unwrap(), (3, 0));
        let again = vec![items(&[201, 429, 503]), items(&[201, 429]), items(&[201])];
        assert_eq!(sent(again).unwrap(), (3, 3));
        let refused = vec![with_status(429, "{}"), items(&[201, 201, 201])];
        assert_eq!(sent(refused).unwrap(), (3, 3));
    }

    #[test]
    fn refused_and_missing_documents_are_errors() {
        let refused = sent(vec![items(&[201, 400, 201])]).unwrap_err();
        assert!(matches!(refused, Error::Document { .. }), "{refused}");
        let missing = sent(vec![items(&[201, 201])]).unwrap_err();
        assert!(matches!(missing, Error::Different { .. }), "{missing}");
    }
}
