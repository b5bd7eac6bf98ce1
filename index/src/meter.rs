//! A meter for the work of one answer. Every loop over rows, terms or lists charges it, so
//! that an answer takes no more work than its caller allows, and stops soon after its caller
//! has gone (engine 8).
//!
//! A unit is about ten nanoseconds of a release build whose index is in memory. A list of
//! known length is charged before it is read.
//!
//! A meter also lets long work pause for other callers: the meter of a task in a [`Turn`] reports
//! the work to the turn several times per slice, and the turn may make the task wait.

use std::cell::Cell;
use std::sync::Arc;

/// The most units of an answer on a thread that serves all connections: a quarter of a millisecond.
pub const INLINE_UNITS_MAX: u64 = 25_600;

/// The most units of a slice, after which a task returns to the queue of its pool: 20 ms.
pub const SLICE_UNITS: u64 = 2_000_000;

/// The units between two reports to the turn: about two thirds of a millisecond.
const REPORT_UNITS: u64 = 1 << 16;

/// The number of list items that are charged together.
const CHARGED_ITEMS: usize = 64;

/// The answer takes more work than its meter allows, or its caller has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer takes more work than is allowed")]
pub struct TakesMore;

/// The turn of a task that does heavy work on a thread of a pool.
pub trait Turn: Send + Sync {
    /// Takes a report of finished work, in units. If the turn is needed elsewhere, this blocks
    /// until the task has a turn again.
    fn report(&self, units: u64);

    /// Whether the work should end, because its caller has gone.
    fn is_over(&self) -> bool;
}

/// A count of the work that one answer may still take, in units.
pub struct Meter {
    units_max: u64,
    /// The units that may be charged before the next report.
    unchecked: Cell<u64>,
    /// The units that are left beyond `unchecked`.
    reserve: Cell<u64>,
    /// The units that were reported to the turn.
    reported: Cell<u64>,
    is_over: Cell<bool>,
    /// Whether [`Meter::within`] was asked for more units than the whole meter had left.
    is_short: bool,
    turn: Option<Arc<dyn Turn>>,
}

impl Meter {
    /// A meter that allows `units_max` units.
    pub fn of(units_max: u64) -> Self {
        Self::new(units_max, None)
    }

    /// A meter that allows any work.
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// A meter that allows any work until its turn is over.
    pub fn in_turn(turn: Arc<dyn Turn>) -> Self {
        Self::new(u64::MAX, Some(turn))
    }

    fn new(units_max: u64, turn: Option<Arc<dyn Turn>>) -> Self {
        Self {
            units_max,
            unchecked: Cell::new(0),
            reserve: Cell::new(units_max),
            reported: Cell::new(0),
            is_over: Cell::new(false),
            is_short: false,
            turn,
        }
    }

    /// A meter for a piece of the work, which may take at most `units_max` units. When the
    /// piece is done, [`Meter::absorb`] charges its work.
    pub(crate) fn within(&self, units_max: u64) -> Self {
        let piece = Self::new(units_max.min(self.left()), self.turn.clone());
        Self { is_short: units_max > piece.units_max, ..piece }
    }

    /// Charges the work of a meter that was made with [`Meter::within`].
    ///
    /// # Errors
    /// The errors of [`Meter::charge`]. Also [`TakesMore`] when the piece was refused a charge and
    /// this meter had fewer units left than `within` was asked for.
    pub(crate) fn absorb(&self, piece: &Self) -> Result<(), TakesMore> {
        // The piece has reported this to the turn already.
        self.reported.set(self.reported.get() + piece.reported.get());
        self.charge(piece.spent())?;
        if piece.is_over.get() && piece.is_short { self.end() } else { self.check() }
    }

    /// Charges work that is about to be done.
    ///
    /// # Errors
    /// [`TakesMore`] when fewer units are left, or the turn is over. Every later charge is then
    /// refused too.
    #[inline]
    pub fn charge(&self, units: u64) -> Result<(), TakesMore> {
        match self.unchecked.get().checked_sub(units) {
            Some(rest) => {
                self.unchecked.set(rest);
                Ok(())
            }
            None => self.refill(units),
        }
    }

    #[cold]
    fn refill(&self, units: u64) -> Result<(), TakesMore> {
        if let Some(turn) = &self.turn {
            turn.report(self.unreported());
        }
        self.check()?;
        let Some(rest) = self.left().checked_sub(units) else { return self.end() };
        let unchecked = rest.min(REPORT_UNITS);
        self.unchecked.set(unchecked);
        self.reserve.set(rest - unchecked);
        Ok(())
    }

    /// Refuses, in advance, work that needs more units than are left. Charges nothing.
    ///
    /// # Errors
    /// [`TakesMore`] when fewer units are left. Every later charge is then refused too.
    #[inline]
    pub fn require(&self, units: u64) -> Result<(), TakesMore> {
        if units > self.left() { self.end() } else { Ok(()) }
    }

    /// Checks that no charge was refused, for code that cannot see the result of each charge.
    ///
    /// # Errors
    /// [`TakesMore`] when a charge was refused, or the turn is over.
    pub fn check(&self) -> Result<(), TakesMore> {
        if self.is_over.get() || self.turn.as_ref().is_some_and(|turn| turn.is_over()) {
            return self.end();
        }
        Ok(())
    }

    /// The units charged so far.
    pub fn spent(&self) -> u64 {
        self.units_max - self.left()
    }

    /// The units charged since the last report. They count as reported from now on.
    pub fn unreported(&self) -> u64 {
        let units = self.spent().saturating_sub(self.reported.get());
        self.reported.set(self.reported.get() + units);
        units
    }

    /// The units that may still be charged.
    pub(crate) fn left(&self) -> u64 {
        self.reserve.get() + self.unchecked.get()
    }

    /// The items of a list, each charged with `units` units. The iterator ends early when a charge
    /// is refused: call [`Meter::check`] afterwards.
    pub(crate) fn each<I: ExactSizeIterator>(&self, items: I, units: u64) -> Metered<'_, I> {
        Metered { meter: self, items, units, paid: 0 }
    }

    fn end(&self) -> Result<(), TakesMore> {
        self.is_over.set(true);
        self.reserve.set(self.left());
        self.unchecked.set(0);
        Err(TakesMore)
    }
}

/// The items of a list, until the meter refuses a charge.
pub(crate) struct Metered<'a, I> {
    meter: &'a Meter,
    items: I,
    units: u64,
    /// The number of items that were charged and not yet returned.
    paid: usize,
}

impl<I: ExactSizeIterator> Iterator for Metered<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if self.paid == 0 {
            self.paid = self.items.len().min(CHARGED_ITEMS);
            self.meter.charge(self.paid as u64 * self.units).ok()?;
        }
        self.paid = self.paid.saturating_sub(1);
        self.items.next()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::*;

    #[test]
    fn no_more_is_charged_than_it_allows() {
        let meter = Meter::of(100);
        assert_eq!(meter.charge(60), Ok(()));
        assert_eq!((meter.spent(), meter.left()), (60, 40));
        assert_eq!(meter.require(40), Ok(()));
        assert_eq!(meter.charge(41), Err(TakesMore));
        assert_eq!((meter.charge(1), meter.check()), (Err(TakesMore), Err(TakesMore)));
        assert_eq!(meter.spent(), 60);
    }

    #[test]
    fn work_that_needs_more_is_refused_before_it_begins() {
        let meter = Meter::of(100);
        assert_eq!(meter.require(101), Err(TakesMore));
        assert_eq!((meter.spent(), meter.check()), (0, Err(TakesMore)));
    }

    /// A turn that takes each report at once.
    #[derive(Default)]
    struct Reports {
        units: AtomicU64,
        is_over: AtomicBool,
    }

    impl Turn for Reports {
        fn report(&self, units: u64) {
            self.units.fetch_add(units, Ordering::Relaxed);
        }

        fn is_over(&self) -> bool {
            self.is_over.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn work_ends_soon_after_its_turn() {
        let turn = Arc::new(Reports::default());
        let meter = Meter::in_turn(turn.clone());
        assert_eq!(meter.charge(1), Ok(()));
        turn.is_over.store(true, Ordering::Relaxed);
        assert_eq!(meter.check(), Err(TakesMore));
        let meter = Meter::in_turn(turn);
        assert!(meter.each(0..10 * REPORT_UNITS as usize, 1).count() == 0);
    }

    /// All work is reported once, that of pieces too, and often enough for a slice.
    #[test]
    fn work_is_reported_to_the_turn() {
        let turn = Arc::new(Reports::default());
        let reported = || turn.units.load(Ordering::Relaxed);
        let meter = Meter::in_turn(turn.clone());
        for charged in 0..1_000_000 {
            assert!(charged - reported() <= REPORT_UNITS + 1);
            assert_eq!(meter.charge(1), Ok(()));
        }
        let piece = meter.within(500_000);
        while piece.charge(7).is_ok() {}
        assert!(reported() >= 1_000_000, "a piece reports its work");
        assert_eq!(meter.absorb(&piece), Ok(()));
        assert_eq!(meter.charge(10 * SLICE_UNITS), Ok(()));
        let rest = meter.unreported();
        assert_eq!(reported() + rest, meter.spent());
        assert_eq!(meter.unreported(), 0);
    }

    #[test]
    fn a_piece_takes_no_more_than_the_whole_has() {
        let whole = Meter::of(100);
        let piece = whole.within(1_000);
        assert_eq!(piece.charge(70), Ok(()));
        assert_eq!(whole.absorb(&piece), Ok(()));
        assert_eq!(whole.spent(), 70);
        let piece = whole.within(10);
        assert_eq!(piece.each(0..100, 3).count(), 0);
        assert_eq!((piece.check(), whole.absorb(&piece)), (Err(TakesMore), Ok(())));
        let cut_short = whole.within(1_000);
        assert_eq!(cut_short.charge(31), Err(TakesMore));
        assert_eq!(whole.absorb(&cut_short), Err(TakesMore));
    }

    #[test]
    fn items_are_charged_as_they_are_read() {
        let meter = Meter::of(200);
        assert_eq!(meter.each(0..70, 2).take(3).count(), 3);
        assert_eq!(meter.spent(), 2 * CHARGED_ITEMS as u64);
        assert_eq!(meter.each(0..1_000, 2).count(), 0);
        assert_eq!(meter.check(), Err(TakesMore));
    }
}
