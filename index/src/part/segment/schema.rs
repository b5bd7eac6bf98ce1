//! The tantivy schema of a part: the key words, and every filterable property as a
//! fast field. Nothing is stored: result rows come from the packed rows.
//!
//! With `document` and `columns` the only place that spells a field name.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

use super::tokenizer::WORDS;
use crate::instrument::vocabulary::Property;

/// The FIGI as its order-preserving number; the segment is sorted by it.
pub(crate) const FIGI: &str = "figi";
pub(crate) const STRIKE: &str = "strike";
pub(crate) const CONTRACT_SIZE: &str = "contractSize";
pub(crate) const COUPON: &str = "coupon";
/// Days since 1970-01-01.
pub(crate) const EXPIRATION: &str = "expiration";
/// Days since 1970-01-01.
pub(crate) const MATURITY: &str = "maturity";
/// Present, and true, on unlisted equities alone.
pub(crate) const UNLISTED_EQUITY: &str = "unlistedEquity";

/// The terms of ticker, name, description and alias.
const KEYWORDS: &str = "words";
/// Those of them that neither ticker nor name has.
const ELSEWHERE: &str = "elsewhere";

/// The fields of the schema.
pub(crate) struct Fields {
    pub(crate) figi: Field,
    /// Each at its property's place, under the property's own name.
    pub(crate) properties: [Field; Property::COUNT],
    pub(crate) strike: Field,
    pub(crate) contract_size: Field,
    pub(crate) coupon: Field,
    pub(crate) expiration: Field,
    pub(crate) maturity: Field,
    pub(crate) unlisted_equity: Field,
    pub(crate) words: Field,
    pub(crate) elsewhere: Field,
}

/// The schema of every part.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let fast = || NumericOptions::default().set_fast();
    // No terms: the bitmaps drive and count, in less room.
    let value = TextOptions::default().set_fast("raw");
    // DocIds alone: the order of a search is the ranks' affair, not the frequencies'.
    let words = TextFieldIndexing::default()
        .set_tokenizer(WORDS)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    let words = TextOptions::default().set_indexing_options(words);
    let fields = Fields {
        figi: builder.add_u64_field(FIGI, fast()),
        properties: Property::ALL
            .map(|property| builder.add_text_field(property.name(), value.clone())),
        strike: builder.add_f64_field(STRIKE, fast()),
        contract_size: builder.add_f64_field(CONTRACT_SIZE, fast()),
        coupon: builder.add_f64_field(COUPON, fast()),
        expiration: builder.add_i64_field(EXPIRATION, fast()),
        maturity: builder.add_i64_field(MATURITY, fast()),
        unlisted_equity: builder.add_bool_field(UNLISTED_EQUITY, FAST),
        words: builder.add_text_field(KEYWORDS, words.clone()),
        elsewhere: builder.add_text_field(ELSEWHERE, words),
    };
    (builder.build(), fields)
}
