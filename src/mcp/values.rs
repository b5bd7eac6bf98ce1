//! The tool `values`: the values of a property (contract 7), filtered by a text. The codes of
//! exchanges come with the names that `/about` has.

use serde_json::{Map, Value};

use super::answer::{Draft, Row, columns, counted};
use super::arguments::{Arguments, Sentence};
use super::ask::{RouteRequest, Routes};
use super::routed::{PendingAnswer, SKIP, SKIP_MAX, Settled, UNREADABLE, members, settled};
use super::text::{clean_members, quoted};

/// The keys of contract 7.1, for the fault of another one.
const PROPERTIES: &str = "idType, exchCode, micCode, currency, marketSecDes, securityType, \
                          securityType2 or stateCode";

/// The most characters of a key. A text with more is not put into a path.
const KEY_CHARS_MAX: usize = 32;

pub(super) async fn call<R: Routes>(
    routes: &R,
    mut arguments: Arguments,
) -> Result<PendingAnswer, Sentence> {
    let property = arguments.required("property", "{\"property\": \"exchCode\"}")?;
    let text = arguments.text("text")?.map(|text| text.trim().to_lowercase());
    let skip = arguments.number("skip", (0, SKIP_MAX), 0)?;
    let bytes_max = arguments.max_bytes()?;
    arguments.end()?;
    let is_path =
        property.len() <= KEY_CHARS_MAX && property.bytes().all(|b| b.is_ascii_alphanumeric());
    if property == "optionType" {
        return Err("optionType has the values Put and Call.".into());
    }
    let unknown = || format!("{} has no list of values. Send {PROPERTIES}.", quoted(&property));
    if !is_path {
        return Err(unknown());
    }
    let path = format!("/v3/mapping/values/{property}");
    let settled = settled(routes, || RouteRequest::get(path.as_str())).await;
    let settled = settled
        .map_err(|refused| if refused.is_bad_request { unknown() } else { refused.sentence })?;
    let draft = move || drafted(&settled, &property, text.as_deref(), skip);
    Ok(PendingAnswer { bytes_max, draft: Box::new(draft) })
}

fn drafted(
    settled: &Settled,
    property: &str,
    text: Option<&str>,
    skip: usize,
) -> Result<Draft, Sentence> {
    let Settled { answer, about, described } = settled;
    let answer = members(&answer.body)?;
    let described = members(&described.body)?;
    let names = described.get("exchanges").filter(|_| property == "exchCode");
    let Some(Value::Array(values)) = answer.get("values") else { return Err(UNREADABLE.into()) };
    let all = values.len();
    let values = values.iter().filter_map(Value::as_str);
    let with_names = values.map(|value| {
        let name = names.and_then(|names| names.get(value));
        (value, name.and_then(Value::as_str))
    });
    let has = |one: &str| text.is_none_or(|text| one.to_lowercase().contains(text));
    let found: Vec<(&str, Option<&str>)> =
        with_names.filter(|(value, name)| has(value) || name.is_some_and(has)).collect();
    let is_any = found.is_empty();
    let sentence = match text {
        Some(text) => format!(
            "{} of {all} of {property} with {}.",
            counted(found.len(), "value", "values"),
            quoted(text)
        ),
        None => format!("{property} has {}.", counted(all, "value", "values")),
    };
    let rows = found.into_iter().skip(skip).map(|(value, name)| {
        let mut members = Map::new();
        members.insert("value".into(), value.into());
        members.insert("name".into(), name.into());
        clean_members(members)
    });
    let rows: Vec<Row> = rows.collect();
    Ok(Draft {
        status: if is_any { "nothing" } else { "found" },
        generation: about.generation,
        found: sentence,
        rows,
        first: skip,
        columns: columns(if property == "exchCode" { &["value", "name"] } else { &["value"] }),
        more: if is_any { "Send a shorter text, or none.".into() } else { String::new() },
        rest: SKIP,
        others: Row::new(),
    })
}
