//! A writer thread for log lines, so that a slow reader of stderr never blocks a request.
//!
//! Lines of requests are written together, at most [`PERIOD`] late; any other line is written at
//! once, with those before it. The waiting lines are bounded. When the log is read too slowly,
//! lines are dropped (those of requests first), and a warning gives their number.
//!
//! Every line passes here, so this module escapes hidden characters: no field can begin another
//! line or control the terminal.
//!
//! `tracing-appender` would need less code, but it makes a system call for each line: 5,001 for
//! 5,000 lines in a quarter of a second, where this module makes 3. It also drops errors as readily
//! as lines of requests.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use figdex_io::{escaped, is_plain};
use parking_lot::{Condvar, Mutex};
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use super::ACCESS;

/// The longest time that a request's line waits.
const PERIOD: Duration = Duration::from_millis(100);

/// The bytes of waiting lines beyond which requests' lines are dropped: about 25,000 lines. At half
/// of that, the lines are written early.
const ACCESS_BYTES_MAX: usize = 4 << 20;

/// The bytes of waiting lines beyond which all lines are dropped.
const BYTES_MAX: usize = ACCESS_BYTES_MAX + (1 << 20);

/// The longest time that the end of the program waits for the last lines: the reader of the log may
/// have stopped reading.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The lines that wait for the writer thread.
#[derive(Clone)]
pub(super) struct Lines(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Signals a change of `waiting` to the thread and to `end`.
    changed: Condvar,
    has_colours: bool,
}

/// The text to write next.
#[derive(Default)]
struct Waiting {
    text: Vec<u8>,
    dropped: u64,
    /// Whether the text is to be written now, not after the period.
    is_due: bool,
    /// Whether no more lines come.
    is_over: bool,
    /// Whether the last line is written.
    is_written: bool,
}

impl Lines {
    /// Starts the thread that writes to `out`.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(super) fn begin(out: impl Write + Send + 'static, has_colours: bool) -> io::Result<Self> {
        let lines = Self(Arc::new(Shared { has_colours, ..Shared::default() }));
        let shared = lines.0.clone();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || shared.write(out))?;
        Ok(lines)
    }

    /// Ends the thread, and waits up to [`END_TIMEOUT`] until all lines are written.
    pub(super) fn end(&self) {
        let mut waiting = self.0.waiting.lock();
        waiting.is_over = true;
        self.0.changed.notify_all();
        self.0.changed.wait_while_for(&mut waiting, |waiting| !waiting.is_written, END_TIMEOUT);
    }

    fn push(&self, line: &[u8], is_access: bool) {
        let mut waiting = self.0.waiting.lock();
        let max = if is_access { ACCESS_BYTES_MAX } else { BYTES_MAX };
        if waiting.text.len() + line.len() > max {
            waiting.dropped += 1;
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
    /// Writes lines until the end. A line that cannot be written is lost without a report:
    /// the log is the only place for reports.
    fn write(&self, mut out: impl Write) {
        let mut text = Vec::new();
        loop {
            let mut waiting = self.waiting.lock();
            self.changed.wait_while(&mut waiting, |now| now.text.is_empty() && !now.is_over);
            self.changed.wait_while_for(&mut waiting, |now| !now.is_due && !now.is_over, PERIOD);
            std::mem::swap(&mut waiting.text, &mut text);
            waiting.is_due = false;
            let dropped = std::mem::take(&mut waiting.dropped);
            let is_over = waiting.is_over;
            drop(waiting);
            out.write_all(&text).and_then(|()| out.flush()).ok();
            text.clear();
            if dropped > 0 {
                tracing::warn!(
                    lines = dropped,
                    "log lines were dropped: the log is read too slowly"
                );
            }
            // The warning is a line too, and the next round writes it.
            if is_over && dropped == 0 {
                self.waiting.lock().is_written = true;
                self.changed.notify_all();
                return;
            }
        }
    }
}

/// The writer of one event. It gets the whole text in one call.
pub(super) struct EventWriter<'a> {
    lines: &'a Lines,
    is_access: bool,
    level: Level,
}

impl Write for EventWriter<'_> {
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

/// A line with its level in colour. The time before it cannot be mistaken for the level: its only
/// letters are T and Z.
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
    type Writer = EventWriter<'a>;

    fn make_writer(&'a self) -> EventWriter<'a> {
        EventWriter { lines: self, is_access: false, level: Level::INFO }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> EventWriter<'a> {
        let is_access = metadata.target() == ACCESS;
        EventWriter { lines: self, is_access, level: *metadata.level() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A reader of the log; with `permits`, each write waits for one.
    struct Reader {
        read: Sender<Vec<u8>>,
        permits: Option<Receiver<()>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(permits) = &self.permits {
                permits.recv().map_err(io::Error::other)?;
            }
            self.read.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Lines of requests are written with the next other line, and at the end.
    #[test]
    fn all_lines_are_written_in_order() {
        let (read, lines) = channel();
        let log = Lines::begin(Reader { read, permits: None }, false).unwrap();
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

    /// A field can neither begin another line nor control the terminal; the only control
    /// characters are those of the level's colour.
    #[test]
    fn an_event_is_one_line_without_hidden_characters() {
        for (has_colours, start) in [(false, "12:00 ERROR "), (true, "12:00 \x1b[31mERROR\x1b[0m ")]
        {
            let (read, lines) = channel();
            let log = Lines::begin(Reader { read, permits: None }, has_colours).unwrap();
            let mut line = EventWriter { lines: &log, is_access: false, level: Level::ERROR };
            line.write_all("12:00 ERROR a\nb\x1b[2J\u{9b}2J\u{202e}\r é\n".as_bytes()).unwrap();
            log.end();
            drop(log);
            let text = String::from_utf8(lines.iter().flatten().collect()).unwrap();
            assert_eq!(text, format!("{start}a\\nb\\u001b[2J\\u009b2J\\u202e\\r é\n"));
        }
    }

    /// When the log's reader stops, no one who logs is blocked, and the waiting lines stay bounded.
    #[test]
    fn a_stopped_reader_blocks_no_one() {
        let (read, lines) = channel();
        let (permit, permits) = channel();
        let log = Lines::begin(Reader { read, permits: Some(permits) }, false).unwrap();
        let waiting = |log: &Lines| {
            let waiting = log.0.waiting.lock();
            (waiting.text.len(), waiting.dropped > 0)
        };
        log.push(b"first\n", false);
        while waiting(&log).0 > 0 {
            std::thread::yield_now();
        }
        // The thread is now writing the first line, and waits for a permit.
        let line = [b'x'; 1 << 10];
        for _ in 0..3 * ACCESS_BYTES_MAX / line.len() {
            log.push(&line, true);
        }
        assert_eq!(waiting(&log), (ACCESS_BYTES_MAX, true));
        log.push(b"a fault\n", false);
        assert_eq!(waiting(&log).0, ACCESS_BYTES_MAX + 8, "there is room for lines of no request");
        log.end();
        drop(permit);
        drop(log);
        assert_eq!(lines.iter().count(), 0);
    }
}
