//! Suggestions of documents: candidates are found by a scan, as another engine would find them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use figdex_index::{
    Begun, Candidates, Catalogue, Clauses, Figi, Filters, FoundBy, Guesses, Hit, IdType, IdValue,
    Importance, Instrument, Interpretation, Keywords, KnownAs, Matched, Meter, NameKind, OtherName,
    Property, RowSource as _, Suggest, Suggested, TypedWord, WordTerms, id_key,
};
use proptest::prelude::*;

use super::{Documents, Fetch, has_key, is_identifier};
use crate::search::{searches, worded};
use crate::support::{figi, publish};

impl Documents<'_> {
    fn suggest(&self, question: &Suggest, limit: usize) -> Vec<Reasons> {
        let vocabulary = self.catalogue.vocabulary();
        let clauses = Clauses::of(&question.keywords, vocabulary);
        let mut candidates = Candidates::new(question, vocabulary);
        let passing = || self.ranked(&question.filters);
        let first = |candidates: &mut Candidates<'_>, found_by, is: &dyn Fn(&Fetch) -> bool| {
            for one in passing().filter(|one| is(one)).take(Interpretation::ROWS_MAX) {
                assert!(candidates.add(&self.rows, one.hit, found_by));
            }
        };
        first(&mut candidates, FoundBy::Number, &|one| is_identifier(&clauses, one));
        if clauses.symbols_are_exact {
            let is = |one: &Fetch| has_key(one, &clauses.by_symbol);
            first(&mut candidates, FoundBy::Whole, &is);
        }
        first(&mut candidates, FoundBy::Whole, &|one| self.is_exact(&clauses, one));
        let forms = candidates.forms();
        first(&mut candidates, FoundBy::Form, &|one| has_key(one, &forms));
        let spelled: Vec<(usize, String, Filters)> = {
            let spelled = candidates.spelled();
            spelled.map(|(number, key, filters)| (number, key, filters.clone())).collect()
        };
        for (number, key, filters) in spelled {
            let found = self.ranked(&filters).filter(|one| one.document.keys.contains(&key));
            for one in found.take(Interpretation::ROWS_MAX) {
                assert!(candidates.add(&self.rows, one.hit, FoundBy::Spelled(number)));
            }
        }
        let mut guesses = Guesses::new(question, vocabulary);
        let asked: BTreeMap<(String, bool), bool> = guesses
            .asked()
            .map(|(text, is_beginning)| {
                let is = |term: &String| match is_beginning {
                    true => term.starts_with(text),
                    false => term == text,
                };
                let has = self
                    .all
                    .iter()
                    .any(|one| one.document.words.iter().chain(&one.document.names).any(is));
                ((text.to_owned(), is_beginning), has)
            })
            .collect();
        let has = |text: &str, is_beginning| asked[&(text.to_owned(), is_beginning)];
        while let Some(interpretations) = guesses.next(candidates.len(), limit, has) {
            for interpretation in interpretations {
                let mut left = Interpretation::ROWS_MAX;
                for one in passing().filter(|one| self.may_be(one, question, &interpretation)) {
                    let found_by = FoundBy::Words(&interpretation);
                    left -= usize::from(left > 0 && candidates.add(&self.rows, one.hit, found_by));
                }
            }
        }
        let places = self.catalogue.places().unwrap();
        let best = candidates.best(&self.rows, &places, limit).into_iter();
        let shown = best
            .map(|it| {
                let hit = self.shown(&it, question);
                (it, hit)
            })
            .collect();
        let shown = candidates.arranged(shown, &self.rows, &places, limit).into_iter();
        shown.map(|(hit, matched, name)| (self.rows.figi(hit), matched, name)).collect()
    }

    /// The best listing, unless the document is shown itself.
    fn shown(&self, suggested: &Suggested, question: &Suggest) -> Hit {
        let row = self.rows.row(suggested.hit);
        let of = row.share_class_figi().map(IdValue::share_class);
        let of = of.or(row.composite_figi().map(IdValue::composite));
        let Some(key) = of.map(|value| id_key(&value)).filter(|_| !suggested.is_shown) else {
            return suggested.hit;
        };
        let is_best =
            |one: &&Fetch| one.document.is_best_listing && one.document.keys.contains(&key);
        let best = self.ranked(&question.filters).find(is_best);
        best.map_or(suggested.hit, |best| best.hit)
    }

    /// Whether a document is looked for by an interpretation.
    fn may_be(&self, one: &Fetch, question: &Suggest, by: &Interpretation) -> bool {
        let words: Vec<_> = by.words().collect();
        let has = |one: &Fetch, text| one.document.beginnings.contains(text);
        self.has(one, by.exch_code())
            && match (by.beginning(), &words[..]) {
                (Some(beginning), [only]) => {
                    let is_narrowed = question.filters != Filters::default();
                    let is_listed = self.all.iter().any(|one| has(one, beginning));
                    let is_enough = is_listed && !is_narrowed;
                    let only = TypedWord { is_beginning: !is_enough, ..only.clone() };
                    has(one, beginning) || holds(one, &only)
                }
                (Some(beginning), _) => has(one, beginning),
                (None, words) => words.iter().all(|word| holds(one, word)),
            }
    }

    /// The documents that pass the filters, in the order of ranks.
    fn ranked(&self, filters: &Filters) -> impl Iterator<Item = &Fetch> {
        let mut passing: Vec<_> = self.passing(filters).collect();
        passing.sort_by_key(|one| (one.document.rank, one.instrument.figi));
        passing.into_iter()
    }
}

fn holds(one: &Fetch, word: &TypedWord<'_>) -> bool {
    let WordTerms(ways) = &word.terms;
    let (words, names) = (&one.document.words, &one.document.names);
    let is_near = |term: &String| {
        words_are_near(word.text, term, word.typos)
            || word.is_beginning
                && term
                    .char_indices()
                    .map(|(end, _)| end)
                    .chain([term.len()])
                    .any(|end| words_are_near(word.text, &term[..end], word.typos))
    };
    ways.iter().any(|terms| terms.iter().all(|term| words.contains(term)))
        || ways.iter().any(|terms| terms.iter().all(|term| names.contains(term)))
        || word.equivalents.iter().any(|term| words.contains(*term) || names.contains(*term))
        || names.iter().any(is_near)
        || words.iter().any(is_near)
}

/// Whether two words differ by at most that many typos.
fn words_are_near(a: &str, b: &str, typos: usize) -> bool {
    let (Some(first), Some(other)) = (a.chars().next(), b.chars().next()) else {
        return a.chars().count() + b.chars().count() <= typos;
    };
    let (after, after_other) = (&a[first.len_utf8()..], &b[other.len_utf8()..]);
    if first == other && words_are_near(after, after_other, typos) {
        return true;
    }
    let Some(fewer) = typos.checked_sub(1) else { return false };
    let is_swapped = after.starts_with(other)
        && after_other.starts_with(first)
        && words_are_near(&after[other.len_utf8()..], &after_other[first.len_utf8()..], fewer);
    is_swapped
        || words_are_near(after, after_other, fewer)
        || words_are_near(after, b, fewer)
        || words_are_near(a, after_other, fewer)
}

const NAMES: [&str; 12] = [
    "Apple Inc",
    "The Boeing Company",
    "International Business Machines",
    "Intl Paper Co",
    "Deutsche Bank AG",
    "Deutsche Boerse AG",
    "Vodafone Group plc",
    "Volkswagen AG-Pref",
    "Berkshire Hathaway Inc-CL B",
    "Royal Dutch Shell ADR",
    "Bank of America Corp",
    "Appleton Papers",
];

const OTHERS: [(&str, NameKind); 5] = [
    ("Big Blue", NameKind::Brand),
    ("Münchener Rück", NameKind::Transliteration),
    ("Procter & Gamble", NameKind::Former),
    ("B of A", NameKind::Short),
    ("アップル計算機", NameKind::Transliteration),
];

const TICKERS: [&str; 8] = ["AAPL", "BA", "IBM", "BRK/B", "VOD", "VOW", "DBK", "RDS.A"];

/// Companies with several listings each.
fn companies() -> Vec<Instrument> {
    let mut instruments = worded(90);
    for (number, instrument) in (0_u32..).zip(&mut instruments) {
        let company = number as usize / 3 % NAMES.len();
        instrument.name = Some(NAMES[company].to_owned());
        instrument.ticker = Some(TICKERS[company % TICKERS.len()].to_owned());
        instrument.share_class_figi = (number % 5 > 0).then(|| figi(1_000 + company as u32));
        instrument.importance =
            Importance::new(f64::from(number % 7)).filter(|_| number.is_multiple_of(2));
        let (text, kind) = OTHERS[company % OTHERS.len()];
        if number % 4 > 0 {
            let text = text.to_owned();
            instrument.names = vec![OtherName { text, kind, from: None, to: None }];
        }
        let value = |values: &[&str]| Some(values[number as usize % values.len()].to_owned());
        instrument.properties[Property::MicCode as usize] = value(&["XNYS", "XLON"]);
        instrument.properties[Property::SecurityType as usize] = value(&["Common Stock", "ADR"]);
        instrument.properties[Property::SecurityType2 as usize] =
            value(&["Common Stock", "Common Stock", "Depositary Receipt", "Warrant"]);
        // Some markets are at home.
        instrument.properties[Property::ExchCode as usize] = value(&["US", "GR", "LN"]);
        let isin = ["US0378331005", "DE0005140008", "IE00B4BNMY34"][company % 3];
        if number.is_multiple_of(5) {
            instrument.identifiers.extend(IdType::Isin.admit(isin).ok());
        }
    }
    instruments
}

fn typed() -> impl Strategy<Value = String> {
    let names = NAMES.into_iter().chain(OTHERS.map(|(name, _)| name));
    let words: Vec<&str> = names.flat_map(|name| name.split(' ')).chain(TICKERS).collect();
    let word = prop_oneof![
        6 => proptest::sample::select(words),
        1 => proptest::sample::select(&["us", "gr", "adr", "XLON", "Equity", "corporation", "bank", "and", "muenchener", "アップル", "計算機", "big blue", "bofa", "procter and gamble", "class", "cl", "a", "b", "NASDAQ", "LSE"][..]),
    ];
    let typo = (0_u8..8, 0_usize..20);
    let word = (word, typo).prop_map(|(word, (typo, place))| {
        let mut letters: Vec<char> = word.chars().collect();
        let place = place % letters.len();
        match typo {
            0 => letters.truncate(place + 1),
            1 => _ = letters.remove(place),
            2 => letters.insert(place, 'x'),
            3 if place > 0 => letters.swap(place - 1, place),
            _ => {}
        }
        letters.into_iter().collect::<String>()
    });
    let joined = prop_oneof![6 => Just(" "), 1 => Just(""), 1 => Just(":")];
    (proptest::collection::vec(word, 1..4), joined).prop_map(|(words, joined)| words.join(joined))
}

/// A suggested row, the reasons, and the other name by which it is found.
type Reasons = (Figi, Matched, Option<KnownAs>);

fn suggested(catalogue: &Catalogue, question: &Suggest, limit: usize) -> Vec<Reasons> {
    let found = catalogue.suggest(question, limit, &mut Begun::default(), &Meter::unlimited());
    let found = found.unwrap().unwrap().into_iter();
    found.map(|it| (catalogue.figi(it.hit), it.matched, it.matched_name)).collect()
}

/// contract 16.1: documents are suggested as rows are, for the same reasons.
#[test]
fn documents_are_suggested_as_rows_are() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &companies(), 40);
    let documents = Documents::of(&catalogue);
    let (found, named, reasons) = (Cell::new(0), Cell::new(0), RefCell::new([0; 5]));
    let strategy = (typed(), searches(&catalogue), proptest::bool::weighted(0.3), 1_usize..20);
    proptest!(ProptestConfig::with_cases(2_000), |((text, search, is_narrowed, limit) in strategy)| {
        let keywords = match search.keywords {
            Some(keywords) if is_narrowed => keywords,
            _ => Keywords::parse(&text).unwrap(),
        };
        let filters = if is_narrowed { search.filters } else { Filters::default() };
        let question = Suggest { keywords, filters };
        let expected = suggested(&catalogue, &question, limit);
        found.set(found.get() + usize::from(expected.len() > 1));
        named.set(named.get() + expected.iter().filter(|(.., name)| name.is_some()).count());
        for (_, why, _) in &expected {
            let why = [why.ticker, why.name, why.identifier, why.description, why.guess];
            let mut reasons = reasons.borrow_mut();
            reasons.iter_mut().zip(why).for_each(|(count, is)| *count += usize::from(is));
        }
        prop_assert_eq!(documents.suggest(&question, limit), expected, "{:?}", question);
    });
    let reasons = reasons.into_inner();
    assert!(named.get() > 200, "{named:?}");
    assert!(found.get() > 200 && reasons.iter().all(|count| *count > 3), "{found:?} {reasons:?}");
}
