//! Two or more ways, in turns.

use std::time::{Duration, Instant};

/// A way of doing something, and its name.
pub(crate) type Way<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// The median time of each way, over so many rounds; every round has a turn of each.
pub(crate) fn measure(rounds: usize, ways: &mut [Way<'_>]) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(rounds); ways.len()];
    for _ in 0..rounds {
        for ((_, way), times) in ways.iter_mut().zip(&mut times) {
            let started = Instant::now();
            way();
            times.push(started.elapsed());
        }
    }
    let medians: Vec<Duration> = times.into_iter().map(median).collect();
    for ((name, _), time) in ways.iter().zip(&medians) {
        println!("  {name:<44} {time:>12.3?}");
    }
    medians
}

/// Tells how a ratio stands to what is promised of it.
pub(crate) fn tell(promise: &str, one: Duration, other: Duration, at_least: f64) {
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    let kept = if ratio >= at_least { "kept" } else { "MISSED" };
    println!("  promise {promise}: {ratio:.3} (at least {at_least}) {kept}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
