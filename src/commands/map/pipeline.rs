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
use super::left_out::FooterRule;
use super::question::{Questions, rows_asked};
use super::report::Counts;
use super::rows::{RowWriter, Scratch};

/// The number of threads that answer.
const WORKERS: usize = 2;

/// The most batches that wait for a worker, are being answered, or wait for their output.
const BATCHES_MAX: usize = 6;

/// The number of bytes at which a piece of a batch is output.
const PIECE_BYTES: usize = 4 << 20;

/// The most pieces that wait for the calling thread.
const PIECES_MAX: usize = 2;

/// The most batches of one footer. With more, the rows are not a footer.
const HELD_MAX: usize = 4;

/// A check of a table after each batch.
pub(super) type Check = Box<dyn Fn(&Table) -> anyhow::Result<()> + Send>;

/// A table whose first batches were already read.
pub(super) struct Rest {
    pub(super) first: VecDeque<Batch>,
    pub(super) table: Table,
    /// Checks the table after each batch: an object may have a member that no earlier object had.
    pub(super) check: Check,
    /// The rule by which the last rows are a footer; `None` for a table that has none.
    pub(super) footer: Option<FooterRule>,
}

/// The bytes of some rows of a batch.
#[derive(Default)]
pub(super) struct Written {
    pub(super) rows: Vec<u8>,
    /// The rows that are neither matched nor ambiguous, as they came.
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
    /// The place of the first row of the table's footer, if it is in the batch.
    footer: Option<usize>,
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
        let PlacedBatch { place, first_row, batch, footer } = job;
        let mut written = Written::default();
        let mut counts = Counts::new(self.steps);
        let mut scratch = Scratch::default();
        let mut number = *first_row;
        written.rows.reserve(batch.bytes() * 3);
        let step = rows_asked(self.writer.many, &self.writer.fields);
        let asked = (batch, *footer);
        self.questions.answer(asked, self.answerer, step, |row, answer| {
            counts.add(answer);
            counts.check_utf_8(number, row.content());
            self.writer.begin((number, row), answer, &mut scratch);
            for line in 0..self.writer.lines(answer) {
                let (writer, line) = (self.writer, (answer, line));
                writer.line(self.answerer, row, line, &mut scratch, &mut written.rows);
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
            if answer.left_out.is_some() {
                return Ok(());
            }
            let own = match answer.resolution.status {
                _ if answer.is_matched() => return Ok(()),
                Status::Ambiguous(_) => &mut written.ambiguous,
                _ => &mut written.unmatched,
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
        if let Err(error) = self.read(rest) {
            // When nobody receives, the receiver reports its own error.
            self.done.send(Err(error)).ok();
        }
    }

    fn read(&self, rest: Rest) -> anyhow::Result<()> {
        let rule = rest.footer.clone();
        let mut batches = Batches(rest);
        let mut next = batches.next()?;
        let (mut first_row, mut place) = (1, 0);
        while let Some(batch) = next.take() {
            let mut held = vec![batch];
            let mut footer = rule.as_ref().and_then(|rule| rule.start_in(&held[0]));
            // Whether rows are the last ones shows only when no other rows follow but notes. No
            // other rows wait for that.
            let is_ahead = footer.is_some();
            if let Some(rule) = rule.as_ref().filter(|_| is_ahead) {
                next = batches.next_after(&mut held, rule)?;
                footer = footer.filter(|_| next.is_none());
            }
            for batch in held {
                let rows = batch.rows() as u64;
                let is_wanted = self.permits.send(()).is_ok();
                let job = PlacedBatch { place, first_row, batch, footer };
                if !is_wanted || self.jobs.send(job).is_err() {
                    return Ok(());
                }
                first_row += rows;
                place += 1;
                // The next batch is below the total.
                footer = footer.map(|_| 0);
            }
            if !is_ahead {
                next = batches.next()?;
            }
        }
        Ok(())
    }
}

/// The batches of a table, those that were already read first.
struct Batches(Rest);

impl Batches {
    /// The next batch after those that are held. The batches that a footer may contain are held
    /// too, up to [`HELD_MAX`].
    fn next_after(
        &mut self,
        held: &mut Vec<Batch>,
        rule: &FooterRule,
    ) -> anyhow::Result<Option<Batch>> {
        loop {
            match self.next()? {
                Some(batch) if held.len() < HELD_MAX && rule.may_contain(&batch) => {
                    held.push(batch);
                }
                next => return Ok(next),
            }
        }
    }

    /// The next batch with rows; `None` at the end of the table.
    fn next(&mut self) -> anyhow::Result<Option<Batch>> {
        let Rest { first, table, check, .. } = &mut self.0;
        loop {
            let mut batch = first.pop_front();
            if batch.is_none() {
                let mut read = Batch::default();
                let is_more = table.read(&mut read)?;
                check(table)?;
                batch = is_more.then_some(read);
            }
            if batch.as_ref().is_none_or(|batch| batch.rows() > 0) {
                return Ok(batch);
            }
        }
    }
}
