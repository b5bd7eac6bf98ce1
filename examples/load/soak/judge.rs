//! What must hold of a server that has run for long, and whether it did.
//!
//! The beginning is left out: caches fill, and the first generations come. Memory is judged
//! by the slope of the Theil–Sen line through it, the median of the slopes between all pairs
//! of moments, which the two generations that are open during a swap do not move. Latencies
//! are judged by the percentiles over all answers of the first and of the last third, each
//! for 1 of the floor's in the same third: the machine does other work too, builds of the
//! next generation at least, and what it does to both is not the server's. A kind with few
//! requests has too few answers in one moment for a p99: it would be their worst.

use std::collections::BTreeMap;

use super::traffic::percentile_ms;
use super::{Moment, Run};

/// Seconds from which on memory and latencies are judged: a shorter run tells whether all
/// of it still works.
const JUDGED_SECONDS: f64 = 600.0;

/// The share of the moments that is left out.
const BEGINNING: f64 = 0.25;

/// What memory may grow by over the time that is judged, in MiB, or as a share of what it
/// is. Runs without a leak came to between −6 and +3.
const GROWTH_MIB: f64 = 6.0;
const GROWTH_SHARE: f64 = 0.1;

/// What the last third's latency may be for each 1 of the first third's, of which each is a
/// multiple of the floor's.
const P50_RATIO_MAX: f64 = 1.5;
const P99_RATIO_MAX: f64 = 2.0;

/// Something that must hold.
pub(super) struct Verdict {
    /// What was found, in a sentence.
    pub(super) found: String,
    pub(super) holds: bool,
}

/// All verdicts over a run.
pub(super) fn judge(run: &Run) -> Vec<Verdict> {
    let mut verdicts = vec![statuses(run), connections(run), generations(run), ended(run)];
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
                wrong.push(format!("{count} × {status} to \"{name}\", which is {expected}"));
            }
        }
    }
    let other = if wrong.is_empty() { "none" } else { &wrong.join(", ") };
    Verdict {
        found: format!("{answers} answers; with another status than they should have: {other}"),
        holds: wrong.is_empty() && answers > 0,
    }
}

/// How many answers of a stream had which status.
pub(super) fn totals(run: &Run, stream: usize) -> impl Iterator<Item = (u16, usize)> {
    let mut totals = BTreeMap::<u16, usize>::new();
    for (status, count) in run.moments.iter().flat_map(|moment| &moment.seen[stream].statuses) {
        *totals.entry(*status).or_default() += count;
    }
    totals.into_iter()
}

fn connections(run: &Run) -> Verdict {
    let seen = run.moments.iter().flat_map(|moment| moment.seen.iter().chain([&moment.floor]));
    let broken: Vec<_> = seen.flat_map(|seen| &seen.broken).collect();
    let first = broken.first().map_or_else(String::new, |reason| format!(", the first: {reason}"));
    Verdict {
        found: format!("{} requests without an answer{first}", broken.len()),
        holds: broken.is_empty(),
    }
}

fn generations(run: &Run) -> Verdict {
    let (published, taken_up) = (run.published.len(), run.log.taken_up);
    Verdict {
        found: format!("{taken_up} of {published} new generations were taken up"),
        holds: taken_up == published,
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
            "own memory {level:.1} MiB, slope {:+.2} MiB an hour: {growth:+.2} MiB in {:.1} \
             minutes, where {most:.0} are the most",
            slope * 3600.0,
            seconds / 60.0
        ),
        holds: growth <= most,
    }
}

fn latency(moments: &[Moment], stream: usize, name: &str, percent: usize, most: f64) -> Verdict {
    let third = moments.len() / 3;
    let of = |moments: &[Moment]| {
        percentile_ms(moments.iter().map(|moment| &moment.seen[stream]), percent)
    };
    let floor =
        |moments: &[Moment]| percentile_ms(moments.iter().map(|moment| &moment.floor), percent);
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
             {floor_first:.2}, then {floor_last:.2}; ratio {ratio:.2}, where {most} is the most"
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

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Bytes in MiB.
pub(super) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
