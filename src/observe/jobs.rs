//! Counts of the results of identifiers. They show an operator that a new index has lost data.
//!
//! The labels are idTypes, results and statuses, never values. The counts are plain numbers in
//! fixed arrays, so counting takes no lock and no memory.

use std::sync::atomic::{AtomicU64, Ordering};

use figdex_index::{IdType, Status};

/// The result of a mapping job, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Found,
    NotFound,
    /// The answer to the job is an error.
    Invalid,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Found, Self::NotFound, Self::Invalid];

    const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
        }
    }
}

/// A count for each result.
type OutcomeCounts<T> = [T; Outcome::ALL.len()];

/// The number of answered mapping jobs, by idType and result.
#[derive(Debug, Default)]
pub(crate) struct MappingJobs {
    known: [OutcomeCounts<AtomicU64>; IdType::ALL.len()],
    /// Counts of jobs without an idType that exists in their version.
    other: OutcomeCounts<AtomicU64>,
}

impl MappingJobs {
    /// Begins to count the jobs of one request.
    pub(crate) fn tally(&self) -> JobTally<'_> {
        JobTally { all: self, id_type: None, counts: OutcomeCounts::default() }
    }

    /// The idTypes of the counted jobs, each with its results and their counts. Jobs without a
    /// valid idType count as `other`.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let names = IdType::ALL.into_iter().map(IdType::name).chain(["other"]);
        let counts = self.known.iter().chain([&self.other]);
        let counts = counts.map(|counts| counts.each_ref().map(|c| c.load(Ordering::Relaxed)));
        let asked = names.zip(counts).filter(|(_, counts)| counts.iter().any(|count| *count > 0));
        asked.flat_map(|(name, counts)| {
            let each = Outcome::ALL.into_iter().zip(counts);
            each.map(move |(outcome, count)| (name, outcome.name(), count))
        })
    }
}

/// The jobs of one request. Consecutive jobs of one idType are counted together, since threads that
/// count at the same time slow each other down. The drop counts the last jobs.
pub(crate) struct JobTally<'a> {
    all: &'a MappingJobs,
    id_type: Option<IdType>,
    counts: OutcomeCounts<u64>,
}

impl JobTally<'_> {
    /// Counts a job. `id_type` is `None` if the job has no idType that exists.
    #[inline]
    pub(crate) fn add(&mut self, id_type: Option<IdType>, outcome: Outcome) {
        if id_type != self.id_type {
            self.flush();
            self.id_type = id_type;
        }
        self.counts[outcome as usize] += 1;
    }

    fn flush(&mut self) {
        let counters = match self.id_type {
            Some(id_type) => &self.all.known[id_type as usize],
            None => &self.all.other,
        };
        add(counters, std::mem::take(&mut self.counts));
    }
}

impl Drop for JobTally<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The names of the statuses of a list's jobs, each at its place in [`ListJobs`].
const STATUSES: [&str; 8] = [
    "resolved",
    "ambiguous",
    "unknown",
    "invalid",
    "historical",
    "gone",
    "uncertain",
    "outOfCoverage",
];

/// The number of answered jobs of lists, by status.
#[derive(Debug, Default)]
pub(crate) struct ListJobs([AtomicU64; STATUSES.len()]);

impl ListJobs {
    /// Counts the jobs of one list.
    pub(crate) fn count<'a>(&self, statuses: impl Iterator<Item = &'a Status>) {
        let mut counts = [0; STATUSES.len()];
        for status in statuses {
            let place = match status {
                Status::Resolved(_) => 0,
                Status::Ambiguous(_) => 1,
                Status::Unknown => 2,
                Status::Invalid(_) => 3,
                Status::Historical => 4,
                Status::Gone => 5,
                Status::Uncertain => 6,
                Status::OutOfCoverage(_) => 7,
            };
            debug_assert_eq!(STATUSES[place], status.name());
            counts[place] += 1;
        }
        add(&self.0, counts);
    }

    /// Each status with its count.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        STATUSES.into_iter().zip(self.0.iter().map(|count| count.load(Ordering::Relaxed)))
    }
}

fn add<const N: usize>(counters: &[AtomicU64; N], counts: [u64; N]) {
    for (counter, count) in counters.iter().zip(counts) {
        if count > 0 {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each job is counted once, in whatever order the idTypes come.
    #[test]
    fn every_job_is_counted_once() {
        let jobs = MappingJobs::default();
        let (isin, trace) = (Some(IdType::Isin), Some(IdType::Trace));
        for _ in 0..2 {
            let mut tally = jobs.tally();
            for (id_type, outcome) in [
                (isin, Outcome::Found),
                (isin, Outcome::NotFound),
                (isin, Outcome::Found),
                (None, Outcome::Invalid),
                (trace, Outcome::NotFound),
                (isin, Outcome::Invalid),
            ] {
                tally.add(id_type, outcome);
            }
        }
        let counts: Vec<_> = jobs.counts().filter(|(_, _, count)| *count > 0).collect();
        let expected = [
            ("ID_ISIN", "found", 4),
            ("ID_ISIN", "not_found", 2),
            ("ID_ISIN", "invalid", 2),
            ("ID_TRACE", "not_found", 2),
            ("other", "invalid", 2),
        ];
        assert_eq!(counts, expected);
        assert_eq!(jobs.counts().count(), 9, "only the idTypes that were asked for");
        for (place, id_type) in IdType::ALL.into_iter().enumerate() {
            assert_eq!(id_type as usize, place, "its place among the counts");
        }
    }
}
