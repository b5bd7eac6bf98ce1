//! The types of requests. Their comments are descriptions in the document.

#![expect(dead_code, reason = "these types are described, never built: `wire` reads raw JSON")]

use utoipa::openapi::schema::{ArrayBuilder, Object, SchemaType, Type};
use utoipa::openapi::schema::{KnownFormat, OneOfBuilder, SchemaFormat};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Schemas;

#[derive(ToSchema)]
struct BulkMappingJob(Vec<MappingJob>);

/// One identifier to map.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct MappingJob {
    /// The kind of the identifier.
    #[schema(example = "ID_ISIN")]
    id_type: String,
    #[schema(inline)]
    id_value: IdValue,
    #[serde(flatten)]
    common: CommonSearchMappingRequest,
}

/// The properties that narrow an answer. exchCode and micCode cannot be combined. Intervals are
/// added by `edition`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct CommonSearchMappingRequest {
    /// Exchange code of the instrument itself.
    #[schema(example = "US")]
    exch_code: Option<String>,
    /// ISO market identifier code (MIC).
    mic_code: Option<String>,
    /// Currency of the instrument.
    #[schema(example = "USD")]
    currency: Option<String>,
    /// Market sector.
    #[schema(example = "Equity")]
    market_sec_des: Option<String>,
    /// Security type.
    #[schema(example = "Equity Option")]
    security_type: Option<String>,
    /// An alternative security type, typically less specific.
    #[schema(example = "Option")]
    security_type2: Option<String>,
    /// Whether to include equities that are not listed on an exchange.
    include_unlisted_equities: Option<bool>,
    /// Type of the option.
    option_type: Option<String>,
    #[schema(required = false)]
    state_code: StateCode,
}

/// A search request. At least one property is required.
#[derive(ToSchema)]
#[schema(as = SearchRequest)]
struct SearchSchema {
    /// Key words, at most 1,024 bytes.
    #[schema(example = "ibm", min_length = 1)]
    query: Option<String>,
    /// The `next` of the previous page, to get the page after it. The other properties must be the
    /// same as in that request.
    start: Option<String>,
    #[serde(flatten)]
    common: CommonSearchMappingRequest,
}

/// A filter request, with the same properties as a search request.
#[derive(ToSchema)]
struct FilterRequest {
    #[serde(flatten)]
    search: SearchSchema,
}

/// A list: identifiers, each with the question which row it means.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ResolveRequest {
    /// Texts, each read by its form, and mapping jobs.
    jobs: Option<Vec<ResolveJob>>,
    /// Steps that choose one of several rows: composite, home, or a property with values in the
    /// order of preference.
    #[schema(max_items = 16)]
    prefer: Option<Vec<String>>,
    /// Members of a row. Without it, those of a row of v3.
    fields: Option<Vec<String>>,
    /// With all, an ambiguous job is answered with all of its rows.
    many: Option<String>,
    /// Whether to include equities that are not listed on an exchange, for all jobs.
    include_unlisted_equities: Option<bool>,
    /// Whether names that are not resolved have candidates. Such a list has at most 100 jobs, and
    /// each of them counts as ten.
    candidates: Option<bool>,
    /// The day as of which all jobs without their own `asOf` are asked, for an index that keeps its
    /// past.
    #[schema(format = Date, example = "2022-06-01")]
    as_of: Option<String>,
    /// Whether other FIGIs that had an identifier before are named.
    formerly: Option<bool>,
    /// Columns of texts whose types are asked for; 10,000 texts together.
    #[schema(max_items = 64)]
    columns: Option<Vec<Vec<String>>>,
    /// The headings of the columns.
    #[schema(max_items = 64)]
    headings: Option<Vec<String>>,
}

struct ResolveJob;
struct IdValue;
struct NullableNumberInterval;
struct NullableDateInterval;
struct StateCode;

impl PartialSchema for ResolveJob {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .item(Object::with_type(Type::String))
            .item(Ref::from_schema_name("MappingJob"))
            .description(Some(
                "An identifier as a text, or a mapping job, which may also have `asOf`, a day.",
            ))
            .into()
    }
}

impl PartialSchema for IdValue {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .item(Object::with_type(Type::String))
            .item(Object::with_type(Type::Integer))
            .description(Some("The identifier. An integer stands for its decimal digits."))
            .into()
    }
}

impl PartialSchema for NullableNumberInterval {
    fn schema() -> RefOr<Schema> {
        interval(
            Object::with_type(nullable(Type::Number)),
            "An interval [a, b] with a <= b. null leaves that side open; at least one entry must \
             not be null.",
        )
    }
}

impl PartialSchema for NullableDateInterval {
    fn schema() -> RefOr<Schema> {
        let mut date = Object::with_type(nullable(Type::String));
        date.format = Some(SchemaFormat::KnownFormat(KnownFormat::Date));
        interval(
            date,
            "An interval [a, b] with a <= b, at most one year apart. null stands for the day one \
             year from the other entry; at least one entry must not be null.",
        )
    }
}

/// `edition` adds the values.
impl PartialSchema for StateCode {
    fn schema() -> RefOr<Schema> {
        let mut code = Object::with_type(nullable(Type::String));
        code.description = Some("State code of the instrument.".to_owned());
        code.into()
    }
}

impl ToSchema for ResolveJob {}
impl ToSchema for IdValue {}
impl ToSchema for NullableNumberInterval {}
impl ToSchema for NullableDateInterval {}
impl ToSchema for StateCode {}

fn nullable(kind: Type) -> SchemaType {
    SchemaType::from_iter([kind, Type::Null])
}

fn interval(entry: Object, description: &str) -> RefOr<Schema> {
    ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .items(entry)
        .min_items(Some(2))
        .max_items(Some(2))
        .description(Some(description))
        .into()
}

/// Adds the types of requests to the components of the document.
pub(super) fn components(schemas: &mut Schemas) {
    schemas.add::<NullableNumberInterval>();
    schemas.add::<NullableDateInterval>();
    schemas.add::<BulkMappingJob>();
    schemas.add::<SearchSchema>();
    schemas.add::<FilterRequest>();
    schemas.add::<ResolveRequest>();
}
