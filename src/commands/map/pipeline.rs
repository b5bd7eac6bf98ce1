//! Reads, answers and writes at the same time: one thread reads batches of rows, two threads answer
//! them and format the result, and the calling thread outputs the bytes in order.
//!
//! Memory is bounded. Only few batches are in progress. A batch with many bytes (`--many all`) is
//! output in pieces, and waits until it is the next batch before it sends one.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use anyhow::{Context as _, anyhow};
use figdex_index::Status;
use figdex_ingest::table::{Batch, Table};
use parking_lot::{Condvar, Mutex};

use super::answerer::Answerer;
use super::question::Questions;
use super::report::Counts;
use super::rows::{RowWriter, Scratch};
use crate::config::map::Many;

/// The number of threads that answer.
const WORKERS: usize = 2;

/// The most batches that wait for a worker, are being answered, or wait for their output.
const BATCHES_MAX: usize = 6;

/// The number of bytes at which a piece of a batch is output.
const PIECE_BYTES: usize = 4 << 20;

/// The most pieces that wait for the calling thread.
const PIECES_MAX: usize = 2;

/// A check of a table after each batch.
pub(super) type Check = Box<dyn Fn(&Table) -> anyhow::Result<()> + Send>;

/// A table whose first batches were already read.
pub(super) struct Rest {
    pub(super) first: VecDeque<Batch>,
    pub(super) table: Table,
    /// Checks the table after each batch: an object may have a member that no earlier object had.
    pub(super) check: Check,
}

/// The bytes of some rows of a batch.
#[derive(Default)]
pub(super) struct Written {
    pub(super) rows: Vec<u8>,
    /// The unknown and invalid rows, as they came.
    pub(super) unmatched: Vec<u8>,
    /// The ambiguous rows, as they came.
    pub(super) ambiguous: Vec<u8>,
}

/// The answerer, its questions, and the writer of rows.
pub(super) struct Work<'a, A> {
    pub(super) answerer: &'a A,
    pub(super) questions: &'a Questions,
    pub(super) writer: &'a RowWriter,
    pub(super) steps: usize,
}

struct PlacedBatch {
    place: u64,
    /// The number of the batch's first row in the table, from 1.
    first_row: u64,
    batch: Batch,
}

/// Bytes of the batch at a place. The last piece of a batch has the counts of the whole batch.
struct Piece {
    place: u64,
    written: Written,
    counts: Option<Counts>,
}

type Done = anyhow::Result<Piece>;

/// The place of the next batch to output.
#[derive(Default)]
struct Turn {
    next: Mutex<u64>,
    changed: Condvar,
}

impl Turn {
    /// Waits until the batch at this place is the next one to output. Workers take batches in
    /// order. So one of them always has the next batch, and does not wait.
    fn wait(&self, place: u64) {
        let mut next = self.next.lock();
        while *next < place {
            self.changed.wait(&mut next);
        }
    }

    fn set(&self, next: u64) {
        *self.next.lock() = next;
        self.changed.notify_all();
    }
}

impl<A: Answerer> Work<'_, A> {
    /// Answers all rows, and passes their bytes to `put` in order.
    ///
    /// # Errors
    /// When the table cannot be read or fails its check, an answer fails, or `put` does.
    pub(super) fn run(
        &self,
        rest: Rest,
        mut put: impl FnMut(&Written, &Counts) -> anyhow::Result<()>,
    ) -> anyhow::Result<Counts> {
        let (jobs_sender, jobs) = channel();
        let (done_sender, done) = sync_channel::<Done>(PIECES_MAX);
        let (permits_sender, permits) = sync_channel(BATCHES_MAX);
        let reader =
            Reader { jobs: jobs_sender, done: done_sender.clone(), permits: permits_sender };
        // This thread is not joined: after an error it may still wait for standard input.
        let name = thread::Builder::new().name("reader".to_owned());
        name.spawn(move || reader.run(rest)).context("starting a thread")?;
        let jobs = Mutex::new(jobs);
        let turn = Turn::default();
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                let (jobs, turn, done) = (&jobs, &turn, done_sender.clone());
                scope.spawn(move || self.answer_all(jobs, turn, &done));
            }
            drop(done_sender);
            let mut counts = Counts::new(self.steps);
            let put_all = put_all(&done, &permits, &turn, |written, own| {
                own.iter().for_each(|own| counts.add_all(own));
                put(written, &counts)
            });
            // The threads end when nobody receives from them and none waits for its turn.
            drop((done, permits));
            turn.set(u64::MAX);
            put_all.map(|()| counts)
        })
    }

    fn answer_all(
        &self,
        jobs: &Mutex<Receiver<PlacedBatch>>,
        turn: &Turn,
        done: &SyncSender<Done>,
    ) {
        loop {
            let job = jobs.lock().recv();
            let Ok(job) = job else { return };
            // Without this, other threads would wait for a panicked batch forever.
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&job, turn, done)));
            let answered = answered.unwrap_or_else(|_| Err(anyhow!("answering failed")));
            let is_over = answered.is_err();
            if done.send(answered).is_err() || is_over {
                return;
            }
        }
    }

    /// Answers a batch. Sends its pieces except the last one, and returns that.
    fn answer(&self, job: &PlacedBatch, turn: &Turn, done: &SyncSender<Done>) -> Done {
        let PlacedBatch { place, first_row, batch } = job;
        let mut written = Written::default();
        let mut counts = Counts::new(self.steps);
        let mut scratch = Scratch::default();
        let mut number = *first_row;
        written.rows.reserve(batch.bytes() * 3);
        let keeps_all = self.writer.many == Many::All;
        self.questions.answer(batch, self.answerer, keeps_all, |row, answer| {
            let status = &answer.resolution.status;
            counts.add(&answer.resolution);
            counts.check_utf_8(number, row.content());
            for line in 0..self.writer.lines(answer) {
                let (numbered, answer) = ((number, row), (answer, line));
                self.writer.row(self.answerer, numbered, answer, &mut scratch, &mut written.rows);
                if written.rows.len() >= PIECE_BYTES {
                    turn.wait(*place);
                    let written = std::mem::take(&mut written);
                    let sent = done.send(Ok(Piece { place: *place, written, counts: None }));
                    // Sending fails only after the thread that called `run` has failed. That thread
                    // reports its own error, so nobody reads this one.
                    sent.map_err(|_| anyhow!("nobody puts the rows out"))?;
                }
            }
            number += 1;
            let own = match status {
                Status::Resolved(_) => return Ok(()),
                Status::Ambiguous(_) => &mut written.ambiguous,
                Status::Unknown | Status::Invalid(_) => &mut written.unmatched,
            };
            own.extend_from_slice(row.content());
            match row.line_end() {
                b"" => own.extend_from_slice(&self.writer.line_end),
                line_end => own.extend_from_slice(line_end),
            }
            Ok(())
        })?;
        Ok(Piece { place: *place, written, counts: Some(counts) })
    }
}

/// Outputs the pieces of all batches, in the order of the batches.
fn put_all(
    done: &Receiver<Done>,
    permits: &Receiver<()>,
    turn: &Turn,
    mut put: impl FnMut(&Written, Option<&Counts>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for done in done {
        let Piece { place, written, counts } = done?;
        // Only the next batch sends pieces before its last one.
        let Some(counts) = counts else {
            put(&written, None)?;
            continue;
        };
        waiting.insert(place, (written, counts));
        while let Some((written, counts)) = waiting.remove(&next) {
            put(&written, Some(&counts))?;
            next += 1;
            turn.set(next);
            permits.recv().ok();
        }
    }
    Ok(())
}

/// The thread that reads.
struct Reader {
    jobs: Sender<PlacedBatch>,
    done: SyncSender<Done>,
    permits: SyncSender<()>,
}

impl Reader {
    fn run(self, rest: Rest) {
        let Rest { mut first, mut table, check } = rest;
        let mut first_row = 1;
        for place in 0.. {
            let batch = match first.pop_front() {
                Some(batch) => batch,
                None => {
                    let mut batch = Batch::default();
                    let read = table.read(&mut batch).map_err(anyhow::Error::from);
                    match read.and_then(|is_more| check(&table).map(|()| is_more)) {
                        Ok(true) => batch,
                        Ok(false) => return,
                        Err(error) => return drop(self.done.send(Err(error))),
                    }
                }
            };
            let rows = batch.rows() as u64;
            let is_wanted = self.permits.send(()).is_ok();
            if !is_wanted || self.jobs.send(PlacedBatch { place, first_row, batch }).is_err() {
                return;
            }
            first_row += rows;
        }
    }
}
