//! Filling an index with the documents of a catalogue, and comparing its contents afterwards.

use std::sync::Arc;
use std::time::Duration;

use figdex_index::{Catalogue, Document, Figi, Instrument, Stored};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::client::{CallError, Client, Pauses, Request};
use crate::error::{Error, Result};
use crate::patience::Patience;
use crate::question::{Found, some_by_figi};
use crate::schema;

/// The bytes of the instruments of a call, as Figdex stores them; the call itself has about five
/// times as many. `CALLS` is the most calls at the same time.
const CALL_STORED_BYTES: usize = 640 << 10;
const CALLS: usize = 4;

/// The time limit of a call. `ANSWER_BYTES` is the most bytes of its answer.
const CALL_TIME: Duration = Duration::from_secs(120);
const ANSWER_BYTES: usize = 64 << 20;

/// Instruments that are sent together.
type Chunk = Vec<(Instrument, Document)>;

/// Documents that are ready to be sent: two lines for each.
struct Batch {
    lines: Vec<u8>,
    /// The end of the lines of each document.
    ends: Vec<usize>,
}

/// Instruments of the local index with their bytes, in FIGI order.
pub(super) type Samples = Vec<(Figi, Vec<u8>)>;

/// The result of filling an index.
pub(super) struct Filled {
    /// The number of documents that were sent again.
    pub(super) repeated: u64,
    /// Some of the documents, evenly spread.
    pub(super) samples: Samples,
}

/// Fills an index through its alias with all documents of a catalogue. Keeps about `compared` of
/// the documents.
pub(super) async fn fill(
    client: &Arc<Client>,
    filling: &str,
    catalogue: Catalogue,
    compared: u64,
    patience: &Arc<Patience>,
    mut progress: impl FnMut(u64),
) -> Result<Filled> {
    // The reader waits when the channel is full, and stops when the receiver is gone.
    let (sender, mut chunks) = mpsc::channel::<Chunk>(1);
    let reading = tokio::task::spawn_blocking(move || read(&catalogue, compared, &sender));
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
    while let Some(chunk) = chunks.recv().await {
        if calls.len() == CALLS {
            ended(&mut calls).await?;
        }
        let (client, filling, patience) = (client.clone(), filling.to_owned(), patience.clone());
        calls.spawn(async move {
            // Runs in parallel to reading, on another thread.
            let batch = tokio::task::spawn_blocking(move || Batch::of(&chunk));
            let batch = batch.await.expect("writing JSON does not panic");
            send(&client, &filling, batch, &patience).await
        });
    }
    while ended(&mut calls).await? {}
    drop(chunks);
    let samples = reading.await.expect("reading does not panic")?;
    Ok(Filled { repeated, samples })
}

/// Reads all documents, each once. Returns about `compared` of them.
fn read(catalogue: &Catalogue, compared: u64, sender: &mpsc::Sender<Chunk>) -> Result<Samples> {
    let step = (catalogue.manifest().instruments / compared).max(1);
    let (mut place, mut samples) = (0_u64, Samples::new());
    let (mut chunk, mut bytes) = (Chunk::new(), 0);
    let mut is_wanted = true;
    catalogue.documents(|instrument: &Instrument, document: Document| {
        if is_wanted {
            if place.is_multiple_of(step) {
                samples.push((instrument.figi, document.stored.clone()));
            }
            place += 1;
            bytes += document.stored.len();
            chunk.push((instrument.clone(), document));
            if bytes >= CALL_STORED_BYTES {
                bytes = 0;
                is_wanted = sender.blocking_send(std::mem::take(&mut chunk)).is_ok();
            }
        }
        Ok::<_, figdex_index::Error>(())
    })?;
    if !chunk.is_empty() {
        // If there is no receiver, a call has failed and its error is reported elsewhere.
        _ = sender.blocking_send(chunk);
    }
    Ok(samples)
}

impl Batch {
    fn of(chunk: &[(Instrument, Document)]) -> Self {
        let mut batch = Self { lines: Vec::new(), ends: Vec::with_capacity(chunk.len()) };
        for (instrument, document) in chunk {
            schema::add_lines(&mut batch.lines, instrument, document);
            batch.ends.push(batch.lines.len());
        }
        batch
    }
}

/// Sends a batch until the cluster has every document of it. Returns the number of documents, and
/// the number of repeated ones.
async fn send(
    client: &Client,
    filling: &str,
    mut batch: Batch,
    patience: &Patience,
) -> Result<(u64, u64)> {
    #[derive(Deserialize)]
    struct BulkAnswer {
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
        error: Refusal,
    }
    #[derive(Default, Deserialize)]
    struct Refusal {
        #[serde(default)]
        r#type: String,
        #[serde(default)]
        reason: String,
    }
    let documents = batch.ends.len() as u64;
    let (mut repeated, mut pauses) = (0, Pauses::new(u32::MAX));
    loop {
        let request = Request::post(&[filling, "_bulk"])
            .with("require_alias", true)
            .lines(batch.lines.clone())
            .within(CALL_TIME)
            .up_to(ANSWER_BYTES);
        let answer = match client.ask::<BulkAnswer>(&request).await.map_err(Error::from) {
            Ok(answer) => answer,
            Err(error) if error.is_temporary() => {
                patience.check(|| error.to_string())?;
                pauses.wait().await;
                repeated += batch.ends.len() as u64;
                continue;
            }
            Err(error) => return Err(error),
        };
        if answer.items.len() != batch.ends.len() {
            let what = format!("{} of {} documents", answer.items.len(), batch.ends.len());
            return Err(Error::Different { what });
        }
        let mut again = Batch { lines: Vec::new(), ends: Vec::new() };
        let (mut start, mut reason) = (0, None);
        for (Item { create: created }, end) in answer.items.into_iter().zip(&batch.ends) {
            let fault = || {
                let Refusal { r#type, reason } = &created.error;
                client.quoted(&format!("status {} {} {reason}", created.status, r#type))
            };
            match created.status {
                200 | 201 => {}
                // An earlier call, whose answer was lost, has added the document.
                409 => {}
                429 | 503 => {
                    reason.get_or_insert_with(fault);
                    again.lines.extend_from_slice(&batch.lines[start..*end]);
                    again.ends.push(again.lines.len());
                }
                404 => return Err(Error::Removed { index: filling.to_owned() }),
                _ => {
                    let figi = client.quoted(&created.id);
                    return Err(Error::Document { figi, reason: fault() });
                }
            }
            start = *end;
        }
        if again.ends.len() < batch.ends.len() {
            patience.progress();
        }
        let Some(reason) = reason else { return Ok((documents, repeated)) };
        repeated += again.ends.len() as u64;
        patience.check(|| format!("it has no room for documents: {reason}"))?;
        pauses.wait().await;
        batch = again;
    }
}

/// Checks that an index has that many documents, and compares some of them with the local index.
pub(super) async fn check(
    client: &Client,
    index: &str,
    documents: u64,
    samples: &Samples,
) -> Result<()> {
    #[derive(Deserialize)]
    struct Count {
        count: u64,
        #[serde(rename = "_shards")]
        shards: CountedShards,
    }
    #[derive(Deserialize)]
    struct CountedShards {
        total: u32,
        successful: u32,
    }
    let Count { count, shards } = client.ask(&Request::get(&[index, "_count"])).await?;
    if shards.successful != shards.total {
        let what = format!("{} of {} shards answer", shards.successful, shards.total);
        return Err(CallError::Unavailable { host: index.to_owned(), what }.into());
    }
    if count != documents {
        let what = format!("{count} documents instead of {documents}");
        return Err(Error::Different { what });
    }
    let figis = samples.iter().map(|(figi, _)| *figi).collect::<Vec<_>>();
    let request = some_by_figi(index, &figis);
    let found: Found = client.ask(&request).await?;
    let mut found = found.hits.hits.iter();
    for (figi, bytes) in samples {
        let stored = found.next().map(|document| document.stored(index)).transpose()?;
        if stored != Stored::read(bytes.clone()) {
            return Err(Error::Different { what: format!("another document of {figi}") });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    fn items(statuses: &[u16]) -> (u16, String) {
        let items: Vec<String> = statuses
            .iter()
            .map(|status| format!(r#"{{"create":{{"_id":"X","status":{status}}}}}"#))
            .collect();
        (200, format!(r#"{{"items":[{}]}}"#, items.join(",")))
    }

    /// The result of sending three documents to a cluster that answers so, one time after the other.
    fn sent(answers: Vec<(u16, String)>) -> Result<(u64, u64)> {
        sent_within(answers, Duration::from_secs(60))
    }

    /// The same with that much patience.
    fn sent_within(answers: Vec<(u16, String)>, limit: Duration) -> Result<(u64, u64)> {
        let cluster = Cluster::of_one_instrument();
        let mut answers = answers.into_iter();
        cluster.answer_with("_bulk", move || answers.next().unwrap_or((503, String::new())));
        let batch = Batch { lines: b"{}\n{}\n".repeat(3), ends: vec![6, 12, 18] };
        wait_for(send(&cluster.client(), "index", batch, &Patience::new(limit)))
    }

    #[test]
    fn what_the_cluster_has_no_room_for_is_sent_again() {
        assert_eq!(sent(vec![items(&[201, 201, 201])]).unwrap(), (3, 0));
        // Documents that are there already came with a call whose answer was lost.
        assert_eq!(sent(vec![items(&[409, 201, 409])]).unwrap(), (3, 0));
        let again = vec![items(&[201, 429, 503]), items(&[201, 429]), items(&[201])];
        assert_eq!(sent(again).unwrap(), (3, 3));
        let refused = vec![(429, "{}".to_owned()), items(&[201, 201, 201])];
        assert_eq!(sent(refused).unwrap(), (3, 3));
    }

    #[test]
    fn refused_and_missing_documents_are_errors() {
        let refused = sent(vec![items(&[201, 400, 201])]).unwrap_err();
        assert!(matches!(refused, Error::Document { .. }), "{refused}");
        let missing = sent(vec![items(&[201, 201])]).unwrap_err();
        assert!(matches!(missing, Error::Different { .. }), "{missing}");
    }

    /// An index that another program removed is not made again, and the reason is named.
    #[test]
    fn an_index_that_is_gone_ends_a_publication() {
        let gone = sent(vec![items(&[404, 404, 404])]).unwrap_err();
        assert!(gone.to_string().contains("was removed by another program"), "{gone}");
    }

    /// Full disks are waited for, and named when nothing progresses.
    #[test]
    fn full_disks_are_named() {
        let reason = "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage \
                      watermark, index has read-only-allow-delete block];";
        let error = json!({"type": "cluster_block_exception", "reason": reason});
        let whole = (429, json!({"error": error}).to_string());
        let item = json!({"create": {"_id": "X", "status": 429, "error": error}});
        let each = (200, json!({"items": [item, item, item]}).to_string());
        for answer in [whole, each] {
            // Room is there again.
            let answers = vec![answer.clone(), answer.clone(), items(&[201, 201, 201])];
            assert_eq!(sent(answers).unwrap(), (3, 6));
            let stalled = sent_within(vec![answer.clone(); 9], Duration::from_millis(300));
            let text = stalled.unwrap_err().to_string();
            assert!(text.contains("no progress") && text.contains("flood-stage"), "{text}");
            assert!(!text.contains("lacks a right"), "{text}");
        }
    }
}
