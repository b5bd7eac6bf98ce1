//! The work of an answer is counted, and bounded where the caller wants it: an answer that would
//! take more is refused, never cut.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use figdex_index::{
    Begun, Catalogue, Filters, Hit, INLINE_UNITS_MAX, IdType, Instrument, Keywords, Lookup, Meter,
    NumberInterval, Policy, Property, Question, ResolveBounds, SLICE_UNITS, Search, Suggest,
    TooManyHits, Turn, Visible,
};
use proptest::prelude::*;

use crate::search::{searches, text, worded};
use crate::support::{figi, publish};

/// The number of rows, which are so alike that one question finds all of them.
const ALIKE: u32 = 30_000;

/// An index whose questions take much work: all rows share an ISIN, a ticker, a symbol and two
/// names, and have words that only their descriptions hold.
static WIDE: LazyLock<(tempfile::TempDir, Catalogue)> = LazyLock::new(|| {
    let instruments: Vec<Instrument> = (0..ALIKE)
        .map(|number| {
            let of = |id_type: IdType, text: &str| id_type.admit(text).unwrap().into_owned();
            let mut instrument = Instrument {
                ticker: Some("WIDE".to_owned()),
                name: Some(format!("Alike Corp {}", ["one", "two"][number as usize % 2])),
                security_description: Some(format!("deep us {}", word(number))),
                identifiers: vec![
                    of(IdType::Isin, "US4592001014"),
                    of(IdType::Bb, "ALIKE:US"),
                    of(IdType::ExchSymbol, "WIDE"),
                ],
                strike: Some(f64::from(number)),
                ..Instrument::new(figi(number))
            };
            let exch_code = if number == 7 { "GR" } else { "US" };
            instrument.properties[Property::ExchCode as usize] = Some(exch_code.to_owned());
            instrument
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &instruments, 1_000_000);
    (folder, catalogue)
});

/// The word of one row, made of letters. The words of all rows begin with the same letters.
fn word(number: u32) -> String {
    let letters = (0..4).map(|place| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8));
    format!("zz{}", letters.collect::<String>())
}

fn wide() -> &'static Catalogue {
    &WIDE.1
}

fn with_exch_code(exch_code: &str) -> Filters {
    let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
    let known = wide().vocabulary().admit(Property::ExchCode, exch_code);
    filters.known.require(known.unwrap());
    filters
}

/// Whether the meter allows these jobs.
fn map(jobs: &[Lookup<'_>], meter: &Meter) -> bool {
    let Ok(mut located) = wide().locate(jobs, meter) else { return false };
    let mut hits = Vec::new();
    (0..jobs.len()).all(|place| located.find(place, 15_000, &mut hits).is_ok())
}

fn search(text: Option<&str>, filters: Filters) -> Search {
    Search { keywords: text.map(|text| Keywords::parse(text).unwrap()), filters }
}

fn suggest(text: &str, filters: Filters) -> Suggest {
    Suggest { keywords: Keywords::parse(text).unwrap(), filters }
}

/// Asserts that the work of an answer is counted, as at least `units_min` units, and that an
/// inline meter refuses it when it exceeds [`INLINE_UNITS_MAX`].
fn is_bounded(what: &str, units_min: u64, answer: impl Fn(&Meter) -> bool) {
    let whole = Meter::unlimited();
    assert!(answer(&whole), "{what}");
    assert!(whole.spent() >= units_min, "{what}: {} units are too few", whole.spent());
    let inline = Meter::of(INLINE_UNITS_MAX);
    let is_little = whole.spent() <= INLINE_UNITS_MAX;
    assert!(is_little || !answer(&inline), "{what}: {} units are done inline", whole.spent());
    assert!(inline.spent() <= INLINE_UNITS_MAX, "{what}: {} units", inline.spent());
}

/// Asserts the same as [`is_bounded`], and that an inline meter refuses the answer.
fn is_heavy(what: &str, units_min: u64, answer: impl Fn(&Meter) -> bool) {
    assert!(!answer(&Meter::of(INLINE_UNITS_MAX)), "{what} is done inline");
    is_bounded(what, units_min, answer);
}

/// Every row that is read is charged, not only those that are found: a filter that no row passes
/// takes as much work.
#[test]
fn a_wide_identifier_is_not_read_inline() {
    let row = u64::from(ALIKE);
    for exch_code in ["US", "GR"] {
        let filters = with_exch_code(exch_code);
        let isin = IdType::Isin.admit("US4592001014").unwrap();
        let job = Lookup::new(isin, filters);
        let jobs = vec![job; 100];
        is_heavy(exch_code, row, |meter| map(&jobs[..1], meter));
        is_heavy(exch_code, 100 * row, |meter| map(&jobs, meter));
    }
    let mut none = Filters::default();
    none.numbers[0] = NumberInterval::new(Some(-2.0), Some(-1.0)).ok();
    let isin = IdType::Isin.admit("US4592001014").unwrap();
    let jobs = vec![Lookup::new(isin, none); 10];
    is_heavy("a strike that no row has", 10 * row, |meter| map(&jobs, meter));
}

/// A list that is too long for the meter is refused by its length.
#[test]
fn a_long_list_is_refused_before_it_is_read() {
    let isin = IdType::Isin.admit("US4592001014").unwrap();
    let job = [Lookup::new(isin, with_exch_code("GR"))];
    let inline = Meter::of(INLINE_UNITS_MAX);
    assert!(!map(&job, &inline));
    assert!(inline.spent() < 100, "{} units", inline.spent());
}

#[test]
fn searches_of_common_words_are_not_done_inline() {
    let row = u64::from(ALIKE);
    for (text, units_min) in [
        // The whole text is a number, a symbol, a ticker or a name: each row is read.
        ("US4592001014", row),
        ("alike:us", row),
        ("wide", row),
        ("Alike Corp one", row / 2),
        // Words that only descriptions hold, or that may be an exchange code.
        ("corp deep", row / 4),
        ("deep", row / 4),
        ("wide us", row),
        // Nearly all rows are removed.
        ("wide gr", row),
    ] {
        let asked = search(Some(text), Filters::default());
        let answer = |meter: &Meter| wide().search(&asked, None, 100, meter).unwrap().is_some();
        is_bounded(text, units_min, answer);
        // A page deep in the list takes the same lists, which are read first.
        let page = wide().search(&asked, None, 5_000, &Meter::unlimited()).unwrap().unwrap();
        let after = page.next;
        let answer = |meter: &Meter| wide().search(&asked, after, 100, meter).unwrap().is_some();
        is_bounded(&format!("a late page of {text}"), units_min, answer);
        let count = |meter: &Meter| wide().count_uncached(&asked, meter).unwrap().is_some();
        is_heavy(&format!("count of {text}"), row / 2, count);
    }
}

#[test]
fn many_words_are_not_looked_up_inline() {
    let every = |words: usize, of: &dyn Fn(u32) -> String| {
        (0..words as u32).map(of).collect::<Vec<_>>().join(" ")
    };
    let letter = |number: u32| char::from_u32(0x4e00 + number).unwrap().to_string();
    let ideographs: String = ('\u{4e00}'..).take(341).collect();
    for text in [
        every(256, &|number| format!("w{}", number % 10 + 10 * (number / 10) % 100)),
        every(250, &letter),
        ideographs,
        "\u{fdfa}".repeat(341),
        "a1".repeat(512),
        every(512, &|_| "a".to_owned()),
        every(340, &|number| ["zz", "al"][number as usize % 2].to_owned()),
    ] {
        let text: String = text
            .chars()
            .scan(0, |bytes, c| {
                *bytes += c.len_utf8();
                (*bytes <= 1024).then_some(c)
            })
            .collect();
        for filters in [Filters::default(), with_exch_code("GR")] {
            let asked = search(Some(&text), filters.clone());
            let typed = suggest(&text, filters);
            for meter in [Meter::of(INLINE_UNITS_MAX), Meter::unlimited()] {
                let found = wide().search(&asked, None, 100, &meter).unwrap();
                assert!(found.is_none_or(|page| page.hits.len() <= 100));
                wide().count_uncached(&asked, &meter).unwrap();
                wide().filter(&asked, None, 100, &meter).unwrap();
                wide().suggest_uncached(&typed, 50, &mut Begun::default(), &meter).unwrap();
            }
            let meter = Meter::unlimited();
            assert!(
                wide()
                    .suggest_uncached(&typed, 50, &mut Begun::default(), &meter)
                    .unwrap()
                    .is_some(),
                "{text}"
            );
            assert!(meter.spent() <= SUGGEST_UNITS_MAX, "{text}: {} units", meter.spent());
        }
    }
}

/// The bound of the work of any question for suggestions, including counting the listings.
const SUGGEST_UNITS_MAX: u64 = 5_000_000 + 1_000;

/// Beginnings of many words, typos and wide identifiers keep to the bound.
#[test]
fn suggestions_have_a_separate_bound() {
    let all = word(0);
    let beginnings = (1..=all.len()).map(|end| all[..end].to_owned());
    let others =
        ["US4592001014", "wide", "alike", "alike:us", "zzqqqq", "zzabcq", "deep zz", "zz zz"];
    for text in beginnings.chain(others.map(str::to_owned)) {
        for filters in [Filters::default(), with_exch_code("GR")] {
            let asked = suggest(&text, filters);
            let meter = Meter::unlimited();
            let found = wide()
                .suggest_uncached(&asked, 10, &mut Begun::default(), &meter)
                .unwrap()
                .unwrap();
            assert!(meter.spent() <= SUGGEST_UNITS_MAX, "{text}: {} units", meter.spent());
            let inline = Meter::of(INLINE_UNITS_MAX);
            let same = wide().suggest_uncached(&asked, 10, &mut Begun::default(), &inline).unwrap();
            assert!(same.is_none_or(|same| same == found), "{text}");
        }
    }
    // Of the dictionary, only the letters are read that may follow with one typo.
    let asked = suggest("wied", Filters::default());
    is_bounded("a typo", INLINE_UNITS_MAX / 10, |meter| {
        wide().suggest_uncached(&asked, 10, &mut Begun::default(), meter).unwrap().is_some()
    });
    let asked = suggest("wide", with_exch_code("GR"));
    is_heavy("a wide ticker", u64::from(ALIKE), |meter| {
        wide().suggest_uncached(&asked, 10, &mut Begun::default(), meter).unwrap().is_some()
    });
}

/// A turn that notes all work, and the most work of one report.
#[derive(Default)]
struct Reports {
    all: AtomicU64,
    most: AtomicU64,
}

impl Turn for Reports {
    fn report(&self, units: u64) {
        self.all.fetch_add(units, Ordering::Relaxed);
        self.most.fetch_max(units, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        false
    }
}

/// engine 8: each row of an identifier is compared with each value of a step, and the turn hears of
/// it before a slice is over.
#[test]
fn the_steps_of_a_list_are_charged_in_slices() {
    let vocabulary = wide().vocabulary();
    // A value that no row has.
    let values = vec!["Corp"; 100].join("|");
    let policy = Policy::parse([format!("marketSecDes={values}")], vocabulary).unwrap();
    let isin = IdType::Isin.admit("US4592001014").unwrap();
    let question = Question::lookup(Lookup::new(isin, None));
    let rows = ALIKE as usize;
    let bounds = ResolveBounds {
        identifier_rows_max: rows,
        rows_max: rows,
        candidates_max: 10,
        corrected: Visible::ALL,
    };
    let turn = Arc::new(Reports::default());
    let meter = Meter::in_turn(turn.clone());
    let resolved = wide().resolve(&[question], &policy, bounds, &meter).unwrap();
    assert_eq!(resolved[0].status.matches(), rows);
    turn.report(meter.unreported());
    let (all, most) = (turn.all.load(Ordering::Relaxed), turn.most.load(Ordering::Relaxed));
    assert!(all >= 100 * rows as u64, "{all}");
    assert!(most <= SLICE_UNITS, "{most}");
}

/// A turn whose caller has gone.
struct Over;

impl Turn for Over {
    fn report(&self, _: u64) {}

    fn is_over(&self) -> bool {
        true
    }
}

#[test]
fn the_end_of_a_turn_ends_an_answer() {
    let until = || Meter::in_turn(Arc::new(Over));
    let isin = IdType::Isin.admit("US4592001014").unwrap();
    let jobs = [Lookup::new(isin, None)];
    assert!(!map(&jobs, &until()));
    let asked = search(Some("deep"), Filters::default());
    assert_eq!(wide().search(&asked, None, 100, &until()).unwrap(), None);
    assert_eq!(wide().filter(&asked, None, 100, &until()).unwrap(), None);
    assert_eq!(wide().count_uncached(&asked, &until()).unwrap(), None);
    let asked = suggest("deep", Filters::default());
    assert_eq!(wide().suggest_uncached(&asked, 10, &mut Begun::default(), &until()).unwrap(), None);
}

/// An answer is whole or refused, whatever the meter allows.
#[test]
fn an_answer_is_refused_and_never_cut() {
    let instruments = worded(60);
    let folder = tempfile::tempdir().unwrap();
    let catalogue = publish(folder.path(), &instruments, 25);
    let units = prop_oneof![0_u64..2_000, 0_u64..20_000, Just(INLINE_UNITS_MAX)];
    let strategy = (searches(&catalogue), text(), 1_usize..20, 0_usize..3, units);
    proptest!(ProptestConfig::with_cases(2_000), |((asked, typed, page, skipped, units) in strategy)| {
        let unlimited = Meter::unlimited();
        let meter = || Meter::of(units);
        let (mut after, mut figi) = (None, None);
        for _ in 0..skipped {
            let found = catalogue.search(&asked, after, page, &unlimited).unwrap().unwrap();
            after = found.next.or(after);
            let found = catalogue.filter(&asked, figi, page, &unlimited).unwrap().unwrap();
            figi = found.next.or(figi);
        }
        let within = meter();
        if let Some(found) = catalogue.search(&asked, after, page, &within).unwrap() {
            prop_assert_eq!(Some(found), catalogue.search(&asked, after, page, &unlimited).unwrap());
        }
        prop_assert!(within.spent() <= units);
        let within = meter();
        if let Some(found) = catalogue.filter(&asked, figi, page, &within).unwrap() {
            prop_assert_eq!(Some(found), catalogue.filter(&asked, figi, page, &unlimited).unwrap());
        }
        prop_assert!(within.spent() <= units);
        let within = meter();
        if let Some(total) = catalogue.count_uncached(&asked, &within).unwrap() {
            prop_assert_eq!(Some(total), catalogue.count_uncached(&asked, &unlimited).unwrap());
        }
        prop_assert!(within.spent() <= units);
        let suggested = Suggest { keywords: Keywords::parse(&typed).unwrap(), filters: asked.filters.clone() };
        let within = meter();
        if let Some(found) = catalogue.suggest_uncached(&suggested, page, &mut Begun::default(), &within).unwrap() {
            prop_assert_eq!(Some(found), catalogue.suggest_uncached(&suggested, page, &mut Begun::default(), &unlimited).unwrap());
        }
        prop_assert!(within.spent() <= units);
        let mut begun = Begun::default();
        let mut steps = 0;
        let found = loop {
            let within = Meter::of((units + 1) << steps);
            steps += 1;
            if let Some(found) = catalogue.suggest_uncached(&suggested, page, &mut begun, &within).unwrap() {
                break found;
            }
        };
        prop_assert_eq!(Some(found), catalogue.suggest_uncached(&suggested, page, &mut Begun::default(), &unlimited).unwrap());
    });
}

/// Many jobs have the same answers as each job alone, whatever the meter allows.
#[test]
fn jobs_are_refused_and_never_cut() {
    let values = ["US4592001014", "WIDE", "ALIKE:US"];
    let kinds = [IdType::Isin, IdType::ExchSymbol, IdType::Bb];
    let job = (0_usize..3, any::<bool>());
    proptest!(ProptestConfig::with_cases(100), |(jobs in proptest::collection::vec(job, 1..6), units in 0_u64..300_000)| {
        let lookups: Vec<_> = jobs.iter().map(|(kind, is_narrowed)| {
            let value = kinds[*kind].admit(values[*kind]).unwrap();
            Lookup::new(value, is_narrowed.then(|| with_exch_code("GR")))
        }).collect();
        let meter = Meter::of(units);
        let Ok(mut located) = wide().locate(&lookups, &meter) else { return Ok(()) };
        for (place, lookup) in lookups.iter().enumerate() {
            let mut hits: Vec<Hit> = Vec::new();
            match located.find(place, 11_000, &mut hits) {
                Ok(found) => {
                    let alone = wide().lookup(lookup, 11_000);
                    prop_assert_eq!(found.map(|()| hits), alone);
                }
                Err(_) => prop_assert_eq!(hits, []),
            }
        }
        prop_assert!(meter.spent() <= units);
    });
    let isin = IdType::Isin.admit("US4592001014").unwrap();
    let wide = wide().lookup(&Lookup::new(isin, None), 11_000);
    assert_eq!(wide, Err(TooManyHits { hits_max: 11_000 }));
}
