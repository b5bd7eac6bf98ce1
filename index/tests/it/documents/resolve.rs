use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use figdex_index::{
    Filters, IdType, Instrument, Meter, Policy, Property, Question, ReadingLookups, Resolution,
    ResolveBounds, RowSource, Visible, check_digit,
};
use proptest::prelude::*;

use super::{Documents, figis};
use crate::support::{figi, publish, universe};

const TICKERS: [&str; 9] =
    ["IBM", "BRK/B", "VOD", "851399", "0263494", "NESTLE", "UBER", "ZEBRA", "APPLE"];

fn isin(number: u32) -> String {
    let body = format!("US{number:09}");
    format!("{body}{}", check_digit::isin(body.as_bytes()).unwrap())
}

/// Securities with several rows each, and tickers that are identifiers of other rows.
fn instruments() -> Vec<Instrument> {
    let mut instruments = universe(80);
    for (number, instrument) in (0_u32..).zip(&mut instruments) {
        let of = |id_type: IdType, text: &str| id_type.admit(text).unwrap().into_owned();
        instrument.ticker = Some(TICKERS[number as usize % TICKERS.len()].to_owned());
        // Some tickers begin the names of their rows, and some of these are the names of others.
        let name = match instrument.ticker.as_deref() {
            Some("NESTLE") => "NESTLE PAKISTAN LTD",
            Some("UBER") => "The Uber Technologies Inc",
            Some("ZEBRA") => "ZEBRA ZOO INC",
            Some("BRK/B") => "Nestlé S.A.",
            Some("VOD") => "UBER",
            _ => "OTHER",
        };
        instrument.name = Some(name.to_owned());
        instrument.share_class_figi = (number % 3 > 0).then(|| figi(100 + number / 20));
        instrument.composite_figi = instrument.composite_figi.filter(|_| number % 11 > 2);
        instrument.properties[Property::MicCode as usize] =
            Some(["XNYS", "XLON", "XETR"][number as usize / 3 % 3].to_owned());
        instrument.identifiers = vec![of(IdType::Isin, &isin(number / 9))];
        match number % 8 {
            1 => instrument.identifiers.push(of(IdType::Wertpapier, "851399")),
            2 => instrument.identifiers.push(of(IdType::Sedol, "0263494")),
            3 => instrument.identifiers.push(of(IdType::Cusip, "459200101")),
            _ => {}
        }
    }
    instruments
}

fn text() -> impl Strategy<Value = String> {
    let swapped = |text: String| {
        let mut swapped = text.into_bytes();
        swapped.swap(9, 10);
        String::from_utf8(swapped).unwrap()
    };
    prop_oneof![
        3 => proptest::sample::select(&TICKERS[..]).prop_map(str::to_owned),
        2 => proptest::sample::select(&["Nestle", "Uber", "uber", "Apple", "Zebra"][..])
            .prop_map(str::to_owned),
        2 => (0_u32..10).prop_map(isin),
        1 => (0_u32..10).prop_map(isin).prop_map(swapped),
        1 => (0_u32..10).prop_map(|number| format!("{}7", &isin(number)[..11])),
        2 => (0_u32..110).prop_map(|number| figi(number).to_string()),
        1 => (0_u32..110).prop_map(|number| format!("{}0", &figi(number).to_string()[..11])),
        2 => proptest::sample::select(&[
            "ibm us", "IBM:XLON", "BRK.B", "VOD LN Equity", "459200101", "459200102", "unheard",
            "3.78E+08", "", "0263495", "026394 4",
        ][..]).prop_map(str::to_owned),
    ]
}

type Shown = (Resolution, Vec<figdex_index::Figi>);

/// The results with FIGIs in place of hits, which differ between engines.
fn shown(rows: &impl RowSource, resolutions: Vec<Resolution>) -> Vec<Shown> {
    let shown = resolutions.into_iter().map(|mut resolution| {
        let hits = std::mem::take(&mut resolution.hits);
        (resolution, figis(rows, &hits))
    });
    shown.collect()
}

/// contract 17: documents are resolved as rows are, with the same bounds.
#[test]
fn documents_are_resolved_as_rows_are() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &instruments(), 30);
    let documents = Documents::of(&catalogue);
    let seen = RefCell::new(BTreeMap::new());
    let step = proptest::sample::select(
        &[
            "composite",
            "exchCode=US",
            "exchCode=XX|LN|GR",
            "micCode=XLON|XNYS",
            "marketSecDes=Corp",
        ][..],
    );
    let exch_code = proptest::option::weighted(0.3, proptest::sample::select(vec!["US", "LN"]));
    let strategy = (
        proptest::collection::vec(text(), 1..9),
        proptest::collection::vec(step, 0..4),
        (1_usize..20, 1_usize..70, 0_usize..5),
        exch_code,
    );
    proptest!(ProptestConfig::with_cases(2_500), |((texts, steps, bounds, exch_code) in strategy)| {
        let vocabulary = catalogue.vocabulary();
        let filters = exch_code.map(|code| {
            let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
            filters.known.require(vocabulary.admit(Property::ExchCode, code).unwrap());
            Arc::new(filters)
        });
        let question = |text| Question::text(text, vocabulary, filters.as_ref());
        let questions: Vec<_> = texts.iter().map(|text| question(text)).collect();
        let policy = Policy::parse(steps, vocabulary).unwrap();
        let (identifier_rows_max, rows_max, candidates_max) = bounds;
        let bounds = ResolveBounds { identifier_rows_max, rows_max, candidates_max, corrected: Visible::ALL };
        let meter = Meter::unlimited();
        let expected = catalogue.resolve(&questions, &policy, bounds, &meter).unwrap();

        let readings = ReadingLookups::new(&questions, &policy, bounds);
        let fetched_max = readings.fetched_max();
        let fetch = |lookup| {
            let hits = documents.lookup(lookup);
            let count = hits.len();
            (if count > fetched_max { Vec::new() } else { hits }, count)
        };
        let found: Vec<_> = readings.lookups().map(fetch).collect();
        let corrections = readings.decide(found, &documents.rows, vocabulary, &meter).unwrap();
        let lookups = corrections.lookups().iter();
        let found: Vec<_> = lookups.map(|lookup| !documents.lookup(lookup).is_empty()).collect();
        let is_elsewhere = |(key, security)| documents.all.iter().any(|one| {
            let Instrument { figi, composite_figi, share_class_figi, .. } = &one.instrument;
            let own = [Some(*figi), *composite_figi, *share_class_figi];
            one.document.keys.contains(&key) && !own.contains(&Some(security))
        });
        let elsewhere: Vec<bool> = corrections.names().map(is_elsewhere).collect();
        for (name, is_elsewhere) in [("elsewhere", true), ("nowhere else", false)] {
            let count = elsewhere.iter().filter(|is| **is == is_elsewhere).count();
            *seen.borrow_mut().entry(name).or_insert(0) += count;
        }
        let resolutions = corrections.finish(found, elsewhere);

        for resolution in &expected {
            let mut seen = seen.borrow_mut();
            *seen.entry(resolution.status.name()).or_insert(0) += 1;
            *seen.entry("corrected").or_insert(0) += usize::from(resolution.correction.is_some());
            *seen.entry("beyond").or_insert(0) += usize::from(resolution.is_beyond_rows);
            *seen.entry("like a name").or_insert(0) += usize::from(resolution.is_name_like);
        }
        prop_assert_eq!(shown(&documents.rows, resolutions), shown(&catalogue, expected));
    });
    let seen = seen.into_inner();
    assert!(seen.len() == 9 && seen.values().all(|count| *count > 100), "{seen:?}");
}

/// A heavy list is refused.
#[test]
fn the_work_on_documents_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &instruments(), 100);
    let documents = Documents::of(&catalogue);
    let questions = [Question::text("IBM", catalogue.vocabulary(), None)];
    let bounds = ResolveBounds {
        identifier_rows_max: 100,
        rows_max: 100,
        candidates_max: 10,
        corrected: Visible::ALL,
    };
    let policy = Policy::default();
    let readings = ReadingLookups::new(&questions, &policy, bounds);
    let hits = readings.lookups().map(|lookup| documents.lookup(lookup));
    let found: Vec<_> = hits.map(|hits| (hits.clone(), hits.len())).collect();
    let rows = &documents.rows;
    assert!(readings.decide(found, rows, catalogue.vocabulary(), &Meter::of(50)).is_err());
}

/// An engine that miscounts breaks nothing.
#[test]
fn more_documents_than_were_counted_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &instruments(), 100);
    let documents = Documents::of(&catalogue);
    let vocabulary = catalogue.vocabulary();
    let questions = [Question::text("IBM", vocabulary, None)];
    let bounds = ResolveBounds {
        identifier_rows_max: 100,
        rows_max: 3,
        candidates_max: 10,
        corrected: Visible::ALL,
    };
    let policy = Policy::default();
    let readings = ReadingLookups::new(&questions, &policy, bounds);
    let hits: Vec<_> = documents.all.iter().take(4).map(|one| one.hit).collect();
    let meter = Meter::unlimited();
    let decided = readings.decide([(hits, 0)], &documents.rows, vocabulary, &meter).unwrap();
    let resolutions = decided.finish([], []);
    assert!(resolutions[0].is_beyond_rows, "{resolutions:?}");
}
