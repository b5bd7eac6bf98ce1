//! The tools: their list, and what all of them do alike. They ask routes, whose answers are checked
//! there; a refusal becomes a sentence that says what to send instead.

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::answer::{BYTES_DEFAULT, BYTES_LEAST, BYTES_MOST, Draft, fault};
use super::arguments::{Arguments, Fault};
use super::ask::{Asked, Reply, Routes};
use super::text::shown;
use super::{check, instrument, resolve, search, values};

/// How to get rows that do not fit, for a tool with `skip`.
pub(super) const SKIP: &str =
    "For them send the same call with skip: #, or a larger maxBytes (at most 65536).";

/// How to get rows that do not fit, for a tool without `skip`.
pub(super) const MAX_BYTES: &str =
    "For them send fewer texts in a call, or a larger maxBytes (at most 65536).";

/// The most rows that a call may leave out: more than any family or list of values has.
pub(super) const SKIP_MAX: usize = 100_000;

/// The fault when a server's answer has another form: it may be another version.
pub(super) const UNREADABLE: &str =
    "The server's answer could not be read. It may be of another version; tell its operator.";

/// The most characters of a refusal that a fault repeats.
const REFUSAL_CHARS_MAX: usize = 300;

/// How often a question is asked again because a new generation came meanwhile.
const TRIES_MAX: usize = 3;

/// The rest of a call whose routes have answered: reading the answers, and writing that of the tool.
/// It takes processor time.
pub(super) struct Call {
    /// The bound of the answer.
    pub(super) bytes_max: usize,
    pub(super) draft: Box<dyn FnOnce() -> Result<Draft, Fault> + Send>,
}

impl Arguments {
    /// The bound of the answer, in bytes.
    pub(super) fn max_bytes(&mut self) -> Result<usize, Fault> {
        self.number("maxBytes", (BYTES_LEAST, BYTES_MOST), BYTES_DEFAULT)
    }
}

/// The list of tools, as `tools/list` gives it.
pub(super) fn all() -> &'static [Tool] {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Described {
        name: String,
        title: String,
        description: String,
        input_schema: Map<String, Value>,
    }
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        let described: Vec<Described> =
            serde_json::from_str(include_str!("tools.json")).expect("a test reads the list");
        let tools = described.into_iter().map(|tool| {
            let Described { name, title, description, input_schema } = tool;
            let mut tool = Tool::new(name, description, Arc::new(input_schema));
            let hints = ToolAnnotations::with_title(title);
            tool.annotations = Some(hints.read_only(true).open_world(false));
            tool
        });
        tools.collect()
    });
    &TOOLS
}

/// Calls a tool; `None` when no tool has the name.
pub(super) async fn call<R: Routes>(
    routes: &R,
    name: &str,
    given: Option<Map<String, Value>>,
) -> Option<CallToolResult> {
    let name = all().iter().find(|tool| tool.name == name)?.name.as_ref();
    let arguments = Arguments::new(name, given);
    let called = match name {
        "resolve" => resolve::call(routes, arguments).await,
        "search" => search::call(routes, arguments).await,
        "instrument" => instrument::call(routes, arguments).await,
        "values" => values::call(routes, arguments).await,
        _ => check::call(routes, arguments).await,
    };
    let answered = async {
        let Call { bytes_max, draft } = called?;
        routes.work(move || Ok(draft()?.within(bytes_max))).await?
    };
    Some(answered.await.unwrap_or_else(fault))
}

/// The refusal of a route.
pub(super) struct Refused {
    /// Whether the route called the request wrong, without a further reason.
    pub(super) is_bad_request: bool,
    pub(super) sentence: Fault,
}

impl From<String> for Refused {
    fn from(sentence: String) -> Self {
        Self { is_bad_request: false, sentence }
    }
}

impl From<&str> for Refused {
    fn from(sentence: &str) -> Self {
        sentence.to_owned().into()
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        refused.sentence
    }
}

/// The answer of a route.
///
/// # Errors
/// The refusal, as a sentence, when the status is not 200.
pub(super) async fn answer<R: Routes>(routes: &R, asked: Asked) -> Result<Reply, Refused> {
    let reply = routes.ask(asked).await?;
    if reply.status == 200 { Ok(reply) } else { Err(refusal(&reply)) }
}

fn refusal(reply: &Reply) -> Refused {
    let text = match serde_json::from_slice::<Value>(&reply.body) {
        Ok(json) => json.get("error").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Err(_) => String::from_utf8_lossy(&reply.body).into_owned(),
    };
    let text = shown(text.trim(), REFUSAL_CHARS_MAX);
    let is_bad_request = reply.status == 400 && text == "Bad request.";
    let sentence = match (reply.status, &*text) {
        (400, "Invalid enum field.") => "A filter has a value that this index does not know. Ask \
                                         values for those of its property, and send one of them."
            .to_owned(),
        (400, "Bad request.") => {
            "The call could not be read. Send arguments of the types that the \
                                  list of tools has."
                .to_owned()
        }
        (400 | 404 | 413, text) if !text.is_empty() => refused(text),
        (401 | 403, _) => "The server refused the API key. The person who set up this connection \
                           must give it a valid key."
            .to_owned(),
        (429, _) => {
            let seconds = reply.retry_after.unwrap_or(60);
            format!(
                "The rate limit is reached. Send the call again in {}, or fewer texts in a call.",
                super::answer::counted(
                    usize::try_from(seconds).unwrap_or(usize::MAX),
                    "second",
                    "seconds"
                )
            )
        }
        (503, _) => "The server is busy. Send the call again in a few seconds.".to_owned(),
        (300..=399, _) => "The server redirects to another address, which is not followed. The \
                           person who set up this connection must name that address."
            .to_owned(),
        (404 | 405, _) => "The server has no such route. Its URL must be the root of a Figdex \
                           server."
            .to_owned(),
        (status, _) => format!("The server failed with status {status}. Try again later."),
    };
    Refused { is_bad_request, sentence }
}

/// The refusal of a route as a fault, with what to do where its text does not say so.
pub(super) fn refused(text: &str) -> Fault {
    let text = shown(text, REFUSAL_CHARS_MAX);
    let advice = if text.starts_with("Invalid FIGI") {
        " Send the FIGI of a row; resolve finds it, and check says what is wrong with a text."
    } else if text.starts_with("No instrument has this FIGI") {
        " Ask check or resolve with the text that you have."
    } else if text.starts_with("query must contain") {
        ". Send query, filters, or both."
    } else if text.starts_with("Invalid key") {
        " Send only the arguments and filters that the list of tools has."
    } else if text.starts_with("Invalid start") {
        " Send the start of the answer before with the same query and filters, or none."
    } else if text.contains("keeps no past") {
        " Leave history and asOf out."
    } else {
        ""
    };
    format!("{text}{advice}")
}

/// The members of an answer.
///
/// # Errors
/// [`UNREADABLE`] when it is not an object in JSON.
pub(super) fn members(body: &[u8]) -> Result<Map<String, Value>, Fault> {
    serde_json::from_slice(body).map_err(|_| UNREADABLE.into())
}

/// The parts of `GET /about` that the tools need.
#[derive(Deserialize)]
pub(super) struct About {
    pub(super) generation: u64,
    /// The days of the past, if there is one.
    coverage: Option<IgnoredAny>,
}

impl About {
    pub(super) fn has_past(&self) -> bool {
        self.coverage.is_some()
    }
}

/// What `GET /about` answers.
pub(super) async fn about<R: Routes>(routes: &R) -> Result<Reply, Refused> {
    answer(routes, Asked::get("/about")).await
}

/// An answer, and the description of the generation that it is from.
pub(super) struct Settled {
    pub(super) answer: Reply,
    pub(super) about: About,
    /// The whole description.
    pub(super) described: Reply,
}

/// Asks a route. Most do not name the generation, so `/about` is asked before and after: if a new
/// generation came meanwhile, all is asked again.
pub(super) async fn settled<R: Routes>(
    routes: &R,
    asked: impl Fn() -> Asked,
) -> Result<Settled, Refused> {
    let read = |reply: &Reply| serde_json::from_slice::<About>(&reply.body).map_err(|_| UNREADABLE);
    let mut before = read(&about(routes).await?)?;
    for _ in 0..TRIES_MAX {
        let answer = answer(routes, asked()).await?;
        let described = about(routes).await?;
        let about = read(&described)?;
        if about.generation == before.generation {
            return Ok(Settled { answer, about, described });
        }
        before = about;
    }
    Err("The index changes just now. Send the call again.".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 24.4: the list is small, since a model reads it at each turn.
    #[test]
    fn the_list_of_tools_is_small() {
        let names: Vec<_> = all().iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["resolve", "search", "instrument", "values", "check"]);
        let bytes = serde_json::to_vec(all()).unwrap().len();
        assert!(bytes <= 6_000, "{bytes} bytes");
        for tool in all() {
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)));
            assert!(tool.description.as_ref().is_some_and(|text| text.ends_with('.')));
        }
    }
}
