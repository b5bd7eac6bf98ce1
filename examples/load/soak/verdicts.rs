//! The verdicts on a run: the conditions that a long-running server must fulfil.
//!
//! For memory and latencies, the beginning is left out, since caches are filling. Memory is judged
//! by its Theil–Sen slope, which is the median of the slopes between all pairs of moments. Two
//! generations are open during a swap, and do not change this slope. Latencies are judged by their
//! percentiles over the first and the last third of the remaining time. Each percentile is divided
//! by that of the floor, because other work on the machine, at least the builds of the next
//! generations, slows both. A third is long enough for a p99 of rare kinds of requests. In a single
//! moment, the p99 would be the slowest answer.

use std::collections::BTreeMap;

use super::{Moment, Run};
use crate::drive::{median, percentile_ms};

/// The minimum length of a run for verdicts on memory and latencies, in seconds.
const JUDGED_SECONDS: f64 = 600.0;

/// The share of the moments that is left out at the beginning.
const BEGINNING: f64 = 0.25;

/// The maximum growth of memory over the judged time, in MiB or as a share of the memory. Runs
/// without a leak had between −6 and +3 MiB.
const GROWTH_MIB: f64 = 6.0;
const GROWTH_SHARE: f64 = 0.1;

/// The maximum ratio of the last third's latency to the first third's, each divided by the floor's.
const P50_RATIO_MAX: f64 = 1.5;
const P99_RATIO_MAX: f64 = 2.0;

/// A condition, and whether it is fulfilled.
pub(super) struct Verdict {
    /// A sentence with the figures.
    pub(super) found: String,
    pub(super) holds: bool,
}

/// All verdicts over a run. A short run has none on memory and latencies.
pub(super) fn of(run: &Run) -> Vec<Verdict> {
    let mut verdicts = vec![statuses(run), unanswered(run), generations(run), ended(run)];
    if run.moments.last().is_none_or(|moment| moment.seconds < JUDGED_SECONDS) {
        return verdicts;
    }
    let beginning = (run.moments.len() as f64 * BEGINNING) as usize;
    let moments = &run.moments[beginning..];
    verdicts.push(memory(moments));
    for (stream, (name, _)) in run.streams.iter().enumerate() {
        verdicts.push(latency(moments, stream, name, 50, P50_RATIO_MAX));
        verdicts.push(latency(moments, stream, name, 99, P99_RATIO_MAX));
    }
    verdicts
}

fn statuses(run: &Run) -> Verdict {
    let mut wrong = Vec::new();
    let mut answers = 0;
    for (stream, (name, expected)) in run.streams.iter().enumerate() {
        for (status, count) in totals(run, stream) {
            answers += count;
            if status != *expected {
                wrong.push(format!("{count} × {status} to \"{name}\" instead of {expected}"));
            }
        }
    }
    let other = if wrong.is_empty() { "none" } else { &wrong.join(", ") };
    Verdict {
        found: format!("{answers} answers; with a wrong status: {other}"),
        holds: wrong.is_empty() && answers > 0,
    }
}

/// The number of answers of a stream by status.
pub(super) fn totals(run: &Run, stream: usize) -> impl Iterator<Item = (u16, usize)> {
    let mut totals = BTreeMap::<u16, usize>::new();
    for (status, count) in run.moments.iter().flat_map(|moment| &moment.answers[stream].statuses) {
        *totals.entry(*status).or_default() += count;
    }
    totals.into_iter()
}

fn unanswered(run: &Run) -> Verdict {
    let all = run.moments.iter().flat_map(|moment| moment.answers.iter().chain([&moment.floor]));
    let failures: Vec<_> = all.flat_map(|answers| &answers.failures).collect();
    let first =
        failures.first().map_or_else(String::new, |reason| format!(", the first: {reason}"));
    Verdict {
        found: format!("{} requests without an answer{first}", failures.len()),
        holds: failures.is_empty(),
    }
}

fn generations(run: &Run) -> Verdict {
    let (published, reloaded) = (run.published.len(), run.log.reloaded);
    Verdict {
        found: format!("{reloaded} of {published} new generations were reloaded"),
        holds: reloaded == published,
    }
}

fn ended(run: &Run) -> Verdict {
    let faults = &run.log.faults;
    let first = faults.first().map_or_else(String::new, |line| format!(", the first: {line}"));
    let end = if run.ended_well { "ended well" } else { "did not end with code 0" };
    Verdict {
        found: format!("the server {end}; its log has {} warnings or errors{first}", faults.len()),
        holds: run.ended_well && faults.is_empty(),
    }
}

fn memory(moments: &[Moment]) -> Verdict {
    let anonymous: Vec<_> =
        moments.iter().map(|moment| (moment.seconds, mib(moment.memory.anonymous))).collect();
    let (Some(slope), Some(level)) =
        (slope(&anonymous), median(anonymous.iter().map(|(_, mib)| *mib)))
    else {
        return Verdict { found: "too short to judge memory".to_owned(), holds: false };
    };
    let seconds = moments[moments.len() - 1].seconds - moments[0].seconds;
    let growth = slope * seconds;
    let most = GROWTH_MIB.max(GROWTH_SHARE * level);
    Verdict {
        found: format!(
            "anonymous memory {level:.1} MiB, slope {:+.2} MiB an hour: {growth:+.2} MiB in {:.1} \
             minutes, at most {most:.0} allowed",
            slope * 3600.0,
            seconds / 60.0
        ),
        holds: growth <= most,
    }
}

fn latency(moments: &[Moment], stream: usize, name: &str, percent: usize, most: f64) -> Verdict {
    let third = moments.len() / 3;
    let of = |moments: &[Moment]| {
        percentile_ms(moments.iter().flat_map(|moment| &moment.answers[stream].latencies), percent)
    };
    let floor = |moments: &[Moment]| {
        percentile_ms(moments.iter().flat_map(|moment| &moment.floor.latencies), percent)
    };
    let thirds = [&moments[..third], &moments[moments.len() - third..]];
    let ([Some(first), Some(last)], [Some(floor_first), Some(floor_last)]) =
        (thirds.map(of), thirds.map(floor))
    else {
        let found = format!("p{percent} of \"{name}\": a third without answers");
        return Verdict { found, holds: false };
    };
    let ratio = (last / floor_last) / (first / floor_first);
    Verdict {
        found: format!(
            "p{percent} of \"{name}\": {first:.2} ms, then {last:.2} ms; the floor's \
             {floor_first:.2}, then {floor_last:.2}; ratio {ratio:.2}, at most {most} allowed"
        ),
        holds: ratio <= most,
    }
}

/// The median of the slopes between all pairs of points.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let pairs = points.iter().enumerate().flat_map(|(place, one)| {
        points[place + 1..].iter().map(move |other| (other.1 - one.1) / (other.0 - one.0))
    });
    median(pairs)
}

/// Bytes in MiB.
pub(super) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
