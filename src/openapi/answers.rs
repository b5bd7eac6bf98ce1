//! The types of answers. Their comments are descriptions in the document.

#![expect(dead_code, reason = "these types are described, never built: `wire` writes JSON itself")]

use std::collections::BTreeMap;

use figdex_index::Field;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Schemas;

/// An instrument. All fields are present, null where unknown.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct FigiResult {
    /// The FIGI itself.
    #[schema(example = "BBG000BLNNH6", min_length = 12, max_length = 12)]
    figi: String,
    #[schema(required, example = "INTL BUSINESS MACHINES CORP")]
    name: Option<String>,
    #[schema(required, example = "IBM")]
    ticker: Option<String>,
    #[schema(required, example = "US")]
    exch_code: Option<String>,
    /// FIGI of the composite, which unites the venues of one country or market.
    #[schema(required, rename = "compositeFIGI", example = "BBG000BLNNH6")]
    composite_figi: Option<String>,
    #[schema(required, rename = "uniqueID", example = "EQ0010080100001000")]
    unique_id: Option<String>,
    #[schema(required, example = "Common Stock")]
    security_type: Option<String>,
    #[schema(required, example = "Equity")]
    market_sector: Option<String>,
    /// FIGI of the share class, which unites the composites of all countries.
    #[schema(required, rename = "shareClassFIGI", example = "BBG001S5S399")]
    share_class_figi: Option<String>,
    #[schema(required, rename = "uniqueIDFutOpt")]
    unique_id_fut_opt: Option<String>,
    #[schema(required, example = "Common Stock")]
    security_type2: Option<String>,
    #[schema(required, example = "IBM")]
    security_description: Option<String>,
    /// `Metadata N/A` when the other fields are not available.
    #[schema(required = false)]
    metadata: String,
}

/// The results of the jobs, in the order of the jobs.
#[derive(ToSchema)]
struct BulkMappingJobResult(Vec<MappingJobResult>);

/// The result of one job.
#[derive(ToSchema)]
#[serde(untagged)]
enum MappingJobResult {
    FigiList(MappingJobResultFigiList),
    FigiNotFound(MappingJobResultFigiNotFound),
    Error(MappingJobResultError),
}

/// The instruments that the job found, in FIGI order.
#[derive(ToSchema)]
struct MappingJobResultFigiList {
    #[schema(min_items = 1)]
    data: Vec<FigiResult>,
}

/// The job found nothing.
#[derive(ToSchema)]
struct MappingJobResultFigiNotFound {
    #[schema(example = "No identifier found.")]
    warning: String,
}

/// The job is invalid, or finds more instruments than a result may hold.
#[derive(ToSchema)]
struct MappingJobResultError {
    #[schema(example = "Invalid idValue format.")]
    error: String,
}

/// A page of results, or an error. Either `data` or `error` is present, and never null.
#[derive(ToSchema)]
struct SearchResponse {
    #[schema(max_items = 100, required = false)]
    data: Vec<FigiResult>,
    #[schema(example = "query must be a non-empty string.", required = false)]
    error: String,
    /// Present when there is another page: repeat the request with this value as `start` to get it.
    #[schema(required = false)]
    next: String,
}

/// A page of results in FIGI order, or an error.
#[derive(ToSchema)]
struct FilterResponse {
    #[serde(flatten)]
    search: SearchResponse,
    /// The number of instruments on all pages. Present when `data` is.
    #[schema(required = false)]
    total: u64,
}

/// The answer to a list.
#[derive(ToSchema)]
struct ResolveResponse {
    /// The number of the generation of the index that answered.
    generation: u64,
    /// The results of the jobs, in their order. Present when the request has jobs.
    #[schema(required = false)]
    results: Vec<ResolveResult>,
    /// The types of the columns that were asked for.
    #[schema(required = false)]
    columns: Vec<ResolveColumn>,
}

/// The result of one job of a list.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ResolveResult {
    /// `resolved`, `ambiguous`, `unknown` or `invalid`. An index that keeps its past also answers
    /// `historical`, `gone`, `uncertain` or `outOfCoverage`.
    status: String,
    /// The type of identifier that the text was read as.
    #[schema(required = false, example = "ID_ISIN")]
    id_type: String,
    /// The types as which the text finds different securities.
    #[schema(required = false)]
    id_types: Vec<String>,
    /// The step that left one row, or `only`.
    #[schema(required = false, example = "composite")]
    by: String,
    /// The number of rows that the last step left.
    #[schema(required = false)]
    matches: u64,
    /// The reason why a text that is written like a name is ambiguous, although it was found as a
    /// ticker.
    #[schema(required = false)]
    reason: String,
    /// The reason why the job is invalid.
    #[schema(required = false)]
    error: String,
    /// True when the jobs before this one have used up the rows of one request: asked in another
    /// request, it has an answer.
    #[schema(required = false)]
    ask_again: bool,
    /// The identifier that may be meant: one check digit or one transposition away.
    #[schema(required = false)]
    correction: String,
    /// The day as of which the job is answered.
    #[schema(required = false, format = Date, example = "2022-06-01")]
    as_of: String,
    /// The row that is meant, or candidates, with the fields that were asked for. With a day, as
    /// they were on it.
    #[schema(required = false)]
    data: Vec<ResolveRow>,
    /// The row as it was when it last had the identifier; an array of rows, each with its days,
    /// when several may be meant.
    #[schema(required = false)]
    former: ResolveFormer,
    /// The row that the FIGI has now, next to one row as it was.
    #[schema(required = false)]
    today: Option<ResolveRow>,
    /// The first day on which the row was observed so; null when it is stated without one.
    #[schema(required = false)]
    valid_from: Option<String>,
    /// The last day on which the row was observed so; null when it still is.
    #[schema(required = false)]
    valid_to: Option<String>,
    /// `observed`; `assumed`: the value was only learned later; or `stated`: a file of the operator
    /// says so.
    #[schema(required = false)]
    basis: String,
    /// The FIGI of the instrument that took the place of this one, if a file of the operator says so.
    #[schema(required = false)]
    successor: String,
    /// The days that the past covers. Present when the day is outside of them.
    #[schema(required = false)]
    coverage: ResolveCoverage,
    /// Other FIGIs that had the identifier before, the last one first. Present when they were
    /// asked for.
    #[schema(required = false, max_items = 10)]
    formerly: Vec<ResolveFormerly>,
    /// Securities that a name may mean which is not resolved: one row each, the likeliest first,
    /// with the fields that were asked for and `figi`. Present when candidates were asked for.
    #[schema(required = false, max_items = 5)]
    candidates: Vec<ResolveRow>,
}

/// The days that a past covers.
#[derive(ToSchema)]
struct ResolveCoverage {
    #[schema(format = Date)]
    since: String,
    #[schema(format = Date)]
    until: String,
}

/// An instrument that had an identifier before.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ResolveFormerly {
    figi: String,
    #[schema(required)]
    name: Option<String>,
    #[schema(required)]
    ticker: Option<String>,
    #[schema(required)]
    exch_code: Option<String>,
    #[schema(required)]
    valid_from: Option<String>,
    #[schema(required)]
    valid_to: Option<String>,
}

struct ResolveRow;

impl PartialSchema for ResolveRow {
    fn schema() -> RefOr<Schema> {
        let mut row =
            ObjectBuilder::new().description(Some("The members of a row that were asked for."));
        for field in Field::ALL {
            let text = SchemaType::from_iter([Type::String, Type::Null]);
            row = row.property(field.name(), ObjectBuilder::new().schema_type(text));
        }
        row.into()
    }
}

impl ToSchema for ResolveRow {}

struct ResolveFormer;

impl PartialSchema for ResolveFormer {
    fn schema() -> RefOr<Schema> {
        let row = Ref::from_schema_name("ResolveRow");
        let several = ArrayBuilder::new().items(row.clone());
        OneOfBuilder::new().item(row).item(several).into()
    }
}

impl ToSchema for ResolveFormer {}

/// The type of a column; without members when it is not recognised.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ResolveColumn {
    #[schema(required = false, example = "ID_ISIN")]
    id_type: String,
    /// The share of the texts that have the form of this type.
    #[schema(required = false, minimum = 0, maximum = 1)]
    share: f64,
}

/// The fault of a whole list, or of a parameter.
#[derive(ToSchema)]
struct ResolveFault {
    #[schema(example = "jobs is required: an array of texts and mapping jobs.")]
    error: String,
}

/// Suggestions for a text.
#[derive(ToSchema)]
struct SuggestResponse {
    /// The reading of the text, if words of it narrow the question.
    #[schema(required = false)]
    reading: FindReading,
    data: Vec<SuggestRow>,
    /// The text has a wrong check digit, and no instrument carries it.
    #[schema(required = false)]
    finding: String,
    /// The text with the right check digit.
    #[schema(required = false, example = "US4592001014")]
    correction: String,
}

/// An instrument that may be meant.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct SuggestRow {
    #[serde(flatten)]
    row: FigiResult,
    /// The number of listings of the security.
    listings: u64,
    /// The parts of the row that matched: ticker, name, identifier, description, or a guess.
    matched: Vec<String>,
    /// The other name or alias that fits the text better than the name of the row.
    #[schema(required = false)]
    matched_name: SuggestMatchedName,
}

/// A name by which people know a security, besides that of its rows.
#[derive(ToSchema)]
struct SuggestMatchedName {
    /// brand, former, transliteration, short, or alias.
    #[schema(example = "former")]
    kind: String,
    /// The name.
    #[schema(example = "FACEBOOK INC")]
    name: String,
}

/// The securities that a text means, and the rows that a search for it finds.
#[derive(ToSchema)]
struct FindResponse {
    /// The reading of the text, if words of it narrow the question.
    #[schema(required = false)]
    reading: FindReading,
    /// The securities: on the first page the suggestions for the text, then those of `data`.
    securities: Vec<FindSecurity>,
    /// The rows that a search for the text, as it was read, finds.
    data: Vec<FigiResult>,
    /// The cursor of the next page: the `start` of the next request.
    #[schema(required = false)]
    next: String,
    /// The text has a wrong check digit, and no instrument carries it.
    #[schema(required = false)]
    finding: String,
    /// The text with the right check digit.
    #[schema(required = false, example = "US4592001014")]
    correction: String,
}

/// A security that may be meant, by the row that represents it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct FindSecurity {
    #[serde(flatten)]
    row: SuggestRow,
    /// Whether it was guessed: no row of it is known to hold the words as typed.
    is_guess: bool,
}

/// The reading of a text: the words to search for, and the words that narrow the question.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct FindReading {
    /// The words to search for.
    #[schema(example = "apple")]
    query: String,
    chips: Vec<FindChip>,
    /// Words that nothing fits together with the others, and that are left out.
    #[schema(required = false)]
    left_out: Vec<String>,
    /// The filters of the request and those of the chips together, as a body of a search has them.
    #[schema(value_type = Object)]
    filters: (),
}

/// Words of a text that narrow the question.
#[derive(ToSchema)]
struct FindChip {
    /// The words as typed.
    #[schema(example = "xetra")]
    text: String,
    /// The property that a row must have.
    #[schema(example = "exchCode")]
    property: String,
    /// The values of the property, one of which a row must have.
    #[schema(required = false)]
    values: Vec<String>,
    /// The interval in which the property must lie: two numbers, or two dates.
    #[schema(required = false, value_type = Vec<Object>)]
    interval: (),
    /// The text without these words: asking for it removes the chip.
    #[schema(example = "apple")]
    without: String,
}

/// Instruments in numbers.
#[derive(ToSchema)]
struct FacetsResponse {
    /// The number of all instruments that were found.
    total: u64,
    /// The counts by the name of each property that was asked for.
    facets: BTreeMap<String, FacetCounts>,
}

/// The instruments by the values of one property.
#[derive(ToSchema)]
struct FacetCounts {
    /// The most frequent values first.
    values: Vec<FacetCount>,
    /// The number of values that instruments have, also those beyond the limit.
    distinct: u64,
    /// The number of instruments that have no value.
    without: u64,
}

/// The number of instruments that have a value.
#[derive(ToSchema)]
struct FacetCount {
    #[schema(example = "US")]
    value: String,
    count: u64,
}

/// The values that a property may have.
#[derive(ToSchema)]
struct ValuesResponse {
    /// Sorted by lower case.
    values: Vec<String>,
}

/// Adds the types of answers to the components of the document.
pub(super) fn components(schemas: &mut Schemas) {
    schemas.add::<BulkMappingJobResult>();
    schemas.add::<SearchResponse>();
    schemas.add::<FilterResponse>();
    schemas.add::<ValuesResponse>();
    schemas.add::<ResolveResponse>();
    schemas.add::<ResolveFault>();
    schemas.add::<SuggestResponse>();
    schemas.add::<FacetsResponse>();
    schemas.add::<FindResponse>();
}
