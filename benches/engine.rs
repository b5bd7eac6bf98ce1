//! Measures lookups, pages, counts, searches and suggestions in process, without HTTP. These cases
//! also assert their results; the cases of `inline` only measure.
//!
//! ```text
//! cargo bench --bench engine [-- filter/page]
//! ```
//! `FIGDEX_BENCH_INSTRUMENTS` is the number of generated instruments, 100,000 by default.

use std::hint::black_box;
use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use figdex_index::{
    Begun, BuildOptions, Builder, Catalogue, Date, DateInterval, Figi, Filters, Hit, IdType,
    IdValue, Instrument, Keywords, Lookup, Meter, NumberInterval, Property, RowSource as _, Search,
    Suggest, check_digit,
};
use figdex_ingest::{Build, Input, MaxRejects};
use figdex_io::Layout;
use figdex_universe::Universe;
use mimalloc::MiMalloc;

// The same allocator as in the programs.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const PAGE: usize = 100;

fn engine(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder for the index");
    let dump = dump();
    build(&dump, folder.path());
    let catalogue = Catalogue::open(folder.path()).expect("the index that was built");
    mapping(criterion, &catalogue, &dump);
    filters(criterion, &catalogue);
    searches(criterion, &catalogue);
    suggestions(criterion, &catalogue);
    inline(criterion, &catalogue);
}

fn mapping(criterion: &mut Criterion, catalogue: &Catalogue, dump: &[u8]) {
    for (kind, id_type) in
        [("isin", IdType::Isin), ("occ", IdType::Occ), ("figi", IdType::BbGlobal)]
    {
        let plain = Filters { include_unlisted_equities: true, ..Filters::default() };
        let mut filtered = plain.clone();
        let exch_code = catalogue.vocabulary().admit(Property::ExchCode, "US");
        filtered.known.require(exch_code.expect("the universe has US"));
        for (filter, filters) in [("plain", &plain), ("with_exchCode", &filtered)] {
            let jobs = jobs(dump, id_type, filters);
            let mut group = criterion.benchmark_group(format!("mapping/{kind}/{filter}"));
            for count in [1, jobs.len()] {
                group.throughput(Throughput::Elements(count as u64));
                group.bench_function(format!("{count}_jobs"), |bencher| {
                    bencher.iter(|| {
                        let meter = Meter::inline();
                        let batch = catalogue.locate(black_box(&jobs[..count]), &meter);
                        let mut batch = batch.expect("few jobs");
                        let mut hits = Vec::new();
                        for place in 0..count {
                            let found = batch.find(place, 15_000, &mut hits);
                            let found = found.expect("an identifier of few instruments");
                            found.expect("few instruments share an identifier");
                        }
                        assert!(filter != "plain" || hits.len() >= count);
                        catalogue.read_ahead(&hits);
                        read(catalogue, &hits);
                    });
                });
            }
            group.finish();
        }
    }
}

/// Filters with different numbers of rows and of different kinds, each with a name.
fn questions(catalogue: &Catalogue) -> Vec<(String, Filters)> {
    let whole = || Filters { include_unlisted_equities: true, ..Filters::default() };
    let with = |filters: &Filters, property, value: &str| {
        let mut filters = filters.clone();
        let known = catalogue.vocabulary().admit(property, value);
        filters.known.require(known.expect("the universe has it"));
        filters
    };
    let mut questions = vec![("100_percent".to_owned(), whole())];
    // For each of these shares of all instruments, the value that comes nearest to it.
    for share in [0.3, 0.1, 0.01, 0.001, 0.0001] {
        let wanted = share * catalogue.manifest().instruments as f64;
        let values = Property::ALL.into_iter().flat_map(|property| {
            catalogue.vocabulary().values(property).map(move |value| (property, value))
        });
        let nearest = values
            .map(|(property, value)| {
                let filters = with(&whole(), property, value);
                (total(catalogue, &filters), property, value, filters)
            })
            .filter(|(rows, ..)| *rows > 0)
            .min_by(|a, b| {
                let far = |rows: u64| (rows as f64 / wanted).ln().abs();
                far(a.0).total_cmp(&far(b.0))
            });
        let (rows, property, value, filters) = nearest.expect("there are values");
        let name = property.name();
        let percent = 100.0 * rows as f64 / catalogue.manifest().instruments as f64;
        questions.push((format!("{percent:.3}_percent_{name}_{value}"), filters));
    }
    let option = with(&whole(), Property::SecurityType2, "Option");
    let us_option = with(&option, Property::ExchCode, "US");
    let put = with(&us_option, Property::OptionType, "Put");
    let listed = Filters { include_unlisted_equities: false, ..put.clone() };
    let mut strikes = whole();
    strikes.numbers[0] = NumberInterval::new(Some(100.0), Some(200.0)).ok();
    let day = |text| Date::parse(text).ok();
    let mut year = whole();
    year.dates[1] = DateInterval::new(day("2026-01-01"), day("2026-12-31")).ok();
    let strikes_of_puts = Filters { numbers: strikes.numbers, ..put.clone() };
    for (name, filters) in [
        ("two_values", us_option),
        ("three_values", put),
        ("three_values_and_listed", listed),
        ("strike_alone", strikes),
        ("maturity_alone", year),
        ("three_values_and_strike", strikes_of_puts),
    ] {
        questions.push((name.to_owned(), filters));
    }
    questions
}

fn filters(criterion: &mut Criterion, catalogue: &Catalogue) {
    for (name, filters) in questions(catalogue) {
        let search = Search { keywords: None, filters };
        let rows = total(catalogue, &search.filters);
        let mut group = criterion.benchmark_group(format!("filter/{name}"));
        group.bench_function("count", |bencher| {
            bencher.iter(|| {
                let total = catalogue.count_uncached(black_box(&search), &Meter::unlimited());
                assert_eq!(total.expect("a verified index"), Some(rows));
            });
        });
        // The FIGI before the page.
        let mut after = None;
        for page in 1..=150 {
            let found = catalogue.filter(&search, after, PAGE, &Meter::unlimited());
            let found = found.expect("a verified index").expect("any effort is allowed");
            if [1, 10, 150].contains(&page) {
                group.bench_function(format!("page_{page}"), |bencher| {
                    bencher.iter(|| {
                        let again =
                            catalogue.filter(black_box(&search), after, PAGE, &Meter::unlimited());
                        let again = again.expect("a verified index").expect("any effort");
                        assert_eq!(again, found);
                        read(catalogue, &again.hits);
                    });
                });
            }
            match found.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        group.finish();
    }
}

fn searches(criterion: &mut Criterion, catalogue: &Catalogue) {
    let option = catalogue.vocabulary().admit(Property::SecurityType2, "Option");
    let mut options = Filters::default();
    options.known.require(option.expect("the universe has options"));
    for (name, text, filters) in [
        ("rare", "rqpx", Filters::default()),
        ("common", "calls", Filters::default()),
        ("two_common", "calls us", Filters::default()),
        ("common_with_filter", "us", options),
    ] {
        let keywords = Keywords::parse(text).expect("a short text");
        let search = Search { keywords: Some(keywords), filters };
        criterion.benchmark_group("search").bench_function(name, |bencher| {
            bencher.iter(|| {
                let page = catalogue.search(black_box(&search), None, PAGE, &Meter::unlimited());
                let page = page.expect("a verified index").expect("any effort is allowed");
                assert!(!page.hits.is_empty(), "{text}");
                read(catalogue, &page.hits);
            });
        });
    }
}

/// Texts that a person types to find the universe's first share, RQPX of Reqipoxix Health Co. Each
/// suggestion is computed, not taken from the cache.
fn suggestions(criterion: &mut Criterion, catalogue: &Catalogue) {
    let mut group = criterion.benchmark_group("suggest");
    for (name, text) in [
        ("first_letter", "r"),
        ("two_letters", "re"),
        ("ticker", "rqpx"),
        ("half_a_name", "reqip"),
        ("name_and_beginning", "reqipoxix hea"),
        ("beginnings_out_of_order", "heal reqip"),
        ("abbreviation", "reqipoxix health company"),
        ("joined", "reqipoxixhealth"),
        ("typo", "reqipxoix"),
    ] {
        let keywords = Keywords::parse(text).expect("a short text");
        let asked = Suggest { keywords, filters: Filters::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let found = catalogue.suggest_uncached(
                    black_box(&asked),
                    10,
                    &mut Begun::default(),
                    &Meter::unlimited(),
                );
                let found = found.expect("a verified index").expect("any effort is allowed");
                let best = catalogue.row(found[0].hit).ticker().map(|ticker| ticker.to_string());
                assert!(text.len() < 3 || best.as_deref() == Some("RQPX"), "{text}: {best:?}");
                black_box(found);
            });
        });
    }
    group.finish();
}

/// The most expensive requests that a serving thread answers, or begins to answer. One request
/// should take less than a millisecond of its time, 0.6 ms of it for looking up and writing rows.
fn inline(criterion: &mut Criterion, catalogue: &Catalogue) {
    let folder = tempfile::tempdir().expect("a folder for the index");
    let wide = wide(folder.path());
    let mut group = criterion.benchmark_group("inline");
    let ideographs: String = ('\u{4e00}'..).take(341).collect();
    let texts = [
        ("ideographs", ideographs.clone()),
        ("ideographs_apart", ideographs.chars().take(256).flat_map(|c| [c, ' ']).collect()),
        ("expanding", "\u{fdfa}".repeat(341)),
        ("two_letters_apart", (0..341).map(two_letters).collect::<Vec<_>>().join(" ")),
        ("runs", (0..170).map(|number| format!("{}{number}", two_letters(number))).collect()),
        ("common", "alike corp deep us".to_owned()),
        ("one", "corp".to_owned()),
    ];
    for (name, text) in texts {
        let text: String = text.chars().take(1024 / 3).collect();
        group.bench_function(format!("parse/{name}"), |bencher| {
            bencher.iter(|| black_box(Keywords::parse(black_box(&text))));
        });
        let keywords = Keywords::parse(&text).expect("a short text");
        let asked = Suggest { keywords: keywords.clone(), filters: Filters::default() };
        let search = Search { keywords: Some(keywords), filters: Filters::default() };
        metered(&mut group, &format!("search/{name}"), |meter| {
            black_box(wide.search(&search, None, PAGE, meter)).is_ok()
        });
        metered(&mut group, &format!("suggest/{name}"), |meter| {
            black_box(wide.suggest_uncached(&asked, 50, &mut Begun::default(), meter)).is_ok()
        });
    }
    for rows in [120, 6_000, 12_000] {
        let value = isin(rows);
        for (filter, filters) in narrowings(&wide) {
            let jobs = vec![Lookup::new(value.clone(), filters); 100];
            metered(&mut group, &format!("mapping/{rows}_rows_{filter}"), |meter| {
                let Ok(mut batch) = wide.locate(black_box(&jobs), meter) else { return false };
                let mut hits = Vec::new();
                (0..100).all(|place| batch.find(place, 15_000, &mut hits).is_ok())
            });
        }
    }
    for (name, filters) in questions(catalogue).into_iter().chain(narrowings(catalogue)) {
        let search = Search { keywords: None, filters };
        metered(&mut group, &format!("filter/{name}"), |meter| {
            let total = catalogue.count_uncached(black_box(&search), meter);
            total.is_ok() && black_box(catalogue.filter(&search, None, PAGE, meter)).is_ok()
        });
    }
    let all = Search { keywords: None, filters: Filters::default() };
    let page = catalogue.filter(&all, None, 500, &Meter::unlimited()).expect("a verified index");
    let hits = page.expect("any work is allowed").hits;
    group.bench_function("rows/500", |bencher| {
        bencher.iter(|| {
            let mut out = Vec::with_capacity(hits.len() * 512);
            for hit in &hits {
                let row = catalogue.row(*hit);
                out.extend_from_slice(&row.figi().to_chars());
                let texts = [row.name(), row.ticker(), row.exch_code(), row.security_type()];
                let others =
                    [row.market_sector(), row.security_type2(), row.security_description()];
                for text in texts.into_iter().chain(others).flatten() {
                    text.json_pieces().for_each(|piece| out.extend_from_slice(piece));
                }
            }
            black_box(out)
        });
    });
    group.finish();
}

/// Measures the work until the answer is complete or the meter refuses more, and prints its units.
fn metered(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut answer: impl FnMut(&Meter) -> bool,
) {
    let meter = Meter::inline();
    let is_done = answer(&meter) && meter.check().is_ok();
    let outcome = if is_done { "done" } else { "refused" };
    println!("inline/{name}: {outcome} after {} units", meter.spent());
    group.bench_function(name, |bencher| bencher.iter(|| answer(&Meter::inline())));
}

/// Filters that are verified of many rows, of which few pass.
fn narrowings(catalogue: &Catalogue) -> Vec<(String, Filters)> {
    let whole = Filters { include_unlisted_equities: true, ..Filters::default() };
    let mut values = whole.clone();
    for property in Property::ALL {
        for value in catalogue.vocabulary().values(property).take(100) {
            values.known.allow(catalogue.vocabulary().admit(property, value).expect("a value"));
        }
    }
    let numbers = NumberInterval::new(Some(-2.0), Some(-1.0)).ok();
    let intervals = Filters { numbers: [numbers; 3], ..whole.clone() };
    let mut one = whole;
    let code = catalogue.vocabulary().admit(Property::ExchCode, "GR");
    one.known.require(code.expect("a code"));
    [("one_value", one), ("many_values", values), ("intervals", intervals)]
        .map(|(name, filters)| (name.to_owned(), filters))
        .to_vec()
}

fn two_letters(number: u32) -> String {
    [number / 26 % 26, number % 26].map(|place| char::from(b'a' + place as u8)).iter().collect()
}

/// The ISIN that has this many rows.
fn isin(rows: u32) -> IdValue<'static> {
    let body = format!("US{rows:09}");
    let digit = check_digit::isin(body.as_bytes()).expect("digits");
    IdType::Isin.admit(&format!("{body}{digit}")).expect("an ISIN").into_owned()
}

/// An index that makes requests expensive: identifiers with many rows, words of all rows, words of
/// descriptions only, and words with the same beginning.
fn wide(index: &Path) -> Catalogue {
    let options = BuildOptions { segment_memory_bytes: 64 << 20, ..BuildOptions::default() };
    let mut builder = Builder::create(index, options).expect("a folder for the index");
    for number in 0..100_000_u32 {
        let body = format!("BBG{number:08}");
        let digit = check_digit::double_add_double(body.as_bytes());
        let figi = Figi::parse(&format!("{body}{}", digit.expect("digits"))).expect("a FIGI");
        let mut instrument = Instrument {
            ticker: Some(format!("W{}", number % 4_000)),
            name: Some(format!("Alike Corp {}", two_letters(number))),
            security_description: Some(format!("deep us zz{number}")),
            strike: Some(f64::from(number % 1_000)),
            ..Instrument::new(figi)
        };
        for rows in [120, 6_000, 12_000] {
            if number % (100_000 / rows) == 0 && number / (100_000 / rows) < rows {
                instrument.identifiers.push(isin(rows));
            }
        }
        let code = ["US", "LN", "GR"][number as usize % 50 / 24];
        instrument.properties[Property::ExchCode as usize] = Some(code.to_owned());
        builder.add(instrument).expect("ascending FIGIs");
    }
    builder.publish(Vec::new()).expect("an index");
    Catalogue::open(index).expect("the index that was built")
}

fn total(catalogue: &Catalogue, filters: &Filters) -> u64 {
    let search = Search { keywords: None, filters: filters.clone() };
    let total = catalogue.count(&search, &Meter::unlimited()).expect("a verified index");
    total.expect("any effort is allowed")
}

fn read(catalogue: &Catalogue, hits: &[Hit]) {
    hits.iter().for_each(|hit| {
        black_box(catalogue.row(*hit));
    });
}

/// A hundred jobs, spread evenly over the dump.
fn jobs<'a>(dump: &'a [u8], id_type: IdType, filters: &Filters) -> Vec<Lookup<'a>> {
    let name = if id_type == IdType::BbGlobal { "figi" } else { id_type.name() };
    let text = str::from_utf8(dump).expect("a dump is UTF-8");
    let mut rows = text.lines();
    let header = rows.next().expect("a header row");
    let column = header.split(',').position(|column| column == name).expect("the column");
    let values: Vec<_> = rows
        .filter(|row| !row.contains('"'))
        .filter_map(|row| id_type.admit(row.split(',').nth(column)?).ok())
        .collect();
    let step = (values.len() / 100).max(1);
    let jobs: Vec<_> = values
        .into_iter()
        .step_by(step)
        .take(100)
        .map(|id_value| Lookup::new(id_value, filters.clone()))
        .collect();
    assert_eq!(jobs.len(), 100);
    jobs
}

fn universe() -> Universe {
    let count = std::env::var("FIGDEX_BENCH_INSTRUMENTS");
    let count = count.map_or(100_000, |text| text.replace('_', "").parse().expect("a number"));
    Universe::new(count, 1)
}

fn dump() -> Vec<u8> {
    let mut dump = Vec::new();
    universe().write(Layout::Csv, &mut dump).expect("writing into memory");
    dump
}

fn build(dump: &[u8], index: &Path) {
    let inputs = vec![Input::Memory("generated", dump.into())];
    let build = Build {
        format: "csv".parse().ok(),
        max_rejects: MaxRejects::NONE,
        ..Build::new(inputs, index)
    };
    let report = build.run(&mut |_| {}).expect("a build without a fault");
    assert_eq!(report.total().instruments, universe().count);
}

criterion_group!(benches, engine);
criterion_main!(benches);
