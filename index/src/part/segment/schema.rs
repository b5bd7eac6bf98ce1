//! The tantivy schema of a part: the words of a row as terms, and a fast field for each value
//! that filters compare. Nothing is stored in the doc store: result fields come from the rows
//! (engine 5).

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

use super::tokenizer::WORDS;
use crate::instrument::attribute::Attribute;
use crate::instrument::vocabulary::Property;

/// The FIGI as a number of the same order. The segment is sorted by it.
pub(crate) const FIGI: &str = "figi";
/// Set to true on unlisted equities, and absent otherwise.
pub(crate) const UNLISTED_EQUITY: &str = "unlistedEquity";

/// The terms of ticker, name, description and aliases.
const KEYWORDS: &str = "words";
/// The terms of description and aliases that neither ticker nor name has.
const ELSEWHERE: &str = "elsewhere";
/// The terms of other names, and the inner runs of texts without spaces. Searches do not read them.
const NAMES: &str = "names";

/// The fields of the schema.
pub(crate) struct Fields {
    pub(crate) figi: Field,
    /// The fields of the properties, by discriminant. Each has the name of its property.
    pub(crate) properties: [Field; Property::COUNT],
    /// The fields of [`Attribute::NUMBERS`], with their names.
    pub(crate) numbers: [Field; Attribute::NUMBERS.len()],
    /// The fields of [`Attribute::DATES`], as days since 1970-01-01.
    pub(crate) dates: [Field; Attribute::DATES.len()],
    pub(crate) unlisted_equity: Field,
    pub(crate) words: Field,
    pub(crate) elsewhere: Field,
    pub(crate) names: Field,
}

/// The schema of every part.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let fast = || NumericOptions::default().set_fast();
    // The values have no terms: the bitmaps find and count the rows of a value in less space.
    let value = TextOptions::default().set_fast("raw");
    // The terms have only DocIds: ranks order a search, so frequencies are not needed (engine 6).
    let words = TextFieldIndexing::default()
        .set_tokenizer(WORDS)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    let words = TextOptions::default().set_indexing_options(words);
    let fields = Fields {
        figi: builder.add_u64_field(FIGI, fast()),
        properties: Property::ALL
            .map(|property| builder.add_text_field(property.name(), value.clone())),
        numbers: Attribute::NUMBERS.map(|number| builder.add_f64_field(number.name(), fast())),
        dates: Attribute::DATES.map(|date| builder.add_i64_field(date.name(), fast())),
        unlisted_equity: builder.add_bool_field(UNLISTED_EQUITY, FAST),
        words: builder.add_text_field(KEYWORDS, words.clone()),
        elsewhere: builder.add_text_field(ELSEWHERE, words.clone()),
        names: builder.add_text_field(NAMES, words),
    };
    (builder.build(), fields)
}
