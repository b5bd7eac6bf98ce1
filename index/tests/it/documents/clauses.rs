//! Searches of documents: the clauses are evaluated as another engine would, document by document.

use std::cell::Cell;

use figdex_index::{
    Catalogue, Clauses, ExactRanks, Figi, Hit, IdType, Importance, Instrument, Keywords, Meter,
    NAMES_MAX, Property, Search, Tier, WordTerms,
};
use proptest::prelude::*;

use super::{Documents, Fetch, figis, has_key, is_identifier};
use crate::search::{searches, worded};
use crate::support::{figi, publish};

impl Documents<'_> {
    /// All documents that match a search, in its order.
    fn search(&self, search: &Search) -> Vec<Figi> {
        let mut found: Vec<_> = match &search.keywords {
            None => self.passing(&search.filters).map(|one| (Tier::Words, one)).collect(),
            Some(keywords) => {
                let clauses = Clauses::of(keywords, self.catalogue.vocabulary());
                let named = self.named(&clauses, search);
                let tier = |one| Some((self.tier(&clauses, named, one)?, one));
                self.passing(&search.filters).filter_map(tier).collect()
            }
        };
        found.sort_by_key(|(tier, one)| (*tier, one.document.rank, one.instrument.figi));
        found.into_iter().map(|(_, one)| one.instrument.figi).collect()
    }

    fn named(&self, clauses: &Clauses, search: &Search) -> Option<Hit> {
        let passing = || self.passing(&search.filters);
        let exact = passing().filter(|one| {
            let by_symbol = has_key(one, &clauses.by_symbol) && !is_identifier(clauses, one);
            self.is_exact(clauses, one) || clauses.symbols_are_exact && by_symbol
        });
        let exact: Vec<_> = exact.map(|one| &one.document).collect();
        let exact = exact.iter().map(|one| one.rank).min().map(|first| ExactRanks {
            first,
            importance: exact.iter().map(|one| one.importance).max().unwrap(),
            score: exact.iter().map(|one| one.score).min().unwrap(),
        });
        let best = clauses.best_listings.iter().flat_map(|(first, end)| {
            let mut best: Vec<_> = passing()
                .filter(|one| (*first..*end).contains(&one.document.rank))
                .filter(|one| self.holds(clauses, one))
                .collect();
            best.sort_by_key(|one| (one.document.rank, one.instrument.figi));
            best.into_iter().take(NAMES_MAX).map(|one| one.hit)
        });
        clauses.named(exact, &self.rows, best)
    }

    fn tier(&self, clauses: &Clauses, named: Option<Hit>, one: &Fetch) -> Option<Tier> {
        let by_symbol = has_key(one, &clauses.by_symbol);
        if !is_identifier(clauses, one) && !by_symbol && !self.holds(clauses, one) {
            return None;
        }
        let is_elsewhere = |term| one.document.elsewhere.contains(term);
        let is_of_kind = |(first, end): &(u64, u64)| (*first..*end).contains(&one.document.rank);
        Some(if is_identifier(clauses, one) {
            Tier::Identifier
        } else if named == Some(one.hit) {
            Tier::Named
        } else if self.is_exact(clauses, one) || by_symbol && clauses.symbols_are_exact {
            Tier::Exact
        } else if by_symbol {
            Tier::Joined
        } else if clauses.elsewhere.iter().any(is_elsewhere) {
            Tier::Elsewhere
        } else if clauses.kinds.iter().any(is_of_kind) {
            Tier::OfKind
        } else {
            Tier::Words
        })
    }

    fn holds(&self, clauses: &Clauses, one: &Fetch) -> bool {
        let holds_word = |WordTerms(ways): &WordTerms| {
            ways.iter().any(|terms| terms.iter().all(|term| one.document.words.contains(term)))
        };
        let mut alternatives = clauses.alternatives.iter();
        alternatives.any(|(words, known)| words.iter().all(holds_word) && self.has(one, *known))
    }
}

fn searched(catalogue: &Catalogue, search: &Search) -> Vec<Figi> {
    let page = catalogue.search(search, None, 10_000, &Meter::unlimited()).unwrap().unwrap();
    figis(catalogue, &page.hits)
}

/// contract 9.1, 9.6, 9.7, 9.9, 9.10, 10.2: documents match as rows do, in the same order.
#[test]
fn documents_match_in_the_order_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut instruments = worded(120);
    for (number, instrument) in instruments.iter_mut().enumerate() {
        let words = ["adr", "etf", "Bank", "Corp"];
        if number % 5 == 0 {
            let name = instrument.name.get_or_insert_default();
            *name += &format!(" {}", words[number / 5 % words.len()]);
        }
        instrument.importance = Importance::new((number % 4) as f64).filter(|_| number % 3 > 0);
    }
    let catalogue = publish(folder.path(), &instruments, 50);
    let documents = Documents::of(&catalogue);
    let found = Cell::new(0);
    let more = proptest::option::weighted(
        0.3,
        proptest::sample::select(&["adr", "etf", "gr", "US", "brk-b", "Bank", "Corp"][..]),
    );
    let strategy = (searches(&catalogue), more);
    proptest!(ProptestConfig::with_cases(4_000), |((mut search, more) in strategy)| {
        if let (Some(keywords), Some(more)) = (&search.keywords, more) {
            search.keywords = Keywords::parse(&format!("{} {more}", keywords.text())).ok();
        }
        let expected = searched(&catalogue, &search);
        found.set(found.get() + usize::from(expected.len() > 1));
        prop_assert_eq!(documents.search(&search), expected, "{:?}", search);
    });
    assert!(found.get() > 1_000, "many searches must find something: {found:?}");
}

/// A share or a receipt of a test: its name, whether its ticker is the word, whether it is a
/// receipt, the share class that it shares with others, and its importance.
type Given = (&'static str, bool, bool, Option<u32>, Option<u8>);

/// Names that hold the word, and names that begin with it.
const HOLDING: [&str; 6] =
    ["Big Open", "Wide Open Inc", "Grand Open Co", "Half-Open", "Ever Open plc", "Opening Group"];
const BEGINNING: [&str; 3] = ["Open Text Corp", "The Open Door Inc", "Open"];

/// Companies, of which few have a name that begins with the word.
fn given() -> impl Strategy<Value = Vec<Given>> {
    (1_u32..25).prop_flat_map(|percent| {
        let row = (
            prop_oneof![
                percent => proptest::sample::select(&BEGINNING[..]),
                100 - percent => proptest::sample::select(&HOLDING[..]),
            ],
            proptest::bool::weighted(0.01),
            proptest::bool::weighted(0.2),
            proptest::option::of(0_u32..100),
            proptest::option::weighted(0.5, 0_u8..200),
        );
        proptest::collection::vec(row, 400)
    })
}

fn companies(rows: &[Given], are_important: bool, have_symbols: bool) -> Vec<Instrument> {
    let company = |(number, given): (u32, &Given)| {
        let (name, has_ticker, is_receipt, share_class, importance) = *given;
        // The rows of the ticker are less wanted than most companies.
        let share_class = share_class.filter(|_| !has_ticker);
        let importance = importance.filter(|_| are_important && !has_ticker);
        let mut instrument = Instrument {
            ticker: Some(if has_ticker { "OPEN" } else { "TKR" }.to_owned()),
            name: Some(name.to_owned()),
            share_class_figi: share_class.map(|class| figi(1_000_000 + class)),
            importance: importance.and_then(|number| Importance::new(f64::from(number))),
            ..Instrument::new(figi(number))
        };
        let kind = if is_receipt { "Depositary Receipt" } else { "Common Stock" };
        let code = if number.is_multiple_of(3) { "US" } else { "LN" };
        for (property, value) in [
            (Property::MarketSecDes, "Equity"),
            (Property::SecurityType2, kind),
            (Property::ExchCode, code),
        ] {
            instrument.properties[property as usize] = Some(value.to_owned());
        }
        // Rows that only have the word as a symbol must not displace those that hold it.
        if have_symbols && number % 40 < 9 {
            let symbol = IdType::ExchSymbol.admit("OPEN").unwrap().into_owned();
            instrument.identifiers.push(symbol);
            instrument.name = Some("Door".to_owned());
            instrument.importance = Importance::new(200.0).filter(|_| are_important);
        }
        instrument
    };
    (0_u32..).zip(rows).map(company).collect()
}

/// contract 10.7, 10.9: the company that a word names is the same for documents, and however an
/// index is cut.
#[test]
fn the_company_that_is_named_does_not_depend_on_the_parts() {
    let folder = tempfile::tempdir().unwrap();
    let named = Cell::new(0);
    // Without importances no company is named.
    let are_important = proptest::bool::weighted(0.9);
    let strategy = (given(), are_important, proptest::bool::weighted(0.5));
    proptest!(ProptestConfig::with_cases(24), |((given, are_important, have_symbols) in strategy)| {
        let instruments = companies(&given, are_important, have_symbols);
        let whole = publish(&folder.path().join("one"), &instruments, 1_000);
        let split = publish(&folder.path().join("many"), &instruments, 100);
        let documents = Documents::of(&split);
        for text in ["open", "open!", "OPEN", "Open Text", "half-open"] {
            for exch_code in [None, Some("US")] {
                let mut search =
                    Search { keywords: Keywords::parse(text).ok(), ..Search::default() };
                if let Some(code) = exch_code {
                    let known = whole.vocabulary().admit(Property::ExchCode, code).unwrap();
                    search.filters.known.require(known);
                }
                let expected = searched(&whole, &search);
                prop_assert_eq!(&searched(&split, &search), &expected, "{}", text);
                prop_assert_eq!(&documents.search(&search), &expected, "{}", text);
                let clauses = Clauses::of(search.keywords.as_ref().unwrap(), whole.vocabulary());
                let is_named = documents.named(&clauses, &search).is_some();
                named.set(named.get() + usize::from(is_named));
                prop_assert!(!is_named || text != "OPEN");
            }
        }
    });
    assert!(named.get() > 3, "some must be named: {named:?}");
}
