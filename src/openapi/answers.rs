//! The types of answers.

use figdex_index::{Field, ListField};

use super::notation::{Schemas, count, date, flag, list, named, object, objects, of, one_of, text};

/// Adds the types of answers to the schemas of the document.
pub(super) fn add(schemas: &mut Schemas) {
    let results = list(named("MappingJobResult"));
    let results = results.described("The results of the jobs, in the order of the jobs.");
    schemas.add("BulkMappingJobResult", results);
    let result = ["FigiList", "FigiNotFound", "Error"];
    let result = one_of(result.map(|kind| named(&format!("MappingJobResult{kind}"))));
    schemas.add("MappingJobResult", result.described("The result of one job."));
    let mut row = object().described("The members of a row that were asked for.");
    for field in Field::ALL {
        row = row.optional(field.name(), text().or_null(), "");
    }
    let of_row: Vec<_> = Field::ALL.iter().map(|field| field.name()).collect();
    for name in ListField::names().filter(|name| !of_row.contains(name)) {
        row = row.optional(name, named("ResolveIdentifiers"), "");
    }
    schemas.add("ResolveRow", row);
    let identifiers = one_of([text().or_null(), list(text())]).described(
        "Identifiers of a row, or its symbol in a vendor's spelling: one is a text, several are an \
         array. Null where none is known.",
    );
    schemas.add("ResolveIdentifiers", identifiers);
    let former = one_of([named("ResolveRow"), list(named("ResolveRow"))]);
    schemas.add("ResolveFormer", former);
    objects(schemas);
}

objects! {

/// An instrument. All fields are present, null where unknown.
FigiResult {
    /// The FIGI itself.
    required figi: text().with("minLength", 12).with("maxLength", 12).example("BBG000BLNNH6"),
    required name: text().or_null().example("INTL BUSINESS MACHINES CORP"),
    required ticker: text().or_null().example("IBM"),
    required exchCode: text().or_null().example("US"),
    /// FIGI of the composite, which unites the venues of one country or market.
    required compositeFIGI: text().or_null().example("BBG000BLNNH6"),
    required uniqueID: text().or_null().example("EQ0010080100001000"),
    required securityType: text().or_null().example("Common Stock"),
    required marketSector: text().or_null().example("Equity"),
    /// FIGI of the share class, which unites the composites of all countries.
    required shareClassFIGI: text().or_null().example("BBG001S5S399"),
    required uniqueIDFutOpt: text().or_null(),
    required securityType2: text().or_null().example("Common Stock"),
    required securityDescription: text().or_null().example("IBM"),
    /// `Metadata N/A` when the other fields are not available.
    optional metadata: text(),
}

/// The instruments that the job found, in FIGI order.
MappingJobResultFigiList {
    required data: list(named("FigiResult")).with("minItems", 1),
}

/// The job found nothing.
MappingJobResultFigiNotFound {
    required warning: text().example("No identifier found."),
}

/// The job is invalid, or finds more instruments than a result may hold.
MappingJobResultError {
    required error: text().example("Invalid idValue format."),
}

/// A page of results, or an error. Either `data` or `error` is present, and never null.
SearchResponse {
    optional data: list(named("FigiResult")).with("maxItems", 100),
    optional error: text().example("query must be a non-empty string."),
    /// Present when there is another page: repeat the request with this value as `start` to get it.
    optional next: text(),
}

/// A page of results in FIGI order, or an error.
FilterResponse: SearchResponse {
    /// The number of instruments on all pages. Present when `data` is.
    optional total: count(),
}

/// The answer to a list.
ResolveResponse {
    /// The number of the generation of the index that answered.
    required generation: count(),
    /// The results of the jobs, in their order. Present when the request has jobs.
    optional results: list(named("ResolveResult")),
    /// The types of the columns that were asked for.
    optional columns: list(named("ResolveColumn")),
}

/// The result of one job of a list.
ResolveResult {
    /// `resolved`, `ambiguous`, `unknown` or `invalid`. An index that keeps its past also answers
    /// `historical`, `gone`, `uncertain` or `outOfCoverage`.
    required status: text(),
    /// The type of identifier that the text was read as.
    optional idType: text().example("ID_ISIN"),
    /// The types as which the text finds different securities.
    optional idTypes: list(text()),
    /// The step that left one row, or `only`.
    optional by: text().example("composite"),
    /// The number of rows that the last step left.
    optional matches: count(),
    /// The reason why a text that is written like a name is ambiguous, although it was found as a
    /// ticker.
    optional reason: text(),
    /// The reason why the job is invalid.
    optional error: text(),
    /// True when the jobs before this one have used up the rows of one request: asked in another
    /// request, it has an answer.
    optional askAgain: flag(),
    /// The identifier that may be meant: one check digit or one transposition away.
    optional correction: text(),
    /// The day as of which the job is answered.
    optional asOf: date().example("2022-06-01"),
    /// The row that is meant, or candidates, with the fields that were asked for. With a day, as
    /// they were on it.
    optional data: list(named("ResolveRow")),
    /// The row as it was when it last had the identifier; an array of rows, each with its days,
    /// when several may be meant.
    optional former: named("ResolveFormer"),
    optional today: one_of([
        named("ResolveRow").described("The row that the FIGI has now, next to one row as it was."),
        of("null"),
    ]),
    /// The first day on which the row was observed so; null when it is stated without one.
    optional validFrom: text().or_null(),
    /// The last day on which the row was observed so; null when it still is.
    optional validTo: text().or_null(),
    /// `observed`; `assumed`: the value was only learned later; or `stated`: a file of the operator
    /// says so.
    optional basis: text(),
    /// The FIGI of the instrument that took the place of this one, if a file of the operator says so.
    optional successor: text(),
    /// The days that the past covers. Present when the day is outside of them.
    optional coverage: named("ResolveCoverage"),
    /// Other FIGIs that had the identifier before, the last one first. Present when they were
    /// asked for.
    optional formerly: list(named("ResolveFormerly")).with("maxItems", 10),
    /// Securities that a name may mean which is not resolved: one row each, the likeliest first,
    /// with the fields that were asked for and `figi`. Present when candidates were asked for.
    optional candidates: list(named("ResolveRow")).with("maxItems", 5),
}

/// The days that a past covers.
ResolveCoverage {
    required since: date(),
    required until: date(),
}

/// An instrument that had an identifier before.
ResolveFormerly {
    required figi: text(),
    required name: text().or_null(),
    required ticker: text().or_null(),
    required exchCode: text().or_null(),
    required validFrom: text().or_null(),
    required validTo: text().or_null(),
}

/// The type of a column; without members when it is not recognised.
ResolveColumn {
    optional idType: text().example("ID_ISIN"),
    /// The share of the texts that have the form of this type.
    optional share: of("number").with("format", "double").with("minimum", 0).with("maximum", 1),
}

/// The fault of a whole list, or of a parameter.
ResolveFault {
    required error: text().example("jobs is required: an array of texts and mapping jobs."),
}

/// Suggestions for a text.
SuggestResponse {
    /// The reading of the text, if words of it narrow the question.
    optional reading: named("FindReading"),
    required data: list(named("SuggestRow")),
    /// The text has a wrong check digit, and no instrument carries it.
    optional finding: text(),
    /// The text with the right check digit.
    optional correction: text().example("US4592001014"),
}

/// An instrument that may be meant.
SuggestRow: FigiResult {
    /// The number of listings of the security.
    required listings: count(),
    /// The parts of the row that matched: ticker, name, identifier, description, or a guess.
    required matched: list(text()),
    /// The other name or alias that fits the text better than the name of the row.
    optional matchedName: named("SuggestMatchedName"),
}

/// A name by which people know a security, besides that of its rows.
SuggestMatchedName {
    /// brand, former, transliteration, short, or alias.
    required kind: text().example("former"),
    /// The name.
    required name: text().example("FACEBOOK INC"),
}

/// The securities that a text means, and the rows that a search for it finds.
FindResponse {
    /// The reading of the text, if words of it narrow the question.
    optional reading: named("FindReading"),
    /// The securities: on the first page the suggestions for the text, then those of `data`.
    required securities: list(named("FindSecurity")),
    /// The rows that a search for the text, as it was read, finds.
    required data: list(named("FigiResult")),
    /// The cursor of the next page: the `start` of the next request.
    optional next: text(),
    /// The text has a wrong check digit, and no instrument carries it.
    optional finding: text(),
    /// The text with the right check digit.
    optional correction: text().example("US4592001014"),
}

/// A security that may be meant, by the row that represents it.
FindSecurity: SuggestRow {
    /// Whether it was guessed: no row of it is known to hold the words as typed.
    required isGuess: flag(),
}

/// The reading of a text: the words to search for, and the words that narrow the question.
FindReading {
    /// The words to search for.
    required query: text().example("apple"),
    required chips: list(named("FindChip")),
    /// Words that nothing fits together with the others, and that are left out.
    optional leftOut: list(text()),
    /// The filters of the request and those of the chips together, as a body of a search has them.
    required filters: object(),
}

/// Words of a text that narrow the question.
FindChip {
    /// The words as typed.
    required text: text().example("xetra"),
    /// The property that a row must have.
    required property: text().example("exchCode"),
    /// The values of the property, one of which a row must have.
    optional values: list(text()),
    /// The interval in which the property must lie: two numbers, or two dates.
    optional interval: list(object()),
    /// The text without these words: asking for it removes the chip.
    required without: text().example("apple"),
}

/// Instruments in numbers.
FacetsResponse {
    /// The number of all instruments that were found.
    required total: count(),
    /// The counts by the name of each property that was asked for.
    required facets: object().with("additionalProperties", named("FacetCounts")),
}

/// The instruments by the values of one property.
FacetCounts {
    /// The most frequent values first.
    required values: list(named("FacetCount")),
    /// The number of values that instruments have, also those beyond the limit.
    required distinct: count(),
    /// The number of instruments that have no value.
    required without: count(),
}

/// The number of instruments that have a value.
FacetCount {
    required value: text().example("US"),
    required count: count(),
}

/// The values that a property may have.
ValuesResponse {
    /// Sorted by lower case.
    required values: list(text()),
}

}
