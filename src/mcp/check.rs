//! The tool `check`: whether one text is a well-formed identifier, and what may have been meant. It
//! is a list of one job with one column (contract 17.12): the column says the form, the job says
//! which rows have it.

use serde_json::{Map, Value, json};

use super::answer::{Draft, Row, columns, counted};
use super::arguments::{Arguments, Sentence};
use super::ask::{RouteReply, Routes};
use super::resolve::{ListAnswer, TextOfList};
use super::routed::{MAX_BYTES, PendingAnswer, UNREADABLE, answer as ask, members};
use super::text::{quoted, shown};

/// The most rows of the answer.
const ROWS_MAX: usize = 10;

const COLUMNS: &[&str] = &["status", "figi", "ticker", "exchCode", "name", "securityType", "note"];

pub(super) async fn call<R: Routes>(
    routes: &R,
    mut arguments: Arguments,
) -> Result<PendingAnswer, Sentence> {
    let text = arguments.required("text", "{\"text\": \"US4592001014\"}")?;
    let bytes_max = arguments.max_bytes()?;
    arguments.end()?;
    let body = json!({
        "jobs": [text],
        "columns": [[text]],
        "fields": ["figi", "ticker", "exchCode", "name", "securityType"],
        "candidates": true,
    });
    let (answer, result) = first_result(&ask(routes, ListAnswer::request(&body)).await?)?;
    // A correction has a right check digit, whether or not a row has it (contract 17.11).
    let correction = result.get("correction").and_then(Value::as_str).map(str::to_owned);
    let correction = match correction {
        None => None,
        Some(text) => {
            let body = json!({"jobs": [text], "fields": ["figi"]});
            let reply = ask(routes, ListAnswer::request(&body)).await?;
            let (_, found) = first_result(&reply)?;
            let status = found.get("status").and_then(Value::as_str);
            Some((text, matches!(status, Some("resolved" | "ambiguous"))))
        }
    };
    let draft = move || Ok(drafted(&text, answer, result, correction));
    Ok(PendingAnswer { bytes_max, draft: Box::new(draft) })
}

/// The answer about one text, and its result. It is small.
fn first_result(reply: &RouteReply) -> Result<(ListAnswer, Map<String, Value>), Sentence> {
    let mut answer = ListAnswer::of(members(&reply.body)?).ok_or(UNREADABLE)?;
    let result = answer.results.pop().ok_or(UNREADABLE)?;
    Ok((answer, result))
}

/// `correction` has the text that was perhaps meant, and whether a row has it.
fn drafted(
    text: &str,
    answer: ListAnswer,
    result: Map<String, Value>,
    correction: Option<(String, bool)>,
) -> Draft {
    let form = answer.columns.first().and_then(|column| column.get("idType")?.as_str());
    let word = |name: &str| result.get(name).and_then(Value::as_str).map(|text| shown(text, 200));
    let error = word("error");
    let status = word("status").unwrap_or_default();
    let matches = result.get("matches").and_then(Value::as_u64);
    let matches = usize::try_from(matches.unwrap_or(1)).unwrap_or(usize::MAX);
    let read_as = word("idType");
    let is_former = matches!(&*status, "historical" | "gone");
    let (status, mut found) = match (&*status, form) {
        ("invalid", _) => {
            let error = error.unwrap_or_else(|| "it has no known form".to_owned());
            ("malformed", format!("{} is not well-formed: {error}.", quoted(text)))
        }
        ("unknown", Some(form)) => {
            ("wellFormed", format!("{} is a well-formed {form} that no row has.", quoted(text)))
        }
        ("unknown", None) => {
            ("notFound", format!("{} is not an identifier of any row.", quoted(text)))
        }
        (_, form) => {
            let form = read_as.as_deref().or(form);
            let form = form.map_or_else(String::new, |form| format!(", as {form}"));
            let rows = counted(matches, "row has it", "rows have it");
            let rows = if is_former { "a row had it once".to_owned() } else { rows };
            ("found", format!("{} is an identifier{form}: {rows}.", quoted(text)))
        }
    };
    if let Some((correction, is_known)) = correction {
        let known = if is_known { "which a row has" } else { "but no row has that either" };
        let correction = quoted(&correction);
        found
            .push_str(&format!(" Perhaps {correction} was meant, {known}: ask before you use it."));
    }
    let rows = TextOfList { n: 1, text, options_max: ROWS_MAX }.rows(result);
    let rows: Vec<Row> = rows.into_iter().filter(|row| row.contains_key("figi")).collect();
    let has_candidates = rows.iter().any(|row| row.get("as").is_some_and(|of| of == "candidate"));
    let more = if has_candidates {
        "The candidates are guesses by name: ask which one is meant."
    } else if status == "found" && matches > 1 {
        "Use resolve with prefer to choose one."
    } else {
        ""
    };
    Draft {
        status,
        generation: answer.generation,
        found,
        rows,
        first: 0,
        columns: columns(COLUMNS),
        more: more.into(),
        rest: MAX_BYTES,
        others: Row::new(),
    }
}
