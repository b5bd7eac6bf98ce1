//! The engine in process: what lookups, pages, counts and searches cost without HTTP.
//! Every case asserts that it finds what it should while it measures.
//!
//! ```text
//! cargo bench --bench engine [-- filter/page]
//! ```
//! `FIGDEX_BENCH_INSTRUMENTS` says how many instruments, 100,000 if nothing is said.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use figdex_index::{
    Catalogue, Date, DateInterval, Effort, Filters, Hit, IdType, Keywords, Lookup, NumberInterval,
    Property, Search, Suggest,
};
use figdex_ingest::generate::{self, Universe};
use figdex_ingest::{Build, Input, MaxRejects};
use mimalloc::MiMalloc;

// As the programs.
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
}

fn mapping(criterion: &mut Criterion, catalogue: &Catalogue, dump: &[u8]) {
    for (kind, id_type) in
        [("isin", IdType::Isin), ("occ", IdType::Occ), ("figi", IdType::BbGlobal)]
    {
        let plain = Filters { include_unlisted_equities: true, ..Filters::default() };
        let mut filtered = plain.clone();
        let exch_code = catalogue.vocabulary().admit(Property::ExchCode, "US");
        filtered.known.require(exch_code.expect("it is there"));
        for (filter, filters) in [("plain", &plain), ("with_exchCode", &filtered)] {
            let jobs = jobs(dump, id_type, filters);
            let mut group = criterion.benchmark_group(format!("mapping/{kind}/{filter}"));
            for count in [1, jobs.len()] {
                group.throughput(Throughput::Elements(count as u64));
                group.bench_function(format!("{count}_jobs"), |bencher| {
                    bencher.iter(|| {
                        let mut batch = catalogue.batch(black_box(&jobs[..count]));
                        let mut hits = Vec::new();
                        for place in 0..count {
                            let found = batch.find(place, 15_000, &mut hits);
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

/// Filters by how many rows they leave, and by what narrows them.
fn questions(catalogue: &Catalogue) -> Vec<(String, Filters)> {
    let whole = || Filters { include_unlisted_equities: true, ..Filters::default() };
    let with = |filters: &Filters, property, value: &str| {
        let mut filters = filters.clone();
        let known = catalogue.vocabulary().admit(property, value);
        filters.known.require(known.expect("the universe has it"));
        filters
    };
    let mut questions = vec![("100_percent".to_owned(), whole())];
    // Of all values those whose share is nearest to each of these.
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
    let strikes = Filters { strike: NumberInterval::new(Some(100.0), Some(200.0)).ok(), ..whole() };
    let day = |text| Date::parse(text).ok();
    let year = DateInterval::new(day("2026-01-01"), day("2026-12-31")).ok();
    let year = Filters { maturity: year, ..whole() };
    let strikes_of_puts = Filters { strike: strikes.strike, ..put.clone() };
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
                let total = catalogue.count_anew(black_box(&search), Effort::Any);
                assert_eq!(total.expect("a verified index"), Some(rows));
            });
        });
        // The FIGI before each page that there is.
        let mut after = None;
        for page in 1..=150 {
            let found = catalogue.filter(&search, after, PAGE, Effort::Any);
            let found = found.expect("a verified index").expect("any effort is allowed");
            if [1, 10, 150].contains(&page) {
                group.bench_function(format!("page_{page}"), |bencher| {
                    bencher.iter(|| {
                        let again = catalogue.filter(black_box(&search), after, PAGE, Effort::Any);
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
                let page = catalogue.search(black_box(&search), None, PAGE, Effort::Any);
                let page = page.expect("a verified index").expect("any effort is allowed");
                assert!(!page.hits.is_empty(), "{text}");
                read(catalogue, &page.hits);
            });
        });
    }
}

/// What somebody types who means the universe's first share, RQPX of Reqipoxix Health Co:
/// each made anew, for what was made before is only looked up.
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
                let found = catalogue.suggest_anew(black_box(&asked), 10, Effort::Any);
                let found = found.expect("a verified index").expect("any effort is allowed");
                let best = catalogue.row(found[0].hit).ticker().map(|ticker| ticker.to_string());
                assert!(text.len() < 3 || best.as_deref() == Some("RQPX"), "{text}: {best:?}");
                black_box(found);
            });
        });
    }
    group.finish();
}

fn total(catalogue: &Catalogue, filters: &Filters) -> u64 {
    let search = Search { keywords: None, filters: filters.clone() };
    let total = catalogue.count(&search, Effort::Any).expect("a verified index");
    total.expect("any effort is allowed")
}

fn read(catalogue: &Catalogue, hits: &[Hit]) {
    hits.iter().for_each(|hit| {
        black_box(catalogue.row(*hit));
    });
}

/// A hundred jobs spread over the dump.
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
    generate::write(&universe(), generate::Format::Csv, &mut dump).expect("writing into memory");
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
