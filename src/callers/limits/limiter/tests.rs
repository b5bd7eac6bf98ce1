//! contract 14: windows and callers.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::callers::KeyId;

const KEY: Caller = Caller::Key(KeyId::of_digest(&[7; 32]));

fn address(number: u32) -> Caller {
    Caller::at(IpAddr::V4(Ipv4Addr::from_bits(number)))
}

fn limiter(now: Instant) -> Limiter {
    Limiter::new(Rates::default(), now)
}

fn standing(limit: u32, remaining: u32, reset_seconds: u64, window_seconds: u64) -> Standing {
    Standing { limit, remaining, reset_seconds, window_seconds }
}

/// contract 14.4 to 14.8: for every line of the table that counts requests, as many pass as the
/// limit allows and the next one does not; other callers and versions are not affected, and the
/// window ends when its headers say so.
#[test]
fn each_line_of_the_table() {
    for (version, span, caller, limit, seconds) in [
        (Version::V3, Span::Mapping, address(1), 25, 60),
        (Version::V3, Span::Mapping, KEY, 25, 6),
        (Version::V3, Span::Search, address(1), 5, 60),
        (Version::V3, Span::Search, KEY, 20, 60),
        (Version::V2, Span::Mapping, address(1), 5, 60),
        (Version::V2, Span::Mapping, KEY, 250, 60),
        (Version::V2, Span::Search, address(1), 5, 60),
        (Version::V2, Span::Search, KEY, 20, 60),
        (Version::V1, Span::Mapping, address(1), 5, 60),
        (Version::V1, Span::Mapping, KEY, 250, 60),
    ] {
        let start = Instant::now();
        let limiter = limiter(start);
        for used in 1..=limit {
            let admitted = limiter.admit(caller, version, span, start);
            assert_eq!(admitted, Ok(Some(standing(limit, limit - used, seconds, seconds))));
        }
        let almost = start + Duration::from_secs(seconds) - Duration::from_millis(1);
        let refused = limiter.admit(caller, version, span, almost);
        assert_eq!(refused, Err(standing(limit, 0, 1, seconds)), "{version:?} {span:?}");
        assert!(limiter.admit(address(2), version, span, almost).is_ok());
        let other = if version == Version::V3 { Version::V2 } else { Version::V3 };
        assert!(limiter.admit(caller, other, span, almost).is_ok());
        let over = start + Duration::from_secs(seconds);
        let again = limiter.admit(caller, version, span, over);
        assert_eq!(again, Ok(Some(standing(limit, limit - 1, seconds, seconds))));
    }
}

/// contract 14.5, 14.6: mapping and values share a window; search and filter share another.
#[test]
fn mapping_and_search_of_v3_are_apart() {
    let now = Instant::now();
    let limiter = limiter(now);
    while limiter.admit(KEY, Version::V3, Span::Mapping, now).is_ok() {}
    assert!(limiter.admit(KEY, Version::V3, Span::Search, now).is_ok());
}

/// contract 14.7, 14.8, 14.10, 14.12: the total of v2 spans mapping, values and search; a search
/// that its own window refuses is not counted by the total.
#[test]
fn the_total_of_v2() {
    let start = Instant::now();
    let limiter = limiter(start);
    for _ in 0..30 {
        let _ = limiter.admit(KEY, Version::V2, Span::Search, start);
    }
    let later = start + Duration::from_secs(10);
    assert_eq!(
        limiter.admit(KEY, Version::V2, Span::Mapping, later),
        Ok(Some(standing(250, 250 - 21, 50, 60))),
        "20 of the 30 searches were counted"
    );
    // The headers report the most restrictive window: that with the fewest requests left …
    let refused = limiter.admit(KEY, Version::V2, Span::Search, later);
    assert_eq!(refused, Err(standing(20, 0, 50, 60)));
    // … and of two full windows, the one that stays full for longer.
    let address = address(1);
    for seconds in [0, 10, 10, 10, 10] {
        let now = start + Duration::from_secs(seconds);
        let span = if seconds == 0 { Span::Mapping } else { Span::Search };
        assert!(limiter.admit(address, Version::V2, span, now).is_ok());
    }
    let refused = limiter.admit(address, Version::V2, Span::Search, later);
    assert_eq!(refused, Err(standing(5, 0, 50, 60)), "the total is full, search is not");
}

/// contract 14.9, 14.11: the jobs of a request are counted all or none.
#[test]
fn jobs_a_minute() {
    let now = Instant::now();
    let limiter = limiter(now);
    let caller = address(1);
    for version in [Version::V2, Version::V1] {
        assert_eq!(limiter.charge_jobs(caller, version, 20, now), Ok(()));
        assert_eq!(limiter.charge_jobs(caller, version, 6, now), Err(standing(25, 5, 60, 60)));
        assert_eq!(limiter.charge_jobs(caller, version, 5, now), Ok(()));
        assert_eq!(limiter.charge_jobs(caller, version, 0, now), Ok(()));
        assert_eq!(limiter.charge_jobs(caller, version, 1, now), Err(standing(25, 0, 60, 60)));
    }
    for _ in 0..100 {
        assert_eq!(limiter.charge_jobs(caller, Version::V3, 100, now), Ok(()), "v3 counts none");
    }
    assert_eq!(limiter.charge_jobs(KEY, Version::V2, 25_000, now), Ok(()));
    assert_eq!(
        limiter.charge_jobs(KEY, Version::V2, u32::MAX, now),
        Err(standing(25_000, 0, 60, 60))
    );
}

/// contract 14.15: a line that is lifted limits nothing.
#[test]
fn a_line_without_a_rate_limits_nothing() {
    let now = Instant::now();
    let mut rates = Rates::default();
    rates.lines_mut().iter_mut().for_each(|line| line.without_key = None);
    let limiter = Limiter::new(rates, now);
    for _ in 0..1_000 {
        assert_eq!(limiter.admit(address(1), Version::V3, Span::Search, now), Ok(None));
    }
    assert!(limiter.admit(KEY, Version::V3, Span::Search, now).is_ok_and(|known| known.is_some()));
}

/// contract 14.2: a caller without a key is an IPv4 address or an IPv6 network of 64 bits.
#[test]
fn callers_by_address() {
    let at = |text: &str| Caller::at(text.parse().unwrap());
    assert_eq!(at("2001:db8:1:2:3:4:5:6"), at("2001:db8:1:2::"));
    assert_ne!(at("2001:db8:1:2::"), at("2001:db8:1:3::"));
    assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
    assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
}

/// contract 14.10: of a thousand requests at once exactly the limit passes.
#[test]
fn a_thousand_at_once() {
    let now = Instant::now();
    let limiter = limiter(now);
    let admitted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..125 {
                    let answer = limiter.admit(KEY, Version::V3, Span::Mapping, now);
                    admitted.fetch_add(usize::from(answer.is_ok()), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(admitted.into_inner(), 25);
}

/// contract 14.21: memory is bounded under a flood of addresses; no new caller is refused, and a
/// key's windows are kept.
#[test]
fn a_flood_of_addresses() {
    let now = Instant::now();
    let limiter = Limiter::with_capacity(Rates::default(), now, 4, 256);
    while limiter.admit(KEY, Version::V3, Span::Search, now).is_ok() {}
    for number in 0..20_000 {
        let now = now + Duration::from_millis(u64::from(number) / 10);
        assert!(limiter.admit(address(number), Version::V3, Span::Search, now).is_ok());
        let tracked: usize =
            limiter.callers.shards.iter().map(|shard| shard.lock().callers.len()).sum();
        assert!(tracked <= 4 * 256, "{tracked}");
    }
    assert!(limiter.admit(KEY, Version::V3, Span::Search, now).is_err());
    // The latest address is still known: only those that reset soonest were forgotten.
    let later = now + Duration::from_secs(2);
    let known = limiter.admit(address(19_999), Version::V3, Span::Search, later);
    assert_eq!(known.map(|known| known.map(|known| known.remaining)), Ok(Some(3)));
}

/// Windows that have ended are removed long before the bound is reached.
#[test]
fn windows_that_have_ended_are_removed() {
    let start = Instant::now();
    let limiter = Limiter::with_capacity(Rates::default(), start, 1, 1_000_000);
    for minute in 0..50 {
        let now = start + Duration::from_secs(60 * minute);
        for number in 0..100 {
            let number = 1_000 * u32::try_from(minute).unwrap() + number;
            assert!(limiter.admit(address(number), Version::V3, Span::Mapping, now).is_ok());
        }
    }
    let shard = limiter.callers.shards[0].lock();
    assert!(shard.callers.len() <= 300, "{}", shard.callers.len());
}

proptest! {
    /// contract 14.4, 14.10: in no window do more than the limit pass, and nothing is refused
    /// before that many have, whatever the times.
    #[test]
    fn never_more_and_never_less(
        limit in 1u32..6,
        seconds in 1u64..5,
        pauses in prop::collection::vec(0u64..1_500, 1..80),
    ) {
        let start = Instant::now();
        let mut rates = Rates::default();
        rates.lines_mut()[0].without_key = Some(Rate::new(limit, seconds));
        let limiter = Limiter::new(rates, start);
        let window = Duration::from_secs(seconds);
        let mut now = start;
        let mut admitted: Vec<Instant> = Vec::new();
        let mut opened = None;
        for pause in pauses {
            now += Duration::from_millis(pause);
            if opened.is_none_or(|opened| now >= opened + window) {
                // The first request of a window is always admitted, and opens it.
                opened = Some(now);
                admitted.clear();
            }
            match limiter.admit(address(1), Version::V3, Span::Mapping, now) {
                Ok(standing) => {
                    admitted.push(now);
                    prop_assert!(admitted.len() <= limit as usize);
                    let remaining = standing.map(|standing| standing.remaining as usize);
                    prop_assert_eq!(remaining, Some(limit as usize - admitted.len()));
                }
                Err(standing) => {
                    prop_assert_eq!(admitted.len(), limit as usize);
                    let wait = Duration::from_secs(standing.reset_seconds);
                    prop_assert!(now + wait >= opened.unwrap() + window, "the wait is enough");
                }
            }
        }
    }
}

/// contract 14.17: when the rates change, requests that were counted stay counted, whether their
/// rate changed or not; a window is cut to the new length, and is not made longer.
#[test]
fn rates_that_change_at_run_time() {
    let start = Instant::now();
    let first = limiter(start);
    let after = |seconds| start + Duration::from_secs(seconds);
    let map = |limiter: &Limiter, seconds| {
        limiter.admit(address(1), Version::V3, Span::Mapping, after(seconds))
    };
    let search = |limiter: &Limiter, seconds| {
        limiter.admit(address(1), Version::V3, Span::Search, after(seconds))
    };
    for _ in 0..10 {
        map(&first, 0).unwrap();
    }
    search(&first, 0).unwrap();
    let with = |mapping: Option<Rate>| {
        let mut rates = Rates::default();
        for line in rates.lines_mut().iter_mut().filter(|line| line.span == Span::Mapping) {
            line.without_key = mapping;
        }
        rates
    };
    let more = first.with_rates(with(Some(Rate::new(12, 600))), after(10));
    assert_eq!(map(&more, 10), Ok(Some(standing(12, 1, 50, 600))));
    assert_eq!(search(&more, 10), Ok(Some(standing(5, 3, 50, 60))), "another line's");
    // A request that began before the change is counted, too.
    map(&first, 10).unwrap();
    assert_eq!(map(&more, 10), Err(standing(12, 0, 50, 600)));
    let fewer = more.with_rates(with(Some(Rate::new(3, 20))), after(20));
    assert_eq!(map(&fewer, 20), Err(standing(3, 0, 20, 20)));
    assert_eq!(map(&fewer, 40), Ok(Some(standing(3, 2, 20, 20))));
    let none = fewer.with_rates(with(None), after(41));
    assert_eq!(map(&none, 41), Ok(None));
    assert_eq!(search(&none, 41), Ok(Some(standing(5, 2, 19, 60))));
    let again = none.with_rates(with(Some(Rate::new(3, 20))), after(42));
    assert_eq!(map(&again, 42), Ok(Some(standing(3, 1, 18, 20))));
}
