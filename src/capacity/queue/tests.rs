//! The order of turns, on a machine whose clock is the units of work that were done.

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;

use super::*;

/// The units that a task does between two reports, as its meter does.
const STEP: u64 = 1 << 16;

/// A millisecond of work.
const MS: u64 = SLICE_UNITS / 20;

/// A pool with a number of turns, whose threads all work equally fast.
struct Machine {
    queue: Queue<usize>,
    now: u64,
    tasks: Vec<Task>,
    running: Vec<usize>,
    /// The caller and the length of each slice that has ended.
    slices: Vec<(Caller, u64)>,
}

struct Task {
    caller: Caller,
    ticket: Ticket,
    left: u64,
    slice: u64,
    came: u64,
    /// The time from its coming to its first turn, and to its end.
    waited: Option<u64>,
    took: Option<u64>,
}

fn caller(number: u32) -> Caller {
    Caller::at(IpAddr::V4(Ipv4Addr::from_bits(number)))
}

impl Machine {
    fn new(turns: usize) -> Self {
        let (tasks, running, slices) = Default::default();
        Self { queue: Queue::new(turns), now: 0, tasks, running, slices }
    }

    /// A task comes, with this much work. Returns its number.
    fn come(&mut self, caller: Caller, units: u64) -> usize {
        let number = self.tasks.len();
        let ticket = self.queue.enter(caller, number);
        let (came, left) = (self.now, units);
        let task = Task { caller, ticket, left, slice: 0, came, waited: None, took: None };
        self.tasks.push(task);
        self.grant();
        number
    }

    fn grant(&mut self) {
        while let Some(number) = self.queue.grant() {
            let task = &mut self.tasks[number];
            task.waited.get_or_insert(self.now - task.came);
            self.running.push(number);
        }
        let TaskCounts { running, paused, queued } = self.queue.counts();
        assert_eq!(running, self.running.len());
        assert!(running == self.queue.turns || paused + queued == 0, "a turn is idle");
        assert!(running + paused <= Queue::<usize>::started_max(self.queue.turns));
    }

    /// All tasks that have a turn do a step of their work.
    fn step(&mut self) {
        self.now += STEP;
        for number in self.running.clone() {
            let task = &mut self.tasks[number];
            let done = task.left.min(STEP);
            task.left -= done;
            task.slice += done;
            let gives_up = self.queue.report(task.caller, done);
            if task.left > 0 && !gives_up {
                continue;
            }
            self.slices.push((task.caller, std::mem::take(&mut task.slice)));
            self.running.retain(|other| *other != number);
            if task.left == 0 {
                task.took = Some(self.now - task.came);
                self.queue.end(task.caller, task.ticket);
            } else {
                self.queue.pause(task.caller, task.ticket, number);
            }
            self.grant();
        }
    }

    fn run_for(&mut self, units: u64) {
        let end = self.now + units;
        while self.now < end {
            self.step();
        }
    }

    /// The work that a caller has had done.
    fn work_of(&self, caller: Caller) -> u64 {
        let ended = self.slices.iter().filter(|(of, _)| *of == caller).map(|(_, units)| units);
        let others = self.tasks.iter().filter(|task| task.caller == caller);
        ended.sum::<u64>() + others.map(|task| task.slice).sum::<u64>()
    }
}

/// engine 8: eight callers with little work, and one with as much as it likes: each of their tasks
/// gets its turn at the next report, however much has begun or waits before it.
#[test]
fn a_quiet_caller_does_not_wait_for_a_slice() {
    for turns in [1, 3] {
        let mut machine = Machine::new(turns);
        for _ in 0..100 {
            machine.come(caller(0), 5_000 * MS);
        }
        // By then it is one that works all the time.
        machine.run_for(100 * MS);
        let mut quiet = Vec::new();
        for round in 0..50 {
            for number in 1..=8 {
                machine.run_for(5 * MS + round * MS / 8);
                quiet.push(machine.come(caller(number), 2 * MS));
            }
        }
        machine.run_for(20 * MS);
        for task in quiet {
            let Task { waited, took, .. } = machine.tasks[task];
            assert!(waited.unwrap() <= STEP, "waited {waited:?}");
            assert!(took.unwrap() <= 4 * MS, "took {took:?}");
        }
        let worked = machine.work_of(caller(0)) as f64 / (machine.now * turns as u64) as f64;
        assert!(worked > 0.6, "the rest is for the other one: {worked}");
    }
}

/// engine 8: callers who all have much work get equal parts, of one turn in slices of 20 ms at most,
/// and a task keeps its progress.
#[test]
fn busy_callers_have_equal_parts() {
    for turns in [1, 2, 3, 5] {
        let mut machine = Machine::new(turns);
        for number in 0..4 {
            // The first ones have more tasks and come earlier.
            for _ in 0..40 - 10 * number {
                machine.come(caller(number), 400 * MS);
            }
            machine.run_for(SLICE_UNITS);
        }
        // Until nobody is a newcomer.
        machine.run_for(100 * MS);
        let before = [0, 1, 2, 3].map(|number| machine.work_of(caller(number)));
        let slices = machine.slices.len();
        machine.run_for(1_000 * MS);
        let work = [0, 1, 2, 3].map(|number| machine.work_of(caller(number)));
        let work = [0, 1, 2, 3].map(|number| work[number] - before[number]);
        let (least, most) = (work.iter().min().unwrap(), work.iter().max().unwrap());
        // Those who came first have as many tasks begun as they may, which evens out as these end.
        let part = if turns < 4 { 20 } else { 6 };
        assert!(most - least <= most / part, "{turns} turns: {work:?}");
        if turns == 1 {
            let longest = machine.slices[slices..].iter().map(|(_, units)| units).max().unwrap();
            assert!(*longest <= SLICE_UNITS + STEP, "{longest}");
        }
    }
}

/// engine 8: a caller alone has all turns, and its tasks are done in their order without a pause.
#[test]
fn a_caller_alone_has_all_turns() {
    let mut machine = Machine::new(3);
    let tasks: Vec<usize> = (0..30).map(|_| machine.come(caller(1), 100 * MS)).collect();
    machine.run_for(1_100 * MS);
    let took: Vec<u64> = tasks.iter().map(|task| machine.tasks[*task].took.unwrap()).collect();
    assert!(took.is_sorted());
    assert_eq!(machine.slices.len(), 30, "no task was paused");
    assert!(took[29] < 1_010 * MS, "{took:?}");
}

/// A caller who was idle is not owed what it did not use: it is ahead for two slices, and then has
/// an equal part.
#[test]
fn an_idle_caller_saves_nothing_up() {
    let mut machine = Machine::new(1);
    let (early, late) = (caller(1), caller(2));
    machine.come(late, MS);
    machine.come(early, 1_000_000 * MS);
    machine.run_for(10_000 * MS);
    machine.come(late, 1_000_000 * MS);
    let before = machine.work_of(early);
    machine.run_for(400 * MS);
    let worked = machine.work_of(early) - before;
    assert!((150 * MS..=200 * MS).contains(&worked), "{}", worked / MS);
}

/// The work of a caller counts although it has no other task meanwhile: it gains nothing by short
/// tasks, one after the other.
#[test]
fn short_tasks_count_too() {
    let mut machine = Machine::new(1);
    machine.come(caller(1), 1_000_000 * MS);
    machine.run_for(SLICE_UNITS);
    let mut short = machine.come(caller(2), 5 * MS);
    for _ in 0..1_000 * MS / STEP {
        machine.step();
        if machine.tasks[short].took.is_some() {
            short = machine.come(caller(2), 5 * MS);
        }
    }
    let (long, short) = (machine.work_of(caller(1)), machine.work_of(caller(2)));
    assert!(long > 450 * MS && short > 400 * MS, "{} {}", long / MS, short / MS);
}

/// New callers without end keep nobody from its turn for ever.
#[test]
fn a_flood_of_new_callers_starves_nobody() {
    let mut machine = Machine::new(1);
    machine.come(caller(0), 100 * MS);
    machine.run_for(50 * MS);
    let mut next = 1;
    while machine.tasks[0].took.is_none() {
        machine.come(caller(next), MS);
        next += 1;
        machine.run_for(MS);
        assert!(next < 10_000, "{} left", machine.tasks[0].left);
    }
}

/// As many tasks have begun as may. Those that wait for their first turn begin when others end.
#[test]
fn tasks_that_have_begun_are_bounded() {
    let mut machine = Machine::new(2);
    for number in 0..100 {
        machine.come(caller(number), 1_000 * MS);
        machine.come(caller(number), 1_000 * MS);
    }
    machine.run_for(1_000 * MS);
    let (paused, queued) = (FIRST_TASKS_MAX + 2, 200 - FIRST_TASKS_MAX - 4);
    assert_eq!(machine.queue.counts(), TaskCounts { running: 2, paused, queued });
    machine.run_for(30_000 * MS);
    assert!(machine.queue.counts().queued < queued, "others begin when those end");
}

/// A caller begins no more tasks than there are turns, so that it leaves room for others.
#[test]
fn a_caller_begins_as_many_tasks_as_there_are_turns() {
    let mut machine = Machine::new(2);
    for _ in 0..100 {
        machine.come(caller(1), 1_000 * MS);
    }
    for number in 2..10 {
        machine.come(caller(number), 1_000 * MS);
    }
    machine.run_for(200 * MS);
    let began = |of: Caller| {
        machine.tasks.iter().filter(|task| task.caller == of && task.waited.is_some()).count()
    };
    assert_eq!(began(caller(1)), 2);
    assert!((2..10).all(|number| began(caller(number)) == 1));
}

/// A task that leaves frees its place, whatever it does.
#[test]
fn tasks_leave() {
    let mut queue = Queue::new(1);
    let [one, two] = [1, 2].map(caller);
    let (a, b, c) = (queue.enter(one, 'a'), queue.enter(two, 'b'), queue.enter(two, 'c'));
    assert_eq!((queue.grant(), queue.grant()), (Some('a'), None));
    assert!(queue.report(one, SLICE_UNITS), "another waits");
    queue.pause(one, a, 'a');
    assert_eq!(queue.counts(), TaskCounts { running: 0, paused: 1, queued: 2 });
    queue.leave(two, b);
    assert_eq!(queue.grant(), Some('c'));
    queue.leave(two, c);
    assert_eq!(queue.counts().running, 1, "one that has a turn keeps it");
    queue.leave(one, a);
    queue.end(two, c);
    queue.end(two, c);
    assert_eq!(queue.counts(), TaskCounts::default());
    assert!(!queue.report(one, 1), "the last report of a task that has left");
    assert_eq!(queue.grant(), None);
}

/// Callers that have gone are forgotten.
#[test]
fn accounts_are_bounded() {
    let mut queue = Queue::new(1);
    for number in 0..100_000 {
        let ticket = queue.enter(caller(number), ());
        assert_eq!(queue.grant(), Some(()));
        queue.report(caller(number), u64::from(number % 7) * MS);
        queue.end(caller(number), ticket);
    }
    assert!(queue.accounts.len() <= 4 * SWEPT_ACCOUNTS, "{}", queue.accounts.len());
}

proptest! {
    /// No turn is idle while a task waits ([`Machine::grant`]), and every task ends.
    #[test]
    fn every_task_ends(
        turns in 1_usize..5,
        tasks in proptest::collection::vec((0_u32..40, 1_u64..60, 0_u64..20), 1..120),
    ) {
        let mut machine = Machine::new(turns);
        for (number, work, pause) in tasks {
            machine.come(caller(number), work * MS);
            machine.run_for(pause * MS);
        }
        machine.run_for(120 * 60 * MS);
        prop_assert!(machine.tasks.iter().all(|task| task.took.is_some()));
        prop_assert_eq!(machine.queue.counts(), TaskCounts::default());
    }
}
