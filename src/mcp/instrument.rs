//! The tool `instrument`: one instrument with its family (contract 16.5), or with its history
//! (contract 20.12).

use serde_json::{Map, Value};

use super::answer::{Draft, Row, columns, counted};
use super::arguments::{Arguments, Sentence};
use super::ask::{RouteRequest, Routes};
use super::routed::{PendingAnswer, SKIP, SKIP_MAX, Settled, UNREADABLE, members, settled};
use super::text::{clean_members, quoted, shown};

/// The most characters of a FIGI. A text with more is not put into a path.
const FIGI_CHARS_MAX: usize = 12;

const FAMILY_COLUMNS: &[&str] =
    &["of", "figi", "ticker", "exchCode", "micCode", "name", "securityType", "compositeFIGI"];

const HISTORY_COLUMNS: &[&str] =
    &["of", "validFrom", "validTo", "ticker", "exchCode", "name", "securityType", "note"];

pub(super) async fn call<R: Routes>(
    routes: &R,
    mut arguments: Arguments,
) -> Result<PendingAnswer, Sentence> {
    let figi = arguments.required("figi", "{\"figi\": \"BBG000BLNNH6\"}")?;
    let has_history = arguments.flag("history")?;
    let skip = arguments.number("skip", (0, SKIP_MAX), 0)?;
    let bytes_max = arguments.max_bytes()?;
    arguments.end()?;
    let figi = figi.trim();
    let is_path = figi.len() <= FIGI_CHARS_MAX && figi.bytes().all(|b| b.is_ascii_alphanumeric());
    if !is_path {
        return Err(format!(
            "{} is not a FIGI. Send one such as BBG000BLNNH6; resolve finds the FIGI of another \
             identifier.",
            quoted(figi)
        ));
    }
    let path = format!("/instruments/{figi}");
    if has_history {
        let path = format!("{path}/history");
        let settled = settled(routes, || RouteRequest::get(path.as_str())).await?;
        return Ok(PendingAnswer { bytes_max, draft: Box::new(move || history(&settled, skip)) });
    }
    let settled = settled(routes, || RouteRequest::get(path.as_str())).await?;
    let figi = figi.to_owned();
    Ok(PendingAnswer { bytes_max, draft: Box::new(move || family(&figi, &settled, skip)) })
}

fn family(figi: &str, settled: &Settled, skip: usize) -> Result<Draft, Sentence> {
    let Settled { answer, about, .. } = settled;
    let mut answer = members(&answer.body)?;
    let own = answer.remove("instrument");
    let Some(Value::Object(mut family)) = answer.remove("family") else {
        return Err(UNREADABLE.into());
    };
    let mut rows = Vec::new();
    let mut name = None;
    let mut identifiers = String::new();
    if let Some(Value::Object(members)) = own {
        identifiers = members.get("identifiers").map(listed).unwrap_or_default();
        name = members.get("name").and_then(Value::as_str).map(quoted);
        rows.push(of("self", members));
    }
    let Some(Value::Array(composites)) = family.remove("composites") else {
        return Err(UNREADABLE.into());
    };
    for branch in composites {
        let Value::Object(mut branch) = branch else { continue };
        if let Some(Value::Object(composite)) = branch.remove("composite") {
            rows.push(of("composite", composite));
        }
        let Some(Value::Array(venues)) = branch.remove("venues") else { continue };
        rows.extend(venues.into_iter().filter_map(|venue| match venue {
            Value::Object(members) => Some(of("venue", members)),
            _ => None,
        }));
    }
    let listings = rows.iter().filter(|row| row.get("of").is_some_and(|of| of == "venue")).count();
    let is_truncated = family.remove("truncated") == Some(Value::Bool(true));
    let mut found = match name {
        Some(name) => format!("{figi} is {name}"),
        None => format!("{figi} is a share class or composite without a row"),
    };
    found.push_str(&format!("; its family has {}", counted(listings, "listing", "listings")));
    found.push_str(if is_truncated { " here, and more." } else { "." });
    if !identifiers.is_empty() {
        found.push_str(&format!(" Identifiers: {identifiers}."));
    }
    let more = match about.has_past() {
        true => "For how it was send history: true.",
        false => "",
    };
    Ok(Draft {
        status: "found",
        generation: about.generation,
        found,
        rows: rows.into_iter().skip(skip).collect(),
        first: skip,
        columns: columns(FAMILY_COLUMNS),
        more: more.to_owned(),
        rest: SKIP,
        others: clean_members(family),
    })
}

fn history(Settled { answer, about, .. }: &Settled, skip: usize) -> Result<Draft, Sentence> {
    let mut answer = members(&answer.body)?;
    let Some(Value::Array(versions)) = answer.remove("versions") else {
        return Err(UNREADABLE.into());
    };
    let mut rows: Vec<Row> = versions
        .into_iter()
        .filter_map(|version| match version {
            Value::Object(mut version) => {
                if let Some(Value::Object(row)) = version.remove("row") {
                    version.extend(row);
                }
                Some(of("version", version))
            }
            _ => None,
        })
        .collect();
    let versions = rows.len();
    if let Some(Value::Array(stated)) = answer.remove("stated") {
        rows.extend(stated.into_iter().filter_map(|one| match one {
            Value::Object(members) => Some(of("stated", members)),
            _ => None,
        }));
    }
    let found =
        format!("{} of this row, the newest first.", counted(versions, "version", "versions"));
    Ok(Draft {
        status: "found",
        generation: about.generation,
        found,
        rows: rows.into_iter().skip(skip).collect(),
        first: skip,
        columns: columns(HISTORY_COLUMNS),
        more: String::new(),
        rest: SKIP,
        others: clean_members(answer),
    })
}

/// The identifiers of an instrument, for clients that know only the text.
fn listed(identifiers: &Value) -> String {
    const IDENTIFIERS_CHARS_MAX: usize = 400;
    let types = identifiers.as_object().into_iter().flatten();
    let texts = types.map(|(id_type, values)| {
        let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
        format!("{id_type} {}", values.take(3).collect::<Vec<_>>().join(" "))
    });
    shown(&texts.collect::<Vec<_>>().join(", "), IDENTIFIERS_CHARS_MAX)
}

fn of(relation: &str, members: Map<String, Value>) -> Row {
    let mut row = clean_members(members);
    row.insert("of".into(), relation.into());
    row
}
