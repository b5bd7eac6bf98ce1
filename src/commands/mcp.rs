//! `figdex mcp`: the tools for assistants over standard input and output (contract 24), with an index
//! or with a server. Standard output carries the protocol only; everything for people is on standard
//! error.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use figdex_io::escaped;
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;
use tokio::signal::unix::{SignalKind, signal};
use ureq::http::Response;
use ureq::{Agent, Body};

use super::to_server::{KEY_HEADER, agent, key};
use super::{open_folder, trust};
use crate::config::{McpFlags, Settings};
use crate::mcp::{
    Assistant, MESSAGE_BYTES_MAX, REPLY_BYTES_MAX, REPLY_TOO_LONG, RouteReply, RouteRequest, Routes,
};
use crate::reload;
use crate::routes::mcp::assistant;
use crate::state::State;

/// The longest time without a byte from a server, and for a whole answer: an assistant waits for it.
const SILENCE: Duration = Duration::from_secs(15);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The fault of a call whose thread broke down.
const GIVEN_UP: &str = "The call was given up. Send it again.";

pub(super) fn run(flags: &McpFlags) -> anyhow::Result<()> {
    super::use_symbols(flags.symbols.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = match &flags.url {
        Some(url) => {
            let key = flags.key_file.as_deref().map(key).transpose()?;
            let agent = agent(&url.0, flags.ca_file.as_deref(), SILENCE)?;
            let server = Arc::new(Server { agent, address: url.0.clone(), key });
            runtime.block_on(serve(Assistant(OtherServer(server))))
        }
        None => runtime.block_on(serve_folder(&flags.index)),
    };
    // A read of standard input may never end.
    runtime.shutdown_background();
    served
}

/// Serves an index, and each generation that is published while the assistant runs.
async fn serve_folder(index: &Path) -> anyhow::Result<()> {
    // The default has no rates: the caller is the person who may read the folder.
    let state = Arc::new(State::new(open_folder(index)?, Settings::default()));
    let hangup = signal(SignalKind::hangup())?;
    tokio::spawn(reload::index::follow(state.clone(), index.to_owned(), hangup));
    serve(assistant(state)).await
}

/// Answers messages, a line each, until standard input ends.
async fn serve<R: Routes>(assistant: Assistant<R>) -> anyhow::Result<()> {
    let (input, output) = stdio();
    let transport =
        AsyncRwTransport::new_server(input, output).with_max_line_length(MESSAGE_BYTES_MAX);
    match assistant.serve(transport).await {
        Ok(running) => {
            running.waiting().await.context("the tools stopped")?;
            Ok(())
        }
        // The assistant ended before it said anything, as a person does who tries the command.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error).context("the first message"),
    }
}

/// A server that is asked over HTTP.
#[derive(Clone)]
struct OtherServer(Arc<Server>);

struct Server {
    agent: Agent,
    address: String,
    key: Option<String>,
}

impl Routes for OtherServer {
    async fn ask(&self, asked: RouteRequest) -> Result<RouteReply, String> {
        let server = self.0.clone();
        let asking = tokio::task::spawn_blocking(move || server.ask(&asked));
        asking.await.unwrap_or_else(|_| Err(GIVEN_UP.to_owned()))
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        tokio::task::spawn_blocking(work).await.map_err(|_| GIVEN_UP.to_owned())
    }
}

impl Server {
    fn ask(&self, asked: &RouteRequest) -> Result<RouteReply, String> {
        let url = format!("{}{}", self.address, asked.path);
        let key = self.key.as_deref();
        let answered = match &asked.body {
            Some(json) => {
                let request = self.agent.post(&url).header("content-type", "application/json");
                let request = key.into_iter().fold(request, |it, key| it.header(KEY_HEADER, key));
                request.config().timeout_global(Some(ANSWER_TIMEOUT)).build().send(&json[..])
            }
            None => {
                let request = self.agent.get(&url);
                let request = key.into_iter().fold(request, |it, key| it.header(KEY_HEADER, key));
                request.config().timeout_global(Some(ANSWER_TIMEOUT)).build().call()
            }
        };
        let mut response = answered.map_err(|error| self.unanswered(&error))?;
        let body = body(&mut response)?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        Ok(RouteReply {
            status: response.status().as_u16(),
            retry_after: header("retry-after").and_then(|seconds| seconds.parse().ok()),
            unknown_values: header("figdex-unknown-values"),
            not_shown: header("figdex-not-shown"),
            body,
        })
    }

    fn unanswered(&self, error: &ureq::Error) -> String {
        let reason = trust::fault(&self.address, error).unwrap_or_else(|| error.to_string());
        let reason = escaped(reason);
        format!("The server did not answer ({reason}). Send the call again later, and say so.")
    }
}

/// The body of a response, within its bound.
fn body(response: &mut Response<Body>) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    let bytes_max = REPLY_BYTES_MAX as u64 + 1;
    let read = response.body_mut().as_reader().take(bytes_max).read_to_end(&mut body);
    read.map_err(|error| format!("The answer broke off ({error}). Send the call again."))?;
    if body.len() > REPLY_BYTES_MAX { Err(REPLY_TOO_LONG.to_owned()) } else { Ok(body) }
}
