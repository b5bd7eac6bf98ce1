//! The operation of changes, which a server has only with `--changes` (contract 19).

use figdex_index::{Attribute, IdType, Property, Sort, export_columns};

use super::{
    LIST_HEADERS, NOT_SHOWN, TOKEN, content, counted, header, json_response, number, parameter,
    refusal, refused, unversioned,
};
use crate::callers::error::ApiError;
use crate::config::Settings;
use crate::openapi::notation::{Fragment, flag, list, named, object, of, one_of, text};

const CURSOR: (&str, &str) =
    ("figdex-cursor", "The cursor of the next page. Not on the last page.");

pub(super) fn operation(settings: &Settings) -> Fragment {
    let since = "The token of the data that the caller has. A page with a cursor needs none.";
    let cursor = "The cursor of the page before; without it, the first page.";
    let fault = |description| counted(json_response("ResolveFault", description));
    // A line of the error table, or a sentence of this route.
    let form = refusal(&[("text", ApiError::UnsupportedAccept)]);
    let form = form.content("application/json", content(named("ResolveFault")));
    let operation = Fragment::default()
        .described(
            "Every instrument that differs between an earlier build and the served one, as it was \
             and as it is, in FIGI order. The columns of an image are those of an export that the \
             caller may see. Answers \
             are application/x-ndjson, application/json or text/csv.",
        )
        .parameter(parameter("since", since, text(), None))
        .parameter(parameter("limit", "The most instruments, 1 to 10000.", number(), "1000"))
        .parameter(parameter("cursor", cursor, text(), None))
        .with("servers", unversioned(settings))
        .response("200", counted(page()))
        .response("400", fault("A parameter is wrong."))
        .response("406", counted(form))
        .response("409", fault("The token is of data with other columns."))
        .response("410", fault("The changes since then are not there: export again."));
    refused(operation, &["401", "405", "429", "500", "503"])
}

/// The answer in each form.
fn page() -> Fragment {
    let line = content(text());
    let page = object()
        .required("generation", number(), "")
        .required("changes", list(image()), "")
        .optional("cursor", text(), "")
        .optional("token", text(), "");
    let (generation, description) = LIST_HEADERS[0];
    let mut page = Fragment::default()
        .described("A page of changes.")
        .content("application/x-ndjson", line.clone())
        .content("text/csv", line)
        .content("application/json", content(page))
        .header(generation, header("integer", description));
    for (name, description) in [TOKEN, CURSOR, NOT_SHOWN] {
        page = page.header(name, header("string", description));
    }
    page
}

/// An image of an instrument: the columns of a change, then those of an export.
fn image() -> Fragment {
    const KINDS: [&str; 4] = ["insert", "update_preimage", "update_postimage", "delete"];
    let mut image = object()
        .required("_change_type", text().with("enum", Vec::from(KINDS)), "")
        .required("_commit_version", number(), "")
        .required("_commit_timestamp", text(), "")
        .required("_cosmetic", flag(), "")
        .required("figi", text(), "");
    for attribute in Attribute::ALL {
        let value = match attribute.sort() {
            Sort::Figi | Sort::Text | Sort::Date => text(),
            Sort::Number | Sort::Importance => of("number"),
            Sort::Flag => flag(),
            Sort::Texts => one_or_several(),
            Sort::Names => list(other_name()),
        };
        image = image.optional(attribute.name(), value, "");
    }
    for property in Property::ALL {
        image = image.optional(property.field_name(), text(), "");
    }
    // Some idTypes are fields under another name.
    let is_exported = |id_type: &IdType| export_columns().any(|name| name == id_type.name());
    for id_type in IdType::ALL.into_iter().filter(is_exported) {
        image = image.optional(id_type.name(), one_or_several(), "");
    }
    image
}

fn one_or_several() -> Fragment {
    one_of([text(), list(text())])
}

fn other_name() -> Fragment {
    let name = object().required("name", text(), "").required("kind", text(), "");
    name.optional("from", text(), "").optional("to", text(), "")
}
