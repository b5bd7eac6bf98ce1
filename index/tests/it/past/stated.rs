//! Retired identifiers that operators state, over an index with a few days.

use std::path::Path;

use figdex_index::{
    Basis, BuildOptions, Builder, Catalogue, Date, Figi, IdType, Instrument, Meter, PastOptions,
    PastReport, PastRow, Policy, Question, Resolution, Retired, RetiredKind, RetiredOf, Status,
    WasRow,
};

use super::questions::BOUNDS;
use super::sequence::{day, figi};
use crate::support::options;

fn build(
    index: &Path,
    number: i64,
    rows: &[(u32, &str)],
    stated: Vec<(RetiredOf, Retired)>,
) -> PastReport {
    let options = BuildOptions { date: day(number), ..options() };
    let mut builder = Builder::create(index, options).unwrap();
    builder.keep_past(PastOptions { stated, ..PastOptions::default() });
    for (number, ticker) in rows {
        let ticker = Some((*ticker).to_owned());
        builder.add(Instrument { ticker, ..Instrument::new(figi(*number)) }).unwrap();
    }
    let built = builder.finish(Vec::new()).unwrap();
    let report = built.past().unwrap().clone();
    built.publish().unwrap();
    report
}

fn retired(
    number: u32,
    ticker: &str,
    from: Option<i64>,
    to: Option<i64>,
    kind: RetiredKind,
) -> (RetiredOf, Retired) {
    let id_value = IdType::Ticker.admit(ticker).unwrap().into_owned();
    let successor = (kind == RetiredKind::Merger).then(|| figi(7));
    let [from, to] = [from, to].map(|number| number.map(day));
    (RetiredOf::Figi(figi(number)), Retired { id_value, from, to, kind, successor })
}

fn on(index: &Path, ticker: &str, day: Date) -> Resolution {
    let question = Question::given(IdType::Ticker, ticker, None);
    let catalogue = Catalogue::open(index).unwrap();
    let questions = [(question, day)];
    let meter = Meter::unlimited();
    catalogue.resolve_as_of(&questions, &Policy::default(), BOUNDS, &meter).unwrap().remove(0)
}

fn former(index: &Path, ticker: &str) -> Resolution {
    let questions = [Question::given(IdType::Ticker, ticker, None)];
    let (policy, meter) = (Policy::default(), Meter::unlimited());
    let catalogue = Catalogue::open(index).unwrap();
    let mut resolved = catalogue.resolve(&questions, &policy, BOUNDS, &meter).unwrap();
    catalogue.add_former(&questions, &mut resolved, &policy, BOUNDS, &meter).unwrap();
    resolved.remove(0)
}

/// The ticker of a row that has changed since.
fn ticker(row: &PastRow) -> &str {
    let WasRow::Then(image) = &row.row else { panic!("{row:?}") };
    image.ticker.as_deref().unwrap()
}

fn meant(resolution: &Resolution) -> Option<Figi> {
    matches!(resolution.status, Status::Resolved(_)).then(|| resolution.past[0].figi)
}

/// A stated end lies within the days that were not observed, and is exact.
#[test]
fn a_stated_end_decides_between_two_observations() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    build(index, 0, &[(1, "FB"), (2, "X")], Vec::new());
    let stated = || vec![retired(1, "FB", None, Some(4), RetiredKind::Rename)];
    build(index, 10, &[(1, "META"), (2, "X")], stated());
    assert_eq!(meant(&on(index, "FB", day(4))), Some(figi(1)));
    assert_eq!(on(index, "FB", day(4)).past[0].basis, Basis::Stated);
    assert_eq!(on(index, "FB", day(5)).status, Status::Unknown);
    // Nothing is stated of the new ticker.
    assert_eq!(on(index, "META", day(5)).status, Status::Uncertain);
    let was = former(index, "FB");
    assert_eq!((was.status, was.past[0].valid_to), (Status::Historical, Some(day(4))));
    // Without the file the end is not known.
    build(index, 10, &[(1, "META"), (2, "X")], Vec::new());
    assert_eq!(on(index, "FB", day(4)).status, Status::Uncertain);
    assert_eq!(former(index, "FB").past[0].valid_to, Some(day(0)));
}

/// Statements answer for days that the past does not cover, and for instruments without a row.
#[test]
fn what_is_stated_answers_beyond_the_past() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let stated = vec![
        retired(1, "OLD", Some(-900), Some(-100), RetiredKind::Rename),
        retired(5, "TWX", None, Some(-50), RetiredKind::Delisting),
        retired(2, "MRG", None, Some(-20), RetiredKind::Merger),
        retired(6, "NONE", None, None, RetiredKind::Rename),
    ];
    let report = build(index, 0, &[(1, "NEW"), (2, "X")], stated);
    assert_eq!((report.stated, report.not_stated), (3, vec![3]));
    assert_eq!(meant(&on(index, "OLD", day(-100))), Some(figi(1)));
    let days = (Some(day(-900)), Some(day(-100)));
    let row = &on(index, "OLD", day(-500)).past[0];
    assert_eq!((row.valid_from, row.valid_to), days);
    for out in [-901, -99] {
        let status = on(index, "OLD", day(out)).status;
        assert!(matches!(status, Status::OutOfCoverage(_)), "{status:?}");
    }
    assert!(matches!(on(index, "NEW", day(-500)).status, Status::OutOfCoverage(_)));
    let gone = former(index, "TWX");
    assert_eq!((gone.status, gone.past[0].figi), (Status::Gone, figi(5)));
    assert_eq!(ticker(&gone.past[0]), "TWX");
    let merged = former(index, "MRG");
    assert_eq!(merged.past[0].successor, Some(figi(7)));
    assert_eq!(former(index, "NONE").status, Status::Unknown);
}

/// Where both disagree on days that were observed, both are shown, and the report counts it.
#[test]
fn contradictions_are_shown_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    build(index, 0, &[(1, "FB"), (2, "X")], Vec::new());
    build(index, 1, &[(1, "FB"), (2, "X")], Vec::new());
    let stated = vec![
        retired(1, "FB", None, Some(0), RetiredKind::Rename),
        retired(2, "FB", Some(1), Some(1), RetiredKind::Recycled),
    ];
    let report = build(index, 2, &[(1, "META"), (2, "X")], stated);
    assert_eq!(report.contradicted, 2);
    let both = on(index, "FB", day(1));
    assert_eq!(both.status, Status::Ambiguous(2));
    let bases: Vec<_> = both.past.iter().map(|row| (row.figi, row.basis)).collect();
    assert_eq!(bases, [(figi(1), Basis::Observed), (figi(2), Basis::Stated)]);
}

/// A version contradicts what is stated also between its first and its last day, and a value that
/// was learned later only from then on. So it does on the first day of a past.
#[test]
fn contradictions_within_the_days_of_a_version() {
    let of = |days: [(i64, i64); 2]| {
        let folder = tempfile::tempdir().unwrap();
        let stated =
            days.map(|(from, to)| retired(1, "FB", Some(from), Some(to), RetiredKind::Rename));
        build(folder.path(), 0, &[(1, "FB")], Vec::new());
        build(folder.path(), 5, &[(1, "FB")], Vec::new());
        build(folder.path(), 9, &[(1, "FB")], stated.to_vec()).contradicted
    };
    assert_eq!(of([(0, 3), (7, 9)]), 1);
    assert_eq!(of([(0, 3), (4, 9)]), 0);
    assert_eq!(of([(0, 9), (4, 5)]), 0);
    let folder = tempfile::tempdir().unwrap();
    let stated = vec![retired(1, "X", None, Some(0), RetiredKind::Rename)];
    assert_eq!(build(folder.path(), 0, &[(1, "FB")], stated).contradicted, 1);
}

/// The past of which something is stated is that before the build: a row that goes now is in it, and
/// one that only a replaced build of the day had is not.
#[test]
fn statements_about_a_row_that_went() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    build(index, 0, &[(1, "FB"), (2, "X")], Vec::new());
    let stated = || {
        let rename = RetiredKind::Rename;
        vec![retired(1, "OLD", None, Some(-1), rename), retired(3, "V", None, Some(-1), rename)]
    };
    let report = build(index, 1, &[(2, "X"), (3, "Y")], stated());
    assert_eq!((report.stated, report.not_stated), (2, vec![]));
    assert_eq!(former(index, "OLD").past[0].figi, figi(1));
    let report = build(index, 1, &[(2, "X")], stated());
    assert_eq!((report.stated, report.not_stated), (1, vec![1]));
    assert_eq!(former(index, "V").status, Status::Unknown);
    assert_eq!(former(index, "OLD").past[0].figi, figi(1));
}

/// An identifier of today names its instruments.
#[test]
fn instruments_are_named_by_an_identifier() {
    let folder = tempfile::tempdir().unwrap();
    let id_value = IdType::Ticker.admit("META").unwrap().into_owned();
    let (_, row) = retired(1, "FB", None, Some(-1), RetiredKind::Rename);
    let stated = vec![(RetiredOf::Identifier(id_value), row)];
    build(folder.path(), 0, &[(1, "META"), (2, "X"), (3, "META")], stated);
    assert_eq!(former(folder.path(), "FB").status, Status::Ambiguous(2));
}

/// An instrument that ended before the past is found by its FIGI, too; one that did not end may not
/// be unknown to the data.
#[test]
fn an_instrument_that_ended_needs_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let stated = vec![
        retired(5, "TWX", Some(-9), Some(-1), RetiredKind::Merger),
        retired(6, "NEVER", None, None, RetiredKind::Rename),
    ];
    let report = build(index, 0, &[(1, "FB")], stated);
    assert_eq!((report.stated, report.not_stated), (1, vec![1]));
    let own = || Question::given(IdType::BbGlobal, Box::leak(figi(5).to_string().into()), None);
    let (policy, meter) = (Policy::default(), Meter::unlimited());
    let catalogue = Catalogue::open(index).unwrap();
    let mut resolved = catalogue.resolve(&[own()], &policy, BOUNDS, &meter).unwrap();
    catalogue.add_former(&[own()], &mut resolved, &policy, BOUNDS, &meter).unwrap();
    let [was] = &resolved[0].past[..] else { panic!("{:?}", resolved[0]) };
    assert_eq!(resolved[0].status, Status::Gone);
    assert_eq!((was.figi, was.valid_to, was.successor), (figi(5), Some(day(-1)), Some(figi(7))));
    let days = [-9, -1, -10].map(|number| (own(), day(number)));
    let of_days = catalogue.resolve_as_of(&days, &policy, BOUNDS, &meter).unwrap();
    assert_eq!(of_days.iter().map(meant).collect::<Vec<_>>(), [Some(figi(5)), Some(figi(5)), None]);
}

/// An instrument that never had a row is found by its own FIGI on the days of all its statements,
/// and by another FIGI only on the days on which that is stated of it.
#[test]
fn a_stated_composite_is_found_on_its_days() {
    let folder = tempfile::tempdir().unwrap();
    let composite = figi(6).to_string();
    let id_value = IdType::CompositeBbGlobal.admit(&composite).unwrap().into_owned();
    let (owner, ticker) = retired(5, "TWX", Some(-4), Some(-1), RetiredKind::Merger);
    let days = (Some(day(-9)), Some(day(-5)));
    let stated = Retired { id_value, from: days.0, to: days.1, ..ticker.clone() };
    build(folder.path(), 0, &[(1, "FB")], vec![(owner.clone(), stated), (owner, ticker)]);
    let catalogue = Catalogue::open(folder.path()).unwrap();
    let own = figi(5).to_string();
    let asked = [(&composite, -7), (&composite, -2), (&own, -7), (&own, -2)];
    let questions = asked.map(|(text, number)| {
        (Question::text(text, catalogue.past_vocabulary(), None), day(number))
    });
    let meter = Meter::unlimited();
    let found = catalogue.resolve_as_of(&questions, &Policy::default(), BOUNDS, &meter).unwrap();
    let found: Vec<_> = found.iter().map(meant).collect();
    assert_eq!(found, [Some(figi(5)), None, Some(figi(5)), Some(figi(5))]);
}

/// The first day of a row that was missing for a while may be stated before that, and each of several
/// statements about an identifier counts.
#[test]
fn stated_days_of_a_former_row() {
    let days = |index: &Path| {
        let was = former(index, "FB");
        (was.past[0].valid_from, was.past[0].valid_to, was.past[0].basis)
    };
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    for (number, rows) in [(0, &[(1, "FB"), (2, "X")][..]), (1, &[(2, "X")]), (12, &[(1, "FB")])] {
        build(index, number, rows, Vec::new());
    }
    let stated = || vec![retired(1, "FB", Some(-9), None, RetiredKind::Rename)];
    build(index, 13, &[(1, "META")], stated());
    assert_eq!(days(index), (Some(day(-9)), Some(day(12)), Basis::Stated));
    let stated = [(-9, 5), (20, 30)]
        .map(|(from, to)| retired(1, "FB", Some(from), Some(to), RetiredKind::Rename));
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 0, &[(1, "FB")], Vec::new());
    build(folder.path(), 10, &[(1, "META")], stated.to_vec());
    assert_eq!(days(folder.path()), (Some(day(-9)), Some(day(5)), Basis::Stated));
}

/// A row that was not observed on the day has the ticker that is stated.
#[test]
fn a_stated_ticker_is_that_of_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let stated = vec![retired(1, "FB", Some(-9), Some(-1), RetiredKind::Rename)];
    build(index, 0, &[(1, "META")], stated);
    assert_eq!(ticker(&on(index, "FB", day(-5)).past[0]), "FB");
    assert_eq!(ticker(&former(index, "FB").past[0]), "FB");
}

/// Earlier meanings of an identifier are also those that are stated.
#[test]
fn a_recycled_ticker_was_stated() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let stated = vec![retired(1, "V", None, Some(-1), RetiredKind::Recycled)];
    build(index, 0, &[(1, "VIA"), (2, "V")], stated);
    let questions = [Question::given(IdType::Ticker, "V", None)];
    let (policy, meter) = (Policy::default(), Meter::unlimited());
    let catalogue = Catalogue::open(index).unwrap();
    let mut resolved = catalogue.resolve(&questions, &policy, BOUNDS, &meter).unwrap();
    catalogue.add_formerly(&questions, &mut resolved, &meter).unwrap();
    let [was] = &resolved[0].formerly[..] else { panic!("{:?}", resolved[0]) };
    assert_eq!((was.figi, was.valid_to), (figi(1), Some(day(-1))));
}
