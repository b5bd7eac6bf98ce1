//! The room of the next request: its largest number of identifiers.
//!
//! Three things that the server decides limit it: the number of identifiers that it accepts, which
//! it states or implies by a 413; the rows that fit into an answer; and the rest of a window of the
//! rate limit. It is never more than [`JOBS_MAX`], nor [`JOBS_FIRST`] before the first answer.

use super::headers::{Stated, StatedWindow};

/// The most identifiers of a request until the server has answered one.
const JOBS_FIRST: usize = 100;

/// The most identifiers of a request. More would not be faster.
const JOBS_MAX: usize = 1_000;

/// The number of identifiers that the next request may have.
pub(super) struct Room {
    /// The number that the server accepts. It only becomes smaller.
    ceiling: usize,
    /// The number whose rows fitted into one answer, or up to twice as many.
    by_rows: usize,
    /// The number that the rest of the rate limit's window allows. If nothing is left, the number
    /// that a whole window allows.
    by_window: usize,
    /// The number that counts as one request, until the server states its own.
    counted_as_one: usize,
}

impl Room {
    /// The room for a first request to a server that counts this many identifiers as one request.
    pub(super) fn new(counted_as_one: usize) -> Self {
        Self { ceiling: JOBS_MAX, by_rows: JOBS_MAX, by_window: JOBS_FIRST, counted_as_one }
    }

    /// The most identifiers of the next request: at least one.
    pub(super) fn jobs(&self) -> usize {
        self.ceiling.min(self.by_rows).min(self.by_window).max(1)
    }

    /// Takes the figures of an answer.
    pub(super) fn take(&mut self, stated: &Stated) {
        self.ceiling = self.ceiling.min(stated.jobs_per_list.unwrap_or(JOBS_MAX));
        self.counted_as_one = stated.jobs_per_request.unwrap_or(self.counted_as_one);
        self.by_window =
            stated.window.map_or(JOBS_MAX, |StatedWindow { limit, remaining, .. }| {
                let requests = if remaining > 0 { remaining } else { limit };
                (requests as usize).saturating_mul(self.counted_as_one)
            });
    }

    /// Records that the server refused a request with `jobs` identifiers as too large. `stated` is
    /// the number that the server says it accepts. If there is no such number, or it cannot be
    /// true, the next request has half as many identifiers. Returns `false` if the server does not
    /// accept even one.
    pub(super) fn refused(&mut self, jobs: usize, stated: Option<usize>) -> bool {
        self.ceiling = stated.filter(|stated| (1..jobs).contains(stated)).unwrap_or(jobs / 2);
        self.ceiling > 0
    }

    /// Records that one answer had room for the rows of `answered` identifiers out of `jobs`.
    pub(super) fn answered(&mut self, answered: usize, jobs: usize) {
        if answered < jobs {
            self.by_rows = answered.max(1);
        } else if jobs >= self.by_rows {
            self.by_rows = self.by_rows.saturating_mul(2).min(JOBS_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bound that a 413 taught is kept, whatever later answers state.
    #[test]
    fn a_ceiling_is_kept() {
        let mut room = Room::new(10);
        assert_eq!(room.jobs(), 100);
        assert!(room.refused(100, Some(60)));
        room.take(&Stated::default());
        assert_eq!(room.jobs(), 60);
        assert!(room.refused(60, Some(60)));
        assert_eq!(room.jobs(), 30);
        room.take(&Stated { jobs_per_list: Some(500), ..Stated::default() });
        assert_eq!(room.jobs(), 30);
        // A number that cannot be true.
        for (jobs, stated) in [(30, 0), (30, 30), (30, usize::MAX)] {
            assert!(room.refused(jobs, Some(stated)));
            assert_eq!(room.jobs(), 15);
        }
        assert!(!room.refused(1, None));
        assert!(!room.refused(1, Some(1)));
    }

    /// The figures that a server states count, and those of the contract until it does.
    #[test]
    fn a_server_states_its_bounds() {
        let window = |remaining| Some(StatedWindow { limit: 7, remaining, reset_seconds: 1 });
        let mut room = Room::new(10);
        room.take(&Stated { window: window(3), ..Stated::default() });
        assert_eq!(room.jobs(), 30);
        room.take(&Stated { window: window(3), jobs_per_request: Some(5), ..Stated::default() });
        assert_eq!(room.jobs(), 15);
        room.take(&Stated { window: window(0), ..Stated::default() });
        assert_eq!(room.jobs(), 35);
        room.take(&Stated { jobs_per_list: Some(20), ..Stated::default() });
        assert_eq!(room.jobs(), 20);
        room.take(&Stated { jobs_per_list: Some(0), ..Stated::default() });
        assert_eq!(room.jobs(), 1);
    }

    /// After rows that did not fit, requests grow again.
    #[test]
    fn requests_grow_again() {
        let mut room = Room::new(10);
        room.take(&Stated::default());
        room.answered(13, 1_000);
        assert_eq!(room.jobs(), 13);
        // A short one at the end of a group says nothing.
        room.answered(5, 5);
        assert_eq!(room.jobs(), 13);
        room.answered(13, 13);
        assert_eq!(room.jobs(), 26);
        room.answered(0, 26);
        assert_eq!(room.jobs(), 1);
    }
}
