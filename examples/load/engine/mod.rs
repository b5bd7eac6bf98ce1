//! The engine compared with tantivy alone (`tantivy.rs`): the time of a build, the size of its
//! index, and the time of counting (engine 13.6, 13.9 and 13.10). The sides take turns, and the
//! result is that of the median round.

mod tantivy;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use figdex_index::{Catalogue, Filters, Manifest, Meter, NumberInterval, Property, Search};
use figdex_ingest::{Build, Input};
use figdex_io::Layout;
use figdex_universe::Universe;

use self::tantivy::Identifiers;
use crate::EngineFlags;
use crate::universe::SEED;

/// The maximum size of an index with all its files, in bytes for each instrument (engine 13.10).
const BYTES_PER_INSTRUMENT_MAX: f64 = 200.0;

/// The minimum of each ratio of building (engine 13.9).
const PARSING_TO_BUILD: f64 = 0.10;
const IDENTIFIERS_TO_NONE: f64 = 3.0;
const ALONE_TO_BUILD: f64 = 3.0;

/// The number of counts in one turn, which is large enough for the clock's resolution.
const TIMES: usize = 20;

/// Values of many rows.
const DENSE: [(Property, &str); 3] = [
    (Property::SecurityType2, "Option"),
    (Property::Currency, "USD"),
    (Property::OptionType, "Put"),
];

/// The lowest and the highest strike.
type Strikes = (f64, f64);

const STRIKES: Strikes = (50.0, 150.0);

/// The counted questions: the number of values, the strikes if any, and the minimum ratio of
/// tantivy's time to Figdex's (engine 13.6).
const COUNTED: [(usize, Option<Strikes>, f64); 4] =
    [(2, None, 30.0), (3, None, 30.0), (0, Some(STRIKES), 3.0), (2, Some(STRIKES), 3.0)];

/// Measures building and counting.
pub(crate) fn run(flags: &EngineFlags) -> anyhow::Result<()> {
    println!("{} instruments, medians of {} rounds", flags.instruments, flags.rounds);
    let (ours, theirs) = (tempfile::tempdir()?, tempfile::tempdir()?);
    build(flags, ours.path(), theirs.path())?;
    count(flags.rounds, ours.path(), theirs.path())
}

fn build(flags: &EngineFlags, ours: &Path, theirs: &Path) -> anyhow::Result<()> {
    let mut dump = Vec::new();
    Universe::new(flags.instruments, SEED).write(Layout::JsonLines, &mut dump)?;
    let publish = || -> anyhow::Result<()> {
        let inputs = vec![Input::Memory("generated.jsonl", dump.as_slice().into())];
        Build::new(inputs, ours).run(&mut |_| {}).context("building the index")?;
        Ok(())
    };
    let times = medians(
        flags.rounds,
        &mut [
            ("JSON lines parsed, one thread", &mut || {
                tantivy::rows(&dump).for_each(|row| assert!(black_box(row).is_object()));
                Ok(())
            }),
            ("dump to published generation", &mut || publish()),
            ("tantivy alone, identifiers as terms", &mut || {
                tantivy::index(&dump, theirs, Identifiers::Terms)
            }),
            ("tantivy alone, without identifiers", &mut || {
                tantivy::index(&dump, theirs, Identifiers::None)
            }),
        ],
    )?;
    judge("parsing / build", times[0], times[1], PARSING_TO_BUILD);
    judge("tantivy with / without identifiers", times[2], times[3], IDENTIFIERS_TO_NONE);
    judge("tantivy with identifiers / whole build", times[2], times[1], ALONE_TO_BUILD);
    let manifest = Manifest::published(ours)?;
    let bytes = manifest.bytes() as f64 / manifest.instruments as f64;
    let verdict = verdict(bytes <= BYTES_PER_INSTRUMENT_MAX);
    println!("  {bytes:.1} bytes an instrument (at most {BYTES_PER_INSTRUMENT_MAX}) {verdict}");
    Ok(())
}

fn count(rounds: usize, ours: &Path, theirs: &Path) -> anyhow::Result<()> {
    let catalogue = Catalogue::open(ours)?;
    let searcher = tantivy::searcher(theirs)?;
    for (values, strikes, at_least) in COUNTED {
        let search = search(&catalogue, &DENSE[..values], strikes)?;
        let query = tantivy::query(&searcher, &DENSE[..values], strikes)?;
        let expected = tantivy::count(&searcher, &*query)?;
        println!("\n  {values} values{}: {expected} rows", strikes.map_or("", |_| " and strikes"));
        let times = medians(
            rounds,
            &mut [
                ("tantivy's Count", &mut || {
                    for _ in 0..TIMES {
                        assert_eq!(tantivy::count(&searcher, &*query)?, expected);
                    }
                    Ok(())
                }),
                ("a new count", &mut || {
                    for _ in 0..TIMES {
                        assert_eq!(
                            catalogue.count_uncached(&search, &Meter::unlimited())?,
                            Some(expected)
                        );
                    }
                    Ok(())
                }),
            ],
        )?;
        judge("tantivy / a new count", times[0], times[1], at_least);
    }
    Ok(())
}

fn search(
    catalogue: &Catalogue,
    values: &[(Property, &str)],
    strikes: Option<Strikes>,
) -> anyhow::Result<Search> {
    let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
    filters.numbers[0] =
        strikes.and_then(|(low, high)| NumberInterval::new(Some(low), Some(high)).ok());
    for (property, value) in values {
        let known = catalogue.vocabulary().admit(*property, value);
        filters.known.require(known.context("the universe has no such value")?);
    }
    Ok(Search { keywords: None, filters })
}

/// The name of a side, and its work.
type Side<'a> = (&'static str, &'a mut dyn FnMut() -> anyhow::Result<()>);

/// Measures the sides in turns, and returns the median time of each.
fn medians(rounds: usize, sides: &mut [Side<'_>]) -> anyhow::Result<Vec<Duration>> {
    let mut times = vec![Vec::with_capacity(rounds); sides.len()];
    for _ in 0..rounds {
        for ((_, side), times) in sides.iter_mut().zip(&mut times) {
            let started = Instant::now();
            side()?;
            times.push(started.elapsed());
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    let medians: Vec<Duration> = times.into_iter().map(|times| times[rounds / 2]).collect();
    for ((name, _), time) in sides.iter().zip(&medians) {
        println!("  {name:<44} {time:>12.3?}");
    }
    Ok(medians)
}

fn judge(name: &str, one: Duration, other: Duration, at_least: f64) {
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    println!("  {name}: {ratio:.3} (at least {at_least}) {}", verdict(ratio >= at_least));
}

fn verdict(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "MISSED" }
}
