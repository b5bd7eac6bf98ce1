//! A meter for the work of one answer. Every loop over rows, terms or lists charges it, so
//! that an answer takes no more work than its caller allows, and stops soon after its caller
//! has gone (engine 8).
//!
//! A unit is about ten nanoseconds of a release build whose index is in memory. A list of
//! known length is charged before it is read.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most units of an answer that is computed on a thread which serves all connections:
/// a quarter of a millisecond.
pub const INLINE_UNITS_MAX: u64 = 25_600;

/// The units between two checks of the stop flag: about two thirds of a millisecond.
const SLICE_UNITS: u64 = 1 << 16;

/// The items of a list that are charged together.
const CHARGED_ITEMS: usize = 64;

/// The answer takes more work than its meter allows, or its caller has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer takes more work than is allowed")]
pub struct TakesMore;

/// A flag that ends the work on an answer whose caller has gone.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the work at its next check of the flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work should end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A count of the work that one answer may still take, in units.
#[derive(Debug)]
pub struct Meter {
    units_max: u64,
    /// The units that may be charged before the flag is checked again.
    unchecked: Cell<u64>,
    /// The units left after those.
    reserve: Cell<u64>,
    is_over: Cell<bool>,
    /// Whether [`Meter::within`] was asked for more units than the whole had left.
    is_short: bool,
    stop: Option<Stop>,
}

impl Meter {
    /// A meter that allows `units_max` units.
    pub fn of(units_max: u64) -> Self {
        Self::new(units_max, None)
    }

    /// A meter of [`INLINE_UNITS_MAX`] units.
    pub fn inline() -> Self {
        Self::of(INLINE_UNITS_MAX)
    }

    /// A meter that allows any work.
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// A meter that allows any work until the flag is set.
    pub fn until(stop: Stop) -> Self {
        Self::new(u64::MAX, Some(stop))
    }

    fn new(units_max: u64, stop: Option<Stop>) -> Self {
        Self {
            units_max,
            unchecked: Cell::new(0),
            reserve: Cell::new(units_max),
            is_over: Cell::new(false),
            is_short: false,
            stop,
        }
    }

    /// A meter for a piece of the work, which may take at most `units_max` units. When the
    /// piece is done, [`Meter::absorb`] charges its work.
    pub(crate) fn within(&self, units_max: u64) -> Self {
        let piece = Self::new(units_max.min(self.left()), self.stop.clone());
        Self { is_short: units_max > piece.units_max, ..piece }
    }

    /// Charges the work of a meter that was made with [`Meter::within`].
    ///
    /// # Errors
    /// As [`Meter::charge`], and when the piece ended because the whole had too few units
    /// left, rather than because it reached its bound.
    pub(crate) fn absorb(&self, piece: &Self) -> Result<(), TakesMore> {
        self.charge(piece.spent())?;
        if piece.is_over.get() && piece.is_short { self.end() } else { self.check() }
    }

    /// Charges work that is about to be done.
    ///
    /// # Errors
    /// [`TakesMore`] when fewer units are left, or the stop flag is set; from then on
    /// every charge is refused.
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
        self.check()?;
        let Some(rest) = self.left().checked_sub(units) else { return self.end() };
        let unchecked = rest.min(SLICE_UNITS);
        self.unchecked.set(unchecked);
        self.reserve.set(rest - unchecked);
        Ok(())
    }

    /// Refuses work that needs more units than are left, before it begins. It charges
    /// nothing.
    ///
    /// # Errors
    /// As [`Meter::charge`].
    #[inline]
    pub fn require(&self, units: u64) -> Result<(), TakesMore> {
        if units > self.left() { self.end() } else { Ok(()) }
    }

    /// Checks that no charge was refused, for code that could not see each result.
    ///
    /// # Errors
    /// As [`Meter::charge`].
    pub fn check(&self) -> Result<(), TakesMore> {
        if self.is_over.get() || self.stop.as_ref().is_some_and(Stop::is_set) {
            return self.end();
        }
        Ok(())
    }

    /// The units charged so far.
    pub fn spent(&self) -> u64 {
        self.units_max - self.left()
    }

    /// The units that may still be charged.
    pub(crate) fn left(&self) -> u64 {
        self.reserve.get() + self.unchecked.get()
    }

    /// The items of a list, each charged with `units` units. The iterator ends early when a
    /// charge is refused: ask [`Meter::check`] afterwards.
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

/// The items of a list, as far as its meter allows.
pub(crate) struct Metered<'a, I> {
    meter: &'a Meter,
    items: I,
    units: u64,
    /// The items that were charged and not returned yet.
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

    #[test]
    fn a_set_flag_ends_work_within_a_slice() {
        let stop = Stop::default();
        let meter = Meter::until(stop.clone());
        assert_eq!(meter.charge(1), Ok(()));
        stop.set();
        assert_eq!(meter.check(), Err(TakesMore));
        let meter = Meter::until(Stop::default());
        meter.stop.as_ref().unwrap().set();
        assert!(meter.each(0..10 * SLICE_UNITS as usize, 1).count() == 0);
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
