//! The operation of changes, which a server has only with `--changes` (contract 19).

use figdex_index::{Attribute, IdType, Property, Sort, export_columns};
use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::schema::{ArrayBuilder, Object, OneOfBuilder, Ref, Type};
use utoipa::openapi::{Content, ObjectBuilder, ResponseBuilder};

use super::{
    LIST_HEADERS, TOKEN, counted, header, json_response, number, parameter, refusal, refused, text,
    unversioned,
};
use crate::callers::error::ApiError;
use crate::config::Settings;

const CURSOR: (&str, &str) =
    ("figdex-cursor", "The cursor of the next page. Not on the last page.");

pub(super) fn operation(settings: &Settings) -> Operation {
    let since = "The token of the data that the caller has. A page with a cursor needs none.";
    let cursor = "The cursor of the page before; without it, the first page.";
    let fault = |description| counted(json_response("ResolveFault", description));
    // A line of the error table, or a sentence of this route.
    let form = refusal(&[("text", ApiError::UnsupportedAccept)]);
    let sentence = Content::new(Some(Ref::from_schema_name("ResolveFault")));
    let form = form.content("application/json", sentence);
    let operation = OperationBuilder::new()
        .description(Some(
            "Every instrument that differs between an earlier build and the served one, as it was \
             and as it is, in FIGI order. The columns of an image are those of an export. Answers \
             are application/x-ndjson, application/json or text/csv.",
        ))
        .parameter(parameter("since", since, text(), "").example(None))
        .parameter(parameter("limit", "The most instruments, 1 to 10000.", number(), "1000"))
        .parameter(parameter("cursor", cursor, text(), "").example(None))
        .servers(Some([unversioned(settings)]))
        .response("200", counted(page()))
        .response("400", fault("A parameter is wrong."))
        .response("403", json_response("ResolveFault", "The server hides identifiers."))
        .response("406", counted(form))
        .response("410", fault("The changes since then are not there: export again."));
    refused(operation, &["401", "405", "429", "500", "503"]).build()
}

/// The answer in each form.
fn page() -> ResponseBuilder {
    let line = Content::new(Some(Object::with_type(Type::String)));
    let page = ObjectBuilder::new()
        .property("generation", number())
        .required("generation")
        .property("changes", ArrayBuilder::new().items(image()))
        .required("changes")
        .property("cursor", text())
        .property("token", text());
    let (generation, description) = LIST_HEADERS[0];
    let mut page = ResponseBuilder::new()
        .description("A page of changes.")
        .content("application/x-ndjson", line.clone())
        .content("text/csv", line)
        .content("application/json", Content::new(Some(page)))
        .header(generation, header(Type::Integer, description));
    for (name, description) in [TOKEN, CURSOR] {
        page = page.header(name, header(Type::String, description));
    }
    page
}

/// An image of an instrument: the columns of a change, then those of an export.
fn image() -> ObjectBuilder {
    const KINDS: [&str; 4] = ["insert", "update_preimage", "update_postimage", "delete"];
    let mut image = ObjectBuilder::new()
        .property("_change_type", text().enum_values(Some(KINDS)))
        .property("_commit_version", number())
        .property("_commit_timestamp", text())
        .property("_cosmetic", of(Type::Boolean))
        .property("figi", text());
    for required in ["_change_type", "_commit_version", "_commit_timestamp", "_cosmetic", "figi"] {
        image = image.required(required);
    }
    for attribute in Attribute::ALL {
        let name = attribute.name();
        image = match attribute.sort() {
            Sort::Figi | Sort::Text | Sort::Date => image.property(name, text()),
            Sort::Number | Sort::Importance => image.property(name, of(Type::Number)),
            Sort::Flag => image.property(name, of(Type::Boolean)),
            Sort::Texts => image.property(name, one_or_several()),
            Sort::Names => image.property(name, ArrayBuilder::new().items(other_name())),
        };
    }
    for property in Property::ALL {
        image = image.property(property.field_name(), text());
    }
    // Some idTypes are fields under another name.
    let is_exported = |id_type: &IdType| export_columns().any(|name| name == id_type.name());
    for id_type in IdType::ALL.into_iter().filter(is_exported) {
        image = image.property(id_type.name(), one_or_several());
    }
    image
}

fn of(kind: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind)
}

fn one_or_several() -> OneOfBuilder {
    OneOfBuilder::new().item(text()).item(ArrayBuilder::new().items(text()))
}

fn other_name() -> ObjectBuilder {
    let name = ObjectBuilder::new().property("name", text()).required("name");
    let name = name.property("kind", text()).required("kind");
    name.property("from", text()).property("to", text())
}
