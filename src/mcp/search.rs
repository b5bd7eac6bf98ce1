//! The tool `search`: a page of contract 8, in the order of a search, or counted in that of a filter.

use serde_json::{Value, json};

use super::answer::{Draft, Row, columns, counted};
use super::arguments::{Arguments, Sentence};
use super::ask::{RouteRequest, Routes};
use super::routed::{PendingAnswer, SKIP, Settled, UNREADABLE, refused, settled};
use super::text::clean_members;

/// The most rows of a page.
const PAGE_ROWS_MAX: usize = 100;

const COLUMNS: &[&str] =
    &["figi", "ticker", "exchCode", "name", "securityType", "marketSector", "securityDescription"];

pub(super) async fn call<R: Routes>(
    routes: &R,
    mut arguments: Arguments,
) -> Result<PendingAnswer, Sentence> {
    let query = arguments.text("query")?;
    let mut body = arguments.object("filters")?;
    let level = arguments.any("level");
    let is_counted = arguments.flag("count")?;
    let start = arguments.text("start")?;
    let skip = arguments.number("skip", (0, PAGE_ROWS_MAX), 0)?;
    let bytes_max = arguments.max_bytes()?;
    arguments.end()?;
    for name in ["query", "start", "level"] {
        if body.contains_key(name) {
            return Err(format!("{name} is not a filter. Send it next to filters."));
        }
    }
    for (name, value) in
        [("query", query.map(Value::from)), ("start", start.map(Value::from)), ("level", level)]
    {
        if let Some(value) = value {
            body.insert(name.into(), value);
        }
    }
    let path = if is_counted { "/v3/filter" } else { "/v3/search" };
    let body = Value::Object(body);
    let settled = settled(routes, || RouteRequest::post(path, &body)).await?;
    Ok(PendingAnswer { bytes_max, draft: Box::new(move || drafted(&settled, skip)) })
}

fn drafted(Settled { answer, about, .. }: &Settled, skip: usize) -> Result<Draft, Sentence> {
    let answer: Value = serde_json::from_slice(&answer.body).map_err(|_| UNREADABLE)?;
    // A server may put its answer into an array (contract 8.3).
    let mut answer = match answer {
        Value::Array(mut elements) if elements.len() == 1 => elements.remove(0),
        other => other,
    };
    if let Some(Value::String(fault)) = answer.get("error") {
        return Err(refused(fault));
    }
    let rows = match answer.get_mut("data").map(Value::take) {
        Some(Value::Array(rows)) => rows,
        _ => return Err(UNREADABLE.into()),
    };
    let next = answer.get("next").and_then(Value::as_str);
    let total = answer.get("total").and_then(Value::as_u64);
    let of_page = rows.len();
    let rows: Vec<Row> = rows
        .into_iter()
        .skip(skip)
        .filter_map(|row| match row {
            Value::Object(members) => Some(clean_members(members)),
            _ => None,
        })
        .collect();
    let found = match (total, of_page) {
        (Some(total), _) => {
            let total = counted(usize::try_from(total).unwrap_or(usize::MAX), "row", "rows");
            format!("{total} in all; this page has {of_page}, by FIGI.")
        }
        (None, 0) => "Nothing has all of these words and values.".to_owned(),
        (None, _) if next.is_some() => {
            format!("This page has {of_page} rows, the likeliest first; there are more.")
        }
        (None, _) => format!("{}, the likeliest first.", counted(of_page, "row", "rows")),
    };
    let more = match (next, of_page) {
        _ if of_page > 0 && rows.is_empty() => "Nothing is left: send a smaller skip.".to_owned(),
        (Some(next), _) => format!("For the next page send the same call with start: \"{next}\"."),
        (None, 0) => {
            "Send fewer words or filters. For a misspelt or half-written name use resolve \
                      with candidates: true; for values of filters ask values."
                .to_owned()
        }
        (None, _) => String::new(),
    };
    let mut others = Row::new();
    if let Some(next) = next {
        others.insert("next".into(), next.into());
    }
    if let Some(total) = total {
        others.insert("total".into(), json!(total));
    }
    Ok(Draft {
        status: if of_page == 0 { "nothing" } else { "found" },
        generation: about.generation,
        found,
        rows,
        first: skip,
        columns: columns(COLUMNS),
        more,
        rest: SKIP,
        others,
    })
}
