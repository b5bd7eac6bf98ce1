//! The tool `resolve`: the list of contract 17, with a row for each text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::answer::{Draft, Row, columns, counted};
use super::arguments::{Arguments, Sentence};
use super::ask::{RouteReply, RouteRequest, Routes};
use super::routed::{MAX_BYTES, PendingAnswer, UNREADABLE, answer, members};
use super::text::{clean_members, shown};

/// The most texts of a call.
pub(super) const TEXTS_MAX: usize = 100;

/// The most steps, and the most fields: the routes have their own bounds, which are smaller.
const NAMES_MAX: usize = 64;

/// The rows of an ambiguous text: those of a call with one text, and of one with several.
const OPTIONS_OF_ONE: usize = 10;
const OPTIONS_OF_SEVERAL: usize = 3;

/// The most characters of a text that an answer repeats.
const TEXT_CHARS_MAX: usize = 60;

/// The fields of a row, unless a call asks for others.
const FIELDS: [&str; 7] =
    ["figi", "ticker", "exchCode", "name", "securityType", "marketSector", "compositeFIGI"];

/// The columns of a table of those fields.
const COLUMNS: &[&str] =
    &["n", "text", "status", "figi", "ticker", "exchCode", "name", "securityType", "note"];

/// The columns of a table of the fields that a call asks for.
fn columns_of(fields: &[String]) -> Vec<String> {
    if fields.is_empty() {
        return columns(COLUMNS);
    }
    let mut all = columns(&["n", "text", "status"]);
    all.extend(fields.iter().cloned());
    all.push("note".to_owned());
    all
}

pub(super) async fn call<R: Routes>(
    routes: &R,
    mut arguments: Arguments,
) -> Result<PendingAnswer, Sentence> {
    let texts = arguments.texts("texts", TEXTS_MAX)?;
    let form = arguments.text("as")?;
    let prefer = arguments.texts("prefer", NAMES_MAX)?;
    let as_of = arguments.text("asOf")?;
    let has_candidates = arguments.flag("candidates")?;
    let fields = arguments.texts("fields", NAMES_MAX)?;
    let bytes_max = arguments.max_bytes()?;
    arguments.end()?;
    if texts.is_empty() {
        return Err("resolve needs texts. Send them as in {\"texts\": [\"IBM US Equity\"]}.".into());
    }
    let mut body = Map::new();
    let jobs = match form {
        None => json!(texts),
        Some(form) => texts.iter().map(|text| json!({"text": text, "as": form})).collect(),
    };
    body.insert("jobs".into(), jobs);
    body.insert("fields".into(), if fields.is_empty() { json!(FIELDS) } else { json!(fields) });
    if !prefer.is_empty() {
        body.insert("prefer".into(), json!(prefer));
    }
    match as_of {
        Some(day) => body.insert("asOf".into(), day.into()),
        // Only a list without a day has another meaning before (contract 20.11).
        None => body.insert("formerly".into(), true.into()),
    };
    if has_candidates {
        body.insert("candidates".into(), true.into());
    }
    let reply = answer(routes, ListAnswer::request(&Value::Object(body))).await?;
    let columns = columns_of(&fields);
    let draft = move || drafted(&texts, has_candidates, columns, &reply);
    Ok(PendingAnswer { bytes_max, draft: Box::new(draft) })
}

fn drafted(
    texts: &[String],
    has_candidates: bool,
    columns: Vec<String>,
    reply: &RouteReply,
) -> Result<Draft, Sentence> {
    let answer = ListAnswer::of(members(&reply.body)?).ok_or(UNREADABLE)?;
    let results = answer.results;
    let options_max = if texts.len() == 1 { OPTIONS_OF_ONE } else { OPTIONS_OF_SEVERAL };
    let mut rows = Vec::new();
    let mut statuses = BTreeMap::<String, usize>::new();
    for (place, (text, result)) in texts.iter().zip(results).enumerate() {
        let head = TextOfList { n: place + 1, text, options_max };
        let of_text = head.rows(result);
        let status = of_text.first().and_then(|row| row.get("status")?.as_str());
        *statuses.entry(status.unwrap_or("unknown").to_owned()).or_default() += 1;
        rows.extend(of_text);
    }
    let resolved = statuses.remove("resolved").unwrap_or_default();
    let mut found = format!("{resolved} of {} resolved", counted(texts.len(), "text", "texts"));
    for (status, number) in &statuses {
        found.push_str(&format!(", {number} {status}"));
    }
    found.push('.');
    let before = rows.iter().filter(|row| row.get("as").is_some_and(|of| of == "formerly"));
    let before: BTreeSet<_> = before.filter_map(|row| row.get("n")?.as_u64()).collect();
    if !before.is_empty() {
        let texts = counted(before.len(), "text", "texts");
        found.push_str(&format!(" {texts} had another meaning before: rows with \"formerly\"."));
    }
    if let Some(fields) = &reply.not_shown {
        let fields = shown(fields, 200);
        found.push_str(&format!(" Left out, because you may not see them: {fields}."));
    }
    if let Some(values) = &reply.unknown_values {
        found.push_str(&format!(" The index does not know these values: {}.", shown(values, 200)));
    }
    let more = if statuses.contains_key("ambiguous") {
        "For an ambiguous text add a step to prefer, or ask which row is meant."
    } else if statuses.contains_key("unknown") && !has_candidates {
        "For a name send candidates: true, or use search."
    } else {
        ""
    };
    Ok(Draft {
        status: if statuses.is_empty() { "resolved" } else { "partly" },
        generation: answer.generation,
        found,
        rows,
        first: 0,
        columns,
        more: more.into(),
        rest: MAX_BYTES,
        others: Row::new(),
    })
}

/// A text of the list, and how many of its rows are shown.
pub(super) struct TextOfList<'a> {
    pub(super) n: usize,
    pub(super) text: &'a str,
    pub(super) options_max: usize,
}

impl TextOfList<'_> {
    /// The rows of a result: those that it found, those that a name may mean, and those of the
    /// past; the first has the other members of the result. At least one.
    pub(super) fn rows(&self, mut result: Map<String, Value>) -> Vec<Row> {
        let status = result.get("status").cloned().unwrap_or(Value::Null);
        let mut taken = |name: &str| match result.remove(name) {
            Some(Value::Array(elements)) => elements,
            Some(Value::Null) | None => Vec::new(),
            Some(one) => vec![one],
        };
        let lists = [
            ("match", taken("data")),
            ("candidate", taken("candidates")),
            ("was", taken("former")),
            ("formerly", taken("formerly")),
        ];
        let mut heads = Some(clean_members(result));
        let is_resolved = status == "resolved";
        let mut rows = Vec::new();
        for (of, list) in lists {
            for one in list.into_iter().take(self.options_max) {
                let mut row = heads.take().unwrap_or_default();
                if let Value::Object(members) = one {
                    row.extend(clean_members(members));
                }
                if !(is_resolved && of == "match") {
                    row.insert("as".into(), of.into());
                }
                rows.push(row);
            }
        }
        rows.extend(heads);
        for row in &mut rows {
            row.insert("n".into(), self.n.into());
            row.insert("text".into(), shown(self.text, TEXT_CHARS_MAX).into());
            row.insert("status".into(), status.clone());
        }
        rows
    }
}

/// The answer of `POST /resolve`.
pub(super) struct ListAnswer {
    pub(super) generation: u64,
    pub(super) results: Vec<Map<String, Value>>,
    /// The types of columns, if the request had some.
    pub(super) columns: Vec<Value>,
}

impl ListAnswer {
    pub(super) fn request(body: &Value) -> RouteRequest {
        RouteRequest::post("/resolve", body)
    }

    /// The parts of the JSON; `None` when it has another form.
    pub(super) fn of(mut json: Map<String, Value>) -> Option<Self> {
        let generation = json.get("generation")?.as_u64()?;
        let array = |value: Option<Value>| match value {
            Some(Value::Array(elements)) => elements,
            _ => Vec::new(),
        };
        let columns = array(json.remove("columns"));
        let results = array(json.remove("results")).into_iter();
        let results = results.filter_map(|result| match result {
            Value::Object(members) => Some(members),
            _ => None,
        });
        Some(Self { generation, results: results.collect(), columns })
    }
}
