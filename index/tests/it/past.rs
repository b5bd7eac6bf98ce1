//! The past that builds keep: random sequences of builds and rollbacks against the past by brute
//! force, named cases, and the exactness of the files.

mod meanings;
mod questions;
#[path = "../../src/generation/past/tests/reference.rs"]
mod reference;
#[path = "../../src/generation/past/tests/sequence.rs"]
mod sequence;
mod stated;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use figdex_index::{
    BuildOptions, Builder, Catalogue, ColumnValue, Date, Error, Figi, GenerationId, IdType,
    Importance, Instrument, Manifest, OpenVersion, PastColumn, PastLog, PastOptions, PastReport,
    Property, Version, VersionEnd, Versions, check_digit, rollback,
};

use figdex_io::hex;
use sha2::{Digest as _, Sha256};

use self::reference::{Night, Row, Seen, instrument, rows_of, seen, written};
use self::sequence::{COLUMNS, Sequence, Step, day, figi};
use crate::support::options;

/// Publishes a night. `noise` changes what is not part of the past.
fn try_build(index: &Path, night: &Night, noise: usize) -> Result<(Manifest, PastReport), Error> {
    let options = BuildOptions {
        date: night.day,
        part_instruments_max: 5,
        generations_kept: 30,
        segment_memory_bytes: 15 << 20,
        ..options()
    };
    let mut builder = Builder::create(index, options)?;
    builder.keep_past(PastOptions {
        mend_days: night.mend_days,
        has_derivatives: night.has_derivatives,
        ..PastOptions::default()
    });
    for (figi, row) in &night.rows {
        let mut instrument = instrument(*figi, row);
        instrument.importance = Importance::new((noise % 3) as f64);
        instrument.alias = vec![format!("ALIAS {noise}")];
        builder.add(instrument)?;
    }
    let built = builder.finish(Vec::new())?;
    let report = built.past().expect("the past is kept").clone();
    Ok((built.publish()?, report))
}

fn build(index: &Path, night: &Night) -> PastReport {
    try_build(index, night, 0).unwrap().1
}

/// The folder of the past of the published generation.
fn folder(index: &Path) -> PathBuf {
    let generation = Manifest::published(index).unwrap().generation;
    index.join(format!("generation-{generation:06}/past"))
}

/// The versions of a FIGI in the published generation.
fn found(index: &Path, figi: Figi) -> Vec<Seen> {
    let versions = Catalogue::open(index).unwrap().versions(figi).unwrap();
    versions.as_ref().map(written).unwrap_or_default()
}

/// The right report of a build.
fn reported(nights: &[Night], figis: impl Iterator<Item = Figi>) -> PastReport {
    let (last, before) = nights.split_last().unwrap();
    let mut report = PastReport::default();
    let Some(night_before) = before.last() else { return report };
    let lost = reference::lost(night_before, last);
    report.unfilled =
        PastColumn::all().map(PastColumn::name).filter(|name| lost.contains(name)).collect();
    for figi in figis {
        let [was, is] = [before, nights].map(|nights| {
            let versions = seen(nights, figi);
            let open = versions.iter().find(|version| version.end.is_none()).cloned();
            let is_real = |end: &VersionEnd| *end != VersionEnd::Revised;
            let ends: Vec<_> = versions.iter().filter_map(|it| Some(it.end?.1)).collect();
            (open.map(|open| open.first), ends.into_iter().filter(is_real).collect::<Vec<_>>())
        });
        match (was.0, is.0) {
            (Some(_), None) if is.1.last() == Some(&VersionEnd::Expired) => report.expired += 1,
            (Some(_), None) => report.went += 1,
            (Some(was), Some(is)) if was == is => {}
            (Some(_), Some(first)) if first == last.day => report.replaced += 1,
            (None, Some(first)) if first == last.day => report.came += 1,
            (_, Some(_)) => report.mended += 1,
            (None, None) => {}
        }
    }
    report
}

/// Every build leaves the past that its days have, whatever was built or rolled back before.
/// `FIGDEX_PAST_BUILDS` sets the number of sequences.
#[test]
fn the_past_of_random_builds() {
    let sequences = std::env::var("FIGDEX_PAST_BUILDS").map(|text| text.parse().unwrap());
    for seed in 0..sequences.unwrap_or(40) {
        let folder = tempfile::tempdir().unwrap();
        check_builds(1_000_000 + seed, folder.path());
    }
}

fn check_builds(seed: u64, index: &Path) {
    let mut sequence = Sequence::new(seed);
    let mut published: HashMap<GenerationId, Vec<Night>> = HashMap::new();
    let mut nights: Vec<Night> = Vec::new();
    for _ in 0..3 + sequence.below(8) {
        let mut report = None;
        match sequence.step(&nights) {
            Step::Build(night) => {
                nights.pop_if(|last| last.day == night.day);
                let noise = sequence.below(5);
                let (manifest, reports) = try_build(index, &night, noise).unwrap();
                report = Some(reports);
                nights.push(night);
                published.insert(manifest.id, nights.clone());
            }
            Step::Rollback => match rollback(index) {
                Ok(manifest) => nights = published[&manifest.id].clone(),
                Err(Error::NothingBefore { .. }) => continue,
                Err(error) => panic!("{error}"),
            },
        }
        let catalogue = Catalogue::open(index).unwrap();
        for figi in sequence.figis() {
            let versions = catalogue.versions(figi).unwrap();
            let found = versions.as_ref().map(written).unwrap_or_default();
            let rows: Vec<_> =
                nights.iter().map(|night| (night.day, night.rows.get(&figi))).collect();
            assert_eq!(found, seen(&nights, figi), "seed {seed}, {figi}: {rows:?}");
        }
        catalogue.verify().unwrap();
        if let Some(report) = report {
            let expected = reported(&nights, sequence.figis());
            assert_eq!(report, expected, "seed {seed}, {}", nights[nights.len() - 1].day);
        }
        check_summary(index, &nights, seed);
        let figis: Vec<Figi> = sequence.figis().collect();
        for key in [("ticker", "A"), ("ID_ISIN", "US0378331005")] {
            questions::check(&catalogue, &nights, &figis, key, &format!("seed {seed}"));
        }
    }
}

/// The first day of each pair of market sector and exchange code that a row had.
fn covered(nights: &[Night]) -> BTreeMap<String, Date> {
    let mut covered: BTreeMap<String, Date> = BTreeMap::new();
    let figis: BTreeSet<_> = nights.iter().flat_map(|night| night.rows.keys()).collect();
    for figi in figis {
        for (night, row) in nights.iter().zip(rows_of(nights, *figi)) {
            let Some(row) = row else { continue };
            let [sector, code] = ["marketSector", "exchCode"].map(|name| match row.get(name) {
                Some(value) => value.iter().next().cloned().unwrap_or_default(),
                None => String::new(),
            });
            let first = covered.entry(format!("{sector}\t{code}")).or_insert(night.day);
            *first = night.day.min(*first);
        }
    }
    covered
}

/// Compares the description of a log with its nights.
fn check_summary(index: &Path, nights: &[Night], seed: u64) {
    let log = PastLog::open(&folder(index).join("versions.log")).unwrap();
    let summary = log.summary();
    let days = [summary.days.first(), summary.days.last()];
    assert_eq!(days, [nights.first(), nights.last()].map(|night| night.map(|night| night.day)));
    assert_eq!(summary.days.count(), nights.len() as u64);
    assert_eq!(summary.has_derivatives, nights.iter().any(|night| night.has_derivatives));
    assert_eq!(summary.covered, covered(nights), "seed {seed}");
}

/// A row with these values, as text: `ticker=A ID_ISIN=US0378331005;US4592001014`.
fn row(text: &str) -> Row {
    let mut row = Row::new();
    for column in text.split_whitespace() {
        let (name, value) = column.split_once('=').expect("a column");
        let name = COLUMNS.iter().find(|column| column.0 == name).expect("a known column").0;
        let values = value.split(';').map(|value| value.replace('_', " "));
        row.insert(name, values.collect());
    }
    row
}

/// A night of rows, each as `number: column=value …`.
fn night(number: i64, rows: &[(u32, &str)]) -> Night {
    let rows = rows.iter().map(|(number, text)| (figi(*number), row(text))).collect();
    Night { day: day(number), rows, mend_days: 7, has_derivatives: false }
}

/// The past of nights that are built one after the other.
fn built(nights: &[Night]) -> tempfile::TempDir {
    let index = tempfile::tempdir().unwrap();
    for night in nights {
        build(index.path(), night);
    }
    index
}

fn closed(first: i64, last: i64, end: VersionEnd, text: &str) -> Seen {
    let (first, end) = (day(first), Some((day(last), end)));
    Seen { first, end, learned: BTreeMap::new(), row: row(text) }
}

fn open(first: i64, text: &str) -> Seen {
    Seen { first: day(first), end: None, learned: BTreeMap::new(), row: row(text) }
}

const IBM: &str = "ticker=A name=ACME_CORP exchCode=US";

/// A ticker moves from one instrument to another, on one day and with a gap (Lean 3296).
#[test]
fn a_recycled_ticker() {
    let index = built(&[
        night(0, &[(0, "ticker=A name=ACME_CORP"), (1, "ticker=B name=OTHER_CO")]),
        night(1, &[(0, "ticker=C name=ACME_CORP"), (1, "ticker=B name=OTHER_CO")]),
        night(2, &[(0, "ticker=C name=ACME_CORP"), (1, "ticker=A name=OTHER_CO")]),
    ]);
    let of = |number| found(index.path(), figi(number));
    let first = closed(0, 0, VersionEnd::Replaced, "ticker=A name=ACME_CORP");
    assert_eq!(of(0), [first, open(1, "ticker=C name=ACME_CORP")]);
    let second = closed(0, 1, VersionEnd::Replaced, "ticker=B name=OTHER_CO");
    assert_eq!(of(1), [second, open(2, "ticker=A name=OTHER_CO")]);
}

/// A row is renamed and later delisted, and nothing of it comes after that (TWX; Lean 4051).
#[test]
fn renamed_then_delisted() {
    let other = (9, "ticker=C");
    let index = built(&[
        night(0, &[(0, "ticker=A name=ACME_CORP"), other]),
        night(1, &[(0, "ticker=B name=OTHER_CO"), other]),
        night(2, &[(0, "ticker=B name=OTHER_CO"), other]),
        night(3, &[other]),
        night(30, &[other]),
        night(60, &[other]),
    ]);
    let expected = [
        closed(0, 0, VersionEnd::Replaced, "ticker=A name=ACME_CORP"),
        closed(1, 2, VersionEnd::Gone, "ticker=B name=OTHER_CO"),
    ];
    assert_eq!(found(index.path(), figi(0)), expected);
    assert_eq!(found(index.path(), figi(9)), [open(0, "ticker=C")]);
    assert_eq!(Catalogue::open(index.path()).unwrap().versions(figi(5)).unwrap(), None);
}

/// A column that is filled from day 100 on closes no version, and the version says since when the
/// value is known.
#[test]
fn enrichment_on_day_100() {
    let isin = "ticker=A name=ACME_CORP exchCode=US ID_ISIN=US4592001014";
    let index = tempfile::tempdir().unwrap();
    for number in [0, 1, 50, 99] {
        build(index.path(), &night(number, &[(0, IBM), (1, IBM)]));
    }
    let report = build(index.path(), &night(100, &[(0, isin), (1, IBM)]));
    assert_eq!(report, PastReport::default());
    let learned = BTreeMap::from([("ID_ISIN", day(100))]);
    let expected = [Seen { learned, ..open(0, isin) }];
    assert_eq!(found(index.path(), figi(0)), expected);
    // A value that goes stays known, and so it does not come again.
    build(index.path(), &night(101, &[(0, IBM), (1, IBM)]));
    assert_eq!(found(index.path(), figi(0)), expected);
    build(index.path(), &night(102, &[(0, isin), (1, IBM)]));
    assert_eq!(found(index.path(), figi(0)), expected);
}

/// A night without most values of a column, of each sort of column, closes nothing: neither the
/// blanks nor the values that are left. The report names the column.
#[test]
fn a_column_lost_for_a_night() {
    let rows = |text: &'static str| (0..12).map(move |number| (number, text)).collect::<Vec<_>>();
    let whole = "ticker=A exchCode=US ID_ISIN=US4592001014";
    for (name, lost, other) in [
        ("ticker", "exchCode=US ID_ISIN=US4592001014", "ticker=B exchCode=US ID_ISIN=US4592001014"),
        ("exchCode", "ticker=A ID_ISIN=US4592001014", "ticker=A exchCode=GR ID_ISIN=US4592001014"),
        ("ID_ISIN", "ticker=A exchCode=US", "ticker=A exchCode=US ID_ISIN=US0378331005"),
    ] {
        let index = built(&[night(0, &rows(whole))]);
        let mut lossy = rows(lost);
        lossy[0].1 = other;
        let report = build(index.path(), &night(1, &lossy));
        assert_eq!(report, PastReport { unfilled: vec![name], ..PastReport::default() });
        let all = |expected: &[Seen]| {
            for number in 0..12 {
                assert_eq!(found(index.path(), figi(number)), expected, "{name}");
            }
        };
        all(&[open(0, whole)]);
        let report = build(index.path(), &night(2, &rows(whole)));
        assert_eq!(report, PastReport::default());
        all(&[open(0, whole)]);
    }
}

/// A value that comes on such a night, in the column itself, is known from that day on and not
/// from the beginning.
#[test]
fn a_value_that_comes_in_a_lost_column() {
    let mut rows: Vec<_> = (0..14).map(|number| (number, IBM)).collect();
    rows[0].1 = "name=ACME_CORP exchCode=US";
    let first = night(0, &rows);
    let mut lossy: Vec<_> = (0..14).map(|number| (number, "name=ACME_CORP exchCode=US")).collect();
    lossy[0].1 = IBM;
    let expected = [Seen { learned: BTreeMap::from([("ticker", day(1))]), ..open(0, IBM) }];
    let index = built(&[first, night(1, &lossy)]);
    assert_eq!(found(index.path(), figi(0)), expected);
    // A second build of the day begins with the state before it.
    build(index.path(), &night(1, &rows));
    assert_eq!(found(index.path(), figi(0)), [open(0, "name=ACME_CORP exchCode=US")]);
}

/// The second build of a day replaces what the first one observed: rows that came, went or changed.
#[test]
fn two_builds_on_one_day() {
    let other = "ticker=B name=OTHER_CO exchCode=GR";
    let index = built(&[
        night(0, &[(0, IBM), (1, IBM), (2, IBM)]),
        night(1, &[(0, other), (2, other), (3, IBM)]),
        night(1, &[(0, IBM), (1, IBM), (2, "ticker=C"), (4, IBM)]),
    ]);
    let of = |number| found(index.path(), figi(number));
    assert_eq!(of(0), [open(0, IBM)]);
    assert_eq!(of(1), [open(0, IBM)]);
    assert_eq!(of(2), [closed(0, 0, VersionEnd::Replaced, IBM), open(1, "ticker=C")]);
    assert_eq!(of(3), []);
    assert_eq!(of(4), [open(1, IBM)]);
    let earlier = try_build(index.path(), &night(0, &[(0, IBM)]), 0);
    assert!(matches!(earlier, Err(Error::PastDay { .. })));
}

/// A gap that is shorter than `mend_days` is closed, and one that is as long as it is not.
#[test]
fn gaps() {
    for (back, is_closed) in [(8, true), (9, false)] {
        let other = (9, "ticker=C");
        let index = tempfile::tempdir().unwrap();
        build(index.path(), &night(0, &[(0, IBM), other]));
        for number in 1..3 {
            build(index.path(), &night(number, &[(0, IBM), other]));
        }
        build(index.path(), &night(3, &[other]));
        let report = build(index.path(), &night(back, &[(0, IBM), other]));
        let expected = match is_closed {
            true => vec![open(0, IBM)],
            false => vec![closed(0, 2, VersionEnd::Gone, IBM), open(back, IBM)],
        };
        assert_eq!(found(index.path(), figi(0)), expected);
        assert_eq!((report.mended, report.came), if is_closed { (1, 0) } else { (0, 1) });
    }
}

/// A row that soon is as before again marks the version between as a mistake. The versions stay in
/// the order of their first days, and the report counts what happened, also when a later version
/// ends one that is older than the mistake.
#[test]
fn a_revised_version() {
    let other = "ticker=B name=ACME_CORP exchCode=US";
    let index = built(&[night(0, &[(0, IBM)]), night(1, &[(0, other)])]);
    let report = build(index.path(), &night(2, &[(0, IBM)]));
    assert_eq!(report, PastReport { mended: 1, ..PastReport::default() });
    let mistake = closed(1, 1, VersionEnd::Revised, other);
    assert_eq!(found(index.path(), figi(0)), [open(0, IBM), mistake.clone()]);
    let report = build(index.path(), &night(20, &[(0, other)]));
    assert_eq!(report, PastReport { replaced: 1, ..PastReport::default() });
    let first = closed(0, 2, VersionEnd::Replaced, IBM);
    assert_eq!(found(index.path(), figi(0)), [first, mistake, open(20, other)]);
}

/// An option that ends leaves without being gone, and an option is left out unless asked for. When
/// options are kept from some day on, they begin on that day.
#[test]
fn options_and_ends() {
    let option = "ticker=A securityType2=Option expiration=2023-12-12";
    let share = (9, "ticker=C");
    let index = built(&[night(0, &[(0, option), share]), night(1, &[(0, option), share])]);
    let of = |number| found(index.path(), figi(number));
    assert_eq!(of(0), []);
    let kept = |number, rows: &[_]| Night { has_derivatives: true, ..night(number, rows) };
    build(index.path(), &kept(2, &[(0, option), share]));
    assert_eq!(of(0), [open(2, option)]);
    assert_eq!(of(9), [open(0, "ticker=C")]);
    // 2023-12-12 is day 3. Once they are kept, they stay kept.
    let report = build(index.path(), &night(3, &[share]));
    assert_eq!(report, PastReport { expired: 1, ..PastReport::default() });
    assert_eq!(of(0), [closed(2, 2, VersionEnd::Expired, option)]);
}

/// A row with a past keeps it when it becomes an option, whatever an earlier build of the day did.
#[test]
fn a_row_that_becomes_an_option() {
    let share = "ticker=A securityType2=Common_Stock";
    let option = "ticker=A securityType2=Option";
    let other = (9, "ticker=C");
    let expected = [closed(0, 0, VersionEnd::Replaced, share), open(1, option)];
    let first = night(0, &[(0, share), other]);
    let index = built(&[first.clone(), night(1, &[(0, option), other])]);
    assert_eq!(found(index.path(), figi(0)), expected);
    build(index.path(), &night(2, &[(0, option), other]));
    assert_eq!(found(index.path(), figi(0)), expected);
    let index = built(&[first, night(1, &[other]), night(1, &[(0, option), other])]);
    assert_eq!(found(index.path(), figi(0)), expected);
    // A share that the replaced build saw gives no past to an option that nobody had seen before.
    let index = built(&[
        night(0, &[other]),
        night(1, &[(0, share), other]),
        night(1, &[(0, option), other]),
    ]);
    assert_eq!(found(index.path(), figi(0)), []);
}

/// Random nights in order, without rollbacks.
fn chain(seed: u64, builds: usize) -> Vec<Night> {
    let mut sequence = Sequence::new(seed);
    let mut nights: Vec<Night> = Vec::new();
    while nights.len() < builds {
        if let Step::Build(night) = sequence.step(&nights)
            && nights.last().is_none_or(|last| last.day < night.day)
        {
            nights.push(night);
        }
    }
    nights
}

/// A day may be built any number of times: the past is that of the last build, byte for byte. And
/// the same builds in another folder give the same bytes.
#[test]
fn the_last_build_of_a_day_counts() {
    for seed in 0..6 {
        let nights = chain(2_000_000 + seed, 4);
        let [once, again] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        for (place, night) in nights.iter().enumerate() {
            build(once.path(), night);
            // Other rows of the same day come first.
            for other in [&nights[(place + 1) % 4], &nights[(place + 2) % 4]] {
                let Night { day, has_derivatives, .. } = *night;
                let other = Night { day, has_derivatives, ..other.clone() };
                if place % 2 == 1 || seed % 2 == 0 {
                    try_build(again.path(), &other, 2).unwrap();
                }
            }
            try_build(again.path(), night, 1).unwrap();
            for name in ["before.log", "lookup.keys", "versions.log"] {
                let [one, other] =
                    [&once, &again].map(|index| fs::read(folder(index.path()).join(name)).unwrap());
                assert!(one == other, "seed {seed}, {name} of {}", night.day);
            }
        }
    }
}

/// A rollback also rolls the past back, byte for byte.
#[test]
fn a_rollback_rolls_the_past_back() {
    let nights = chain(2_000_100, 4);
    let index = built(&nights[..2]);
    build(index.path(), &nights[2]);
    let log = fs::read(folder(index.path()).join("versions.log")).unwrap();
    rollback(index.path()).unwrap();
    let before = found(index.path(), figi(0));
    assert_eq!(before, seen(&nights[..2], figi(0)));
    build(index.path(), &nights[2]);
    assert!(fs::read(folder(index.path()).join("versions.log")).unwrap() == log);
}

/// Writes the length and checksum of a changed file of the past into the manifest.
fn seal(path: &Path) {
    let past = path.parent().unwrap();
    let manifest = past.with_file_name("manifest.toml");
    let mut parsed: Manifest = toml::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    for file in &mut parsed.past.as_mut().unwrap().files {
        let bytes = fs::read(file.path(past).unwrap()).unwrap();
        (file.bytes, file.sha256) = (bytes.len() as u64, hex(&Sha256::digest(bytes)));
    }
    let text = toml::to_string(&parsed).unwrap();
    let checksum = format!("{}  manifest.toml\n", hex(&Sha256::digest(&text)));
    fs::write(&manifest, text).unwrap();
    fs::write(past.with_file_name("manifest.toml.sha256"), checksum).unwrap();
}

/// A changed byte in any file of the past is refused at opening, and when the manifest has the
/// checksum of the changed file, at opening or by `verify`.
#[test]
fn a_changed_byte() {
    let index = built(&chain(2_000_200, 5));
    let mut sequence = Sequence::new(0);
    for name in ["before.log", "lookup.keys", "versions.log"] {
        let path = folder(index.path()).join(name);
        let whole = fs::read(&path).unwrap();
        for _ in 0..40 {
            let mut wrong = whole.clone();
            let place = sequence.below(wrong.len());
            wrong[place] ^= 1 << sequence.below(8);
            fs::write(&path, &wrong).unwrap();
            assert!(Catalogue::open(index.path()).is_err(), "{name}, {place}");
            seal(&path);
            let verified = Catalogue::open(index.path()).and_then(|catalogue| catalogue.verify());
            assert!(matches!(verified, Err(Error::Damaged { .. })), "{name}, {place}");
            fs::write(&path, &whole).unwrap();
            seal(&path);
        }
        Catalogue::open(index.path()).unwrap().verify().unwrap();
    }
}
