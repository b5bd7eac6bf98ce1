//! The log: lines on standard error, for people or as JSON, down to the level of `RUST_LOG`. If
//! `RUST_LOG` is not set or invalid, the levels are `info` for Figdex and `warn` for libraries.
//!
//! Writing each line at once would be a system call in each request, and would block requests
//! when the log is read slowly. Lines are therefore gathered and written by a thread (`lines`).

mod access;
mod lines;
pub(crate) mod seldom;

use std::io::IsTerminal as _;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use self::access::{Access, HUMAN, JSON};
use self::lines::Lines;

/// The target of the requests' lines: `RUST_LOG=warn,figdex=info,figdex::access=off`
/// silences it as `--access-log=false` does.
pub(crate) const ACCESS: &str = "figdex::access";

/// The levels when `RUST_LOG` is missing or invalid. The names of all crates of Figdex begin with
/// `figdex`, so one entry applies to all of them.
const LEVELS: &str = "warn,figdex=info";

/// The format of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Time, level, target, message, and fields as `name=value`.
    #[default]
    Human,
    /// A JSON object with `timestamp`, `level`, `target`, `message` and the event's fields.
    Json,
}

/// The log of the program. The drop writes the lines that are still waiting.
pub struct Log(Lines);

impl Log {
    /// Starts the log of this program.
    ///
    /// # Errors
    /// When the program already has a log, or the system cannot start a thread.
    pub fn begin(format: LogFormat) -> anyhow::Result<Self> {
        let has_colours = format == LogFormat::Human && std::io::stderr().is_terminal();
        let lines = Lines::begin(std::io::stderr(), has_colours)?;
        let asked = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
        let levels: Targets =
            asked.unwrap_or_else(|| LEVELS.parse().expect("the constant has levels"));
        // The writer adds colours, and escapes all other characters that control a terminal.
        let log = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false);
        let log = log.with_writer(lines.clone());
        let begun = match format {
            LogFormat::Human => {
                let log = log.event_format(Access { shape: &HUMAN, others: Format::default() });
                log.finish().with(levels).try_init()
            }
            LogFormat::Json => log
                .fmt_fields(JsonFields::new())
                .event_format(Access { shape: &JSON, others: json() })
                .finish()
                .with(levels)
                .try_init(),
        };
        begun.map_err(|error| anyhow::anyhow!(error)).map(|()| Self(lines))
    }
}

/// The format of an event as one flat JSON object.
fn json() -> Format<Json> {
    let json = Format::default().json().flatten_event(true);
    json.with_current_span(false).with_span_list(false)
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.end();
    }
}
