//! The order by importance, compared with a plain sort; over one part and over several, and from one
//! generation to the next.

use std::cmp::Reverse;

use figdex_index::{
    Catalogue, Figi, Importance, Instrument, Keywords, Meter, Place, Property, RowSource as _,
    Search,
};
use proptest::prelude::*;

use crate::support::{figi, publish};

/// The instruments of a test: enough that frequent words are read in the order of ranks.
const COUNT: u32 = 300;

/// A row of the test: whether it is a bond and not a share, the share class that it shares with
/// others, and its importance.
type Given = (bool, Option<u32>, Option<u8>);

fn given() -> impl Strategy<Value = Vec<Given>> {
    let row = (
        proptest::bool::weighted(0.2),
        proptest::option::of(0_u32..40),
        proptest::option::weighted(0.7, 0_u8..20),
    );
    proptest::collection::vec(row, COUNT as usize)
}

fn instruments(rows: &[Given]) -> Vec<Instrument> {
    let instrument = |(number, &(is_bond, share_class, importance)): (u32, &Given)| {
        let (sector, kind) = if is_bond { ("Corp", "Corp") } else { ("Equity", "Common Stock") };
        let rare = if number.is_multiple_of(5) { " QUAGGA" } else { " OKAPI" };
        let mut instrument = Instrument {
            name: Some(format!("ZEBRA{rare}")),
            share_class_figi: share_class.map(|class| figi(1_000_000 + class)),
            importance: importance.and_then(|number| Importance::new(f64::from(number) / 3.0)),
            ..Instrument::new(figi(number))
        };
        instrument.properties[Property::MarketSecDes as usize] = Some(sector.to_owned());
        instrument.properties[Property::SecurityType2 as usize] = Some(kind.to_owned());
        instrument
    };
    (0_u32..).zip(rows).map(instrument).collect()
}

/// The rows in the order of contract 10.3, 10.4, 10.6 and 10.8, as they are all listed alike.
fn sorted(instruments: &[Instrument]) -> Vec<Figi> {
    let is_bond = |it: &Instrument| it.property(Property::MarketSecDes) == Some("Corp");
    // Bonds have no listings to choose from.
    let listings = |it: &Instrument| -> Vec<&Instrument> {
        let class = it.share_class_figi.filter(|_| !is_bond(it));
        let same = |other: &&Instrument| match class {
            Some(class) => !is_bond(other) && other.share_class_figi == Some(class),
            None => other.figi == it.figi,
        };
        instruments.iter().filter(same).collect()
    };
    let mut keyed: Vec<_> = instruments
        .iter()
        .map(|it| {
            let listings = listings(it);
            let best = listings.iter().min_by_key(|it| (Reverse(it.importance), it.figi)).unwrap();
            let is_other = best.figi != it.figi;
            let key = (is_bond(it), is_other, Reverse(it.importance), Reverse(listings.len()));
            (key, it.figi)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, figi)| figi).collect()
}

fn search(text: Option<&str>) -> Search {
    Search { keywords: text.map(|text| Keywords::parse(text).unwrap()), ..Search::default() }
}

/// The rows after a place, in pages of that size, each page with the place where it ends.
fn pages(
    catalogue: &Catalogue,
    search: &Search,
    mut after: Option<Place>,
    size: usize,
) -> Vec<(Vec<Figi>, Option<Place>)> {
    let mut pages = Vec::new();
    loop {
        let page = catalogue.search(search, after, size, &Meter::unlimited()).unwrap().unwrap();
        let figis = page.hits.iter().map(|hit| catalogue.figi(*hit)).collect();
        assert!(page.next.is_none() || page.next > after, "places ascend");
        pages.push((figis, page.next));
        match page.next {
            Some(next) => after = Some(next),
            None => return pages,
        }
    }
}

fn rows(catalogue: &Catalogue, search: &Search, after: Option<Place>, size: usize) -> Vec<Figi> {
    pages(catalogue, search, after, size).into_iter().flat_map(|(figis, _)| figis).collect()
}

/// contract 10.7, 10.8: the order is that of a plain sort, in pages of any size, over one part and
/// over four, for frequent words, rare ones and none.
#[test]
fn the_order_is_that_of_a_plain_sort() {
    let folder = tempfile::tempdir().unwrap();
    proptest!(ProptestConfig::with_cases(6), |(given in given(), size in 1_usize..80)| {
        let instruments = instruments(&given);
        let expected = sorted(&instruments);
        let whole = publish(&folder.path().join("one"), &instruments, 1_000);
        let split = publish(&folder.path().join("four"), &instruments, COUNT.div_ceil(4));
        whole.verify().unwrap();
        split.verify().unwrap();
        for (text, number) in [(None, 1), (Some("zebra"), 1), (Some("quagga"), 5)] {
            let holds = |figi: &&Figi| {
                number == 1 || instruments.iter().step_by(number).any(|it| it.figi == **figi)
            };
            let expected: Vec<Figi> = expected.iter().filter(holds).copied().collect();
            for catalogue in [&whole, &split] {
                prop_assert_eq!(&rows(catalogue, &search(text), None, size), &expected);
            }
        }
        for instrument in &instruments {
            let hit = split.find(instrument.figi).unwrap();
            prop_assert_eq!(split.instrument(hit).unwrap().importance, instrument.importance);
        }
    });
}

/// contract 11.7: over a new index with other importances a cursor goes on from the same place.
#[test]
fn a_place_means_the_same_among_other_importances() {
    let folder = tempfile::tempdir().unwrap();
    let strategy = (given(), given(), 1_usize..COUNT as usize, any::<bool>());
    proptest!(ProptestConfig::with_cases(6), |((before, after, size, keeps) in strategy)| {
        // The same instruments, with other importances or without any.
        let next: Vec<Given> = before
            .iter()
            .zip(&after)
            .map(|(&(bond, class, _), &(.., other))| (bond, class, other.filter(|_| keeps)))
            .collect();
        let old = publish(&folder.path().join("old"), &instruments(&before), 1_000);
        let new = publish(&folder.path().join("new"), &instruments(&next), 90);
        for text in [None, Some("zebra"), Some("quagga")] {
            let asked = search(text);
            let page = old.search(&asked, None, size, &Meter::unlimited()).unwrap().unwrap();
            let Some(place) = page.next else { continue };
            // The place of each row of the new index but the last, which has no next page.
            let all = pages(&new, &asked, None, 1);
            let (last, others) = all.split_last().unwrap();
            let later = others.iter().filter(|(_, at)| at.is_some_and(|at| at > place));
            let mut expected: Vec<Figi> = later.flat_map(|(figis, _)| figis.clone()).collect();
            expected.extend(&last.0);
            let mut found = rows(&new, &asked, Some(place), 70);
            // Whether the very last row comes after the place is not known from places.
            if found.last() != last.0.last() {
                expected.pop();
            }
            prop_assert_eq!(&found, &expected);
            found.dedup();
            prop_assert_eq!(found.len(), expected.len());
        }
    });
}
