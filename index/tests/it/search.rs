//! Compares search and filter with a plain scan, which implements chapters 8 and 9 of the contract
//! a second time, as simply as possible.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use figdex_index::{
    Begun, Catalogue, Facet, FacetQuestion, Filters, IdType, Instrument, Keywords, Level, Levels,
    Meter, Place, Property, RowSource as _, Search, Suggest,
};
use proptest::prelude::*;

use crate::support::{figi, publish, universe};

/// Words that share letters, pieces and runs with each other.
const WORDS: [&str; 16] = [
    "BRK/B", "brk", "B", "brkb", "SJIM11", "sjim", "11", "US", "GR", "gr", "bank", "A&B", "05/20",
    "0520", "(Bank)", "-",
];

/// Instruments whose texts are made of these words.
pub(crate) fn worded(count: u32) -> Vec<Instrument> {
    let mut instruments = universe(count);
    for (number, instrument) in instruments.iter_mut().enumerate() {
        let word = |place: usize| WORDS[(number * 7 + place * 5 + number / 9) % WORDS.len()];
        instrument.ticker = Some(word(0).to_owned());
        instrument.name =
            (!number.is_multiple_of(4)).then(|| format!("{} {}", word(1), word(number % 3)));
        instrument.security_description = number.is_multiple_of(3).then(|| word(3).to_owned());
        instrument.alias = (0..number % 2).map(|_| word(4).to_owned()).collect();
        let mut identify = |id_type: IdType, text: &str| {
            instrument.identifiers.push(id_type.admit(text).unwrap().into_owned());
        };
        match number % 6 {
            0 => identify(IdType::Isin, "US4592001014"),
            1 => identify(IdType::Bb, "BRK:US"),
            2 => identify(IdType::Occ, "AAPL  251219C00200000"),
            3 => identify(IdType::UniqueFutOpt, "B 11 gr"),
            4 => identify(IdType::BaseTicker, "BASE"),
            _ => {}
        }
    }
    instruments
}

/// A strategy for texts as people may type them.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => proptest::sample::select(&WORDS[..]).prop_map(str::to_owned),
        1 => proptest::sample::select(&[
            "us4592001014", "brk:us", "brkus", "AAPL251219C00200000", "AAPL  251219C00200000",
            "b11gr", "base", "BBG000000003", "b-r-k-b", "*", "bank*", "ticker:brk", "\"bank", "b OR",
        ][..]).prop_map(str::to_owned),
        1 => (0_u32..60).prop_map(|number| figi(number).to_string()),
    ];
    proptest::collection::vec(word, 0..4).prop_map(|words| words.join(" "))
}

fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| is_alphanumeric(*c)).collect::<String>().to_lowercase()
}

/// The runs of letters and of digits of a word.
fn runs(word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let kind = |c: char| (is_alphanumeric(c), c.is_ascii_digit());
    let characters: Vec<char> = word.chars().collect();
    let chunks = characters.chunk_by(|a, b| kind(*a) == kind(*b));
    chunks.filter(|chunk| is_alphanumeric(chunk[0])).map(|chunk| chunk.iter().collect()).collect()
}

fn row_terms(instrument: &Instrument) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for word in instrument.words().flat_map(str::split_whitespace) {
        terms.insert(squeeze(word));
        terms.extend(word.split(|c| !is_alphanumeric(c)).map(squeeze));
        terms.extend(runs(word));
    }
    terms.remove("");
    terms
}

fn holds(instrument: &Instrument, text: &str) -> bool {
    let words: Vec<_> = text.split_whitespace().filter(|word| !squeeze(word).is_empty()).collect();
    let Some((last, others)) = words.split_last() else { return false };
    let terms = row_terms(instrument);
    let word = |word: &&str| {
        terms.contains(&squeeze(word)) || runs(word).iter().all(|run| terms.contains(run))
    };
    let exch_code = instrument.property(Property::ExchCode).map(str::to_lowercase);
    let is_typed = |value: &str| squeeze(value) == squeeze(text);
    let mut identifiers = instrument
        .keys()
        .filter(|value| !matches!(value.id_type(), IdType::Ticker | IdType::BaseTicker));
    is_typed(&instrument.figi.to_string())
        || identifiers.any(|value| is_typed(value.as_str()))
        || others.iter().all(word)
            && (word(last) || !others.is_empty() && exch_code == Some(squeeze(last)))
}

pub(crate) fn passes(catalogue: &Catalogue, filters: &Filters, instrument: &Instrument) -> bool {
    filters.known.iter().all(|asked| {
        let own = instrument.property(asked.property());
        asked.values().any(|known| own == Some(catalogue.vocabulary().text(known)))
    }) && (filters.include_unlisted_equities || !instrument.is_unlisted_equity())
        && (filters.levels.is_empty() || filters.levels.iter().any(|it| it == instrument.level()))
        && filters.numbers[0].is_none_or(|interval| {
            instrument.strike.is_some_and(|strike| interval.contains(strike))
        })
}

pub(crate) fn searches(catalogue: &Catalogue) -> impl Strategy<Value = Search> {
    let vocabulary = catalogue.vocabulary().clone();
    let exch_codes = proptest::sample::subsequence(vec!["US", "GR", "LN"], 0..=3);
    let sectors = proptest::sample::subsequence(vec!["Equity", "Corp", "Muni"], 0..=3);
    let strike = proptest::option::weighted(0.2, 0.0..8.0);
    let levels = proptest::option::weighted(0.3, proptest::sample::subsequence(&Level::ALL, 1..=4));
    let values = (exch_codes, sectors, levels);
    (proptest::option::weighted(0.8, text()), values, strike, any::<bool>()).prop_map(
        move |(text, (exch_codes, sectors, levels), strike, include)| {
            let mut asked = Levels::default();
            levels.into_iter().flatten().for_each(|level| asked.insert(level));
            let mut filters =
                Filters { levels: asked, include_unlisted_equities: include, ..Filters::default() };
            filters.numbers[0] =
                strike.map(|low| figdex_index::NumberInterval::new(Some(low), None).unwrap());
            for (property, values) in
                [(Property::ExchCode, exch_codes), (Property::MarketSecDes, sectors)]
            {
                for value in values {
                    filters.known.allow(vocabulary.admit(property, value).unwrap());
                }
            }
            let keywords = text.map(|text| Keywords::parse(&text).unwrap());
            Search { keywords, filters }
        },
    )
}

fn figis(catalogue: &Catalogue, hits: &[figdex_index::Hit]) -> Vec<figdex_index::Figi> {
    hits.iter().map(|hit| catalogue.figi(*hit)).collect()
}

/// All pages of a filter, joined.
fn filtered(catalogue: &Catalogue, search: &Search, page: usize) -> Vec<figdex_index::Figi> {
    let mut after = None;
    let mut all = Vec::new();
    loop {
        let found = catalogue.filter(search, after, page, &Meter::unlimited()).unwrap().unwrap();
        all.extend(figis(catalogue, &found.hits));
        assert!(found.next.is_none() || found.hits.len() == page);
        match found.next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}

/// All pages of a search, joined.
fn searched(catalogue: &Catalogue, search: &Search, page: usize) -> Vec<figdex_index::Figi> {
    let mut after: Option<Place> = None;
    let mut all = Vec::new();
    loop {
        let found = catalogue.search(search, after, page, &Meter::unlimited()).unwrap().unwrap();
        all.extend(figis(catalogue, &found.hits));
        assert!(found.next > after || found.next.is_none());
        match found.next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}

/// contract 8.2, 9.1, 9.6, 9.7, 9.9, 10.7: a search finds the same rows as a scan, on joined pages
/// and in its total, over one part and over four.
#[test]
fn searches_agree_with_a_scan_over_one_part_and_over_many() {
    let instruments = worded(60);
    let folder = tempfile::tempdir().unwrap();
    let whole = publish(&folder.path().join("one"), &instruments, 1_000);
    let split = publish(&folder.path().join("four"), &instruments, 15);
    let found = Cell::new(0);
    let strategy = (searches(&whole), 1_usize..20);
    proptest!(ProptestConfig::with_cases(3_000), |((search, page) in strategy)| {
        let expected: Vec<_> = instruments
            .iter()
            .filter(|instrument| passes(&whole, &search.filters, instrument))
            .filter(|instrument| {
                search.keywords.as_ref().is_none_or(|keywords| holds(instrument, keywords.text()))
            })
            .map(|instrument| instrument.figi)
            .collect();
        found.set(found.get() + usize::from(!expected.is_empty()));
        prop_assert_eq!(&filtered(&whole, &search, page), &expected);
        prop_assert_eq!(&filtered(&split, &search, page), &expected);
        prop_assert_eq!(whole.count(&search, &Meter::unlimited()).unwrap().unwrap(), expected.len() as u64);
        prop_assert_eq!(split.count(&search, &Meter::unlimited()).unwrap().unwrap(), expected.len() as u64);
        let ranked = searched(&whole, &search, 1_000);
        prop_assert_eq!(&searched(&whole, &search, page), &ranked);
        prop_assert_eq!(&searched(&split, &search, page), &ranked);
        prop_assert_eq!(ranked.into_iter().collect::<BTreeSet<_>>(), expected.into_iter().collect());
    });
    assert!(found.get() > 1_000, "many searches must find something: {found:?}");
}

/// contract 16.11: counts are those of a scan, over one part and over many, for few rows and for
/// many.
#[test]
fn facets_agree_with_a_scan() {
    let mut instruments = worded(3_000);
    for (number, instrument) in instruments.iter_mut().enumerate() {
        instrument.composite_figi = instrument.composite_figi.filter(|_| number % 7 > 1);
        instrument.share_class_figi = (number % 7 == 0).then(|| figi(1));
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = publish(&folder.path().join("one"), &instruments, 10_000);
    let split = publish(&folder.path().join("many"), &instruments, 700);
    let asked = [Facet::Level, Facet::Property(Property::ExchCode)];
    let others = [Property::MarketSecDes, Property::Currency].map(Facet::Property);
    let asked: Vec<Facet> = asked.into_iter().chain(others).collect();
    let value = |facet: Facet, instrument: &Instrument| match facet {
        Facet::Level => Some(instrument.level().name().to_owned()),
        Facet::Property(property) => instrument.property(property).map(str::to_owned),
    };
    let (few, many, all) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let check = |search: &Search| {
        let passing = instruments.iter().filter(|instrument| {
            passes(&whole, &search.filters, instrument)
                && search.keywords.as_ref().is_none_or(|words| holds(instrument, words.text()))
        });
        let passing: Vec<_> = passing.collect();
        let size = match passing.len() {
            0..=40 => &few,
            2_000.. => &all,
            _ => &many,
        };
        size.set(size.get() + 1);
        let expected: Vec<BTreeMap<String, u64>> = asked
            .iter()
            .map(|facet| {
                let mut counts = BTreeMap::new();
                for value in passing.iter().filter_map(|instrument| value(*facet, instrument)) {
                    *counts.entry(value).or_default() += 1;
                }
                counts
            })
            .collect();
        let question = FacetQuestion { search: search.clone(), facets: asked.clone() };
        for catalogue in [&whole, &split] {
            let found = catalogue.facets(&question, &Meter::unlimited()).unwrap().unwrap();
            prop_assert_eq!(found.total, passing.len() as u64);
            for ((facet, expected), counts) in asked.iter().zip(&expected).zip(&found.counts) {
                prop_assert_eq!(*facet, counts.facet);
                prop_assert!(counts.values.is_sorted_by(|a, b| a.1 >= b.1));
                let found = counts.values.iter();
                let found: BTreeMap<String, u64> = found
                    .map(|&(place, rows)| {
                        (facet.value(place, catalogue.vocabulary()).to_owned(), rows)
                    })
                    .collect();
                prop_assert_eq!(&found, expected, "{:?} of {:?}", facet, search);
            }
        }
        Ok(())
    };
    let unlisted = Filters { include_unlisted_equities: true, ..Filters::default() };
    check(&Search::default()).unwrap();
    check(&Search { filters: unlisted, ..Search::default() }).unwrap();
    proptest!(ProptestConfig::with_cases(150), |(search in searches(&whole))| {
        check(&search)?;
    });
    let sizes = [few, many, all].map(Cell::into_inner);
    assert!(sizes[0] > 10 && sizes[1] > 10 && sizes[2] > 1, "{sizes:?}");
}

/// Suggestions do not depend on the parts, pass the filters, and have no row twice.
#[test]
fn suggestions_agree_over_one_part_and_over_many() {
    let instruments = worded(60);
    let folder = tempfile::tempdir().unwrap();
    let whole = publish(&folder.path().join("one"), &instruments, 1_000);
    let split = publish(&folder.path().join("four"), &instruments, 15);
    let found = Cell::new(0);
    let check = |search: &Search, limit: usize| {
        let Some(keywords) = search.keywords.clone() else { return Ok(()) };
        let asked = Suggest { keywords, filters: search.filters.clone() };
        let of = |catalogue: &Catalogue| {
            let found = catalogue
                .suggest(&asked, limit, &mut Begun::default(), &Meter::unlimited())
                .unwrap()
                .unwrap();
            let found = found.into_iter();
            found.map(|it| (catalogue.figi(it.hit), it.listings, it.matched)).collect::<Vec<_>>()
        };
        let suggested = of(&whole);
        prop_assert_eq!(&of(&split), &suggested, "{:?}, {} at most", asked, limit);
        prop_assert!(suggested.len() <= limit);
        let once: BTreeSet<_> = suggested.iter().map(|(figi, _, _)| *figi).collect();
        prop_assert_eq!(once.len(), suggested.len());
        found.set(found.get() + usize::from(!suggested.is_empty()));
        for (figi, _, _) in &suggested {
            let instrument = instruments.iter().find(|instrument| instrument.figi == *figi);
            prop_assert!(passes(&whole, &asked.filters, instrument.unwrap()));
        }
        Ok(())
    };
    // Words and their beginnings, for which some parts have rows and others none.
    for word in WORDS {
        for (end, letter) in word.char_indices() {
            let keywords = Keywords::parse(&word[..end + letter.len_utf8()]).ok();
            let search = Search { keywords, ..Search::default() };
            for limit in [1, 2, 60] {
                check(&search, limit).unwrap();
            }
        }
    }
    proptest!(ProptestConfig::with_cases(2_000), |(search in searches(&whole), limit in 1_usize..60)| {
        check(&search, limit)?;
    });
    assert!(found.get() > 100, "many must suggest something: {found:?}");
}

/// contract 9.2: any text is only words, so a search never fails.
#[test]
fn any_text_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &worded(20), 100);
    proptest!(|(text in any::<String>())| {
        if let Ok(keywords) = Keywords::parse(&text) {
            let search = Search { keywords: Some(keywords), ..Search::default() };
            let count = catalogue.count(&search, &Meter::unlimited()).unwrap().unwrap();
            prop_assert_eq!(searched(&catalogue, &search, 7).len() as u64, count);
        }
    });
}
