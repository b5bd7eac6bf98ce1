//! Building, publishing, opening; lookups are answered as a plain scan of the
//! instruments would.

use std::fs;
use std::path::{Path, PathBuf};

use figdex_index::{
    BuildOptions, Builder, Catalogue, Date, DateInterval, Error, Figi, Filters, IdType, IdValue,
    Instrument, Lookup, NumberInterval, Property, TooManyHits,
};
use proptest::prelude::*;

use crate::support::{figi, publish, universe};

fn ticker(text: &str) -> IdValue {
    IdType::Ticker.admit(text).unwrap()
}

fn find(catalogue: &Catalogue, lookup: &Lookup) -> Vec<Figi> {
    let hits = catalogue.lookup(lookup, 1_000).unwrap();
    hits.into_iter().map(|hit| catalogue.row(hit).figi).collect()
}

/// The same question, answered by looking at every instrument.
fn scan(instruments: &[Instrument], catalogue: &Catalogue, lookup: &Lookup) -> Vec<Figi> {
    let filters = &lookup.filters;
    let carries = |instrument: &&Instrument| {
        if lookup.id_type == IdType::BbGlobal {
            return IdValue::from(instrument.figi) == lookup.id_value;
        }
        instrument.keys().any(|key| key == (lookup.id_type, lookup.id_value.clone()))
    };
    let passes = |instrument: &&Instrument| {
        let (expiration, maturity) = instrument.filter_dates();
        let known = |known: figdex_index::Known| {
            instrument.property(known.property()) == Some(catalogue.vocabulary().text(known))
        };
        let number = |interval: Option<NumberInterval>, value: Option<f64>| {
            interval.is_none_or(|interval| value.is_some_and(|value| interval.contains(value)))
        };
        let date = |interval: Option<DateInterval>, value: Option<Date>| {
            interval.is_none_or(|interval| value.is_some_and(|value| interval.contains(value)))
        };
        filters.known.iter().all(known)
            && number(filters.strike, instrument.strike)
            && number(filters.coupon, instrument.coupon)
            && number(filters.contract_size, instrument.contract_size)
            && date(filters.expiration, expiration)
            && date(filters.maturity, maturity)
            && (filters.include_unlisted_equities || !instrument.is_unlisted_equity())
    };
    instruments.iter().filter(carries).filter(passes).map(|instrument| instrument.figi).collect()
}

fn lookup(catalogue: &Catalogue) -> impl Strategy<Value = Lookup> {
    let vocabulary = catalogue.vocabulary().clone();
    let key = prop_oneof![
        prop_oneof![Just("IBM"), Just("aapl"), Just("BRK/B"), Just("NONE")]
            .prop_map(|text| (IdType::Ticker, ticker(text))),
        (0_u32..70).prop_map(|number| (IdType::BbGlobal, figi(number).into())),
        (0_u32..70).prop_map(|number| (IdType::CompositeBbGlobal, figi(number).into())),
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
    let exch_code = proptest::option::of(prop_oneof![Just("US"), Just("GR"), Just("LN")]);
    let sector = proptest::option::of(prop_oneof![Just("Equity"), Just("Corp"), Just("Muni")]);
    (key, number(10.0), number(4.0), date(20_000), date(21_000), exch_code, sector, any::<bool>())
        .prop_map(
            move |(
                (id_type, id_value),
                strike,
                coupon,
                expiration,
                maturity,
                exch_code,
                sector,
                include,
            )| {
                let mut filters = Filters {
                    strike,
                    coupon,
                    expiration,
                    maturity,
                    include_unlisted_equities: include,
                    ..Filters::default()
                };
                let values = [(Property::ExchCode, exch_code), (Property::MarketSecDes, sector)];
                for (property, value) in values {
                    if let Some(value) = value {
                        filters.known.require(vocabulary.admit(property, value).unwrap());
                    }
                }
                Lookup { id_type, id_value, filters }
            },
        )
}

/// Any lookup is answered as a scan answers it, in FIGI order, however many parts
/// the generation has.
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

#[test]
fn too_many_hits_are_an_error_and_just_enough_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &universe(30), 7);
    let filters = Filters { include_unlisted_equities: true, ..Filters::default() };
    let lookup = Lookup { id_type: IdType::Ticker, id_value: ticker("IBM"), filters };
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

/// A builder that dies leaves the old index as it was, and the next one removes
/// what it left; the last published generation and the one before it are kept.
#[test]
fn an_unfinished_build_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    publish(index, &universe(10), 100);
    let mut dying = Builder::create(index, BuildOptions::default()).unwrap();
    dying.add(Instrument::new(figi(50))).unwrap();
    // As a kill would: nothing of it runs any more, and the system drops the lock.
    let half_made = index.join("generation-000002");
    assert!(half_made.is_dir());
    drop(dying);
    fs::create_dir_all(half_made.join("part-000")).unwrap();
    assert_eq!(Catalogue::open(index).unwrap().manifest().generation, 1);
    for count in [11, 12, 13] {
        assert_eq!(publish(index, &universe(count), 100).manifest().instruments, u64::from(count));
    }
    assert_eq!(generations(index).len(), 2);
}

/// Every flipped byte and every cut of every file is noticed at opening.
#[test]
fn damage_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &universe(20), 100);
    let part = folder.path().join("generation-000001/part-000");
    for file in &catalogue.manifest().parts[0].files {
        let path = part.join(&file.name);
        let good = fs::read(&path).unwrap();
        let mut flipped = good.clone();
        if let Some(byte) = flipped.last_mut() {
            *byte ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert!(Catalogue::open(folder.path()).is_err(), "{} flipped", file.name);
            fs::write(&path, &good[..good.len() - 1]).unwrap();
            assert!(Catalogue::open(folder.path()).is_err(), "{} cut", file.name);
        }
        fs::remove_file(&path).unwrap();
        assert!(Catalogue::open(folder.path()).is_err(), "{} removed", file.name);
        fs::write(&path, good).unwrap();
    }
    assert!(Catalogue::open(folder.path()).is_ok(), "and whole again it opens");
}

#[test]
fn another_format_and_a_foreign_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Catalogue::open(folder.path()), Err(Error::NotAnIndex(_))));
    assert!(matches!(Catalogue::open(&folder.path().join("none")), Err(Error::Io { .. })));
    publish(folder.path(), &universe(3), 100);
    let manifest = folder.path().join("generation-000001/manifest.toml");
    fs::write(&manifest, "format = 9\nshape = \"another\"\n").unwrap();
    let other = Catalogue::open(folder.path());
    assert!(matches!(other, Err(Error::ForeignFormat { found: 9, supported: 2, .. })));
    fs::write(folder.path().join("CURRENT"), "../elsewhere\n").unwrap();
    assert!(matches!(Catalogue::open(folder.path()), Err(Error::Damaged { .. })));
}
