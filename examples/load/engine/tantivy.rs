//! tantivy alone, for comparison: an index of the same instruments, and the same questions.

use std::ops::Bound;
use std::path::Path;

use anyhow::Context as _;
use figdex_index::{Figi, Property};
use serde_json::{Value, json};
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_result::AggregationResults;
use tantivy::collector::{Count, DocSetCollector, TopDocs};
use tantivy::index::{IndexSettings, IndexSortByField, Order};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, ReloadPolicy, Searcher, TantivyDocument, Term};

use super::question::{COUNTED, Counts, PAGE, Question};

/// Columns with identifiers whose names do not begin with `ID_`.
const OTHER_IDENTIFIERS: [&str; 7] = [
    "ticker",
    "compositeFIGI",
    "shareClassFIGI",
    "uniqueID",
    "uniqueIDFutOpt",
    "OCC_SYMBOL",
    "OPRA_SYMBOL",
];

const NUMBERS: [&str; 3] = ["strike", "contractSize", "coupon"];
const DATES: [&str; 2] = ["expiration", "maturity"];
const WORDS: [&str; 4] = ["ticker", "name", "securityDescription", "alias"];

/// The memory of the writer's threads together, in bytes.
const WRITER_BYTES: usize = 1 << 30;

/// More values than a property has.
const VALUES_MAX: u32 = 10_000;

/// The treatment of identifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Identifiers {
    /// Each is a term.
    Terms,
    /// Identifiers are left out.
    None,
}

/// The rows of a dump, each a JSON object.
pub(super) fn rows(dump: &[u8]) -> impl Iterator<Item = Value> {
    let lines = dump.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON"))
}

/// Builds an index of one segment with the same properties and words. Rows, checks and publishing
/// are left out, which favours tantivy.
pub(super) fn build(dump: &[u8], folder: &Path, with: Identifiers) -> anyhow::Result<()> {
    let mut schema = Schema::builder();
    let figi = schema.add_u64_field("figi", NumericOptions::default().set_fast());
    let indexed = |tokenizer, record| {
        let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing.set_index_option(record))
    };
    let property = indexed("raw", IndexRecordOption::WithFreqs).set_fast("raw");
    let properties = Property::ALL
        .map(Property::field_name)
        .map(|name| (name, schema.add_text_field(name, property.clone())));
    let numbers = NUMBERS.map(|name| (name, schema.add_f64_field(name, FAST)));
    let dates = DATES.map(|name| (name, schema.add_i64_field(name, FAST)));
    let words = schema.add_text_field("words", indexed("default", IndexRecordOption::WithFreqs));
    let identifiers =
        schema.add_text_field("identifiers", indexed("raw", IndexRecordOption::Basic));
    let settings = IndexSettings {
        sort_by_field: Some(IndexSortByField { field: "figi".into(), order: Order::Asc }),
        ..IndexSettings::default()
    };
    if folder.exists() {
        // The index of the previous round.
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir(folder)?;
    let index = Index::builder().schema(schema.build()).settings(settings);
    let index = index.create_in_dir(folder)?;
    let mut writer = index.writer_with_num_threads(2, WRITER_BYTES)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for row in rows(dump) {
        let row = row.as_object().context("a row is an object")?;
        let mut document = TantivyDocument::new();
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        let mut add = |field: Field, text: Option<&str>| {
            text.into_iter().for_each(|text| document.add_text(field, text));
        };
        properties.iter().for_each(|(name, field)| add(*field, text(name)));
        WORDS.iter().for_each(|name| add(words, text(name)));
        document.add_u64(figi, Figi::parse(text("figi").context("a FIGI")?)?.to_u64());
        for (name, field) in numbers {
            if let Some(number) = row.get(name).and_then(Value::as_f64) {
                document.add_f64(field, number);
            }
        }
        for (name, field) in dates {
            if let Some(day) = text(name).and_then(|text| text.replace('-', "").parse().ok()) {
                document.add_i64(field, day);
            }
        }
        let is_identifier =
            |name: &str| name.starts_with("ID_") || OTHER_IDENTIFIERS.contains(&name);
        for (name, value) in row.iter().filter(|_| with == Identifiers::Terms) {
            if let Some(value) = value.as_str().filter(|_| is_identifier(name)) {
                document.add_text(identifiers, identifier(name, value));
            }
        }
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(())
}

/// The term of an identifier.
fn identifier(name: &str, value: &str) -> String {
    format!("{name}\0{value}")
}

/// An open index.
pub(super) struct Tantivy {
    searcher: Searcher,
}

impl Tantivy {
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let reader = Index::open_in_dir(folder)?.reader_builder();
        let searcher = reader.reload_policy(ReloadPolicy::Manual).try_into()?.searcher();
        Ok(Self { searcher })
    }

    pub(super) fn query(&self, question: &Question) -> anyhow::Result<Box<dyn Query>> {
        let mut clauses = Vec::new();
        for word in question.words.split_whitespace() {
            clauses.push((Occur::Must, self.term("words", word)?));
        }
        for (property, value) in question.values {
            clauses.push((Occur::Must, self.term(property.field_name(), value)?));
        }
        if let Some((low, high)) = question.strikes {
            let field = self.searcher.schema().get_field("strike")?;
            let [low, high] = [low, high].map(|strike| Term::from_field_f64(field, strike));
            let range = RangeQuery::new(Bound::Included(low), Bound::Included(high));
            clauses.push((Occur::Must, Box::new(range)));
        }
        Ok(match clauses.len() {
            0 => Box::new(AllQuery),
            1 => clauses.remove(0).1,
            _ => Box::new(BooleanQuery::new(clauses)),
        })
    }

    fn term(&self, field: &str, text: &str) -> anyhow::Result<Box<dyn Query>> {
        let term = Term::from_field_text(self.searcher.schema().get_field(field)?, text);
        Ok(Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
    }

    /// Looks up these identifiers one after the other. Returns the number of rows.
    pub(super) fn lookups(&self, id_type: &str, values: &[&str]) -> anyhow::Result<usize> {
        let mut rows = 0;
        for value in values {
            let query = self.term("identifiers", &identifier(id_type, value))?;
            rows += self.searcher.search(&*query, &DocSetCollector)?.len();
        }
        Ok(rows)
    }

    pub(super) fn count(&self, query: &dyn Query) -> anyhow::Result<u64> {
        Ok(self.searcher.search(query, &Count)? as u64)
    }

    /// The FIGIs of the first page in FIGI order.
    pub(super) fn page(&self, query: &dyn Query) -> anyhow::Result<Vec<u64>> {
        let page = TopDocs::with_limit(PAGE).order_by_u64_field("figi", Order::Asc);
        let page = self.searcher.search(query, &page)?;
        Ok(page.into_iter().filter_map(|(figi, _)| figi).collect())
    }

    /// The number of rows on a page in the order of their scores.
    pub(super) fn best(&self, query: &dyn Query) -> anyhow::Result<usize> {
        Ok(self.searcher.search(query, &TopDocs::with_limit(PAGE).order_by_score())?.len())
    }

    pub(super) fn facets(&self, query: &dyn Query) -> anyhow::Result<AggregationResults> {
        let terms = COUNTED.map(|property| {
            let name = property.field_name();
            (name.to_owned(), json!({"terms": {"field": name, "size": VALUES_MAX}}))
        });
        let terms = serde_json::from_value(Value::Object(terms.into_iter().collect()))?;
        Ok(self
            .searcher
            .search(query, &AggregationCollector::from_aggs(terms, Default::default()))?)
    }
}

pub(super) fn counts(facets: &AggregationResults) -> anyhow::Result<Counts> {
    let facets = serde_json::to_value(facets)?;
    let mut counts = Counts::new();
    for property in COUNTED {
        let name = property.field_name();
        for bucket in facets[name]["buckets"].as_array().context("buckets")? {
            let value = bucket["key"].as_str().context("a value")?.to_owned();
            counts.insert((name, value), bucket["doc_count"].as_u64().context("a number")?);
        }
    }
    Ok(counts)
}
