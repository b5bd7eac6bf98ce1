//! Builds, publishes and opens indexes, and compares the answers to lookups with a plain scan.

use std::fs;
use std::path::{Path, PathBuf};

use figdex_index::{
    BuildOptions, Builder, Catalogue, Date, DateInterval, Error, Figi, Filters, IdType, IdValue,
    Instrument, Lookup, Meter, NumberInterval, Property, RowSource as _, TooManyHits, rollback,
};
use proptest::prelude::*;

use crate::support::{figi, publish, universe};

fn ticker(text: &str) -> IdValue<'_> {
    IdType::Ticker.admit(text).unwrap()
}

fn own(figi: Figi) -> IdValue<'static> {
    IdType::BbGlobal.admit(&figi.to_string()).unwrap().into_owned()
}

fn find(catalogue: &Catalogue, lookup: &Lookup<'_>) -> Vec<Figi> {
    let hits = catalogue.lookup(lookup, 1_000).unwrap();
    hits.into_iter().map(|hit| catalogue.figi(hit)).collect()
}

/// The answer to a lookup by a scan of all instruments.
fn scan(instruments: &[Instrument], catalogue: &Catalogue, lookup: &Lookup<'_>) -> Vec<Figi> {
    let filters = &lookup.filters().cloned().unwrap_or_default();
    let carries = |instrument: &&Instrument| {
        own(instrument.figi) == lookup.id_value
            || instrument.keys().any(|key| key == lookup.id_value)
    };
    let passes = |instrument: &&Instrument| {
        let known = |asked: figdex_index::OneOf<'_>| {
            let own = instrument.property(asked.property());
            asked.values().any(|known| own == Some(catalogue.vocabulary().text(known)))
        };
        let number = |(interval, value): (Option<NumberInterval>, Option<f64>)| {
            interval.is_none_or(|interval| value.is_some_and(|value| interval.contains(value)))
        };
        let date = |(interval, value): (Option<DateInterval>, Option<Date>)| {
            interval.is_none_or(|interval| value.is_some_and(|value| interval.contains(value)))
        };
        filters.known.iter().all(known)
            && filters.numbers.into_iter().zip(instrument.filter_numbers()).all(number)
            && filters.dates.into_iter().zip(instrument.filter_dates()).all(date)
            && (filters.include_unlisted_equities || !instrument.is_unlisted_equity())
    };
    instruments.iter().filter(carries).filter(passes).map(|instrument| instrument.figi).collect()
}

fn lookup(catalogue: &Catalogue) -> impl Strategy<Value = Lookup<'static>> {
    let vocabulary = catalogue.vocabulary().clone();
    let key = prop_oneof![
        prop_oneof![Just("IBM"), Just("aapl"), Just("BRK/B"), Just("NONE")].prop_map(ticker),
        (0_u32..70).prop_map(|number| own(figi(number))),
        (0_u32..70).prop_map(|number| IdValue::composite(figi(number))),
    ];
    let number = |high: f64| {
        proptest::option::weighted(0.3, (0.0..high, 0.0..high)).prop_map(|bounds| {
            let (a, b) = bounds?;
            NumberInterval::new(Some(a.min(b)), Some(a.max(b))).ok()
        })
    };
    let date = |day: i64| {
        proptest::option::weighted(0.3, (day - 10..day + 70, 0_i64..60)).prop_map(|days| {
            let (first, length) = days?;
            DateInterval::new(Date::from_days(first), Date::from_days(first + length)).ok()
        })
    };
    let exch_codes = proptest::sample::subsequence(vec!["US", "GR", "LN"], 0..=2);
    let sectors = proptest::sample::subsequence(vec!["Equity", "Corp", "Muni"], 0..=2);
    (key, number(10.0), number(4.0), date(20_000), date(21_000), exch_codes, sectors, any::<bool>())
        .prop_map(
            move |(
                id_value,
                strike,
                coupon,
                expiration,
                maturity,
                exch_codes,
                sectors,
                include,
            )| {
                let mut filters =
                    Filters { include_unlisted_equities: include, ..Filters::default() };
                (filters.numbers[0], filters.numbers[2]) = (strike, coupon);
                (filters.dates[0], filters.dates[1]) = (expiration, maturity);
                for (property, values) in
                    [(Property::ExchCode, exch_codes), (Property::MarketSecDes, sectors)]
                {
                    for value in values {
                        filters.known.allow(vocabulary.admit(property, value).unwrap());
                    }
                }
                Lookup::new(id_value, filters)
            },
        )
}

/// contract 10.1: a lookup has the same answer as a scan, in FIGI order, whatever the number of
/// parts.
#[test]
fn lookups_agree_with_a_scan_over_one_part_and_over_many() {
    let instruments = universe(60);
    let folder = tempfile::tempdir().unwrap();
    let whole = publish(&folder.path().join("one"), &instruments, 1_000);
    let split = publish(&folder.path().join("four"), &instruments, 15);
    assert_eq!((whole.manifest().parts.len(), split.manifest().parts.len()), (1, 4));
    proptest!(ProptestConfig::with_cases(2_000), |(lookup in lookup(&whole))| {
        let expected = scan(&instruments, &whole, &lookup);
        prop_assert!(expected.is_sorted());
        prop_assert_eq!(&find(&whole, &lookup), &expected);
        prop_assert_eq!(&find(&split, &lookup), &expected);
    });
}

/// Lookups of a batch, of which each part has some, find what a scan finds. Every fifth FIGI is
/// absent, so that some lie between two parts.
#[test]
fn lookups_of_a_batch_agree_with_a_scan() {
    let places = (0..).zip(universe(60)).filter(|(place, _)| place % 5 != 0);
    let instruments: Vec<Instrument> = places.map(|(_, instrument)| instrument).collect();
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &instruments, 8);
    assert_eq!(catalogue.manifest().parts.len(), 6);
    let batches = proptest::collection::vec(lookup(&catalogue), 0..30);
    let meter = Meter::unlimited();
    proptest!(|(lookups in batches)| {
        let mut located = catalogue.locate(&lookups, &meter).unwrap();
        for (place, lookup) in lookups.iter().enumerate() {
            let mut hits = Vec::new();
            located.find(place, 1_000, &mut hits).unwrap().unwrap();
            let found: Vec<Figi> = hits.into_iter().map(|hit| catalogue.figi(hit)).collect();
            prop_assert_eq!(found, scan(&instruments, &catalogue, lookup));
        }
    });
}

/// contract 4.16: a lookup may find as many rows as its bound, and one that finds more is an
/// error.
#[test]
fn too_many_hits_are_an_error_and_just_enough_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &universe(30), 7);
    let filters = Filters { include_unlisted_equities: true, ..Filters::default() };
    let lookup = Lookup::new(ticker("IBM"), filters);
    assert_eq!(catalogue.lookup(&lookup, 10).unwrap().len(), 10);
    assert_eq!(catalogue.lookup(&lookup, 9), Err(TooManyHits { hits_max: 9 }));
}

#[test]
fn figis_must_ascend_and_something_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
    assert!(matches!(
        Builder::create(folder.path(), BuildOptions::default()),
        Err(Error::Locked(_))
    ));
    builder.add(Instrument::new(figi(2))).unwrap();
    for number in [1, 2] {
        let out_of_order = builder.add(Instrument::new(figi(number)));
        assert!(matches!(out_of_order, Err(Error::Order { .. })));
    }
    drop(builder);
    let empty = Builder::create(folder.path(), BuildOptions::default()).unwrap();
    assert!(matches!(empty.publish(Vec::new()), Err(Error::Empty)));
    assert!(matches!(Catalogue::open(folder.path()), Err(Error::NotAnIndex(_))));
    let left: Vec<_> = generations(folder.path());
    assert!(left.is_empty(), "{left:?}");
}

fn generations(index: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

/// A builder that is killed leaves the old index as it was, and the next builder removes its files.
/// The last two published generations are kept.
#[test]
fn an_unfinished_build_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    publish(index, &universe(10), 100);
    let mut dying = Builder::create(index, BuildOptions::default()).unwrap();
    dying.add(Instrument::new(figi(50))).unwrap();
    // As after a kill: no code of the builder runs any more, and the system drops the lock.
    let half_made = index.join("generation-000002.new");
    assert!(half_made.is_dir());
    drop(dying);
    fs::create_dir_all(half_made.join("part-000")).unwrap();
    assert_eq!(Catalogue::open(index).unwrap().manifest().generation, 1);
    for count in [11, 12, 13] {
        assert_eq!(publish(index, &universe(count), 100).manifest().instruments, u64::from(count));
    }
    assert_eq!(generations(index).len(), 2);
}

/// The server may run as another user than the builder.
#[test]
fn all_files_have_the_same_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &universe(3), 100);
    let generation = folder.path().join("generation-000001");
    let permissions = |name: &str| fs::metadata(generation.join(name)).unwrap().permissions();
    for file in &catalogue.manifest().parts[0].files {
        let name = format!("part-000/{}", file.name);
        assert_eq!(permissions(&name), permissions("manifest.toml"), "{name}");
    }
}

/// Opening notices changed bytes and cuts of every file of a generation. Every byte of a small
/// file is changed, and some bytes of a large one.
#[test]
fn damage_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &universe(20), 100);
    let generation = folder.path().join("generation-000001");
    let parts = &catalogue.manifest().parts[0].files;
    let files = parts.iter().map(|file| format!("part-000/{}", file.name));
    let own = ["manifest.toml", "manifest.toml.sha256"].map(String::from);
    let mut damages = 0;
    for name in files.chain(own) {
        let path = generation.join(&name);
        let good = fs::read(&path).unwrap();
        let step = good.len().div_ceil(40).max(1);
        for place in (0..good.len()).step_by(step).chain(good.len().checked_sub(1)) {
            let mut flipped = good.clone();
            flipped[place] ^= 1 << (place % 8);
            for bad in [&*flipped, &good[..place]] {
                fs::write(&path, bad).unwrap();
                assert!(Catalogue::open(folder.path()).is_err(), "{name} at {place}");
                damages += 1;
            }
        }
        fs::remove_file(&path).unwrap();
        assert!(Catalogue::open(folder.path()).is_err(), "{name} removed");
        fs::write(&path, good).unwrap();
    }
    assert!(damages > 300, "{damages}");
    assert!(Catalogue::open(folder.path()).is_ok(), "the restored index must open");
}

/// Reading the files of an open generation names the one that cannot be read.
#[test]
fn warming_names_a_file_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &universe(20), 7);
    catalogue.warm().unwrap();
    let path = folder.path().join("generation-000001/part-002/rows.figis");
    fs::remove_file(&path).unwrap();
    match catalogue.warm() {
        Err(Error::Io { path: named, .. }) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
}

/// A rollback publishes the previous generation again, if its files are undamaged.
#[test]
fn rolling_back() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    assert!(matches!(rollback(&index.join("none")), Err(Error::Io { .. })));
    assert!(!index.join("none").exists(), "a refused rollback creates nothing");
    publish(index, &universe(10), 100);
    assert!(matches!(rollback(index), Err(Error::NothingBefore { generation: 1, .. })));
    publish(index, &universe(11), 100);
    assert_eq!(rollback(index).unwrap().instruments, 10);
    assert_eq!(Catalogue::open(index).unwrap().manifest().generation, 1);
    assert!(matches!(rollback(index), Err(Error::NothingBefore { generation: 1, .. })));
    publish(index, &universe(12), 100);
    let path = index.join("generation-000001/part-000/rows.figis");
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[1..]).unwrap();
    assert!(matches!(rollback(index), Err(Error::Damaged { .. })));
    assert_eq!(Catalogue::open(index).unwrap().manifest().instruments, 12);
    fs::write(&path, good).unwrap();
    assert_eq!(rollback(index).unwrap().generation, 1);
}

#[test]
fn another_format_and_a_foreign_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Catalogue::open(folder.path()), Err(Error::NotAnIndex(_))));
    assert!(matches!(Catalogue::open(&folder.path().join("none")), Err(Error::Io { .. })));
    publish(folder.path(), &universe(3), 100);
    let manifest = folder.path().join("generation-000001/manifest.toml");
    for format in [8, 11] {
        fs::write(&manifest, format!("format = {format}\nshape = \"another\"\n")).unwrap();
        let other = Catalogue::open(folder.path()).err().unwrap();
        assert!(matches!(other, Error::ForeignFormat { found, .. } if found == format));
        assert!(other.to_string().contains("this version reads formats 9 and 10"), "{other}");
    }
    fs::write(folder.path().join("CURRENT"), "../elsewhere\n").unwrap();
    assert!(matches!(Catalogue::open(folder.path()), Err(Error::Damaged { .. })));
}
