//! An index that is read back gives the instruments that were added. `verify` finds files that
//! contradict each other though their checksums are right.

use std::fs;
use std::path::Path;

use figdex_index::{
    BuildOptions, Catalogue, Date, Error, Figi, Filters, IdType, Importance, Instrument, Keywords,
    Meter, Property, Search,
};
use figdex_io::hex;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::support::{figi, options, publish, publish_with, universe};

fn read_back(catalogue: &Catalogue) -> Vec<Instrument> {
    let mut instruments = Vec::new();
    let read = catalogue.instruments(|instrument| {
        instruments.push(instrument.clone());
        Ok::<_, Error>(())
    });
    read.unwrap();
    instruments
}

/// A strategy for instruments with that FIGI.
fn instrument(figi: Figi) -> impl Strategy<Value = Instrument> {
    let text = || proptest::option::of("[A-C/ ;é]{1,3}");
    let date = || proptest::option::of(Just(7)).prop_map(|day| Date::from_days(day?));
    let identifier = prop_oneof![
        Just((IdType::Isin, "US4592001014")),
        Just((IdType::Isin, "JP3633400001")),
        Just((IdType::Occ, "AAPL  251219C00200000")),
        Just((IdType::Bb, "a;b")),
        Just((IdType::BaseTicker, "ibm")),
    ];
    let identifiers = proptest::collection::btree_set(identifier, 0..4);
    let listed = any::<Option<bool>>();
    let texts = [text(), text(), text(), text()];
    (texts, date(), date(), listed, identifiers, proptest::collection::vec("[a-c; ]{1,3}", 0..3))
        .prop_map(
            move |([ticker, name, unique_id, sector], expiration, maturity, listed, ids, alias)| {
                let ids = ids.into_iter().map(|(id_type, text)| id_type.admit(text).unwrap());
                let mut identifiers: Vec<_> = ids.collect();
                identifiers.sort_unstable();
                let mut instrument = Instrument {
                    ticker,
                    name,
                    unique_id,
                    expiration,
                    maturity,
                    listed,
                    identifiers,
                    alias,
                    share_class_figi: listed.map(|_| figi),
                    importance: listed.and_then(|listed| Importance::new(f64::from(listed) / 3.0)),
                    strike: expiration.map(|_| 0.1 + 0.2),
                    ..Instrument::new(figi)
                };
                instrument.properties[Property::MarketSecDes as usize] = sector;
                instrument
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn instruments_are_read_back_as_they_were_added(
        instruments in (0_u32..40).prop_flat_map(|count| {
            (0..=count).map(|number| instrument(figi(number))).collect::<Vec<_>>()
        }),
        part_instruments_max in prop_oneof![Just(7), Just(1_000)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = publish(folder.path(), &instruments, part_instruments_max);
        prop_assert_eq!(read_back(&catalogue), instruments);
        catalogue.verify().unwrap();
    }
}

/// engine 1: the result does not depend on the number of threads, of which each writes a segment
/// before all are merged into one.
#[test]
fn any_number_of_threads_builds_the_same_index() {
    let instruments = universe(3_000);
    let ibm = Search { keywords: Keywords::parse("ibm").ok(), filters: Filters::default() };
    let answers = |threads: usize| {
        let folder = tempfile::tempdir().unwrap();
        let options = BuildOptions { threads, segment_memory_bytes: threads << 24, ..options() };
        let catalogue = publish_with(folder.path(), &instruments, options);
        catalogue.verify().unwrap();
        let first = catalogue.search(&ibm, None, 100, &Meter::unlimited()).unwrap().unwrap();
        let second = catalogue.search(&ibm, first.next, 100, &Meter::unlimited()).unwrap().unwrap();
        (read_back(&catalogue), first, second, catalogue.count(&ibm, &Meter::unlimited()).unwrap())
    };
    let one = answers(1);
    assert_eq!(one.0, instruments);
    assert!(one.2.hits.len() == 100, "{:?}", one.2);
    for threads in [2, 3, 5] {
        assert_eq!(answers(threads), one, "{threads} threads");
    }
}

#[test]
fn an_inventory_counts_fields_and_values() {
    let mut instruments = universe(60);
    instruments[4].importance = Importance::new(0.0);
    instruments[3].alias = vec!["a".into(), "b".into()];
    for text in ["US4592001014", "JP3633400001"] {
        instruments[5].identifiers.push(IdType::Isin.admit(text).unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let inventory = publish(folder.path(), &instruments, 25).inventory().unwrap();
    let filled = |name: &str| inventory.filled.iter().find(|(field, _)| *field == name).unwrap().1;
    for (name, count) in [
        ("figi", 60),
        ("ID_BB_GLOBAL", 60),
        ("ticker", 60),
        ("TICKER", 60),
        ("name", 0),
        ("exchCode", 45),
        ("expiration", 30),
        ("maturity", 12),
        ("listed", 40),
        ("alias", 1),
        ("importance", 1),
        ("ID_ISIN", 1),
        ("ID_CUSIP", 0),
    ] {
        assert_eq!(filled(name), count, "{name}");
    }
    let sectors = &inventory.values[&Property::MarketSecDes];
    assert_eq!(sectors.values().sum::<u64>(), filled("marketSecDes"));
    assert_eq!(sectors["Equity"], 20);
    let names: Vec<_> = inventory.filled.iter().map(|(name, _)| name).collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), distinct.len());
}

/// Replaces the files of `index` whose names begin with `prefix` by those of `other`, with right
/// checksums, as a fault of the builder would.
fn graft(index: &Path, other: &Path, prefix: &str) {
    let generation = index.join("generation-000001");
    let manifest = |index: &Path| {
        let text = fs::read_to_string(index.join("generation-000001/manifest.toml")).unwrap();
        text.parse::<toml::Table>().unwrap()
    };
    let (mut mine, theirs) = (manifest(index), manifest(other));
    let files = |manifest: &toml::Table| manifest["parts"][0]["files"].as_array().unwrap().clone();
    let starts = |file: &toml::Value| file["name"].as_str().unwrap().starts_with(prefix);
    let part = |index: &Path, file: &toml::Value| {
        index.join("generation-000001/part-000").join(file["name"].as_str().unwrap())
    };
    let mut all = files(&mine);
    all.retain(|file| {
        if starts(file) {
            fs::remove_file(part(index, file)).unwrap();
        }
        !starts(file)
    });
    for file in files(&theirs).into_iter().filter(starts) {
        fs::copy(part(other, &file), part(index, &file)).unwrap();
        all.push(file);
    }
    mine["parts"][0]["files"] = all.into();
    let text = toml::to_string(&mine).unwrap();
    let checksum = format!("{}  manifest.toml\n", hex(&Sha256::digest(&text)));
    fs::write(generation.join("manifest.toml"), text).unwrap();
    fs::write(generation.join("manifest.toml.sha256"), checksum).unwrap();
}

#[test]
fn files_that_contradict_each_other_are_found() {
    let mut one = universe(30);
    one[4].alias = vec!["a".into()];
    let mut other = one.clone();
    other[7].identifiers.push(IdType::Bb.admit("X").unwrap());
    other[8].ticker = Some("OTHER".into());
    other[9].expiration = None;
    other[10].properties[Property::ExchCode as usize] = Some("GR".into());
    for prefix in ["rows", "identifiers", "segment", "extras"] {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        publish(&a, &one, 1_000).verify().unwrap();
        publish(&b, &other, 1_000).verify().unwrap();
        graft(&a, &b, prefix);
        let verified = Catalogue::open(&a).and_then(|catalogue| catalogue.verify());

        assert!(matches!(verified, Err(Error::Damaged { .. })), "{prefix}: {verified:?}");
    }
}
