//! What the server sends.

#![expect(dead_code, reason = "these types are described, never built: `wire` writes JSON itself")]

use utoipa::ToSchema;

use super::Schemas;

/// An instrument: all its fields are there, null where unknown.
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
    /// FIGI of the composite: the venues of one country or market together.
    #[schema(required, rename = "compositeFIGI", example = "BBG000BLNNH6")]
    composite_figi: Option<String>,
    #[schema(required, rename = "uniqueID", example = "EQ0010080100001000")]
    unique_id: Option<String>,
    #[schema(required, example = "Common Stock")]
    security_type: Option<String>,
    #[schema(required, example = "Equity")]
    market_sector: Option<String>,
    /// FIGI of the share class: the composites of all countries together.
    #[schema(required, rename = "shareClassFIGI", example = "BBG001S5S399")]
    share_class_figi: Option<String>,
    #[schema(required, rename = "uniqueIDFutOpt")]
    unique_id_fut_opt: Option<String>,
    #[schema(required, example = "Common Stock")]
    security_type2: Option<String>,
    #[schema(required, example = "IBM")]
    security_description: Option<String>,
    /// `Metadata N/A`, where the other fields are not available.
    #[schema(required = false)]
    metadata: String,
}

/// The element at place i answers the job at place i.
#[derive(ToSchema)]
struct BulkMappingJobResult(Vec<MappingJobResult>);

/// What became of one job.
#[derive(ToSchema)]
#[serde(untagged)]
enum MappingJobResult {
    FigiList(MappingJobResultFigiList),
    FigiNotFound(MappingJobResultFigiNotFound),
    Error(MappingJobResultError),
}

/// What the job found, in the order of FIGIs.
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

/// The job has a fault, or finds more than an answer holds.
#[derive(ToSchema)]
struct MappingJobResultError {
    #[schema(example = "Invalid idValue format.")]
    error: String,
}

/// A page of what was found, or what is wrong with the question: either `data` or
/// `error` is there, and never null.
#[derive(ToSchema)]
struct SearchResponse {
    #[schema(max_items = 100, required = false)]
    data: Vec<FigiResult>,
    #[schema(example = "query must be a non-empty string.", required = false)]
    error: String,
    /// There is another page: the same request with this as `start` gets it.
    #[schema(required = false)]
    next: String,
}

/// A page of what was found in the order of FIGIs, or what is wrong with the question.
#[derive(ToSchema)]
struct FilterResponse {
    #[serde(flatten)]
    search: SearchResponse,
    /// How many instruments the question finds, on all pages. It is there where
    /// `data` is.
    #[schema(required = false)]
    total: u64,
}

/// The values that a field may have.
#[derive(ToSchema)]
struct ValuesResponse {
    /// Sorted by lower case.
    values: Vec<String>,
}

/// The components that these are.
pub(super) fn components(schemas: &mut Schemas) {
    schemas.add::<BulkMappingJobResult>();
    schemas.add::<SearchResponse>();
    schemas.add::<FilterResponse>();
    schemas.add::<ValuesResponse>();
}
