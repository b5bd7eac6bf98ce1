//! The order in which the tasks of a pool get turns, fair by caller (engine 8). The queue knows
//! neither threads nor clocks: the pool reports work in units of the meter, and asks for the next
//! tasks.
//!
//! A turn goes to the caller with the fewest turns. Among several such callers, it goes to the one
//! with the least *use*, which is the work done for it. Use is compared as in start-time fair
//! queueing: an idle caller begins near the use of the active callers. So it neither saves up its
//! share, nor pays for work that it did while nobody else wanted a turn. Tasks of one caller get
//! turns in the order of their arrival.
//!
//! A turn is never idle while a task may use it: a caller that is alone has all turns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use figdex_index::SLICE_UNITS;

use crate::callers::Caller;

/// The work by which a caller may be ahead of another before it gives up a turn. Two callers that
/// work all the time then have slices of twice this.
const LEAD_UNITS: u64 = SLICE_UNITS / 2;

/// The work by which an idle caller begins behind the active callers. Because it is more than
/// [`LEAD_UNITS`], the caller need not wait for the end of a slice.
const CREDIT_UNITS: u64 = SLICE_UNITS;

/// With each report of work, the clock advances by at least the reported units divided by this.
/// Otherwise an endless stream of new callers would keep earlier callers from their turns for ever.
const CLOCK_PART: u64 = 64;

/// The work that is charged for each task in addition to its meter's charges: the time to wake a
/// thread. So a task without a meter counts too.
const TASK_UNITS: u64 = 2_000;

/// The number of callers whose first task may begin even if many tasks have begun. A task that has
/// begun holds memory and a thread until it ends.
pub(super) const FIRST_TASKS_MAX: usize = 16;

/// The number of added accounts after which accounts of callers without tasks are removed.
const SWEPT_ACCOUNTS: usize = 1_024;

/// The number of a task, in the order of arrival.
pub(super) type Ticket = u64;

/// The tasks of a pool. `W` wakes a task that waits.
pub(super) struct Queue<W> {
    turns: usize,
    /// Roughly the use at which the last slice began. It never falls. New callers begin near it.
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

/// The sort key of a caller: its number of turns, its use, its oldest waiting task, and the caller
/// itself.
type TurnKey = (usize, u64, Ticket, Caller);

/// The tasks of one caller.
struct Account<W> {
    /// The work that was done for the caller.
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

    /// The keys of a caller among the paused and the queued.
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

    /// Gives a free turn to the next task, if there is a free turn and a task. Returns the waker of
    /// the task.
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

    /// The next caller with a task that may begin.
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
        // The search skips only callers with started tasks, and those are few.
        self.queued.iter().find(may_begin).copied()
    }

    /// Takes a report of work of a caller's task. Returns whether the task should give up its turn
    /// to another caller now.
    pub(super) fn report(&mut self, caller: Caller, units: u64) -> bool {
        let clock = self.clock;
        let (started_at, used, running) = self.change(caller, |account| {
            let started_at = account.used.max(clock.saturating_sub(CREDIT_UNITS));
            account.used = started_at + units;
            (started_at, account.used, account.running.len())
        });
        self.clock = started_at.max(clock + units / CLOCK_PART);
        // Compare without the turn that the task would give up.
        let Some(others) = running.checked_sub(1) else { return false };
        let next = self.paused.first().copied().into_iter().chain(self.first_to_begin()).min();
        next.is_some_and(|(turns, its_use, ..)| (turns, its_use + LEAD_UNITS) <= (others, used))
    }

    /// Takes the turn from an unfinished task. The task waits until it gets another turn.
    pub(super) fn pause(&mut self, caller: Caller, ticket: Ticket, wake: W) {
        self.change(caller, |account| {
            if account.running.remove(&ticket) {
                account.paused.insert(ticket, wake);
            }
        });
    }

    /// Removes a waiting task, whether or not it has begun. A task with a turn keeps it.
    pub(super) fn leave(&mut self, caller: Caller, ticket: Ticket) {
        self.change(caller, |account| {
            account.paused.remove(&ticket);
            account.queued.remove(&ticket);
        });
    }

    /// Removes a task in any state, and frees its turn.
    pub(super) fn end(&mut self, caller: Caller, ticket: Ticket) {
        self.leave(caller, ticket);
        self.change(caller, |account| account.running.remove(&ticket));
        self.sweep();
    }

    /// Changes an account, and updates the keys and counts that depend on it.
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

    /// Forgets idle callers that would begin like new ones. Runs only after many accounts were
    /// added, which spreads the cost.
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
