//! The types of answers. Their comments are descriptions in the document.

#![expect(dead_code, reason = "these types are described, never built: `wire` writes JSON itself")]

use utoipa::ToSchema;

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
}
