//! Lookups in process, over a generated universe: what a mapping job costs without
//! HTTP. Every case asserts that it finds what it should while it measures.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use figdex_index::{Catalogue, Filters, Hit, IdType, Lookup, Property};
use figdex_ingest::generate::{self, Universe};
use figdex_ingest::{Build, Input, MaxRejects};

const UNIVERSE: Universe = Universe::new(100_000, 1);

fn lookups(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder for the index");
    let dump = dump();
    build(&dump, folder.path());
    let catalogue = Catalogue::open(folder.path()).expect("the index that was built");
    for (kind, id_type) in
        [("isin", IdType::Isin), ("occ", IdType::Occ), ("figi", IdType::BbGlobal)]
    {
        let jobs = jobs(&dump, id_type);
        let mut filtered = jobs.clone();
        let exch_code =
            catalogue.vocabulary().admit(Property::ExchCode, "US").expect("it is there");
        filtered.iter_mut().for_each(|job| job.filters.known.require(exch_code));
        for (filter, jobs) in [("plain", &jobs), ("with_exchCode", &filtered)] {
            let mut group = criterion.benchmark_group(format!("mapping/{kind}/{filter}"));
            group.throughput(Throughput::Elements(jobs.len() as u64));
            group.bench_function(format!("{}_jobs", jobs.len()), |bencher| {
                bencher.iter(|| {
                    for job in jobs {
                        let hits = find(&catalogue, black_box(job));
                        assert!(filter != "plain" || !hits.is_empty());
                        hits.iter().for_each(|hit| {
                            black_box(catalogue.row(*hit));
                        });
                    }
                });
            });
            group.finish();
        }
    }
}

fn find(catalogue: &Catalogue, job: &Lookup) -> Vec<Hit> {
    catalogue.lookup(job, 15_000).expect("few instruments share an identifier")
}

/// A hundred jobs spread over the dump.
fn jobs(dump: &[u8], id_type: IdType) -> Vec<Lookup> {
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
        .map(|id_value| {
            let filters = Filters { include_unlisted_equities: true, ..Filters::default() };
            Lookup { id_type, id_value, filters }
        })
        .collect();
    assert_eq!(jobs.len(), 100);
    jobs
}

fn dump() -> Vec<u8> {
    let mut dump = Vec::new();
    generate::write(&UNIVERSE, generate::Format::Csv, &mut dump).expect("writing into memory");
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
    assert_eq!(report.total().instruments, UNIVERSE.count);
}

criterion_group!(benches, lookups);
criterion_main!(benches);
