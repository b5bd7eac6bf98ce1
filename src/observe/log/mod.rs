//! The log: lines on standard error, for people or as JSON, down to the level that
//! `RUST_LOG` tells (`info` unless it does).
//!
//! A line written at once would be a call of the system within each request, and a wait
//! for whoever reads it: lines are gathered, and a thread writes them (`lines`).

mod access;
mod lines;

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{Format, Json, JsonFields};

use self::access::{Access, HUMAN, JSON};
use self::lines::Lines;

/// The target of the line that each request has: `RUST_LOG=info,figdex::access=off`
/// silences it as `--access-log=false` does.
pub(crate) const ACCESS: &str = "figdex::access";

/// What a line looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Time, level, words, and fields as `name=value`.
    #[default]
    Human,
    /// A JSON object, with the fields beside `timestamp`, `level`, `target` and `message`.
    Json,
}

/// The log, for as long as the program runs: what is not written yet, is when this is
/// dropped.
pub struct Log(Lines);

impl Log {
    /// Begins the log of this program.
    ///
    /// # Errors
    /// When the program has a log already, or the system gives no thread.
    pub fn begin(format: LogFormat) -> anyhow::Result<Self> {
        let has_colours = format == LogFormat::Human && std::io::stderr().is_terminal();
        let lines = Lines::begin(std::io::stderr(), has_colours)?;
        let levels = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
        // Colours are the writer's: it escapes whatever else steers a terminal.
        let log = tracing_subscriber::fmt().with_env_filter(levels).with_ansi(false);
        let log = log.with_writer(lines.clone());
        let begun = match format {
            LogFormat::Human => {
                log.event_format(Access { shape: &HUMAN, others: Format::default() }).try_init()
            }
            LogFormat::Json => log
                .fmt_fields(JsonFields::new())
                .event_format(Access { shape: &JSON, others: json() })
                .try_init(),
        };
        begun.map_err(|error| anyhow::anyhow!(error)).map(|()| Self(lines))
    }
}

/// An event as an object, its fields beside the rest.
fn json() -> Format<Json> {
    let json = Format::default().json().flatten_event(true);
    json.with_current_span(false).with_span_list(false)
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.end();
    }
}
