//! Reads, answers and writes at the same time: one thread reads batches of rows, two answer them
//! and write their bytes, and the calling thread puts these bytes out in order. The number of
//! batches on the way is bounded.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use anyhow::{Context as _, anyhow};
use figdex_index::Status;
use figdex_ingest::table::{Batch, Table};
use parking_lot::Mutex;

use super::engine::Engine;
use super::question::Questions;
use super::report::Counts;
use super::rows::{RowWriter, Scratch};
use crate::config::map::Many;

/// The threads that answer.
const WORKERS: usize = 2;

/// The most batches that are read and not put out yet.
const BATCHES_MAX: usize = 6;

/// A check of a table after each batch.
pub(super) type Check = Box<dyn Fn(&Table) -> anyhow::Result<()> + Send>;

/// The rest of a table, after its first batches were read.
pub(super) struct Rest {
    pub(super) first: VecDeque<Batch>,
    pub(super) table: Table,
    /// Checks the table after each batch: an object may have a member that no object had before.
    pub(super) check: Check,
}

/// The bytes of the rows of a batch.
#[derive(Default)]
pub(super) struct Written {
    pub(super) rows: Vec<u8>,
    /// The unknown and invalid rows, as they came.
    pub(super) unmatched: Vec<u8>,
    /// The ambiguous rows, as they came.
    pub(super) ambiguous: Vec<u8>,
}

/// The engine, the questions and the writer of rows.
pub(super) struct Work<'a, E> {
    pub(super) engine: &'a E,
    pub(super) questions: &'a Questions,
    pub(super) writer: &'a RowWriter,
    pub(super) steps: usize,
}

struct Job {
    place: u64,
    /// The number of its first row, from 1.
    first_row: u64,
    batch: Batch,
}

type Done = anyhow::Result<(u64, Written, Counts)>;

impl<E: Engine> Work<'_, E> {
    /// Answers all rows, and hands their bytes to `put` in order.
    ///
    /// # Errors
    /// When the table cannot be read, an answer fails, or `put` does.
    pub(super) fn run(
        &self,
        rest: Rest,
        mut put: impl FnMut(&Written, &Counts) -> anyhow::Result<()>,
    ) -> anyhow::Result<Counts> {
        let (jobs_sender, jobs) = channel();
        let (done_sender, done) = channel::<Done>();
        let (permits_sender, permits) = sync_channel(BATCHES_MAX);
        let reader =
            Reader { jobs: jobs_sender, done: done_sender.clone(), permits: permits_sender };
        // It is not waited for: it may wait for standard input when an error has ended the work.
        let name = thread::Builder::new().name("reader".to_owned());
        name.spawn(move || reader.run(rest)).context("starting a thread")?;
        let jobs = Mutex::new(jobs);
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                let (jobs, done) = (&jobs, done_sender.clone());
                scope.spawn(move || self.answer_all(jobs, &done));
            }
            drop(done_sender);
            let mut counts = Counts::new(self.steps);
            let put_all = self.put_all(&done, &permits, |written, own| {
                counts.add_all(own);
                put(written, &counts)
            });
            // The threads end when nobody receives what they send.
            drop((done, permits));
            put_all.map(|()| counts)
        })
    }

    fn put_all(
        &self,
        done: &Receiver<Done>,
        permits: &Receiver<()>,
        mut put: impl FnMut(&Written, &Counts) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for done in done {
            let (place, written, counts) = done?;
            waiting.insert(place, (written, counts));
            while let Some((written, counts)) = waiting.remove(&next) {
                put(&written, &counts)?;
                next += 1;
                permits.recv().ok();
            }
        }
        Ok(())
    }

    fn answer_all(&self, jobs: &Mutex<Receiver<Job>>, done: &Sender<Done>) {
        loop {
            let job = jobs.lock().recv();
            let Ok(job) = job else { return };
            // Others would wait for this batch forever.
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&job)));
            let answered = answered.unwrap_or_else(|_| Err(anyhow!("answering failed")));
            let is_over = answered.is_err();
            if done.send(answered).is_err() || is_over {
                return;
            }
        }
    }

    fn answer(&self, job: &Job) -> Done {
        let Job { place, first_row, batch } = job;
        let mut written = Written::default();
        let mut counts = Counts::new(self.steps);
        let mut scratch = Scratch::default();
        let mut number = *first_row;
        written.rows.reserve(batch.bytes() * 3);
        let keeps_all = self.writer.many == Many::All;
        self.questions.answer(batch, self.engine, keeps_all, |row, answer| {
            let status = &answer.resolution.status;
            counts.add(status);
            let numbered = (number, row);
            self.writer.row(self.engine, numbered, answer, &mut scratch, &mut written.rows);
            number += 1;
            let own = match status {
                Status::Resolved(_) => return,
                Status::Ambiguous(_) => &mut written.ambiguous,
                Status::Unknown | Status::Invalid(_) => &mut written.unmatched,
            };
            own.extend_from_slice(row.content());
            match row.line_end() {
                b"" => own.extend_from_slice(&self.writer.line_end),
                line_end => own.extend_from_slice(line_end),
            }
        })?;
        Ok((*place, written, counts))
    }
}

/// The thread that reads.
struct Reader {
    jobs: Sender<Job>,
    done: Sender<Done>,
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
            if !is_wanted || self.jobs.send(Job { place, first_row, batch }).is_err() {
                return;
            }
            first_row += rows;
        }
    }
}
