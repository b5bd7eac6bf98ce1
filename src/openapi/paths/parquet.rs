//! The operation of the Parquet file, which a server has only with `--parquet` (contract 22).

use super::{component, content, counted, header, json_response, parameter, refused, unversioned};
use crate::config::Settings;
use crate::openapi::notation::{Fragment, text};

pub(super) fn operation(settings: &Settings) -> Fragment {
    let generation = "The number of a generation, or `latest`, which leads to the newest.";
    let generation =
        parameter("generation", generation, text(), None).with("in", "path").with("required", true);
    let range = parameter("range", "One range of bytes, as `bytes=0-99`.", text(), None)
        .with("in", "header");
    let fault = |description| counted(json_response("ResolveFault", description));
    let gone = fault("There is no such file, or the server does not answer with files.");
    let unsatisfiable = fault("The range begins after the end of the file.")
        .header("content-range", header("string", "The size of the file: `bytes */1000`."));
    let part = file("The bytes of the range.")
        .header("content-range", header("string", "The bytes and the size: `bytes 0-99/1000`."));
    let redirect = Fragment::default()
        .described("The address of the newest file.")
        .header("location", header("string", "The address, relative to that of the request."));
    let operation = Fragment::default()
        .described(
            "All instruments of a generation as one Parquet file, with HEAD, conditions and single \
             ranges, so that an engine reads only the parts that it needs.",
        )
        .parameter(generation)
        .parameter(range)
        .with("servers", unversioned(settings))
        .response("200", file("The file."))
        .response("206", part)
        .response("304", Fragment::default().described("The caller has this file."))
        .response("307", counted(redirect))
        .response("400", fault("A range was asked of the newest generation."))
        .response("404", gone)
        .response("409", fault("The server hides identifiers that the file has."))
        .response("412", fault("The caller has another file."))
        .response("416", unsatisfiable);
    let refusals = refused(operation, &["405", "429", "500", "503"]);
    refusals.response("401", component("responses", "401"))
}

fn file(description: &str) -> Fragment {
    let bytes = text().with("format", "binary");
    let reply = Fragment::default()
        .described(description)
        .content("application/vnd.apache.parquet", content(bytes))
        .header("etag", header("string", "The SHA-256 of the file, in quotes."))
        .header("accept-ranges", header("string", "Always `bytes`."))
        .header("figdex-generation", header("integer", "The number of the generation."));
    counted(reply)
}
