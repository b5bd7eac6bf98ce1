//! Lines that a thread of their own writes, so that nobody else waits for who reads them.
//!
//! Lines of requests wait up to [`PERIOD`] for company; all others, and what stands
//! before them, are written at once. What waits has a bound: when whoever reads the log
//! does not keep up, lines are left out, those of requests first, and their number is
//! told. A server does not stop because its log does.
//!
//! Every line passes here, whatever a field of it holds, so that hidden characters are
//! escaped here: an event is one line, and steers no terminal.
//!
//! `tracing-appender` would do as much with less code here, but makes a system call for each
//! line, 5,001 where this makes 3 for 5,000 lines in a quarter of a second, and leaves out a
//! fault as readily as a request.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use figdex_index::{escaped, is_plain};
use parking_lot::{Condvar, Mutex};
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use super::ACCESS;

/// How long a line of a request may wait.
const PERIOD: Duration = Duration::from_millis(100);

/// Bytes of lines of requests that may wait, some 25,000 lines; when half of them do,
/// they are written.
const ACCESS_BYTES_MAX: usize = 4 << 20;

/// Bytes of lines of all kinds that may wait.
const BYTES_MAX: usize = ACCESS_BYTES_MAX + (1 << 20);

/// How long the end waits for what is still to be written: whoever reads the log may
/// have stopped.
const END_WAIT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(super) struct Lines(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Somebody waits for a line, for the end, or for the end's end.
    changed: Condvar,
    /// A person looks at a terminal.
    has_colours: bool,
}

/// What is to be written.
#[derive(Default)]
struct Waiting {
    text: Vec<u8>,
    left_out: u64,
    /// It should be written now.
    is_due: bool,
    is_over: bool,
    is_written: bool,
}

impl Lines {
    /// Begins the thread that writes them to `out`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn begin(out: impl Write + Send + 'static, has_colours: bool) -> io::Result<Self> {
        let lines = Self(Arc::new(Shared { has_colours, ..Shared::default() }));
        let shared = lines.0.clone();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || shared.write(out))?;
        Ok(lines)
    }

    /// Waits until all is written, but not forever.
    pub(super) fn end(&self) {
        let mut waiting = self.0.waiting.lock();
        waiting.is_over = true;
        self.0.changed.notify_all();
        self.0.changed.wait_while_for(&mut waiting, |waiting| !waiting.is_written, END_WAIT);
    }

    fn push(&self, line: &[u8], is_access: bool) {
        let mut waiting = self.0.waiting.lock();
        let max = if is_access { ACCESS_BYTES_MAX } else { BYTES_MAX };
        if waiting.text.len() + line.len() > max {
            waiting.left_out += 1;
            return;
        }
        let is_first = waiting.text.is_empty();
        waiting.text.extend_from_slice(line);
        let is_due = !is_access || waiting.text.len() > ACCESS_BYTES_MAX / 2;
        if is_first || is_due && !waiting.is_due {
            self.0.changed.notify_all();
        }
        waiting.is_due |= is_due;
    }
}

impl Shared {
    /// Writes lines until the end. What cannot be written is lost: there is nobody to
    /// tell.
    fn write(&self, mut out: impl Write) {
        let mut text = Vec::new();
        loop {
            let mut waiting = self.waiting.lock();
            self.changed.wait_while(&mut waiting, |now| now.text.is_empty() && !now.is_over);
            self.changed.wait_while_for(&mut waiting, |now| !now.is_due && !now.is_over, PERIOD);
            std::mem::swap(&mut waiting.text, &mut text);
            waiting.is_due = false;
            let left_out = std::mem::take(&mut waiting.left_out);
            let is_over = waiting.is_over;
            drop(waiting);
            out.write_all(&text).and_then(|()| out.flush()).ok();
            text.clear();
            if left_out > 0 {
                tracing::warn!(lines = left_out, "lines were left out: the log is read too slowly");
            }
            // What was just told is a line too, for which there is another round.
            if is_over && left_out == 0 {
                self.waiting.lock().is_written = true;
                self.changed.notify_all();
                return;
            }
        }
    }
}

/// The writer of one line.
pub(super) struct Line<'a> {
    lines: &'a Lines,
    is_access: bool,
    level: Level,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let has_colours = self.lines.0.has_colours;
        if is_plain(text) && !has_colours {
            self.lines.push(line, self.is_access);
        } else {
            let mut shown = format!("{}\n", escaped(String::from_utf8_lossy(text)));
            if has_colours {
                shown = coloured(&shown, self.level);
            }
            self.lines.push(shown.as_bytes(), self.is_access);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line with its level in colour. The time before the level has no letters but T and Z.
fn coloured(line: &str, level: Level) -> String {
    let colour = match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    };
    line.replacen(level.as_str(), &format!("\x1b[{colour}m{level}\x1b[0m"), 1)
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { lines: self, is_access: false, level: Level::INFO }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line<'a> {
        let is_access = metadata.target() == ACCESS;
        Line { lines: self, is_access, level: *metadata.level() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Whoever reads: slowly, when each write has to be let through.
    struct Reader {
        read: Sender<Vec<u8>>,
        go_on: Option<Receiver<()>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(go_on) = &self.go_on {
                go_on.recv().map_err(io::Error::other)?;
            }
            self.read.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// In their order; a line that is no request's brings those before it along, and the
    /// end brings the rest.
    #[test]
    fn all_lines_in_order() {
        let (read, lines) = channel();
        let log = Lines::begin(Reader { read, go_on: None }, false).unwrap();
        let mut written = Vec::new();
        for number in 0..10_000 {
            let line = format!("line {number}\n");
            log.push(line.as_bytes(), number % 100 != 0);
            written.extend_from_slice(line.as_bytes());
        }
        log.end();
        drop(log);
        assert_eq!(lines.iter().flatten().collect::<Vec<_>>(), written);
    }

    /// A field can neither begin another line nor steer the terminal; the colours are ours.
    #[test]
    fn an_event_is_one_line_without_hidden_characters() {
        for (has_colours, start) in [(false, "12:00 ERROR "), (true, "12:00 \x1b[31mERROR\x1b[0m ")]
        {
            let (read, lines) = channel();
            let log = Lines::begin(Reader { read, go_on: None }, has_colours).unwrap();
            let mut line = Line { lines: &log, is_access: false, level: Level::ERROR };
            line.write_all("12:00 ERROR a\nb\x1b[2J\u{9b}2J\u{202e}\r é\n".as_bytes()).unwrap();
            log.end();
            drop(log);
            let text = String::from_utf8(lines.iter().flatten().collect()).unwrap();
            assert_eq!(text, format!("{start}a\\nb\\u001b[2J\\u009b2J\\u202e\\r é\n"));
        }
    }

    /// Nobody waits for a reader who has stopped, and nothing grows without end.
    #[test]
    fn a_reader_who_stops() {
        let (read, lines) = channel();
        let (go_on, let_through) = channel();
        let log = Lines::begin(Reader { read, go_on: Some(let_through) }, false).unwrap();
        let waiting = |log: &Lines| {
            let waiting = log.0.waiting.lock();
            (waiting.text.len(), waiting.left_out > 0)
        };
        log.push(b"first\n", false);
        while waiting(&log).0 > 0 {
            std::thread::yield_now();
        }
        // It is on its way, and stays there.
        let line = [b'x'; 1 << 10];
        for _ in 0..3 * ACCESS_BYTES_MAX / line.len() {
            log.push(&line, true);
        }
        assert_eq!(waiting(&log), (ACCESS_BYTES_MAX, true));
        log.push(b"a fault\n", false);
        assert_eq!(waiting(&log).0, ACCESS_BYTES_MAX + 8, "there is room for what is no request's");
        log.end();
        drop(go_on);
        drop(log);
        assert_eq!(lines.iter().count(), 0);
    }
}
