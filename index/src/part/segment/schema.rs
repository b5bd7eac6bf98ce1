//! The tantivy schema of a part: the words of a row as terms, and a fast field for each value
//! that filters compare. Nothing is stored in the doc store: result fields come from the rows
//! (engine 5).

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

use super::tokenizer::WORDS;
use crate::instrument::vocabulary::Property;

/// The FIGI as a number in the same order; the segment is sorted by it.
pub(crate) const FIGI: &str = "figi";
pub(crate) const STRIKE: &str = "strike";
pub(crate) const CONTRACT_SIZE: &str = "contractSize";
pub(crate) const COUPON: &str = "coupon";
/// The days since 1970-01-01.
pub(crate) const EXPIRATION: &str = "expiration";
/// The days since 1970-01-01.
pub(crate) const MATURITY: &str = "maturity";
/// Present, and true, only on unlisted equities.
pub(crate) const UNLISTED_EQUITY: &str = "unlistedEquity";

/// The terms of ticker, name, description and aliases.
const KEYWORDS: &str = "words";
/// The terms of description and aliases that neither ticker nor name has.
const ELSEWHERE: &str = "elsewhere";

/// The fields of the schema.
pub(crate) struct Fields {
    pub(crate) figi: Field,
    /// The properties by their discriminant; each field has the name of its property.
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
    // Without terms: the bitmaps find and count the rows of a value, in less space.
    let value = TextOptions::default().set_fast("raw");
    // Only DocIds: a search is ordered by ranks, so that frequencies are not needed (engine 6).
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
