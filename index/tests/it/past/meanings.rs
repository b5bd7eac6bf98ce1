//! Named cases of public threads: what an identifier meant on a day, and what became of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use figdex_index::{
    Basis, BuildOptions, Builder, Catalogue, Figi, Filters, IdType, Meter, PastOptions, PastRow,
    Policy, Property, Question, Resolution, Retired, RetiredKind, RetiredOf, Status, WasRow,
};

use super::questions::BOUNDS;
use super::reference::{Night, instrument};
use super::sequence::{day, figi};
use super::{Date, night};
use crate::support::options;

/// Publishes a night, with what operators state.
fn build(index: &Path, night: &Night, stated: Vec<(RetiredOf, Retired)>, from: Option<&Path>) {
    let mut builder =
        Builder::create(index, BuildOptions { date: night.day, ..options() }).unwrap();
    builder.keep_past(PastOptions {
        mend_days: night.mend_days,
        from: from.map(Path::to_owned),
        stated,
        ..PastOptions::default()
    });
    night.rows.iter().for_each(|(figi, row)| builder.add(instrument(*figi, row)).unwrap());
    builder.finish(Vec::new()).unwrap().publish().unwrap();
}

fn built(nights: &[Night], stated: &[(RetiredOf, Retired)]) -> tempfile::TempDir {
    let index = tempfile::tempdir().unwrap();
    let (last, before) = nights.split_last().unwrap();
    before.iter().for_each(|night| build(index.path(), night, Vec::new(), None));
    build(index.path(), last, stated.to_vec(), None);
    index
}

/// The statement that an instrument had a ticker until a day.
fn until(
    number: u32,
    ticker: &str,
    last: i64,
    kind: RetiredKind,
    successor: Option<u32>,
) -> (RetiredOf, Retired) {
    let id_value = IdType::Ticker.admit(ticker).unwrap().into_owned();
    let (to, successor) = (Some(day(last)), successor.map(figi));
    (RetiredOf::Figi(figi(number)), Retired { id_value, from: None, to, kind, successor })
}

fn on(index: &Path, id_type: IdType, value: &str, number: i64) -> Resolution {
    let questions = [(Question::given(id_type, value, None), day(number))];
    let (catalogue, meter) = (Catalogue::open(index).unwrap(), Meter::unlimited());
    catalogue.resolve_as_of(&questions, &Policy::default(), BOUNDS, &meter).unwrap().remove(0)
}

/// The answer without a day, with earlier meanings.
fn now(index: &Path, id_type: IdType, value: &str) -> Resolution {
    answered(index, Question::given(id_type, value, None))
}

fn answered(index: &Path, question: Question<'_>) -> Resolution {
    let questions = [question];
    let (policy, meter) = (Policy::default(), Meter::unlimited());
    let catalogue = Catalogue::open(index).unwrap();
    let mut resolved = catalogue.resolve(&questions, &policy, BOUNDS, &meter).unwrap();
    catalogue.add_former(&questions, &mut resolved, &policy, BOUNDS, &meter).unwrap();
    catalogue.add_formerly(&questions, &mut resolved, &meter).unwrap();
    resolved.remove(0)
}

/// The FIGI that a ticker meant on a day, if it meant one.
fn meant(index: &Path, ticker: &str, number: i64) -> Option<Figi> {
    let resolution = on(index, IdType::Ticker, ticker, number);
    matches!(resolution.status, Status::Resolved(_)).then(|| resolution.past[0].figi)
}

fn only(resolution: &Resolution) -> &PastRow {
    let [row] = &resolution.past[..] else { panic!("{resolution:?}") };
    row
}

/// The ticker of a row that has changed since, or went.
fn ticker(row: &PastRow) -> &str {
    let WasRow::Then(image) = &row.row else { panic!("{row:?}") };
    image.ticker.as_deref().unwrap()
}

fn days(row: &PastRow) -> (Option<Date>, Option<Date>) {
    (row.valid_from, row.valid_to)
}

fn between(first: i64, last: i64) -> (Option<Date>, Option<Date>) {
    (Some(day(first)), Some(day(last)))
}

/// A list shows a ticker that its instrument no longer has, and another one has now: the day says
/// which is meant (Lean 9736).
#[test]
fn a_stale_ticker_is_of_another_one_now() {
    let index = built(
        &[
            night(0, &[(0, "ticker=SNE name=SONY"), (1, "ticker=X name=OTHER")]),
            night(10, &[(0, "ticker=SONY name=SONY"), (1, "ticker=X name=OTHER")]),
            night(20, &[(0, "ticker=SONY name=SONY"), (1, "ticker=SNE name=OTHER")]),
        ],
        &[],
    );
    let index = index.path();
    assert_eq!(meant(index, "SNE", 0), Some(figi(0)));
    assert_eq!(on(index, IdType::Ticker, "SNE", 10).status, Status::Unknown);
    assert_eq!(meant(index, "SNE", 20), Some(figi(1)));
    let was = on(index, IdType::Ticker, "SNE", 0);
    assert_eq!((ticker(only(&was)), only(&was).today.is_some()), ("SNE", true));
    // Without a day it means the one of today, and the earlier one is named.
    let today = now(index, IdType::Ticker, "SNE");
    assert!(matches!(today.status, Status::Resolved(_)) && today.past.is_empty());
    let [earlier] = &today.formerly[..] else { panic!("{today:?}") };
    assert_eq!((earlier.figi, days(earlier)), (figi(0), between(0, 0)));
}

/// A rename to a ticker that another one just gave up, a merger, and a recycled ticker of the one
/// that was merged (polygon-io/issues 64).
#[test]
fn a_rename_a_merger_and_a_recycled_ticker() {
    let index = built(
        &[
            night(0, &[(0, "ticker=FB"), (1, "ticker=META"), (2, "ticker=TWTR"), (3, "ticker=X")]),
            night(1, &[(0, "ticker=FB"), (1, "ticker=METV"), (2, "ticker=TWTR"), (3, "ticker=X")]),
            night(2, &[(0, "ticker=META"), (1, "ticker=METV"), (3, "ticker=X")]),
            night(
                30,
                &[(0, "ticker=META"), (1, "ticker=METV"), (3, "ticker=X"), (4, "ticker=TWTR")],
            ),
        ],
        &[until(2, "TWTR", 1, RetiredKind::Merger, Some(3))],
    );
    let index = index.path();
    let metas = [0, 1, 2, 30].map(|number| meant(index, "META", number));
    assert_eq!(metas, [Some(figi(1)), None, Some(figi(0)), Some(figi(0))]);
    let renamed = now(index, IdType::Ticker, "FB");
    assert_eq!(renamed.status, Status::Historical);
    assert_eq!((only(&renamed).figi, days(only(&renamed))), (figi(0), between(0, 1)));
    assert_eq!(now(index, IdType::Ticker, "META").formerly[0].figi, figi(1));
    // The merged one has a successor, which the one that has its ticker now is not.
    let merged = on(index, IdType::Ticker, "TWTR", 1);
    assert_eq!((only(&merged).figi, only(&merged).successor), (figi(2), Some(figi(3))));
    assert_eq!(meant(index, "TWTR", 10), None);
    assert_eq!(meant(index, "TWTR", 30), Some(figi(4)));
    let earlier = &now(index, IdType::Ticker, "TWTR").formerly[0];
    assert_eq!((earlier.figi, earlier.successor), (figi(2), Some(figi(3))));
}

/// Unilever N.V. became part of another company: it is gone, and its successor is the one that is
/// stated, by its ticker and by its ISIN.
#[test]
fn unilever_nv_has_a_successor() {
    let plc = (1, "ticker=ULVR name=UNILEVER_PLC ID_ISIN=US4592001014");
    let nv = (0, "ticker=UNA name=UNILEVER_NV ID_ISIN=US0378331005");
    let nights = [night(0, &[nv, plc]), night(1, &[nv, plc]), night(4, &[plc])];
    let without = built(&nights, &[]);
    let gone = now(without.path(), IdType::Isin, "US0378331005");
    assert_eq!((&gone.status, only(&gone).successor), (&Status::Gone, None));
    // A successor is never concluded from the data.
    assert_eq!(on(without.path(), IdType::Ticker, "UNA", 2).status, Status::Uncertain);
    let index = built(&nights, &[until(0, "UNA", 2, RetiredKind::Conversion, Some(1))]);
    let index = index.path();
    for (id_type, value) in [(IdType::Ticker, "UNA"), (IdType::Isin, "US0378331005")] {
        let gone = now(index, id_type, value);
        let row = only(&gone);
        assert_eq!(
            (&gone.status, row.figi, row.successor),
            (&Status::Gone, figi(0), Some(figi(1)))
        );
        let then = on(index, id_type, value, 1);
        assert_eq!((only(&then).figi, only(&then).successor), (figi(0), Some(figi(1))));
        assert_eq!(on(index, id_type, value, 4).status, Status::Unknown);
    }
    // The stated end counts for the ticker only.
    assert_eq!(days(only(&now(index, IdType::Ticker, "UNA"))), between(0, 2));
    assert_eq!(on(index, IdType::Ticker, "UNA", 2).past[0].basis, Basis::Stated);
    assert_eq!(on(index, IdType::Ticker, "UNA", 3).status, Status::Unknown);
    assert_eq!(on(index, IdType::Isin, "US0378331005", 2).status, Status::Uncertain);
    assert_eq!(meant(index, "ULVR", 1), Some(figi(1)));
}

/// AOL became TWX, and that was delisted: all on one FIGI, which is found by both tickers and by
/// itself (api-examples 24).
#[test]
fn a_delisted_figi_that_was_renamed() {
    let other = (9, "ticker=X");
    let index = built(
        &[
            night(0, &[(0, "ticker=AOL name=AOL_TIME_WARNER"), other]),
            night(1, &[(0, "ticker=TWX name=TIME_WARNER"), other]),
            night(2, &[(0, "ticker=TWX name=TIME_WARNER"), other]),
            night(3, &[other]),
            night(40, &[other]),
        ],
        &[],
    );
    let (index, own) = (index.path(), figi(0).to_string());
    let asked = [(IdType::Ticker, "AOL"), (IdType::Ticker, "TWX"), (IdType::BbGlobal, &*own)];
    let found = asked.map(|(id_type, value)| {
        let gone = now(index, id_type, value);
        let row = only(&gone);
        assert_eq!((&gone.status, row.figi, row.today), (&Status::Gone, figi(0), None));
        (ticker(row).to_owned(), days(row))
    });
    let found = found.each_ref().map(|(ticker, days)| (ticker.as_str(), *days));
    assert_eq!(found, [("AOL", between(0, 0)), ("TWX", between(1, 2)), ("TWX", between(0, 2))]);
    let tickers =
        [0, 2].map(|number| ticker(only(&on(index, IdType::BbGlobal, &own, number))).to_owned());
    assert_eq!(tickers, ["AOL", "TWX"]);
    for (id_type, value) in asked {
        assert_eq!(on(index, id_type, value, 3).status, Status::Unknown);
        assert_eq!(on(index, id_type, value, 40).status, Status::Unknown);
    }
}

/// A value that was learned after the first of the days on which a row is said to have had it is
/// assumed, also if the row had another version since.
#[test]
fn a_former_value_that_was_learned_late() {
    let index = built(
        &[
            night(0, &[(0, "name=ACME_CORP")]),
            night(1, &[(0, "ticker=A name=ACME_CORP")]),
            night(12, &[(0, "ticker=A name=OTHER_CO")]),
            night(24, &[(0, "ticker=B name=OTHER_CO")]),
        ],
        &[],
    );
    let was = now(index.path(), IdType::Ticker, "A");
    assert_eq!((days(only(&was)), only(&was).basis), (between(0, 12), Basis::Assumed));
    // Another row was observed with it, so the assumption does not count.
    let index = built(
        &[
            night(0, &[(0, "name=ACME_CORP"), (1, "ticker=A name=OTHER_CO")]),
            night(1, &[(0, "ticker=A name=ACME_CORP"), (1, "ticker=B name=OTHER_CO")]),
        ],
        &[],
    );
    let found = [0, 1].map(|number| meant(index.path(), "A", number));
    assert_eq!(found, [Some(figi(1)), Some(figi(0))]);
}

/// A row that has the ticker, but not on the exchange that is asked for any more, had it there.
#[test]
fn a_row_that_no_longer_passes_the_filters() {
    let (us, gr) = ("ticker=A exchCode=US", "ticker=A exchCode=GR");
    for (other, expected) in [("ticker=B exchCode=US", "historical"), (us, "resolved")] {
        let index = built(
            &[night(0, &[(0, us), (1, "ticker=B exchCode=US")]), night(9, &[(0, gr), (1, other)])],
            &[],
        );
        let catalogue = Catalogue::open(index.path()).unwrap();
        let mut filters = Filters::default();
        let known = catalogue.vocabulary().admit(Property::ExchCode, "US").unwrap();
        filters.known.require(known);
        let question = Question::given(IdType::Ticker, "A", Some(&Arc::new(filters)));
        let found = answered(index.path(), question);
        assert_eq!(found.status.name(), expected);
        let rows = if expected == "resolved" { &found.formerly } else { &found.past };
        let figis: Vec<_> = rows.iter().map(|row| (row.figi, days(row))).collect();
        assert_eq!(figis, [(figi(0), between(0, 0))]);
    }
}

/// Two tickers are swapped for one night: a mistake of the dump if it is soon taken back, which no
/// question sees; else what was observed.
#[test]
fn two_tickers_swapped_for_a_night() {
    let right = [(0, "ticker=A"), (1, "ticker=B")];
    let nights = |mend_days: u32| {
        let nights = [right, [(0, "ticker=B"), (1, "ticker=A")], right];
        let nights = (0..).zip(nights).map(|(number, rows)| night(number, &rows));
        nights.map(|night| Night { mend_days, ..night }).collect::<Vec<_>>()
    };
    for (mend_days, expected) in [(7, [0, 0, 0]), (1, [0, 1, 0])] {
        let index = built(&nights(mend_days), &[]);
        let found = [0, 1, 2].map(|number| meant(index.path(), "A", number));
        assert_eq!(found, expected.map(|number| Some(figi(number))), "{mend_days}");
        let formerly = now(index.path(), IdType::Ticker, "A").formerly.len();
        assert_eq!(formerly, usize::from(mend_days == 1));
    }
}

/// The past moves to another index in the middle, as before a change of the format: the days after
/// that give the same past, to the byte, as one that never moved.
#[test]
fn a_past_that_moves_in_the_middle() {
    let nights = [
        night(0, &[(0, "ticker=FB"), (1, "ticker=X"), (2, "ticker=C")]),
        night(1, &[(0, "ticker=META"), (1, "ticker=X")]),
        night(9, &[(0, "ticker=META"), (1, "ticker=FB"), (3, "ticker=C")]),
        night(12, &[(0, "ticker=META"), (3, "ticker=C")]),
    ];
    let stated = || vec![until(2, "C", 5, RetiredKind::Delisting, None)];
    let exported = |index: &Path| {
        let path = index.join("past.log");
        Catalogue::open(index).unwrap().export_past(&path).unwrap();
        path
    };
    let whole = built(&nights, &stated());
    // It moves with the rows of its last day, or with those of a later one.
    for before in 1..3 {
        let (old, new) = (built(&nights[..2], &[]), tempfile::tempdir().unwrap());
        let mut from = Some(exported(old.path()));
        for night in &nights[before..] {
            build(new.path(), night, stated(), from.take().as_deref());
        }
        let [one, other] = [&whole, &new].map(|index| fs::read(exported(index.path())).unwrap());
        assert!(one == other, "{before}");
        let asked = ["FB", "META", "C", "X"].map(|ticker| {
            [0, 1, 4, 9, 11, 12].map(|number| {
                let [one, other] = [&whole, &new].map(|index| meant(index.path(), ticker, number));
                assert_eq!(one, other, "{ticker} on {number}");
                one
            })
        });
        assert!(asked.as_flattened().iter().flatten().count() > 10);
    }
}
