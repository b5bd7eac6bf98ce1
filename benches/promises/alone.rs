//! What one would build with tantivy alone, to measure against.

use std::path::Path;

use figdex_index::{Figi, Property};
use serde_json::Value;
use tantivy::index::{IndexSettings, IndexSortByField, Order};
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, TantivyDocument};

/// Columns that are identifiers though their names do not begin with `ID_`.
const IDENTIFIERS_BESIDES: [&str; 7] = [
    "ticker",
    "compositeFIGI",
    "shareClassFIGI",
    "uniqueID",
    "uniqueIDFutOpt",
    "OCC_SYMBOL",
    "OPRA_SYMBOL",
];

/// What becomes of identifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identifiers {
    /// Each is a term.
    Terms,
    /// They are left out.
    None,
}

/// The rows of a dump, each a JSON object.
pub(crate) fn rows(dump: &[u8]) -> impl Iterator<Item = Value> {
    let lines = dump.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON"))
}

/// The same properties and words, and every
/// identifier a term. Rows, checks and publishing
/// are left out, to its advantage.
pub(crate) fn index(dump: &[u8], folder: &Path, with: Identifiers) {
    let mut schema = Schema::builder();
    let figi = schema.add_u64_field("figi", NumericOptions::default().set_fast());
    let raw = |record| {
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(record)
    };
    let property = TextOptions::default()
        .set_indexing_options(raw(IndexRecordOption::WithFreqs))
        .set_fast("raw");
    let properties: Vec<(&str, Field)> = Property::ALL
        .map(Property::field_name)
        .into_iter()
        .map(|name| (name, schema.add_text_field(name, property.clone())))
        .collect();
    let numbers =
        ["strike", "contractSize", "coupon"].map(|name| (name, schema.add_f64_field(name, FAST)));
    let dates = ["expiration", "maturity"].map(|name| (name, schema.add_i64_field(name, FAST)));
    let words = TextFieldIndexing::default()
        .set_tokenizer("default")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqs);
    let words = schema.add_text_field("words", TextOptions::default().set_indexing_options(words));
    let identifiers = schema.add_text_field(
        "identifiers",
        TextOptions::default().set_indexing_options(raw(IndexRecordOption::Basic)),
    );
    let settings = IndexSettings {
        sort_by_field: Some(IndexSortByField { field: "figi".into(), order: Order::Asc }),
        ..IndexSettings::default()
    };
    // What the round before left there.
    std::fs::remove_dir_all(folder).expect("an old index goes");
    std::fs::create_dir_all(folder).expect("a folder for a new one");
    let index = Index::builder().schema(schema.build()).settings(settings);
    let index = index.create_in_dir(folder).expect("an empty folder");
    let mut writer = index.writer_with_num_threads(2, 1 << 30).expect("two threads");
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for row in rows(dump) {
        let row = row.as_object().expect("a row is an object");
        let mut document = TantivyDocument::new();
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        let own = Figi::parse(text("figi").expect("every row has one")).expect("a FIGI");
        document.add_u64(figi, own.to_u64());
        for (name, field) in &properties {
            text(name).into_iter().for_each(|text| document.add_text(*field, text));
        }
        for (name, field) in numbers {
            row.get(name).and_then(Value::as_f64).into_iter().for_each(|number| {
                document.add_f64(field, number);
            });
        }
        for (name, field) in dates {
            let days = text(name).and_then(|text| text.replace('-', "").parse().ok());
            days.into_iter().for_each(|days: i64| document.add_i64(field, days));
        }
        for name in ["ticker", "name", "securityDescription", "alias"] {
            text(name).into_iter().for_each(|text| document.add_text(words, text));
        }
        for (name, value) in row {
            let is_identifier =
                name.starts_with("ID_") || IDENTIFIERS_BESIDES.contains(&name.as_str());
            if with == Identifiers::Terms
                && is_identifier
                && let Some(value) = value.as_str()
            {
                document.add_text(identifiers, format!("{name}\0{value}"));
            }
        }
        writer.add_document(document).expect("the threads listen");
    }
    writer.commit().expect("room on the disk");
    let segments = index.searchable_segment_ids().expect("a committed index");
    if segments.len() > 1 {
        writer.merge(&segments).wait().expect("room on the disk");
    }
    writer.wait_merging_threads().expect("nothing is being merged");
}
