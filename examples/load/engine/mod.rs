//! The engine compared with tantivy alone, without HTTP: the time of a build and the size of its
//! index (engine 13.9 and 13.10), and the time of lookups, counts (engine 13.6), pages, searches and
//! facets. Both sides must find the same. They take turns, and the result is that of the median
//! round.

mod figdex;
mod question;
mod tantivy;

use std::fmt::Debug;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figdex_index::{IdType, Manifest};
use figdex_ingest::{Build, Input};

use self::figdex::Figdex;
use self::question::{QUESTIONS, Question};
use self::tantivy::{Identifiers, Tantivy};
use crate::EngineFlags;
use crate::mixes::Bound;
use crate::report::verdict;
use crate::universe;

/// The maximum size of an index with all its files, in bytes for each instrument (engine 13.10).
const BYTES_PER_INSTRUMENT_MAX: f64 = 205.0;

/// The minimum of each ratio of building (engine 13.9).
const PARSING_TO_BUILD: f64 = 0.13;
const IDENTIFIERS_TO_NONE: f64 = 1.5;
const ALONE_TO_BUILD: f64 = 0.6;

/// The clauses of counting and building.
const COUNTING: Option<u8> = Some(6);
const BUILDING: Option<u8> = Some(9);

/// A turn repeats its work for this time, which is long compared with the clock's resolution.
const TURN: Duration = Duration::from_millis(20);

/// The number of identifiers that are looked up together.
const LOOKUPS: usize = 100;

/// Measures building and asking.
pub(crate) fn run(flags: &EngineFlags) -> anyhow::Result<()> {
    println!("{} instruments, medians of {} rounds", flags.instruments, flags.rounds);
    let folder = flags.folder.make()?;
    let (ours, theirs) = (folder.path().join("figdex"), folder.path().join("tantivy"));
    let dump = universe::json_lines(flags.instruments)?;
    build(flags.rounds, &dump, &ours, &theirs)?;
    let (ours, theirs) = (Figdex::open(&ours)?, Tantivy::open(&theirs)?);
    println!("\n{:<38} {:>12} {:>12} {:>10}", "", "tantivy", "Figdex", "ratio");
    lookups(flags.rounds, &dump, &ours, &theirs)?;
    QUESTIONS.iter().try_for_each(|question| ask(flags.rounds, question, &ours, &theirs))
}

fn build(rounds: usize, dump: &[u8], ours: &Path, theirs: &Path) -> anyhow::Result<()> {
    let mut parse = || {
        tantivy::rows(dump).for_each(|row| assert!(black_box(row).is_object()));
        Ok(())
    };
    let mut publish = || {
        let inputs = vec![Input::Memory("generated.jsonl", dump.into())];
        Build::new(inputs, ours).run(&mut |_| {}).context("building the index")?;
        Ok(())
    };
    let mut without = || tantivy::build(dump, theirs, Identifiers::None);
    // The last index with identifiers stays in the folder, because it answers the questions.
    let mut with = || tantivy::build(dump, theirs, Identifiers::Terms);
    let [parsing, build, without, with] =
        medians(rounds, [&mut parse, &mut publish, &mut without, &mut with])?;
    for (name, time) in [
        ("JSON lines parsed, one thread", parsing),
        ("dump to published generation", build),
        ("tantivy alone, without identifiers", without),
        ("tantivy alone, identifiers as terms", with),
    ] {
        println!("  {name:<44} {time:>12.3?}");
    }
    for (name, one, other, at_least) in [
        ("parsing / build", parsing, build, PARSING_TO_BUILD),
        ("tantivy with / without identifiers", with, without, IDENTIFIERS_TO_NONE),
        ("tantivy with identifiers / whole build", with, build, ALONE_TO_BUILD),
    ] {
        let ratio = one.as_secs_f64() / other.as_secs_f64();
        let verdict = verdict(BUILDING, Bound::AtLeast(at_least), ratio);
        println!("  {name:<44} {ratio:>12.3} {verdict}");
    }
    let manifest = Manifest::published(ours)?;
    let bytes = manifest.bytes() as f64 / manifest.instruments as f64;
    let verdict = verdict(Some(10), Bound::AtMost(BYTES_PER_INSTRUMENT_MAX), bytes);
    println!("  {:<44} {bytes:>12.1} {verdict}", "bytes an instrument");
    Ok(())
}

/// Looks up identifiers that are spread evenly over the dump.
fn lookups(rounds: usize, dump: &[u8], ours: &Figdex, theirs: &Tantivy) -> anyhow::Result<()> {
    let id_type = IdType::Isin;
    let isin = |row: serde_json::Value| row[id_type.name()].as_str().map(str::to_owned);
    let values: Vec<String> = tantivy::rows(dump).filter_map(isin).collect();
    let step = (values.len() / LOOKUPS).max(1);
    let values: Vec<&str> = values.iter().step_by(step).take(LOOKUPS).map(String::as_str).collect();
    let theirs = || theirs.lookups(id_type.name(), &values);
    let ours = || ours.lookups(id_type, &values);
    same("lookups", theirs()?, ours()?)?;
    ensure!(ours()? >= values.len(), "an identifier of the dump is not found");
    compare("100 ISINs", rounds, None, theirs, ours)
}

fn ask(rounds: usize, question: &Question, ours: &Figdex, theirs: &Tantivy) -> anyhow::Result<()> {
    let (search, query) = (ours.search(question)?, theirs.query(question)?);
    let name = |kind| format!("{}: {kind}", question.name);
    same(question.name, theirs.count(&*query)?, ours.count(&search)?)?;
    let (count, count_of_theirs) = (|| ours.count(&search), || theirs.count(&*query));
    compare(&name("count"), rounds, question.count_at_least, count_of_theirs, count)?;
    let facets = theirs.facets(&*query)?;
    same(question.name, tantivy::counts(&facets)?, ours.counts(&ours.facets(&search)?))?;
    let (facets, facets_of_theirs) = (|| ours.facets(&search), || theirs.facets(&*query));
    compare(&name("facets"), rounds, None, facets_of_theirs, facets)?;
    if search.keywords.is_some() {
        let (best, best_of_theirs) = (|| ours.best(&search), || theirs.best(&*query));
        same(question.name, best_of_theirs()?, best()?)?;
        return compare(&name("best page"), rounds, None, best_of_theirs, best);
    }
    let first = theirs.page(&*query)?;
    same(question.name, &first, &ours.page(&search)?)?;
    let (page, page_of_theirs) = (|| ours.page(&search), || theirs.page(&*query));
    compare(&name("first page"), rounds, None, page_of_theirs, page)
}

/// Checks that both sides find the same.
fn same<T: Debug + PartialEq>(name: &str, theirs: T, ours: T) -> anyhow::Result<()> {
    ensure!(theirs == ours, "{name}: tantivy finds {theirs:?}, Figdex {ours:?}");
    Ok(())
}

/// Measures both sides, and prints the ratio of tantivy's time to Figdex's.
fn compare<T, O>(
    name: &str,
    rounds: usize,
    at_least: Option<f64>,
    mut theirs: impl FnMut() -> anyhow::Result<T>,
    mut ours: impl FnMut() -> anyhow::Result<O>,
) -> anyhow::Result<()> {
    let mut theirs = || theirs().map(|found| drop(black_box(found)));
    let mut ours = || ours().map(|found| drop(black_box(found)));
    let [theirs, ours] = medians(rounds, [&mut theirs, &mut ours])?;
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    let verdict = at_least.map(|bound| verdict(COUNTING, Bound::AtLeast(bound), ratio));
    let verdict = verdict.unwrap_or_default();
    println!("{name:<38} {theirs:>12.1?} {ours:>12.1?} {ratio:>10.2} {verdict}");
    Ok(())
}

/// The work of a side.
type Side<'a> = &'a mut dyn FnMut() -> anyhow::Result<()>;

/// Measures the sides in turns, and returns the median time of each.
fn medians<const N: usize>(
    rounds: usize,
    mut sides: [Side<'_>; N],
) -> anyhow::Result<[Duration; N]> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            times.push(turn(side)?);
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    Ok(times.map(|times| times[rounds / 2]))
}

/// Repeats the work for a while, and returns the mean time of one repetition.
fn turn(side: &mut Side<'_>) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let mut times = 0;
    while started.elapsed() < TURN {
        side()?;
        times += 1;
    }
    Ok(started.elapsed() / times)
}
