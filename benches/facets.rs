//! The instructions of counting rows by their values (contract 16.11), and of tantivy's terms
//! aggregation over the same rows and properties.
//!
//! ```text
//! cargo bench --bench facets [-- QUESTION…]
//! ```
//! Each side answers each question once to open what it needs, and a second time under callgrind,
//! in a separate process. Both must count the same. `FIGDEX_BENCH_INSTRUMENTS` is the number of
//! generated instruments, 1,000,000 by default. `FIGDEX_BENCH_FOLDER` is a folder where the indexes
//! stay for the next run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use figdex_index::{Catalogue, Facet, FacetQuestion, Filters, Keywords, Meter, Property, Search};
use figdex_ingest::{Build, Input};
use figdex_io::Layout;
use figdex_universe::Universe;
use mimalloc::MiMalloc;
use serde_json::{Value, json};
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::agg_result::AggregationResults;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, TantivyDocument, Term};

// The same allocator as in the programs.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The properties that are counted.
const COUNTED: [Property; 4] =
    [Property::ExchCode, Property::Currency, Property::SecurityType2, Property::MarketSecDes];

/// More values than a property of the universe has.
const VALUES_MAX: u32 = 10_000;

/// The columns of a dump whose words are searched.
const WORDS: [&str; 3] = ["ticker", "name", "securityDescription"];

/// Rows by a word, if one is given, and by values.
struct Question {
    name: &'static str,
    word: Option<&'static str>,
    values: &'static [(Property, &'static str)],
}

const QUESTIONS: [Question; 8] = [
    Question { name: "all_rows", word: None, values: &[] },
    Question { name: "filter_of_many", word: None, values: &[(Property::SecurityType2, "Option")] },
    Question { name: "filter_of_few", word: None, values: &[(Property::ExchCode, "LN")] },
    Question {
        name: "two_filters",
        word: None,
        values: &[(Property::SecurityType2, "Option"), (Property::Currency, "USD")],
    },
    Question { name: "common_word", word: Some("calls"), values: &[] },
    Question { name: "word", word: Some("health"), values: &[] },
    Question { name: "rare_word", word: Some("rqpx"), values: &[] },
    // After a click on a facet of the common word.
    Question {
        name: "common_word_and_filter",
        word: Some("calls"),
        values: &[(Property::ExchCode, "US")],
    },
];

/// The number of rows that have each value of each property.
type Counts = BTreeMap<(&'static str, String), u64>;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [side, question, folder] if side == "--figdex" || side == "--tantivy" => {
            let question = QUESTIONS.iter().find(|known| known.name == question);
            let question = question.expect("a question of the table");
            let counts = match side == "--figdex" {
                true => figdex(Path::new(folder), question),
                false => tantivy(Path::new(folder), question),
            };
            print!("{}", text(&counts));
        }
        wanted => compare(wanted),
    }
}

/// Answers twice, the second time by [`measured`].
fn twice<T>(mut answer: impl FnMut() -> T) -> T {
    black_box(answer());
    let mut found = None;
    measured(&mut || found = Some(answer()));
    found.expect("an answer")
}

/// Callgrind counts the instructions of this function and of those that it calls.
#[inline(never)]
fn measured(answer: &mut dyn FnMut()) {
    answer();
}

fn compare(wanted: &[String]) {
    let temporary = tempfile::tempdir().expect("a folder for the indexes");
    let kept = std::env::var_os("FIGDEX_BENCH_FOLDER");
    let folder = kept.as_ref().map_or(temporary.path(), Path::new);
    if !folder.join("figdex").join("CURRENT").exists() {
        build(folder);
    }
    println!("{:<24} {:>14} {:>14} {:>7}", "instructions", "figdex", "tantivy", "ratio");
    for Question { name, .. } in &QUESTIONS {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let (figdex, ours) = instructions("--figdex", name, folder);
        let (tantivy, theirs) = instructions("--tantivy", name, folder);
        assert_eq!(ours, theirs, "{name}: the sides count different rows");
        let ratio = figdex as f64 / tantivy as f64;
        println!("{name:<24} {figdex:>14} {tantivy:>14} {ratio:>7.3}");
    }
}

/// The instructions of one side's answer, and the answer.
fn instructions(side: &str, question: &str, folder: &Path) -> (u64, String) {
    let program = std::env::current_exe().expect("the path of this program");
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=facets::measured*")
        .arg(program)
        .args([side, question])
        .arg(folder)
        .output()
        .expect("valgrind is installed");
    let messages = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{side} {question}: {messages}");
    let collected = messages.lines().find_map(|line| line.split_once("Collected : "));
    let collected = collected.and_then(|(_, number)| number.trim().parse().ok());
    let answer = String::from_utf8(ran.stdout).expect("counts are UTF-8");
    (collected.expect("callgrind says what it collected"), answer)
}

fn text(counts: &Counts) -> String {
    counts.iter().fold(String::new(), |mut text, ((property, value), rows)| {
        writeln!(text, "{property} {value} {rows}").expect("writing into memory");
        text
    })
}

fn build(folder: &Path) {
    let instruments = std::env::var("FIGDEX_BENCH_INSTRUMENTS");
    let instruments =
        instruments.map_or(1_000_000, |text| text.replace('_', "").parse().expect("a number"));
    let mut dump = Vec::new();
    Universe::new(instruments, 1).write(Layout::JsonLines, &mut dump).expect("writing into memory");
    build_tantivy(&dump, &folder.join("tantivy")).expect("tantivy's index");
    let inputs = vec![Input::Memory("generated.jsonl", dump.into())];
    let report = Build::new(inputs, folder.join("figdex")).run(&mut |_| {});
    let report = report.expect("a build without a fault");
    assert_eq!(report.total().instruments, instruments);
}

fn figdex(folder: &Path, question: &Question) -> Counts {
    let catalogue = Catalogue::open(&folder.join("figdex")).expect("the index that was built");
    let mut filters = Filters { include_unlisted_equities: true, ..Filters::default() };
    for (property, value) in question.values {
        let known = catalogue.vocabulary().admit(*property, value);
        filters.known.require(known.expect("the universe has it"));
    }
    let keywords = question.word.map(|word| Keywords::parse(word).expect("a short text"));
    let search = Search { keywords, filters };
    let facets = COUNTED.map(Facet::Property).to_vec();
    let question = FacetQuestion { search, facets };
    let answered = twice(|| {
        let found = catalogue.facets_uncached(&question, &Meter::unlimited());
        let found = found.expect("a verified index").expect("any work is allowed");
        let named = found.counts.into_iter().map(|counts| {
            let named = |(place, rows)| (counts.facet.value(place, catalogue.vocabulary()), rows);
            (counts.facet.name(), counts.values.into_iter().map(named).collect::<Vec<_>>())
        });
        named.collect::<Vec<_>>()
    });
    let flat = answered.into_iter().flat_map(|(property, values)| {
        values.into_iter().map(move |(value, rows)| ((property, value.to_owned()), rows))
    });
    flat.collect()
}

/// Builds an index of one segment with the words and the counted properties of each row.
fn build_tantivy(dump: &[u8], folder: &Path) -> tantivy::Result<()> {
    let mut schema = Schema::builder();
    let indexed = |tokenizer, record| {
        let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing.set_index_option(record))
    };
    let value = indexed("raw", IndexRecordOption::Basic).set_fast("raw");
    let properties =
        COUNTED.map(|property| (property, schema.add_text_field(property.name(), value.clone())));
    let words = schema.add_text_field("words", indexed("default", IndexRecordOption::Basic));
    std::fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema.build())?;
    let mut writer = index.writer_with_num_threads(1, 2 << 30)?;
    for line in dump.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let row: Value = serde_json::from_slice(line).expect("a line is JSON");
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        let mut document = TantivyDocument::new();
        for (property, field) in properties {
            if let Some(value) = text(property.field_name()) {
                document.add_text(field, value);
            }
        }
        WORDS.iter().filter_map(|name| text(name)).for_each(|text| document.add_text(words, text));
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()
}

fn tantivy(folder: &Path, question: &Question) -> Counts {
    let index = Index::open_in_dir(folder.join("tantivy")).expect("the index that was built");
    let searcher = index.reader().expect("a reader").searcher();
    assert_eq!(searcher.segment_readers().len(), 1);
    let term = |name: &str, text: &str| -> (Occur, Box<dyn Query>) {
        let field = searcher.schema().get_field(name).expect("a field of the schema");
        let term = Term::from_field_text(field, text);
        (Occur::Must, Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
    };
    let word = question.word.map(|word| term("words", word));
    let values = question.values.iter().map(|(property, value)| term(property.name(), value));
    let mut clauses: Vec<_> = word.into_iter().chain(values).collect();
    let query: Box<dyn Query> = match clauses.len() {
        0 => Box::new(AllQuery),
        1 => clauses.remove(0).1,
        _ => Box::new(BooleanQuery::new(clauses)),
    };
    let terms = COUNTED.map(|property| {
        let terms = json!({"terms": {"field": property.name(), "size": VALUES_MAX}});
        (property.name().to_owned(), terms)
    });
    let terms = Value::Object(terms.into_iter().collect());
    let aggregations: Aggregations = serde_json::from_value(terms).expect("terms aggregations");
    let answered: AggregationResults = twice(|| {
        let collector = AggregationCollector::from_aggs(aggregations.clone(), Default::default());
        searcher.search(&*query, &collector).expect("an aggregation")
    });
    let answered = serde_json::to_value(answered).expect("an answer");
    let mut counts = Counts::new();
    for property in COUNTED {
        let buckets = answered[property.name()]["buckets"].as_array().expect("buckets");
        for bucket in buckets {
            let value = bucket["key"].as_str().expect("a value").to_owned();
            let rows = bucket["doc_count"].as_u64().expect("a number");
            counts.insert((property.name(), value), rows);
        }
    }
    counts
}
