//! The answers of routes, for all tools: a refusal becomes a sentence that says what to send instead.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::answer::{Draft, counted};
use super::arguments::Sentence;
use super::ask::{RouteReply, RouteRequest, Routes};
use super::text::shown;

/// The way to the rows that do not fit, for a tool with `skip`.
pub(super) const SKIP: &str =
    "For them send the same call with skip: #, or a larger maxBytes (at most 65536).";

/// The way to the rows that do not fit, for a tool without `skip`.
pub(super) const MAX_BYTES: &str =
    "For them send fewer texts in a call, or a larger maxBytes (at most 65536).";

/// The most rows that a call may leave out: more than any family or list of values has.
pub(super) const SKIP_MAX: usize = 100_000;

/// The fault when a server's answer has another form: it may be another version.
pub(super) const UNREADABLE: &str = "The server's answer could not be read. It may be of another version; its operator should know.";

/// The most characters of a refusal that a fault repeats.
const REFUSAL_CHARS_MAX: usize = 300;

/// The most tries of a question, which is asked again when a new generation came meanwhile.
const TRIES_MAX: usize = 3;

/// The rest of a call whose routes have answered: reading the answers, and writing that of the tool.
/// It takes processor time.
pub(super) struct PendingAnswer {
    /// The bound of the answer.
    pub(super) bytes_max: usize,
    pub(super) draft: Box<dyn FnOnce() -> Result<Draft, Sentence> + Send>,
}

/// The refusal of a route.
pub(super) struct RouteRefusal {
    /// Whether the route called the request wrong, without a further reason.
    pub(super) is_bad_request: bool,
    pub(super) sentence: Sentence,
}

impl From<String> for RouteRefusal {
    fn from(sentence: String) -> Self {
        Self { is_bad_request: false, sentence }
    }
}

impl From<&str> for RouteRefusal {
    fn from(sentence: &str) -> Self {
        sentence.to_owned().into()
    }
}

impl From<RouteRefusal> for Sentence {
    fn from(refused: RouteRefusal) -> Self {
        refused.sentence
    }
}

/// The answer of a route.
///
/// # Errors
/// The refusal, as a sentence, when the status is not 200.
pub(super) async fn answer<R: Routes>(
    routes: &R,
    asked: RouteRequest,
) -> Result<RouteReply, RouteRefusal> {
    let reply = routes.ask(asked).await?;
    if reply.status == 200 { Ok(reply) } else { Err(refusal(&reply)) }
}

fn refusal(reply: &RouteReply) -> RouteRefusal {
    let text = match serde_json::from_slice::<Value>(&reply.body) {
        Ok(json) => json.get("error").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Err(_) => String::from_utf8_lossy(&reply.body).into_owned(),
    };
    let text = shown(text.trim(), REFUSAL_CHARS_MAX);
    let is_bad_request = reply.status == 400 && text == "Bad request.";
    let sentence = match (reply.status, &*text) {
        (400, "Invalid enum field.") => "A filter, such as exchCode or securityType, has a value \
                                         that this index does not know. Ask values for those of \
                                         its property, and send one of them."
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
                counted(usize::try_from(seconds).unwrap_or(usize::MAX), "second", "seconds")
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
    RouteRefusal { is_bad_request, sentence }
}

/// The refusal of a route as a fault, with what to do where its text does not say so.
pub(super) fn refused(text: &str) -> Sentence {
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
pub(super) fn members(body: &[u8]) -> Result<Map<String, Value>, Sentence> {
    serde_json::from_slice(body).map_err(|_| UNREADABLE.into())
}

/// The parts of `GET /about` that the tools need.
#[derive(Deserialize)]
pub(super) struct IndexFacts {
    pub(super) generation: u64,
    /// The days of the past, if there is one.
    coverage: Option<IgnoredAny>,
}

impl IndexFacts {
    pub(super) fn has_past(&self) -> bool {
        self.coverage.is_some()
    }
}

/// The answer of `GET /about`.
pub(super) async fn about<R: Routes>(routes: &R) -> Result<RouteReply, RouteRefusal> {
    answer(routes, RouteRequest::get("/about")).await
}

/// An answer, and the description of the generation that it is from.
pub(super) struct Settled {
    pub(super) answer: RouteReply,
    pub(super) about: IndexFacts,
    /// The whole description.
    pub(super) described: RouteReply,
}

/// Asks a route. Most do not name the generation, so `/about` is asked before and after: if a new
/// generation came meanwhile, all is asked again.
pub(super) async fn settled<R: Routes>(
    routes: &R,
    asked: impl Fn() -> RouteRequest,
) -> Result<Settled, RouteRefusal> {
    let read = |reply: &RouteReply| {
        serde_json::from_slice::<IndexFacts>(&reply.body).map_err(|_| UNREADABLE)
    };
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Routes of a server whose generation changes at each of its first descriptions.
    #[derive(Clone)]
    struct Changing {
        described: Arc<AtomicU64>,
        changes: u64,
    }

    impl Routes for Changing {
        async fn ask(&self, asked: RouteRequest) -> Result<RouteReply, String> {
            let body = match &*asked.path {
                "/about" => {
                    let before = self.described.fetch_add(1, Ordering::Relaxed);
                    format!("{{\"generation\":{}}}", before.min(self.changes))
                }
                _ => "{}".to_owned(),
            };
            let body = body.into_bytes();
            let (retry_after, unknown_values, not_shown) = (None, None, None);
            Ok(RouteReply { status: 200, retry_after, unknown_values, not_shown, body })
        }

        async fn work<T: Send + 'static>(
            &self,
            work: impl FnOnce() -> T + Send + 'static,
        ) -> Result<T, String> {
            Ok(work())
        }
    }

    /// contract 24.13: an answer is of the generation that it names, or there is none.
    #[tokio::test]
    async fn an_answer_is_of_one_generation() {
        for (changes, generation) in [(0, Some(0)), (1, Some(1)), (2, Some(2)), (3, None)] {
            let routes = Changing { described: Arc::default(), changes };
            let answered = settled(&routes, || RouteRequest::get("/v3/mapping/values/x")).await;
            assert_eq!(answered.ok().map(|it| it.about.generation), generation, "{changes}");
        }
    }
}
