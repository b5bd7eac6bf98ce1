//! The types of requests.

use super::notation::{Fragment, Schemas, date, flag, list, named, objects, of, one_of, text};

/// Adds the types of requests to the schemas of the document.
pub(super) fn add(schemas: &mut Schemas) {
    objects(schemas);
    // It was only a part of others.
    schemas.0.remove("Common");
    // `edition` adds the description, and the values of a state code.
    schemas.add("BulkMappingJob", list(named("MappingJob")));
    let code = text().or_null().described("State code of the instrument.");
    schemas.add("StateCode", code);
    let job = one_of([text(), named("MappingJob")])
        .described("An identifier as a text, or a mapping job, which may also have `asOf`, a day.");
    schemas.add("ResolveJob", job);
    let numbers = interval(of("number")).described(
        "An interval [a, b] with a <= b. null leaves that side open; at least one entry must not \
         be null.",
    );
    schemas.add("NullableNumberInterval", numbers);
    let dates = interval(date()).described(
        "An interval [a, b] with a <= b, at most one year apart. null stands for the day one year \
         from the other entry; at least one entry must not be null.",
    );
    schemas.add("NullableDateInterval", dates);
}

fn interval(entry: Fragment) -> Fragment {
    list(entry.or_null()).or_null().with("minItems", 2).with("maxItems", 2)
}

objects! {

/// The properties that narrow an answer. exchCode and micCode cannot be combined. Intervals are
/// added by `edition`.
Common {
    /// Exchange code of the instrument itself.
    optional exchCode: text().or_null().example("US"),
    /// ISO market identifier code (MIC).
    optional micCode: text().or_null(),
    /// Currency of the instrument.
    optional currency: text().or_null().example("USD"),
    /// Market sector.
    optional marketSecDes: text().or_null().example("Equity"),
    /// Security type.
    optional securityType: text().or_null().example("Equity Option"),
    /// An alternative security type, typically less specific.
    optional securityType2: text().or_null().example("Option"),
    /// Whether to include equities that are not listed on an exchange.
    optional includeUnlistedEquities: flag().or_null(),
    /// Type of the option.
    optional optionType: text().or_null(),
    optional stateCode: named("StateCode"),
}

/// One identifier to map.
MappingJob: Common {
    /// The kind of the identifier.
    required idType: text().example("ID_ISIN"),
    /// The identifier. An integer stands for its decimal digits.
    required idValue: one_of([text(), of("integer")]),
}

/// A search request. At least one property is required.
SearchRequest: Common {
    /// Key words, at most 1,024 bytes.
    optional query: text().or_null().with("minLength", 1).example("ibm"),
    /// The `next` of the previous page, to get the page after it. The other properties must be the
    /// same as in that request.
    optional start: text().or_null(),
}

/// A filter request, with the same properties as a search request.
FilterRequest: SearchRequest {}

/// A list: identifiers, each with the question which row it means.
ResolveRequest {
    /// Texts, each read by its form, and mapping jobs.
    optional jobs: list(named("ResolveJob")).or_null(),
    /// Steps that choose one of several rows: composite, home, or a property with values in the
    /// order of preference.
    optional prefer: list(text()).or_null().with("maxItems", 16),
    /// Members of a row, idTypes, `OCC_SYMBOL:compact`, `OCC_SYMBOL:padded`, and symbols of
    /// vendors: `symbol:` and a name. Without it, the members of a row of v3.
    optional fields: list(text()).or_null(),
    /// With all, an ambiguous job is answered with all of its rows.
    optional many: text().or_null(),
    /// Whether to include equities that are not listed on an exchange, for all jobs.
    optional includeUnlistedEquities: flag().or_null(),
    /// Whether names that are not resolved have candidates. Such a list has at most 100 jobs, and
    /// each of them counts as ten.
    optional candidates: flag().or_null(),
    /// The day as of which all jobs without their own `asOf` are asked, for an index that keeps its
    /// past.
    optional asOf: date().or_null().example("2022-06-01"),
    /// Whether other FIGIs that had an identifier before are named.
    optional formerly: flag().or_null(),
    /// Columns of texts whose types are asked for; 10,000 texts together.
    optional columns: list(list(text())).or_null().with("maxItems", 64),
    /// The headings of the columns.
    optional headings: list(text()).or_null().with("maxItems", 64),
}

}
