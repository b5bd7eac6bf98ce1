//! The order in which the tasks of a pool get turns, fair by caller (engine 8). It knows neither
//! threads nor clocks: the pool reports work in units of the meter, and takes the next tasks.
//!
//! A turn goes to the caller with the fewest turns, and of several to the one that has used the
//! least work. Use is compared as in start-time fair queueing: a caller that was idle begins near
//! the use of those who work now, so it neither saves up its share nor pays for work that nobody
//! else wanted. Tasks of one caller get turns in the order in which they came.
//!
//! A turn is never idle while a task may use it: one caller alone has them all.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use figdex_index::SLICE_UNITS;

use crate::callers::Caller;

/// The work that a caller may be ahead of another before it gives a turn up. Two callers who work
/// all the time then have slices of twice this.
const LEAD_UNITS: u64 = SLICE_UNITS / 2;

/// The work by which an idle caller begins behind those who work now. With more than
/// [`LEAD_UNITS`] it need not wait until the end of a slice.
const CREDIT_UNITS: u64 = SLICE_UNITS;

/// The part of all work by which the clock moves at least. Without it, new callers that come
/// without end would keep those who have worked already from their turns for ever.
const CLOCK_PART: u64 = 64;

/// The work that is charged for each task besides what its meter charges, so that a task without a
/// meter counts too: the time in which a thread wakes up.
const TASK_UNITS: u64 = 2_000;

/// The callers whose first task may begin although many tasks have begun already. A task that has
/// begun holds memory and a thread until it ends.
pub(super) const FIRST_TASKS_MAX: usize = 16;

/// Accounts of callers without tasks are looked through when this many were added.
const SWEPT_ACCOUNTS: usize = 1_024;

/// The number of a task, in the order in which tasks come.
pub(super) type Ticket = u64;

/// The tasks of a pool. `W` wakes a task that waits.
pub(super) struct Queue<W> {
    turns: usize,
    /// The use at which a slice lately began: callers who come now begin near it.
    clock: u64,
    last: Ticket,
    counts: TaskCounts,
    accounts: HashMap<Caller, Account<W>>,
    /// The callers with a paused task, the next one first.
    paused: BTreeSet<TurnKey>,
    /// The callers with a task that has not begun, the next one first.
    queued: BTreeSet<TurnKey>,
    swept_at: usize,
}

/// The turns of a caller, its use, its oldest task that waits, and the caller.
type TurnKey = (usize, u64, Ticket, Caller);

/// The tasks of one caller.
struct Account<W> {
    /// The work that it has used.
    used: u64,
    running: BTreeSet<Ticket>,
    /// The tasks that have begun and wait for their next slice.
    paused: BTreeMap<Ticket, W>,
    /// The tasks that have not begun.
    queued: BTreeMap<Ticket, W>,
}

/// The number of tasks in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskCounts {
    pub(super) running: usize,
    pub(super) paused: usize,
    pub(super) queued: usize,
}

impl<W> Account<W> {
    fn of_use(used: u64) -> Self {
        let (running, paused, queued) = Default::default();
        Self { used, running, paused, queued }
    }

    fn started(&self) -> usize {
        self.running.len() + self.paused.len()
    }

    fn is_idle(&self) -> bool {
        self.started() == 0 && self.queued.is_empty()
    }

    fn counts(&self) -> [usize; 3] {
        [self.running.len(), self.paused.len(), self.queued.len()]
    }

    /// The places of a caller among the paused and the queued.
    fn keys(&self, caller: Caller) -> [Option<TurnKey>; 2] {
        [&self.paused, &self.queued].map(|tasks| {
            let (ticket, _) = tasks.first_key_value()?;
            Some((self.running.len(), self.used, *ticket, caller))
        })
    }
}

impl<W> Queue<W> {
    pub(super) fn new(turns: usize) -> Self {
        let (counts, accounts, paused, queued) = Default::default();
        let swept_at = SWEPT_ACCOUNTS;
        Self { turns, clock: 0, last: 0, counts, accounts, paused, queued, swept_at }
    }

    /// The most tasks that have begun and not ended.
    pub(super) fn started_max(turns: usize) -> usize {
        2 * turns + FIRST_TASKS_MAX
    }

    pub(super) fn counts(&self) -> TaskCounts {
        self.counts
    }

    /// Whether a task waits.
    pub(super) fn is_contended(&self) -> bool {
        !(self.paused.is_empty() && self.queued.is_empty())
    }

    /// Adds a task that has not begun.
    pub(super) fn enter(&mut self, caller: Caller, wake: W) -> Ticket {
        self.last += 1;
        let (ticket, least) = (self.last, self.clock.saturating_sub(CREDIT_UNITS));
        self.change(caller, |account| {
            account.used = account.used.max(least);
            account.queued.insert(ticket, wake);
        });
        ticket
    }

    /// Gives a free turn to the next task, if there are both. Returns what wakes the task.
    pub(super) fn grant(&mut self) -> Option<W> {
        if self.counts.running == self.turns {
            return None;
        }
        let paused = self.paused.first().copied();
        let queued = self.first_to_begin();
        let is_paused = match (paused, queued) {
            (Some(paused), Some(queued)) => paused < queued,
            (paused, _) => paused.is_some(),
        };
        let (_, _, ticket, caller) = if is_paused { paused } else { queued }?;
        self.change(caller, |account| {
            account.running.insert(ticket);
            if is_paused {
                account.paused.remove(&ticket)
            } else {
                account.used += TASK_UNITS;
                account.queued.remove(&ticket)
            }
        })
    }

    /// The next caller of whom a task may begin.
    fn first_to_begin(&self) -> Option<TurnKey> {
        let started = self.counts.running + self.counts.paused;
        if started >= Self::started_max(self.turns) {
            return None;
        }
        let may_begin = |(_, _, _, caller): &&TurnKey| {
            let own = self.accounts.get(caller).map_or(0, Account::started);
            // A caller cannot use more tasks than there are turns.
            own == 0 || (own < self.turns && started < 2 * self.turns)
        };
        // It passes over callers that have begun, and those are few.
        self.queued.iter().find(may_begin).copied()
    }

    /// Takes a report of work that a task of a caller did. Returns whether another caller should
    /// have its turn now.
    pub(super) fn report(&mut self, caller: Caller, units: u64) -> bool {
        let clock = self.clock;
        let (started_at, used, running) = self.change(caller, |account| {
            let started_at = account.used.max(clock.saturating_sub(CREDIT_UNITS));
            account.used = started_at + units;
            (started_at, account.used, account.running.len())
        });
        self.clock = started_at.max(clock + units / CLOCK_PART);
        // Without the turn that it would give up.
        let Some(others) = running.checked_sub(1) else { return false };
        let next = self.paused.first().copied().into_iter().chain(self.first_to_begin()).min();
        next.is_some_and(|(turns, its_use, ..)| (turns, its_use + LEAD_UNITS) <= (others, used))
    }

    /// Takes the turn of a task that has more to do, until it is granted another one.
    pub(super) fn pause(&mut self, caller: Caller, ticket: Ticket, wake: W) {
        self.change(caller, |account| {
            if account.running.remove(&ticket) {
                account.paused.insert(ticket, wake);
            }
        });
    }

    /// Removes a task that waits, begun or not; one that has a turn keeps it.
    pub(super) fn leave(&mut self, caller: Caller, ticket: Ticket) {
        self.change(caller, |account| {
            account.paused.remove(&ticket);
            account.queued.remove(&ticket);
        });
    }

    /// Removes a task, whatever it does, and frees its turn.
    pub(super) fn end(&mut self, caller: Caller, ticket: Ticket) {
        self.leave(caller, ticket);
        self.change(caller, |account| account.running.remove(&ticket));
        self.sweep();
    }

    /// Changes an account, and the places and counts that follow from it.
    fn change<T>(&mut self, caller: Caller, change: impl FnOnce(&mut Account<W>) -> T) -> T {
        let account = self.accounts.entry(caller).or_insert_with(|| Account::of_use(0));
        let [paused, queued] = account.keys(caller);
        paused.map(|key| self.paused.remove(&key));
        queued.map(|key| self.queued.remove(&key));
        let before = account.counts();
        let changed = change(account);
        let TaskCounts { running, paused, queued } = &mut self.counts;
        for (all, (before, after)) in
            [running, paused, queued].into_iter().zip(before.into_iter().zip(account.counts()))
        {
            *all = *all - before + after;
        }
        let [paused, queued] = account.keys(caller);
        self.paused.extend(paused);
        self.queued.extend(queued);
        changed
    }

    /// Forgets idle callers that would begin as new ones do. When many accounts were added, so that
    /// the cost is shared.
    fn sweep(&mut self) {
        if self.accounts.len() < self.swept_at {
            return;
        }
        let least = self.clock.saturating_sub(CREDIT_UNITS);
        self.accounts.retain(|_, account| !account.is_idle() || account.used > least);
        self.swept_at = 2 * self.accounts.len() + SWEPT_ACCOUNTS;
    }
}

#[cfg(test)]
mod tests;
