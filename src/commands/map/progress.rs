//! A progress bar on a terminal.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use figdex_ingest::table::BytesRead;
use figdex_io::grouped;
use indicatif::{ProgressBar, ProgressStyle};

/// Templates of `indicatif`: for a known end, and for an unknown end. The bar takes the space that
/// the other texts leave in 80 columns.
const BAR: &str = "{prefix} [{wide_bar}] {percent:>3} %  {msg}  {eta} left";
const OPEN: &str = "{prefix} {spinner}  {wide_msg}";

/// A bar on standard error.
pub(super) struct Progress {
    bar: ProgressBar,
    bytes: BytesRead,
}

impl Progress {
    /// A bar, when standard error is a terminal. `bytes_total` is the size of the file.
    pub(super) fn start(bytes: BytesRead, bytes_total: Option<u64>) -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let (bar, template) = match bytes_total {
            Some(total) => (ProgressBar::new(total), BAR),
            None => (ProgressBar::new_spinner(), OPEN),
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix("mapping");
        bar.enable_steady_tick(Duration::from_millis(200));
        Some(Self { bar, bytes })
    }

    /// Shows the number of rows so far, and the position in the file.
    pub(super) fn show(&self, rows: u64) {
        let seconds = self.bar.elapsed().as_secs_f64();
        let mut message = format!("{} rows", grouped(rows));
        // A rate over less time would mean little.
        if seconds > 0.2 {
            message.push_str(&format!(", {} /s", grouped((rows as f64 / seconds) as u64)));
        }
        self.bar.set_message(message);
        self.bar.set_position(self.bytes.get());
    }

    /// Removes the bar.
    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}
