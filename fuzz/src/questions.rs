//! Questions of every kind to an open index: none may panic, and every row that is found can
//! be read.

use figdex_index::{
    Begun, Catalogue, Date, DateInterval, Filters, Hit, IdType, IdValue, Keywords, Lookup, Meter,
    NumberInterval, Property, RowSource as _, Search, Suggest,
};

/// Identifiers of the small index. Another index may lack them.
const LOOKUPS: [(IdType, &str); 5] = [
    (IdType::Isin, "US4592001014"),
    (IdType::Ticker, "IBM"),
    (IdType::BbGlobal, "BBG000B9XRY4"),
    (IdType::CompositeBbGlobal, "BBG000BLNNH6"),
    (IdType::ShareClassBbGlobal, "BBG001S5S399"),
];

/// A word of many names.
const FREQUENT: &str = "corp";

/// An ISIN, a frequent word, rare words, the beginning of a word, a typo.
const WORDS: [&str; 5] = ["US4592001014", FREQUENT, "intl business", "i", "busimess machines"];

const HITS_MAX: usize = 100;

/// Asks all questions.
///
/// # Panics
/// When an answer is an error, which a verified index never returns.
pub fn ask(catalogue: &Catalogue) {
    let mut hits = Vec::new();
    for (id_type, text) in LOOKUPS {
        let value = id_type.admit(text).expect("a value of its kind");
        hits.extend(lookup(catalogue, value));
    }
    let words = WORDS.map(|text| Keywords::parse(text).expect("not too long"));
    for keywords in words.iter().cloned() {
        let asked = Suggest { keywords, filters: Filters::default() };
        let found = catalogue
            .suggest(&asked, HITS_MAX, &mut Begun::default(), &Meter::unlimited())
            .expect("readable");
        hits.extend(found.into_iter().flatten().map(|suggestion| suggestion.hit));
    }
    let filters = narrowings(catalogue);
    let frequent = Keywords::parse(FREQUENT).expect("not too long");
    let searches = words
        .iter()
        .map(|keywords| (Some(keywords), Filters::default()))
        .chain(filters.iter().map(|filters| (None, filters.clone())))
        .chain(filters.iter().map(|filters| (Some(&frequent), filters.clone())));
    for (keywords, filters) in searches {
        let search = Search { keywords: keywords.cloned(), filters };
        let page =
            catalogue.search(&search, None, HITS_MAX, &Meter::unlimited()).expect("readable");
        let page = page.expect("any effort is allowed");
        let filtered = catalogue.filter(&search, None, HITS_MAX, &Meter::unlimited());
        let filtered = filtered.expect("readable").expect("any effort is allowed");
        let total = catalogue.count_uncached(&search, &Meter::unlimited()).expect("readable");
        assert_eq!(page.hits.len(), filtered.hits.len());
        assert!(total >= Some(page.hits.len() as u64));
        hits.extend(page.hits.into_iter().chain(filtered.hits));
    }
    hits.sort_unstable();
    hits.dedup();
    hits.into_iter().for_each(|hit| read(catalogue, hit));
}

fn lookup(catalogue: &Catalogue, value: IdValue<'_>) -> Vec<Hit> {
    let question = Lookup::new(value, Filters::default());
    // Too many hits are an error, which leaves no hit to read.
    catalogue.lookup(&question, HITS_MAX).unwrap_or_default()
}

/// Filters: none, an interval of each kind, and a value of each property.
fn narrowings(catalogue: &Catalogue) -> Vec<Filters> {
    let days = DateInterval::new(Date::new(2026, 1, 1), None).expect("a year");
    let numbers = NumberInterval::new(Some(1.0), Some(100.0)).expect("from 1 to 100");
    let unlisted = Filters { include_unlisted_equities: true, ..Filters::default() };
    let mut all = vec![Filters::default(), unlisted, Filters::default()];
    (all[1].numbers[0], all[2].dates[0]) = (Some(numbers), Some(days));
    for property in Property::ALL {
        let vocabulary = catalogue.vocabulary();
        let first = vocabulary.values(property).next();
        if let Some(known) = first.and_then(|first| vocabulary.admit(property, first)) {
            let mut filters = Filters::default();
            filters.known.require(known);
            all.push(filters);
        }
    }
    all
}

fn read(catalogue: &Catalogue, hit: Hit) {
    let row = catalogue.row(hit);
    let texts = [row.ticker(), row.name(), row.metadata(), row.security_description()];
    let lengths = texts.into_iter().flatten().map(|text| text.to_string().len());
    assert!(lengths.sum::<usize>() < 1 << 20);
    assert_eq!(catalogue.find(row.figi()), Some(hit));
    catalogue.instrument(hit).expect("readable");
    catalogue.family(hit);
}
