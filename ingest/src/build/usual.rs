//! Warnings of differences that are several times those of earlier builds. They may be within the
//! limits of the guard: a dump may have a fault in a tenth of its rows.

use std::path::Path;

use figdex_index::{BuildRecord, BuildResult, Differences, chain};

use crate::report::comparison::Comparison;

/// The fewest earlier builds from which a usual share is determined.
const BUILDS_MIN: usize = 3;

/// The factor by which a share must exceed the usual one.
const TIMES: f64 = 5.0;

/// A share up to this is never unusual, in per cent.
const SHARE_MIN: f64 = 0.5;

/// The warnings, a sentence each.
pub(super) fn unusual(index: &Path, comparison: &Comparison) -> Vec<String> {
    match BuildRecord::all(index) {
        Ok(records) => compared(&records, comparison),
        Err(error) => {
            let why = chain(&error);
            vec![format!("the differences are not compared with those of earlier builds: {why}")]
        }
    }
}

fn compared(records: &[BuildRecord], comparison: &Comparison) -> Vec<String> {
    let published = records.iter().filter(|one| one.result == BuildResult::Published);
    let earlier = published.filter_map(|one| one.differences);
    // Builds with an unchanged dump do not count: many dumps change only once a week.
    let earlier: Vec<Differences> =
        earlier.filter(|one| one.removed + one.expired + one.changed > 0).collect();
    if earlier.len() < BUILDS_MIN {
        return Vec::new();
    }
    let percent = |count: u64, all: u64| count as f64 * 100.0 / all.max(1) as f64;
    let warning = |what: &str, count: u64, of: fn(&Differences) -> u64| {
        let mut shares: Vec<f64> =
            earlier.iter().map(|one| percent(of(one), one.instruments)).collect();
        shares.sort_unstable_by(f64::total_cmp);
        let usual = shares[shares.len() / 2];
        let share = percent(count, comparison.instruments);
        (share > SHARE_MIN && share > usual * TIMES).then(|| {
            format!(
                "{share:.2} % of the published instruments are {what}; in the last {} builds that \
                 differed it was {usual:.2} % (median)",
                earlier.len()
            )
        })
    };
    let removed = warning("removed", comparison.removed, |one| one.removed);
    let changed = warning("changed", comparison.changed, |one| one.changed);
    removed.into_iter().chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share is unusual when it is several times the median of the builds that published.
    #[test]
    fn several_times_the_median_is_unusual() {
        let record = |changed, result| BuildRecord {
            result,
            differences: Some(Differences {
                instruments: 1_000,
                changed,
                ..Differences::default()
            }),
            ..BuildRecord::default()
        };
        let now = |changed| Comparison { instruments: 1_000, changed, ..Comparison::default() };
        let nights = |changed: &[u64]| -> Vec<BuildRecord> {
            changed.iter().map(|&changed| record(changed, BuildResult::Published)).collect()
        };
        let warned = |records: &[BuildRecord], changed| compared(records, &now(changed));
        let usual = nights(&[10, 12, 300]);
        assert_eq!(
            warned(&usual, 110),
            ["11.00 % of the published instruments are changed; in the last 3 builds that \
                 differed it was 1.20 % (median)"]
        );
        assert_eq!(warned(&usual, 60), [""; 0]);
        assert_eq!(warned(&nights(&[10, 12]), 900), [""; 0], "two nights show nothing");
        assert_eq!(warned(&nights(&[1, 1, 1]), 5), [""; 0], "half a per cent is never unusual");
        assert_eq!(warned(&nights(&[1, 1, 1]), 6).len(), 1);
        assert_eq!(warned(&nights(&[0, 0, 0]), 6), [""; 0], "equal nights show nothing");
        let refused: Vec<_> = (0..5).map(|_| record(900, BuildResult::Refused)).collect();
        assert_eq!(warned(&[refused, usual].concat(), 110).len(), 1);
    }
}
